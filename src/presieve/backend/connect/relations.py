# SPDX-License-Identifier: Apache-2.0
"""Trusted. All rules for resolving messages of Spark Connect, and here those for relations of one
input that keep its columns.

The rules follow what ``SparkConnectPlanner`` of Spark 4.3 makes of a message.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from presieve.backend.catalyst.boundary import LOGICAL
from presieve.backend.catalyst.operators import DEDUPLICATE, FILTER, SUBQUERY_ALIAS
from presieve.backend.catalyst.trees import ATTRIBUTE
from presieve.backend.catalyst.windows import GLOBAL_LIMIT, LOCAL_LIMIT, SORT
from presieve.backend.connect import grouped, joins, projected
from presieve.backend.connect.expression_trees import condition, read_tree, with_expressions
from presieve.backend.connect.resolved_plan import Expression, Operator, Relation, inner
from presieve.backend.connect.resolver import PairRule, Resolver, Rule
from presieve.backend.connect.scope import fold
from presieve.backend.connect.windows import sort_orders
from presieve.ir.terms import SQL_TRUE
from presieve.records import replace


def _filter(resolver: Resolver, relation: Relation, child: Operator) -> Operator:
    read_ = condition(relation.filter.condition, resolver.scope(child))
    if read_.tree[0].get("term") == SQL_TRUE:
        # A used-up or idle filter: every row passes, as through an alias.
        return Operator(SUBQUERY_ALIAS, {}, (child,), child.output, relation)
    fields = {"condition": read_.tree}
    filter_ = Operator(FILTER, fields, (child,), child.output, relation, condition=read_)
    return with_expressions(filter_, [read_.tree])


def _alias(resolver: Resolver, relation: Relation, child: Operator) -> Operator:
    name = str(relation.subquery_alias.alias)
    output = tuple(replace(f, qualifier=name) for f in child.output)
    return Operator(SUBQUERY_ALIAS, {}, (child,), output, relation)


def _passing_rule(kind: str) -> Callable[[Resolver, Relation, Operator], Operator]:
    """Return the rule for operators whose output is that of their input."""

    def rule(resolver: Resolver, relation: Relation, child: Operator) -> Operator:
        scope = resolver.scope(child)
        trees = [read_tree(e, scope) for e in expressions(inner(relation))]
        operator = Operator(kind, {"expressions": trees}, (child,), child.output, relation)
        return with_expressions(operator, trees)

    return rule


def _sort(resolver: Resolver, relation: Relation, child: Operator) -> Operator:
    """Read a sorted relation. A key without columns may be a literal, which is the position of a
    column (``SubstituteUnresolvedOrdinals``): such an order is not read.
    """
    operator = _passing_rule(SORT)(resolver, relation, child)
    order = sort_orders(relation.sort.order, resolver.scope(child))
    if not all(any(node["class"] == ATTRIBUTE for node in key) for key in order):
        return operator
    return replace(operator, fields={"order": order, "global": relation.sort.is_global})


def _limit(resolver: Resolver, relation: Relation, child: Operator) -> Operator:
    """Read a limit: the first rows of every partition, and the first of these."""
    below = _passing_rule(LOCAL_LIMIT)(resolver, relation, child)
    return replace(below, kind=GLOBAL_LIMIT, children=(replace(below, relation=None),))


def _deduplicate(resolver: Resolver, relation: Relation, child: Operator) -> Operator | None:
    """Read ``distinct`` and ``dropDuplicates``: by all columns, or by some."""
    body = relation.deduplicate
    if body.within_watermark:
        return None
    wanted = {fold(n) for n in body.column_names}
    keys = [f.tree for f in child.output if body.all_columns_as_keys or fold(f.name) in wanted]
    return Operator(DEDUPLICATE, {"keys": keys}, (child,), child.output, relation)


def expressions(body: Relation) -> list[Expression]:
    """Return the expressions in a message itself, without those in its inputs."""
    own_expressions: list[Expression] = []
    for field, value in body.ListFields():
        if field.message_type is None:
            continue
        parts = list(value) if field.is_repeated else [value]
        if field.message_type.name == "Expression":
            own_expressions += parts
        elif field.message_type.name == "SortOrder":
            own_expressions += [p.child for p in parts]
    return own_expressions


RULES: Mapping[str, Rule] = {
    "filter": _filter,
    "subquery_alias": _alias,
    "sort": _sort,
    "limit": _limit,
    "offset": _passing_rule(LOGICAL + "Offset"),
    "tail": _passing_rule(LOGICAL + "Tail"),
    "sample": _passing_rule(LOGICAL + "Sample"),
    "deduplicate": _deduplicate,
    "hint": _passing_rule(LOGICAL + "ResolvedHint"),
    "repartition": _passing_rule(LOGICAL + "Repartition"),
    "repartition_by_expression": _passing_rule(LOGICAL + "RepartitionByExpression"),
    "collect_metrics": _passing_rule(LOGICAL + "CollectMetrics"),
    "drop_na": _passing_rule("presieve.drop_na"),
    "project": projected.project,
    "with_columns": projected.with_columns,
    "with_columns_renamed": projected.read_renaming,
    "drop": projected.drop,
    "to_df": projected.to_df,
    "fill_na": projected.read_replacement,
    "replace": projected.read_replacement,
    "aggregate": grouped.aggregate,
    "group_map": grouped.group_map,
    "map_partitions": grouped.read_map,
}
"""The rules for the relations of one input that are understood."""

PAIR_RULES: Mapping[str, PairRule] = {
    "co_group_map": grouped.co_group_map,
    "join": joins.join,
    "set_op": joins.set_operation,
}
"""The same for relations of two inputs."""
