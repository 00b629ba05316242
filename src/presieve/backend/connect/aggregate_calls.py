# SPDX-License-Identifier: Apache-2.0
"""Trusted. Calls of aggregate functions, Python's and Spark's own, as trees in Catalyst's words."""

from __future__ import annotations

import re
from collections.abc import Sequence

from msgspec import Struct

from presieve.backend.catalyst.native_aggregates import AGGREGATE_EXPRESSION, COMPLETE
from presieve.backend.catalyst.trees import ATTRIBUTE, CAST, EXPRESSIONS, Tree, make_tree
from presieve.backend.connect.builtin_names import AGGREGATES
from presieve.backend.connect.expression_trees import (
    python_udf,
    read_harmless,
    read_tree,
    unknown_tree,
)
from presieve.backend.connect.meaning import meaning, operand
from presieve.backend.connect.resolved_plan import Expression
from presieve.backend.connect.scope import OperatorScope
from presieve.errors import Declined, DeclineSignal
from presieve.ir.terms import int_lit
from presieve.lift import evaluation_types
from presieve.sql.case_values import CaseValue, Value
from presieve.sql.expressions import choices
from presieve.sql.split_sql import arguments as arguments_of

PYTHON_UDAF = EXPRESSIONS + "PythonUDAF"

_NUMERIC = ("byte", "short", "integer", "long", "float", "double")
_OF_NUMBERS = ("Sum", "Average", "StddevSamp", "StddevPop", "VarianceSamp", "VariancePop")
_OF_CONDITIONS = ("CountIf", "BoolOr", "BoolAnd")


def is_aggregate(expression: Expression) -> bool:
    """Whether the expression is one call of an aggregate function."""
    match expression.WhichOneof("expr_type"):
        case "common_inline_user_defined_function":
            function = expression.common_inline_user_defined_function
            python = function.WhichOneof("function") == "python_udf"
            return python and function.python_udf.eval_type in evaluation_types.AGGREGATES
        case "unresolved_function":
            called = expression.unresolved_function
            return str(called.function_name).lower() in AGGREGATES
        case "expression_string":
            return _call_in_text(expression) is not None
    return False


def aggregate_call(expression: Expression, scope: OperatorScope) -> Tree:
    """Return the tree of a call of an aggregate function; anything else becomes unknown."""
    kind = expression.WhichOneof("expr_type")
    if kind == "common_inline_user_defined_function" and is_aggregate(expression):
        function = expression.common_inline_user_defined_function
        tree = python_udf(function, scope)
        tree[0]["class"] = PYTHON_UDAF
        return _aggregate(bool(function.is_distinct), tree)
    if kind == "unresolved_function" and is_aggregate(expression):
        called = expression.unresolved_function
        if not called.is_user_defined_function:
            name = str(called.function_name).lower()
            return _native(name, list(called.arguments), bool(called.is_distinct), scope)
    if kind == "expression_string":
        call = _call_in_text(expression)
        if call is not None:
            tree = _native(call.name, call.arguments, call.distinct, scope)
            return tree if call.condition is None else _add_filter(tree, call.condition, scope)
    return read_tree(expression, scope)


_CALL = re.compile(
    r"\s*([A-Za-z_]\w*)\s*\((.*?)\)(?:\s*FILTER\s*\(\s*WHERE\b(.*)\))?\s*", re.I | re.S
)


class _Call(Struct, frozen=True):
    """A call in SQL text; ``condition`` is the condition of FILTER."""

    name: str
    arguments: list[Expression]
    distinct: bool
    condition: Expression | None


def _call_in_text(expression: Expression) -> _Call | None:
    """Read text such as ``max(v)`` or ``count(*) FILTER (WHERE v > 1)``; None for anything else."""
    match = _CALL.fullmatch(str(expression.expression_string.expression))
    if match is None or match[1].lower() not in AGGREGATES:
        return None
    distinct = _DISTINCT.match(match[2])
    listed = match[2][distinct.end() :] if distinct else match[2]
    inside = [p for p in (listed, match[3]) if p is not None]
    parts = [arguments_of(p) for p in inside]
    if any(not p for p in parts) or (len(parts[-1]) > 1 and len(parts) == 2):
        return None
    arguments = [_value(type(expression), a) for a in parts[0]]
    condition = _value(type(expression), parts[1][0]) if len(parts) == 2 else None
    return _Call(match[1].lower(), arguments, distinct is not None, condition)


_DISTINCT = re.compile(r"\s*DISTINCT\b", re.I)
_WORD = re.compile(r"[A-Za-z_]\w*")
_TO_INT = re.compile(r"int\s*\((.*)\)", re.I | re.S)


def _value(message: type[Expression], text: str) -> Expression:
    """Return a part of a call as a message."""
    expression = message()
    counted = _TO_INT.fullmatch(text)
    if text == "*":
        expression.unresolved_star.SetInParent()
    elif _WORD.fullmatch(text) and text.lower() not in ("null", "true", "false"):
        expression.unresolved_attribute.unparsed_identifier = text
    elif counted is not None and len(arguments_of(counted[1])) == 1:
        expression.cast.type_str = "int"
        expression.cast.expr.CopyFrom(_value(message, counted[1].strip()))
    else:
        expression.expression_string.expression = text
    return expression


def _aggregate(distinct: bool, *parts: Tree) -> Tree:
    """Return the call of a function, with FILTER over its condition, too."""
    return make_tree(AGGREGATE_EXPRESSION, *parts, mode={"object": COMPLETE}, isDistinct=distinct)


def _native(
    name: str, arguments: Sequence[Expression], distinct: bool, scope: OperatorScope
) -> Tree:
    """Return a call of one of Spark's functions, which is unknown if an argument would be cast."""
    kind = AGGREGATES[name]
    if kind == "Count" and [a.WhichOneof("expr_type") for a in arguments] == ["unresolved_star"]:
        children = [read_harmless(int_lit(1), scope)]
    else:
        children = [_read_argument(a, scope) for a in arguments]
    if any(not _fits(kind, child) for child in children):
        why = Declined("native-aggregate", f"the input of {name} is cast to another type")
        return unknown_tree(why, children, deterministic=True)
    return _aggregate(distinct, make_tree(f"{EXPRESSIONS}aggregate.{kind}", *children))


def _add_filter(tree: Tree, condition: Expression, scope: OperatorScope) -> Tree:
    """Add the condition of FILTER as another child."""
    if tree[0]["class"] != AGGREGATE_EXPRESSION:
        return tree
    return _aggregate(bool(tree[0]["isDistinct"]), tree[1:], read_tree(condition, scope))


def _fits(kind: str, child: Tree) -> bool:
    """Whether a column has a type that the function takes without a cast."""
    if child[0]["class"] != ATTRIBUTE:
        return True
    type_ = child[0]["dataType"]
    if kind in _OF_NUMBERS:
        return isinstance(type_, str) and (type_ in _NUMERIC or type_.startswith("decimal("))
    return kind not in _OF_CONDITIONS or type_ == "boolean"


def _read_argument(expression: Expression, scope: OperatorScope) -> Tree:
    """Read an argument. Values chosen by conditions, and counted conditions, keep their form."""
    try:
        meant = operand(expression, scope)
    except DeclineSignal:
        return _read_counted(expression, scope)
    return _choice(meant, scope) if isinstance(meant, CaseValue) else read_tree(expression, scope)


def _choice(value: Value, scope: OperatorScope) -> Tree:
    if not isinstance(value, CaseValue):
        return read_harmless(value, scope)
    values = (_choice(v, scope) for v in (value.then, value.other))
    return make_tree(choices.CASE.class_name, read_harmless(value.condition, scope), *values)


def _read_counted(expression: Expression, scope: OperatorScope) -> Tree:
    """Read ``CAST(condition AS INT)``; other expressions as usual."""
    if expression.WhichOneof("expr_type") != "cast":
        return read_tree(expression, scope)
    wanted = str(expression.cast.type_str).strip().lower()
    if expression.cast.HasField("type"):
        wanted = str(expression.cast.type.WhichOneof("kind"))
    type_ = {"int": "integer", "bigint": "long"}.get(wanted, wanted)
    inner = meaning(expression.cast.expr, scope)
    if type_ not in ("integer", "long") or isinstance(inner, Declined):
        return read_tree(expression, scope)
    return make_tree(CAST, read_harmless(inner, scope), dataType=type_)
