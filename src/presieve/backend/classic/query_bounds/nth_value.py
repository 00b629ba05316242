# SPDX-License-Identifier: Apache-2.0
"""Trusted. The n-th value of a column in its order, which a scalar subquery computes.

Footers suggest from which value on there are n rows. The subquery takes the first n of these, and
gives the last value of them, or the last value of all that footers tell if there are not n. Such a
subquery is not merged with another one, because of its limit.
"""

from __future__ import annotations

from msgspec import Struct

from presieve.backend.catalyst.trees import ATTRIBUTE, EXPRESSIONS, LITERAL, OR, node_at
from presieve.backend.catalyst.variable_columns import InputAttributes
from presieve.backend.classic.py4j_errors import java_class
from presieve.backend.classic.query_bounds.plans import FilePlan, Side, select_again, value_of
from presieve.backend.gateway import Handle
from presieve.cost.top_rows import TopRange, guess_range
from presieve.ir.ops import app, sql_disjunction
from presieve.ir.sorts import strip
from presieve.ir.terms import Lit, Op, Term
from presieve.plan.algebra import Attribute, variable_of
from presieve.records import replace
from presieve.sql.emit import literal
from presieve.sql.expressions import aggregating, choices, predicates

SUBQUERY = EXPRESSIONS + "ScalarSubquery"
_NOT_WORSE = {
    True: (Op.SQL_GE, predicates.GREATER_OR_EQUAL.class_name, ">=", "geq"),
    False: (Op.SQL_LE, predicates.LESS_OR_EQUAL.class_name, "<=", "leq"),
}
"""By whether the order is descending: how a value compares with those that are behind it."""
_WORSE = {
    True: (Op.SQL_LT, predicates.LESS.class_name, "lt"),
    False: (Op.SQL_GT, predicates.GREATER.class_name, "gt"),
}
_CALL = aggregating.CALL.class_name
_ENOUGH = (predicates.GREATER_OR_EQUAL.class_name, _CALL, aggregating.COUNT.class_name)
_IF_ENOUGH = (choices.CASE.class_name, *_ENOUGH, LITERAL, LITERAL, _CALL)


class NthValue(Struct, frozen=True):
    """The value of ``column`` in the row with the number ``count`` of the operator at ``path``, in
    descending or ascending order of the column. ``range`` is what footers suggest.
    """

    path: tuple[int, ...]
    column: Attribute
    descending: bool
    count: int = 1
    range: TopRange = TopRange(0, 0, 0.0)

    def suggest(self, plan: FilePlan) -> NthValue | None:
        """Add a range that is likely to have the first rows; None if footers do not tell."""
        names = InputAttributes((self.column,), (), (), {})
        scan = plan.scan(node_at(plan.root, self.path), names)
        top = None if scan is None else guess_range(scan, self.count, descending=self.descending)
        return None if top is None else replace(self, range=top)

    @property
    def end(self) -> Lit:
        """The value that the subquery gives if there are too few rows."""
        variable = variable_of(self.column)
        assert variable is not None, "it has a type of which there are bounds"
        return Lit(strip(variable.sort), self.range.end)

    def keep(self, value: Term, bound: Term) -> Term:
        """Return the filter of a column, if the subquery gives ``bound``: nothing is dropped but
        what is behind it. If there are too few rows, nothing is.
        """
        not_worse, worse = _NOT_WORSE[self.descending][0], _WORSE[self.descending][0]
        beyond = app(worse, value, self.end)
        return sql_disjunction((app(not_worse, value, bound), beyond, app(Op.SQL_IS_NULL, value)))

    def not_behind(self, first: Term, bound: Term) -> Term:
        """Return what is known of the first value of the column, if the subquery gives ``bound``
        for the number 1.
        """
        no_row = app(Op.SQL_EQ, bound, self.end)
        return app(Op.SQL_OR, app(_NOT_WORSE[self.descending][0], first, bound), no_row)

    def condition(self, plan: FilePlan, side: Side, column: Attribute) -> Handle:
        """Build the filter of a column, as a ``Column``."""
        limited, bound = side.column(column), self._subquery(plan, side)
        end = java_class(plan.gateway.jvm, "org.apache.spark.sql.functions").expr(
            self._text(self.range.end)
        )
        kept = getattr(limited, _NOT_WORSE[self.descending][3])(bound)
        beyond = getattr(limited, _WORSE[self.descending][2])(end)
        return getattr(getattr(kept, "or")(beyond), "or")(limited.isNull())

    def _subquery(self, plan: FilePlan, side: Side) -> Handle:
        gateway = plan.gateway
        rows = gateway.replace_calls(gateway.node(plan.plan, self.path))
        keys = select_again(side.parts, rows, self.column, "key")
        keys = keys.filter(f"key {_NOT_WORSE[self.descending][2]} {self._text(self.range.start)}")
        key = keys.col("key")
        order = gateway.seq([key.desc() if self.descending else key.asc()])
        last = aggregating.MIN if self.descending else aggregating.MAX
        value = (
            f"CASE WHEN count(1) >= {self.count}L THEN {last.sql}(key)"
            f" ELSE {self._text(self.range.end)} END"
        )
        first = keys.orderBy(order).limit(self.count)
        return value_of(plan, first, value, (*_IF_ENOUGH, last.class_name, ATTRIBUTE, LITERAL))

    def _text(self, value: int) -> str:
        """Print a value of the column's type."""
        is_long = self.column.type == "bigint"
        return f"{value}L" if is_long else literal(replace(self.end, value=value))

    @property
    def shape(self) -> tuple[str, ...]:
        """The classes of the filter's expressions in pre-order."""
        not_worse, worse = _NOT_WORSE[self.descending][1], _WORSE[self.descending][1]
        compared = (not_worse, ATTRIBUTE, SUBQUERY, worse, ATTRIBUTE, LITERAL)
        return (OR, OR, *compared, predicates.IS_NULL.class_name, ATTRIBUTE)
