# SPDX-License-Identifier: Apache-2.0
"""Trusted. Logic, comparisons and tests: expressions that are true, false or NULL.

The scan filters of Spark's data sources have the names of these classes.
"""

from __future__ import annotations

from functools import partial

from presieve.ir.terms import Op
from presieve.sql.expressions.entry import Entry, WhenNull

_predicate = partial(Entry, result="boolean", never_raises=True)

AND = _predicate("And", 2, Op.SQL_AND, nulls=WhenNull.OF_NULL)
OR = _predicate("Or", 2, Op.SQL_OR, nulls=WhenNull.OF_NULL)
NOT = _predicate("Not", 1, Op.SQL_NOT, nulls=WhenNull.OF_NULL)
LOGIC = (AND, OR, NOT)


def _comparison(name: str, op: Op, nulls: WhenNull = WhenNull.STRICT) -> Entry:
    return _predicate(name, 2, op, nulls=nulls)


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

BETWEEN = _predicate("Between", 1)
"""Its only child is the two comparisons that it stands for."""
IN = _predicate("In", nulls=WhenNull.OF_NULL)
IN_SET = _predicate("InSet", 1)
"""``In`` with a set of constants, which is not one of the children."""
IS_NULL = _predicate("IsNull", 1, nulls=WhenNull.NEVER)
IS_NOT_NULL = _predicate("IsNotNull", 1, nulls=WhenNull.NEVER)
IS_NAN = _predicate("IsNaN", 1, nulls=WhenNull.NEVER)
AT_LEAST_N_NON_NULLS = _predicate("AtLeastNNonNulls", nulls=WhenNull.NEVER)
