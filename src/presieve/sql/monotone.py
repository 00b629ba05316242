# SPDX-License-Identifier: Apache-2.0
"""Trusted. Spark's monotone functions: they never fall, or never rise, when their argument rises.

To add a function, add a reader to :data:`READERS`, which says on which pieces it is monotone
(:mod:`presieve.sql.piecewise`). Source: the evaluation of each class in
``org.apache.spark.sql.catalyst.expressions``.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction

from msgspec import Struct

from presieve.semantics.intervals import NAN, Interval, Point, number, place
from presieve.semantics.types import decimal_type
from presieve.semantics.values import INTEGERS
from presieve.sql.catalyst_tree import ExprNode
from presieve.sql.expressions import basics, numeric
from presieve.sql.expressions.entry import Entry
from presieve.sql.monotone_times import (
    TIME_READERS,
    day_of_text,
    offsets_of,
    printed_day,
    printed_instant,
    texts_of_times,
    whole_seconds,
)
from presieve.sql.piecewise import (
    DAY,
    DAYS,
    LONGS,
    Monotone,
    Offsets,
    Piece,
    Reader,
    Zones,
    bracket,
    domain,
    exactly,
    integers,
    linear,
    linear_decimal,
    literal_in_order,
    type_name,
)

_NUMBERS: Interval = (None, NAN)
_NAN = Piece((NAN, None), lambda x: x, lambda x: x)


def describe_monotone(node: ExprNode, zones: Zones) -> Monotone | None:
    """Describe an expression as a monotone function of one other; None if none is known."""
    reader = READERS.get(node.entry)
    return None if reader is None else reader(node, zones)


# --- arithmetic -------------------------------------------------------------------------------


class _Operands(Struct, frozen=True):
    """The argument of arithmetic on numbers of a type, and the constant operand: a finite double,
    or an integer. ``turned``: the constant is on the left. The digits of a decimal argument are
    multiplied by ``unit`` first.
    """

    argument: ExprNode
    fixed: float | int
    type: str
    turned: bool
    unit: int = 1


def _operands(node: ExprNode, zones: Zones) -> _Operands | None:
    left, right = node.children
    argument, constant, turned = left, right, False
    if literal_in_order(right, zones) is None:
        argument, constant, turned = right, left, True
    fixed = literal_in_order(constant, zones)
    if not isinstance(fixed, int):
        return None
    type_ = type_name(constant)
    if decimal_type(type_) is not None:
        return _decimal_operands(node, (argument, constant), fixed, turned=turned)
    if type_ != "double":
        return _Operands(argument, fixed, type_, turned)
    double = number(fixed)
    return _Operands(argument, double, type_, turned) if math.isfinite(double) else None


def _decimal_operands(
    node: ExprNode, operands: tuple[ExprNode, ExprNode], fixed: int, *, turned: bool
) -> _Operands | None:
    """The operands with the digits of the constant, and of the argument, as the result has them."""
    types = (type_name(node), *map(type_name, operands))
    digits = [decimal_type(type_) for type_ in types]
    if None in digits:
        return None
    (_, scale), (_, of_argument), (_, of_constant) = (pair for pair in digits if pair is not None)
    argument = operands[0]
    if node.entry is numeric.MULTIPLY:
        return _Operands(argument, fixed, types[0], turned)
    shifted = fixed * 10 ** (scale - of_constant)
    return _Operands(argument, shifted, types[0], turned, 10 ** (scale - of_argument))


def _sum(sign: int) -> Reader:
    def reader(node: ExprNode, zones: Zones) -> Monotone | None:
        of = _operands(node, zones)
        if of is None:
            return None
        argument, fixed, factor = of.argument, of.fixed, sign if of.turned else 1
        if of.type == "double":
            f = _sum_function(fixed, sign, of.turned)
            return _of_doubles(argument, f, rising=factor > 0)
        offset = int(fixed if of.turned else sign * fixed)
        return _linear(of, factor * of.unit, offset)

    return reader


def _sum_function(fixed: float, sign: int, turned: bool) -> Callable[[float], float]:
    if turned:
        return lambda x: fixed + x if sign > 0 else fixed - x
    return lambda x: x + fixed if sign > 0 else x - fixed


def _product(node: ExprNode, zones: Zones) -> Monotone | None:
    of = _operands(node, zones)
    if of is None or of.fixed == 0:
        return None
    factor = of.fixed
    if of.type == "double":
        return _of_doubles(of.argument, lambda x: x * factor, rising=factor > 0)
    return _linear(of, int(factor), 0)


def _linear(of: _Operands, factor: int, offset: int) -> Monotone | None:
    if decimal_type(of.type) is not None:
        return linear_decimal(of.argument, factor, offset, of.type)
    span = integers(of.type)
    return None if span is None else linear(of.argument, factor, offset, span)


def _monotone_division(node: ExprNode, zones: Zones) -> Monotone | None:
    """Division by a constant: of doubles, or of integers towards zero."""
    of = _operands(node, zones)
    if of is None or of.turned or of.fixed == 0:
        return None
    divisor = of.fixed
    if decimal_type(of.type) is not None:
        return None
    if node.entry is numeric.DIVIDE:
        quotient = _of_doubles(of.argument, lambda x: x / divisor, rising=divisor > 0)
        return quotient if of.type == "double" else None
    span = integers(of.type)
    if span is None or divisor == -1:  # the least integer has no opposite
        return None

    def divide(x: Point) -> Point:
        assert isinstance(x, int)
        magnitude = abs(x) // abs(int(divisor))
        return magnitude if (x < 0) == (divisor < 0) else -magnitude

    return exactly(of.argument, divide, span, rising=divisor > 0)


def _of_doubles(argument: ExprNode, f: Callable[[float], float], *, rising: bool) -> Monotone:
    """A monotone function of doubles; NaN gives NaN."""
    numbers = exactly(argument, lambda p: place(f(number(p))), _NUMBERS, rising=rising)  # type: ignore[arg-type]
    return Monotone(argument, (*numbers.pieces, _NAN))


def _opposite(node: ExprNode, _: Zones) -> Monotone | None:
    (argument,) = node.children
    if type_name(argument) == "double":
        return _of_doubles(argument, lambda x: -x, rising=False)
    return _linear(_Operands(argument, -1, type_name(argument), turned=False), -1, 0)


def _absolute(node: ExprNode, _: Zones) -> Monotone | None:
    (argument,) = node.children
    type_ = type_name(argument)
    if type_ != "double" and integers(type_) is None:
        return None
    low, end = (None, None) if type_ == "double" else domain(type_)
    least = low + 1 if isinstance(low, int) else None  # the least integer has no opposite
    falling = Piece((least, 0), _negate, _negate, rising=False)
    rising = Piece((0, end), lambda x: x, lambda x: x)
    return Monotone(argument, (falling, rising))


def _negate(x: Point) -> Point:
    return -x  # type: ignore[operator]


def _rounding_reader(f: Callable[[float], int]) -> Reader:
    def reader(node: ExprNode, _: Zones) -> Monotone | None:
        (argument,) = node.children
        return _convert_to_integer(argument, f, LONGS) if type_name(argument) == "double" else None

    return reader


def _convert_to_integer(argument: ExprNode, f: Callable[[float], int], span: Interval) -> Monotone:
    """Convert a double to an integer type: numbers beyond the type give its last one, and NaN gives
    0. In ANSI mode both are errors.
    """
    low, end = span
    assert isinstance(low, int)
    assert isinstance(end, int)

    def cut(p: Point) -> Point:
        x = number(p)  # type: ignore[arg-type]
        return max(low, min(f(x), end - 1)) if math.isfinite(x) else low if x < 0 else end - 1

    nothing = Piece((NAN, None), lambda _: 0, lambda _: 0)
    return Monotone(argument, (Piece(_NUMBERS, cut, cut), nothing))


# --- casts -----------------------------------------------------------------------------------


def _cast(node: ExprNode, zones: Zones) -> Monotone | None:
    (argument,) = node.children
    before, after = type_name(argument), type_name(node)
    digits = decimal_type(before)
    if digits is not None:
        return _cast_decimal(argument, digits[1], after)
    if before in INTEGERS:
        return _cast_integer(argument, after)
    if before == "double" and after in INTEGERS:
        return _cast_double(argument, after)
    if (before, after) == ("string", "date"):
        return day_of_text(argument, zones)
    rule = _CASTS.get((before, after))
    offsets = offsets_of(node, zones)
    return None if rule is None or offsets is None else rule(argument, offsets)


def _cast_double(argument: ExprNode, after: str) -> Monotone | None:
    span = integers(after)
    if span is None:
        return None
    if after in ("int", "bigint"):
        return _convert_to_integer(argument, math.trunc, span)
    low, end = span
    assert isinstance(low, int)
    assert isinstance(end, int)
    within = (place(float(low)), place(float(end - 1)))
    return exactly(argument, lambda p: math.trunc(number(p)), within)  # type: ignore[arg-type]


def _cast_decimal(argument: ExprNode, scale: int, after: str) -> Monotone | None:
    """A decimal with more places, or as a double: Spark reads the number's text."""
    digits = decimal_type(after)
    if after == "double":
        return exactly(argument, lambda x: place(float(Fraction(x, 10**scale))), _FINITE)  # type: ignore[arg-type]
    if digits is None or digits[1] < scale:
        return None
    return linear_decimal(argument, 10 ** (digits[1] - scale), 0, after)


_FINITE: Interval = (-(2**512), 2**512)
"""Digits of decimals in files, and of what is computed from them, with room to spare."""
_LENGTHS = range(1, 20)


def _texts_of_integers(argument: ExprNode) -> Monotone:
    """Texts of integers with as many digits are in the order of the numbers; those of negative ones
    in the opposite order.
    """
    below = tuple(Piece((1 - 10**n, 1 - 10 ** (n - 1)), str, str, rising=False) for n in _LENGTHS)
    above = tuple(Piece((10 ** (n - 1), 10**n), str, str) for n in _LENGTHS)
    return Monotone(argument, (*reversed(below), Piece((0, 1), str, str), *above))


def _cast_integer(argument: ExprNode, after: str) -> Monotone | None:
    if after == "string":
        return _texts_of_integers(argument)
    if after in INTEGERS:
        span = integers(after)
        return None if span is None else exactly(argument, lambda x: x, span)
    if after == "double":
        return exactly(argument, lambda x: place(float(x)), LONGS)
    digits = decimal_type(after)
    if digits is None:
        return None
    precision, scale = digits
    end = 10 ** (precision - scale)
    return exactly(argument, lambda x: x * 10**scale, (1 - end, end))


def _shift_to_local(
    argument: ExprNode, f: Callable[[int], Point], offsets: Offsets, within: Interval
) -> Monotone:
    low, high = offsets
    return bracket(argument, lambda x: f(x + low), lambda x: f(x + high), within)  # type: ignore[operator]


_CASTS: dict[tuple[str, str], Callable[[ExprNode, Offsets], Monotone]] = {
    ("timestamp", "date"): lambda a, o: _shift_to_local(a, lambda x: x // DAY, o, LONGS),
    ("timestamp", "timestamp_ntz"): lambda a, o: _shift_to_local(a, lambda x: x, o, LONGS),
    ("timestamp", "bigint"): lambda a, _: exactly(a, whole_seconds, LONGS),
    ("date", "timestamp"): lambda a, o: bracket(
        a,
        lambda d: d * DAY - o[1],  # type: ignore[operator]
        lambda d: d * DAY - o[0],  # type: ignore[operator]
        DAYS,
    ),
    ("date", "timestamp_ntz"): lambda a, _: exactly(a, lambda d: d * DAY, DAYS),
    ("timestamp_ntz", "date"): lambda a, _: exactly(a, lambda x: x // DAY, LONGS),  # type: ignore[operator]
    ("timestamp", "string"): lambda a, o: texts_of_times(a, DAY, o, printed_instant),
    ("date", "string"): lambda a, _: texts_of_times(a, 1, (0, 0), printed_day),
}

READERS: dict[Entry, Reader] = {
    numeric.ADD: _sum(1),
    numeric.SUBTRACT: _sum(-1),
    numeric.MULTIPLY: _product,
    numeric.DIVIDE: _monotone_division,
    numeric.INTEGRAL_DIVIDE: _monotone_division,
    numeric.UNARY_MINUS: _opposite,
    numeric.ABS: _absolute,
    numeric.FLOOR: _rounding_reader(math.floor),
    numeric.CEIL: _rounding_reader(math.ceil),
    **TIME_READERS,
    basics.CAST: _cast,
}
