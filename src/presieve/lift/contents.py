"""Trusted. What lists, dicts and sets hold, and how a variable refers to one."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from presieve.ir.terms import Lit, Term
from presieve.lift.wholes import VectorV

if TYPE_CHECKING:
    from presieve.lift.values import Value


@dataclass(frozen=True, slots=True)
class ListV:
    """A list display."""

    items: tuple[Value, ...]


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
