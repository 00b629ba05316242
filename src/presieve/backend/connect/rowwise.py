# SPDX-License-Identifier: Apache-2.0
"""Trusted. The check that expressions give one value for each row, whatever the other rows are.

A projection with other expressions is something else on the server: an aggregate, a window or a
generator.
"""

from __future__ import annotations

from collections.abc import Sequence

from presieve.backend.connect.builtin_names import SCALAR
from presieve.backend.connect.expression_trees import calls_known
from presieve.backend.connect.resolved_plan import Expression
from presieve.errors import Declined
from presieve.lift.evaluation_types import ROWWISE

_LEAVES = ("literal", "unresolved_attribute", "unresolved_star")


def not_rowwise(expressions: Sequence[Expression]) -> Declined | None:
    """Return why an expression is not known to be a function of one row, or None if all are."""
    for expression in expressions:
        why = _look(expression)
        if why is not None:
            return why
    return None


def _look(expression: Expression) -> Declined | None:
    kind = expression.WhichOneof("expr_type")
    if kind in _LEAVES:
        return None
    if kind == "alias" and len(expression.alias.name) == 1:
        return _look(expression.alias.expr)
    if kind == "cast":
        return _look(expression.cast.expr)
    if kind == "unresolved_extract_value":
        parts = expression.unresolved_extract_value
        return not_rowwise([parts.child, parts.extraction])
    if kind == "expression_string":
        text = str(expression.expression_string.expression)
        return None if calls_known(text, SCALAR) else _decline(f"the SQL text {text!r}")
    if kind == "unresolved_function":
        called = expression.unresolved_function
        name = str(called.function_name)
        plain = not called.is_distinct and not called.is_user_defined_function
        if not plain or name.lower() not in SCALAR:
            return _decline(f"the function {name}")
        return not_rowwise(list(called.arguments))
    if kind == "common_inline_user_defined_function":
        function = expression.common_inline_user_defined_function
        name = str(function.function_name)
        scalar = function.WhichOneof("function") == "python_udf"
        if not scalar or function.python_udf.eval_type not in ROWWISE:
            return _decline(f"the function {name}")
        return not_rowwise([_value(a) for a in function.arguments])
    return _decline(f"an expression ({kind})")


def _value(argument: Expression) -> Expression:
    named = argument.WhichOneof("expr_type") == "named_argument_expression"
    return argument.named_argument_expression.value if named else argument


def _decline(what: str) -> Declined:
    reason = f"nothing is known here of {what}, which need not be deterministic, or of one row"
    return Declined("nondeterministic", reason)
