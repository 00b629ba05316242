# SPDX-License-Identifier: Apache-2.0
"""Trusted. Python's arithmetic on symbolic scalars, and the errors that it raises."""

from __future__ import annotations

import ast

from presieve.errors import DeclineSignal
from presieve.ir.ops import app
from presieve.ir.sorts import BOOL, FLOAT, INT
from presieve.ir.terms import (
    TRUE,
    App,
    Lit,
    Op,
    Term,
    bits_float,
    float_lit,
    int_lit,
    literal_value,
    string_lit,
)
from presieve.lift.execution.state import Flow, Operation, SymbolicMachine
from presieve.lift.models.builtins.bit_flags import bits_of_integer, bitwise
from presieve.lift.reason_words import operator
from presieve.lift.values.ranges import Ranges, combine
from presieve.lift.values.symbolic import LITERAL, PLAIN, Scalar, Traits, Value, Whole, describe
from presieve.records import replace
from presieve.semantics.function_meanings import SQUARE, name_of_division
from presieve.semantics.smart_constructors import (
    and_,
    apply_function,
    as_float,
    as_int,
    combine_choices,
    fold_constants,
    ite,
    or_,
)
from presieve.semantics.values import EXACT_INT_BOUND

_MOST_POWER = 1000
"""Maximum base and exponent of a power of constants."""

FLOAT_LIMIT = 2**1024 - 2**970
"""The smallest magnitude of an int that ``float(int)`` refuses with OverflowError."""

_INT_OPS: dict[type[ast.operator], Op] = {
    ast.Add: Op.INT_ADD,
    ast.Sub: Op.INT_SUB,
    ast.Mult: Op.INT_MUL,
    ast.FloorDiv: Op.INT_FLOORDIV,
    ast.Mod: Op.INT_MOD,
}
_FLOAT_OPS: dict[type[ast.operator], Op] = {
    ast.Add: Op.FLOAT_ADD,
    ast.Sub: Op.FLOAT_SUB,
    ast.Mult: Op.FLOAT_MUL,
    ast.Div: Op.FLOAT_DIV,
}


def number(m: SymbolicMachine, flow: Flow, value: Value, *, same_as_numpy: bool = False) -> Scalar:
    """Convert the operand of an arithmetic operator to Int or Float; a Bool becomes an Int.

    ``same_as_numpy``: NumPy computes with doubles here as Python does, so the operand may be either
    Python's or NumPy's double.
    """
    scalar = m.scalar(flow, value)
    either = same_as_numpy and scalar.base == FLOAT
    if scalar.traits.numpy and not scalar.traits.wide and not either:
        reason = "this may be a numpy scalar, which wraps around: use int(...) or float(...)"
        raise DeclineSignal("numpy-scalar", reason)
    if scalar.base == BOOL and not scalar.traits.numpy:
        return Scalar(as_int(scalar.term), PLAIN)
    if scalar.base not in (INT, FLOAT):
        raise DeclineSignal("unsupported-operation", f"arithmetic on {describe(scalar)}")
    return scalar


def binary(operation: Operation) -> Value:
    """Evaluate ``left op right``."""
    flags = bitwise(operation)
    if flags is not None:
        return flags
    scalar = _compute(operation)
    return _of_constants(scalar) if isinstance(scalar.term, App) else scalar


def _of_constants(value: Scalar) -> Scalar:
    """Fold the result to a constant if Python's operator has constant operands."""
    term = fold_constants(value.term)
    if not isinstance(term, Lit) or value.traits.numpy:
        return value
    number = literal_value(term)
    if isinstance(number, float):
        return Scalar(term, Traits(maybe_nan=number != number))
    return Scalar(term, LITERAL if abs(int(number or 0)) <= EXACT_INT_BOUND else PLAIN)


def _compute(operation: Operation) -> Scalar:
    m, flow, op, left, right = operation
    same_as_numpy = isinstance(op, ast.Add | ast.Sub | ast.Mult) or _is_divisor(op, right)
    a, b = (number(m, flow, v, same_as_numpy=same_as_numpy) for v in (left, right))
    if flow.ended:
        return Scalar(int_lit(0))
    numpy = any(v.traits.numpy and not _is_wide(v) for v in (a, b))
    if numpy and not all(v.base == FLOAT or exact_as_float(v, m.ranges) for v in (a, b)):
        reason = "this may be a numpy scalar, and the other one a large integer: use float(...)"
        raise DeclineSignal("numpy-scalar", reason)
    if isinstance(op, ast.Div):
        return _divide(m, flow, a, b)
    if a.base == INT and b.base == INT:
        return _int_binary(operation, a, b)
    if isinstance(op, ast.Pow) and _is_two(b) and not numpy and not _is_wide(a):
        of_ints = a.traits if b.base == INT else replace(a.traits, whole=None)
        return square_of_float(m, flow, Scalar(to_float(m, flow, a), of_ints))
    if isinstance(op, ast.FloorDiv | ast.Mod) and not numpy and not _is_wide(a):
        whole = _divide_whole(a, op, b)
        if whole is not None:
            return whole
    if type(op) not in _FLOAT_OPS:
        raise DeclineSignal("unsupported-operation", f"{operator(op)} is unsupported on floats")
    result = _combine_floats(m, flow, op, (a, b))
    wide = _is_wide(a) or _is_wide(b)
    numpy = wide or numpy
    return replace(result, traits=Traits(False, result.traits.whole, True, numpy, wide=wide))


def _combine_floats(
    m: SymbolicMachine, flow: Flow, op: ast.operator, operands: tuple[Scalar, Scalar]
) -> Scalar:
    """Evaluate an operator on doubles, for both of which Python may hold an int. Declines
    ``mixed-types`` unless ints and doubles give the same: ints must be exact as doubles. A product
    of ints is no negative zero.
    """
    a, b = operands
    of_doubles = _FLOAT_OPS[type(op)]
    result = combine_choices(of_doubles, to_float(m, flow, a), to_float(m, flow, b))
    x, y = _whole(m, a), _whole(m, b)
    if x is None or y is None:
        return Scalar(result)
    low, high = combine(_INT_OPS[type(op)], (x.low, x.high), (y.low, y.high))
    when = None if x.when is None or y.when is None else and_(x.when, y.when)
    whole = Whole(low, high, when)
    is_signed = isinstance(op, ast.Mult) and min(x.low, y.low) < 0
    largest = max(w.magnitude for w in (x, y, whole))
    if (is_signed and when is None) or largest > EXACT_INT_BOUND:
        reason = "integers and floats are added up in one variable: start it with 0.0"
        raise DeclineSignal("mixed-types", reason)
    if is_signed and when is not None:
        zero = float_lit(0.0)
        result = ite(and_(when, fold_constants(app(Op.PY_EQ, result, zero))), zero, result)
    return Scalar(result, Traits(whole=whole))


def _whole(m: SymbolicMachine, value: Scalar) -> Whole | None:
    """Bound the int that Python may hold for a number; None if it is always a float."""
    if value.base != INT:
        return value.traits.whole
    interval = m.ranges.interval(value.term)
    if interval is None:
        most = EXACT_INT_BOUND if value.traits.literal else FLOAT_LIMIT
        interval = (-most, most)
    return Whole(*interval, TRUE)


def _is_divisor(op: ast.operator, value: Value) -> bool:
    """Return whether this is division by a constant other than zero, which never raises."""
    if not isinstance(op, ast.Div) or not isinstance(value, Scalar):
        return False
    return isinstance(value.term, Lit) and _is_zero(value.term) == Lit(BOOL, False)


def _is_wide(value: Scalar) -> bool:
    """Return whether this is certainly a NumPy number of 64 bits; then the result is one, too."""
    return value.traits.wide


def _still_int(value: Scalar) -> bool:
    """Return whether Python may compute with an int here, without rounding."""
    return value.base == INT or value.traits.maybe_int


def _int_binary(operation: Operation, a: Scalar, b: Scalar) -> Scalar:
    m, flow, op, _, _ = operation
    if _is_wide(a) or _is_wide(b):
        return _numpy_int(m, op, a, b)
    if isinstance(op, ast.Pow):
        return _power(a, b)
    bits = bits_of_integer(a.term, op, b.term)
    if bits is not None:
        return Scalar(bits)
    if type(op) not in _INT_OPS:
        raise DeclineSignal("unsupported-operation", f"{operator(op)} is unsupported on integers")
    if isinstance(op, ast.FloorDiv | ast.Mod):
        m.fail(flow, _is_zero(b.term), ZeroDivisionError)
    return Scalar(app(_INT_OPS[type(op)], a.term, b.term))


def _power(a: Scalar, b: Scalar) -> Scalar:
    """Evaluate squares, cubes, and powers of constants."""
    if isinstance(b.term, Lit) and b.term.value in (2, 3):
        square = fold_constants(app(Op.INT_MUL, a.term, a.term))
        return Scalar(square if b.term.value == 2 else app(Op.INT_MUL, square, a.term))
    if isinstance(a.term, Lit) and isinstance(b.term, Lit):
        base, power = int(a.term.value or 0), int(b.term.value or 0)
        if 0 <= power <= _MOST_POWER and abs(base) <= _MOST_POWER:
            value = base**power
            return Scalar(int_lit(value), LITERAL if abs(value) <= EXACT_INT_BOUND else PLAIN)
    raise DeclineSignal("unsupported-operation", "powers other than ** 2 and ** 3")


def _divide_whole(a: Scalar, op: ast.FloorDiv | ast.Mod, b: Scalar) -> Scalar | None:
    """Evaluate ``x // c`` and ``x % c`` of a double and a positive constant: NaN of infinity."""
    divisor = literal_value(b.term) if isinstance(b.term, Lit) else None
    if not isinstance(divisor, int | float) or a.base != FLOAT or b.traits.maybe_int:
        return None
    if not 0 < divisor < EXACT_INT_BOUND:
        return None
    whole = a.traits.whole
    if isinstance(divisor, float):
        whole = None  # an int divided by a double is a double
    elif whole is not None:
        whole = Whole(min(whole.low, 0), max(whole.high, divisor), whole.when)
    sign = "//" if isinstance(op, ast.FloorDiv) else "%"
    name = name_of_division(sign, float(divisor))
    call = apply_function(Op.FLOAT_CALL, a.term, string_lit(name))
    result = ite(is_infinite_number(a.term), float_lit(float("nan")), call)
    return Scalar(result, Traits(whole=whole, maybe_nan=True))


def is_infinite_number(term: Term) -> Term:
    """Return whether a double is infinite."""
    ends = (float_lit(float("inf")), float_lit(float("-inf")))
    return or_(*(fold_constants(app(Op.PY_EQ, term, end)) for end in ends))


def _is_two(value: Scalar) -> bool:
    return isinstance(value.term, Lit) and literal_value(value.term) == 2


_LARGEST_ROOT = 1.3407807929942596e154
"""The greatest double whose square is a double."""


def square_of_float(m: SymbolicMachine, flow: Flow, value: Scalar) -> Scalar:
    """Evaluate ``x ** 2``. The platform's ``pow`` rounds it, not always as a product is rounded."""
    whole = value.traits.whole
    if whole is not None:
        whole = Whole(0, whole.magnitude**2, whole.when)
        if whole.high > EXACT_INT_BOUND:
            reason = "the square of what may be an integer: start it with 0.0"
            raise DeclineSignal("mixed-types", reason)
    x = value.term
    negative = fold_constants(app(Op.PY_LT, x, float_lit(0.0)))
    size = ite(negative, fold_constants(app(Op.FLOAT_NEG, x)), x)
    large = fold_constants(app(Op.PY_GT, size, float_lit(_LARGEST_ROOT)))
    finite = fold_constants(app(Op.PY_LT, size, float_lit(float("inf"))))
    m.fail(flow, and_(large, finite), OverflowError)
    square = apply_function(Op.FLOAT_CALL, size, string_lit(SQUARE))
    return Scalar(square, Traits(whole=whole, maybe_nan=value.traits.maybe_nan))


def _numpy_int(m: SymbolicMachine, op: ast.operator, a: Scalar, b: Scalar) -> Scalar:
    """Evaluate arithmetic on 64-bit NumPy integers. Declines operations that may wrap around."""
    if type(op) not in _INT_OPS or isinstance(op, ast.FloorDiv | ast.Mod):
        reason = f"{operator(op)} of numpy integers: use int(...)"
        raise DeclineSignal("unsupported-operation", reason)
    term = app(_INT_OPS[type(op)], a.term, b.term)
    if not all(m.ranges.fits(t, "bigint") for t in (a.term, b.term, term)):
        reason = "integers of numpy may wrap around here: use int(...) around each of them"
        raise DeclineSignal("numpy-scalar", reason)
    return Scalar(term, Traits(numpy=True, wide=True))


def _numpy_quotient(x: Term, y: Term) -> Term:
    """Return the quotient of doubles as in IEEE 754: division by zero gives infinity or NaN."""
    zero, negative_zero = float_lit(0.0), float_lit(-0.0)
    infinite = float_lit(float("inf")), float_lit(float("-inf"))
    positive = app(Op.PY_GT, x, zero)
    flipped = app(Op.SAME, y, negative_zero)
    up, down = ite(flipped, infinite[1], infinite[0]), ite(flipped, infinite[0], infinite[1])
    by_zero = ite(positive, up, ite(app(Op.PY_LT, x, zero), down, float_lit(float("nan"))))
    return ite(app(Op.PY_EQ, y, zero), by_zero, app(Op.FLOAT_DIV, x, y))


def _is_zero(term: Term) -> Term:
    if isinstance(term, Lit):
        return Lit(BOOL, literal_value(term) == 0)
    return app(Op.PY_EQ, term, float_lit(0.0) if term.sort == FLOAT else int_lit(0))


def _divide(m: SymbolicMachine, flow: Flow, a: Scalar, b: Scalar) -> Scalar:
    """Evaluate true division. For two ints Python rounds the exact quotient once. The quotient of
    the two floats is the same if both ints are exact as floats; otherwise the division is declined.
    """
    if _is_wide(a) or _is_wide(b):
        quotient = _numpy_quotient(to_float(m, flow, a), to_float(m, flow, b))
        return Scalar(quotient, Traits(maybe_nan=True, numpy=True, wide=True))
    if a.base == INT and b.base == INT:
        ratio = _ratio(m, a, b)
        if ratio is not None:
            return ratio
        if not (exact_as_float(a, m.ranges) and exact_as_float(b, m.ranges)):
            reason = "dividing integers that may exceed 2^53: keep one of them as a float"
            raise DeclineSignal("inexact-conversion", reason)
    elif _still_int(a) and _still_int(b) and not (_small(a, m.ranges) and _small(b, m.ranges)):
        reason = "dividing a variable that may be an integer: start it with 0.0"
        raise DeclineSignal("inexact-conversion", reason)
    x, y = to_float(m, flow, a), to_float(m, flow, b)
    m.fail(flow, _is_zero(b.term), ZeroDivisionError)
    return Scalar(app(Op.FLOAT_DIV, x, y), Traits(maybe_nan=True, numpy=a.traits.numpy))


def _ratio(m: SymbolicMachine, a: Scalar, b: Scalar) -> Scalar | None:
    """Evaluate a large integer divided by a positive constant; None for other quotients."""
    by = literal_value(b.term) if isinstance(b.term, Lit) else None
    if exact_as_float(a, m.ranges) or not isinstance(by, int) or not 0 < by <= EXACT_INT_BOUND:
        return None
    if a.traits.numpy or not m.ranges.fits(a.term, "bigint"):
        return None
    return Scalar(apply_function(Op.INT_RATIO, a.term, b.term))


def _small(value: Scalar, ranges: Ranges) -> bool:
    """Return whether the int that Python may hold is exact as a float."""
    return value.base == FLOAT or exact_as_float(value, ranges)


def to_float(m: SymbolicMachine, flow: Flow, value: Scalar) -> Term:
    """Evaluate ``float(value)``. Mixed arithmetic converts an int in the same way: it rounds, and
    raises OverflowError if the int is too large.
    """
    if value.base == FLOAT:
        return value.term
    if not exact_as_float(value, m.ranges):
        too_large = or_(
            app(Op.PY_GE, value.term, int_lit(FLOAT_LIMIT)),
            app(Op.PY_LE, value.term, int_lit(-FLOAT_LIMIT)),
        )
        m.fail(flow, too_large, OverflowError)
        return app(Op.INT_TO_FLOAT, value.term)
    return as_float(value.term)


def exact_as_float(value: Scalar, ranges: Ranges) -> bool:
    """Return whether every integer value of the term is exact as a float."""
    if value.traits.literal:
        return True
    bound = ranges.magnitude(value.term)
    return bound is not None and bound <= EXACT_INT_BOUND


def unary(m: SymbolicMachine, flow: Flow, op: ast.unaryop, value: Value) -> Scalar:
    """Evaluate ``-value`` or ``+value``."""
    operand = number(m, flow, value)
    if isinstance(op, ast.UAdd):
        return operand
    if not isinstance(op, ast.USub):
        raise DeclineSignal("unsupported-operation", f"{operator(op)} is not supported")
    if operand.base == INT:
        if isinstance(operand.term, Lit):
            return Scalar(int_lit(-int(operand.term.value or 0)), operand.traits)
        if operand.traits.numpy and not m.ranges.fits(app(Op.INT_NEG, operand.term), "bigint"):
            raise DeclineSignal("numpy-scalar", "the negative of a numpy integer: use int(...)")
        return Scalar(app(Op.INT_NEG, operand.term), _numpy_traits(operand))
    whole = operand.traits.whole
    if whole is not None:
        return _negate_whole(operand, whole)
    if isinstance(operand.term, Lit):
        return Scalar(float_lit(-bits_float(int(operand.term.value or 0))), operand.traits)
    return Scalar(app(Op.FLOAT_NEG, operand.term), operand.traits)


def _numpy_traits(value: Scalar) -> Traits:
    """Return the traits that say whether a number is NumPy's, without the others."""
    return Traits(numpy=value.traits.numpy, wide=value.traits.wide)


def _negate_whole(value: Scalar, whole: Whole) -> Scalar:
    """Evaluate ``-value`` of what may be an int: -0 is 0, but -0.0 is a different zero."""
    result, zero = fold_constants(app(Op.FLOAT_NEG, value.term)), float_lit(0.0)
    if whole.low <= 0 <= whole.high:
        if whole.when is None:
            reason = "the sign of a variable that may be the integer 0: start it with 0.0"
            raise DeclineSignal("mixed-types", reason)
        is_zero = and_(whole.when, fold_constants(app(Op.PY_EQ, value.term, zero)))
        result = ite(is_zero, zero, result)
    whole = Whole(-whole.high, -whole.low, whole.when)
    return Scalar(result, replace(value.traits, whole=whole))


def absolute(m: SymbolicMachine, flow: Flow, value: Value) -> Scalar:
    """Evaluate ``abs(value)``: 0.0 for -0.0, NaN for NaN."""
    operand = number(m, flow, value)
    term = operand.term
    if operand.base == INT:
        negative = app(Op.PY_LT, term, int_lit(0))
        traits = LITERAL if operand.traits.literal else _numpy_traits(operand)
        if operand.traits.numpy and not m.ranges.fits(app(Op.INT_NEG, term), "bigint"):
            raise DeclineSignal("numpy-scalar", "abs() of a numpy integer: use int(...)")
        return Scalar(ite(negative, app(Op.INT_NEG, term), term), traits)
    whole = operand.traits.whole
    if whole is not None:
        whole = Whole(0, whole.magnitude, whole.when)
    return Scalar(absolute_double(term), replace(operand.traits, whole=whole))


def absolute_double(x: Term) -> Term:
    """Return the absolute value of a double: 0.0 for -0.0, NaN for NaN."""
    zero = float_lit(0.0)
    small = ite(app(Op.PY_EQ, x, zero), zero, app(Op.FLOAT_NEG, x))
    return ite(app(Op.PY_GT, x, zero), x, small)
