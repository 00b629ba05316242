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
"""Not Spark's. Stands for a column that has the value of one of the children; which one is not
known.
"""
IN_BETWEEN = always("presieve.Between")
"""Not Spark's. Stands for a column whose value is one of the two children's or between them;
neither is NULL.
"""
GENERATED = (ONE_OF, IN_BETWEEN)
