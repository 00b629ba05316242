# SPDX-License-Identifier: Apache-2.0
"""Trusted. Spark's monotone functions: they never fall, or never rise, when their argument rises.

To add a function, add a reader to :data:`READERS`, which says on which pieces it is monotone
(:mod:`presieve.sql.piecewise`). Source: the evaluation of each class in
``org.apache.spark.sql.catalyst.expressions``.
"""

from __future__ import annotations

import math
from collections.abc import Callable

from msgspec import Struct

from presieve.semantics.intervals import NAN, Interval, Point, number, place
from presieve.semantics.types import decimal_type
from presieve.semantics.values import INTEGERS
from presieve.sql.catalyst_tree import ExprNode
from presieve.sql.expressions import basics, numeric
from presieve.sql.expressions.entry import Entry
from presieve.sql.monotone_times import (
    TIME_READERS,
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
    exactly,
    integers,
    linear,
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
    or an integer. ``turned``: the constant is on the left.
    """

    argument: ExprNode
    fixed: float | int
    type: str
    turned: bool


def _operands(node: ExprNode, zones: Zones) -> _Operands | None:
    left, right = node.children
    argument, constant, turned = left, right, False
    if literal_in_order(right, zones) is None:
        argument, constant, turned = right, left, True
    fixed = literal_in_order(constant, zones)
    if not isinstance(fixed, int):
        return None
    type_ = type_name(constant)
    if type_ != "double":
        return _Operands(argument, fixed, type_, turned)
    double = number(fixed)
    return _Operands(argument, double, type_, turned) if math.isfinite(double) else None


def _sum(sign: int) -> Reader:
    def reader(node: ExprNode, zones: Zones) -> Monotone | None:
        of = _operands(node, zones)
        if of is None:
            return None
        argument, fixed, factor = of.argument, of.fixed, sign if of.turned else 1
        if of.type == "double":
            f = _sum_function(fixed, sign, of.turned)
            return _of_doubles(argument, f, rising=factor > 0)
        span = integers(of.type)
        offset = int(fixed if of.turned else sign * fixed)
        return None if span is None else linear(argument, factor, offset, span)

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
    span = integers(of.type)
    return None if span is None else linear(of.argument, int(factor), 0, span)


def _monotone_division(node: ExprNode, zones: Zones) -> Monotone | None:
    """Division by a constant: of doubles, or of integers towards zero."""
    of = _operands(node, zones)
    if of is None or of.turned or of.fixed == 0:
        return None
    divisor = of.fixed
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
    span = integers(type_name(argument))
    return None if span is None else linear(argument, -1, 0, span)


def _absolute(node: ExprNode, _: Zones) -> Monotone | None:
    (argument,) = node.children
    is_double = type_name(argument) == "double"
    span = (None, None) if is_double else integers(type_name(argument))
    if span is None:
        return None
    low, end = span
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
    if before in INTEGERS:
        return _cast_integer(argument, after)
    if before == "double" and after in INTEGERS:
        return _cast_double(argument, after)
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


def _cast_integer(argument: ExprNode, after: str) -> Monotone | None:
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
