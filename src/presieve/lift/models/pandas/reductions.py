# SPDX-License-Identifier: Apache-2.0
"""Trusted. Reductions of pandas as fields of the fold: count, sum, least, greatest, first, last.

Source: pandas 2.3 ``core/nanops.py``. Missing elements are skipped; the sum of no elements is 0,
every other reduction of no elements is NaN or NaT. Sums of doubles are in
:mod:`presieve.lift.models.pandas.sums_of_doubles`. Integers are added exactly within 64 bits. If a
NULL turned them into doubles, they are added as doubles, which is exact up to 2^53.
NumPy does not specify the sign if the least or greatest element is a zero.
"""

from __future__ import annotations

import ast
from typing import NamedTuple

from presieve.errors import DeclineSignal
from presieve.ir.ops import app, negate
from presieve.ir.sorts import BOOL, DATE, FLOAT, INT, TEXTS, Decimal, Option, Sort, strip
from presieve.ir.terms import FALSE, TRUE, Op, Term, Var, float_lit, int_lit, none_lit
from presieve.lift.execution.count_fields import (
    NARROW,
    NUMPY,
    any_row,
    assume_within,
    beats,
    count_of,
    field,
    field_name,
    rows_of,
    sum_of,
)
from presieve.lift.execution.state import Flow, ModelCall, SymbolicMachine
from presieve.lift.models.pandas import sums_of_doubles
from presieve.lift.models.pandas.series import NAN, column_of, present_rows, small
from presieve.lift.models.pandas.sign_of_zero import either_zero
from presieve.lift.values.symbolic import Scalar, Traits, Value
from presieve.lift.values.whole_columns import DistinctV, LabelV, NullableV, PartV, VectorV
from presieve.semantics.smart_constructors import (
    and_,
    any_value,
    as_float,
    get,
    is_missing,
    is_none,
    ite,
    or_,
    some,
)
from presieve.semantics.values import EXACT_INT_BOUND

_OBJECTS: tuple[Sort, ...] = (*TEXTS, DATE)


def reduce_column(call: ModelCall, v: VectorV) -> Value | None:
    """Evaluate ``column.name()``; None if the reduction is not supported."""
    m, flow, name = call.m, call.flow, call.name
    filled = strip(v.term.sort) == INT and v.term.sort != INT and is_none(v.term) == FALSE
    if v.loose or v.masked or filled:
        reason = f".{name}() of a column whose type depends on which elements are missing"
        raise call.decline("unsupported-operation", reason)
    if v.array and not _same_on_array(v, name):
        reason = f".{name}() of a NumPy result does not skip NaN: put it into pd.Series(...)"
        raise call.decline("unsupported-operation", reason)
    match name:
        case "count":
            m.columns.ask(v.term)
            return rows_of(m, flow, present_rows(v), numpy=True)
        case "min" | "max":
            return extreme(m, flow, v, Op.PY_LT if name == "min" else Op.PY_GT)
        case "sum":
            return total(m, flow, v)
        case "mean":
            return mean(m, flow, v)
        case "any" | "all":
            return some_or_all(m, v, name == "any")
        case "nunique":
            return distinct(m, v)
        case "idxmax" | "idxmin":
            return LabelV(v, Op.PY_GT if name == "idxmax" else Op.PY_LT)
        case "std" | "var" | "median":
            return sums_of_doubles.reduce_doubles(m, flow, v, name)
    return None


def _same_on_array(v: VectorV, name: str) -> bool:
    """Return whether the reduction of an array equals that of a Series: no element is missing."""
    if name in ("any", "all"):
        return v.term.sort == BOOL
    same_extreme = name in ("min", "max") and v.rows == TRUE and v.term.sort == INT
    return same_extreme or (name in ("sum", "mean") and v.term.sort in (BOOL, INT))


def _best(m: SymbolicMachine, v: VectorV, op: Op) -> tuple[Var, Term, Term]:
    """Return the best element (an option), whether the row's element is better, and the latter."""
    rows, element = present_rows(v), get(v.term)
    what = "max" if op is Op.PY_GT else "min"

    def is_better(best: Term) -> Term:
        return and_(rows, beats(op, element, best))

    def step(best: Var) -> Term:
        return ite(is_better(best), some(element), best)

    best = field(m, field_name(m, what, v), none_lit(element.sort), step)
    return best, is_better(best), element


def extreme(m: SymbolicMachine, flow: Flow, v: VectorV, op: Op) -> Value:
    """Evaluate ``min()`` or ``max()``. Of objects, None beside a value raises TypeError."""
    base = strip(v.term.sort)
    if base == BOOL or isinstance(base, Decimal):
        raise DeclineSignal("unsupported-operation", "min and max of this type of column")
    small(m, v)
    best, _, _ = _best(m, v, op)
    if base in _OBJECTS:
        nothing = any_row(m, and_(v.rows, is_missing(v.term)))
        m.fail(flow, and_(nothing, negate(is_none(best))))
    chosen: Term = best
    if base == FLOAT:
        chosen = either_zero(m, best, v.term, v.rows)
    always_present = v.rows == TRUE and (base == FLOAT or is_missing(v.term) == FALSE)
    return NullableV(chosen, always_present, wide=always_present and not v.narrow)


def total(m: SymbolicMachine, flow: Flow, v: VectorV) -> Value:
    """Evaluate ``sum()`` of numbers and truth values."""
    base = strip(v.term.sort)
    if base == FLOAT:
        return sums_of_doubles.reduce_doubles(m, flow, v, "sum")
    if v.term.sort == BOOL:
        return rows_of(m, flow, and_(v.rows, v.term), numpy=True)
    if base != INT:
        raise DeclineSignal("unsupported-operation", "the sum of this type of column")
    acc = _sum(m, v)
    if v.term.sort == INT:
        within(m, flow, acc, 2**63, v)
        return Scalar(acc, NUMPY)
    small(m, v)
    within(m, flow, acc, EXACT_INT_BOUND, v)
    return NullableV(some(acc))


def _sum(m: SymbolicMachine, v: VectorV) -> Term:
    return sum_of(m, field_name(m, "sum", v), get(v.term), present_rows(v))


def within(m: SymbolicMachine, flow: Flow, total: Term, limit: int, v: VectorV) -> None:
    """Assume that the sum of a column stays within a limit, unless this is known."""
    assume_within(m, flow, total, limit, f"the sum of {v.name or ast.unparse(m.node)}")


def mean(m: SymbolicMachine, flow: Flow, v: VectorV) -> Value:
    """Evaluate ``mean()``: of integers and truth values their sum, as a double, by their count."""
    base = strip(v.term.sort)
    if v.term.sort == BOOL:
        hits = rows_of(m, flow, and_(v.rows, v.term))
        assert isinstance(hits, Scalar)
        top = hits.term
    elif base == INT:
        small(m, v)
        top = _sum(m, v)
        within(m, flow, top, EXACT_INT_BOUND, v)
    elif base == FLOAT:
        return sums_of_doubles.mean(m, flow, v)
    else:
        raise DeclineSignal("unsupported-operation", "the mean of this type of column")
    count = count_of(m, flow, present_rows(v))
    empty = app(Op.PY_EQ, count, int_lit(0))
    quotient = app(Op.FLOAT_DIV, as_float(top), as_float(count))
    wide = v.rows == TRUE and is_missing(v.term) == FALSE
    return Scalar(ite(empty, NAN, quotient), Traits(maybe_nan=True, numpy=True, wide=wide))


def some_or_all(m: SymbolicMachine, v: VectorV, some_row: bool) -> Value:
    """Evaluate ``any()`` or ``all()`` of truth values."""
    if v.term.sort != BOOL:
        raise DeclineSignal("unsupported-operation", "any and all take a column of conditions")
    wrong = any_row(m, and_(v.rows, v.term if some_row else negate(v.term)))
    return Scalar(wrong if some_row else negate(wrong), NUMPY)


def distinct(m: SymbolicMachine, v: VectorV) -> Value:
    """Evaluate ``nunique()`` if only 0, 1 and more need to be distinguished."""
    if strip(v.term.sort) == BOOL or isinstance(strip(v.term.sort), Decimal):
        raise DeclineSignal("unsupported-operation", "nunique of this type of column")
    small(m, v)
    rows, element = present_rows(v), get(v.term)
    name = field_name(m, "one", v)

    def step(single: Var) -> Term:
        return ite(and_(rows, is_none(single)), some(element), single)

    first = field(m, name, none_lit(element.sort), step)
    many_name = m.reduction_name(f"{name}:more", ("more", v.term, v.rows))
    differs = and_(rows, negate(is_none(first)), negate(app(Op.PY_EQ, element, get(first))))
    many = field(m, many_name, FALSE, lambda acc: or_(acc, differs))
    return DistinctV(negate(is_none(first)), many)


def at_end(m: SymbolicMachine, flow: Flow, v: VectorV, *, last: bool) -> Value:
    """Evaluate ``column.iloc[0]`` or ``iloc[-1]``: IndexError if there is no row."""
    if not v.ordered:
        reason = "rows that tie have no fixed order: sort by one column, with kind='stable'"
        raise DeclineSignal("row-order", reason)
    any_seen = any_row(m, v.rows)
    name, takes = field_name(m, "last" if last else "first", v), v.rows
    if not last:
        flag = m.reduction_name(f"{name}:seen", ("seen", v.rows, v.rows))
        takes = and_(v.rows, negate(field(m, flag, FALSE, lambda seen: or_(seen, v.rows))))
    end_element = field(m, name, any_value(v.term.sort), lambda acc: ite(takes, v.term, acc))
    if any_seen != TRUE:
        m.fail(flow, negate(any_seen))
    return element_value(m, v, end_element)


def element_value(m: SymbolicMachine, v: VectorV, term: Term) -> Value:
    """Return one element of a column: a NumPy scalar, or an object."""
    base = strip(v.term.sort)
    small(m, v)
    if base == FLOAT:
        value = ite(is_none(term), NAN, get(term))
        return Scalar(value, Traits(maybe_nan=True, numpy=True, wide=True))
    if base == BOOL:
        return Scalar(term, NARROW)
    if base == INT and not isinstance(v.term.sort, Option):
        return Scalar(term, NARROW if v.narrow else NUMPY)
    if base in _OBJECTS or isinstance(base, Decimal) or not isinstance(v.term.sort, Option):
        return Scalar(term)
    return NullableV(term)


class LabelledElement(NamedTuple):
    """The element of a table's column in the row with a label."""

    table: PartV
    column: str
    label: LabelV


def at_label(m: SymbolicMachine, flow: Flow, cell: LabelledElement) -> Value:
    """Evaluate ``table.loc[table.t.idxmax(), column]``: an error if there is no element."""
    frame, column, label = cell
    v = label.of
    if not (frame.ordered and v.ordered):
        reason = "the best row after sorting: rows that tie have no fixed order"
        raise DeclineSignal("row-order", reason)
    if frame.rows not in (TRUE, v.rows):
        raise DeclineSignal("unsupported-operation", "a label of another table")
    base = strip(v.term.sort)
    if base in (*_OBJECTS, BOOL) or isinstance(base, Decimal):
        raise DeclineSignal("unsupported-operation", "idxmax of this type of column")
    small(m, v)
    keys = v
    if base == FLOAT:
        # A missing element counts as the worst one; it is selected if it comes first.
        worst = float_lit(float("-inf" if label.op is Op.PY_GT else "inf"))
        keys = VectorV(ite(is_missing(v.term), worst, get(v.term)), v.rows, v.name)
        m.fail(flow, negate(any_row(m, present_rows(v))))
    best, better, _ = _best(m, keys, label.op)
    target = column_of(m, frame, column)
    what = f"{best.name}:{column}"
    name = m.reduction_name(what, (label.op, keys.term, and_(keys.rows, better), target.term))
    blank = any_value(target.term.sort)
    cell_term = field(m, name, blank, lambda acc: ite(better, target.term, acc))
    m.fail(flow, is_none(best))
    return element_value(m, target, cell_term)
