# SPDX-License-Identifier: Apache-2.0
"""Trusted. Columns, constants, names, casts and shared subexpressions."""

from __future__ import annotations

from presieve.sql.expressions.entry import Entry, never_raising

ATTRIBUTE = never_raising("AttributeReference", 0)
LITERAL = never_raising("Literal", 0)
ALIAS = never_raising("Alias", 1)
SORT_ORDER = never_raising("SortOrder")
CAST = Entry("Cast", 1)
RAISE_ERROR = Entry("RaiseError")

WITH = never_raising("With", 2)
COMMON_DEFINITION = never_raising("CommonExpressionDef", 1)
COMMON_REFERENCE = never_raising("CommonExpressionRef", 0)

ONE_OF = never_raising("presieve.OneOf")
"""Not Spark's. Stands for a column with the value of one of the children, whichever it is."""
IN_BETWEEN = never_raising("presieve.Between")
"""Not Spark's. Stands for a column with a value from one child's to the other's, never NULL."""
GENERATED = (ONE_OF, IN_BETWEEN)
