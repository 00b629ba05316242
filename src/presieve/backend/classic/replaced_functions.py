# SPDX-License-Identifier: Apache-2.0
"""Trusted. Plans with expressions and aggregates of Spark in place of Python functions.

Spark's analyzer reads the SQL text of each expression, as it reads that of ``selectExpr``.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence

from presieve.backend.catalyst.boundary import FLAT_MAPS
from presieve.backend.catalyst.trees import Tree
from presieve.backend.classic.catalyst_builder import Parts
from presieve.backend.classic.jvm_plans import JvmPlans
from presieve.backend.classic.py4j_errors import each, translate_errors
from presieve.backend.gateway import Handle


@translate_errors
def replace_columns(plans: JvmPlans, project: Handle, expressions: Mapping[int, str]) -> Handle:
    """Replace columns of a projection, by their place."""
    child, columns = project.child(), list(each(project.projectList()))
    texts = [(sql, True) for sql in expressions.values()]
    for number, expression in zip(expressions, _resolve(plans, texts, child), strict=True):
        columns[number] = columns[number].withNewChildren(plans.seq([expression]))
    return Parts(plans).project(columns, child)


@translate_errors
def replace_table_function(
    plans: JvmPlans, flat_map: Handle, expressions: Sequence[str], condition: str | None
) -> Handle:
    """Replace a function of tables by a projection of its input, of the rows that satisfy the
    condition. For a function of groups, the input is below PySpark's own projection.
    """
    parts, below = Parts(plans), _input(plans, flat_map, str(flat_map.nodeName()))
    rows = below if condition is None else plans.filter_sql(condition, below)
    fields, output = plans.fields(flat_map), plans.output(flat_map)
    texts = [(sql, bool(f["nullable"])) for sql, f in zip(expressions, fields, strict=True)]
    resolved = enumerate(_resolve(plans, texts, rows))
    columns = [parts.replace_attribute(output.apply(i), fields[i], value) for i, value in resolved]
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
    parts, kind = Parts(plans), str(groups.nodeName())
    below = _input(plans, groups, kind)
    aggregate = _aggregate(parts, below, keys, aggregates)
    fields, output, numbers = plans.fields(groups), plans.output(groups), plans.numbers(groups)
    changed = [place for place, number in enumerate(numbers) if number in outputs]
    texts = [(outputs[numbers[place]], bool(fields[place]["nullable"])) for place in changed]
    resolved = dict(zip(changed, _resolve(plans, texts, aggregate), strict=True))
    own = output if kind in FLAT_MAPS else groups.aggregateExpressions()
    columns = [
        parts.replace_attribute(output.apply(place), fields[place], resolved[place])
        if place in resolved
        else own.apply(place)
        for place in range(len(numbers))
    ]
    return parts.project(columns, aggregate)


def _input(plans: JvmPlans, operator: Handle, kind: str) -> Handle:
    return plans.node(operator, (0, 0) if kind in FLAT_MAPS else (0,))


def _aggregate(
    parts: Parts, below: Handle, keys: Sequence[int], aggregates: Mapping[str, str]
) -> Handle:
    """Build Spark's own aggregate without groups, then give it the groups of these keys."""
    plans = parts.plans
    places = {number: i for i, number in enumerate(plans.numbers(below))}
    grouping = [plans.output(below).apply(places[key]) for key in keys]
    # A select of aggregates only is an aggregate.
    ungrouped = plans.select_sql({"rows": "count(1)", **aggregates}, below)
    columns = ungrouped.aggregateExpressions().tail().toList()
    for key in reversed(grouping):
        columns = plans.prepend(key, columns)
    return ungrouped.copy(
        plans.seq(grouping),
        columns,
        ungrouped.child(),
        *(ungrouped.productElement(i) for i in range(3, ungrouped.productArity())),
    )


_NAME = re.compile(r"\w+|`[^`]+`")


def _resolve(plans: JvmPlans, texts: Sequence[tuple[str, bool]], child: Handle) -> list[Handle]:
    """Resolve SQL expressions over a plan. Each comes with whether Spark must regard the column as
    nullable, as it regards the function's result. The resolved expressions have no metadata: a
    plain column, which may have some, is put into a CASE.
    """
    in_case = [_NAME.fullmatch(sql) is not None for sql, _ in texts]
    while True:
        written = (
            _in_case(sql, nullable=nullable) if case else sql
            for (sql, nullable), case in zip(texts, in_case, strict=True)
        )
        selected = plans.select_sql({f"c{i}": sql for i, sql in enumerate(written)}, child)
        columns = selected.projectList()
        trees: list[Tree] = json.loads(plans.list_json(columns))[0]["projectList"]
        fields = plans.fields(selected)
        needs_case = [
            int(tree[1]["num-children"]) == 0 or (nullable and not field["nullable"])
            for (_, nullable), tree, field in zip(texts, trees, fields, strict=True)
        ]
        if all(case or not needed for case, needed in zip(in_case, needs_case, strict=True)):
            return [columns.apply(place).child() for place in range(len(texts))]
        in_case = [a or b for a, b in zip(in_case, needs_case, strict=True)]


def _in_case(sql: str, *, nullable: bool) -> str:
    return f"CASE WHEN 1 = 1 THEN {sql} {'END' if nullable else f'ELSE {sql} END'}"
