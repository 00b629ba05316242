# SPDX-License-Identifier: Apache-2.0
"""Trusted. Windows and generators among the columns of a projection. The analyzer takes them out of
it and puts an operator for each below (``ExtractWindowExpressions``, ``ExtractGenerator``).
"""

from __future__ import annotations

from collections.abc import Sequence

from presieve.backend.catalyst.operators import GENERATE, WINDOW
from presieve.backend.catalyst.trees import JsonNode, Tree
from presieve.backend.connect.builtin_names import AGGREGATES, GENERATORS, WINDOW_FUNCTIONS
from presieve.backend.connect.expression_trees import (
    alias,
    read_tree,
    unknown_tree,
    with_expressions,
)
from presieve.backend.connect.resolved_plan import Expression, Operator, ResolvedColumn
from presieve.backend.connect.rowwise import not_rowwise
from presieve.backend.connect.scope import OperatorScope
from presieve.backend.connect.windows import sort_orders, window_expression
from presieve.errors import Declined


def is_taken_out(expression: Expression) -> bool:
    """Whether a whole column is a known window function or generator over functions of one row."""
    if expression.WhichOneof("expr_type") == "window":
        return _is_window(expression.window)
    return _is_generator(expression) and not_rowwise(_arguments(expression)) is None


def not_together(expressions: Sequence[Expression]) -> Declined | None:
    """Return why columns cannot be taken out together: neither all windows nor a sole generator."""
    taken = [e for e in expressions if is_taken_out(e)]
    if len(taken) > 1 and any(_is_generator(e) for e in taken):
        return Declined("operator", "a generator next to a window or another generator")
    return None


def take_out(
    expression: Expression, field: ResolvedColumn, scope: OperatorScope, child: Operator
) -> Operator:
    """Return the operator over ``child`` that computes ``field`` from the columns of ``scope``."""
    if expression.WhichOneof("expr_type") == "window":
        kind, fields, trees = WINDOW, *_window(expression.window, field, scope)
    else:
        kind, fields, trees = GENERATE, *_generate(expression, field, scope)
    operator = Operator(kind, fields, (child,), (*child.output, field), None)
    return with_expressions(operator, trees)


def _is_window(window: Expression) -> bool:
    function = window.window_function
    if function.WhichOneof("expr_type") != "unresolved_function":
        return False
    called = function.unresolved_function
    name = str(called.function_name).lower()
    is_known = name in WINDOW_FUNCTIONS or name in AGGREGATES
    if not is_known or called.is_distinct or called.is_user_defined_function:
        return False
    bounds = [window.frame_spec.lower, window.frame_spec.upper]
    if any(b.HasField("value") and b.value.WhichOneof("expr_type") != "literal" for b in bounds):
        return False
    return not_rowwise(_read_by(window)) is None


def _read_by(window: Expression) -> list[Expression]:
    order = [o.child for o in window.order_spec]
    arguments = _arguments(window.window_function)
    if str(window.window_function.unresolved_function.function_name).lower() == "count":
        arguments = [a for a in arguments if a.WhichOneof("expr_type") != "unresolved_star"]
    return [*arguments, *window.partition_spec, *order]


def _is_generator(expression: Expression) -> bool:
    if expression.WhichOneof("expr_type") != "unresolved_function":
        return False
    called = expression.unresolved_function
    plain = not called.is_distinct and not called.is_user_defined_function
    return plain and str(called.function_name).lower() in GENERATORS


def _arguments(expression: Expression) -> list[Expression]:
    return list(expression.unresolved_function.arguments)


def _window(
    window: Expression, field: ResolvedColumn, scope: OperatorScope
) -> tuple[JsonNode, list[Tree]]:
    tree = window_expression(window, scope)
    partition = [read_tree(e, scope) for e in window.partition_spec]
    order = sort_orders(window.order_spec, scope)
    fields: JsonNode = {
        "windowExpressions": [alias(field.id, field.name, tree)],
        "partitionSpec": partition,
        "orderSpec": order,
    }
    return fields, [tree, *partition, *order]


def _generate(
    expression: Expression, field: ResolvedColumn, scope: OperatorScope
) -> tuple[JsonNode, list[Tree]]:
    why = Declined("operator", "the results of generators are not known")
    inner = [read_tree(e, scope) for e in _arguments(expression)]
    tree = unknown_tree(why, inner, deterministic=True)
    return {"generator": tree, "generatorOutput": [field.tree]}, [tree]
