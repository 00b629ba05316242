# SPDX-License-Identifier: Apache-2.0
"""Trusted. Elementwise operations of pandas and NumPy on columns: choices, signs, prefixes.

Sources: pandas 2.3 ``core/generic.py`` (``where``, ``mask``), ``core/strings/object_array.py``
(missing elements stay missing, or become ``na``), NumPy 2 ``where``, ``maximum`` and ``minimum``
(NaN if either is NaN). NumPy returns an array: its reductions do not skip NaN, and its elements are
in the order of the rows.
"""

from __future__ import annotations

import ast
from typing import NamedTuple

from presieve.errors import DeclineSignal
from presieve.ir.assumption_codes import INT_RANGE
from presieve.ir.ops import app, negate
from presieve.ir.sorts import BOOL, DATE, FLOAT, INT, STRING, TEXTS, Option, Sort, strip
from presieve.ir.terms import Lit, Op, Term, float_lit, int_lit, none_lit
from presieve.lift.execution.state import ModelCall, SymbolicMachine
from presieve.lift.models.builtins.arithmetic import absolute_double
from presieve.lift.models.pandas.series import (
    as_double,
    compare_vectors,
    scalar_operand,
    small,
    vector,
)
from presieve.lift.models.pandas.sign_of_zero import assume_no_negative_zero
from presieve.lift.models.registry import function
from presieve.lift.values.ranges import Ranges
from presieve.lift.values.symbolic import (
    LITERAL,
    ListV,
    NoneV,
    Scalar,
    Value,
    constant_of,
    describe,
)
from presieve.lift.values.whole_columns import VectorV
from presieve.records import replace
from presieve.semantics.assumptions import assumption_of
from presieve.semantics.smart_constructors import as_float, get, is_none, ite, or_, some
from presieve.semantics.values import INT_RANGES

_CHOSEN: tuple[Sort, ...] = (FLOAT, INT, BOOL, *TEXTS, DATE)


class Choice(NamedTuple):
    """``other`` replaces elements where the mask is true, or with ``keep`` where it is false."""

    mask: Value
    other: Value | None
    keep: bool


def choose_elements(m: SymbolicMachine, v: VectorV, choice: Choice) -> VectorV:
    """Evaluate ``column.where(mask, other)``, or without ``keep`` ``column.mask(mask, other)``."""
    if v.loose or v.masked:
        raise DeclineSignal("unsupported-operation", "where() and mask() of a column of objects")
    condition = _condition(m, v, choice.mask)
    replacement = _replacement_term(m, v, choice.other)
    base, nothing = strip(v.term.sort), choice.other is None
    if base not in _CHOSEN or (base == BOOL and nothing):
        raise DeclineSignal("unsupported-operation", "where() and mask() of such a column")
    if base == INT and nothing and not v.narrow:
        raise DeclineSignal("unsupported-operation", "integers next to NaN are rounded: fillna")
    if base == INT:
        small(m, v)
    a, b = (v.term, replacement) if choice.keep else (replacement, v.term)
    return VectorV(_either(condition, a, b), v.rows, None, v.narrow, v.ordered)


def _condition(m: SymbolicMachine, v: VectorV, mask: Value) -> Term:
    condition = vector(m, mask)
    if (
        condition is None
        or condition.rows != v.rows
        or (condition.ordered, condition.by) != (v.ordered, v.by)
    ):
        reason = "a condition of other rows: make it from the table that the column is of"
        raise DeclineSignal("unsupported-operation", reason)
    if condition.term.sort != BOOL:
        reason = "a condition that may hold NULL: compare with == True"
        raise DeclineSignal("unsupported-operation", reason)
    return condition.term


def _replacement_term(m: SymbolicMachine, v: VectorV, value: Value | None) -> Term:
    """Return the replacement of an element, which must be of the column's own type."""
    base = strip(v.term.sort)
    if value is None:
        return float_lit(float("nan")) if base == FLOAT else none_lit(base)
    column = vector(m, value)
    if column is not None:
        same = (column.rows, strip(column.term.sort), column.narrow) == (v.rows, base, v.narrow)
        if not same or column.loose or column.masked:
            reason = "values of another type, or of other rows: take them from the same table"
            raise DeclineSignal("unsupported-operation", reason)
        if base == INT:
            small(m, column, beside=v)
            small(m, v, beside=column)
        return column.term
    constant = scalar_operand(value)
    if base == FLOAT and constant.base == INT and constant.traits.literal:
        return as_float(constant.term)
    fits = base != INT or _fits(constant.term, "int" if v.narrow else "bigint")
    if constant.base != base or not isinstance(constant.term, Lit) or not fits:
        reason = f"a column gets {describe(constant)} of another type"
        raise DeclineSignal("unsupported-operation", reason)
    return constant.term


def _fits(term: Term, type_: str) -> bool:
    return Ranges({}).fits(term, type_)


def _either(condition: Term, a: Term, b: Term) -> Term:
    if a.sort != b.sort:
        a, b = (x if isinstance(x.sort, Option) else some(x) for x in (a, b))
    return ite(condition, a, b)


def clip_elements(m: SymbolicMachine, v: VectorV, low: Value | None, high: Value | None) -> VectorV:
    """Evaluate ``column.clip(low, high)`` of numbers with constant bounds, the lesser of which is
    the lower one. What is missing stays so, and a zero between them keeps its sign.
    """
    if strip(v.term.sort) not in (INT, FLOAT):
        raise DeclineSignal("unsupported-operation", "clip() of a column that is not of numbers")
    low, high = (None if isinstance(bound, NoneV) else bound for bound in (low, high))
    if low is None and high is None:
        raise DeclineSignal("unsupported-operation", "clip() without a limit, which copies nothing")
    numbers = [_constant_number(bound) for bound in (low, high) if bound is not None]
    if sorted(numbers) != numbers:
        low, high = high, low
    for bound, beyond in ((low, ast.Lt()), (high, ast.Gt())):
        if bound is not None:
            mask = compare_vectors(m, beyond, v, bound)
            v = choose_elements(m, v, Choice(mask, bound, keep=False))
    return v


def _constant_number(value: Value) -> float:
    number = constant_of(value)
    if type(number) not in (int, float) or number != number:
        raise DeclineSignal("unsupported-operation", "clip() at what is no constant number")
    assert isinstance(number, int | float)
    return number


# --- NumPy ----------------------------------------------------------------------------------------


@function("numpy.clip", arguments=3, fresh=True)
def numpy_clip(call: ModelCall) -> VectorV | None:
    """``numpy.clip(column, low, high)`` of a column of pandas, which is the column's own method."""
    v, *ends = call.args
    column = vector(call.m, v)
    if column is None or column.array:
        return None
    return clip_elements(call.m, column, *ends)


@function("numpy.where", arguments=3, fresh=True)
def numpy_where(call: ModelCall) -> VectorV:
    """``numpy.where(mask, a, b)`` of columns and constants of one type."""
    return _where(call, *call.args)


@function("numpy.select", arguments=range(2, 4), keywords=("default",), fresh=True)
def numpy_select(call: ModelCall) -> VectorV | None:
    """``numpy.select([masks], [choices], default)`` of columns and constants of one type."""
    masks, choices = (call.flow.dereference(a) for a in call.args[:2])
    if not isinstance(masks, ListV) or not isinstance(choices, ListV):
        return None
    if len(masks.items) != len(choices.items) or not masks.items:
        return None
    defaults = (*call.args[2:], *call.named.values(), Scalar(int_lit(0), LITERAL))
    chosen = defaults[0]
    for mask, choice in zip(reversed(masks.items), reversed(choices.items), strict=True):
        chosen = _where(call, mask, choice, chosen)
    return chosen if isinstance(chosen, VectorV) else None


def _where(call: ModelCall, mask: Value, a: Value, b: Value) -> VectorV:
    m = call.m
    condition = vector(m, mask)
    if condition is None or condition.term.sort != BOOL:
        raise call.decline(
            "unsupported-operation", f"np.{call.name}() takes a column of conditions"
        )
    x, y = vector(m, a), vector(m, b)
    of = x if x is not None else y
    if of is not None:
        if isinstance(of.term.sort, Option) and strip(of.term.sort) == INT:
            raise call.decline("unsupported-operation", "integers that may be missing: fillna")
        keep = x is not None
        column = choose_elements(m, of, Choice(mask, b if keep else a, keep))
        return replace(column, array=True)
    p, q = scalar_operand(a), scalar_operand(b)
    numbers = {p.base, q.base} == {INT, FLOAT} and all(isinstance(s.term, Lit) for s in (p, q))
    terms = [as_float(s.term) if numbers and s.base == INT else s.term for s in (p, q)]
    same = terms[0].sort == terms[1].sort and terms[0].sort in (INT, FLOAT, BOOL, STRING)
    if not same or not all(t.sort != INT or _fits(t, "bigint") for t in terms):
        raise call.decline("unsupported-operation", f"np.{call.name}() of two types")
    return VectorV(
        ite(condition.term, *terms), condition.rows, None, False, condition.ordered, True
    )


@function("numpy.maximum", "numpy.minimum", arguments=2, fresh=True)
def larger_or_smaller(call: ModelCall) -> VectorV:
    """``numpy.maximum`` and ``numpy.minimum`` of columns of doubles, or of one and a constant other
    than zero.
    """
    m, name, (a, b) = call.m, call.name, call.args
    x, y = vector(m, a), vector(m, b)
    of = x if x is not None else y
    if of is None or strip(of.term.sort) != FLOAT or any(v and v.loose for v in (x, y)):
        raise call.decline("unsupported-operation", _OTHER_COLUMNS)
    if x is not None and y is not None and x.rows != y.rows:
        raise call.decline("unsupported-operation", "columns of different rows are combined")
    left, right = (_double(call, v, value) for v, value in ((x, a), (y, b)))
    if left.sort != FLOAT or right.sort != FLOAT:
        raise call.decline("unsupported-operation", _OTHER_COLUMNS)
    assume_no_negative_zero(m, left, right)
    op = Op.PY_GT if name == "maximum" else Op.PY_LT
    first = or_(app(Op.IS_NAN, left), app(op, left, right))
    return VectorV(ite(first, left, right), of.rows, None, False, of.ordered)


_OTHER_COLUMNS = "the greater of columns other than doubles"


def _double(call: ModelCall, v: VectorV | None, value: Value) -> Term:
    """Return a column's element or a constant as a double."""
    if v is not None:
        return as_double(v.term)
    number = constant_of(scalar_operand(value))
    if type(number) not in (int, float) or number != number or number == 0:
        reason = "the greater of a column and a number other than zero is known only"
        raise call.decline("unsupported-operation", reason)
    assert isinstance(number, int | float)
    return float_lit(float(number))


def absolute(m: SymbolicMachine, v: VectorV) -> VectorV:
    """Evaluate ``column.abs()``, if the least integer, whose sign would stay, is absent."""
    base, element = strip(v.term.sort), get(v.term)
    if base == FLOAT and not v.loose:
        return VectorV(absolute_double(as_double(v.term)), v.rows, None, False, v.ordered)
    if base != INT or v.name is None:
        raise DeclineSignal("unsupported-operation", "abs() of such a column")
    small(m, v)
    least = INT_RANGES[m.columns.type_of(v.name)][0]
    term = or_(is_none(v.term), negate(app(Op.PY_EQ, element, int_lit(least))))
    m.columns.add_assumptions([assumption_of(INT_RANGE, term)])
    positive = ite(app(Op.PY_LT, element, int_lit(0)), app(Op.INT_NEG, element), element)
    if isinstance(v.term.sort, Option):
        positive = ite(is_none(v.term), none_lit(INT), some(positive))
    return VectorV(positive, v.rows, None, v.narrow, v.ordered)
