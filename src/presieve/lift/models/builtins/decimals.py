# SPDX-License-Identifier: Apache-2.0
"""Trusted. Decimals in Python: comparison is exact, by value; arithmetic rounds and is declined.

Source: the ``decimal`` module's documentation and ``_pydecimal.py``, CPython 3.11. A comparison
with an int, a float or a decimal of another scale neither rounds nor uses the context, unless a NaN
is ordered, which raises.
"""

from __future__ import annotations

import decimal
import math
from fractions import Fraction

from presieve.errors import DeclineSignal
from presieve.ir.ops import app
from presieve.ir.sorts import BOOL, FLOAT, INT, Decimal
from presieve.ir.terms import FALSE, TRUE, Lit, Op, Term, bits_float, literal_value
from presieve.lift.execution.state import ModelCall
from presieve.lift.models.registry import function
from presieve.lift.python.names import scalar_constant
from presieve.lift.values.symbolic import Scalar, Value, describe
from presieve.semantics.smart_constructors import widen_decimal

_MIRRORED = {
    Op.PY_EQ: Op.PY_EQ,
    Op.PY_LT: Op.PY_GT,
    Op.PY_LE: Op.PY_GE,
    Op.PY_GT: Op.PY_LT,
    Op.PY_GE: Op.PY_LE,
}


def compare_decimals(op: Op, a: Scalar, b: Scalar) -> Term | None:
    """Evaluate ``a op b`` where one of the two is a decimal and neither is None.

    None if the other is not a number. Declines comparisons with columns of other numeric types.
    """
    if isinstance(a.term, Lit) and not isinstance(b.term, Lit):
        return compare_decimals(_MIRRORED[op], b, a)
    x, y = a.base, b.base
    if isinstance(x, Decimal) and isinstance(b.term, Lit) and _is_number(b):
        return _with_constant(op, a.term, x.scale, _exact(b.term))
    if isinstance(x, Decimal) and isinstance(y, Decimal):
        scale = max(x.scale, y.scale)
        return app(op, widen_decimal(a.term, scale), widen_decimal(b.term, scale))
    if not (_is_number(a) and _is_number(b)):
        return None
    reason = f"comparing {describe(a)} with {describe(b)}: start variables with Decimal(0) or None"
    raise DeclineSignal("unsupported-operation", reason)


def _is_number(value: Scalar) -> bool:
    return value.base in (BOOL, INT, FLOAT) or isinstance(value.base, Decimal)


def _exact(literal: Lit) -> Fraction | float:
    """Return the exact number, or a float if it is infinite. Declines NaN."""
    if isinstance(literal.sort, Decimal):
        return Fraction(int(literal.value or 0), 10**literal.sort.scale)
    if literal.sort != FLOAT:
        return Fraction(int(literal.value or 0))
    number = bits_float(int(literal.value or 0))
    if math.isnan(number):
        raise DeclineSignal("unsupported-operation", "comparing a decimal with NaN")
    return number if math.isinf(number) else Fraction(number)


def _with_constant(op: Op, term: Term, scale: int, number: Fraction | float) -> Term:
    """Return the equivalent comparison with the nearest constant of the term's own scale."""
    if isinstance(number, float):
        below = op in (Op.PY_LT, Op.PY_LE) if number > 0 else op in (Op.PY_GT, Op.PY_GE)
        return TRUE if below else FALSE
    units = number * 10**scale
    if op is Op.PY_EQ and units.denominator != 1:
        return FALSE
    rounded = math.ceil(units) if op in (Op.PY_LT, Op.PY_GE) else math.floor(units)
    return app(op, term, Lit(Decimal(scale), rounded))


@function("decimal.Decimal")
def decimal_of(call: ModelCall) -> Value:
    """``Decimal("90.5")`` of a constant: exact, whatever the context's precision."""
    match call.args:
        case (Scalar(Lit() as literal) as argument,):
            pass
        case _:
            raise call.decline("unsupported-operation", "a decimal is built from one constant")
    if isinstance(argument.base, Decimal):
        return argument
    value = literal_value(literal)
    try:
        decimal_value = decimal.Decimal(value)  # type: ignore[arg-type]
    except (TypeError, ValueError, ArithmeticError) as e:
        raise call.decline("always-raises", f"Decimal({value!r}) raises") from e
    constant = scalar_constant(decimal_value, call.m.columns.zone)
    if constant is None:
        raise call.decline("unsupported-constant", "a decimal that no column of Spark holds")
    return constant
