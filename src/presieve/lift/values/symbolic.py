# SPDX-License-Identifier: Apache-2.0
"""Trusted. The values that a Python variable may hold while a function is executed symbolically.

Scalars are terms; tuples keep their structure here, so the IR sees only their components. A tuple
that may be None carries the condition "it is there" beside the components.
"""

from __future__ import annotations

import ast
from dataclasses import dataclass, field
from itertools import count
from typing import Literal, TypeAlias

from msgspec import Struct

from presieve.errors import DeclineSignal, Span
from presieve.ir.sorts import BOOL, FLOAT, INT, STRING, Sort, strip
from presieve.ir.terms import FALSE, TRUE, Lit, Scope, Term, Var, literal_value
from presieve.lift.python.shipped import attribute
from presieve.lift.python.shipping import is_generated, is_named_tuple
from presieve.lift.values.arrow_values import ArrayV, ArrowColumnV, ArrowV, BatchV, CellV
from presieve.lift.values.text_parts import FindingsV, MatchV, SplitV
from presieve.lift.values.whole_columns import FrameV, PartV, SeriesV, VectorV, WholeV
from presieve.semantics.smart_constructors import ite
from presieve.semantics.values import EXACT_INT_BOUND

UNSETTLED = "$bits"
"""Part of the names that stand for the bits of a variable whose sort is not known yet."""

OTHER = "\udcff"
"""Name of a dict's item under a key that is none of the tracked constants. No column holds this
text.
"""

HOLE = "\udcfehole "
"""The beginning of the names of variables that stand for the truth of a :class:`HoleV`."""

SAME_HOLE = f"{HOLE}same "
"""The beginning of those names, for a hole that is the same for all rows and groups."""

_QUESTIONS = count()


class Whole(Struct, frozen=True):
    """An int that Python may hold where a Float stands: between ``low`` and ``high``, and exact as
    a double. ``when``: the condition under which it is an int; None if it is not known.
    """

    low: int = -EXACT_INT_BOUND
    high: int = EXACT_INT_BOUND
    when: Term | None = None

    @property
    def magnitude(self) -> int:
        """The greatest absolute value."""
        return max(-self.low, self.high)


class Traits(Struct, frozen=True):
    """Known properties of a scalar besides its sort.

    ``literal``: an Int that is always an integer literal of at most 2^53. ``whole``: the int of the
    same value that Python may hold in place of a Float; None if it is always a float.
    ``maybe_nan``: a Float that may be NaN.
    ``numpy``: maybe a numpy scalar, whose arithmetic is not Python's. ``wide``: certainly a numpy
    scalar, of 64 bits. ``ahead``: a TimestampNTZ that is always a naive datetime constant, in a
    session whose clocks are always so many microseconds ahead of UTC; it may also stand for the
    instant at which they show it.
    """

    literal: bool = False
    whole: Whole | None = None
    maybe_nan: bool = False
    numpy: bool = False
    ahead: int | None = None
    wide: bool = False

    def join(self, other: Traits, condition: Term | None = None) -> Traits:
        """Return what is known of a value that may be either of the two: where the condition holds
        the first one; None if it is not known when.
        """
        return Traits(
            self.literal and other.literal,
            _join_whole(self.whole, other.whole, condition),
            self.maybe_nan or other.maybe_nan,
            self.numpy or other.numpy,
            self.ahead if self.ahead == other.ahead else None,
            self.wide and other.wide,
        )

    @property
    def maybe_int(self) -> bool:
        """Whether this is a Float that Python may hold as an int of the same value."""
        return self.whole is not None


def _join_whole(a: Whole | None, b: Whole | None, condition: Term | None) -> Whole | None:
    if a is None and b is None:
        return None
    parts = [x for x in (a, b) if x is not None]
    then, otherwise = (FALSE if x is None else x.when for x in (a, b))
    when = None
    if condition is not None and then is not None and otherwise is not None:
        when = ite(condition, then, otherwise)
    return Whole(min(x.low for x in parts), max(x.high for x in parts), when)


PLAIN = Traits()
LITERAL = Traits(literal=True)


class Scalar(Struct, frozen=True):
    """One value; its sort is an option where it may be None."""

    term: Term
    traits: Traits = PLAIN

    @property
    def base(self) -> Sort:
        """The sort of the value where it is not None."""
        return strip(self.term.sort)


class NoneV(Struct, frozen=True):
    """A value that is certainly None."""


@dataclass(frozen=True, slots=True)
class TupleV:
    """A tuple of known length."""

    items: tuple[Value, ...]


class TagV(Struct, frozen=True):
    """The first item of a tuple that stands for an object; ``fixed``: it is immutable."""

    cls: type
    names: tuple[str, ...]
    fixed: bool


@dataclass(frozen=True, slots=True)
class OptTupleV:
    """A tuple where ``present`` holds, else None (the items are then unspecified but total)."""

    present: Term
    items: tuple[Value, ...]


@dataclass(frozen=True, slots=True)
class Known:
    """An object from outside that is not a scalar constant: a module or function."""

    name: str
    target: object

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Known) and self.target is other.target

    def __hash__(self) -> int:
        return id(self.target)


CAUGHT = Known("error that is caught", object())
"""The error that ``except ... as e`` binds a name to. Only messages may use it."""


class ColumnV(Struct, frozen=True):
    """The current row's value of a column; it counts as read only where it is used."""

    name: str


class RowV(Struct, frozen=True):
    """The current row. ``by`` are the ways to reach a column: attribute, label, position.

    ``columns`` are in the order of positions; ``shift`` is 1 where position 0 is the index.
    ``doubles``: all values are NumPy's doubles, whatever the columns hold.
    """

    columns: tuple[str, ...]
    attributes: frozenset[str]
    labels: bool
    positions: bool
    shift: int = 0
    doubles: bool = False


class KeyV(Struct, frozen=True):
    """The tuple of grouping values that ``applyInPandas`` passes: numpy scalars where numeric."""

    names: tuple[str, ...]


class SelfV(Struct, frozen=True):
    """The object whose method is executed."""

    target: object


class SizeV(Struct, frozen=True):
    """The number of rows of the group: at least one, known after the loop."""


class IndexV(Struct, frozen=True):
    """A row's index or number, which depends on the other rows."""


class BitsV(Struct, frozen=True):
    """A non-negative integer by its bits, the lowest first; higher bits are zero.

    ``unsettled`` are variables that have held only constants so far, and may turn out to hold
    flags: while there are any, the bits mean nothing yet.
    """

    bits: tuple[Term, ...]
    unsettled: frozenset[str] = frozenset()

    def mark(self) -> Term:
        """Return a placeholder for a question about unsettled flags: a variable that no fold has,
        and a new one each time, since nothing is known of the answers.
        """
        name = min(self.unsettled)
        return Var(Scope.ACC, f"{name}{UNSETTLED}{next(_QUESTIONS)}", BOOL)


@dataclass(frozen=True, slots=True)
class TableV:
    """A result table of one row, or of none unless ``present``; ``names`` is None where its columns
    have no names. ``doubles``: if it has no row, all of its columns are of doubles.
    """

    names: tuple[str, ...] | None
    items: tuple[Value, ...]
    present: Term = TRUE
    doubles: bool = False


@dataclass(frozen=True, slots=True)
class ListedArrayV:
    """An array of pyarrow of these elements, which the function lists."""

    items: tuple[Value, ...]


@dataclass(frozen=True, slots=True)
class ArrowTableV:
    """A table of pyarrow with one row that the function creates."""

    names: tuple[str, ...]
    items: tuple[Value, ...]


@dataclass(frozen=True, slots=True)
class BatchesV:
    """Each batch holds some rows of the group, in order, with these columns."""

    columns: tuple[Value, ...]


@dataclass(frozen=True, slots=True)
class ListV:
    """A list display."""

    items: tuple[Value, ...]


@dataclass(frozen=True, slots=True)
class RowListV:
    """A list with a value for each row that satisfies ``rows``, in their order, where each row is
    lifted by itself.
    """

    item: Value
    rows: Term


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


class LengthV(Struct, frozen=True):
    """The length of a growing list: for each item, whether it exists."""

    there: tuple[Term, ...]


class DaysV(Struct, frozen=True):
    """A ``timedelta`` of whole days, the difference of two dates."""

    days: Term


class DurationV(Struct, frozen=True):
    """A ``timedelta``, the difference of two times without a zone, in microseconds."""

    micros: Term


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


class MissingKeyValue(Struct, frozen=True):
    """What a dict of a class gives for a missing key, and whether it then ``keeps`` the key."""

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


class CountsV(Struct, frozen=True):
    """``Counter(column)``: the number of times each value occurs in a column."""

    of: VectorV


class SetV(Struct, frozen=True):
    """A set: it holds a constant where the term beside it holds, and some other value where
    ``others`` holds. ``fixed``: a frozenset.
    """

    members: tuple[Lit, ...]
    present: tuple[Term, ...]
    others: Term
    fixed: bool = False


class ElementsV(Struct, frozen=True):
    """The array or map of a column, or a list or dict without elements where ``empty`` holds."""

    empty: Term
    of: Scalar

    @property
    def base(self) -> Sort:
        """The sort of the array or map."""
        return self.of.base


class RefV(Struct, frozen=True):
    """A list, dict or set in a variable: the number of the object. The path holds its contents."""

    number: int


@dataclass(frozen=True, slots=True)
class InnerFunctionV:
    """A function that the function defines: its ``variables``, parameters included, what it
    captures, and the ``defaults`` of parameters.
    """

    node: ast.FunctionDef
    variables: tuple[str, ...]
    captured: tuple[tuple[str, Value], ...]
    defaults: tuple[tuple[str, Value], ...]


class Unbound(Struct, frozen=True):
    """A variable that is not assigned, at least on some path."""


class Clash(Struct, frozen=True):
    """A variable whose types on different paths do not go together."""

    reason: str


class HoleV(Struct, frozen=True):
    """Any value: an obstacle stands where it is computed. There are such values only where the
    obstacles behind that one are looked for. ``same``: it is the same for all rows and groups.
    """

    same: bool

    def truth(self) -> Term:
        """Return a variable that no fold has, and a new one each time."""
        return Var(Scope.KEY, f"{SAME_HOLE if self.same else HOLE}{next(_QUESTIONS)}", BOOL)


Plain: TypeAlias = (
    Scalar
    | NoneV
    | TupleV
    | TagV
    | OptTupleV
    | Known
    | InnerFunctionV
    | SplitV
    | FindingsV
    | MatchV
    | DaysV
    | DurationV
    | BitsV
)
Container: TypeAlias = (
    ListV | RowListV | GrowingV | LengthV | DictV | MapV | CountsV | SetV | ElementsV | RefV
)
Rows: TypeAlias = ColumnV | RowV | BatchesV | KeyV | SelfV | SizeV | IndexV | PerhapsV
NoValue: TypeAlias = Unbound | Clash | HoleV
Value: TypeAlias = (
    Plain | Container | Rows | WholeV | ArrowV | TableV | ArrowTableV | ListedArrayV | NoValue
)

NONE = NoneV()


def mixed_types_signal(reason: str) -> DeclineSignal:
    """Return the decline for one variable with two incompatible types."""
    return DeclineSignal("mixed-types", reason)


def without_tag(value: Value) -> Value:
    """Return a named tuple as a plain tuple; everything else as it is, also a ``Row`` of pyspark,
    in which ``in`` and ``[]`` find names.
    """
    match value:
        case TupleV((TagV(cls, _, _), *items)) if is_named_tuple(cls):
            return TupleV(tuple(items))
        case OptTupleV(present, (TagV(cls, _, _), *items)) if is_named_tuple(cls):
            return OptTupleV(present, tuple(items))
    return value


def is_tagged(value: Value) -> bool:
    """Return whether the value is an object of a class."""
    return isinstance(value, TupleV | OptTupleV) and isinstance(next(iter(value.items), None), TagV)


def has_own_equality(value: Value) -> bool:
    """Return whether the class of an object defines equality itself, instead of Python."""
    assert isinstance(value, TupleV | OptTupleV)
    tag = value.items[0]
    assert isinstance(tag, TagV)
    method = attribute(tag.cls, "__eq__")
    return method is not object.__eq__ and not is_generated(method)


def constant_of(value: Value, *sorts: Sort) -> bool | int | float | str | None:
    """Return the constant that a value is, if it has one of these sorts; None for every other
    value.

    By default a truth value, a number or a text: literals of other sorts are held in units of their
    own, so Decimal("1.5") would be 15.
    """
    if isinstance(value, Scalar) and isinstance(value.term, Lit):
        return literal_value(value.term) if value.base in (sorts or _PLAIN_SORTS) else None
    return None


_PLAIN_SORTS = (BOOL, INT, FLOAT, STRING)


def holds_objects(value: Value) -> bool:
    """Return whether the value is an object, or a tuple or a function that holds one."""
    match value:
        case RefV():
            return True
        case TupleV(items) | OptTupleV(_, items):
            return any(holds_objects(i) for i in items)
        case InnerFunctionV(captured=captured):
            return any(holds_objects(v) for _, v in captured)
    return False


def describe(value: Value) -> str:
    """Describe the kind of value in a user's words."""
    match value:
        case TupleV((TagV(cls, _, _), *_)) | OptTupleV(_, (TagV(cls, _, _), *_)):
            return f"an object of class {cls.__name__}"
        case Scalar(term, _):
            name = type(strip(term.sort)).__name__
            return f"a value of type {_SORTS.get(name, name.lower())}"
        case NoneV():
            return "None"
        case TupleV(items) | OptTupleV(_, items):
            return f"a tuple of {len(items)}"
        case Known(name, _):
            return f"the object {name}"
        case RowV():
            return "a row"
        case SeriesV() | FrameV() | VectorV() | PartV():
            return "a whole table or column"
        case ArrowColumnV() | ArrayV() | BatchV():
            return "a whole array or table"
        case CellV():
            return "a pyarrow scalar (.as_py() returns its value)"
        case _:
            return _KINDS.get(type(value).__name__, "a value of another kind")


_SORTS = {
    "ArrayOf": "array",
    "MapOf": "map",
    "StructOf": "struct",
    "TimestampNTZ": "timestamp",
}
"""Types by the name that Spark gives them, where ours is another."""
_KINDS = {
    "NullableV": "a value that may be NaN",
    "DistinctV": "the number of different values",
    "LabelV": "the label of a row",
    "CalendarV": "the dates of a column of times",
    "NumberedV": "a table of numbered columns",
    "FrequencyV": "the counts of all values",
    "TopV": "the first rows of a sorted table or column",
    "ListV": "a list",
    "GrowingV": "a list",
    "RowListV": "a list with an item for each row",
    "LengthV": "the length of a list",
    "DictV": "a dict",
    "MapV": "a dict",
    "CountsV": "a Counter",
    "SetV": "a set",
    "BitsV": "bit flags",
    "SplitV": "the parts of a text",
    "FindingsV": "the parts or matches of a text",
    "MatchV": "the match of a regular expression",
    "DaysV": "a difference of dates",
    "DurationV": "a difference of times",
    "DurationsV": "differences of times",
    "ElementsV": "an array or a map",
    "RefV": "a list, dict or set",
    "TableV": "a table",
    "ArrowTableV": "a table of pyarrow",
    "ArrowTypeV": "a type of pyarrow",
    "ListedArrayV": "an array of pyarrow",
    "InnerFunctionV": "a function",
    "AccessV": "a column's .str or .dt",
    "BatchesV": "the iterator of batches",
}
