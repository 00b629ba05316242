# SPDX-License-Identifier: Apache-2.0
"""Trusted. Give aggregates result numbers of their own.

Copies of one ``Aggregate`` in a plan share the ``resultId`` of their aggregate functions. That is
harmless while they are equal, but a pre-filter below one of them makes them differ. Spark's
``MergeSubplans`` computes aggregates without GROUP BY over one relation together and tells their
results apart by these numbers.
"""

from __future__ import annotations

from presieve.backend.catalyst.boundary import AGGREGATE
from presieve.backend.catalyst.native_aggregates import AGGREGATE_EXPRESSION
from presieve.backend.classic.py4j_errors import class_name, each, java_class, to_seq
from presieve.backend.classic.version_differences import Spark43
from presieve.backend.gateway import Handle

_NAMED = "org.apache.spark.sql.catalyst.expressions.NamedExpression"


def with_own_results(jvm: Handle, adapter: Spark43, plan: Handle) -> Handle:
    """Renumber the results of ``plan`` if it is an aggregate without GROUP BY; else return it as it
    is.
    """
    if class_name(plan) != AGGREGATE or not plan.groupingExpressions().isEmpty():
        return plan
    outputs = [_fresh(jvm, output) for output in each(plan.aggregateExpressions())]
    return adapter.aggregate(plan, to_seq(jvm, outputs))


def _fresh(jvm: Handle, expression: Handle) -> Handle:
    if class_name(expression) == AGGREGATE_EXPRESSION:
        number = java_class(jvm, _NAMED).newExprId()
        function, mode = expression.aggregateFunction(), expression.mode()
        return expression.copy(function, mode, expression.isDistinct(), expression.filter(), number)
    children = expression.children()
    if children.isEmpty():
        return expression
    return expression.withNewChildren(to_seq(jvm, (_fresh(jvm, child) for child in each(children))))
