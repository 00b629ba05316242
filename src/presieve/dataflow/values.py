"""Trusted. Abstract values of the dataflow analysis, and their join.

An abstract value stands for every object that an expression may give. Data of one dimension is a
:class:`Column`, what Python changes in place is a :class:`Ref` to an object of the heap, and what
is not followed is :class:`Opaque`, which still says what it may reach and whose package it is.

*Places* name what is made: by the node of the program that makes it, and whether it is the latest
object of that node or an older one (recency abstraction, Balakrishnan and Reps, SAS 2006).
"""

from __future__ import annotations

import ast
from collections.abc import Iterable
from dataclasses import dataclass
from typing import NamedTuple, TypeAlias


class Place(NamedTuple):
    """Where an object was made: ``site`` is the node with its calls, ``older`` summarizes all but
    the latest.
    """

    site: tuple[int, ...]
    older: bool = False


Places: TypeAlias = frozenset[Place]
NOWHERE: Places = frozenset()
NO_KEYS: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class Missing:
    """No constant is known."""


MISSING = Missing()


class Length(NamedTuple):
    """An ``int`` of Python's that counts: as many as ``rows`` are, and ``plus`` more. ``rows`` is
    None where it is not known what is counted.
    """

    rows: Place | None = None
    plus: int = 0


@dataclass(frozen=True, slots=True)
class Scalar:
    """One value: a number, text, date, None.

    ``keys`` are grouping columns whose value it is. ``constant`` is the value where the program
    says it. ``fixed``: it depends on no row. ``length`` says what it counts, if it does.
    """

    keys: frozenset[str] = NO_KEYS
    constant: object = MISSING
    fixed: bool = False
    length: Length | None = None


@dataclass(frozen=True, slots=True)
class Column:
    """Data of one dimension: a Series, an array, a list of values.

    ``keys`` are grouping columns whose value each item is. ``unread`` are input columns that it may
    pass on, of which nothing was read so far. ``passes`` is the input column whose value each item
    is, in the row that it belongs to; ``rowwise``: each item depends on that row alone. ``rows``
    names these rows, in their order; None where that is not known. ``labelled``: items carry an
    index, by which pandas aligns. ``memory`` is where the items may be stored. ``index`` are the
    keys of the columns that the index holds, by name; None where it has other labels.
    """

    keys: frozenset[str] = NO_KEYS
    unread: frozenset[str] = NO_KEYS
    passes: str | None = None
    rowwise: bool = False
    rows: Place | None = None
    labelled: bool = True
    mask: bool = False
    memory: Places = NOWHERE
    name: str | None = None
    index: tuple[tuple[str, frozenset[str]], ...] | None = None


@dataclass(frozen=True, slots=True)
class Ref:
    """A table, list, dict or set of the heap: one of those at these places. ``table``: they are
    tables, whose cells hold data.
    """

    places: Places
    table: bool = False


@dataclass(frozen=True, slots=True)
class Row:
    """One row of a table, as ``itertuples`` gives it: columns by name."""

    table: Ref


@dataclass(frozen=True, slots=True)
class TupleV:
    """A tuple, item by item."""

    items: tuple[Value, ...]


@dataclass(frozen=True, slots=True)
class View:
    """What goes over other values, and gives what they hold by then: ``zip``, ``enumerate``, and
    the ``items``, ``keys`` and ``values`` of a dict. ``site`` is the call that makes it.
    """

    how: str
    parts: tuple[Value, ...]
    site: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Library:
    """A module, function or class of a package, by its dotted path."""

    path: str


@dataclass(frozen=True, slots=True)
class Function:
    """A function of the program: its definition, and the frame in which it is defined.

    ``frame`` counts the frames below; ``owner`` says whose source it is.
    """

    node: ast.FunctionDef | ast.Lambda
    owner: int
    frame: int


@dataclass(frozen=True, slots=True)
class Grouped:
    """``table.groupby(by)``, perhaps with some columns chosen. ``flat``: ``as_index=False``."""

    table: Ref
    by: tuple[str, ...]
    chosen: tuple[str, ...] | str | None = None
    flat: bool = False


@dataclass(frozen=True, slots=True)
class Indexer:
    """``table.loc``, ``table.iloc``, ``series.iloc`` and the like; ``WINDOW``: ``rolling(...)``."""

    owner: Value
    name: str


WINDOW = "window"
"""The name of an indexer that is the windows of a column."""


@dataclass(frozen=True, slots=True)
class Method:
    """A method that is bound to its owner."""

    owner: Value
    name: str


@dataclass(frozen=True, slots=True)
class Batches:
    """The iterator over tables that ``mapInPandas`` hands over."""


@dataclass(frozen=True, slots=True)
class Opaque:
    """Anything. ``reach`` are the places that it may refer to; ``packages`` those whose objects it
    may be, None where that is not known. Of an array that has as many items as ``rows``, in one
    dimension or more, these are known; ``mask``: they are truth values.
    """

    reach: Places = NOWHERE
    packages: frozenset[str] | None = None
    rows: Place | None = None
    mask: bool = False


Value: TypeAlias = (
    Scalar
    | Column
    | Ref
    | Row
    | TupleV
    | View
    | Library
    | Function
    | Grouped
    | Indexer
    | Method
    | Batches
    | Opaque
)

DATA = frozenset(("builtins",))
"""The package of values that a table's cells hold."""
NONE = Scalar(constant=None, fixed=True)


@dataclass(frozen=True, slots=True)
class Table:
    """A DataFrame. ``columns`` are those that it may have, in order; ``rest`` says what any other
    column is, None where there is none. ``rows`` names its rows, None where they are not known.
    ``filled``: it has a row, for sure; ``empty``: it has none. ``rowwise``: whether it has a row
    depends on that row alone. ``index`` is as that of a column. ``sure``: it has all of its
    columns, in this order.
    """

    columns: tuple[tuple[str, Column], ...]
    rows: Place | None
    rest: Column | None = None
    filled: bool = False
    empty: bool = False
    rowwise: bool = False
    sure: bool = True
    index: tuple[tuple[str, frozenset[str]], ...] | None = None

    def column(self, name: str) -> Column | None:
        """The column of this name; None where there is none."""
        return dict(self.columns).get(name, self.rest)

    @property
    def names(self) -> tuple[str, ...]:
        """The columns that are known."""
        return tuple(n for n, _ in self.columns)


@dataclass(frozen=True, slots=True)
class Items:
    """A list, set or dict, or the ``names`` of a table's columns. ``element`` is what any item may
    be, None where there is none. ``fixed`` are items one by one, ``known`` values by constant name:
    both None where that is not known. ``more``: a dict may have others than those that are known.
    Of a dict, ``element`` counts values alone.
    """

    kind: str
    element: Value | None = None
    fixed: tuple[Value, ...] | None = None
    known: tuple[tuple[str, Value], ...] | None = None
    more: bool = False

    @property
    def fields(self) -> tuple[tuple[str, Value], ...] | None:
        """All values by name; None where that is not known."""
        return None if self.more else self.known


Object: TypeAlias = Table | Items


def reach_of(value: Value | None) -> Places:
    """The places that a value refers to by itself."""
    match value:
        case Column(memory=memory):
            return memory
        case Ref(places) | Row(Ref(places)) | Grouped(Ref(places)):
            return places
        case TupleV(items) | View(parts=items):
            return frozenset().union(*map(reach_of, items))
        case Indexer(owner) | Method(owner):
            return reach_of(owner)
        case Opaque(reach):
            return reach
    return NOWHERE


def packages_of(value: Value) -> frozenset[str] | None:
    """Whose objects a value may be or hold, as far as its methods go. What a list holds says the
    heap (:meth:`State.packages`).
    """
    match value:
        case Opaque(packages=packages):
            return packages
        case Scalar():
            return DATA
        case TupleV(items) | View(parts=items):
            held = [packages_of(i) for i in items]
            return None if None in held else DATA.union(*(h for h in held if h))
        case Ref(table=False):
            return None
        case Method(owner):
            return packages_of(owner)
        case Column() | Ref() | Row() | Grouped() | Indexer():
            return DATA | {"pandas", "numpy"}
        case Library(path):
            return frozenset((path.partition(".")[0],))
    return None


def is_fixed(value: Value) -> bool:
    """Whether a value depends on no row."""
    match value:
        case Scalar(fixed=fixed):
            return fixed
        case TupleV(items):
            return all(map(is_fixed, items))
        case Library() | Function():
            return True
    return False


def join(a: Value, b: Value) -> Value:
    """A value that is one or the other."""
    if a == b:
        return a
    match a, b:
        case Scalar(), Scalar():
            length = a.length if a.length == b.length else None
            return Scalar(a.keys & b.keys, MISSING, a.fixed and b.fixed, length)
        case Column(), Column():
            return join_columns(a, b)
        case Ref(), Ref():
            return Ref(a.places | b.places, a.table and b.table)
        case TupleV(left), TupleV(right) if len(left) == len(right):
            return TupleV(tuple(join(x, y) for x, y in zip(left, right, strict=True)))
    known = (packages_of(a), packages_of(b))
    packages = None if None in known else frozenset().union(*(k for k in known if k))
    return Opaque(reach_of(a) | reach_of(b), packages)


def join_all(values: Iterable[Value]) -> Value | None:
    """A value that is any of these; None where there is none."""
    found: Value | None = None
    for value in values:
        found = value if found is None else join(found, value)
    return found


def join_columns(a: Column, b: Column) -> Column:
    """A column that is one or the other."""
    if a == b:
        return a
    return Column(
        keys=a.keys & b.keys,
        unread=a.unread | b.unread,
        passes=a.passes if a.passes == b.passes else None,
        rowwise=a.rowwise and b.rowwise,
        rows=a.rows if a.rows == b.rows else None,
        labelled=a.labelled or b.labelled,
        mask=a.mask and b.mask,
        memory=a.memory | b.memory,
        name=a.name if a.name == b.name else None,
        index=a.index if a.index == b.index else None,
    )
