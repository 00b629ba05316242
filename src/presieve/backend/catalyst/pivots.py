# SPDX-License-Identifier: Apache-2.0
"""Trusted. A pivot, which consists of two aggregates: one by its key and the pivot column, and
above it, by the key, ``pivot_first``, which lays the results of the chosen values side by side.

Lemma: the element of value p is ``f(v) FILTER (WHERE y <=> p)`` of the rows of the key, and NULL if
there is no such row, also if f counts. Rows of other values give their key a result, and their
functions may raise. Sources: Spark 4.3, ``PivotTransformer.scala``, ``PivotFirst.scala``;
``pivot_first`` skips NULL, and finds values as a hash map does, which is wrong for doubles.

Lemma: let one of two tables be a part of the other. If each key has as many rows with one of the
values p in both, then the elements of these values are the same in both, whatever f is. So the
elements that no filter reads are read as one function, which counts these rows.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence, Set

from presieve.backend.catalyst.boundary import Boundary, BoundaryCall, is_pivoted
from presieve.backend.catalyst.native_aggregates import NativeCall, native_call
from presieve.backend.catalyst.trees import Node, Tree, expr_id, is_attribute, references
from presieve.backend.gateway import Handle, PlanReader
from presieve.errors import DeclineSignal
from presieve.ir.fold import Mode
from presieve.plan.algebra import MOST_FIELDS, Attribute, field_id
from presieve.records import replace
from presieve.sql.expressions import predicates

_COMPARED = ("string", "boolean", "tinyint", "smallint", "int", "bigint", "date")
"""Types whose values are equal in a hash map if and only if they are equal by ``<=>``."""

MOST_READ = 8
"""The most columns with a fold of their own; a proof about more of them would take too long."""

_SUM = (
    "filters are not pushed through a sum in a pivot, which may overflow for values of the pivot "
    "column that are not shown"
)


def read_pivot(gateway: PlanReader, node: Node, plan: Handle) -> Boundary:
    """Read both aggregates (``plan`` is the upper one) as one. Raises :class:`DeclineSignal`."""
    (below,) = node.children
    inputs = gateway.attributes(gateway.node(plan, (0, 0)))
    keys, pivot = _grouping(node, below)
    type_ = next((a.type for a in inputs if a.id == pivot), "")
    if type_ not in _COMPARED:
        raise DeclineSignal("column-type", f"a pivot by a column of type {type_ or 'unknown'}")
    types = {a.id: a.type for a in gateway.attributes(gateway.node(plan, (0,)))}
    pivot_columns = tuple(_calls(node, below, types))
    passed = [a for a in gateway.attributes(plan) if a.id in keys]
    return Boundary(
        kind="Aggregate",
        path=node.path,
        input_path=(*node.path, 0, 0),
        inputs=inputs,
        outputs=(*passed, *(column for column, _ in pivot_columns)),
        keys=keys,
        key_outputs={key: key for key in keys},
        all_keys_plain=True,
        calls=tuple(call for _, call in pivot_columns),
        mode=Mode.GROUPED if keys else Mode.GLOBAL,
    )


def _grouping(node: Node, below: Node) -> tuple[tuple[int, ...], int]:
    """Return the columns of the key, and the pivot column."""
    upper, lower = (n.fields["groupingExpressions"] for n in (node, below))
    arrays = [t for t in node.fields["aggregateExpressions"] if is_pivoted(t)]
    plain = (*upper, *lower, *([part] for t in arrays for part in t[3:]))
    if not all(is_attribute(t) for t in plain):
        raise DeclineSignal("plan-shape", "a pivot of something else than columns")
    pivots = {expr_id(t[3]) for t in arrays}
    keys = tuple(expr_id(t[0]) for t in upper)
    if len(pivots) != 1 or {*keys, *pivots} != {expr_id(t[0]) for t in lower}:
        raise DeclineSignal("plan-shape", "the aggregate below is not that of this pivot")
    (pivot,) = pivots
    return keys, pivot


def _calls(
    node: Node, below: Node, types: Mapping[int, str]
) -> Iterator[tuple[Attribute, BoundaryCall]]:
    """Yield column and call for each function and value, of functions with these result types."""
    passed = {expr_id(t[0]) for t in node.fields["groupingExpressions"]}
    grouping = passed | {expr_id(t[0]) for t in below.fields["groupingExpressions"]}
    outputs_below = {expr_id(t[0]): t for t in below.fields["aggregateExpressions"]}
    functions = {
        number: _function(tree) for number, tree in outputs_below.items() if number not in grouping
    }
    unread = set(functions)
    for position, tree in enumerate(node.fields["aggregateExpressions"]):
        if is_attribute(tree) and expr_id(tree[0]) in passed:
            continue
        if not is_pivoted(tree) or expr_id(tree[4]) not in functions:
            raise DeclineSignal("plan-shape", "a pivot that also computes something else")
        value = expr_id(tree[4])
        unread.discard(value)
        for place, literal in enumerate(_values(tree)):
            number = field_id(expr_id(tree[0]), place)
            name = f"{tree[4]['name']} of {literal['value']}"
            native = replace(functions[value], condition=[_SAME, tree[3], literal], of_some=True)
            read = tuple(sorted(native.references | references(native.condition)))
            call = BoundaryCall(native.name, read, (number,), position, native)
            yield Attribute(number, name, types[value]), call
    if unread:
        raise DeclineSignal("plan-shape", "the aggregate below is not that of this pivot")


def _function(tree: Tree) -> NativeCall:
    """Return a function of the lower aggregate. Raises :class:`DeclineSignal`."""
    call = native_call(tree)
    if call.condition:
        raise DeclineSignal("native-aggregate", f"{call.name} with FILTER in a pivot")
    return replace(call, function="", unknown=_SUM) if call.function == "sum" else call


def _values(tree: Tree) -> Tree:
    """Return the values of the pivot column, as literals. Raises :class:`DeclineSignal`."""
    values: Tree = tree[2]["pivotColumnValues"] or []
    if not values or len(values) > MOST_FIELDS:
        raise DeclineSignal("column-type", "a pivot whose values are not read here")
    if len({literal["value"] for literal in values}) < len(values):
        raise DeclineSignal("plan-shape", "a pivot with one value at two places")
    return values


def count_in_one_function(boundary: Boundary, read: Set[int], live: Set[int]) -> Boundary:
    """Return the pivot's boundary with one function for all columns that are ``live`` and that no
    filter reads (``read``), and without columns that are not live. Functions that may raise stay as
    they are. Raises :class:`DeclineSignal`.
    """
    others = {c.outputs: c.native for c in boundary.calls if read.isdisjoint(c.outputs)}
    unread = {i: n for (i,), n in others.items() if n is not None and n.total}
    calls = [c for c in boundary.calls if c.outputs[0] not in unread]
    if len(calls) > MOST_READ:
        reason = (
            f"{len(calls)} columns of a pivot are read by filters or computed by functions that "
            f"may raise; {MOST_READ} are possible"
        )
        raise DeclineSignal("filter-size", reason)
    shown = {i: n for i, n in unread.items() if i in live}
    if shown:
        counted = _any([n.condition for n in shown.values()])
        native = NativeCall("count_if", (counted,), [], True, "count_if")
        read_ = tuple(sorted(native.references))
        calls.append(BoundaryCall(native.name, read_, tuple(shown), 0, native))
    outputs = (replace(a, type="bigint") if a.id in unread else a for a in boundary.outputs)
    finer = bool(shown)
    return replace(boundary, calls=tuple(calls), outputs=tuple(outputs), finer=finer)


def _any(conditions: Sequence[Tree]) -> Tree:
    """Return the condition that the pivot column has one of the values of these conditions."""
    _, column, _ = conditions[0]
    values = {literal["value"]: literal for _, _, literal in conditions}
    null = values.pop(None, None)
    condition = [{**_IN, "num-children": len(values) + 1}, column, *values.values()]
    if null is None:
        return condition
    return [_OR, *condition, _SAME, column, null] if values else [_SAME, column, null]


_SAME, _OR, _IN = (
    {"class": entry.class_name, "num-children": 2}
    for entry in (predicates.EQUAL_NULL_SAFE, predicates.OR, predicates.IN)
)
