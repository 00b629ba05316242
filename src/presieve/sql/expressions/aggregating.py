# SPDX-License-Identifier: Apache-2.0
"""Trusted. Aggregate functions. The SQL names are those whose meaning is known
(:mod:`presieve.semantics.aggregates`).
"""

from __future__ import annotations

from presieve.sql.expressions.entry import Entry, never_raising

_DOUBLES = ("float", "double")
_NUMBERS = ("tinyint", "smallint", "int", "bigint", *_DOUBLES)

CALL = never_raising("aggregate.AggregateExpression")
"""Its children are the function and, with FILTER, the condition."""
MAX = never_raising("aggregate.Max", sql="max")
MIN = never_raising("aggregate.Min", sql="min")
COUNT = never_raising("aggregate.Count", sql="count")
COUNT_IF = never_raising("aggregate.CountIf", sql="count_if")
BOOL_OR = never_raising("aggregate.BoolOr", sql="bool_or")
BOOL_AND = never_raising("aggregate.BoolAnd", sql="bool_and")
SUM = Entry("aggregate.Sum", sql="sum", never_raises=_DOUBLES)
MAX_BY = never_raising("aggregate.MaxBy", sql="max_by")
MIN_BY = never_raising("aggregate.MinBy", sql="min_by")
KNOWN = (MAX, MIN, COUNT, COUNT_IF, BOOL_OR, BOOL_AND, SUM, MAX_BY, MIN_BY)
"""Functions with a fold."""
AVERAGE = Entry("aggregate.Average", sql="avg", never_raises=_NUMBERS)
ANY_VALUE = never_raising("aggregate.AnyValue")
FIRST = never_raising("aggregate.First")
LAST = never_raising("aggregate.Last")
COLLECT_LIST = never_raising("aggregate.CollectList")
COLLECT_SET = never_raising("aggregate.CollectSet")
COUNT_DISTINCT_ABOUT = never_raising("aggregate.HyperLogLogPlusPlus", sql="approx_count_distinct")
STDDEV_POP = never_raising("aggregate.StddevPop")
STDDEV_SAMP = never_raising("aggregate.StddevSamp")
VARIANCE_POP = never_raising("aggregate.VariancePop")
VARIANCE_SAMP = never_raising("aggregate.VarianceSamp")
