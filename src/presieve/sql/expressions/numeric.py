# SPDX-License-Identifier: Apache-2.0
"""Trusted. Arithmetic. The operators in the IR are those of doubles."""

from __future__ import annotations

from presieve.ir.terms import Op
from presieve.sql.expressions.entry import Entry, never_raising

_DOUBLES = ("float", "double")

ADD = Entry("Add", 2, Op.SQL_FLOAT_ADD, never_raises=_DOUBLES)
SUBTRACT = Entry("Subtract", 2, Op.SQL_FLOAT_SUB, never_raises=_DOUBLES)
MULTIPLY = Entry("Multiply", 2, Op.SQL_FLOAT_MUL, never_raises=_DOUBLES)
DIVIDE = Entry("Divide", 2, Op.SQL_FLOAT_DIV)
TRY_DIVIDE = never_raising("TryDivide", 1)
"""Around the division that it stands for, which has no result where it would raise."""
UNARY_MINUS = Entry("UnaryMinus", 1, never_raises=_DOUBLES)
ABS = Entry("Abs", 1, never_raises=_DOUBLES)
OF_ONE_TYPE = (ADD, SUBTRACT, MULTIPLY, DIVIDE, UNARY_MINUS, ABS)
"""Arithmetic of one type, also that of the result. On doubles only a division by zero raises."""

INTEGRAL_DIVIDE = Entry("IntegralDivide", 2, result="bigint")
REMAINDER = Entry("Remainder", 2)
PMOD = Entry("Pmod", 2, sql="pmod")
FLOOR = Entry("Floor", 1)
CEIL = Entry("Ceil", 1)
SQRT = Entry("Sqrt", 1)
