# SPDX-License-Identifier: Apache-2.0
"""Trusted. Filter one side of a join by the range of the keys on the other side.

Lemma: in an inner or left semi join on ``k = s``, a row with ``k`` below the least or above the
greatest ``s`` of the other side has no partner and no influence. The query itself computes these
extremes, by two scalar subqueries over the other side. Spark hands the values of subqueries to
scans unless it merges several subqueries into one that gives a struct
(``MergeScalarSubqueries``). Therefore only the least key comes from an aggregate; the greatest is
the first row in descending order.

Where the other side is the greatest value of files, a row with ``k`` below any of these values has
no partner. Such a value is found by a look at few rows
(:mod:`presieve.backend.classic.query_bounds.nth_value`); the same for the least value.

The other side is computed twice. It must consist of files below filters and projections that give
the same rows again and never raise: Spark need not compute a join's side as a whole.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from presieve.backend.catalyst.boundary import AGGREGATE, PROJECT
from presieve.backend.catalyst.native_aggregates import AGGREGATE_EXPRESSION
from presieve.backend.catalyst.operators import JOIN, attribute_of, equalities, outputs
from presieve.backend.catalyst.trees import (
    ALIAS,
    AND,
    ATTRIBUTE,
    Node,
    Tree,
    expr_id,
    node_at,
    walk,
)
from presieve.backend.catalyst.variable_columns import InputAttributes
from presieve.backend.classic.display_names import source_name
from presieve.backend.classic.query_bounds.nth_value import SUBQUERY, NthValue
from presieve.backend.classic.query_bounds.plans import (
    TYPES,
    Bound,
    FilePlan,
    PlanBounds,
    Side,
    count_rows,
    follow_to_files,
    open_file_plan,
    passed_column,
    select_again,
    value_of,
)
from presieve.backend.effects.may_raise import trees_raise
from presieve.backend.gateway import Handle
from presieve.backend.open_plan import Opened
from presieve.certificate.joins import JoinCertificate
from presieve.cost.estimate import estimate, extremes
from presieve.cost.parquet_scan import Scan
from presieve.errors import Declined
from presieve.ir.ops import app
from presieve.ir.sorts import strip
from presieve.ir.terms import SQL_TRUE, Op, Scope, Term, Var, lit
from presieve.plan.algebra import Attribute, variable_of
from presieve.records import replace
from presieve.semantics.joins import Join
from presieve.semantics.types import column
from presieve.sql.expressions import aggregating, predicates

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

_PLANS = "org.apache.spark.sql.catalyst.plans."
_KINDS = frozenset(_PLANS + name for name in ("Inner$", "LeftSemi$"))
_EQUAL = predicates.EQUAL.class_name
"""Not ``<=>``, which is true if both sides are NULL."""
_ENDS = (predicates.GREATER_OR_EQUAL.class_name, predicates.LESS_OR_EQUAL.class_name)
_LEAST = (AGGREGATE_EXPRESSION, aggregating.MIN.class_name, ATTRIBUTE)
_RANGE = (AND, *(c for end in _ENDS for c in (end, ATTRIBUTE, SUBQUERY)))
_EXTREMES = {aggregating.MAX.class_name: True, aggregating.MIN.class_name: False}

MAX_ROWS = 100_000
"""Maximum number of rows in the other side's files, which are read once more."""
MIN_ROWS = 2_000_000
"""Minimum number of rows to skip: two subqueries take as long as reading so many rows of two
columns.
"""
LEAST_SKIPPED = 0.3
"""Minimum share of the rows to skip."""


class KeyRange(Bound, frozen=True, kw_only=True):
    """The side of a join at ``path``. Its rows have partners only if ``column`` is between the
    extremes of ``key`` of the side at ``other``, whose files ``others`` names. ``extreme``: that
    side has one row, the first in the order of a column.
    """

    other: tuple[int, ...]
    key: Attribute
    others: str = ""
    extreme: NthValue | None = None

    @property
    def operator(self) -> str:
        """The operator, for a person."""
        return "Join"

    @property
    def where(self) -> str:
        """The condition of the join, for a person."""
        return f"{self.column.name} = {self.key.name} of {self.others}"

    @property
    def text(self) -> str:
        """The filter, for a person."""
        if self.extreme is not None:
            compared = ">=" if self.extreme.descending else "<="
            return f"{self.column.name} {compared} {self.key.name} of {self.others}"
        ends = f"min({self.key.name}) AND max({self.key.name})"
        return f"{self.column.name} BETWEEN {ends} of {self.others}"

    @property
    def certificate(self) -> JoinCertificate:
        """The claim that the range may be a filter. The extremes are columns beside ``column``."""
        names = ("column", "least", "greatest", "key")
        columns = [c for n in names if (c := column(n, self.column.type, True)) is not None]
        *keys, key = columns
        column_var, least, greatest = (Var(Scope.KEY, c.name, c.sort) for c in keys)
        key_var = Var(Scope.ROW, key.name, key.sort)
        join = Join(app(Op.SQL_EQ, column_var, key_var), left=False, right=False)
        if self.extreme is None:
            between = _range_condition(key_var, least, greatest)
            below = _range_condition(column_var, least, greatest)
        else:
            between = self.extreme.not_behind(key_var, least)
            below = self.extreme.keep(column_var, least)
        key_condition = app(Op.SQL_OR, app(Op.SQL_IS_NULL, key_var), between)
        return JoinCertificate(tuple(keys), (key,), join, key_condition, below, SQL_TRUE)

    def share_skipped(self, plan: FilePlan) -> float | None:
        """Estimate the share by the extremes of the keys that the other side has now."""
        ends = self._ends(plan) if self.extreme is None else self.extreme.range.ends
        scan = None if ends is None else self._scan(plan, *ends)
        estimated = None if scan is None else estimate(scan)
        return None if estimated is None else estimated.skipped

    def _ends(self, plan: FilePlan) -> tuple[int, int] | None:
        """Return the extremes of the keys that the other side has now, in a sample."""
        keys = plan.scan(node_at(plan.root, self.other), InputAttributes((self.key,), (), (), {}))
        return None if keys is None else extremes(keys)

    def _scan(self, plan: FilePlan, low: int, high: int) -> Scan | None:
        """Return the files that the filter reaches, if ``low`` and ``high`` are the extremes."""
        node = follow_to_files(node_at(plan.root, self.path), self.column.id)
        variable = variable_of(self.column)
        if node is None or variable is None:
            return None
        of_row = Var(Scope.ROW, variable.name, variable.sort)
        ends = (lit(strip(variable.sort), value) for value in (low, high))
        names = InputAttributes((), (self.column,), (), {})
        return plan.scan(node, names, _range_condition(of_row, *ends))

    def why_not_paid(self, share: float | None) -> str | None:
        """Say how much the range would have to skip, and how much it does."""
        skips = "how many it skips is unknown"
        if share is not None:
            if share >= LEAST_SKIPPED and share * self.rows >= MIN_ROWS:
                return None
            skips = f"it skips about {share:.0%} of {self.rows:,}"
        return (
            f"the range of the other side's keys must skip {LEAST_SKIPPED:.0%} of the rows, and"
            f" {MIN_ROWS:,} of them, to pay for its two subqueries; {skips}"
        )

    def condition(self, plan: FilePlan, side: Side) -> Handle:
        """Build the range, with a subquery for each end."""
        if self.extreme is not None:
            return self.extreme.condition(plan, side, self.column)
        gateway = plan.gateway
        other_side = gateway.replace_calls(gateway.node(plan.plan, self.other))
        least, keys = (
            select_again(side.parts, other_side, self.key, "key").filter("key IS NOT NULL")
            for _ in range(2)
        )
        first = gateway.seq([keys.col("key").desc()])
        least = value_of(plan, least, "min(key)", _LEAST)
        greatest = keys.orderBy(first).limit(1).scalar()
        limited_column = side.column(self.column)
        return getattr(limited_column.geq(least), "and")(limited_column.leq(greatest))

    @property
    def is_large(self) -> bool:
        """Whether there are as many rows as a bound must skip."""
        return self.rows >= MIN_ROWS

    @property
    def shape(self) -> tuple[str, ...]:
        """The classes of the range."""
        return _RANGE if self.extreme is None else self.extreme.shape


def _range_condition(value: Term, low: Term, high: Term) -> Term:
    return app(Op.SQL_AND, app(Op.SQL_GE, value, low), app(Op.SQL_LE, value, high))


def find_key_ranges(
    opened: Opened, df: DataFrame, *, of_any_size: bool
) -> PlanBounds | Declined | None:
    """Find the joins of a classic DataFrame with a large and a small side. ``of_any_size``: where
    the small side is one row, the other one need not be large.
    """

    def has_sizes(sizes: Sequence[int]) -> bool:
        return of_any_size or _has_sizes(sizes)

    plan = open_file_plan(opened, df, "JOIN", 2, has_sizes)
    if plan is None or isinstance(plan, Declined):
        return plan
    erases = any(map(trees_raise, walk(plan.root)))
    joined = (s for n in walk(plan.root) if n.kind == JOIN for s in _of_join(n))
    candidates = (replace(s, extreme=_extreme(plan, s)) for s in joined)
    ranges = (replace(_with_files(plan, s), erases=erases) for s in candidates if _fits(plan, s))
    return PlanBounds(plan, tuple(ranges))


def _has_sizes(sizes: Sequence[int]) -> bool:
    """Whether there are files with many rows, and others."""
    return any(s >= MIN_ROWS for s in sizes) and len(sizes) > 1


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
            if spans_both_sides and operator["class"] == _EQUAL and attribute_of(own).type in TYPES:
                yield KeyRange(
                    child.path, attribute_of(own), other=other_side.path, key=attribute_of(key)
                )


def _fits(plan: FilePlan, of: KeyRange) -> bool:
    """Whether the other side consists of a few rows of files that can be read repeatedly, and a
    filter on the column changes nothing else.
    """
    other_side = node_at(plan.root, of.other)
    if any(map(trees_raise, walk(other_side))):
        return False
    if of.extreme is None:
        if not _has_sizes(plan.sizes):
            return False
        rows = count_rows(plan.gateway, plan.handle(_leaf(other_side)))
        if rows is None or rows > MAX_ROWS or not plan.can_be_read_again(other_side):
            return False
    return plan.takes_filter(of.path, of.column)


def _extreme(plan: FilePlan, of: KeyRange) -> NthValue | None:
    """Return what the only row of the other side is the extreme of, if it has one row and footers
    tell about where that is.
    """
    node, number = node_at(plan.root, of.other), of.key.id
    while node.kind == PROJECT:
        passed = passed_column(node, number)
        if passed is None:
            return None
        (node,), number = node.children, passed
    if node.kind != AGGREGATE or node.fields["groupingExpressions"]:
        return None
    columns: list[Tree] = node.fields["aggregateExpressions"]
    called = next((t for t in columns if expr_id(t[0]) == number), [])
    kinds = [n["class"] for n in called]
    is_extreme = kinds[:2] == [ALIAS, AGGREGATE_EXPRESSION] and kinds[3:] == [ATTRIBUTE]
    (rows,) = node.children
    if not is_extreme or kinds[2] not in _EXTREMES or not plan.can_be_read_again(rows):
        return None
    return NthValue(rows.path, attribute_of(called[3]), _EXTREMES[kinds[2]]).suggest(plan)


def _leaf(node: Node) -> Node:
    return next(n for n in walk(node) if not n.children)


def _with_files(plan: FilePlan, of: KeyRange) -> KeyRange:
    """Add the files of both sides."""
    files = follow_to_files(node_at(plan.root, of.path), of.column.id)
    assert files is not None, "the filter was found to reach them"
    large, small = (plan.handle(_leaf(n)) for n in (files, node_at(plan.root, of.other)))
    rows = count_rows(plan.gateway, large) or 0
    return replace(of, source=source_name(large), others=source_name(small), rows=rows)
