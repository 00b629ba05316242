# SPDX-License-Identifier: Apache-2.0
"""Trusted. Numbers: ``float()``, ``abs()``, ``round()`` and functions of the module ``math``."""

from __future__ import annotations

import math
from collections.abc import Callable

from presieve.ir.ops import app, negate
from presieve.ir.sorts import BOOL, FLOAT, INT, STRING
from presieve.ir.terms import FALSE, Lit, Op, Term, float_lit, int_lit, literal_value, string_lit
from presieve.lift.execution.state import ModelCall
from presieve.lift.models.builtins import strings
from presieve.lift.models.builtins.arithmetic import (
    absolute,
    exact_as_float,
    is_infinite_number,
    square_of_float,
    to_float,
)
from presieve.lift.models.builtins.comparisons import boolean
from presieve.lift.models.registry import function
from presieve.lift.values.symbolic import PLAIN, Scalar, Traits, constant_of, describe
from presieve.lift.values.whole_columns import NullableV
from presieve.semantics.smart_constructors import (
    and_,
    apply_function,
    as_float,
    as_int,
    fold_constants,
    is_none,
    ite,
    or_,
)


@function("builtins.float", arguments=1)
def as_double(call: ModelCall) -> Scalar:
    """``float`` of a number, a boolean or a text. What it does not take raises."""
    m, flow, (of,) = call.m, call.flow, call.args
    value = m.scalar(flow, of)
    if value.base == STRING and call.name == "float":
        if isinstance(value.term, Lit):
            return _float_of_text(call, str(literal_value(value.term)))
        return Scalar(strings.number_in(call, value, "float"), Traits(maybe_nan=True))
    if value.base == BOOL:
        value = Scalar(as_int(value.term), PLAIN)
    if value.base not in (INT, FLOAT):
        raise call.decline("unsupported-operation", f"{call.name}() of {describe(value)}")
    return Scalar(to_float(m, flow, value), Traits(maybe_nan=value.traits.maybe_nan))


def _float_of_text(call: ModelCall, text: str) -> Scalar:
    try:
        number = float(text)
    except ValueError:
        raise call.decline("always-raises", f"float({text!r}) raises") from None
    return Scalar(float_lit(number), Traits(maybe_nan=number != number))


@function("math.isnan", arguments=1)
def is_nan(call: ModelCall) -> Scalar:
    """``math.isnan`` of a number; raises for None and strings."""
    m, flow, (of,) = call.m, call.flow, call.args
    forced = m.force(of, flow)
    if isinstance(forced, NullableV) and forced.base in (INT, FLOAT):
        m.columns.ask(forced.term)
        return boolean(is_none(forced.term))
    value = m.scalar(flow, of)
    m.columns.ask(value.term)
    if value.base in (BOOL, INT) and (value.base == BOOL or exact_as_float(value, m.ranges)):
        return boolean(FALSE)
    if value.base != FLOAT:
        raise call.decline("unsupported-operation", f"isnan of {describe(value)}")
    return boolean(app(Op.IS_NAN, value.term))


@function("math.isinf", arguments=1)
def is_infinite(call: ModelCall) -> Scalar:
    """``math.isinf`` of a number; raises for None."""
    return boolean(is_infinite_number(as_double(call).term))


@function("math.isfinite", arguments=1)
def is_finite(call: ModelCall) -> Scalar:
    """``math.isfinite`` of a number: neither infinite nor NaN."""
    value = as_double(call)
    call.m.columns.ask(value.term)
    return boolean(negate(or_(app(Op.IS_NAN, value.term), is_infinite_number(value.term))))


@function("math.fabs", arguments=1)
def fabs(call: ModelCall) -> Scalar:
    """``math.fabs`` of a number, always a float."""
    return absolute(call.m, call.flow, as_double(call))


@function("builtins.abs", arguments=1)
def make_absolute(call: ModelCall) -> Scalar:
    """``abs`` of a number."""
    return absolute(call.m, call.flow, call.args[0])


# --- whole numbers --------------------------------------------------------------------------------


@function("math.floor", "math.ceil", "math.trunc", arguments=1)
def round_to_whole(call: ModelCall) -> Scalar:
    """``math.floor``, ``ceil`` and ``trunc`` of a number. NaN and infinity raise."""
    value = _number(call)
    return value if value.base == INT else convert_to_whole(call, _WHOLE[call.name], value)


def convert_to_whole(call: ModelCall, op: Op, value: Scalar) -> Scalar:
    """Convert a float to an integer. NaN raises ValueError, infinity OverflowError."""
    call.m.fail(call.flow, app(Op.IS_NAN, value.term), ValueError)
    call.m.fail(call.flow, is_infinite_number(value.term), OverflowError)
    return Scalar(apply_function(op, value.term))


@function("builtins.round", arguments=range(1, 3))
def round_number(call: ModelCall) -> Scalar:
    """``round`` of a float, to so many digits after the point, and of an integer."""
    value = _number(call)
    if value.traits.numpy:
        raise call.decline("numpy-scalar", "round of a numpy number: use round(float(...), ...)")
    digits = constant_of(call.args[1], INT) if len(call.args) == 2 else 0
    if not isinstance(digits, int) or digits < 0:
        raise call.decline("unsupported-operation", "round to these digits is not read")
    if value.base == INT:
        return value
    near = apply_function(Op.FLOAT_ROUND, value.term, int_lit(digits))
    if len(call.args) == 2:
        return Scalar(near, Traits(whole=value.traits.whole, maybe_nan=value.traits.maybe_nan))
    return convert_to_whole(call, Op.FLOAT_TRUNC, Scalar(near))


def whole_double(name: str) -> Callable[[Term], Term]:
    """Return how NumPy rounds doubles by ``floor``, ``ceil`` or ``trunc``: NaN and infinite ones
    stay, and a zero has the sign of the number.
    """

    def round_double(x: Term) -> Term:
        endless = or_(app(Op.IS_NAN, x), *(_equals(x, end) for end in (math.inf, -math.inf)))
        whole = as_float(apply_function(_WHOLE[name], x))
        is_negative = fold_constants(app(Op.PY_LT, x, float_lit(0.0)))
        zero = ite(_equals(x, 0.0), x, ite(is_negative, float_lit(-0.0), float_lit(0.0)))
        return ite(endless, x, ite(_equals(whole, 0.0), zero, whole))

    return round_double


def _equals(x: Term, number: float) -> Term:
    return fold_constants(app(Op.PY_EQ, x, float_lit(number)))


@function("math.sqrt", arguments=1)
def root(call: ModelCall) -> Scalar:
    """``math.sqrt`` of a number; of one below zero it raises."""
    value = as_double(call)
    call.m.fail(call.flow, fold_constants(app(Op.PY_LT, value.term, float_lit(0.0))), ValueError)
    return Scalar(
        apply_function(Op.FLOAT_SQRT, value.term), Traits(maybe_nan=value.traits.maybe_nan)
    )


# --- functions whose last bits depend on the platform ---------------------------------------------


@function(*(f"math.{n}" for n in ("exp", "expm1", "log", "log10", "log2", "log1p")), arguments=1)
def grow(call: ModelCall) -> Scalar:
    """``math.exp``, ``expm1``, ``log``, ``log10``, ``log2`` and ``log1p``: bounds are known."""
    value, (beyond, error) = as_double(call), _LIMITS[call.name]
    call.m.fail(call.flow, _above(value.term) if beyond is None else beyond(value.term), error)
    return _apply_float_call(value, call.name)


@function(
    *(f"math.{n}" for n in ("sin", "cos", "tan", "asin", "acos", "atan", "tanh")), arguments=1
)
def turn(call: ModelCall) -> Scalar:
    """``math.sin``, ``cos``, ``tan``, ``asin``, ``acos``, ``atan`` and ``tanh``."""
    value = as_double(call)
    if call.name in ("sin", "cos", "tan"):
        call.m.fail(call.flow, is_infinite_number(value.term), ValueError)
    elif call.name in ("asin", "acos"):
        sides = _compare(Op.PY_LT, value.term, -1.0), _compare(Op.PY_GT, value.term, 1.0)
        call.m.fail(call.flow, or_(*sides), ValueError)
    return _apply_float_call(value, call.name)


@function("math.radians", "math.degrees", arguments=1)
def convert_angle(call: ModelCall) -> Scalar:
    """``math.radians`` and ``math.degrees``, which multiply by a constant."""
    value = as_double(call)
    factor = math.pi / 180.0 if call.name == "radians" else 180.0 / math.pi
    return Scalar(app(Op.FLOAT_MUL, value.term, float_lit(factor)), Traits(maybe_nan=True))


@function("math.pow", arguments=2)
def power(call: ModelCall) -> Scalar | None:
    """``math.pow(x, 2)``, as ``x ** 2``."""
    exponent = constant_of(call.args[1], INT, FLOAT)
    if exponent != 2:
        return None
    value = as_double(call._replace(args=call.args[:1]))
    return square_of_float(call.m, call.flow, value)


def numpy_root(call: ModelCall) -> Scalar:
    """``numpy.sqrt`` of a number: NaN of one below zero."""
    value = as_double(call)
    negative = _compare(Op.PY_LT, value.term, 0.0)
    zero = ite(negative, float_lit(0.0), value.term)
    number = ite(negative, float_lit(math.nan), apply_function(Op.FLOAT_SQRT, zero))
    return Scalar(number, Traits(maybe_nan=True, numpy=True, wide=True))


def _apply_float_call(value: Scalar, name: str) -> Scalar:
    term = apply_function(Op.FLOAT_CALL, value.term, string_lit(name))
    return Scalar(term, Traits(maybe_nan=value.traits.maybe_nan))


def _compare(op: Op, term: Term, number: float) -> Term:
    return fold_constants(app(op, term, float_lit(number)))


def _above(term: Term) -> Term:
    """Whether ``exp`` of a number is too large: between two doubles, far from either."""
    finite = _compare(Op.PY_LT, term, math.inf)
    return and_(_compare(Op.PY_GT, term, 709.782712893384), finite)


_LIMITS: dict[str, tuple[Callable[[Term], Term] | None, type[BaseException]]] = {
    **dict.fromkeys(("exp", "expm1"), (None, OverflowError)),
    **dict.fromkeys(("log", "log10", "log2"), (lambda x: _compare(Op.PY_LE, x, 0.0), ValueError)),
    "log1p": (lambda x: _compare(Op.PY_LE, x, -1.0), ValueError),
}
"""When these functions raise, and what."""


def _number(call: ModelCall) -> Scalar:
    value = call.m.scalar(call.flow, call.args[0])
    if value.base == BOOL and not value.traits.numpy:
        return Scalar(as_int(value.term), PLAIN)
    if value.base not in (INT, FLOAT):
        raise call.decline("unsupported-operation", f"{call.name} of {describe(value)}")
    return value


_WHOLE = {"floor": Op.FLOAT_FLOOR, "ceil": Op.FLOAT_CEIL, "trunc": Op.FLOAT_TRUNC}
