"""Trusted. Plans with expressions and aggregates of Spark in place of Python functions.

Spark's analyzer reads the SQL text of each expression, as it reads that of ``selectExpr``.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from presieve.backend.catalyst.boundary import FLAT_MAPS
from presieve.backend.classic.catalyst_builder import Parts
from presieve.backend.classic.jvm_plans import JvmPlans
from presieve.backend.classic.py4j_errors import each, java_class, translate_errors
from presieve.backend.gateway import Handle

_FUNCTIONS = "org.apache.spark.sql.functions"


@translate_errors
def replace_columns(plans: JvmPlans, project: Handle, expressions: Mapping[int, str]) -> Handle:
    """Replace columns of a projection, by their place."""
    child, columns = project.child(), list(each(project.projectList()))
    for number, sql in expressions.items():
        expression = _resolve(plans, sql, child, nullable=True)
        columns[number] = columns[number].withNewChildren(plans.seq([expression]))
    return Parts(plans).project(columns, child)


@translate_errors
def replace_table_function(
    plans: JvmPlans, flat_map: Handle, expressions: Sequence[str], condition: str | None
) -> Handle:
    """Replace a function of tables by a projection of its input, of the rows that satisfy the
    condition. For a function of groups, the input is below PySpark's own projection.
    """
    parts, below = Parts(plans), _input(flat_map)
    rows = below if condition is None else plans.filter_sql(condition, below)
    columns = [
        parts.instead(a, _resolve(plans, sql, rows, nullable=bool(a.nullable())))
        for a, sql in zip(parts.output(flat_map), expressions, strict=True)
    ]
    return parts.project(columns, rows)


@translate_errors
def replace_group_function(
    plans: JvmPlans,
    groups: Handle,
    keys: Sequence[int],
    aggregates: Mapping[str, str],
    outputs: Mapping[int, str],
) -> Handle:
    """Replace functions of groups by aggregates of Spark and expressions over these."""
    parts, below = Parts(plans), _input(groups)
    aggregate = _aggregate(parts, below, keys, aggregates)
    has_own_outputs = str(groups.nodeName()) not in FLAT_MAPS
    expressions = each(groups.aggregateExpressions()) if has_own_outputs else ()
    own = {int(e.exprId().id()): e for e in expressions}

    def output(attribute: Handle) -> Handle:
        number, nullable = int(attribute.exprId().id()), bool(attribute.nullable())
        if number not in outputs:
            return own[number]
        expression = _resolve(plans, outputs[number], aggregate, nullable=nullable)
        return parts.instead(attribute, expression)

    return parts.project([output(a) for a in parts.output(groups)], aggregate)


def _input(operator: Handle) -> Handle:
    child = operator.child()
    return child.child() if str(operator.nodeName()) in FLAT_MAPS else child


def _aggregate(
    parts: Parts, below: Handle, keys: Sequence[int], aggregates: Mapping[str, str]
) -> Handle:
    """Build Spark's own aggregate without groups, then give it the groups of these keys."""
    plans = parts.plans
    attributes = {int(a.exprId().id()): a for a in parts.output(below)}
    grouping = [attributes[k] for k in keys]
    functions = java_class(plans.jvm, _FUNCTIONS)
    calls = [functions.expr(sql).alias(name) for name, sql in aggregates.items()]
    any_one = functions.expr("count(1)").alias("rows")
    ungrouped = plans.dataset(below).agg(any_one, plans.seq(calls)).queryExecution().analyzed()
    columns = [*grouping, *plans.expressions(ungrouped)[1:]]
    grouped = ungrouped.copy(
        plans.seq(grouping),
        plans.seq(columns),
        ungrouped.child(),
        *(ungrouped.productElement(i) for i in range(3, ungrouped.productArity())),
    )
    return plans.dataset(grouped).queryExecution().analyzed()


def _resolve(plans: JvmPlans, sql: str, child: Handle, *, nullable: bool) -> Handle:
    """Resolve an expression over a plan. ``nullable``: Spark must regard the column as nullable, as
    it regards the function's result. The expression has no metadata: a plain column, which may have
    some, is put into a CASE.
    """
    expression = _select(plans, sql, child)
    if expression.children().isEmpty() or (nullable and not expression.nullable()):
        end = "END" if nullable else f"ELSE {sql} END"
        return _select(plans, f"CASE WHEN 1 = 1 THEN {sql} {end}", child)
    return expression


def _select(plans: JvmPlans, sql: str, child: Handle) -> Handle:
    functions = java_class(plans.jvm, _FUNCTIONS)
    selected = plans.dataset(child).select(plans.seq([functions.expr(sql).alias("c")]))
    return selected.queryExecution().analyzed().projectList().apply(0).child()
