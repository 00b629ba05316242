# SPDX-License-Identifier: Apache-2.0
"""Trusted. Plans that filters with subqueries can be added to, and the files below them."""

from __future__ import annotations

import json
import re
from abc import abstractmethod
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING

from msgspec import Struct

from presieve.backend.catalyst.boundary import PROJECT
from presieve.backend.catalyst.operators import ALWAYS_PASSED, FILTER, JOIN, outputs
from presieve.backend.catalyst.trees import ALIAS, EXPRESSIONS, Node, expr_id, node_at, source_id
from presieve.backend.catalyst.variable_columns import InputAttributes
from presieve.backend.classic.catalyst_builder import Parts
from presieve.backend.classic.gateway import ClassicGateway
from presieve.backend.classic.py4j_errors import (
    each,
    java_class,
    java_module,
    simple_class,
    translate_errors,
)
from presieve.backend.classic.scans.plan_leaves import RELATION, some_parquet_files
from presieve.backend.effects.trusted_scans import (
    Sources,
    describe_scans,
    dropped_by_columns,
    ignores_corrupt_files,
)
from presieve.backend.gateway import Handle, PlanView
from presieve.backend.open_plan import Opened, or_declined, session_declines
from presieve.backend.problems.problem import BoundaryInput
from presieve.backend.statistics.estimates import local, scan_below
from presieve.backend.statistics.footers import within_python
from presieve.certificate.claim import ConditionClaim
from presieve.cost.estimate import FILES
from presieve.cost.parquet import rows_and_bytes
from presieve.cost.parquet_scan import Scan
from presieve.errors import DeclineSignal
from presieve.ir.terms import SQL_TRUE, Term
from presieve.plan.algebra import Attribute
from presieve.semantics.scan import may_lose_by

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

TYPES = ("int", "bigint", "date", "timestamp")
"""Types on which comparisons and the sort order agree, and by which scans skip row groups."""
MIN_BYTES = 4_000_000
"""Smaller files are read at once, however many rows they have."""
_FILES = re.compile(r"^[ :+-]*Relation .*\] parquet$", re.MULTILINE)
_ONLY_FILES = (FILTER, PROJECT, RELATION)


class Bound(Struct, frozen=True):
    """A filter on the rows of the operator at ``path``, by subqueries.

    ``column`` is what it limits, and ``source`` names the files of this column, which have so many
    ``rows``. ``erases``: an error may vanish with a dropped row.
    """

    path: tuple[int, ...]
    column: Attribute
    source: str = ""
    rows: int = 0
    erases: bool = False

    @property
    @abstractmethod
    def operator(self) -> str:
        """The operator of Spark whose input is filtered, for a person."""

    @property
    @abstractmethod
    def where(self) -> str:
        """What the filter follows from, for a person."""

    @property
    @abstractmethod
    def text(self) -> str:
        """The filter, for a person."""

    @property
    @abstractmethod
    def certificate(self) -> ConditionClaim:
        """The claim that the filter may stand there."""

    @abstractmethod
    def share_skipped(self, plan: FilePlan) -> float | None:
        """Estimate the share of the rows that the filter skips in whole row groups."""

    @abstractmethod
    def why_not_paid(self, share: float | None) -> str | None:
        """Say why skipping this share does not pay for the subqueries; None if it does."""

    @abstractmethod
    def condition(self, plan: FilePlan, side: Side) -> Handle:
        """Build the filter as a ``Column``."""

    @property
    @abstractmethod
    def is_large(self) -> bool:
        """Whether the files are large enough that somebody may ask why there is no filter."""

    @property
    @abstractmethod
    def shape(self) -> tuple[str, ...]:
        """The classes of the filter's expressions in pre-order."""


class FilePlan(Struct, frozen=True):
    """A deterministic plan over files without subqueries. ``written`` is the plan as it was
    written; in ``plan`` filters stand as far below as Spark moves them first. ``sizes`` are the
    numbers of rows of its Parquet files by leaf; none if all are small.
    """

    gateway: ClassicGateway
    written: Handle
    plan: Handle
    root: Node
    timezone: str
    sizes: tuple[int, ...]

    @property
    def view(self) -> PlanView:
        """The plan with its tree."""
        return PlanView(self.gateway, self.plan, self.root)

    def handle(self, node: Node) -> Handle:
        """Return an operator of the plan."""
        return self.gateway.node(self.plan, node.path)

    def scan(self, node: Node, names: InputAttributes, prefilter: Term = SQL_TRUE) -> Scan | None:
        """Return the files below an operator, and what filters say of their columns."""
        below = BoundaryInput(node, names, lambda: Sources(True, frozenset()))
        return scan_below(self.gateway, self.plan, below, prefilter, self.timezone)

    def can_be_read_again(self, node: Node) -> bool:
        """Whether the operator consists of files below filters and projections that give the same
        rows again.
        """
        below = node
        while below.kind in _ONLY_FILES and below.children:
            (below,) = below.children
        return below.kind == RELATION and self.gateway.repeatable(self.handle(node))

    def takes_filter(self, path: tuple[int, ...], column: Attribute) -> bool:
        """Whether a filter on a column right above this operator changes nothing else, and its scan
        loses no row by it.
        """
        node = node_at(self.root, path)
        if follow_to_files(node, column.id) is None:
            return False
        if dropped_by_columns(self.view, node_at(self.root, path[:-1])) is not None:
            return False
        if may_lose_by(column.type) and column.id not in within_python(
            self.gateway, self.plan, node, [column.id]
        ):
            # A scan may shift early days and moments (:mod:`presieve.semantics.scan`).
            return False
        try:
            return not describe_scans(self.view, [path], native=False).aside([column.id])
        except DeclineSignal:
            return False


@or_declined
@translate_errors
def open_file_plan(
    opened: Opened,
    df: DataFrame,
    pattern: str,
    relations: int,
    has_sizes: Callable[[Sequence[int]], bool],
) -> FilePlan | None:
    """Open the plan of a classic DataFrame that has one of Catalyst's patterns and so many
    ``relations`` of Parquet files. None if it has not, if it has subqueries or is not
    deterministic, if anything is cached, or if the numbers of rows in its files do not have these
    sizes.
    """
    gateway = opened.gateway
    if not isinstance(gateway, ClassicGateway) or not gateway.version.subqueries:
        return None
    written = gateway.analyze_plan(df)
    if not gateway.mentions(written, pattern) or gateway.refers(written):
        return None
    if len(_FILES.findall(gateway.text(written))) < relations:  # drawn before
        return None
    if gateway.mentions(written, "PLAN_EXPRESSION", "CURRENT_LIKE"):
        return None
    if gateway.reads_cache() or not gateway.deterministic(written):
        return None
    if ignores_corrupt_files(gateway) is not None:  # a subquery reads fewer columns
        return None
    sizes = tuple(_sizes(gateway, written))
    if not has_sizes(sizes) or session_declines(gateway, written) is not None:
        return None
    plan = _push_filters(gateway, written)
    timezone = gateway.conf("spark.sql.session.timeZone", "UTC")
    return FilePlan(gateway, written, plan, gateway.tree(plan), timezone, sizes)


class PlanBounds(Struct, frozen=True):
    """A plan, and the bounds that may be added to it."""

    plan: FilePlan
    bounds: tuple[Bound, ...]


_CATALYST = "org.apache.spark.sql.catalyst."
_RULES = (
    "analysis.EliminateSubqueryAliases",
    "analysis.EliminateView",
    "optimizer.EliminateResolvedHint",
    "optimizer.PushDownPredicates",
    "optimizer.PushDownPredicates",
)
"""Rules that Spark's optimizer applies first, too."""


def _push_filters(gateway: ClassicGateway, plan: Handle) -> Handle:
    for name in _RULES:
        plan = java_module(gateway.jvm, _CATALYST + name).apply(plan)
    return plan


def _sizes(gateway: ClassicGateway, plan: Handle) -> list[int]:
    """Return the numbers of rows of the leaves that are Parquet files; none if all are small."""
    leaves = gateway.leaves(plan)
    if not any(int(str(leaf.stats().sizeInBytes())) >= MIN_BYTES for leaf in leaves):
        return []
    return [size for leaf in leaves if (size := count_rows(gateway, leaf)) is not None]


def count_rows(gateway: ClassicGateway, leaf: Handle) -> int | None:
    """Count the rows of a leaf's Parquet files, by the footers of some of them."""
    files, some = some_parquet_files(gateway, leaf, FILES)
    extents = [rows_and_bytes(path) for uri in some if (path := local(uri)) is not None]
    counts = [file_extent[0] for file_extent in extents if file_extent is not None]
    return sum(counts) * files // len(counts) if counts and len(counts) == len(some) else None


def follow_to_files(node: Node, number: int) -> Node | None:
    """Return the operator above the files that a column comes from, without a join in between. None
    if the column is computed or does not come from files.
    """
    while node.kind == JOIN:
        sides = [n for n in node.children if number in (outputs(n) or ())]
        if len(sides) != 1:
            return None
        (node,) = sides
    below = node
    while below.kind in ALWAYS_PASSED:
        (below,) = below.children
    return node if below.kind == RELATION and number in (outputs(below) or ()) else None


def passed_column(node: Node, number: int) -> int | None:
    """Return the column of its input that a projection or a filter passes on; None if it is
    computed.
    """
    if node.kind != PROJECT:
        return number
    sources = (source_id(t) for t in node.fields["projectList"] if expr_id(t[0]) == number)
    return next(sources, None)


class Side(Struct, frozen=True):
    """An operator of a plan that is rebuilt, as a ``Dataset`` makes a filter of it."""

    parts: Parts
    plan: Handle

    def column(self, attribute: Attribute) -> Handle:
        """Return one of its columns, as a ``Column``."""
        utils = java_class(self.parts.plans.jvm, "org.apache.spark.sql.classic.ExpressionUtils")
        wanted = (a for a in self.parts.output(self.plan) if int(a.exprId().id()) == attribute.id)
        return utils.column(next(wanted))


@or_declined
@translate_errors
def add_bounds(plan: FilePlan, chosen: Sequence[Bound]) -> DataFrame:
    """Build the DataFrame with these filters. Raises :class:`DeclineSignal` if Spark turns them
    into something else.
    """
    gateway, parts = plan.gateway, Parts(plan.gateway)
    bounds: Mapping[tuple[int, ...], Bound] = {bound.path: bound for bound in chosen}

    def build(node: Handle, path: tuple[int, ...]) -> Handle:
        if not any(p[: len(path)] == path for p in bounds):
            return node
        below = gateway.children(node)
        children = [build(child, (*path, i)) for i, child in enumerate(below)]
        same = all(new is old for new, old in zip(children, below, strict=True))
        node = node if same else gateway.with_children(node, children)
        bound = bounds.get(path)
        return node if bound is None else _filter_side(plan, Side(parts, node), bound)

    columns = parts.output(plan.written)  # with their old table names
    df = gateway.dataframe(parts.project(columns, build(plan.plan, ())))
    if not gateway.same_output(plan.written, gateway.analyze_plan(df)):
        raise DeclineSignal("plan-shape", "the rewritten plan has different columns")
    return df


def _filter_side(plan: FilePlan, side: Side, bound: Bound) -> Handle:
    gateway = plan.gateway
    condition = bound.condition(plan, side)
    filtered_side = gateway.dataset(side.plan).filter(condition).queryExecution().analyzed()
    tree = gateway.condition_tree(filtered_side)
    classes = tuple(n["class"] for n in tree) if tree is not None else ()
    if classes != bound.shape or not gateway.same(filtered_side.child(), side.plan):
        raise DeclineSignal("plan-shape", "Spark makes another filter of a bound")
    return filtered_side


def select_again(parts: Parts, node: Handle, column: Attribute, name: str) -> Handle:
    """Return one column of aggregates, filters and projections over files, under this name, as a
    ``Dataset`` of its own.
    """
    at = [int(a.exprId().id()) for a in parts.output(node)].index(column.id)
    fresh = _copy_with_new_ids(parts, node)
    return parts.plans.dataset(parts.project([parts.alias(parts.output(fresh)[at], name)], fresh))


def value_of(plan: FilePlan, rows: Handle, text: str, classes: Sequence[str]) -> Handle:
    """Return the only value of an aggregate as a scalar subquery. ``classes`` are those of its
    expressions in pre-order. Raises :class:`DeclineSignal` if the text means something else: a
    function of the session may have the name of one of Spark's.
    """
    gateway = plan.gateway
    aggregate = rows.selectExpr(gateway.seq([text]))
    computed = aggregate.queryExecution().analyzed().aggregateExpressions().head()
    tree = json.loads(gateway.json(computed))
    if [node["class"] for node in tree] != [ALIAS, *classes]:
        raise DeclineSignal("plan-shape", "a function of the session has the name of Spark's")
    return aggregate.scalar()


def _copy_with_new_ids(parts: Parts, node: Handle) -> Handle:
    """Copy these operators, with new numbers for all columns. No number may occur twice in a plan,
    or the analyzer renews some of them (``DeduplicateRelations``).
    """
    gateway = parts.plans
    if not int(node.children().size()):
        return node.newInstance()
    (below,) = gateway.children(node)
    fresh_child = _copy_with_new_ids(parts, below)
    jvm: Handle = gateway.jvm
    pairs = zip(parts.output(below), parts.output(fresh_child), strict=True)
    tuple_ = java_class(jvm, "scala.Tuple2")
    maps = java_module(jvm, EXPRESSIONS + "AttributeMap")
    new_attributes = maps.apply(gateway.seq([tuple_(old, new) for old, new in pairs]))
    node = gateway.with_children(node, [fresh_child]).rewriteAttrs(new_attributes)
    computed = _COMPUTED.get(str(node.nodeName()))
    if computed is None:
        return node
    columns = (
        parts.alias(c.child(), str(c.name())) if simple_class(c) == "Alias" else c
        for c in each(getattr(node, computed)())
    )
    return parts.rebuild(node, list(columns), fresh_child)


_COMPUTED = {"Project": "projectList", "Aggregate": "aggregateExpressions"}
"""Where operators compute columns; an aggregate has no groups."""
