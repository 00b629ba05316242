# SPDX-License-Identifier: Apache-2.0
"""Trusted. The interface between Spark and the rest of the backend, wherever Spark's plans are.

A plan is an opaque handle, which can only be handed back, and a tree in Catalyst's words
(:mod:`presieve.backend.catalyst.trees`), in which everything is looked up. A path leads to the same
operator in both.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Protocol, TypeAlias

from msgspec import Struct

from presieve.backend.catalyst.trees import Node, Tree
from presieve.backend.versions import Version, version_of
from presieve.errors import Declined, DeclineSignal, PresieveError
from presieve.plan.algebra import Attribute

if TYPE_CHECKING:
    from pyspark.sql.dataframe import DataFrame

Handle: TypeAlias = Any
"""A plan, expression or function inside Spark, of type ``Any`` because py4j has no types."""


class GatewayError(PresieveError):
    """Spark's interface is missing or refused, which becomes a :class:`Declined`."""

    @property
    def declined(self) -> Declined:
        """The value for the report."""
        return Declined("spark-internals", str(self))


def served_version(spark: object, settings: Mapping[str, str] | None = None) -> Version:
    """Return the version that a session runs, as :func:`version_of`. Raises :class:`GatewayError`
    if it is not supported.
    """
    version = version_of(spark, settings)
    if isinstance(version, Declined):
        raise GatewayError(version.reason)
    return version


class LeafSource(Struct, frozen=True):
    """The source of a leaf of a plan. ``names`` are the names of its classes or formats, the
    outermost first. ``files``: it consists of files of Spark's own formats. ``raw``: it is handed
    conditions in Catalyst's form, and not only conditions from a list. ``by_columns``: the rows, or
    the values of one column, may depend on which other columns are read, because malformed records
    are dropped or recorded. ``aside``: the columns whose filters it must not be handed.
    """

    names: tuple[str, ...]
    files: bool = False
    raw: bool = False
    by_columns: bool = False
    aside: frozenset[str] = frozenset()


class SessionReader(Protocol):
    """The settings of a session."""

    version: Version
    """The version of its Spark."""

    def conf(self, key: str, default: str) -> str:
        """Return a configuration entry of the session. If it is not set, return Spark's default,
        and ``default`` only if Spark has no such entry.
        """

    def workers_show_utc(self) -> bool:
        """Whether the clocks of the workers' machines are known to show UTC."""

    def session_declines(self) -> Declined | None:
        """Return the reason why nothing is moved in plans of this session, whatever they are."""


class PlanReader(SessionReader, Protocol):
    """Plans of a session: what is in them."""

    def analyze_plan(self, df: DataFrame) -> Handle:
        """Return the analyzed logical plan of a DataFrame."""

    def may_have_site(self, plan: Handle, *, skip_hopeless: bool) -> bool:
        """Whether there may be a boundary below a filter in the plan; with ``skip_hopeless``,
        perhaps without boundaries past which clearly nothing moves. Costs less than reading the
        plan.
        """

    def tree_if_relevant(self, plan: Handle, *, skip_hopeless: bool) -> Node | None:
        """Return the plan as a tree, or None if there is nothing to do or report in it."""

    def tree(self, plan: Handle) -> Node:
        """Return the plan as a tree."""

    def calls_python(self, plan: Handle) -> bool:
        """Whether there may be a Python function in the plan that no aggregate calls."""

    def has_filtered(self, plan: Handle) -> bool:
        """Whether :mod:`presieve.backend.filter_placement` may have something to do here."""

    def refers(self, plan: Handle) -> bool:
        """Whether there may be a reference to a definition (WITH) in the plan."""

    def same(self, plan: Handle, other_plan: Handle) -> bool:
        """Whether two plans are equal, including the numbers of attributes."""

    def same_output(self, plan: Handle, other_plan: Handle) -> bool:
        """Whether two plans have the same columns, of the same types and numbers."""

    def node(self, root: Handle, path: Sequence[int]) -> Handle:
        """Return the node reached by following child numbers."""

    def children(self, node: Handle) -> list[Handle]:
        """Return the children of a node."""

    def subqueries(self, plan: Handle) -> list[Handle]:
        """Return the plans of the subqueries in a plan, also of those in subqueries."""

    def attributes(self, plan: Handle) -> tuple[Attribute, ...]:
        """Return the output attributes of a plan, in order. Raises :class:`DeclineSignal`."""

    def deterministic(self, plan: Handle) -> bool:
        """Whether all expressions of the plan and below it are deterministic."""

    def repeatable(self, plan: Handle) -> bool:
        """Whether the leaves and expressions of a plan give the same whenever they are computed in
        one execution. This says nothing about the plan's operators.
        """

    def explain_unread(self, plan: Handle) -> Declined | None:
        """Return why a part of the plan, or below it, is not understood, so that nothing is known
        about the plan; None if everything is understood.
        """

    def is_streaming(self, plan: Handle) -> bool:
        """Whether there is a streaming source below."""

    rewrites_above_cached: bool
    """Whether :meth:`rewrite_above_cached` rewrites plans that read from the cache."""

    def reads_cache(self) -> bool:
        """Whether the plan that is optimized, as written, reads anything from the cache."""

    def rewrite_above_cached(self, plan: Handle, rewrite: Callable[[Handle], Handle]) -> Handle:
        """Rewrite a plan, and leave what it reads from the cache as it is written: Spark finds it
        by its plan. Return the plan itself if that fails.
        """

    def is_cached(self, plan: Handle) -> bool:
        """Whether the result of exactly this plan is cached."""

    def condition(self, filter_: Handle) -> Handle:
        """Return the condition of a filter."""

    def condition_tree(self, plan: Handle) -> Tree | None:
        """Return the condition as a tree; None if the plan is no filter."""

    def operand(self, conjunction: Handle, side: str) -> Handle:
        """Return the ``left`` or ``right`` operand of a conjunction."""

    def computes_same(self, first: tuple[Handle, int], second: tuple[Handle, int]) -> bool:
        """Whether two columns, each given by its projection and its position there, are computed by
        the same expression of the same columns; False if that is unknown.
        """

    def sql(self, expression: Handle) -> str:
        """Print an expression as SQL text, for a person."""

    def optimized_text(self, plan: Handle) -> str:
        """Return Spark's drawing of the optimized logical plan."""


class FunctionReader(PlanReader, Protocol):
    """Functions in plans, and how arithmetic is evaluated."""

    def evaluation_mode(self, aggregate: Handle, position: int) -> str:
        """Return how the ``Sum`` at ``position`` overflows: ``ANSI``, ``LEGACY`` or ``TRY``."""

    def arithmetic_mode(self, aggregate: Handle, position: int, number: int) -> str:
        """Return the same for the operator with this pre-order number in that output."""

    def aggregate_function(self, aggregate: Handle, position: int) -> Handle:
        """Return the function of ``Alias(AggregateExpression(PythonUDAF))`` at ``position``."""

    def row_function(self, project: Handle, position: int) -> Handle:
        """Return the Python function of ``Alias(PythonUDF)`` at ``position`` of a projection."""

    def group_function(self, flat_map: Handle) -> Handle:
        """Return the function of an operator that hands it tables (``FlatMapGroupsInPandas``)."""

    def table_function(self, project: Handle) -> Handle:
        """Return the Python class of a projection of the results of a table function."""

    def load(self, python_function: Handle) -> object:
        """Load the pickled command of a Python function: a (function, type) pair.

        It was pickled by this process, or by one that the user started for the same job. Raises
        whatever loading the user's own objects raises.
        """


class SourceReader(PlanReader, Protocol):
    """Sources that plans read, and their files."""

    def source(self, leaf: Handle) -> LeafSource:
        """Return the source of a leaf."""

    def parquet_files(self, relation: Handle) -> list[str]:
        """Return the files of a relation over Parquet, as URIs to open here; else none."""

    def file_stamps(self, relation: Handle) -> list[tuple[str, int, int]]:
        """Return path, length in bytes and modification time, in milliseconds, of each file that a
        relation reads; none if the files are not listed.
        """

    def count(self, plan: Handle, most: int) -> int:
        """Run a plan and return its number of rows, or ``most`` if there are more."""

    def estimate_skipped_share(self, relation: Handle, condition: str) -> float | None:
        """Return the share of the rows of a relation over local files that a scan skips by an SQL
        condition: by directories, row groups and pages. This is an estimate from a few files; None
        if nothing is known.
        """

    def stored_columns(self, relation: Handle) -> frozenset[str]:
        """Return the columns of such a relation that Spark reads from the files by these names: no
        columns that directories are named for, and none at all if columns are looked up by number.
        """

    def is_settled(self, plan: Handle, path: tuple[int, ...]) -> bool:
        """Whether the relation at ``path`` will read the present files when the rewritten plan is
        executed: because the plan is executed at once, or because the relation keeps its list of
        files, once it is one of :meth:`own_listings`. A view reads the files of the time when it is
        read.
        """

    def scan_metadata(self, plan: Handle) -> list[tuple[str, dict[str, str]]]:
        """Return the name of each leaf of the physical plan, and its metadata about pushed filters.

        The plan is planned anew, so that nothing is fixed in a DataFrame that somebody holds.
        """


class PlanBuilder(PlanReader, Protocol):
    """Other plans in place of a plan."""

    def condense(self, plan: Handle) -> Handle | None:
        """Return a large plan's condensed form, which gives the same rows and is read faster, if
        there is one. It is only inspected: if no boundary in it has something to gain, none in the
        plan has.
        """

    def inline_definitions(self, plan: Handle) -> Handle:
        """Replace references to definitions (WITH) by the definitions, if Spark itself does so.
        Return the plan itself if there are none.
        """

    def simplify_plan(self, plan: Handle) -> Handle:
        """Apply rules of Spark's optimizer that change no rows: remove columns that nobody reads,
        if something is not deterministic, and compute constants. Return the plan itself if that
        changes nothing. Expressions that depend on the time are not computed.
        """

    def project_computations(self, plan: Handle, root: Node) -> Handle:
        """Move the computations of aggregates below filters, on the results of their functions, to
        projections above them. ``root`` is the plan's tree. Return the plan itself if there are
        none.
        """

    def separate_functions(self, plan: Handle, root: Node, *, everywhere: bool = False) -> Handle:
        """Turn scalar UDFs inside filters and larger expressions into columns of projections of
        their own: in filters and operators below them, or ``everywhere``. ``root`` is the plan's
        tree. Return the plan itself if there are none.
        """

    def conjunction(self, left: Handle, right: Handle) -> Handle:
        """Return ``left AND right``."""

    def filter(self, condition: Handle | None, filter_: Handle, child: Handle) -> Handle:
        """Return the filter with another condition (None: all rows pass) over a child."""

    def filter_sql(self, sql: str, child: Handle) -> Handle:
        """Put a filter above ``child``, whose condition is resolved by name against it."""

    def split(self, kept_rows: Handle, breaking: Handle, rows: Handle, by: Sequence[str]) -> Handle:
        """Return the rows of ``kept_rows`` whose class has no row in ``breaking``, and the rows of
        ``rows`` whose class has one (:mod:`presieve.backend.guard`). ``by`` are the columns that
        determine the class. The three plans have the same columns.
        """

    def with_children(self, node: Handle, children: Sequence[Handle]) -> Handle:
        """Return the same node over other children."""

    def prune_columns(self, flat_map: Handle, kept_columns: Sequence[Collection[int]]) -> Handle:
        """Return the operator with only these columns, by number, of each of its inputs."""

    def prune_arguments(self, project: Handle, kept: Mapping[int, Collection[int]]) -> Handle:
        """Return the projection in which the scalar UDFs in the columns with these numbers get NULL
        in place of all other arguments than these, by number; and structs that are built there in
        place of all other fields.
        """

    def with_expressions(self, project: Handle, expressions: Mapping[int, str]) -> Handle:
        """Return the projection with these SQL expressions, over its input, in the columns with
        these numbers. The columns keep their names and attribute numbers.
        """

    def own_readers(self, plan: Handle) -> Handle:
        """Return the plan with sources that no other plan hands filters to. Raises
        :class:`GatewayError` if there are no such sources.
        """

    def own_listings(self, plan: Handle) -> Handle:
        """Return the plan with relations whose files nobody lists again. Raises
        :class:`GatewayError` if the files are not the listed ones any more.
        """

    def as_projection(
        self, flat_map: Handle, expressions: Sequence[str], condition: str | None
    ) -> Handle:
        """Return a projection in place of the operator that hands tables to a function. It computes
        these SQL expressions, over the function's columns, for the function's outputs, from the
        rows for which ``condition`` is true.
        """

    def as_aggregate(
        self,
        groups: Handle,
        keys: Sequence[int],
        aggregates: Mapping[str, str],
        outputs: Mapping[int, str],
    ) -> Handle:
        """Return aggregates in place of the operator that hands groups to functions: a projection
        of these SQL expressions for the functions' outputs, by attribute, over columns with the
        names of the ``aggregates``, grouped by the attributes ``keys`` of the functions' input.
        """

    def with_plan(self, with_cte: Handle, plan: Handle) -> Handle:
        """Put another plan under the same definitions (``WithCTE``)."""

    def dataframe(self, plan: Handle) -> DataFrame:
        """Make a DataFrame of a logical plan, which is analyzed (and checked) on the way."""


class Gateway(FunctionReader, SourceReader, PlanBuilder, Protocol):
    """The interfaces of one session. All methods may raise :class:`GatewayError`."""


class PlanView(Struct, frozen=True):
    """A plan, its tree, and the gateway that reads it."""

    gateway: Gateway
    plan: Handle
    root: Node

    def handle(self, node: Node) -> Handle:
        """Return the operator in Spark that a node of the tree stands for."""
        return self.gateway.node(self.plan, node.path)


def dataframe_of(gateway: Gateway, plan: Handle, written: Handle) -> tuple[DataFrame, Handle]:
    """Return the DataFrame of a rewritten plan, and its analyzed plan. Raises
    :class:`DeclineSignal` if its columns are not those of the plan as written.
    """
    df = gateway.dataframe(plan)
    analyzed = gateway.analyze_plan(df)
    if not gateway.same_output(written, analyzed):
        raise DeclineSignal("plan-shape", "the rewritten plan has different columns")
    return df, analyzed
