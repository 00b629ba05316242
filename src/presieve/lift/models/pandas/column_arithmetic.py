# SPDX-License-Identifier: Apache-2.0
"""Trusted. Arithmetic and logic of pandas and NumPy on columns, element by element.

Sources: pandas 2.3 ``core/ops/array_ops.py`` and ``core/ops/missing.py``, NumPy 2: doubles follow
IEEE 754, also for a division by zero; integers of 64 bits wrap around. Texts are added by Python,
and a missing one gives a missing result. ``&`` and ``|`` count a missing truth value as false, and
give false wherever it stands on the left (``logical_op``, ``vec_binop``).

If a batch holds a NULL in a column of integers, pandas computes with doubles there. So a result of
integers is assumed to be exact as a double, and to fit the type that NumPy computes with.
"""

from __future__ import annotations

import ast
from collections.abc import Callable
from functools import partial
from typing import NamedTuple

from presieve.errors import DeclineSignal
from presieve.ir.assumption_codes import EXACT_INT, INT_RANGE
from presieve.ir.ops import app, conjunction, disjunction, negate
from presieve.ir.sorts import BOOL, FLOAT, INT, STRING, Option, Sort, strip
from presieve.ir.terms import (
    FALSE,
    TRUE,
    App,
    Lit,
    Op,
    Term,
    float_lit,
    int_lit,
    literal_value,
    none_lit,
)
from presieve.lift.execution.state import BinaryOperation, SymbolicMachine
from presieve.lift.models.pandas.series import (
    NAN,
    check_aligned,
    check_no_nan,
    fill_missing,
    like,
    scalar_operand,
    small,
    vector,
)
from presieve.lift.reason_words import operator
from presieve.lift.values.symbolic import Value
from presieve.lift.values.whole_columns import VectorV
from presieve.records import replace
from presieve.semantics.assumptions import assumption_of, is_exact
from presieve.semantics.smart_constructors import (
    and_,
    apply_function,
    as_float,
    get,
    is_missing,
    is_none,
    ite,
    or_,
    some,
    unwrap_option,
)
from presieve.semantics.types import bounds
from presieve.semantics.values import EXACT_INT_BOUND

_INTEGERS = {ast.Add: Op.INT_ADD, ast.Sub: Op.INT_SUB, ast.Mult: Op.INT_MUL}
_DOUBLES = {ast.Add: Op.FLOAT_ADD, ast.Sub: Op.FLOAT_SUB, ast.Mult: Op.FLOAT_MUL}
_DIVIDING = {ast.FloorDiv: Op.INT_FLOORDIV, ast.Mod: Op.INT_MOD}
_ZERO, _MINUS_ZERO = float_lit(0.0), float_lit(-0.0)


class _Operands(NamedTuple):
    """Two columns, or a column and a scalar: their terms, and the columns among them."""

    m: SymbolicMachine
    op: ast.operator
    x: Term
    y: Term
    a: VectorV | None
    b: VectorV | None

    @property
    def sorts(self) -> set[Sort]:
        """The sorts of the elements that are not missing."""
        return {strip(self.x.sort), strip(self.y.sort)}

    def column(self, term: Term) -> VectorV:
        """Return the column of these elements."""
        return like(term, self.a, self.b)


def binary_vectors(m: SymbolicMachine, op: ast.operator, left: Value, right: Value) -> VectorV:
    """Evaluate ``a & b``, ``a | b``, or arithmetic, of columns and constants."""
    result = _combine(m, op, left, right)
    loose = any(v is not None and v.loose for v in (vector(m, left), vector(m, right)))
    return replace(result, loose=True) if loose else result


def _combine(m: SymbolicMachine, op: ast.operator, left: Value, right: Value) -> VectorV:
    a, b = vector(m, left), vector(m, right)
    if a is not None and b is not None:
        check_aligned(a, b)
    x = a.term if a is not None else scalar_operand(left).term
    y = b.term if b is not None else scalar_operand(right).term
    operands = _Operands(m, op, x, y, a, b)
    _check_operands(operands)
    if isinstance(op, ast.BitAnd | ast.BitOr) and operands.sorts == {BOOL}:
        return _join_masks(operands)
    if isinstance(op, ast.Add) and operands.sorts == {STRING}:
        return operands.column(strict_in_both(Op.TEXT_CONCAT, x, y))
    if isinstance(op, ast.Div) and operands.sorts <= {INT, FLOAT}:
        return operands.column(of_doubles(divide_doubles, x, y))
    if isinstance(op, ast.Pow):
        return _square(operands)
    if operands.sorts == {INT} and type(op) in {**_INTEGERS, **_DIVIDING}:
        return _of_integers(operands)
    if operands.sorts <= {INT, FLOAT} and type(op) in _DOUBLES:
        return operands.column(of_doubles(partial(app, _DOUBLES[type(op)]), x, y))
    if type(op) not in _DOUBLES:
        raise DeclineSignal("unsupported-operation", f"{operator(op)} on whole columns: use a loop")
    raise DeclineSignal("unsupported-operation", "arithmetic on these columns: use a loop")


def _check_operands(operands: _Operands) -> None:
    """Decline elements with which NumPy computes otherwise than pandas, or beside a NULL otherwise
    than without one.
    """
    m, op, a, b = operands.m, operands.op, operands.a, operands.b
    for v in (a, b):
        if v is None:
            continue
        optional = isinstance(v.term.sort, Option)
        masks = isinstance(op, ast.BitAnd | ast.BitOr)
        if (
            (v.loose and not (masks and v.term.sort == BOOL))
            or (v.masked and not masks)
            or (v.array and (optional or strip(v.term.sort) == STRING))
        ):
            raise DeclineSignal("unsupported-operation", "arithmetic on a column of objects")
        if strip(v.term.sort) == INT and v.name is not None:
            m.columns.check_numbers(v.name)
        into_doubles = isinstance(op, ast.Div) or FLOAT in operands.sorts
        if optional and strip(v.term.sort) == INT and into_doubles and _may_be_minus_zero(v.term):
            reason = "integers beside a NULL are doubles, of which a zero may be -0.0"
            raise DeclineSignal("unsupported-operation", reason)
        if into_doubles and not _gives_numbers(op, _other(operands, v)):
            check_no_nan(m, v)


def _other(operands: _Operands, v: VectorV) -> Term:
    return operands.y if v is operands.a else operands.x


def _gives_numbers(op: ast.operator, other: Term) -> bool:
    """Return whether arithmetic of a number, also an infinite one, with a constant is no NaN."""
    number = literal_value(other) if isinstance(other, Lit) else None
    if isinstance(op, ast.Pow):
        return True
    is_finite = isinstance(number, int | float) and abs(number) < float("inf")
    return is_finite and (bool(number) or isinstance(op, ast.Add | ast.Sub))


def _may_be_minus_zero(term: Term) -> bool:
    """Return whether a zero among these integers is -0.0 where pandas holds them as doubles."""
    if not isinstance(term, App):
        return False
    return term.op in (Op.INT_MUL, Op.INT_NEG) or any(map(_may_be_minus_zero, term.args))


def combine_filled(operation: BinaryOperation[ast.operator], filler: Value) -> VectorV:
    """Evaluate ``column.add(other, fill_value=number)`` of doubles: where one of two is missing,
    the number takes its place.
    """
    m, _, op, left, right = operation
    a, b = vector(m, left), vector(m, right)
    if b is None:
        return binary_vectors(m, op, fill_missing(m, a, filler) if a is not None else left, right)
    if a is None or any(strip(v.term.sort) != FLOAT or v.loose for v in (a, b)):
        raise DeclineSignal("unsupported-operation", "fill_value for columns that are not doubles")
    check_aligned(a, b)
    first, second = (fill_missing(m, v, filler).term for v in (a, b))
    both = and_(is_missing(a.term), is_missing(b.term))
    x, y = (ite(both, NAN, term) for term in (first, second))
    return binary_vectors(m, op, like(x, a), like(y, b))


def unary_vector(m: SymbolicMachine, op: ast.unaryop, v: VectorV) -> VectorV:
    """Evaluate ``~mask``, ``-column`` or ``+column``."""
    base = strip(v.term.sort)
    if v.loose:
        raise DeclineSignal("unsupported-operation", "this sign before a column of objects")
    if isinstance(op, ast.Invert) and v.term.sort == BOOL:
        return replace(like(negate(v.term), v), masked=v.masked)
    if isinstance(op, ast.Invert) and v.masked:
        opposite = ite(is_none(v.term), none_lit(BOOL), some(negate(get(v.term))))
        return replace(like(opposite, v), masked=True)
    if isinstance(op, ast.USub) and base == FLOAT:
        return like(of_doubles(partial(app, Op.FLOAT_NEG), v.term), v)
    if isinstance(op, ast.USub) and base == INT:
        _check_operands(operands := _Operands(m, ast.Mult(), v.term, int_lit(-1), v, None))
        return _of_integers(operands)
    raise DeclineSignal("unsupported-operation", "this sign before a whole column")


def of_doubles(compute: Callable[..., Term], *terms: Term) -> Term:
    """Compute with elements as doubles; the result is missing if one of them is."""
    numbers = [unwrap_option(t) for t in terms]
    result = compute(*(as_float(n) if n.sort == INT else n for n in numbers))
    absent = or_(*map(is_none, terms))
    return ite(absent, none_lit(FLOAT), some(result)) if absent != FALSE else result


def strict_in_both(op: Op, x: Term, y: Term) -> Term:
    """Apply an operator to two elements; the result is missing if one of them is."""
    a, b = unwrap_option(x), unwrap_option(y)
    inner = apply_function(op, a, b) if op is Op.TEXT_CONCAT else app(op, a, b)
    absent = or_(is_none(x), is_none(y))
    if not isinstance(x.sort, Option) and not isinstance(y.sort, Option):
        return inner
    return ite(absent, none_lit(inner.sort), some(inner))


def _join_masks(operands: _Operands) -> VectorV:
    columns = [v for v in (operands.a, operands.b) if v is not None]
    if any(v.masked for v in columns):
        return _join_masked(operands)
    left, right = operands.x, and_(negate(is_none(operands.y)), get(operands.y))
    joined = and_ if isinstance(operands.op, ast.BitAnd) else or_
    return operands.column(and_(negate(is_none(left)), joined(get(left), right)))


def _join_masked(operands: _Operands) -> VectorV:
    """Join truth values of which one side may be ``pandas.NA``."""
    x, y, of_both = operands.x, operands.y, isinstance(operands.op, ast.BitAnd)
    for v, term in ((operands.a, x), (operands.b, y)):
        if term.sort != BOOL and (v is None or not v.masked):
            raise DeclineSignal("unsupported-operation", "masks of two kinds of missing values")
    decides = (lambda z: negate(get(z))) if of_both else get
    decided = or_(*(and_(negate(is_none(z)), decides(z)) for z in (x, y)))
    open_ = ite(or_(is_none(x), is_none(y)), none_lit(BOOL), some(TRUE if of_both else FALSE))
    result = ite(decided, some(FALSE if of_both else TRUE), open_)
    return replace(operands.column(result), masked=True)


def divide_doubles(x: Term, y: Term) -> Term:
    """Return the quotient of two doubles as IEEE 754 has it."""
    quotient = app(Op.FLOAT_DIV, x, y)
    if isinstance(y, Lit) and literal_value(y) != 0:
        return quotient
    downwards = app(Op.SAME, y, _MINUS_ZERO)
    up, down = float_lit(float("inf")), float_lit(float("-inf"))
    positive, negative = ite(downwards, down, up), ite(downwards, up, down)
    signed = ite(app(Op.PY_LT, x, _ZERO), negative, NAN)
    by_zero = ite(app(Op.PY_GT, x, _ZERO), positive, signed)
    return ite(app(Op.PY_EQ, y, _ZERO), by_zero, quotient)


def _square(operands: _Operands) -> VectorV:
    """Evaluate ``column ** 2``, which NumPy computes as a product."""
    m, _, x, y, a, _ = operands
    if a is None or y != int_lit(2):
        raise DeclineSignal("unsupported-operation", "a power of a whole column other than 2")
    if strip(x.sort) == FLOAT:
        return like(of_doubles(partial(app, Op.FLOAT_MUL), x, x), a)
    if strip(x.sort) == INT:
        return _of_integers(_Operands(m, ast.Mult(), x, x, a, a))
    raise DeclineSignal("unsupported-operation", "a power of this column")


def _of_integers(operands: _Operands) -> VectorV:
    """Compute with integers, which must neither wrap around nor be rounded beside a NULL."""
    m, op, x, y, a, b = operands
    op_ = {**_INTEGERS, **_DIVIDING}[type(op)]
    divisor = literal_value(y) if isinstance(y, Lit) else None
    if type(op) in _DIVIDING and (not isinstance(divisor, int) or divisor <= 0):
        reason = "whole columns are divided by positive constants only: use a loop"
        raise DeclineSignal("unsupported-operation", reason)
    columns = [v for v in (a, b) if v is not None]
    for v in columns:
        small(m, v)
    term = strict_in_both(op_, x, y)
    narrow = all(v.narrow for v in columns)
    if narrow:
        if any(isinstance(z, Lit) and not m.ranges.fits(z, "int") for z in (x, y)):
            raise DeclineSignal("numpy-scalar", "NumPy refuses an integer of more than 32 bits")
        types = {m.columns.type_of(v.name) for v in columns if v.name is not None}
        if all(v.name for v in columns) and types == {"int"}:
            fit_integers(m, term, "int")
        elif not _fits_any_width(m, op, (x, y, term)):
            raise DeclineSignal("numpy-scalar", "arithmetic on integers of 32 bits wraps around")
    else:
        fit_integers(m, term, "bigint")
        if isinstance(term.sort, Option):
            make_exact(m, term)
    return replace(operands.column(term), narrow=narrow)


def _fits_any_width(m: SymbolicMachine, op: ast.operator, terms: tuple[Term, ...]) -> bool:
    """Return whether this never wraps around, whatever the width of the integers: all are small, or
    they are divided by a small constant.
    """
    needed = terms[1:2] if type(op) in _DIVIDING else terms
    return all(m.ranges.fits(t, "tinyint") for t in needed)


def make_exact(m: SymbolicMachine, term: Term) -> None:
    """Assume that the integers of a computed column are exact as doubles, unless they must be."""
    magnitude = m.ranges.magnitude(term)
    if magnitude is None or magnitude >= EXACT_INT_BOUND:
        m.columns.add_assumptions([assumption_of(EXACT_INT, is_exact(term))])


def fit_integers(m: SymbolicMachine, term: Term, type_: str) -> None:
    """Assume that the integers of a computed column fit a type, unless they must."""
    limits = bounds(type_)
    assert limits is not None
    if not m.ranges.fits(term, type_):
        low, high = (int_lit(n) for n in limits)
        number = unwrap_option(term)
        inside = conjunction([app(Op.PY_GE, number, low), app(Op.PY_LE, number, high)])
        absent = [is_none(term)] if isinstance(term.sort, Option) else []
        condition = disjunction([*absent, inside])
        m.columns.add_assumptions([assumption_of(INT_RANGE, condition)])
