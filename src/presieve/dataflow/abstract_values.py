# SPDX-License-Identifier: Apache-2.0
"""Trusted. Abstract values of the dataflow analysis, and their join.

An abstract value stands for every object that an expression may evaluate to. One-dimensional data
is a :class:`AbstractColumn`, a mutable Python object is a :class:`Ref` to an object of the heap,
and a value that is not followed is :class:`OpaqueValue`, which still says what it may reach and its
packages.

*Places* name objects: by the program node that makes the object, and whether it is the latest
object of that node or an older one (recency abstraction, Balakrishnan and Reps, SAS 2006).
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import reduce
from typing import Literal, NamedTuple, TypeAlias

from msgspec import Struct

from presieve.dataflow.libraries import package_of
from presieve.semantics.values import EXACT_INT_BOUND


class AllocationSite(NamedTuple):
    """Where an object was made: the node with its calls; ``older``: all objects but the latest."""

    site: tuple[int, ...]
    older: bool = False


Places: TypeAlias = frozenset[AllocationSite]
NOWHERE: Places = frozenset()


def part_of(place: AllocationSite, number: int) -> Places:
    """The place of a part of an object, such as a column of a table."""
    return frozenset((AllocationSite((*place.site, number)),))


NO_KEYS: frozenset[str] = frozenset()


class NoConstant(Struct, frozen=True):
    """A marker: no constant is known."""


MISSING = NoConstant()


class Length(NamedTuple):
    """A Python ``int`` that counts ``rows`` (None: it is unknown what), plus ``plus``."""

    rows: AllocationSite | None = None
    plus: int = 0


class AbstractScalar(Struct, frozen=True):
    """One value: a number, text, date, None.

    ``keys`` are the grouping columns whose value it is. ``constant`` is the value if the program
    states it. ``fixed``: it depends on no row. ``length`` says what it counts, if it is a count.
    ``passes`` is the input column whose value it is, in a row that is looked at. ``text``: it is a
    text, or None; ``whole``: it is a Python integer; ``label``: it is the label of a row.
    ``double``: it is a double, or None; ``real``: so is it, or a small integer.
    """

    keys: frozenset[str] = NO_KEYS
    constant: object = MISSING
    fixed: bool = False
    length: Length | None = None
    passes: str | None = None
    text: bool = False
    whole: bool = False
    label: bool = False
    double: bool = False
    real: bool = False

    @property
    def is_double(self) -> bool:
        """Whether it is a double, or None."""
        return self.double or self.constant is None or type(self.constant) is float

    @property
    def is_real(self) -> bool:
        """Whether it is a double, None or an integer that doubles hold."""
        small = type(self.constant) is int and abs(self.constant) < EXACT_INT_BOUND
        return self.real or self.is_double or small

    @property
    def is_text(self) -> bool:
        """Whether it is a text, or None."""
        return self.text or self.constant is None or type(self.constant) is str

    @property
    def is_whole(self) -> bool:
        """Whether it is a Python integer."""
        return self.whole or type(self.constant) is int


Mixed: TypeAlias = Literal["", "small", "real", "text", "gaps", "any"]
"""Whether the type that pandas gives a column depends on which rows are there: not at all; then the
column holds numbers below 2^53 or truth values, or doubles and integers below 2^53, or texts, or
anything, beside missing elements. ``gaps``: it holds texts, and is one of doubles if all of them
are missing.
"""


class AbstractColumn(Struct, frozen=True):
    """One-dimensional data: a Series, an array, a list of values.

    ``keys`` are the grouping columns whose value each item is. ``unread`` are input columns that it
    may pass on, and that have not been read so far. ``passes`` is the input column whose value each
    item is, in its row; ``rowwise``: each item depends on its row alone. ``rows`` names these rows,
    in their order; None if they are unknown. ``labelled``: items carry an index, by which pandas
    aligns. ``memory`` is where the items may be stored. ``index`` holds the keys of the columns in
    the index, by name; None if it has other labels. ``holds`` are the input columns whose values
    its items may be. ``text``: they are texts, in a column of objects. ``plain``: items are texts,
    dates or decimals of the input, or missing, whose values do not depend on what stands beside
    them. ``named``: the labels are texts of the program. ``fixed``: the items depend on no row.
    ``text_lists``: items are lists of texts, or missing. ``double``: the column is one of doubles,
    whichever rows are there.
    """

    keys: frozenset[str] = NO_KEYS
    unread: frozenset[str] = NO_KEYS
    passes: str | None = None
    rowwise: bool = False
    rows: AllocationSite | None = None
    labelled: bool = True
    mask: bool = False
    memory: Places = NOWHERE
    name: str | None = None
    index: tuple[tuple[str, frozenset[str]], ...] | None = None
    holds: frozenset[str] = frozenset()
    mixed: Mixed = ""
    text: bool = False
    plain: bool = False
    named: bool = False
    fixed: bool = False
    text_lists: bool = False
    double: bool = False


class Ref(Struct, frozen=True):
    """A table, list, dict or set at one of these places; ``table``: tables, of cells with data."""

    places: Places
    table: bool = False


@dataclass(frozen=True, slots=True)
class Row:
    """One row of a table: columns by name. ``series``: it is a Series, as ``iterrows``, ``apply``
    and ``iloc`` give it, where all values have one type; ``objects``: it is that of any object.
    """

    table: Ref
    series: bool = False
    objects: bool = False


@dataclass(frozen=True, slots=True)
class AbstractTuple:
    """A tuple, item by item."""

    items: tuple[Value, ...]


@dataclass(frozen=True, slots=True)
class View:
    """A lazy view, which iterates over what other values hold at that time: ``zip``, ``enumerate``,
    and the ``items``, ``keys`` and ``values`` of a dict. ``site`` is the call that makes it.
    """

    how: str
    parts: tuple[Value, ...]
    site: tuple[int, ...]


class Library(Struct, frozen=True):
    """A module, function or class of a package, by its dotted path."""

    path: str


class Class(Struct, frozen=True):
    """A class of the program, by its number among those that are read."""

    number: int


class Function(Struct, frozen=True):
    """A function of the program: its definition, and the frame in which it is defined.

    ``frame`` counts the frames below; ``owner`` says whose source it is.
    """

    node: ast.FunctionDef | ast.Lambda
    owner: int
    frame: int


class Grouped(Struct, frozen=True):
    """``table.groupby(by)``, perhaps with some columns chosen. ``flat``: ``as_index=False``.
    ``labelled``: results of ``apply`` get the labels of their groups.
    """

    table: Ref
    by: tuple[str, ...]
    chosen: tuple[str, ...] | str | None = None
    flat: bool = False
    labelled: bool = True


@dataclass(frozen=True, slots=True)
class Indexer:
    """``table.loc``, ``table.iloc``, ``series.iloc`` and the like; ``WINDOW``: ``rolling(...)``."""

    owner: Value
    name: str


WINDOW = "window"
"""The name of an indexer for the windows of a column."""


@dataclass(frozen=True, slots=True)
class BoundMethod:
    """A method bound to its owner."""

    owner: Value
    name: str


class Batches(Struct, frozen=True):
    """The iterator over tables that ``mapInPandas`` hands over; ``table`` is any of them."""

    table: Ref


class OpaqueValue(Struct, frozen=True):
    """Any value. ``reach`` are the places that it may refer to; ``packages`` those whose objects it
    may be, None if unknown. ``rows`` is set for an array that has an item for each of these rows,
    in one dimension or more; ``mask``: its items are truth values; ``rowwise``: each is made from
    its row alone. ``fixed``: it depends on no row.
    """

    reach: Places = NOWHERE
    packages: frozenset[str] | None = None
    rows: AllocationSite | None = None
    mask: bool = False
    rowwise: bool = False
    fixed: bool = False


Data: TypeAlias = AbstractScalar | AbstractColumn | AbstractTuple | Ref | Row | Batches
Code: TypeAlias = Library | Class | Function | BoundMethod
Value: TypeAlias = Data | Code | View | Grouped | Indexer | OpaqueValue

DATA = frozenset(("builtins",))
"""The package of the values in a table's cells."""
PANDAS = DATA | {"pandas", "numpy"}
"""The packages of tables, columns and what is in their cells."""
NONE = AbstractScalar(constant=None, fixed=True)


UNNAMED = "\0"
"""The label of groups by values of the program, whose name is not followed. No column has it."""


class Table(Struct, frozen=True):
    """A DataFrame. ``columns`` are the columns that it may have, in order; ``rest`` describes any
    other column, None if there is none. ``rows`` names its rows, None if they are unknown.
    ``filled``: it certainly has a row; ``empty``: it has none. ``rowwise``: whether it has a row
    depends on that row alone. ``index`` is as for a column. ``sure``: it has all of its columns, in
    this order.
    """

    columns: tuple[tuple[str, AbstractColumn], ...]
    rows: AllocationSite | None
    rest: AbstractColumn | None = None
    filled: bool = False
    empty: bool = False
    rowwise: bool = False
    sure: bool = True
    index: tuple[tuple[str, frozenset[str]], ...] | None = None

    def column(self, name: str) -> AbstractColumn | None:
        """The column of this name; None if there is none."""
        return dict(self.columns).get(name, self.rest)

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the known columns."""
        return tuple(n for n, _ in self.columns)

    @property
    def all_columns(self) -> tuple[AbstractColumn, ...]:
        """The known columns, and the one that stands for all others."""
        return (*(c for _, c in self.columns), *(() if self.rest is None else (self.rest,)))


class Items(Struct, frozen=True):
    """A list, set or dict, the ``names`` of a table's columns, or an ``instance`` of a class of the
    program, whose number is ``of``. ``element`` is what any item may be, None if there is none.
    ``fixed`` are the items one by one, ``known`` the values by constant name; both are None if
    unknown. ``more``: a dict may have other items than the known ones. ``element`` of a dict covers
    values only. ``each``: a list has an item for each of these rows, in order, or with ``some`` any
    number of items, each made from the row alone.
    """

    kind: str
    element: Value | None = None
    fixed: tuple[Value, ...] | None = None
    known: tuple[tuple[str, Value], ...] | None = None
    more: bool = False
    each: AllocationSite | None = None
    some: bool = False
    of: int | None = None

    @property
    def fields(self) -> tuple[tuple[str, Value], ...] | None:
        """All values by name; None if unknown."""
        return None if self.more else self.known


Object: TypeAlias = Table | Items


def reach_of(value: Value | None) -> Places:
    """The places that a value refers to directly."""
    match value:
        case AbstractColumn(memory=memory):
            return memory
        case Ref(places) | Row(Ref(places)) | Grouped(Ref(places)) | Batches(Ref(places)):
            return places
        case AbstractTuple(items) | View(parts=items):
            return reach_of_all(items)
        case Indexer(owner) | BoundMethod(owner):
            return reach_of(owner)
        case OpaqueValue(reach):
            return reach
    return NOWHERE


def reach_of_all(values: Iterable[Value]) -> Places:
    """The places that any of the values refers to directly."""
    return frozenset().union(*map(reach_of, values))


def union_of_packages(packages: Iterable[frozenset[str] | None]) -> frozenset[str] | None:
    """The packages of several values; None if those of one are unknown."""
    union: frozenset[str] = frozenset()
    for part in packages:
        if part is None:
            return None
        union |= part
    return union


def packages_of(value: Value) -> frozenset[str] | None:
    """The packages whose objects a value may be or hold, as far as its methods go. The heap knows
    what a list holds (:meth:`State.packages`).
    """
    match value:
        case OpaqueValue(packages=packages):
            return packages
        case AbstractScalar():
            return DATA
        case AbstractTuple(items) | View(parts=items):
            return union_of_packages((DATA, *map(packages_of, items)))
        case Ref(table=False):
            return None
        case BoundMethod(owner):
            return packages_of(owner)
        case AbstractColumn() | Ref() | Row() | Grouped() | Indexer():
            return PANDAS
        case Library(path):
            return frozenset((package_of(path),))
    return None


def is_fixed(value: Value) -> bool:
    """Whether a value depends on no row."""
    match value:
        case AbstractScalar(fixed=fixed):
            return fixed
        case AbstractTuple(items):
            return all(map(is_fixed, items))
        case Library() | Class() | Function():
            return True
    return False


def join(a: Value, b: Value) -> Value:
    """Join two values: the result is one or the other."""
    if a == b:
        return a
    match a, b:
        case AbstractScalar(), AbstractScalar():
            length = a.length if a.length == b.length else None
            return AbstractScalar(
                a.keys & b.keys,
                MISSING,
                a.fixed and b.fixed,
                length,
                a.passes if a.passes == b.passes else None,
                a.is_text and b.is_text,
                a.is_whole and b.is_whole,
                a.label or b.label,
                a.is_double and b.is_double,
                a.is_real and b.is_real,
            )
        case AbstractColumn(), AbstractColumn():
            return join_columns(a, b)
        case Ref(), Ref():
            return Ref(a.places | b.places, a.table and b.table)
        case AbstractTuple(left), AbstractTuple(right) if len(left) == len(right):
            return AbstractTuple(tuple(join(x, y) for x, y in zip(left, right, strict=True)))
    return OpaqueValue(
        reach_of(a) | reach_of(b), union_of_packages((packages_of(a), packages_of(b)))
    )


def join_all(values: Iterable[Value | None]) -> Value | None:
    """Join any number of values, of which some may be missing; None if there is none."""
    return reduce(join, present) if (present := [v for v in values if v is not None]) else None


def _either(a: Mixed, b: Mixed) -> Mixed:
    return "any" if a and b and a != b else a or b


def join_columns(a: AbstractColumn, b: AbstractColumn) -> AbstractColumn:
    """Join two columns: the result is one or the other."""
    if a == b:
        return a
    return AbstractColumn(
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
        holds=a.holds | b.holds,
        text=a.text and b.text,
        mixed=_either(a.mixed, b.mixed),
        plain=a.plain and b.plain,
        named=a.named and b.named,
        fixed=a.fixed and b.fixed,
        text_lists=a.text_lists and b.text_lists,
        double=a.double and b.double,
    )


def are_of_one_length(parts: Sequence[Value], *, compared: bool) -> bool:
    """Whether all parts have as many items, if one is a column: pandas aligns those with labels,
    but compares them only if they have the same ones.
    """
    several = [p for p in parts if not isinstance(p, AbstractScalar)]
    columns = [p for p in several if isinstance(p, AbstractColumn)]
    labelled = len(columns) == len(several) and all(c.labelled for c in columns)
    if not columns or len(several) == 1 or (labelled and not compared):
        return True
    rows = {p.rows if isinstance(p, AbstractColumn | OpaqueValue) else None for p in several}
    return len(rows) == 1 and None not in rows


def combine_elements(parts: Sequence[Value], *, mask: bool, array: bool = False) -> Value | None:
    """Combine columns and single values item by item; None for other values. The result is labelled
    if a column is, unless it is an ``array``.
    """
    if not all(isinstance(p, AbstractColumn | AbstractScalar) for p in parts):
        return None
    columns = [p for p in parts if isinstance(p, AbstractColumn)]
    if not columns:
        return AbstractScalar(fixed=all(map(is_fixed, parts)))
    rows = columns[0].rows if len({c.rows for c in columns}) == 1 else None
    alone = rows is not None and all(c.rowwise for c in columns)
    alone = alone and all(is_fixed(p) for p in parts if isinstance(p, AbstractScalar))
    alone = alone and (mask or all(c.mask or not c.mixed for c in columns))
    labelled = any(c.labelled for c in columns) and not array
    return AbstractColumn(rowwise=alone, rows=rows, labelled=labelled, mask=mask)
