"""Trusted. The contents of lists, dicts and sets, and how a variable refers to one."""

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
    """A list whose length depends on the rows. Item i is None where the list is shorter, so no item
    can be None itself.

    ``orders``: the orders in which the items are known to stand; None for any order. ``pending``:
    the values after them, each None where it is absent, as long as the others are in order.
    ``kind``: the items of a heap are held in order, and nothing is known of the heap's own order.
    ``most``: the maximum length of a deque. ``place``: where it grew last.
    """

    items: tuple[Value, ...]
    orders: frozenset[Order] | None
    pending: tuple[Value, ...] = ()
    kind: GrowingKind = "list"
    most: int | None = None
    place: Span | None = field(default=None, compare=False)


@dataclass(frozen=True, slots=True)
class LengthV:
    """The length of a growing list: for each item, whether it exists."""

    there: tuple[Term, ...]


@dataclass(frozen=True, slots=True)
class SplitV:
    """The result of ``text.split(separator)``. ``counted``: the number of parts is not bounded."""

    text: Term
    separator: Term
    counted: bool


@dataclass(frozen=True, slots=True)
class MatchV:
    """The match of a regular expression in a text; it is None unless ``there`` holds."""

    there: Term


@dataclass(frozen=True, slots=True)
class DaysV:
    """A ``timedelta`` of whole days, the difference of two dates."""

    days: Term


GrowingKind = Literal["list", "heap", "deque"]
Order: TypeAlias = tuple[str, str]
"""``<`` or ``>``, and the text of the key function, which is empty for the items themselves."""


@dataclass(frozen=True, slots=True)
class PerhapsV:
    """A round of a loop that runs only where the condition holds."""

    there: Term
    item: Value


@dataclass(frozen=True, slots=True)
class DictV:
    """A dict with string keys, in this order."""

    names: tuple[str, ...]
    items: tuple[Value, ...]


@dataclass(frozen=True, slots=True)
class MissingKeyValue:
    """The value that a dict of a class gives for a missing key, and whether it then ``keeps`` the
    key.
    """

    cls: type
    value: Value
    keeps: bool


@dataclass(frozen=True, slots=True)
class MapV:
    """A dict that may lack keys: it has a key where the term beside it holds. Nothing is known of
    their order. ``missing``: the value that it gives instead of a KeyError.
    """

    names: tuple[str, ...]
    items: tuple[Value, ...]
    present: tuple[Term, ...]
    missing: MissingKeyValue | None = None


@dataclass(frozen=True, slots=True)
class CountsV:
    """``Counter(column)``: the number of times each value occurs in a column."""

    of: VectorV


@dataclass(frozen=True, slots=True)
class SetV:
    """A set: it holds a constant where the term beside it holds, and some other value where
    ``others`` holds. ``fixed``: a frozenset.
    """

    members: tuple[Lit, ...]
    present: tuple[Term, ...]
    others: Term
    fixed: bool = False


@dataclass(frozen=True, slots=True)
class RefV:
    """A list, dict or set in a variable: the number of the object. The path holds its contents."""

    number: int
