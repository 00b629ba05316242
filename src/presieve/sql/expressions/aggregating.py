# SPDX-License-Identifier: Apache-2.0
"""Trusted. Aggregate functions. The SQL names are those whose meaning is known
(:mod:`presieve.semantics.aggregates`).
"""

from __future__ import annotations

from presieve.sql.expressions.entry import Entry, always

_DOUBLES = ("float", "double")
_NUMBERS = ("tinyint", "smallint", "int", "bigint", *_DOUBLES)

CALL = always("aggregate.AggregateExpression")
"""Its children are the function and, with FILTER, the condition."""
MAX = always("aggregate.Max", sql="max")
MIN = always("aggregate.Min", sql="min")
COUNT = always("aggregate.Count", sql="count")
COUNT_IF = always("aggregate.CountIf", sql="count_if")
BOOL_OR = always("aggregate.BoolOr", sql="bool_or")
BOOL_AND = always("aggregate.BoolAnd", sql="bool_and")
SUM = Entry("aggregate.Sum", sql="sum", total=_DOUBLES)
MAX_BY = always("aggregate.MaxBy", sql="max_by")
MIN_BY = always("aggregate.MinBy", sql="min_by")
KNOWN = (MAX, MIN, COUNT, COUNT_IF, BOOL_OR, BOOL_AND, SUM, MAX_BY, MIN_BY)
"""Functions with a fold."""
AVERAGE = Entry("aggregate.Average", sql="avg", total=_NUMBERS)
ANY_VALUE = always("aggregate.AnyValue")
FIRST = always("aggregate.First")
LAST = always("aggregate.Last")
COLLECT_LIST = always("aggregate.CollectList")
COLLECT_SET = always("aggregate.CollectSet")
COUNT_DISTINCT_ABOUT = always("aggregate.HyperLogLogPlusPlus", sql="approx_count_distinct")
STDDEV_POP = always("aggregate.StddevPop")
STDDEV_SAMP = always("aggregate.StddevSamp")
VARIANCE_POP = always("aggregate.VariancePop")
VARIANCE_SAMP = always("aggregate.VarianceSamp")
