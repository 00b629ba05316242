# SPDX-License-Identifier: Apache-2.0
"""Trusted. Expressions that give the value of one of their operands."""

from __future__ import annotations

from presieve.sql.expressions.entry import never_raising

CASE = never_raising("CaseWhen")
IF = never_raising("If", 3)
CASES = (CASE, IF)
"""Conditions and values alternate, and the last value may have no condition."""
COALESCE = never_raising("Coalesce")
GREATEST = never_raising("Greatest")
LEAST = never_raising("Least")

NVL = never_raising("Nvl", 1)
NVL2 = never_raising("Nvl2", 1)
NULL_IF = never_raising("NullIf", 1)
REPLACED = (NVL, NVL2, NULL_IF)
"""The only child of these is the expression that they stand for."""
NULL_IF_RESULT = never_raising("NullIfResult", 2)
