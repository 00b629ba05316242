# SPDX-License-Identifier: Apache-2.0
"""Trusted. SQL integers cast to decimals, so that their sums neither overflow nor round.

``CAST(a AS DECIMAL(20,0)) + CAST(b AS DECIMAL(20,0))`` is a DECIMAL(21,0), which holds every sum
of two bigints, with ANSI mode on and off. The type of a product of two bigints would have 41
digits, of which Spark keeps 38 (``DecimalType.bounded``, ``adjustPrecisionScale``); no such product
needs more. Sources: ``Add``, ``Subtract`` and ``Multiply`` in Spark 4.3's ``arithmetic.scala``, and
``DecimalPrecisionTypeCoercion``.
"""

from __future__ import annotations

import decimal

from presieve.errors import DeclineSignal
from presieve.ir.ops import app
from presieve.ir.sorts import INT, Decimal, strip
from presieve.ir.terms import App, Lit, Op, Term, Var, lit, none_lit
from presieve.semantics.types import MAX_DIGITS, decimal_type
from presieve.semantics.values import INT_RANGES
from presieve.sql.operands import AsDecimal, Constant, Operand, Width, mismatch

BIGINT_DIGITS = 20
"""The digits of the decimal type that Spark gives a bigint."""

_OF_INTEGERS = {
    Op.SQL_FLOAT_ADD: Op.SQL_INT_ADD,
    Op.SQL_FLOAT_SUB: Op.SQL_INT_SUB,
    Op.SQL_FLOAT_MUL: Op.SQL_INT_MUL,
}


BIGINT = Width.of_integer("bigint", BIGINT_DIGITS)
"""The width of a bigint cast to the type that Spark gives one."""


def arithmetic(op: Op, a: Operand, b: Operand) -> AsDecimal:
    """``a op b`` (``op`` is the operator of doubles), where one operand is cast to a decimal. The
    result's type holds every value. Raises :class:`DeclineSignal`.
    """
    meant = _OF_INTEGERS[op]
    width = _width(a).combine(meant, _width(b))
    if width is None:
        raise DeclineSignal("sql-unsupported", f"a decimal of more than {MAX_DIGITS} digits")
    return AsDecimal(app(meant, read_integer(a), read_integer(b)), width)


def widen_to_decimal(operand: Operand, type_: str, width: str = "bigint") -> AsDecimal:
    """``CAST(operand AS type_)`` from an integer type to a decimal type that holds all its values.
    Raises :class:`DeclineSignal`.
    """
    digits = decimal_type(type_)
    if digits is not None and digits[1] == 0:
        if isinstance(operand, AsDecimal) and operand.width.digits <= digits[0]:
            return AsDecimal(operand.term, Width(digits[0], operand.width.most))
        is_integer = isinstance(operand, Var | App) and strip(operand.sort) == INT
        if isinstance(operand, Var | App) and is_integer and digits[0] >= longest(width):
            return AsDecimal(operand, Width.of_integer(width, digits[0]))
    raise DeclineSignal(
        "sql-unsupported",
        f"CAST to {type_} is supported for literals, and of integers to decimal(20,0)",
    )


def longest(width: str) -> int:
    """The most digits of an integer of a type."""
    return max(len(str(abs(end))) for end in INT_RANGES[width])


def _width(operand: Operand) -> Width:
    if isinstance(operand, AsDecimal):
        return operand.width
    if isinstance(operand, Constant) and operand.kind != "void":
        return Width(_digits(operand), abs(_whole_number(operand)))
    raise DeclineSignal("sql-unsupported", "arithmetic on NULL")


def read_integer(operand: Operand) -> Term:
    """An operand as an integer, beside one that is cast to a decimal."""
    match operand:
        case AsDecimal(term):
            return term
        case Constant("void", _):
            return none_lit(INT)
        case Lit(sort, None) if strip(sort) == Decimal(0):  # as in Spark's tree
            return none_lit(INT)
        case Constant():
            return lit(INT, _whole_number(operand))
    raise DeclineSignal(
        "sql-types", "an integer cast to a decimal is compared with another type; cast that, too"
    )


def _whole_number(constant: Constant) -> int:
    """An integer, or a decimal of at most 38 digits, none of them after the point."""
    value = constant.value
    if constant.kind == "decimal" and isinstance(value, decimal.Decimal):
        if value.as_tuple().exponent == 0 and _digits(constant) <= MAX_DIGITS:
            return int(value)
    elif constant.kind == "int" and isinstance(value, int):
        return value
    raise mismatch(constant, INT)


def _digits(constant: Constant) -> int:
    """The most digits of the type that Spark gives a whole number; for an int at least 20."""
    if isinstance(constant.value, decimal.Decimal):
        return max(len(constant.value.as_tuple().digits), constant.whole)
    return max(len(str(constant.value)), BIGINT_DIGITS)
