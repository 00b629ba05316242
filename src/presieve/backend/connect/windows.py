# SPDX-License-Identifier: Apache-2.0
"""Trusted. Window expressions of Spark Connect as Catalyst writes them after analysis.

Default frames are those of ``ResolveWindowFrame``: for ranks, all rows up to the current one; for
``lag`` and ``lead``, one row; for other functions, all rows up to the peers of the current one, or
all rows if there is no order.
"""

from __future__ import annotations

from collections.abc import Sequence

from presieve.backend.catalyst.trees import EXPRESSIONS, LITERAL, JsonNode, Tree, make_tree
from presieve.backend.connect.aggregate_calls import aggregate_call
from presieve.backend.connect.builtin_names import AGGREGATES
from presieve.backend.connect.expression_trees import read_tree
from presieve.backend.connect.resolved_plan import Expression
from presieve.backend.connect.scope import OperatorScope

_RANKS = {"row_number": "RowNumber", "rank": "Rank", "dense_rank": "DenseRank"}
_OFFSETS = {"lag": ("Lag", -1), "lead": ("Lead", 1)}
"""Names and Catalyst's classes; for ``lag`` and ``lead`` also where they look."""

_UP_TO_HERE = ("UnboundedPreceding$", "CurrentRow$")
_ALL = ("UnboundedPreceding$", "UnboundedFollowing$")


def window_expression(window: Expression, scope: OperatorScope) -> Tree:
    """Return a function over a window; an unknown function reads all rows of its partition."""
    called = window.window_function.unresolved_function
    name = str(called.function_name).lower()
    partition = [read_tree(e, scope) for e in window.partition_spec]
    order = sort_orders(window.order_spec, scope)
    parts = [*partition, *order, _frame(window, name)]
    function = _function(window.window_function, name, scope)
    return _tree("WindowExpression", function, _tree("WindowSpecDefinition", *parts))


def sort_orders(keys: Sequence[Expression], scope: OperatorScope) -> list[Tree]:
    """Return the sort keys of a window, or of a sorted relation."""
    orders = []
    for key in keys:
        descending = key.direction == key.SORT_DIRECTION_DESCENDING
        first = key.null_ordering == key.SORT_NULLS_FIRST
        if key.null_ordering == key.SORT_NULLS_UNSPECIFIED:
            first = not descending
        direction = _object("Descending$" if descending else "Ascending$")
        nulls = _object("NullsFirst$" if first else "NullsLast$")
        key_tree = read_tree(key.child, scope)
        orders.append(_tree("SortOrder", key_tree, direction=direction, nullOrdering=nulls))
    return orders


def _function(function: Expression, name: str, scope: OperatorScope) -> Tree:
    called = function.unresolved_function
    if name in AGGREGATES:
        return aggregate_call(function, scope)
    kind = _RANKS.get(name) or (_OFFSETS[name][0] if name in _OFFSETS else name)
    return _tree(kind, *(read_tree(a, scope) for a in called.arguments))


def _frame(window: Expression, name: str) -> Tree:
    frame = window.frame_spec
    rows = frame.frame_type == frame.FRAME_TYPE_ROW
    bounds = [_read_bound(frame.lower, _ALL[0]), _read_bound(frame.upper, _ALL[1])]
    if name in _OFFSETS:
        rows, bounds = True, _offset(window, _OFFSETS[name][1])
    elif not window.HasField("frame_spec"):
        rows = name in _RANKS
        ends = _UP_TO_HERE if rows or window.order_spec else _ALL
        bounds = [_tree(end) for end in ends]
    frame_type = _object("RowFrame$" if rows else "RangeFrame$")
    return _tree("SpecifiedWindowFrame", *bounds, frameType=frame_type)


def _read_bound(bound: Expression, unbounded: str) -> Tree:
    kind = bound.WhichOneof("boundary")
    if kind == "current_row":
        return _tree("CurrentRow$")
    number = None if kind == "unbounded" else _literal(bound.value)
    return number or _tree(unbounded)


def _offset(window: Expression, direction: int) -> list[Tree]:
    """Return the row that ``lag`` and ``lead`` read; any row if the offset is not known."""
    arguments = window.window_function.unresolved_function.arguments
    value = _literal(arguments[1]) if len(arguments) > 1 else _number(1)
    if value is None:
        return [_tree(end) for end in _ALL]
    place = _number(int(value[0]["value"]) * direction)
    return [place, place]


def _literal(expression: Expression) -> Tree | None:
    """Return a whole number as a literal; None for anything else."""
    if expression.WhichOneof("expr_type") != "literal":
        return None
    kind = expression.literal.WhichOneof("literal_type")
    if kind not in ("byte", "short", "integer", "long"):
        return None
    return _number(int(getattr(expression.literal, kind)))


def _number(value: int) -> Tree:
    return make_tree(LITERAL, dataType="long", value=value)


def _tree(name: str, *parts: Tree, **fields: object) -> Tree:
    return make_tree(EXPRESSIONS + name, *parts, **fields)


def _object(name: str) -> JsonNode:
    return {"object": EXPRESSIONS + name}
