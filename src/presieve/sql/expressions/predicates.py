# SPDX-License-Identifier: Apache-2.0
"""Trusted. Logic, comparisons and tests: expressions that are true, false or NULL.

The scan filters of Spark's data sources have the names of these classes.
"""

from __future__ import annotations

from presieve.ir.terms import Op
from presieve.sql.expressions.entry import Entry, WhenNull, never_raising

AND = Entry("And", 2, Op.SQL_AND, nulls=WhenNull.OF_NULL, never_raises=True)
OR = Entry("Or", 2, Op.SQL_OR, nulls=WhenNull.OF_NULL, never_raises=True)
NOT = Entry("Not", 1, Op.SQL_NOT, nulls=WhenNull.OF_NULL, never_raises=True)
LOGIC = (AND, OR, NOT)


def _comparison(name: str, op: Op, nulls: WhenNull = WhenNull.STRICT) -> Entry:
    return Entry(name, 2, op, nulls=nulls, never_raises=True)


EQUAL = _comparison("EqualTo", Op.SQL_EQ)
LESS = _comparison("LessThan", Op.SQL_LT)
LESS_OR_EQUAL = _comparison("LessThanOrEqual", Op.SQL_LE)
GREATER = _comparison("GreaterThan", Op.SQL_GT)
GREATER_OR_EQUAL = _comparison("GreaterThanOrEqual", Op.SQL_GE)
COMPARISONS = (EQUAL, LESS, LESS_OR_EQUAL, GREATER, GREATER_OR_EQUAL)
EQUAL_NULL_SAFE = _comparison("EqualNullSafe", Op.SQL_EQ_NULLSAFE, WhenNull.NEVER)

MIRRORED = {
    EQUAL: EQUAL,
    LESS: GREATER,
    LESS_OR_EQUAL: GREATER_OR_EQUAL,
    GREATER: LESS,
    GREATER_OR_EQUAL: LESS_OR_EQUAL,
}
"""The comparison that says the same of the operands in the other order."""
OPPOSITE = {
    LESS: GREATER_OR_EQUAL,
    LESS_OR_EQUAL: GREATER,
    GREATER: LESS_OR_EQUAL,
    GREATER_OR_EQUAL: LESS,
}
"""The comparison that is true if this one is false."""

BETWEEN = never_raising("Between", 1)
"""Its only child is the two comparisons that it stands for."""
IN = Entry("In", nulls=WhenNull.OF_NULL, never_raises=True)
IN_SET = never_raising("InSet", 1)
"""``In`` with a set of constants, which is not one of the children."""
IS_NULL = Entry("IsNull", 1, nulls=WhenNull.NEVER, never_raises=True)
IS_NOT_NULL = Entry("IsNotNull", 1, nulls=WhenNull.NEVER, never_raises=True)
IS_NAN = Entry("IsNaN", 1, nulls=WhenNull.NEVER, never_raises=True)
AT_LEAST_N_NON_NULLS = Entry("AtLeastNNonNulls", nulls=WhenNull.NEVER, never_raises=True)
