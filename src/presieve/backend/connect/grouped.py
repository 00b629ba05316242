# SPDX-License-Identifier: Apache-2.0
"""Trusted. Operators of Spark Connect that call functions on groups or batches of rows."""

from __future__ import annotations

from collections.abc import Sequence

from presieve.backend.catalyst.boundary import AGGREGATE, LOGICAL, PROJECT
from presieve.backend.catalyst.trees import JsonNode, Tree, attribute_tree, column_id
from presieve.backend.connect.aggregate_calls import PYTHON_UDAF, aggregate_call, is_aggregate
from presieve.backend.connect.expression_trees import (
    alias,
    is_deterministic,
    python_udf,
    read_tree,
    split_alias,
    with_expressions,
)
from presieve.backend.connect.joins import number_anew
from presieve.backend.connect.pivoted import pivot
from presieve.backend.connect.resolved_plan import Expression, Operator, Relation, ResolvedColumn
from presieve.backend.connect.resolver import Resolver
from presieve.backend.connect.rowwise import not_rowwise
from presieve.errors import Declined, DeclineSignal
from presieve.lift.evaluation_types import EVALUATION_TYPES, Role

_SETS = Declined(
    "grouping-sets",
    "filters are not pushed through ROLLUP, CUBE or GROUPING SETS; group by one set",
)


def is_global(expressions: Sequence[Expression]) -> bool:
    """Whether a projection is an aggregate without groups: all its columns are aggregates."""
    return bool(expressions) and all(is_aggregate(split_alias(e)[0]) for e in expressions)


def aggregate(resolver: Resolver, relation: Relation, child: Operator) -> Operator | None:
    """Read ``groupBy(...).agg(...)``."""
    body = relation.aggregate
    if body.group_type == body.GROUP_TYPE_PIVOT:
        return pivot(resolver, relation, child)
    if body.group_type != body.GROUP_TYPE_GROUPBY:
        return resolver.opaque(relation, [child], _SETS, kind=AGGREGATE)
    grouping = list(body.grouping_expressions)
    return build_aggregate(resolver, relation, child, grouping, list(body.aggregate_expressions))


def build_aggregate(
    resolver: Resolver,
    relation: Relation,
    child: Operator,
    grouping: Sequence[Expression],
    aggregates: Sequence[Expression],
) -> Operator:
    """Return an ``Aggregate``, whose output is the grouping columns and then the aggregates."""
    keys = _keys(resolver, child, grouping)
    if isinstance(keys, Declined):
        return resolver.opaque(relation, [child], keys, kind=AGGREGATE)
    scope = resolver.scope(child)
    schema = resolver.schema(relation)
    count = len(keys) + len(aggregates)
    if len(schema.fields) != count:
        raise DeclineSignal("plan-shape", "the columns of an aggregate differ from its schema")
    trees: list[Tree] = []
    output: list[ResolvedColumn] = []
    by_id = {f.id: f for f in child.output}
    for at, (tree, name) in enumerate(keys):
        column = column_id(tree) if name is None else None
        if column is not None:
            output.append(by_id[column])
            trees.append(tree)
            continue
        field = ResolvedColumn(next(resolver.numbers), str(schema.fields[at]["name"]), schema, at)
        output.append(field)
        trees.append(alias(field.id, field.name, tree))
    for at, expression in enumerate(aggregates, len(keys)):
        name = str(schema.fields[at]["name"])
        number = next(resolver.numbers)
        call = aggregate_call(split_alias(expression)[0], scope)
        if len(call) > 1 and call[1]["class"] == PYTHON_UDAF:
            call[1]["dataType"] = schema.fields[at]["type"]
        trees.append(alias(number, name, call))
        output.append(ResolvedColumn(number, name, schema, at))
    groups = [t for t, _ in keys]
    fields: JsonNode = {"groupingExpressions": groups, "aggregateExpressions": trees}
    operator = Operator(AGGREGATE, fields, (child,), tuple(output), relation)
    return with_expressions(operator, [*trees, *groups])


def _keys(
    resolver: Resolver, child: Operator, grouping: Sequence[Expression]
) -> list[tuple[Tree, str | None]] | Declined:
    """Return the grouping expressions without their names, each with its name."""
    keys: list[tuple[Tree, str | None]] = []
    for expression in grouping:
        plain, name = split_alias(expression)
        if plain.WhichOneof("expr_type") in ("literal", "unresolved_star"):
            return Declined(
                "grouping-expression", "grouping is by position or by *; name the columns"
            )
        why = not_rowwise([plain])
        if why is not None:
            return why
        keys.append((read_tree(plain, resolver.scope(child)), name))
    return keys


# --- functions of whole groups and batches --------------------------------------------------


def _operator(function: Expression, role: Role) -> str | None:
    """Return Catalyst's operator for a function if the function has that role."""
    kind = EVALUATION_TYPES.get(function.python_udf.eval_type)
    return LOGICAL + kind.operator if kind is not None and kind.role is role else None


def group_map(resolver: Resolver, relation: Relation, child: Operator) -> Operator | None:
    """Read ``applyInPandas`` and its kin, over a projection of grouping columns and all columns."""
    body = relation.group_map
    supported_fields = {"input", "grouping_expressions", "func"}
    kind = _operator(body.func, Role.GROUP_MAP)
    if kind is None or not {f.name for f, _ in body.ListFields()} <= supported_fields:
        return None
    below = _add_projection(resolver, child, list(body.grouping_expressions))
    if isinstance(below, Declined):
        return resolver.opaque(relation, [child], below)
    project, keys = below
    fields = {"groupingAttributes": keys, "functionExpr": _function(resolver, body.func, [child])}
    return _map_operator(resolver, relation, kind, fields, (project,))


def co_group_map(
    resolver: Resolver, relation: Relation, left: Operator, right: Operator
) -> Operator | None:
    """Read ``cogroup(...).applyInPandas`` and its kin."""
    body = relation.co_group_map
    supported_fields = {
        "input",
        "input_grouping_expressions",
        "other",
        "other_grouping_expressions",
        "func",
    }
    kind = _operator(body.func, Role.COGROUP_MAP)
    if kind is None or not {f.name for f, _ in body.ListFields()} <= supported_fields:
        return None
    below = (left, number_anew(resolver, left, right))
    first = _add_projection(resolver, below[0], list(body.input_grouping_expressions))
    second = _add_projection(resolver, below[1], list(body.other_grouping_expressions))
    if isinstance(first, Declined):
        return resolver.opaque(relation, [left, right], first)
    if isinstance(second, Declined):
        return resolver.opaque(relation, [left, right], second)
    fields = {
        "leftGroupingLen": len(first[1]),
        "rightGroupingLen": len(second[1]),
        "functionExpr": _function(resolver, body.func, below),
    }
    return _map_operator(resolver, relation, kind, fields, (first[0], second[0]))


def read_map(resolver: Resolver, relation: Relation, child: Operator) -> Operator | None:
    """Read ``mapInPandas`` and ``mapInArrow``."""
    body = relation.map_partitions
    kind = _operator(body.func, Role.MAP)
    if kind is None:
        return None
    fields = {"functionExpr": _function(resolver, body.func, [child])}
    return _map_operator(resolver, relation, kind, fields, (child,))


def _add_projection(
    resolver: Resolver, child: Operator, grouping: Sequence[Expression]
) -> tuple[Operator, list[Tree]] | Declined:
    """Return the projection below, and the grouping columns."""
    keys = _keys(resolver, child, grouping)
    if isinstance(keys, Declined):
        return keys
    heads: list[Tree] = []
    attributes: list[Tree] = []
    by_id = {f.id: f for f in child.output}
    for tree, name in keys:
        column = column_id(tree) if name is None else None
        if column is not None:
            heads.append(tree)
            attributes.append(by_id[column].tree)
        else:
            number = next(resolver.numbers)
            heads.append(alias(number, name or "key", tree))
            attributes.append(attribute_tree(number, name or "key", "unknown"))
    columns = [*heads, *(f.tree for f in child.output)]
    project = Operator(PROJECT, {"projectList": columns}, (child,), child.output, None)
    return with_expressions(project, columns), attributes


def _function(resolver: Resolver, function: Expression, below: Sequence[Operator]) -> Tree:
    """Return the function over all columns, also if two of them, sent by name, have one name."""
    tree = python_udf(function, resolver.scope(*below))
    fields = [f for o in below for f in o.output]
    sent = [a.unresolved_attribute.unparsed_identifier for a in function.arguments]
    if sent and sent != [f.name for f in fields]:
        return tree
    return [{**tree[0], "num-children": len(fields)}, *(n for f in fields for n in f.tree)]


def _map_operator(
    resolver: Resolver,
    relation: Relation,
    kind: str,
    fields: JsonNode,
    children: tuple[Operator, ...],
) -> Operator:
    output = resolver.fresh(resolver.schema(relation))
    fixed = is_deterministic(fields["functionExpr"])
    return Operator(kind, fields, children, output, relation, steady=fixed)
