# SPDX-License-Identifier: Apache-2.0
"""Trusted. Columns, constants, names, casts and shared subexpressions."""

from __future__ import annotations

from presieve.sql.expressions.entry import Entry, always

ATTRIBUTE = always("AttributeReference", 0)
LITERAL = always("Literal", 0)
ALIAS = always("Alias", 1)
SORT_ORDER = always("SortOrder")
CAST = Entry("Cast", 1)
RAISE_ERROR = Entry("RaiseError")

WITH = always("With", 2)
COMMON_DEFINITION = always("CommonExpressionDef", 1)
COMMON_REFERENCE = always("CommonExpressionRef", 0)

ONE_OF = always("presieve.OneOf")
"""Not Spark's. Stands for a column with the value of one of the children, whichever it is."""
IN_BETWEEN = always("presieve.Between")
"""Not Spark's. Stands for a column with a value from one child's to the other's, never NULL."""
GENERATED = (ONE_OF, IN_BETWEEN)
