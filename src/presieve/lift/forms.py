# SPDX-License-Identifier: Apache-2.0
"""Trusted. The forms in which a fold is written, and the input and output of lifting."""

from __future__ import annotations

from typing import TypeAlias

from msgspec import Struct

from presieve.ir.fold import Assumption, Column, Fold
from presieve.ir.sorts import Sort
from presieve.ir.terms import TRUE, Scope, Term, Var
from presieve.lift.values.ranges import EVERYTHING, Extent
from presieve.semantics.types import SchemaColumn


class RowClass(Struct, frozen=True):
    """An ``Aggregator``-shaped class or instance: it sees rows of Python values, NULL is None."""


class SeriesFunction(Struct, frozen=True):
    """The function under a grouped-aggregate pandas UDF: parameter i is the Series ``columns[i]``.

    It returns one value, the one output column. ``batches``: its one parameter is an iterator of
    such Series, or of tuples of them if there are several columns.
    """

    columns: tuple[str, ...]
    batches: bool = False


class FrameFunction(Struct, frozen=True):
    """The function of ``applyInPandas``: ``f(pdf)``, or ``f(key, pdf)`` with ``takes_key``. ``key``
    are the columns of the key, if some of them are not grouping columns of the request (since their
    types are not known, and a group's rows may differ in them).

    ``pdf`` has every column of the schema, including the keys. It returns one row.
    """

    takes_key: bool = False
    key: tuple[str, ...] | None = None


class ArrayFunction(Struct, frozen=True):
    """The function under a grouped-aggregate Arrow UDF: parameter i is the ``pyarrow.Array``
    ``columns[i]``. Without columns, they are detected.

    It returns one value, the one output column. ``batches`` is as in :class:`SeriesFunction`.
    """

    columns: tuple[str, ...] = ()
    batches: bool = False


class TableFunction(Struct, frozen=True):
    """The function of ``applyInArrow``: ``f(table)``, or ``f(key, table)`` with ``takes_key``;
    otherwise as in :class:`FrameFunction`.
    """

    takes_key: bool = False
    key: tuple[str, ...] | None = None


class RowFunction(Struct, frozen=True):
    """The function under a scalar UDF: parameter i is the value of ``columns[i]`` in one row.
    Without columns, they are detected.

    It returns one value, the one output column, or a struct, whose fields are the output columns.
    ``arrow`` tells which of Spark's two ways it takes from there, and ``safe`` whether Arrow then
    raises for an integer that is too large for the declared type. The columns it reads are the keys
    of the request: a row is lifted as a group with this key, whose rows are all the same.
    """

    columns: tuple[str, ...] = ()
    arrow: bool = True
    safe: bool = True


class GuardsFunction(RowFunction, frozen=True):
    """A scalar UDF. Only its results before the first statement that is not read matter."""


class ColumnsFunction(Struct, frozen=True):
    """The function under a scalar pandas UDF: parameter i is the Series ``columns[i]`` of a batch
    of rows. Without columns, they are detected.

    It returns one Series, with one element for each row. ``batches``: its one parameter is an
    iterator of such Series, or of tuples of them if there are several columns, and it yields
    Series. The columns it reads are the keys of the request, as in :class:`RowFunction`.
    ``by_column``: each field of a struct is converted by itself, as in :class:`RowsFunction`.
    """

    columns: tuple[str, ...] = ()
    batches: bool = False
    by_column: bool = False


class RowsFunction(Struct, frozen=True):
    """A function from a table to a table of its own rows, or some of them, changed one by one: of
    ``applyInPandas``, with ``batches`` of ``mapInPandas`` or ``mapInArrow`` (``arrow``).
    ``takes_key``: the key of a group comes first; ``key`` are its columns if each row of the group
    has their very values, as columns of doubles have not. ``by_column``: each column of a batch is
    converted to pandas by itself, as before Spark 4.2, and not all of them as one struct.
    """

    takes_key: bool = False
    batches: bool = False
    arrow: bool = False
    by_column: bool = False
    key: tuple[str, ...] = ()


class StateClass(Struct, frozen=True):
    """The class under a table function (``udtf``) that is called with a table by partitions: its
    ``eval`` takes rows of Python values, NULL is None, and ``terminate`` yields one row.
    """


Form: TypeAlias = (
    StateClass
    | RowClass
    | SeriesFunction
    | FrameFunction
    | ArrayFunction
    | TableFunction
    | RowFunction
    | GuardsFunction
    | ColumnsFunction
    | RowsFunction
)


class Pure(Struct, frozen=True):
    """A function that the caller declares pure. ``sort`` and Spark ``type`` are those of its
    results; ``returns`` is the type as Python writes it, such as ``str | None``.
    """

    function: object
    name: str
    sort: Sort
    type: str
    returns: str


class HiddenCall(Struct, frozen=True):
    """A call of a pure function, which is the hidden column ``name``. ``arguments`` are terms over
    ROW and KEY (None: the value None), by position ("0", "1"...) or keyword.
    """

    name: str
    pure: Pure
    arguments: tuple[tuple[str, Term | None], ...]

    @property
    def variable(self) -> Var:
        """The column's variable."""
        return Var(Scope.ROW, self.name, self.pure.sort)

    @property
    def column(self) -> Column:
        """The column of the fold."""
        return Column(self.name, self.pure.sort, self.pure.type, hidden=True)


class LiftRequest(Struct, frozen=True):
    """All that lifting needs to know besides the code.

    ``schema`` are the input columns in order, keys included if the rows hold them; ``keys`` the
    names of the grouping columns; ``returns`` the declared output columns in order; ``timezone``
    the session's time zone (an IANA name); ``pure`` functions that need not be read; ``extent``
    facts about the data beyond the types; ``workers_show_utc``: the clocks of the workers are known
    to show UTC.
    """

    schema: tuple[SchemaColumn, ...]
    keys: tuple[str, ...]
    returns: tuple[SchemaColumn, ...]
    timezone: str = "UTC"
    pure: tuple[Pure, ...] = ()
    extent: Extent = EVERYTHING
    workers_show_utc: bool = False


class Lifted(Struct, frozen=True):
    """The fold, its assumptions, and the user's source text of the function or class; ``calls`` are
    its hidden columns. ``kept``: the condition under which a function of tables gives a row at all:
    over KEY for one of single rows, else over KEY and ACC. ``known``: the condition over KEY under
    which the fold gives the outputs; elsewhere they may be anything. ``converted``: a scalar UDF
    may return an object that the column converts into another one, such as an integer for a double.
    ``gaps``: outputs of a function of columns on which Spark fails if all of a batch are missing.
    """

    fold: Fold
    assumptions: tuple[Assumption, ...]
    source: str
    calls: tuple[HiddenCall, ...] = ()
    kept: Term = TRUE
    known: Term = TRUE
    converted: bool = False
    gaps: frozenset[str] = frozenset()
