# SPDX-License-Identifier: Apache-2.0
"""Trusted. Reductions of ``pyarrow.compute`` as fields of the fold.

They skip nulls, and return null if no element remains. Minima and maxima of doubles skip NaN, too,
and return NaN if no other element remains. Doubles are added pairwise, so their sum is not a fold;
a sum of integers wraps around at 64 bits.
"""

from __future__ import annotations

import ast

from presieve.errors import DeclineSignal
from presieve.ir.ops import app, negate
from presieve.ir.sorts import BOOL, FLOAT, INT, strip
from presieve.ir.terms import Op, Term, Var, float_lit, int_lit, none_lit
from presieve.lift.execution.count_fields import (
    any_row,
    assume_within,
    beats,
    count_of,
    field,
    sum_of,
)
from presieve.lift.execution.state import ModelCall, SymbolicMachine
from presieve.lift.models.pandas.sign_of_zero import either_zero
from presieve.lift.models.pyarrow.arrays import array_of
from presieve.lift.models.registry import function
from presieve.lift.values.arrow_values import ArrayV, CellV
from presieve.semantics.smart_constructors import and_, as_float, get, is_none, ite, some
from presieve.semantics.values import EXACT_INT_BOUND

NAN = float_lit(float("nan"))


def _present_rows(a: ArrayV) -> Term:
    return and_(a.rows, negate(is_none(a.term)))


@function("pyarrow.compute.max", "pyarrow.compute.min", arguments=1)
def extreme(call: ModelCall) -> CellV:
    """``max(array)`` and ``min(array)``, but of booleans."""
    m, name, (of,) = call.m, call.name, call.args
    op = Op.PY_GT if name == "max" else Op.PY_LT
    a = array_of(m, of)
    base = strip(a.term.sort)
    if base == BOOL:
        raise call.decline("unsupported-operation", "min and max of booleans")
    element, rows = get(a.term), _present_rows(a)
    number = rows if base != FLOAT else and_(rows, negate(app(Op.IS_NAN, element)))
    name = m.reduction_name(f"{name}()", (op, a.term, a.rows))

    def step(acc: Var) -> Term:
        return ite(and_(number, beats(op, element, acc)), some(element), acc)

    best: Term = field(m, name, none_lit(base), step)
    if base == FLOAT:
        best = either_zero(m, best, a.term, rows)
        best = ite(and_(is_none(best), any_row(m, rows)), some(NAN), best)
    return CellV(best, a.type)


@function("pyarrow.compute.count", arguments=1)
def count_present(call: ModelCall) -> CellV:
    """``count(array)`` of what is not null."""
    a = array_of(call.m, call.args[0])
    return CellV(count_of(call.m, call.flow, _present_rows(a)), "bigint")


@function("pyarrow.compute.any", "pyarrow.compute.all", arguments=1)
def some_or_all(call: ModelCall) -> CellV:
    """``any(array)`` and ``all(array)`` of conditions."""
    m, name, (of,) = call.m, call.name, call.args
    a = array_of(m, of)
    if strip(a.term.sort) != BOOL:
        raise call.decline("unsupported-operation", "any and all take conditions")
    rows, element = _present_rows(a), get(a.term)
    hit = any_row(m, and_(rows, element if name == "any" else negate(element)))
    any_element = any_row(m, rows)
    term = ite(any_element, some(hit if name == "any" else negate(hit)), none_lit(BOOL))
    return CellV(term, "boolean")


def _sum(m: SymbolicMachine, a: ArrayV) -> Term:
    if strip(a.term.sort) == FLOAT:
        reason = (
            "pyarrow adds doubles up in an order that depends on how many rows there are, and so "
            "does the rounding: add them up in a loop over the array, which has one order"
        )
        raise DeclineSignal("not-a-fold", reason)
    if strip(a.term.sort) != INT:
        raise DeclineSignal("unsupported-operation", f"the sum of an array of {a.type}")
    name = m.reduction_name("sum()", ("sum", a.term, a.rows))
    return sum_of(m, name, get(a.term), _present_rows(a))


@function("pyarrow.compute.sum", arguments=1)
def total(call: ModelCall) -> CellV:
    """``sum(array)`` of integers."""
    m, flow, (of,) = call.m, call.flow, call.args
    a = array_of(m, of)
    sum_term = _sum(m, a)
    assume_within(m, flow, sum_term, 2**63, ast.unparse(m.node))
    return CellV(ite(any_row(m, _present_rows(a)), some(sum_term), none_lit(INT)), "bigint")


@function("pyarrow.compute.mean", arguments=1)
def mean(call: ModelCall) -> CellV:
    """``mean(array)`` of integers."""
    m, flow, (of,) = call.m, call.flow, call.args
    a = array_of(m, of)
    top = _sum(m, a)
    assume_within(m, flow, top, EXACT_INT_BOUND, ast.unparse(m.node))
    number = count_of(m, flow, _present_rows(a))
    quotient = app(Op.FLOAT_DIV, as_float(top), as_float(number))
    empty = app(Op.PY_EQ, number, int_lit(0))
    return CellV(ite(empty, none_lit(FLOAT), some(quotient)), "double")
