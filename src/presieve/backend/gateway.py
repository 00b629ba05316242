"""Trusted. What the rest of the backend asks of Spark, wherever its plans lie.

A plan is a handle with which nothing can be done but to hand it back, and a tree in Catalyst's
words (:mod:`presieve.backend.catalyst.trees`), in which everything is looked up. A path leads to
the same operator in both.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol, TypeAlias

from presieve.backend.catalyst.trees import Node, Tree
from presieve.backend.versions import Version, version_of
from presieve.errors import Declined, PresieveError
from presieve.plan.algebra import Attribute

if TYPE_CHECKING:
    from pyspark.sql.dataframe import DataFrame

Handle: TypeAlias = Any
"""A plan, expression or function where Spark has it: py4j, for one, knows no types."""


class GatewayError(PresieveError):
    """An interface of Spark is missing or refused. Becomes a :class:`Declined` in the backend."""

    @property
    def declined(self) -> Declined:
        """The value for the report."""
        return Declined("spark-internals", str(self))


def served(spark: object) -> Version:
    """The version that a session runs. Raises :class:`GatewayError` where it is not served."""
    version = version_of(spark)
    if isinstance(version, Declined):
        raise GatewayError(version.reason)
    return version


@dataclass(frozen=True, slots=True)
class Source:
    """What a leaf of a plan reads from: the ``names`` of the classes, or formats, that do it, the
    outermost first; ``files``: files of Spark's own formats; ``raw``: it is handed conditions as
    Catalyst has them, and not only those of a list. ``by_columns``: which rows there are, or what
    is in one column, may depend on which other columns are read, as malformed ones are dropped or
    recorded. ``aside``: the columns of which it must not be handed filters.
    """

    names: tuple[str, ...]
    files: bool = False
    raw: bool = False
    by_columns: bool = False
    aside: frozenset[str] = frozenset()


class Gateway(Protocol):
    """The interfaces of one session. Everything may raise :class:`GatewayError`."""

    version: Version
    """That of its Spark."""

    # Plans

    def analyzed(self, df: DataFrame) -> Handle:
        """The analyzed logical plan of a DataFrame."""

    def glance(self, plan: Handle, *, skip_hopeless: bool) -> bool:
        """Whether there may be a boundary below a filter in the plan; perhaps without those past
        which it is plain that nothing moves. Costs less than reading it.
        """

    def interesting(self, plan: Handle, *, skip_hopeless: bool) -> Node | None:
        """The plan as a tree, or None where there is nothing to do in it and nothing to say."""

    def tree(self, plan: Handle) -> Node:
        """The plan as a tree."""

    def calls_python(self, plan: Handle) -> bool:
        """Whether there may be a Python function in the plan that no aggregate calls."""

    def has_filtered(self, plan: Handle) -> bool:
        """Whether there may be an operator of :mod:`presieve.backend.filtered` below a filter."""

    def refers(self, plan: Handle) -> bool:
        """Whether there may be a reference to a definition (WITH) in the plan."""

    def condensed(self, plan: Handle) -> Handle | None:
        """A large plan that gives the same rows and is faster read, where there is one. Only to
        look at: if no boundary in it has something to gain, none in the plan has.
        """

    def inlined(self, plan: Handle) -> Handle:
        """The plan with definitions (WITH) in place of the references to them, where Spark itself
        puts them there; itself where there are none.
        """

    def simplified(self, plan: Handle) -> Handle:
        """The plan after rules of Spark's optimizer that change no rows: without columns that
        nobody reads, where something is not deterministic, and with constants computed. Itself
        where that changes nothing. What depends on the time is not computed.
        """

    def projected(self, plan: Handle, root: Node) -> Handle:
        """The plan (``root`` is its tree) with what aggregates below filters compute with results
        of their functions in projections above them. Itself where there is nothing of that kind.
        """

    def separated(self, plan: Handle, root: Node, *, everywhere: bool = False) -> Handle:
        """The plan (``root`` is its tree) with scalar UDFs inside filters and larger expressions as
        columns of projections of their own: in filters and what is below them, or ``everywhere``.
        Itself where there are none.
        """

    def same(self, plan: Handle, other_plan: Handle) -> bool:
        """Whether two plans are equal, down to the numbers of attributes."""

    def same_output(self, plan: Handle, other_plan: Handle) -> bool:
        """Whether two plans have the same columns, of the same types and numbers."""

    def node(self, root: Handle, path: Sequence[int]) -> Handle:
        """The node reached by following child numbers."""

    def attributes(self, plan: Handle) -> tuple[Attribute, ...]:
        """The output attributes of a plan, in order. Raises :class:`DeclineSignal`."""

    def deterministic(self, plan: Handle) -> bool:
        """Whether no expression of the plan or below it is non-deterministic."""

    def repeatable(self, plan: Handle) -> bool:
        """Whether the leaves and expressions of a plan give the same whenever they are computed in
        one execution. Of its operators this says nothing.
        """

    def unread(self, plan: Handle) -> Declined | None:
        """What of the plan or below it is not understood, so that nothing is known of it."""

    def session_declines(self) -> Declined | None:
        """Why nothing is moved in plans of this session, whatever they are."""

    def is_streaming(self, plan: Handle) -> bool:
        """Whether a streaming source is below."""

    # Expressions

    def condition(self, filter_: Handle) -> Handle:
        """The condition of a filter."""

    def condition_tree(self, plan: Handle) -> Tree | None:
        """The condition as a tree; None where the plan is no filter."""

    def operand(self, conjunction: Handle, side: str) -> Handle:
        """The ``left`` or ``right`` operand of a conjunction."""

    def conjunction(self, left: Handle, right: Handle) -> Handle:
        """``left AND right``."""

    def sql(self, expression: Handle) -> str:
        """An expression as SQL text, for a person."""

    # Building

    def filter(self, condition: Handle | None, filter_: Handle, child: Handle) -> Handle:
        """The filter with another condition (None: it keeps every row) over another child."""

    def filter_sql(self, sql: str, child: Handle) -> Handle:
        """A filter above ``child`` whose condition is resolved by name against it."""

    def split(self, kept_rows: Handle, breaking: Handle, rows: Handle, by: Sequence[str]) -> Handle:
        """The rows of ``kept`` whose class has no row in ``breaking``, and those of ``rows`` whose
        class has one (:mod:`presieve.backend.guard`). ``by`` are the columns that say the class.
        The three plans have the same columns.
        """

    def with_children(self, node: Handle, children: Sequence[Handle]) -> Handle:
        """The same node over other children."""

    def pruned(self, flat_map: Handle, kept_columns: Sequence[Collection[int]]) -> Handle:
        """The operator that hands tables to a function, with these columns alone of each of its
        inputs, by number.
        """

    def with_expressions(self, project: Handle, expressions: Mapping[int, str]) -> Handle:
        """The projection with these expressions of SQL, over its input, in its columns of these
        numbers, which keep their names and numbers.
        """

    def own_readers(self, plan: Handle) -> Handle:
        """The plan with sources that no other plan hands filters to. Raises :class:`GatewayError`
        where they cannot be had.
        """

    def own_listings(self, plan: Handle) -> Handle:
        """The plan with relations whose files nobody lists anew. Raises :class:`GatewayError` where
        these are other files than were listed.
        """

    def as_projection(
        self, flat_map: Handle, expressions: Sequence[str], condition: str | None
    ) -> Handle:
        """A projection in place of the operator that hands tables to a function: these expressions
        of SQL, over the function's columns, for its outputs, of those rows for which ``kept`` is
        true.
        """

    def as_aggregate(
        self,
        groups: Handle,
        keys: Sequence[int],
        aggregates: Mapping[str, str],
        outputs: Mapping[int, str],
    ) -> Handle:
        """Aggregate functions in place of the operator that hands groups to functions: a projection
        of these expressions of SQL for the functions' outputs, by attribute, over columns of
        aggregates of these names, by the attributes ``keys`` of the function's input.
        """

    def with_plan(self, with_cte: Handle, plan: Handle) -> Handle:
        """Another plan under the same definitions (``WithCTE``)."""

    def children(self, node: Handle) -> list[Handle]:
        """The children of a node."""

    def subqueries(self, plan: Handle) -> list[Handle]:
        """The plans of the subqueries in the expressions of a plan, and of those in these."""

    def dataframe(self, plan: Handle) -> DataFrame:
        """A DataFrame of a logical plan, which is analyzed (and checked) on the way."""

    # Functions

    def evaluation_mode(self, aggregate: Handle, position: int) -> str:
        """What the ``Sum`` at ``position`` does on overflow: ``ANSI``, ``LEGACY`` or ``TRY``."""

    def arithmetic_mode(self, aggregate: Handle, position: int, number: int) -> str:
        """The same of the operator of that number in the output at ``position``, in pre-order."""

    def aggregate_function(self, aggregate: Handle, position: int) -> Handle:
        """The Python function of ``Alias(AggregateExpression(PythonUDAF))`` at ``position``."""

    def row_function(self, project: Handle, position: int) -> Handle:
        """The Python function of ``Alias(PythonUDF)`` at ``position`` of a projection."""

    def group_function(self, flat_map: Handle) -> Handle:
        """The Python function of a ``FlatMapGroupsInPandas``."""

    def table_function(self, project: Handle) -> Handle:
        """The Python class of a projection of the results of a table function."""

    def load(self, python_function: Handle) -> object:
        """What the pickled command of a Python function holds: a (function, type) pair.

        It was pickled by this process, or by one that the user started for the same job. Raises
        whatever loading the user's own objects raises.
        """

    # Around the plan

    def conf(self, key: str, default: str) -> str:
        """A configuration entry of the session: where it is not set, what Spark takes it to be, and
        ``default`` only where Spark has no such entry.
        """

    def cache_is_empty(self) -> bool:
        """Whether nothing at all is cached in this application."""

    def is_cached(self, plan: Handle) -> bool:
        """Whether the result of exactly this plan is cached."""

    def parquet_files(self, relation: Handle) -> list[str]:
        """The files of a relation over Parquet, as URIs that can be opened here; none for other
        relations.
        """

    def file_stamps(self, relation: Handle) -> list[tuple[str, int, int]]:
        """Path, length in bytes and time of modification, in milliseconds, of each file that a
        relation reads; none where the files are not listed.
        """

    def count(self, plan: Handle, most: int) -> int:
        """The number of rows of a plan, which is run, or ``most`` where there are more."""

    def skipped(self, relation: Handle, condition: str) -> float | None:
        """The share of the rows of a relation over files of this machine that a scan of it skips by
        a condition, of SQL: by directories, row groups and pages. An estimate, from a few files;
        None where nothing is known.
        """

    def stored_columns(self, relation: Handle) -> frozenset[str]:
        """The columns of such a relation that Spark reads from the files by these names: not those
        that directories are named for, nor any where columns are looked up by number.
        """

    def is_settled(self, plan: Handle, path: Sequence[int]) -> bool:
        """Whether the relation at ``path`` reads the files of now when what is made of the plan is
        executed: that is done at once, or the relation keeps its list of files, once it is one of
        :meth:`own_listings`. The files of a view are those of the time when it is read.
        """

    def source(self, leaf: Handle) -> Source:
        """What a leaf reads from."""

    def scan_metadata(self, plan: Handle) -> list[tuple[str, dict[str, str]]]:
        """Of every leaf of the physical plan: its name, and what it says about pushed filters.

        Planned afresh, so that nothing is fixed in a DataFrame that somebody holds.
        """

    def optimized_text(self, plan: Handle) -> str:
        """Spark's drawing of the optimized logical plan."""
