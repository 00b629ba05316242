"""Trusted. Tables and columns of the whole group as values, and what pandas makes of them."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TypeAlias

from presieve.ir.sorts import Sort, strip
from presieve.ir.terms import Op, Term

Own: TypeAlias = frozenset[int]
"""The objects that a table or column may be, or share its values with, by number."""

UNKNOWN: Own = frozenset((0,))
"""Any object at all."""
GIVEN: Own = frozenset((-1,))
"""Spark's: it passes one Series to all functions that take the column, and for all parameters."""
TABLE: Own = frozenset((1,))
"""The table that Spark makes for one call of the function."""


@dataclass(frozen=True, slots=True)
class SeriesV:
    """A column of the whole group. ``own``: as of all tables and columns, see
    :mod:`presieve.lift.execution.identity`.
    """

    name: str
    own: Own = field(default=UNKNOWN, compare=False)


@dataclass(frozen=True, slots=True)
class FrameV:
    """The rows of the whole group, with these columns."""

    columns: tuple[str, ...]
    own: Own = field(default=UNKNOWN, compare=False)


@dataclass(frozen=True, slots=True)
class Sorting:
    """An order by one column, those that are missing last. ``stable``: rows that tie are in the
    group's order; else in any.
    """

    key: VectorV
    upwards: bool
    stable: bool

    def settles(self, element: Term) -> bool:
        """Whether the order of these elements is known: those that tie are equal."""
        return self.stable or element == self.key.term


@dataclass(frozen=True, slots=True)
class VectorV:
    """A Series: ``term`` is its element in the current row, where the row is one of ``rows``.

    A missing element is none, or NaN. ``name``: the column that it is, as it stands. ``narrow``: an
    array of integers of fewer than 64 bits. ``ordered``: in the order of the group. ``array``: an
    array of NumPy's, whose reductions do not skip what is missing. ``by``: where it is not in the
    order of the group, what it is sorted by; None where the order is not known.
    """

    term: Term
    rows: Term
    name: str | None = None
    narrow: bool = False
    ordered: bool = True
    array: bool = False
    by: Sorting | None = None
    own: Own = field(default=UNKNOWN, compare=False)


@dataclass(frozen=True, slots=True)
class PartV:
    """Those rows of the group that ``rows`` holds for, with these columns. ``made``: those of them
    that the function has put in, or in the place of others.
    """

    columns: tuple[str, ...]
    rows: Term
    ordered: bool = True
    made: tuple[tuple[str, VectorV], ...] = ()
    by: Sorting | None = None
    own: Own = field(default=UNKNOWN, compare=False)


@dataclass(frozen=True, slots=True)
class TopV:
    """The first ``most`` rows of a table that is sorted, or of one column of it. ``among``: which
    rows these are is known, whatever order those that tie are in. ``listed``: a list of Python's.
    """

    of: VectorV | PartV
    by: Sorting
    most: int
    among: bool
    listed: bool = False


@dataclass(frozen=True, slots=True)
class FrequencyV:
    """``column.value_counts()``: how often each value is there; ``shares``: divided by the sum."""

    of: VectorV
    shares: bool


@dataclass(frozen=True, slots=True)
class CalendarV:
    """``column.dt.year`` or ``column.dt.date``: the name of the field."""

    of: VectorV
    name: str


@dataclass(frozen=True, slots=True)
class AccessV:
    """``table.loc``, ``column.iloc`` and the like, before the brackets."""

    of: SeriesV | FrameV | VectorV | PartV | TopV | FrequencyV
    by: str


@dataclass(frozen=True, slots=True)
class LabelV:
    """``column.idxmax()`` or ``idxmin()``: the label of a row, found by the order ``op``."""

    of: VectorV
    op: Op


@dataclass(frozen=True, slots=True)
class LabelledV:
    """The row of a label, as a Series."""

    columns: tuple[str, ...]
    label: LabelV


@dataclass(frozen=True, slots=True)
class DistinctV:
    """The number of different values: none, one (``some``) or more (``many``)."""

    some: Term
    many: Term


@dataclass(frozen=True, slots=True)
class NullableV:
    """A number, time or text of numpy's, or NaN or NaT where ``term`` is none: of an integer it is
    not known whether it is held as a float. ``there``: unless it is a double, it is never missing
    (none is what the fold of no rows has), and no float. ``wide``: surely numpy's, of 64 bits.
    """

    term: Term
    there: bool = False
    wide: bool = False

    @property
    def base(self) -> Sort:
        """The sort of the value where it is not missing."""
        return strip(self.term.sort)


WholeV: TypeAlias = (
    SeriesV
    | FrameV
    | VectorV
    | PartV
    | TopV
    | FrequencyV
    | CalendarV
    | AccessV
    | LabelV
    | LabelledV
    | DistinctV
    | NullableV
)
"""All of these."""
