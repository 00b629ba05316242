"""Trusted. What lists, dicts and sets hold, and how a variable refers to one."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal, TypeAlias

from presieve.errors import Span
from presieve.ir.terms import Lit, Term
from presieve.lift.models.pandas.whole_columns import VectorV

if TYPE_CHECKING:
    from presieve.lift.values.symbolic import Value


@dataclass(frozen=True, slots=True)
class ListV:
    """A list display."""

    items: tuple[Value, ...]


@dataclass(frozen=True, slots=True)
class GrowingV:
    """A list whose length depends on the rows: item i is None where the list is shorter, so that
    no item is None itself.

    ``orders``: those in which the items are known to stand, None for any. ``pending``: what stands
    after them, each None where there is none, as long as the others are in order. ``kind``: of a
    heap the items stand here in order, and nothing is known of its own.
    ``most``: the items of a deque, at most. ``place``: where it has last grown.
    """

    items: tuple[Value, ...]
    orders: frozenset[Order] | None
    pending: tuple[Value, ...] = ()
    kind: GrowingKind = "list"
    most: int | None = None
    place: Span | None = field(default=None, compare=False)


@dataclass(frozen=True, slots=True)
class LengthV:
    """The length of such a list: for each item whether it is there."""

    there: tuple[Term, ...]


@dataclass(frozen=True, slots=True)
class SplitV:
    """What ``text.split(separator)`` gives. ``counted``: the number of parts is not bounded."""

    text: Term
    separator: Term
    counted: bool


@dataclass(frozen=True, slots=True)
class MatchV:
    """What a regular expression gives for a text: None unless it is ``there``."""

    there: Term


@dataclass(frozen=True, slots=True)
class DaysV:
    """A ``timedelta`` of whole days, the difference of two dates."""

    days: Term


GrowingKind = Literal["list", "heap", "deque"]
Order: TypeAlias = tuple[str, str]
"""``<`` or ``>``, and of what: the text of a key function, or nothing for the items themselves."""


@dataclass(frozen=True, slots=True)
class PerhapsV:
    """A round of a loop that there is only where the condition holds."""

    there: Term
    item: Value


@dataclass(frozen=True, slots=True)
class DictV:
    """A dict with string keys, in this order."""

    names: tuple[str, ...]
    items: tuple[Value, ...]


@dataclass(frozen=True, slots=True)
class Missing:
    """What a dict of a class gives for a key that it lacks, and whether it ``keeps`` it then."""

    cls: type
    value: Value
    keeps: bool


@dataclass(frozen=True, slots=True)
class MapV:
    """A dict that may lack keys: it has a key where the term beside it holds. Nothing is known of
    their order. ``missing``: what it gives instead of a KeyError.
    """

    names: tuple[str, ...]
    items: tuple[Value, ...]
    present: tuple[Term, ...]
    missing: Missing | None = None


@dataclass(frozen=True, slots=True)
class CountsV:
    """``Counter(column)``: how often each value stands in a column."""

    of: VectorV


@dataclass(frozen=True, slots=True)
class SetV:
    """A set: it holds a constant where the term beside it does, and something else where ``others``
    holds. ``fixed``: a frozenset.
    """

    members: tuple[Lit, ...]
    present: tuple[Term, ...]
    others: Term
    fixed: bool = False


@dataclass(frozen=True, slots=True)
class RefV:
    """A list, dict or set in a variable: the number of the object, whose contents the path has."""

    number: int
