"""Trusted. What a Python variable may hold while a function is executed symbolically.

Scalars are terms; tuples keep their structure on this side, so that the IR sees their components
only. A tuple that may be None carries the condition "it is there" beside the components.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias

from presieve.errors import DeclineSignal
from presieve.ir.sorts import FLOAT, INT, TIMESTAMP, TIMESTAMP_NTZ, Decimal, Sort, strip
from presieve.ir.terms import FALSE, TRUE, Term, none_lit
from presieve.lift.build import as_float, as_instant, default, ite, some, widen

EXACT_INT = 2**53
"""Integers up to this magnitude are floats exactly."""


@dataclass(frozen=True, slots=True)
class Traits:
    """What is known of a scalar besides its sort.

    ``literal``: an Int that is always an integer literal of at most 2^53. ``maybe_int``: a Float
    that Python may hold as an int of the same value. ``maybe_nan``: a Float that may be NaN.
    ``numpy``: a numpy scalar, whose arithmetic is not Python's. ``ahead``: a TimestampNTZ that is
    always a naive datetime constant, in a session whose clocks are always so many microseconds
    ahead of UTC: it may stand for the instant at which they show it, too.
    """

    literal: bool = False
    maybe_int: bool = False
    maybe_nan: bool = False
    numpy: bool = False
    ahead: int | None = None

    def join(self, other: Traits) -> Traits:
        """What is known of a value that is one or the other."""
        return Traits(
            self.literal and other.literal,
            self.maybe_int or other.maybe_int,
            self.maybe_nan or other.maybe_nan,
            self.numpy or other.numpy,
            self.ahead if self.ahead == other.ahead else None,
        )


PLAIN = Traits()
LITERAL = Traits(literal=True)


@dataclass(frozen=True, slots=True)
class Scalar:
    """One value; its sort is an option where it may be None."""

    term: Term
    traits: Traits = PLAIN

    @property
    def base(self) -> Sort:
        """The sort of the value where it is not None."""
        return strip(self.term.sort)


@dataclass(frozen=True, slots=True)
class NoneV:
    """The value None, known to be it."""


@dataclass(frozen=True, slots=True)
class TupleV:
    """A tuple of known length."""

    items: tuple[Value, ...]


@dataclass(frozen=True, slots=True)
class OptTupleV:
    """A tuple where ``present`` holds, else None (the items are then unspecified but total)."""

    present: Term
    items: tuple[Value, ...]


@dataclass(frozen=True, slots=True)
class Known:
    """An object from closure, globals or builtins that is no scalar constant: module, function."""

    name: str
    target: object

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Known) and self.target is other.target

    def __hash__(self) -> int:
        return id(self.target)


@dataclass(frozen=True, slots=True)
class ColumnV:
    """The current row's value of a column; it counts as read only where it is used."""

    name: str


@dataclass(frozen=True, slots=True)
class RowV:
    """The current row. ``by`` are the ways to reach a column: attribute, label, position.

    ``columns`` are in the order of positions; ``shift`` is 1 where position 0 is the index.
    """

    columns: tuple[str, ...]
    attributes: frozenset[str]
    labels: bool
    positions: bool
    shift: int = 0


@dataclass(frozen=True, slots=True)
class SeriesV:
    """A column of the whole group."""

    name: str


@dataclass(frozen=True, slots=True)
class FrameV:
    """The rows of the whole group, with these columns."""

    columns: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class KeyV:
    """The tuple of grouping values that ``applyInPandas`` passes: numpy scalars where numeric."""

    names: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class SelfV:
    """The object whose method is executed."""

    target: object


@dataclass(frozen=True, slots=True)
class SizeV:
    """The number of rows of the group: at least one, known after the loop."""


@dataclass(frozen=True, slots=True)
class IndexV:
    """A row's index or number, which depends on the other rows."""


@dataclass(frozen=True, slots=True)
class ListV:
    """A list display."""

    items: tuple[Value, ...]


@dataclass(frozen=True, slots=True)
class DictV:
    """A dict display with string keys."""

    names: tuple[str, ...]
    items: tuple[Value, ...]


@dataclass(frozen=True, slots=True)
class TableV:
    """A one-row result table; ``names`` is None where its columns have no names."""

    names: tuple[str, ...] | None
    items: tuple[Value, ...]


@dataclass(frozen=True, slots=True)
class Unbound:
    """A variable that is not assigned, at least on some path."""


@dataclass(frozen=True, slots=True)
class Clash:
    """A variable whose types on different paths do not go together."""

    reason: str


Value: TypeAlias = (
    Scalar
    | NoneV
    | TupleV
    | OptTupleV
    | Known
    | ColumnV
    | RowV
    | SeriesV
    | FrameV
    | KeyV
    | SelfV
    | SizeV
    | IndexV
    | ListV
    | DictV
    | TableV
    | Unbound
    | Clash
)

NONE = NoneV()


def mixed(reason: str) -> DeclineSignal:
    """One variable, two types that do not go together."""
    return DeclineSignal("mixed-types", reason)


def describe(value: Value) -> str:
    """The kind of value in a user's words."""
    match value:
        case Scalar(term, _):
            return f"a value of type {type(strip(term.sort)).__name__.lower()}"
        case NoneV():
            return "None"
        case TupleV(items) | OptTupleV(_, items):
            return f"a tuple of {len(items)}"
        case Known(name, _):
            return f"the object {name}"
        case RowV():
            return "a row"
        case SeriesV() | FrameV():
            return "a whole table or column"
        case _:
            return {"ListV": "a list", "DictV": "a dict", "TableV": "a table"}.get(
                type(value).__name__, "a value that cannot be used like this"
            )


def can_promote(of: Sort, traits: Traits, to: Sort) -> bool:
    """Whether such a value may stand for one of another sort, see :func:`promote`."""
    if (of, to) == (INT, FLOAT):
        return traits.literal
    return (of, to) == (TIMESTAMP_NTZ, TIMESTAMP) and traits.ahead is not None


def promote(value: Scalar) -> Scalar:
    """An integer literal where a float is meant: Python computes the same with either. A naive
    datetime constant where an instant is meant: Python sees instants as what clocks show.
    """
    if value.traits.ahead is not None:
        return Scalar(as_instant(value.term, value.traits.ahead))
    traits = Traits(maybe_int=True, numpy=value.traits.numpy)
    return Scalar(as_float(value.term), traits)


def unify(a: Scalar, b: Scalar) -> tuple[Scalar, Scalar]:
    """Both with one sort. Declines ``mixed-types`` where there is none."""
    if a.base != b.base:
        if isinstance(a.base, Decimal) and isinstance(b.base, Decimal):
            scale = max(a.base.scale, b.base.scale)
            a, b = Scalar(widen(a.term, scale), a.traits), Scalar(widen(b.term, scale), b.traits)
        elif can_promote(a.base, a.traits, b.base):
            a = promote(a)
        elif can_promote(b.base, b.traits, a.base):
            b = promote(b)
        else:
            raise mixed(f"{describe(a)} and {describe(b)} in one variable")
    if a.term.sort != b.term.sort:
        a, b = Scalar(some(a.term), a.traits), Scalar(some(b.term), b.traits)
    return a, b


def as_optional(value: TupleV | OptTupleV) -> OptTupleV:
    """A tuple that is there, as one that may be absent."""
    return value if isinstance(value, OptTupleV) else OptTupleV(TRUE, value.items)


def _absent(items: tuple[Value, ...]) -> tuple[Value, ...]:
    """Items of the same kinds that stand where there is no tuple."""
    return tuple(_default(v) for v in items)


def _default(value: Value) -> Value:
    match value:
        case Scalar(term, traits):
            same = Traits(numpy=traits.numpy, literal=traits.literal, ahead=traits.ahead)
            return Scalar(default(term.sort), same)
        case TupleV(items):
            return TupleV(_absent(items))
        case OptTupleV(_, items):
            return OptTupleV(FALSE, _absent(items))
    return value


def merge(condition: Term, a: Value, b: Value) -> Value:
    """``a`` where the condition holds, else ``b``."""
    if a == b or condition == TRUE:
        return a
    if condition == FALSE:
        return b
    match a, b:
        case (Unbound(), _) | (_, Unbound()):
            return Unbound()
        case (Clash(), _):
            return a
        case (_, Clash()):
            return b
        case Scalar(), Scalar():
            x, y = unify(a, b)
            return Scalar(ite(condition, x.term, y.term), x.traits.join(y.traits))
        case Scalar(), NoneV():
            return Scalar(ite(condition, some(a.term), none_lit(a.base)), a.traits)
        case NoneV(), Scalar():
            return Scalar(ite(condition, none_lit(b.base), some(b.term)), b.traits)
        case (TupleV(x), TupleV(y)) if len(x) == len(y):
            return TupleV(_merge_items(condition, x, y))
        case ((TupleV() | OptTupleV()), NoneV()):
            some_a = as_optional(a)
            items = _merge_items(condition, some_a.items, _absent(some_a.items))
            return OptTupleV(ite(condition, some_a.present, FALSE), items)
        case NoneV(), (TupleV() | OptTupleV()):
            some_b = as_optional(b)
            items = _merge_items(condition, _absent(some_b.items), some_b.items)
            return OptTupleV(ite(condition, FALSE, some_b.present), items)
        case ((TupleV() | OptTupleV()), (TupleV() | OptTupleV())):
            p, q = as_optional(a), as_optional(b)
            if len(p.items) == len(q.items):
                items = _merge_items(condition, p.items, q.items)
                return OptTupleV(ite(condition, p.present, q.present), items)
    raise mixed(f"{describe(a)} and {describe(b)} in one variable")


def _merge_items(condition: Term, a: tuple[Value, ...], b: tuple[Value, ...]) -> tuple[Value, ...]:
    return tuple(merge(condition, x, y) for x, y in zip(a, b, strict=True))
