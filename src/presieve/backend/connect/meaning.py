# SPDX-License-Identifier: Apache-2.0
"""Trusted. The meaning of Spark Connect's expressions, by the rules for SQL text.

The client sends expressions before analysis: names of functions and columns, and literals without
implicit casts. SQL text has the same, and the server treats both alike. So the rules are those of
:mod:`presieve.sql` (``coerce``, ``conditional``, ``constants``), and none are here.
"""

from __future__ import annotations

from typing import Any

from presieve.backend.connect.resolved_plan import Expression
from presieve.backend.connect.scope import OperatorScope
from presieve.errors import Declined, DeclineSignal
from presieve.ir.ops import app
from presieve.ir.terms import FALSE, SQL_FALSE, SQL_TRUE, TRUE, Op, Term, Var
from presieve.plan.algebra import variable_of
from presieve.semantics.values import INTEGERS, text_of
from presieve.sql import coerce, conditional
from presieve.sql.coerce import arithmetic, compare, flat, membership, truth
from presieve.sql.conditional import nan_test, null_test
from presieve.sql.operands import NULL, Constant, Operand
from presieve.sql.parse import COMPARISONS, parse_operand
from presieve.sql.sql_literals import FUNCTIONS, cast, decimal
from presieve.sql.whole_decimals import widen_to_decimal

ARITHMETIC = {
    "+": Op.SQL_FLOAT_ADD,
    "-": Op.SQL_FLOAT_SUB,
    "*": Op.SQL_FLOAT_MUL,
    "/": Op.SQL_FLOAT_DIV,
}
MAX_DEPTH = 50


def meaning(expression: Expression, scope: OperatorScope) -> Term | Declined:
    """Return the expression over attribute variables. Codes: those of
    :func:`presieve.sql.parse.parse_predicate`, and ``column-type``.
    """
    try:
        term = coerce.expression(operand(expression, scope), "an expression")
    except DeclineSignal as signal:
        return signal.declined
    return SQL_TRUE if term == TRUE else SQL_FALSE if term == FALSE else term


def operand(expression: Expression, scope: OperatorScope, depth: int = 0) -> Operand:
    """Return the expression before it has met the other operand. Raises :class:`DeclineSignal`."""
    if depth > MAX_DEPTH:
        raise DeclineSignal("sql-unsupported", "the expression is nested too deeply")
    kind = expression.WhichOneof("expr_type")
    if kind == "literal":
        return _literal(expression.literal, scope.timezone)
    if kind in ("unresolved_attribute", "unresolved_extract_value"):
        return column(expression, scope)
    if kind == "expression_string":
        return _text(str(expression.expression_string.expression), scope)
    if kind == "alias" and len(expression.alias.name) == 1:
        return operand(expression.alias.expr, scope, depth + 1)
    if kind == "cast":
        return _cast(expression.cast, scope, depth)
    if kind == "unresolved_function":
        return _function(expression.unresolved_function, scope, depth)
    what = "a Python function" if str(kind).startswith("common_inline") else kind
    raise DeclineSignal("sql-unsupported", f"{what} is not supported")


def column(expression: Expression, scope: OperatorScope) -> Var:
    """Return the variable of a column. Raises :class:`DeclineSignal`."""
    if expression.WhichOneof("expr_type") == "unresolved_attribute":
        attribute = scope.find(expression.unresolved_attribute).attribute
    else:
        attribute = scope.find_field(expression).attribute
    variable = variable_of(attribute)
    if variable is None:
        reason = f"values of type {attribute.type} are not supported"
        raise DeclineSignal("column-type", reason)
    return variable


def _literal(literal: Expression, timezone: str) -> Operand:
    kind = literal.WhichOneof("literal_type")
    value: Any = None if kind is None else getattr(literal, kind)
    match kind:
        case "null":
            type_ = type_name(value)
            return NULL if type_ == "void" else cast(NULL, type_, timezone)
        case "boolean" | "string" | "double" | "date" | "timestamp" | "timestamp_ntz":
            return Constant(kind, value)
        case "byte" | "short" | "integer" | "long":
            return Constant("int", value)
        case "decimal" if value.HasField("precision") and value.HasField("scale"):
            type_ = f"decimal({value.precision},{value.scale})"
            return cast(Constant("decimal", decimal(value.value)), type_, timezone)
        case "binary":
            return Constant("binary", text_of(value))
    raise DeclineSignal("sql-unsupported", f"a literal of the type {kind} is not supported")


def type_name(message: Expression) -> str:
    """Return the simple name of a ``spark.connect.DataType``. Raises :class:`DeclineSignal`."""
    from pyspark.errors import PySparkException
    from pyspark.sql.connect.types import proto_schema_to_pyspark_data_type

    try:
        return proto_schema_to_pyspark_data_type(message).simpleString()
    except PySparkException as error:
        raise DeclineSignal("column-type", "a type is not supported") from error


def _text(text: str, scope: OperatorScope) -> Operand:
    """Read an expression from SQL text. Spark replaces ``${...}`` in it by settings."""
    if "${" in text:
        raise DeclineSignal("sql-unsupported", "variables in SQL text are not supported")
    return parse_operand(text, scope.all_names(), scope.timezone)


def _cast(message: Expression, scope: OperatorScope, depth: int) -> Operand:
    """Read a cast of a literal, or of another expression to its type or a wider integer type."""
    if message.HasField("type"):
        type_ = type_name(message.type)
    else:
        type_ = str(message.type_str).strip().lower().replace(" ", "")
    inner = operand(message.expr, scope, depth + 1)
    if isinstance(inner, Constant):
        return cast(inner, type_, scope.timezone)
    if isinstance(inner, Var) and message.expr.HasField("unresolved_attribute"):
        from_ = scope.find(message.expr.unresolved_attribute).attribute.type
        if from_ == type_ or _fits(from_, type_):
            return inner
        if type_ != "double":
            return widen_to_decimal(inner, type_, from_ if from_ in INTEGERS else "bigint")
    return coerce.as_double(inner) if type_ == "double" else widen_to_decimal(inner, type_)


def _fits(from_: str, type_: str) -> bool:
    wide = {"integer": "int", "long": "bigint"}.get(type_, type_)
    both = from_ in INTEGERS and wide in INTEGERS
    return both and INTEGERS.index(from_) <= INTEGERS.index(wide)


def _function(message: Expression, scope: OperatorScope, depth: int) -> Operand:
    name = str(message.function_name).lower()
    if message.is_distinct or message.is_user_defined_function:
        raise DeclineSignal("sql-unsupported", f"the function {name} is not supported")
    inner = [operand(a, scope, depth + 1) for a in message.arguments]
    zone = scope.timezone
    match name, inner:
        case _, [left, right] if name in COMPARISONS:
            op, negated = COMPARISONS[name]
            term = compare(op, left, right, zone)
            return app(Op.SQL_NOT, term) if negated else term
        case "and" | "or", [_, _]:
            op = Op.SQL_AND if name == "and" else Op.SQL_OR
            return flat(op, [truth(i) for i in inner])
        case "not" | "!", [one]:
            return app(Op.SQL_NOT, truth(one))
        case "isnull", [one]:
            return null_test(one)
        case "isnotnull", [one]:
            return app(Op.SQL_NOT, null_test(one))
        case "isnan", [one]:
            return nan_test(one)
        case "in", [value, _, *_]:
            return membership(value, inner[1:], zone)
        case _, [left, right] if name in ARITHMETIC:
            return arithmetic(ARITHMETIC[name], left, right, zone)
        case "negative" | "-", [one]:
            return coerce.negative(one)
        case _, [one] if name in FUNCTIONS:
            return FUNCTIONS[name](one)
        case "when", [_, _, *_]:
            otherwise = inner.pop() if len(inner) % 2 else NULL
            whens = list(zip(inner[::2], inner[1::2], strict=True))
            return conditional.case(whens, otherwise, zone)
    if name in conditional.FUNCTIONS:
        least, most, meant = conditional.FUNCTIONS[name]
        if least <= len(inner) <= most:
            return meant(inner, zone)
    raise DeclineSignal("sql-unsupported", f"the function {name} is not supported")
