"""Trusted. Give aggregates result numbers of their own.

Copies of one ``Aggregate`` in a plan share the ``resultId`` of their aggregate functions. That is
harmless while they are equal, but a pre-filter below one of them makes them differ. Spark's
``MergeSubplans`` computes aggregates without GROUP BY over one relation together and tells their
results apart by these numbers.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from presieve.backend.catalyst.boundary import AGGREGATE
from presieve.backend.catalyst.native_aggregates import AGGREGATE_EXPRESSION
from presieve.backend.classic.py4j_errors import java_class
from presieve.backend.gateway import Handle

if TYPE_CHECKING:
    from presieve.backend.classic.gateway import ClassicGateway

_NAMED = "org.apache.spark.sql.catalyst.expressions.NamedExpression"


def with_own_results(gateway: ClassicGateway, plan: Handle) -> Handle:
    """Renumber the results of ``plan`` if it is an aggregate without GROUP BY; else return it as it
    is.
    """
    if plan.getClass().getName() != AGGREGATE or not plan.groupingExpressions().isEmpty():
        return plan
    outputs = plan.aggregateExpressions()
    fresh = gateway.seq([_fresh(gateway, outputs.apply(i)) for i in range(outputs.size())])
    return gateway.adapter.aggregate(plan, fresh)


def _fresh(gateway: ClassicGateway, expression: Handle) -> Handle:
    if expression.getClass().getName() == AGGREGATE_EXPRESSION:
        number = java_class(gateway.spark._jvm, _NAMED).newExprId()
        function, mode = expression.aggregateFunction(), expression.mode()
        return expression.copy(function, mode, expression.isDistinct(), expression.filter(), number)
    children = expression.children()
    if children.isEmpty():
        return expression
    fresh = [_fresh(gateway, children.apply(i)) for i in range(children.size())]
    return expression.withNewChildren(gateway.seq(fresh))
