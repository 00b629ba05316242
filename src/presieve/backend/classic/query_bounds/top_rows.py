# SPDX-License-Identifier: Apache-2.0
"""Trusted. Filter the files below ORDER BY k LIMIT n by the n-th value of k.

Lemma (:func:`presieve.semantics.windows.top_rows_obligations`): if n rows have a k of at least b,
no row with a lesser k is among the first n in descending order. The query itself looks for such
rows (:mod:`presieve.backend.classic.query_bounds.nth_value`), so a wrong suggestion of footers
costs time and no row.

The rows below ORDER BY must be those of files below filters and projections, which can be read
again. A left outer join in between multiplies rows of its left side and drops none of them.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from presieve.backend.catalyst.boundary import LOGICAL, PROJECT
from presieve.backend.catalyst.operators import JOIN, attribute_of, outputs
from presieve.backend.catalyst.trees import (
    LITERAL,
    Node,
    Tree,
    is_attribute,
    walk,
)
from presieve.backend.catalyst.windows import GLOBAL_LIMIT, LOCAL_LIMIT, SORT, sort_orders
from presieve.backend.classic.display_names import source_name
from presieve.backend.classic.query_bounds.nth_value import NthValue
from presieve.backend.classic.query_bounds.plans import (
    TYPES,
    Bound,
    FilePlan,
    PlanBounds,
    Side,
    count_rows,
    open_file_plan,
    passed_column,
)
from presieve.backend.classic.scans.plan_leaves import RELATION
from presieve.backend.effects.may_raise import trees_raise
from presieve.backend.gateway import Handle
from presieve.backend.open_plan import Opened
from presieve.certificate.top_rows import TopRowsCertificate
from presieve.errors import Declined
from presieve.ir.terms import Scope, Var
from presieve.records import replace
from presieve.semantics.types import column
from presieve.semantics.windows import SortKey

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

MIN_ROWS = 1_000_000
"""Minimum number of rows to skip: a subquery takes as long as sorting so many."""
LEAST_SKIPPED = 0.3
"""Minimum share of the rows to skip."""
TIMES = 4
"""So many times the rows of the limit must be skipped, because the subquery sorts these, too."""

_OFFSET = LOGICAL + "Offset"
_OUTER = {"LeftOuter$": 0, "RightOuter$": 1}


class TopRows(Bound, frozen=True, kw_only=True):
    """The files below ``ORDER BY column LIMIT n OFFSET offset``, whose sum is ``nth.count``."""

    nth: NthValue
    offset: int = 0

    @property
    def operator(self) -> str:
        """The rows are those of files."""
        return ""

    @property
    def where(self) -> str:
        """The order and the number of rows, for a person."""
        direction = "DESC" if self.nth.descending else "ASC"
        offset = f" OFFSET {self.offset}" if self.offset else ""
        return (
            f"ORDER BY {self.column.name} {direction} LIMIT {self.nth.count - self.offset}{offset}"
        )

    @property
    def text(self) -> str:
        """The filter, for a person."""
        name, count = self.column.name, self.nth.count
        first = f"the first {count} rows" if count > 1 else "the first row"
        return f"{name} {'>=' if self.nth.descending else '<='} the last {name} of {first}"

    @property
    def certificate(self) -> TopRowsCertificate:
        """The claim that the filter may stand below the limit."""
        key, bound = (column(n, self.column.type, True) for n in ("key", "bound"))
        assert key is not None
        assert bound is not None
        value, limit = Var(Scope.ROW, key.name, key.sort), Var(Scope.KEY, bound.name, bound.sort)
        order = SortKey(value, self.nth.descending, not self.nth.descending)
        return TopRowsCertificate((key, bound), order, self.nth.keep(value, limit), self.nth.end)

    def share_skipped(self, plan: FilePlan) -> float | None:
        """Return the share that footers tell."""
        return self.nth.range.skipped

    def why_not_paid(self, share: float | None) -> str | None:
        """Say how much the bound would have to skip, and how much it does."""
        least = max(MIN_ROWS, TIMES * self.nth.count)
        if share is not None and share >= LEAST_SKIPPED and share * self.rows >= least:
            return None
        return (
            f"the bound of the first rows must skip {LEAST_SKIPPED:.0%} of the rows, and"
            f" {least:,} of them, to pay for its subquery; it skips about {share or 0:.0%} of"
            f" {self.rows:,}: write the files in the order of {self.column.name}"
        )

    def condition(self, plan: FilePlan, side: Side) -> Handle:
        """Build the filter, with a subquery for the bound."""
        return self.nth.condition(plan, side, self.column)

    @property
    def is_large(self) -> bool:
        """Whether there are as many rows as a bound must skip."""
        return self.rows >= MIN_ROWS

    @property
    def shape(self) -> tuple[str, ...]:
        """The classes of the filter's expressions."""
        return self.nth.shape


def find_top_rows(opened: Opened, df: DataFrame) -> PlanBounds | Declined | None:
    """Find ORDER BY ... LIMIT over large files in the plan of a classic DataFrame."""
    plan = open_file_plan(opened, df, "LIMIT", 1, _has_sizes)
    if plan is None or isinstance(plan, Declined):
        return plan
    erases = any(map(trees_raise, walk(plan.root)))
    bounds = (bound for n in walk(plan.root) if (bound := _of_limit(plan, n)) is not None)
    return PlanBounds(plan, tuple(replace(bound, erases=erases) for bound in bounds))


def _has_sizes(sizes: Sequence[int]) -> bool:
    return any(s >= MIN_ROWS for s in sizes)


def _of_limit(plan: FilePlan, node: Node) -> TopRows | None:
    """Read a limit of sorted rows."""
    if node.kind != GLOBAL_LIMIT or node.children[0].kind != LOCAL_LIMIT:
        return None
    count, below = _number(node.fields["limitExpr"]), node.children[0].children[0]
    offsets: list[int | None] = []
    while below.kind in (PROJECT, _OFFSET):
        if below.kind == _OFFSET:
            offsets.append(_number(below.fields["offsetExpr"]))
        (below,) = below.children
    offset = sum(o or 0 for o in offsets)
    if not count or None in offsets or below.kind != SORT or below.fields.get("global") is not True:
        return None
    order = sort_orders(below)[0]
    if not is_attribute(order[1:]):
        return None
    descending = str(order[0]["direction"]["object"]).endswith("Descending$")
    found = _of_input(
        plan, below.children[0], attribute_of(order[1]).id, (count + offset, descending)
    )
    return None if found is None else replace(found, offset=offset)


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
        stored = passed_column(below, stored) if stored is not None else None
        (below,) = below.children
    attributes = {a.id: a for a in (attribute_of(t) for (t,) in below.fields["output"])}
    column_ = attributes.get(-1 if stored is None else stored)
    if column_ is None or column_.type not in TYPES or not plan.takes_filter(below.path, column_):
        return None
    count, descending = asked
    key = replace(column_, id=-1 if chosen is None else chosen)
    nth = NthValue(top.path, key, descending, count).suggest(plan)
    if nth is None:
        return None
    leaf = plan.handle(below)
    rows = count_rows(plan.gateway, leaf) or 0
    return TopRows(below.path, column_, source_name(leaf), rows, nth=nth)


def _input(node: Node, number: int | None) -> tuple[Node | None, int | None]:
    """Return the operator below projections and outer joins each of whose rows is among the rows
    that are sorted, and the column there.
    """
    below, column_ = node, number
    while below.kind == PROJECT and column_ is not None:
        column_ = passed_column(below, column_)
        (below,) = below.children
    if below.kind != JOIN:
        return node, number
    kind = str(below.fields["joinType"].get("object")).rsplit(".", 1)[-1]
    side = _OUTER.get(kind)
    if side is None or column_ not in (outputs(below.children[side]) or ()):
        return None, None
    return _input(below.children[side], column_)
