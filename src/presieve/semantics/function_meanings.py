# SPDX-License-Identifier: Apache-2.0
"""Trusted. The meanings of functions of single values, for arguments that are present.

Texts are sequences of code points; upper and lower case are those of the Python that runs the job,
whose version workers share. Here all texts are UTF-8; for others, only
:mod:`presieve.semantics.invalid_utf8` says anything. Dates extend beyond Python's years 1 to 9999,
as Spark's do: the calendar repeats every 400 years. Sources, Spark 4.3.0: ``UTF8String.java``,
``DateTimeUtils.scala``.
"""

from __future__ import annotations

import datetime as dt
import math
import operator
import re
from collections.abc import Callable, Sequence
from functools import cache, partial
from typing import Any

from presieve.errors import PresieveError
from presieve.ir.ops import app
from presieve.ir.terms import App, Lit, Op, Term, Var, literal_value
from presieve.semantics.pattern_prefixes import most_digits
from presieve.semantics.values import INT_RANGES

WHITESPACE = (
    "\t\n\v\f\r\x1c\x1d\x1e\x1f \x85\xa0\u1680\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007"
    "\u2008\u2009\u200a\u2028\u2029\u202f\u205f\u3000"
)
"""The characters that ``str.strip`` removes."""

_EPOCH = dt.date(1970, 1, 1).toordinal()
_CYCLE = 146_097
"""Days in 400 years."""
_MICROSECONDS = 1_000_000
_DAY = 86_400 * _MICROSECONDS


class Undefined(PresieveError):
    """A term has no value here: GET of none, or a division by zero. Lifting guards against it."""


def civil(days: int) -> tuple[int, int, int]:
    """Year, month and day of a date given in days since 1970-01-01."""
    cycles, ordinal = divmod(days + _EPOCH - 1, _CYCLE)
    day = dt.date.fromordinal(ordinal + 1)
    return day.year + 400 * cycles, day.month, day.day


def day_number(year: int, month: int, day: int) -> int:
    """A date in days since 1970-01-01: the inverse of :func:`civil`."""
    cycles, inside = divmod(year - 1, 400)
    return dt.date(inside + 1, month, day).toordinal() - _EPOCH + cycles * _CYCLE


def first_day(year: int) -> int:
    """The first day of a year, in days since 1970-01-01."""
    return day_number(year, 1, 1)


def iso_week(days: int) -> tuple[int, int]:
    """The year and the number of a date's ISO week: those of its Thursday."""
    thursday = days + 3 - (days + 3) % 7
    year = civil(thursday)[0]
    return year, (thursday - first_day(year)) // 7 + 1


def first_iso_day(year: int) -> int:
    """The Monday of the first ISO week of a year, in days since 1970-01-01."""
    within = day_number(year, 1, 4)
    return within - (within + 3) % 7


FIRST_DAYS: dict[Op, Callable[[int], int]] = {
    Op.DATE_YEAR: first_day,
    Op.DATE_ISO_YEAR: first_iso_day,
}
"""The first day of a year, by the function that gives a date's year."""


def _require_finite(f: Callable[[float], int]) -> Callable[[float], int]:
    def call_if_finite(x: float) -> int:
        if not math.isfinite(x):
            raise Undefined("a whole number of NaN or infinity")
        return f(x)

    return call_if_finite


def _sqrt(x: float) -> float:
    if x < 0:
        raise Undefined("the root of a negative number")
    return math.sqrt(x)


def _round_float(x: float, digits: int) -> float:
    try:
        return round(x, digits)
    except OverflowError:
        raise Undefined("a rounded number beyond all doubles") from None


def _part(text: str, separator: str, place: int) -> str:
    parts = text.split(separator)
    return parts[place] if -len(parts) <= place < len(parts) else ""


@cache
def compile_pattern(pattern: str, flags: int) -> re.Pattern[str]:
    """The pattern as Python reads it."""
    return re.compile(pattern, flags)


def _group(text: str, pattern: str, flags: int, method: str, group: int) -> str:
    match: re.Match[str] | None = getattr(compile_pattern(pattern, flags), method)(text)
    part = None if match is None else match.group(group)
    if part is None:
        raise Undefined("a group of a text that does not match")
    return part


def signed_square(x: float) -> float:
    """``x ** 2`` as Python computes it, with the sign of x, so that it rises with x."""
    return x**2 if x >= 0 else -(x**2)


def _call(x: float, name: str) -> float:
    try:
        return float(_function_of(name)(x))
    except (ValueError, OverflowError):
        raise Undefined(f"math.{name} raises") from None


def _function_of(name: str) -> Callable[[float], float]:
    """The function of this name."""
    if name == SQUARE:
        return signed_square
    sign, _, constant = name.partition(" ")
    if sign in _DIVIDING:
        return partial(_divide, sign, float(constant))
    function: Callable[[float], float] = getattr(math, name)
    return function


def _divide(sign: str, divisor: float, x: float) -> float:
    if math.isinf(x):
        raise Undefined("the whole quotient of infinity")
    return _DIVIDING[sign](x, divisor)


def name_of_division(sign: str, divisor: float) -> str:
    """The name of ``x // divisor`` or ``x % divisor``, by a positive constant."""
    return f"{sign} {divisor!r}"


def is_whole_quotient(name: str) -> bool:
    """Whether this is the name of some ``x // divisor``."""
    return name.startswith("// ")


SQUARE = "square"
"""The name of :func:`signed_square`."""
_DIVIDING: dict[str, Callable[[float, float], float]] = {
    "//": operator.floordiv,
    "%": operator.mod,
}
"""The operators in :func:`name_of_division`. All other names are functions of the module ``math``.
"""


def _at(items: Sequence[Any], place: int) -> Any:
    return items[place] if -len(items) <= place < len(items) else None


def _find(items: Sequence[Any], element: Any) -> int:
    return items.index(element) + 1 if element in items else 0


def _parse_number(cls: type[float] | type[int], text: str) -> float | int:
    try:
        return cls(text)
    except ValueError:
        raise Undefined(f"{cls.__name__}() of a text that it does not take") from None


def _is(text: str, kind: str) -> bool:
    if kind not in ("float", "int"):
        return bool(getattr(text, kind)())
    try:
        _parse_number(float if kind == "float" else int, text)
    except Undefined:
        return False
    return True


FUNCTIONS: dict[Op, Callable[..., Any]] = {
    Op.TEXT_DECODED: lambda text: text,
    Op.TEXT_UPPER: str.upper,
    Op.TEXT_LOWER: str.lower,
    Op.TEXT_STRIP: str.strip,
    Op.TEXT_LSTRIP: str.lstrip,
    Op.TEXT_RSTRIP: str.rstrip,
    Op.TEXT_LENGTH: len,
    Op.TEXT_HEAD: lambda text, n: text[:n],
    Op.TEXT_TAIL: lambda text, n: text[n:],
    Op.TEXT_LAST: lambda text, n: text[-n:],
    Op.TEXT_CONTAINS: lambda text, part: part in text,
    Op.TEXT_ENDS: str.endswith,
    Op.TEXT_FIND: str.find,
    Op.TEXT_COUNT: str.count,
    Op.TEXT_REPLACE: str.replace,
    Op.TEXT_TRANSLATE: lambda text, old, new: text.translate(str.maketrans(old, new)),
    Op.TEXT_PART: _part,
    Op.TEXT_MATCHES: lambda text, pattern, flags: bool(compile_pattern(pattern, flags).match(text)),
    Op.TEXT_IS: _is,
    Op.TEXT_TO_FLOAT: lambda text: _parse_number(float, text),
    Op.TEXT_TO_INT: lambda text: _parse_number(int, text),
    Op.TEXT_CONCAT: lambda a, b: a + b,
    Op.TEXT_REVERSE: lambda text: text[::-1],
    Op.TEXT_ZFILL: str.zfill,
    Op.TEXT_WORDS: lambda text, between: between.join(text.split()),
    Op.TEXT_RECASED: lambda text, name: getattr(text, name)(),
    Op.TEXT_RFIND: str.rfind,
    Op.TEXT_SLICE: lambda text, start, stop: text[start:stop],
    Op.TEXT_SUBSTITUTED: lambda text, pattern, flags, by: compile_pattern(pattern, flags).sub(
        by, text
    ),
    Op.TEXT_FOUND: lambda text, pattern, flags: sum(
        1 for _ in compile_pattern(pattern, flags).finditer(text)
    ),
    Op.TEXT_GROUP: _group,
    Op.TEXT_OF_INT: str,
    Op.INT_QUOTIENT: lambda number, divisor: number // divisor,
    Op.INT_RATIO: lambda number, divisor: number / divisor,
    Op.INT_REMAINDER: lambda number, divisor: number % divisor,
    Op.FLOAT_FLOOR: _require_finite(math.floor),
    Op.FLOAT_CEIL: _require_finite(math.ceil),
    Op.FLOAT_TRUNC: _require_finite(math.trunc),
    Op.FLOAT_ROUND: _round_float,
    Op.FLOAT_SQRT: _sqrt,
    Op.FLOAT_CALL: _call,
    Op.ARRAY_SIZE: len,
    Op.ARRAY_AT: _at,
    Op.ARRAY_FIND: _find,
    Op.MAP_KEYS: lambda pairs: tuple(key for key, _ in pairs),
    **dict.fromkeys((Op.MAP_AT, Op.STRUCT_FIELD), lambda pairs, key: dict(pairs).get(key)),
    Op.ELEMENTS: lambda _, what, stand_in: stand_in,
    Op.DATE_DAYS: lambda days: days,
    Op.DATE_YEAR: lambda days: civil(days)[0],
    Op.DATE_MONTH: lambda days: civil(days)[1],
    Op.DATE_DAY: lambda days: civil(days)[2],
    Op.DATE_WEEKDAY: lambda days: (days + 3) % 7,
    Op.DATE_ISO_YEAR: lambda days: iso_week(days)[0],
    Op.DATE_ISO_WEEK: lambda days: iso_week(days)[1],
    Op.DATE_SHIFT: lambda days, more: days + more,
    Op.DATE_MIDNIGHT: lambda days: days * _DAY,
    Op.CLOCK_DATE: lambda time: time // _DAY,
    Op.CLOCK_MICROS: lambda time: time,
    Op.CLOCK_HOUR: lambda time: time // (3600 * _MICROSECONDS) % 24,
    Op.CLOCK_MINUTE: lambda time: time // (60 * _MICROSECONDS) % 60,
    Op.CLOCK_SECOND: lambda time: time // _MICROSECONDS % 60,
    Op.WALL_TIME: lambda instant, ahead: instant + ahead,
    Op.LOCAL_TIME: lambda instant: instant,
}
"""By operator, on values that are not none."""


# --- bounds of results ----------------------------------------------------------------------------

YEARS = range(-5_900_000, 5_900_000)
"""More than the years of Spark's dates, whose days are 32 bits."""

_LONGEST = INT_RANGES["int"][1] - 15
"""The bytes of a text: a row of Spark's has no more (``BufferHolder.java`` and
``ByteArrayMethods.MAX_ROUNDED_ARRAY_LENGTH``).
"""

EXTENTS: dict[Op, tuple[int, int]] = {
    **dict.fromkeys((Op.TEXT_LENGTH, Op.TEXT_COUNT), (0, _LONGEST)),
    **dict.fromkeys((Op.TEXT_FIND, Op.TEXT_RFIND), (-1, _LONGEST)),
    Op.TEXT_FOUND: (0, _LONGEST + 1),
    **dict.fromkeys((Op.ARRAY_SIZE, Op.ARRAY_FIND), (0, INT_RANGES["int"][1])),
    **dict.fromkeys((Op.DATE_YEAR, Op.DATE_ISO_YEAR), (YEARS.start, YEARS.stop)),
    Op.DATE_ISO_WEEK: (1, 53),
    Op.DATE_MONTH: (1, 12),
    Op.DATE_DAY: (1, 31),
    Op.DATE_WEEKDAY: (0, 6),
    Op.CLOCK_MICROS: (INT_RANGES["bigint"][0] - _DAY, INT_RANGES["bigint"][1] + _DAY),
    Op.CLOCK_HOUR: (0, 23),
    Op.CLOCK_MINUTE: (0, 59),
    Op.CLOCK_SECOND: (0, 59),
}
"""The least and the greatest integer that a function returns. No column's text has 2**31 bytes."""


def _extent_of_days(date: Term) -> tuple[int, int] | None:
    """Return the bounds of a date's days, which are 32 bits in a column."""
    match date:
        case App(Op.GET | Op.SOME, (inner,)):
            return _extent_of_days(inner)
        case App(Op.DATE_SHIFT, (inner, Lit(_, int() as days))):
            extent = _extent_of_days(inner)
            return None if extent is None else (extent[0] + days, extent[1] + days)
        case Var() | Lit():
            return INT_RANGES["int"]
    return None


def extent_of(call: App) -> tuple[int, int] | None:
    """Return the least and the greatest integer that a call of a function gives; None if there are
    no bounds.
    """
    match call:
        case App(Op.TEXT_TO_INT, (App(Op.TEXT_GROUP, (_, *how)),)):
            pattern, flags, _, group = (literal_value(t) for t in how if isinstance(t, Lit))
            most = most_digits(str(pattern), int(flags or 0), int(group or 0))
            return None if most is None else (0, 10**most - 1)
        case App(Op.DATE_DAYS, (date,)):
            return _extent_of_days(date)
        case App(op, (App(Op.ITE, (_, then, otherwise)),)):
            sides = [extent_of(app(op, side)) for side in (then, otherwise)]
            ends = [end for side in sides if side is not None for end in side]
            return None if None in sides else (min(ends), max(ends))
    return EXTENTS.get(call.op)
