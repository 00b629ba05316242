# SPDX-License-Identifier: Apache-2.0
"""Trusted. Defines the meaning of every operator of the IR on values.

Other implementations (:mod:`presieve.semantics.fast_interpreter`, the solver's encoding) are tested
against this one.

Sources: the Python language reference for ``PY_*``; Spark 4.3's ``SQLOrderingUtil`` and
``predicates.scala`` for ``SQL_*`` (NaN equals NaN and is greater than every other double, -0.0
equals 0.0; AND, OR and NOT are Kleene's).
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from presieve.ir.terms import Op
from presieve.semantics import pairwise_sums
from presieve.semantics.function_meanings import FUNCTIONS
from presieve.semantics.function_meanings import Undefined as Undefined
from presieve.semantics.values import Value, same

# Values have the right sorts here, because terms are well-sorted by construction; the operators
# below are typed loosely so that the table reads as a table.
Meaning = Callable[..., Any]


def _get(x: Value) -> Value:
    if x is None:
        raise Undefined("the value of none")
    return x


def _nonzero(f: Meaning) -> Meaning:
    def checked_operation(a: Any, b: Any) -> Any:
        if b == 0:
            raise Undefined("a division by zero")
        return f(a, b)

    return checked_operation


def _int_to_float(x: int) -> float:
    try:
        return float(x)
    except OverflowError:
        raise Undefined("an integer too large for a float") from None


def sql_order(a: Any, b: Any) -> int:
    """-1, 0 or 1, in Spark's order of non-null values: NaN is greatest and equals itself."""
    if isinstance(a, float) and isinstance(b, float):
        if math.isnan(a) or math.isnan(b):
            return int(math.isnan(a)) - int(math.isnan(b))
    return int(a > b) - int(a < b)


def _sql_and(*xs: bool | None) -> bool | None:
    if any(x is False for x in xs):
        return False
    return None if any(x is None for x in xs) else True


def _sql_or(*xs: bool | None) -> bool | None:
    if any(x is True for x in xs):
        return True
    return None if any(x is None for x in xs) else False


def _strict(f: Meaning) -> Meaning:
    """Make a function NULL where an argument is NULL."""
    return lambda *xs: None if any(x is None for x in xs) else f(*xs)


def _eq_nullsafe(a: Value, b: Value) -> bool:
    if a is None or b is None:
        return a is None and b is None
    return sql_order(a, b) == 0


MEANINGS: dict[Op, Meaning] = {
    Op.NOT: lambda x: not x,
    Op.AND: lambda *xs: all(xs),
    Op.OR: lambda *xs: any(xs),
    Op.IMPLIES: lambda a, b: not a or b,
    Op.SAME: same,
    Op.SOME: lambda x: x,
    Op.IS_NONE: lambda x: x is None,
    Op.GET: _get,
    Op.TUPLE: lambda *xs: xs,
    Op.ITEM: lambda x, i: x[i],
    Op.PY_EQ: lambda a, b: a == b,
    Op.PY_LT: lambda a, b: a < b,
    Op.PY_LE: lambda a, b: a <= b,
    Op.PY_GT: lambda a, b: a > b,
    Op.PY_GE: lambda a, b: a >= b,
    Op.INT_ADD: lambda a, b: a + b,
    Op.INT_SUB: lambda a, b: a - b,
    Op.INT_MUL: lambda a, b: a * b,
    Op.INT_NEG: lambda a: -a,
    Op.INT_FLOORDIV: _nonzero(lambda a, b: a // b),
    Op.INT_MOD: _nonzero(lambda a, b: a % b),
    Op.FLOAT_ADD: lambda a, b: a + b,
    Op.FLOAT_SUB: lambda a, b: a - b,
    Op.FLOAT_MUL: lambda a, b: a * b,
    Op.FLOAT_DIV: _nonzero(lambda a, b: a / b),
    Op.FLOAT_NEG: lambda a: -a,
    Op.INT_TO_FLOAT: _int_to_float,
    Op.IS_NAN: math.isnan,
    Op.OPEN_ZERO: lambda x, is_open: 0.0 if is_open and x == 0 else x,
    Op.INSTANT: lambda local, ahead: local - ahead,
    Op.DECIMAL_WIDEN: lambda a, k: a * 10**k,
    Op.SEQ_EMPTY: lambda: (),
    Op.SEQ_ADD: lambda xs, x: (*xs, x),
    Op.SEQ_SUM: pairwise_sums.total,
    Op.SEQ_VAR: pairwise_sums.variance,
    Op.SEQ_STD: pairwise_sums.deviation,
    Op.SEQ_MEDIAN: pairwise_sums.median,
    Op.SQL_AND: _sql_and,
    Op.SQL_OR: _sql_or,
    Op.SQL_NOT: _strict(lambda x: not x),
    Op.SQL_EQ: _strict(lambda a, b: sql_order(a, b) == 0),
    Op.SQL_EQ_NULLSAFE: _eq_nullsafe,
    Op.SQL_LT: _strict(lambda a, b: sql_order(a, b) < 0),
    Op.SQL_LE: _strict(lambda a, b: sql_order(a, b) <= 0),
    Op.SQL_GT: _strict(lambda a, b: sql_order(a, b) > 0),
    Op.SQL_GE: _strict(lambda a, b: sql_order(a, b) >= 0),
    Op.SQL_IS_NULL: lambda x: x is None,
    Op.SQL_IS_NAN: lambda x: x is not None and math.isnan(x),
    Op.SQL_IS_NEGATIVE_ZERO: _strict(lambda x: x == 0 and math.copysign(1.0, x) < 0),
    Op.SQL_FLOAT_ADD: _strict(lambda a, b: a + b),
    Op.SQL_FLOAT_SUB: _strict(lambda a, b: a - b),
    Op.SQL_FLOAT_MUL: _strict(lambda a, b: a * b),
    Op.SQL_FLOAT_DIV: _strict(_nonzero(lambda a, b: a / b)),
    Op.SQL_INT_TO_FLOAT: _strict(_int_to_float),
    Op.SQL_INT_ADD: _strict(lambda a, b: a + b),
    Op.SQL_INT_SUB: _strict(lambda a, b: a - b),
    Op.SQL_INT_MUL: _strict(lambda a, b: a * b),
    Op.SQL_IS_TRUE: lambda x: x is True,
    **{op: _strict(meaning) for op, meaning in FUNCTIONS.items()},
}
"""Every operator but ITE, which is lazy and lives in the interpreter."""
