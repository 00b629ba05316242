# SPDX-License-Identifier: Apache-2.0
"""Trusted. Reductions that depend on all elements and their places: sums of doubles, deviations.

pandas adds doubles pairwise. How it pairs them, and so how it rounds, depends on their number. The
result is a function of the sequence of elements, so rows of a group can be dropped only if the
sequence stays the same: rows that a mask or ``dropna`` removes before the reduction. A missing
element that is not removed counts as zero in its place, so it stays in the sequence; for the median
it does not count.
"""

from __future__ import annotations

from presieve.errors import DeclineSignal
from presieve.ir.ops import app
from presieve.ir.sorts import FLOAT, INT, strip
from presieve.ir.terms import TRUE, Op, Term, float_lit, int_lit
from presieve.lift.execution.count_fields import count_of, field, field_name
from presieve.lift.execution.state import Flow, SymbolicMachine
from presieve.lift.models.pandas.series import NAN, as_double, present_rows, small
from presieve.lift.values.symbolic import Scalar, Traits, Value
from presieve.lift.values.whole_columns import VectorV
from presieve.records import replace
from presieve.semantics.smart_constructors import as_float, ite

_OPS = {"sum": Op.SEQ_SUM, "var": Op.SEQ_VAR, "std": Op.SEQ_STD, "median": Op.SEQ_MEDIAN}


def reduce_doubles(m: SymbolicMachine, flow: Flow, v: VectorV, name: str) -> Value:
    """Evaluate ``column.name()`` for one of the reductions above."""
    skips = name == "median"
    reduction: Term = app(_OPS[name], _sequence(m, v, skips=skips))
    least = 2 if name in ("var", "std") else 1
    rows = v.rows if name == "sum" else present_rows(v)
    nothing = float_lit(0.0) if name == "sum" else NAN
    if rows != TRUE or least > 1:  # a proof can use counts, but not the sequence
        few = app(Op.PY_LT, count_of(m, flow, rows), int_lit(least))
        reduction = ite(few, nothing, reduction)
    return Scalar(reduction, Traits(maybe_nan=True, numpy=True, wide=name == "sum"))


def mean(m: SymbolicMachine, flow: Flow, v: VectorV) -> Value:
    """Evaluate ``column.mean()`` of doubles: NaN if all are missing."""
    count = count_of(m, flow, present_rows(v))
    top = app(Op.SEQ_SUM, _sequence(m, v, skips=False))
    quotient = app(Op.FLOAT_DIV, top, as_float(count))
    empty = app(Op.PY_EQ, count, int_lit(0))
    return Scalar(ite(empty, NAN, quotient), Traits(maybe_nan=True, numpy=True))


def _sequence(m: SymbolicMachine, v: VectorV, *, skips: bool) -> Term:
    """Return the field that holds the sequence of elements."""
    if strip(v.term.sort) not in (FLOAT, INT):
        raise DeclineSignal("unsupported-operation", "this reduction of such a column")
    if not v.ordered and not skips:
        reason = "sorting changes how a sum of doubles rounds: take it before sorting"
        raise DeclineSignal("row-order", reason)
    small(m, v)
    element = as_double(v.term)
    rows = present_rows(v) if skips else v.rows
    name = field_name(m, "values", replace(v, term=element, rows=rows))
    empty = app(Op.SEQ_EMPTY)
    return field(m, name, empty, lambda acc: ite(rows, app(Op.SEQ_ADD, acc, element), acc))
