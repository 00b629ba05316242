# SPDX-License-Identifier: Apache-2.0
"""Trusted. Filter one side of a join by the range of the keys on the other side.

Lemma: in an inner or left semi join on ``k = s``, a row with ``k`` below the least or above the
greatest ``s`` of the other side has no partner and no influence. The query itself computes these
extremes, by two scalar subqueries over the other side. Spark evaluates subqueries before it reads
files, and hands their values to scans (``FileSourceScanLike.pushedDownFilters``), unless it merges
several subqueries into one that gives a struct (``MergeScalarSubqueries``). Therefore only the
least key comes from an aggregate; the greatest is the first row in descending order.

The other side is computed twice. It must consist of files below filters and projections that give
the same rows again and never raise: Spark need not compute a join's side as a whole.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from msgspec import Struct

from presieve.backend.catalyst.boundary import PROJECT
from presieve.backend.catalyst.operators import (
    ALWAYS_PASSED,
    FILTER,
    JOIN,
    attribute_of,
    equalities,
    outputs,
)
from presieve.backend.catalyst.trees import (
    AND,
    ATTRIBUTE,
    EXPRESSIONS,
    Node,
    expr_id,
    node_at,
    walk,
)
from presieve.backend.catalyst.variable_columns import InputAttributes
from presieve.backend.classic.catalyst_builder import Parts
from presieve.backend.classic.display_names import source_name
from presieve.backend.classic.gateway import ClassicGateway
from presieve.backend.classic.py4j_errors import (
    each,
    java_class,
    java_module,
    simple_class,
    translate_errors,
)
from presieve.backend.classic.scans.plan_leaves import RELATION, some_parquet_files
from presieve.backend.effects.may_raise import trees_raise
from presieve.backend.effects.trusted_scans import Sources, describe_scans, dropped_by_columns
from presieve.backend.gateway import Handle, PlanView
from presieve.backend.open_plan import Opened, or_declined, session_declines
from presieve.backend.problems.problem import BoundaryInput
from presieve.backend.statistics.estimates import local, scan_below
from presieve.backend.statistics.footers import within_python
from presieve.certificate.joins import JoinCertificate
from presieve.cost.estimate import FILES
from presieve.cost.parquet import rows_and_bytes
from presieve.cost.parquet_scan import Scan
from presieve.errors import DeclineSignal
from presieve.ir.ops import app
from presieve.ir.sorts import strip
from presieve.ir.terms import SQL_TRUE, Op, Scope, Term, Var, lit
from presieve.plan.algebra import Attribute, variable_of
from presieve.records import replace
from presieve.semantics.joins import Join
from presieve.semantics.scan import may_lose_by
from presieve.semantics.types import column
from presieve.sql.expressions import predicates

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

_PLANS = "org.apache.spark.sql.catalyst.plans."
_KINDS = frozenset(_PLANS + name for name in ("Inner$", "LeftSemi$"))
_TYPES = ("int", "bigint", "date", "timestamp")
"""Types on which ``=``, ``<=`` and the extremes agree, and by which scans skip row groups."""
_EQUAL = predicates.EQUAL.class_name
"""Not ``<=>``, which is true if both sides are NULL."""
_FILES = re.compile(r"^[ :+-]*Relation .*\] parquet$", re.MULTILINE)
_SIDES = (predicates.GREATER_OR_EQUAL.class_name, predicates.LESS_OR_EQUAL.class_name)
_FILTER = (AND, *(c for side in _SIDES for c in (side, ATTRIBUTE, EXPRESSIONS + "ScalarSubquery")))

MAX_ROWS = 100_000
"""Maximum number of rows in the other side's files, which are read once more."""
MIN_BYTES = 4_000_000
"""Smaller files are read at once, however many rows they have."""
MIN_ROWS = 2_000_000
"""Minimum number of rows to skip: two subqueries take as long as reading so many rows of two
columns.
"""
LEAST_SKIPPED = 0.3
"""Minimum share of the rows to skip."""


class KeyRange(Struct, frozen=True):
    """The side of a join at ``path``. Its rows have partners only if ``column`` is between the
    extremes of ``key`` of the side at ``other``. ``files`` names the files of both sides, and
    ``rows`` counts the rows in the files of ``column``. ``erases``: an error may vanish with a
    dropped row.
    """

    path: tuple[int, ...]
    other: tuple[int, ...]
    column: Attribute
    key: Attribute
    files: tuple[str, str] = ("", "")
    rows: int = 0
    erases: bool = False

    @property
    def certificate(self) -> JoinCertificate:
        """The claim that the range may be a filter. The extremes are columns beside ``column``."""
        type_ = self.column.type
        typed_columns = [column(n, type_, True) for n in ("column", "least", "greatest", "key")]
        columns = [c for c in typed_columns if c is not None]
        *keys, key = columns
        column_var, least, greatest = (Var(Scope.KEY, c.name, c.sort) for c in keys)
        key_var = Var(Scope.ROW, key.name, key.sort)
        between = _range_condition(key_var, least, greatest)
        join = Join(app(Op.SQL_EQ, column_var, key_var), left=False, right=False)
        key_condition = app(Op.SQL_OR, app(Op.SQL_IS_NULL, key_var), between)
        below = _range_condition(column_var, least, greatest)
        return JoinCertificate(tuple(keys), (key,), join, key_condition, below, SQL_TRUE)

    def pays(self, share: float | None) -> bool:
        """Whether skipping this share of the rows is worth two subqueries."""
        return share is not None and share >= LEAST_SKIPPED and share * self.rows >= MIN_ROWS

    @property
    def text(self) -> str:
        """The filter, for a person."""
        ends = f"min({self.key.name}) AND max({self.key.name})"
        return f"{self.column.name} BETWEEN {ends} of {self.files[1]}"


def _range_condition(value: Term, low: Term, high: Term) -> Term:
    return app(Op.SQL_AND, app(Op.SQL_GE, value, low), app(Op.SQL_LE, value, high))


class KeyRanges(Struct, frozen=True):
    """The key ranges of a plan. ``written`` is the plan as it was written."""

    gateway: ClassicGateway
    written: Handle
    plan: Handle
    root: Node
    timezone: str
    found: tuple[KeyRange, ...]

    def scan(self, of: KeyRange, low: int, high: int) -> Scan | None:
        """Return the files that the filter reaches, if ``low`` and ``high`` are the extremes."""
        node = _follow_to_files(node_at(self.root, of.path), of.column.id)
        variable = variable_of(of.column)
        if node is None or variable is None:
            return None
        of_row = Var(Scope.ROW, variable.name, variable.sort)
        ends = (lit(strip(variable.sort), value) for value in (low, high))
        return self._scan(
            node, InputAttributes((), (of.column,), (), {}), _range_condition(of_row, *ends)
        )

    def keys(self, of: KeyRange) -> Scan | None:
        """Return the files of the other side, with its keys and the conditions of its filters."""
        return self._scan(
            node_at(self.root, of.other), InputAttributes((of.key,), (), (), {}), SQL_TRUE
        )

    def _scan(self, node: Node, read: InputAttributes, prefilter: Term) -> Scan | None:
        below = BoundaryInput(node, read, lambda: Sources(True, frozenset()))
        return scan_below(self.gateway, self.plan, below, prefilter, self.timezone)


@or_declined
@translate_errors
def open_ranges(opened: Opened, df: DataFrame) -> KeyRanges | None:
    """Find the joins of a classic DataFrame with a large and a small side. None if there are none,
    if the plan has subqueries or is not deterministic, or if anything is cached.
    """
    gateway = opened.gateway
    if not isinstance(gateway, ClassicGateway) or not gateway.version.subqueries:
        return None
    plan = written = gateway.analyze_plan(df)
    if not gateway.mentions(plan, "JOIN") or gateway.refers(plan):
        return None
    if gateway.mentions(plan, "PLAN_EXPRESSION", "CURRENT_LIKE") or not gateway.cache_is_empty():
        return None
    if not gateway.deterministic(plan) or not _has_sizes(gateway, plan):
        return None
    if session_declines(gateway, plan) is not None:
        return None
    plan = _push_filters(gateway, plan)
    root = gateway.tree(plan)
    erases = any(map(trees_raise, walk(root)))
    candidates = (s for n in walk(root) if n.kind == JOIN for s in _of_join(n))
    key_ranges = tuple(
        replace(_with_files(gateway, plan, root, s), erases=erases)
        for s in candidates
        if _is_known(gateway, plan, root, s)
    )
    timezone = gateway.conf("spark.sql.session.timeZone", "UTC")
    return KeyRanges(gateway, written, plan, root, timezone, key_ranges)


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
    """Push filters down to the sides of joins that they are about."""
    for name in _RULES:
        plan = java_module(gateway.jvm, _CATALYST + name).apply(plan)
    return plan


def _has_sizes(gateway: ClassicGateway, plan: Handle) -> bool:
    """Whether there are files with many rows and others with few. This is tested before the plan is
    read.
    """
    if len(_FILES.findall(gateway.text(plan))) < 2:  # drawn before
        return False
    leaves = gateway.leaves(plan)
    if not any(int(str(leaf.stats().sizeInBytes())) >= MIN_BYTES for leaf in leaves):
        return False
    row_counts = [size for leaf in leaves if (size := _rows(gateway, leaf)) is not None]
    return any(s >= MIN_ROWS for s in row_counts) and any(s <= MAX_ROWS for s in row_counts)


def _rows(gateway: ClassicGateway, leaf: Handle) -> int | None:
    """Count the rows of a leaf's Parquet files, by the footers of some of them."""
    files, some = some_parquet_files(gateway, leaf, FILES)
    extents = [rows_and_bytes(path) for uri in some if (path := local(uri)) is not None]
    counts = [file_extent[0] for file_extent in extents if file_extent is not None]
    return sum(counts) * files // len(counts) if counts and len(counts) == len(some) else None


def _of_join(join: Node) -> Iterator[KeyRange]:
    """Yield the keys that a join compares, each for the side that a range of the other side
    filters.
    """
    if str(join.fields["joinType"].get("object")) not in _KINDS:
        return
    for side, child in enumerate(join.children):
        other_side = join.children[1 - side]
        own_ids, other_ids = (frozenset(outputs(n) or ()) for n in (child, other_side))
        for operator, first, second in equalities(join):
            own, key = (first, second) if expr_id(first) in own_ids else (second, first)
            spans_both_sides = expr_id(own) in own_ids and expr_id(key) in other_ids
            if (
                spans_both_sides
                and operator["class"] == _EQUAL
                and attribute_of(own).type in _TYPES
            ):
                yield KeyRange(child.path, other_side.path, attribute_of(own), attribute_of(key))


def _is_known(gateway: ClassicGateway, plan: Handle, root: Node, of: KeyRange) -> bool:
    """Whether the other side consists of files that can be read repeatedly, and a filter on the
    column changes nothing else.
    """
    nodes = list(walk(node_at(root, of.other)))
    if not all(n.kind in (FILTER, PROJECT, RELATION) for n in nodes):
        return False
    if (
        any(map(trees_raise, nodes))
        or _follow_to_files(node_at(root, of.path), of.column.id) is None
    ):
        return False
    view = PlanView(gateway, plan, root)
    if dropped_by_columns(view, node_at(root, of.path[:-1])) is not None:
        return False
    if not _cannot_lose_by_early_days(gateway, plan, root, of):
        return False
    rows = _rows(gateway, gateway.node(plan, nodes[-1].path))
    if rows is None or rows > MAX_ROWS or not gateway.repeatable(gateway.node(plan, of.other)):
        return False
    try:
        return not describe_scans(view, [of.path], native=False).aside([of.column.id])
    except DeclineSignal:
        return False


def _cannot_lose_by_early_days(
    gateway: ClassicGateway, plan: Handle, root: Node, of: KeyRange
) -> bool:
    """Whether early days and moments on the other side, which a scan may shift
    (:mod:`presieve.semantics.scan`), cannot make it lose rows of the large side: they cannot if the
    large side has none, nor any that Python cannot hold.
    """
    if not may_lose_by(of.column.type):
        return True
    return of.column.id in within_python(gateway, plan, node_at(root, of.path), [of.column.id])


def _with_files(gateway: ClassicGateway, plan: Handle, root: Node, of: KeyRange) -> KeyRange:
    """Add the files of both sides."""
    above = (_follow_to_files(node_at(root, of.path), of.column.id), node_at(root, of.other))
    leaves = [n for top in above if top is not None for n in walk(top) if not n.children]
    large_leaf, small_leaf = (gateway.node(plan, leaf.path) for leaf in leaves)
    files, rows = (source_name(large_leaf), source_name(small_leaf)), _rows(gateway, large_leaf)
    return replace(of, files=files, rows=rows or 0)


def _follow_to_files(node: Node, number: int) -> Node | None:
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


@or_declined
@translate_errors
def with_ranges(ranges: KeyRanges, chosen: Sequence[KeyRange]) -> DataFrame:
    """Build the DataFrame with these filters. Raises :class:`DeclineSignal` if Spark turns them
    into something else.
    """
    gateway, wanted = ranges.gateway, {key_range.path: key_range for key_range in chosen}
    parts = Parts(gateway)

    def build(node: Handle, path: tuple[int, ...]) -> Handle:
        if not any(p[: len(path)] == path for p in wanted):
            return node
        below = gateway.children(node)
        children = [build(child, (*path, i)) for i, child in enumerate(below)]
        same = all(new is old for new, old in zip(children, below, strict=True))
        node = node if same else gateway.with_children(node, children)
        key_range = wanted.get(path)
        return node if key_range is None else _filter_side(ranges, parts, node, key_range)

    columns = parts.output(ranges.written)  # with their old table names
    df = gateway.dataframe(parts.project(columns, build(ranges.plan, ())))
    if not gateway.same_output(ranges.written, gateway.analyze_plan(df)):
        raise DeclineSignal("plan-shape", "the rewritten plan has different columns")
    return df


def _filter_side(ranges: KeyRanges, parts: Parts, side: Handle, of: KeyRange) -> Handle:
    """Put the filter on a side of a join."""
    gateway = ranges.gateway
    utils = java_class(gateway.jvm, "org.apache.spark.sql.classic.ExpressionUtils")
    other_side = gateway.replace_calls(gateway.node(ranges.plan, of.other))
    least, keys = (_keys(parts, other_side, of.key) for _ in range(2))
    first = gateway.seq([keys.col("key").desc()])
    least = least.selectExpr(gateway.seq(["min(key)"])).scalar()
    greatest = keys.orderBy(first).limit(1).scalar()
    limited_column = utils.column(_handle(parts, side, of.column))
    both = getattr(limited_column.geq(least), "and")(limited_column.leq(greatest))
    filtered_side = gateway.dataset(side).filter(both).queryExecution().analyzed()
    tree = gateway.condition_tree(filtered_side)
    classes = tuple(n["class"] for n in tree) if tree is not None else ()
    if classes != _FILTER or not gateway.same(filtered_side.child(), side):
        raise DeclineSignal("plan-shape", "Spark makes another filter of a range of keys")
    return filtered_side


def _keys(parts: Parts, side: Handle, key: Attribute) -> Handle:
    """Return the keys of a side that are not NULL, as a ``Dataset`` of its own."""
    at = [int(a.exprId().id()) for a in parts.output(side)].index(key.id)
    fresh_side = _copy_with_new_ids(parts, side)
    named = parts.alias(parts.output(fresh_side)[at], "key")
    return parts.plans.dataset(parts.project([named], fresh_side)).filter("key IS NOT NULL")


def _copy_with_new_ids(parts: Parts, node: Handle) -> Handle:
    """Copy filters and projections over files, with new numbers for all columns. No number may
    occur twice in a plan, or the analyzer renews some of them (``DeduplicateRelations``).
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
    if str(node.nodeName()) != "Project":
        return node
    columns = (
        parts.alias(c.child(), str(c.name())) if simple_class(c) == "Alias" else c
        for c in each(node.projectList())
    )
    return parts.project(list(columns), fresh_child)


def _handle(parts: Parts, plan: Handle, attribute: Attribute) -> Handle:
    return next(a for a in parts.output(plan) if int(a.exprId().id()) == attribute.id)
