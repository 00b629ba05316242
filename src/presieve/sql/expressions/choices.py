# SPDX-License-Identifier: Apache-2.0
"""Trusted. Expressions that give the value of one of their operands."""

from __future__ import annotations

from presieve.sql.expressions.entry import always

CASE = always("CaseWhen")
IF = always("If", 3)
CASES = (CASE, IF)
"""Conditions and values alternate, and the last value may have no condition."""
COALESCE = always("Coalesce")
GREATEST = always("Greatest")
LEAST = always("Least")

NVL = always("Nvl", 1)
NVL2 = always("Nvl2", 1)
NULL_IF = always("NullIf", 1)
REPLACED = (NVL, NVL2, NULL_IF)
"""The only child of these is the expression that they stand for."""
NULL_IF_RESULT = always("NullIfResult", 2)
