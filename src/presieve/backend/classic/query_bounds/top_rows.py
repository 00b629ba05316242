# SPDX-License-Identifier: Apache-2.0
"""Trusted. Filter the files below ORDER BY k LIMIT n by the n-th value of k.

Lemma (:func:`presieve.semantics.windows.top_rows_obligations`): if n rows have a k of at least b,
no row with a lesser k is among the first n in descending order. The query itself looks for such
rows: a scalar subquery takes the first n rows with a k from some value on, which footers suggest,
and gives the least k of these, or the least value of all if there are not n. So a wrong suggestion
costs time and no row. Rows without a k, and below the least value that footers tell, are kept.

The rows below ORDER BY must be those of files below filters and projections, which can be read
again. A left outer join in between multiplies rows of its left side and drops none of them.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from msgspec import Struct

from presieve.backend.catalyst.boundary import LOGICAL, PROJECT
from presieve.backend.catalyst.operators import JOIN, attribute_of, outputs
from presieve.backend.catalyst.trees import (
    ATTRIBUTE,
    EXPRESSIONS,
    LITERAL,
    OR,
    Node,
    Tree,
    expr_id,
    is_attribute,
    node_at,
    source_id,
    walk,
)
from presieve.backend.catalyst.variable_columns import InputAttributes
from presieve.backend.catalyst.windows import GLOBAL_LIMIT, LOCAL_LIMIT, SORT, sort_orders
from presieve.backend.classic.display_names import source_name
from presieve.backend.classic.py4j_errors import java_class
from presieve.backend.classic.query_bounds.plans import (
    TYPES,
    Bound,
    FilePlan,
    Side,
    count_rows,
    open_file_plan,
    select_again,
)
from presieve.backend.classic.scans.plan_leaves import RELATION
from presieve.backend.effects.may_raise import trees_raise
from presieve.backend.gateway import Handle
from presieve.backend.open_plan import Opened
from presieve.certificate.top_rows import TopRowsCertificate
from presieve.cost.top_rows import guess_range
from presieve.errors import Declined
from presieve.ir.fold import Column
from presieve.ir.ops import app, sql_disjunction
from presieve.ir.sorts import strip
from presieve.ir.terms import Lit, Op, Scope, Var
from presieve.plan.algebra import Attribute
from presieve.records import replace
from presieve.semantics.types import column
from presieve.semantics.windows import SortKey
from presieve.sql.emit import literal
from presieve.sql.expressions import predicates

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

MIN_ROWS = 1_000_000
"""Minimum number of rows to skip: a subquery takes as long as sorting so many."""
LEAST_SKIPPED = 0.3
"""Minimum share of the rows to skip."""

_OFFSET = LOGICAL + "Offset"
_OUTER = {"LeftOuter$": 0, "RightOuter$": 1}
_SUBQUERY = EXPRESSIONS + "ScalarSubquery"
_COMPARED = (
    (predicates.LESS_OR_EQUAL.class_name, predicates.GREATER.class_name),
    (
        predicates.GREATER_OR_EQUAL.class_name,
        predicates.LESS.class_name,
    ),
)


class TopRows(Bound, frozen=True, kw_only=True):
    """The files below ``ORDER BY column LIMIT count``, in descending order or not.

    ``input`` is the operator whose rows are sorted,
    where the sort key is ``key``; ``start`` and ``end`` are the suggested range of its values.
    """

    descending: bool
    count: int
    input: tuple[int, ...]
    key: Attribute
    start: int = 0
    end: int = 0
    skipped: float = 0.0

    @property
    def operator(self) -> str:
        """The rows are those of files."""
        return ""

    @property
    def where(self) -> str:
        """The order and the number of rows, for a person."""
        direction = "DESC" if self.descending else "ASC"
        return f"ORDER BY {self.key.name} {direction} LIMIT {self.count}"

    @property
    def text(self) -> str:
        """The filter, for a person."""
        name, first = self.column.name, f"the first {self.count}" if self.count > 1 else "the first"
        return f"{name} {'>=' if self.descending else '<='} the last {name} of {first}"

    @property
    def certificate(self) -> TopRowsCertificate:
        """The claim that the filter may stand below the limit."""
        key, bound = (column(n, self.column.type, True) for n in ("key", "bound"))
        assert isinstance(key, Column)
        assert isinstance(bound, Column)
        value, limit = Var(Scope.ROW, key.name, key.sort), Var(Scope.KEY, bound.name, bound.sort)
        end = Lit(strip(key.sort), self.end)
        no_worse, worse = (Op.SQL_GE, Op.SQL_LT) if self.descending else (Op.SQL_LE, Op.SQL_GT)
        below = sql_disjunction(
            (app(no_worse, value, limit), app(worse, value, end), app(Op.SQL_IS_NULL, value))
        )
        order = SortKey(value, self.descending, not self.descending)
        return TopRowsCertificate((key, bound), order, below, end)

    def share_skipped(self, plan: FilePlan) -> float | None:
        """Return the share that footers tell."""
        return self.skipped

    def why_not_paid(self, share: float | None) -> str | None:
        """Say how much the bound would have to skip, and how much it does."""
        if share is not None and share >= LEAST_SKIPPED and share * self.rows >= MIN_ROWS:
            return None
        return (
            f"the bound of the first rows must skip {LEAST_SKIPPED:.0%} of the rows, and"
            f" {MIN_ROWS:,} of them, to pay for its subquery; it skips about {share or 0:.0%} of"
            f" {self.rows:,}: write the files in the order of {self.column.name}"
        )

    def condition(self, plan: FilePlan, side: Side) -> Handle:
        """Build the filter, with a subquery for the bound."""
        gateway, parts = plan.gateway, side.parts
        below = gateway.replace_calls(gateway.node(plan.plan, self.input))
        keys = select_again(parts, below, self.key, "key")
        start, end = self._constant(self.start), self._constant(self.end)
        aggregate, compared = ("min", ">=") if self.descending else ("max", "<=")
        keys = keys.filter(f"key {compared} {start}")
        order = keys.col("key").desc() if self.descending else keys.col("key").asc()
        first = keys.orderBy(gateway.seq([order])).limit(self.count)
        value = f"CASE WHEN count(1) >= {self.count} THEN {aggregate}(key) ELSE {end} END"
        bound = first.selectExpr(gateway.seq([value])).scalar()
        limited = side.column(self.column)
        last = java_class(gateway.jvm, "org.apache.spark.sql.functions").expr(end)
        kept = limited.geq(bound) if self.descending else limited.leq(bound)
        beyond = limited.lt(last) if self.descending else limited.gt(last)
        return getattr(getattr(kept, "or")(beyond), "or")(limited.isNull())

    def _constant(self, value: int) -> str:
        """Print a value of the sort key's type."""
        sort = strip(self.certificate.key.value.sort)
        return f"{value}L" if self.column.type == "bigint" else literal(Lit(sort, value))

    @property
    def is_large(self) -> bool:
        """Whether there are as many rows as a bound must skip."""
        return self.rows >= MIN_ROWS

    @property
    def shape(self) -> tuple[str, ...]:
        """The classes of the filter's expressions."""
        kept, beyond = _COMPARED[self.descending]
        compared = (kept, ATTRIBUTE, _SUBQUERY, beyond, ATTRIBUTE, LITERAL)
        return (OR, OR, *compared, predicates.IS_NULL.class_name, ATTRIBUTE)


class TopRowsOfPlan(Struct, frozen=True):
    """A plan, and the bounds of first rows that may be added to it."""

    plan: FilePlan
    bounds: tuple[TopRows, ...]


def find_top_rows(opened: Opened, df: DataFrame) -> TopRowsOfPlan | Declined | None:
    """Find ORDER BY ... LIMIT over large files in the plan of a classic DataFrame."""
    plan = open_file_plan(opened, df, ("LIMIT",), _has_sizes)
    if plan is None or isinstance(plan, Declined):
        return plan
    erases = any(map(trees_raise, walk(plan.root)))
    found = (bound for n in walk(plan.root) if (bound := _of_limit(plan, n)) is not None)
    suggested = (s for bound in found if (s := _suggest(plan, bound)) is not None)
    return TopRowsOfPlan(plan, tuple(replace(s, erases=erases) for s in suggested))


def _has_sizes(sizes: Sequence[int]) -> bool:
    return any(s >= MIN_ROWS for s in sizes)


def _of_limit(plan: FilePlan, node: Node) -> TopRows | None:
    """Read a limit of sorted rows."""
    if node.kind != GLOBAL_LIMIT or node.children[0].kind != LOCAL_LIMIT:
        return None
    count, below = _number(node.fields["limitExpr"]), node.children[0].children[0]
    while below.kind in (PROJECT, _OFFSET):
        skipped = _number(below.fields["offsetExpr"]) if below.kind == _OFFSET else 0
        count = None if count is None or skipped is None else count + skipped
        (below,) = below.children
    if not count or below.kind != SORT or below.fields.get("global") is not True:
        return None
    order = sort_orders(below)[0]
    if not is_attribute(order[1:]):
        return None
    descending = str(order[0]["direction"]["object"]).endswith("Descending$")
    return _of_input(plan, below.children[0], attribute_of(order[1]).id, (count, descending))


def _number(tree: Tree) -> int | None:
    """Return the value of an integer literal."""
    value = tree[0].get("value") if tree[0]["class"] == LITERAL else None
    return int(value) if value is not None else None


def _of_input(
    plan: FilePlan, sorted_: Node, number: int, asked: tuple[int, bool]
) -> TopRows | None:
    """Return the filter on the files below the rows that are sorted, by the column with this
    number.
    """
    top, chosen = _input(sorted_, number)
    if top is None or not plan.can_be_read_again(top):
        return None
    below, stored = top, chosen
    while below.kind != RELATION:
        stored = _below(below, stored) if stored is not None else None
        (below,) = below.children
    attributes = {a.id: a for a in (attribute_of(t) for (t,) in below.fields["output"])}
    column_ = attributes.get(-1 if stored is None else stored)
    if column_ is None or column_.type not in TYPES or not plan.takes_filter(below.path, column_):
        return None
    leaf = plan.handle(below)
    count, descending = asked
    return TopRows(
        below.path,
        column_,
        source_name(leaf),
        count_rows(plan.gateway, leaf) or 0,
        descending=descending,
        count=count,
        input=top.path,
        key=replace(column_, id=chosen) if chosen is not None else column_,
    )


def _input(node: Node, number: int | None) -> tuple[Node | None, int | None]:
    """Return the operator below projections and outer joins each of whose rows is among the rows
    that are sorted, and the column there.
    """
    below, column_ = node, number
    while below.kind == PROJECT and column_ is not None:
        column_ = _below(below, column_)
        (below,) = below.children
    if below.kind != JOIN:
        return node, number
    kind = str(below.fields["joinType"].get("object")).rsplit(".", 1)[-1]
    side = _OUTER.get(kind)
    if side is None or column_ not in (outputs(below.children[side]) or ()):
        return None, None
    return _input(below.children[side], column_)


def _below(node: Node, number: int) -> int | None:
    """Return the column of its input that a projection or a filter passes on."""
    if node.kind != PROJECT:
        return number
    sources = (source_id(t) for t in node.fields["projectList"] if expr_id(t[0]) == number)
    return next(sources, None)


def _suggest(plan: FilePlan, bound: TopRows) -> TopRows | None:
    """Add a range that is likely to have the first rows; None if footers do not tell."""
    scan = plan.scan(node_at(plan.root, bound.input), InputAttributes((bound.key,), (), (), {}))
    if scan is None:
        return None
    top = guess_range(scan, bound.count, descending=bound.descending)
    if top is None:
        return None
    return replace(bound, start=top.start, end=top.end, skipped=top.skipped)
