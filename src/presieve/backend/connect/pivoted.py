# SPDX-License-Identifier: Apache-2.0
"""Trusted. A pivot of Spark Connect as the two aggregates and the projection that the analyzer
makes of it, if all its functions return numbers or booleans (``PivotTransformer.scala``).
"""

from __future__ import annotations

from collections.abc import Sequence

from msgspec import Struct

from presieve.backend.catalyst.boundary import AGGREGATE, PIVOT_FIRST, PROJECT
from presieve.backend.catalyst.native_aggregates import AGGREGATE_EXPRESSION
from presieve.backend.catalyst.struct_fields import ITEM, PIVOTED
from presieve.backend.catalyst.trees import LITERAL, JsonNode, Tree, column_id, make_tree
from presieve.backend.connect.aggregate_calls import aggregate_call, is_aggregate
from presieve.backend.connect.expression_trees import (
    alias,
    read_tree,
    split_alias,
    with_expressions,
)
from presieve.backend.connect.resolved_plan import (
    Expression,
    FieldJson,
    Operator,
    Relation,
    ResolvedColumn,
    Schema,
)
from presieve.backend.connect.resolver import Resolver
from presieve.errors import DeclineSignal
from presieve.semantics.values import INT_RANGES

_LAID = ("boolean", "byte", "short", "integer", "long", "float", "double", "decimal")
"""Types of results that a pivot lays side by side in an array (``PivotFirst.scala``)."""

_INTEGERS = {"byte": "tinyint", "short": "smallint", "integer": "int", "long": "bigint"}


class _Pivot(Struct, frozen=True):
    """The parts of a pivot: input columns, values as literals, calls, and outputs (``made``)."""

    keys: tuple[ResolvedColumn, ...]
    column: ResolvedColumn
    values: Tree
    calls: tuple[tuple[str, Tree], ...]
    made: tuple[ResolvedColumn, ...]

    def results(self, place: int) -> list[FieldJson]:
        """Return the columns of a call, one for each value."""
        return [f.json for f in self.made[place :: len(self.calls)]]


def pivot(resolver: Resolver, relation: Relation, child: Operator) -> Operator:
    """Read ``groupBy(...).pivot(...).agg(...)``."""
    try:
        pivot_parts = _read_pivot(resolver, relation, child)
    except DeclineSignal as signal:
        return resolver.opaque(relation, [child], signal.declined, kind=AGGREGATE)
    by_value = _by_value(resolver, pivot_parts, child)
    arrays = _arrays(resolver, pivot_parts, by_value)
    return _elements(relation, pivot_parts, arrays)


def _read_pivot(resolver: Resolver, relation: Relation, child: Operator) -> _Pivot:
    """Read the parts of a pivot. Raises :class:`DeclineSignal`."""
    body, scope = relation.aggregate, resolver.scope(child)
    by_id = {f.id: f for f in child.output}
    grouped = [*body.grouping_expressions, body.pivot.col]
    plain = [read_tree(e, scope) if split_alias(e)[1] is None else [] for e in grouped]
    ids = [column_id(t) for t in plain]
    columns = [by_id[i] for i in ids if i in by_id]
    if len(columns) != len(ids):
        raise DeclineSignal("plan-shape", "a pivot of something else than columns")
    *keys, column = columns
    values = [_literal(v, column.json["type"]) for v in body.pivot.values]
    calls = tuple(_call(e, resolver, child) for e in body.aggregate_expressions)
    schema = resolver.schema(relation)
    result_columns = schema.fields[len(keys) :]
    if not values or not calls or len(result_columns) != len(values) * len(calls):
        raise DeclineSignal("plan-shape", "a pivot whose values are not in the plan")
    if not all(str(f["type"]).partition("(")[0] in _LAID for f in result_columns):
        raise DeclineSignal("column-type", "a pivot of results that are no numbers or booleans")
    made = tuple(
        ResolvedColumn(next(resolver.numbers), str(f["name"]), schema, at)
        for at, f in enumerate(result_columns, len(keys))
    )
    return _Pivot(tuple(keys), column, values, calls, made)


def _call(expression: Expression, resolver: Resolver, child: Operator) -> tuple[str, Tree]:
    call, name = split_alias(expression)
    if not is_aggregate(call):
        raise DeclineSignal("plan-shape", "a pivot that also computes something else")
    text = call.expression_string.expression or call.unresolved_function.function_name
    return name or str(text), aggregate_call(call, resolver.scope(child))


def _literal(value: Expression, type_: object) -> JsonNode:
    """Return the literal cast to the column's type. Raises :class:`DeclineSignal`."""
    kind = value.WhichOneof("literal_type")
    match kind, type_:
        case "string", "string":
            text = str(value.string)
        case "boolean", "boolean":
            text = str(value.boolean).lower()
        case (("byte" | "short" | "integer" | "long"), str()) if _fits(value, kind, type_):
            text = str(getattr(value, kind))
        case _:
            reason = f"a pivot by a column of type {type_} and a value of type {kind}"
            raise DeclineSignal("column-type", reason)
    return make_tree(LITERAL, dataType=type_, value=text)[0]


def _fits(value: Expression, kind: str, type_: str) -> bool:
    least, most = INT_RANGES.get(_INTEGERS.get(type_, ""), (1, 0))
    return bool(least <= getattr(value, kind) <= most)


def _by_value(resolver: Resolver, pivot_parts: _Pivot, child: Operator) -> Operator:
    """Return the functions aggregated by keys and pivot column."""
    grouping = [f.tree for f in (*pivot_parts.keys, pivot_parts.column)]
    types = [pivot_parts.results(place)[0]["type"] for place in range(len(pivot_parts.calls))]
    result_fields = _fields(resolver, [n for n, _ in pivot_parts.calls], types)
    calls = [
        alias(f.id, f.name, t) for f, (_, t) in zip(result_fields, pivot_parts.calls, strict=True)
    ]
    fields = {"groupingExpressions": grouping, "aggregateExpressions": [*grouping, *calls]}
    output = (*pivot_parts.keys, pivot_parts.column, *result_fields)
    return with_expressions(Operator(AGGREGATE, fields, (child,), output, None), calls)


def _arrays(resolver: Resolver, pivot_parts: _Pivot, below: Operator) -> Operator:
    """Return, by keys, an array of the results of each function, in the order of the values."""
    keys = [f.tree for f in pivot_parts.keys]
    results = below.output[len(keys) + 1 :]
    types = [{"type": "array", "elementType": f.json["type"]} for f in results]
    arrays = _fields(resolver, [PIVOTED + f.name for f in results], types)
    first = [
        alias(array.id, array.name, make_tree(AGGREGATE_EXPRESSION, _first(pivot_parts, value)))
        for array, value in zip(arrays, results, strict=True)
    ]
    fields = {"groupingExpressions": keys, "aggregateExpressions": [*keys, *first]}
    return Operator(AGGREGATE, fields, (below,), (*pivot_parts.keys, *arrays), None)


def _first(pivot_parts: _Pivot, value: ResolvedColumn) -> Tree:
    values = {"pivotColumnValues": pivot_parts.values}
    return make_tree(PIVOT_FIRST, pivot_parts.column.tree, value.tree, **values)


def _elements(relation: Relation, pivot_parts: _Pivot, below: Operator) -> Operator:
    """Return the arrays' elements as columns: for each value, the results of all functions."""
    arrays = below.output[len(pivot_parts.keys) :]
    elements = []
    for at, column in enumerate(pivot_parts.made):
        place = make_tree(LITERAL, dataType="integer", value=str(at // len(arrays)))
        element = make_tree(ITEM, arrays[at % len(arrays)].tree, place)
        elements.append(alias(column.id, column.name, element))
    fields = {"projectList": [*(f.tree for f in pivot_parts.keys), *elements]}
    return Operator(PROJECT, fields, (below,), (*pivot_parts.keys, *pivot_parts.made), relation)


def _fields(
    resolver: Resolver, names: Sequence[str], types: Sequence[object]
) -> tuple[ResolvedColumn, ...]:
    """Return columns of an operator that is in no message."""
    json = [
        {"name": name, "type": type_, "nullable": True}
        for name, type_ in zip(names, types, strict=True)
    ]
    schema = Schema(lambda: json)
    return tuple(
        ResolvedColumn(next(resolver.numbers), n, schema, at) for at, n in enumerate(names)
    )
