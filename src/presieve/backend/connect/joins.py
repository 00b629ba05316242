# SPDX-License-Identifier: Apache-2.0
"""Trusted. Operators of Spark Connect with two inputs: joins and set operations.

If both inputs have a column of the same number, Spark gives the columns of the right side new
numbers (``DeduplicateRelations``), and so does this module.
"""

from __future__ import annotations

from functools import partial, reduce

from presieve.backend.catalyst.boundary import PROJECT
from presieve.backend.catalyst.operators import JOIN, UNION
from presieve.backend.catalyst.trees import AND, JsonNode, Tree, make_tree
from presieve.backend.connect.expression_trees import (
    alias,
    computed_tree,
    condition,
    with_expressions,
)
from presieve.backend.connect.resolved_plan import Operator, Relation, ResolvedColumn
from presieve.backend.connect.resolver import Resolver
from presieve.backend.connect.rowwise import not_rowwise
from presieve.backend.connect.scope import fold
from presieve.records import replace
from presieve.sql.expressions import choices, predicates
from presieve.sql.expressions.entry import Entry

_PLANS = "org.apache.spark.sql.catalyst.plans."
_KINDS = {
    "INNER": "Inner$",
    "CROSS": "Cross$",
    "LEFT_OUTER": "LeftOuter$",
    "RIGHT_OUTER": "RightOuter$",
    "FULL_OUTER": "FullOuter$",
    "LEFT_SEMI": "LeftSemi$",
    "LEFT_ANTI": "LeftAnti$",
}
_LEFT_ONLY = ("LEFT_SEMI", "LEFT_ANTI")


def number_anew(resolver: Resolver, left: Operator, right: Operator) -> Operator:
    """Return the right side with numbers of its own, through a projection if it needs one."""
    taken_ids = {f.id for f in left.output}
    again = {f.id: next(resolver.numbers) for f in right.output if f.id in taken_ids}
    if not again:
        return right
    output = tuple(replace(f, id=again.get(f.id, f.id)) for f in right.output)
    trees = [alias(again[f.id], f.name, f.tree) if f.id in again else f.tree for f in right.output]
    fields: JsonNode = {"projectList": trees}
    return Operator(PROJECT, fields, (right,), output, None, renumbered=again)


def join(
    resolver: Resolver, relation: Relation, left: Operator, right: Operator
) -> Operator | None:
    """Read a join by a condition, or by columns that both sides have (USING)."""
    body = relation.join
    if body.HasField("join_data_type"):
        return None
    children, right = [left, right], number_anew(resolver, left, right)
    kind = body.JoinType.Name(body.join_type).removeprefix("JOIN_TYPE_")
    using = [fold(c) for c in body.using_columns]
    sides = [{fold(f.name): f for f in side.output} for side in (left, right)]
    if kind not in _KINDS or any(n not in side for side in sides for n in using):
        return None
    tree = [_of_both(predicates.EQUAL, sides[0][n], sides[1][n]) for n in using]
    if body.HasField("join_condition"):
        why = not_rowwise([body.join_condition])
        if why is not None:
            return resolver.opaque(relation, children, why)
        tree = [condition(body.join_condition, resolver.scope(left, right)).tree]
    join_fields: JsonNode = {
        "joinType": {"object": _PLANS + _KINDS[kind]},
        "condition": reduce(partial(make_tree, AND), tree) if tree else [],
    }
    shown = left.output if kind in _LEFT_ONLY else (*left.output, *right.output)
    joined = Operator(JOIN, join_fields, (left, right), shown, None if using else relation)
    joined = with_expressions(joined, tree)
    columns = _output_columns(kind, using, left, right)
    schema = resolver.schema(relation)
    if [fold(f.name) for f in columns] != [fold(str(f["name"])) for f in schema.fields]:
        return None
    if not using:
        typed = tuple(replace(f, schema=schema, position=at) for at, f in enumerate(columns))
        return replace(joined, output=typed)
    output: list[ResolvedColumn] = []
    trees: list[Tree] = []
    for at, old in enumerate(columns):
        if kind == "FULL_OUTER" and at < len(using):
            output.append(ResolvedColumn(next(resolver.numbers), old.name, schema, at))
            both = (side[fold(old.name)] for side in sides)
            trees.append(alias(output[-1].id, old.name, _of_both(choices.COALESCE, *both)))
        else:
            output.append(replace(old, schema=schema, position=at))
            trees.append(output[-1].tree)
    return Operator(PROJECT, {"projectList": trees}, (joined,), tuple(output), relation)


def _of_both(entry: Entry, left: ResolvedColumn, right: ResolvedColumn) -> Tree:
    """Return an expression of two columns, as Catalyst writes it after analysis. Columns of
    different types are cast; of these only the inputs are known.
    """
    if left.json["type"] != right.json["type"]:
        return computed_tree([left.tree, right.tree])
    return make_tree(entry.class_name, left.tree, right.tree)


def _output_columns(
    kind: str, using: list[str], left: Operator, right: Operator
) -> tuple[ResolvedColumn, ...]:
    """Return the columns of the result, in order. The columns of USING come first, and once."""
    chosen = {fold(f.name): f for f in (right if kind == "RIGHT_OUTER" else left).output}
    keys = tuple(chosen[n] for n in using)
    left_columns = tuple(f for f in left.output if fold(f.name) not in using)
    if kind in _LEFT_ONLY:
        return (*keys, *left_columns)
    return (*keys, *left_columns, *(f for f in right.output if fold(f.name) not in using))


def set_operation(
    resolver: Resolver, relation: Relation, left: Operator, right: Operator
) -> Operator | None:
    """Read UNION, INTERSECT or EXCEPT: each column is computed from one column of either side. A
    filter moves through UNION ALL if the columns have the same types on both sides.
    """
    body = relation.set_op
    by_name = bool(body.by_name)
    output = resolver.fresh(resolver.schema(relation))
    if by_name and not body.allow_missing_columns:
        ordered = _reorder_right(left, right)
        by_name, right = ordered is None, ordered or right
    sides = (left, right)
    pairs = [[_source(side, f, at, by_name) for side in sides] for at, f in enumerate(output)]
    plain = body.set_op_type == body.SET_OP_TYPE_UNION and body.is_all and not by_name
    plain = plain and all(len(side.output) == len(output) for side in sides)
    plain = plain and all(
        s is not None and s.json["type"] == f.json["type"]
        for f, pair in zip(output, pairs, strict=True)
        for s in pair
    )
    trees = [
        alias(f.id, f.name, computed_tree([s.tree for s in pair if s is not None]))
        for f, pair in zip(output, pairs, strict=True)
    ]
    kind = UNION if plain else "presieve.set_op"
    fields: JsonNode = {"columns": trees, "output": [f.tree for f in output]}
    return Operator(kind, fields, sides, output, relation)


def _reorder_right(left: Operator, right: Operator) -> Operator | None:
    """Return the right side with its columns in the left side's order, by name."""
    sides = [[fold(f.name) for f in side.output] for side in (left, right)]
    if len(set(sides[0])) != len(sides[0]) or sorted(sides[0]) != sorted(sides[1]):
        return None
    by_name = {fold(f.name): f for f in right.output}
    output = tuple(by_name[name] for name in sides[0])
    fields: JsonNode = {"projectList": [f.tree for f in output]}
    return Operator(PROJECT, fields, (right,), output, None)


def _source(side: Operator, field: ResolvedColumn, at: int, by_name: bool) -> ResolvedColumn | None:
    if not by_name:
        return side.output[at] if at < len(side.output) else None
    named = [f for f in side.output if fold(f.name) == fold(field.name)]
    return named[0] if named else None
