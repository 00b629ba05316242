# SPDX-License-Identifier: Apache-2.0
"""Trusted. Symbolic values for tables and columns of the whole group, and for results of pandas."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TypeAlias

from msgspec import Struct

from presieve.ir.sorts import Sort, strip
from presieve.ir.terms import Op, Term
from presieve.lift.values.text_parts import FindingsV, SplitV

Own: TypeAlias = frozenset[int]
"""Numbers of the objects that a table or column may be identical to, or share its values with."""

UNKNOWN: Own = frozenset((0,))
"""Any object at all."""
GIVEN: Own = frozenset((-1,))
"""A Series of Spark's: Spark passes the same one to all functions and parameters that read the
column.
"""
TABLE: Own = frozenset((1,))
"""The table that Spark creates for one call of the function."""


@dataclass(frozen=True, slots=True)
class SeriesV:
    """A column of the whole group. ``own``, here and in the other tables and columns: see
    :mod:`presieve.lift.execution.aliasing`.
    """

    name: str
    own: Own = field(default=UNKNOWN, compare=False)


@dataclass(frozen=True, slots=True)
class FrameV:
    """A table of all rows of the group, with these columns."""

    columns: tuple[str, ...]
    own: Own = field(default=UNKNOWN, compare=False)


class Sorting(Struct, frozen=True):
    """An order by a column, with missing elements last, and ``then`` by others where it ties, each
    upwards or not. ``stable``: rows that tie in all of them are in the group's order; otherwise in
    any order.
    """

    key: VectorV
    upwards: bool
    stable: bool
    then: tuple[tuple[VectorV, bool], ...] = ()

    @property
    def keys(self) -> tuple[tuple[VectorV, bool], ...]:
        """All columns, and whether the order by each is upwards."""
        return ((self.key, self.upwards), *self.then)

    def settles(self, element: Term) -> bool:
        """Return whether the order of these elements is known: elements that tie are equal."""
        return self.stable or any(element == key.term for key, _ in self.keys)


@dataclass(frozen=True, slots=True)
class VectorV:
    """A Series: ``term`` is its element in the current row, where the row is one of ``rows``.

    A missing element is none, or NaN. ``name``: the input column that it is, unchanged. ``narrow``:
    an array of integers of fewer than 64 bits. ``ordered``: in the order of the group. ``array``: a
    NumPy array, whose reductions do not skip missing elements. ``by``: the sort order if it is not
    the order of the group; None if the order is not known. ``loose``: if all elements are missing,
    pandas makes a column of texts one of doubles, and a column of numbers one of objects.
    ``gaps``: of these texts it does make doubles then, which Spark does not convert. ``masked``: of
    truth values; a missing one is ``pandas.NA``, with three-valued logic, and selects no row.
    ``categories``: of categories, which compare and sort in an order of their own, as texts.
    """

    term: Term
    rows: Term
    name: str | None = None
    narrow: bool = False
    ordered: bool = True
    array: bool = False
    by: Sorting | None = None
    loose: bool = False
    gaps: bool = False
    masked: bool = False
    categories: bool = False
    own: Own = field(default=UNKNOWN, compare=False)


@dataclass(frozen=True, slots=True)
class PartV:
    """A table of the rows of the group that satisfy ``rows``, with these columns. ``made``: the
    columns that the function has added or replaced.
    """

    columns: tuple[str, ...]
    rows: Term
    ordered: bool = True
    made: tuple[tuple[str, VectorV], ...] = ()
    by: Sorting | None = None
    own: Own = field(default=UNKNOWN, compare=False)


class TopV(Struct, frozen=True):
    """The first ``most`` rows of a sorted table, or of one of its columns. ``among``: the set of
    rows is known, even if the order of ties is not. ``listed``: as a Python list.
    """

    of: VectorV | PartV
    by: Sorting
    most: int
    among: bool
    listed: bool = False


class FrequencyV(Struct, frozen=True):
    """``column.value_counts()``: the count of each value; ``shares``: divided by the sum."""

    of: VectorV
    shares: bool


class CalendarV(Struct, frozen=True):
    """``column.dt.date``: a column of dates, ``dates`` if they are known as such."""

    of: VectorV
    dates: VectorV | None


class DurationsV(Struct, frozen=True):
    """The differences of two columns of times, in microseconds."""

    micros: VectorV


class SplitsV(Struct, frozen=True):
    """``column.str.split(separator)``: the ``parts`` of each text."""

    of: VectorV
    parts: SplitV | FindingsV


class NumberedV(Struct, frozen=True):
    """A table whose columns have numbers, such as the groups of ``column.str.extract(pattern)``;
    only the first ones may be there for sure.
    """

    columns: tuple[VectorV, ...]


class AccessV(Struct, frozen=True):
    """``table.loc``, ``column.iloc`` and the like, before the brackets."""

    of: SeriesV | FrameV | VectorV | PartV | TopV | FrequencyV | SplitsV | DurationsV
    by: str


class LabelV(Struct, frozen=True):
    """``column.idxmax()`` or ``idxmin()``: the label of the best row by the order ``op``."""

    of: VectorV
    op: Op


class LabelledV(Struct, frozen=True):
    """The row with a label, as a Series."""

    columns: tuple[str, ...]
    label: LabelV


class DistinctV(Struct, frozen=True):
    """The number of distinct values: ``some``: at least one; ``many``: more than one."""

    some: Term
    many: Term


class NullableV(Struct, frozen=True):
    """A number, time or text of NumPy, or NaN or NaT if ``term`` is none. An integer may be held as
    a float. ``there``: unless it is a double, the value is never missing (only the fold of no rows
    has none), and it is not held as a float. ``wide``: certainly a NumPy number of 64 bits.
    """

    term: Term
    there: bool = False
    wide: bool = False

    @property
    def base(self) -> Sort:
        """The sort of the value if it is not missing."""
        return strip(self.term.sort)


WholeV: TypeAlias = (
    SeriesV
    | FrameV
    | VectorV
    | PartV
    | TopV
    | FrequencyV
    | CalendarV
    | DurationsV
    | AccessV
    | SplitsV
    | NumberedV
    | LabelV
    | LabelledV
    | DistinctV
    | NullableV
)
"""The union of these types."""
