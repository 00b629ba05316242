"""Trusted. Functions of Spark that never fall, or never rise, when their argument rises.

Each is known on pieces of its argument's order, by two functions that never fall (or never rise)
and have the function's value between them; mostly they are the same. Outside of the pieces it may
do anything: raise, wrap around or give NULL, which depends on the session's mode. Of NULL each
gives NULL, and of nothing else on its pieces. Days and instants of which Spark cannot compute the
year may raise; they are more than five million years from now.

Instants are read in a time zone by the least and the greatest offset that the zone ever had, so
that neither a clock that is put back nor the day on which it is needs to be known.

Source: the evaluation of each class in ``org.apache.spark.sql.catalyst.expressions``.
"""

from __future__ import annotations

import datetime as dt
import math
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TypeAlias

from presieve.errors import Declined, DeclineSignal
from presieve.ir.terms import Lit, literal_value
from presieve.semantics.functions import first_day
from presieve.semantics.intervals import EVERYTHING, NAN, Interval, Point, number, place
from presieve.semantics.types import decimal_type
from presieve.semantics.values import INT_RANGES, date_of, days_of
from presieve.sql.catalyst import expression
from presieve.sql.catalyst_tree import PACKAGE, ExprNode, type_of

Offsets: TypeAlias = tuple[int, int]
"""The least and the greatest offset from UTC of a time zone, in microseconds."""

SECOND = 1_000_000
DAY = 86_400 * SECOND
_WIDE: Interval = INT_RANGES["bigint"][0], INT_RANGES["bigint"][1] + 1
_DAYS: Interval = INT_RANGES["int"][0], INT_RANGES["int"][1] + 1
_FIRST, _END = first_day(1), first_day(10_000)
"""Days of the years that are written with four digits."""
_NUMBERS: Interval = (None, NAN)

Steps: TypeAlias = Callable[[Point], Point]


@dataclass(frozen=True, slots=True)
class Piece:
    """Where the function is known: its value lies between ``least`` and ``most``, which are both
    rising, or both falling.
    """

    within: Interval
    least: Steps
    most: Steps
    rising: bool = True


_NAN = Piece((NAN, None), lambda x: x, lambda x: x)


@dataclass(frozen=True, slots=True)
class Monotone:
    """A function of one argument, on disjoint pieces of its order."""

    argument: ExprNode
    pieces: tuple[Piece, ...]


@dataclass(frozen=True, slots=True)
class Zones:
    """What is known of time zones: the session's, and the offsets of all that are mentioned."""

    session: str
    offsets: Mapping[str, Offsets]


Reader: TypeAlias = Callable[[ExprNode, Zones], Monotone | None]


def monotone(node: ExprNode, zones: Zones) -> Monotone | None:
    """What is known of an expression that computes with one other; None where nothing is."""
    reader = READERS.get(short(node))
    return None if reader is None else reader(node, zones)


def short(node: ExprNode) -> str:
    """The name of a class of Catalyst's expressions; "" for others."""
    return node.name.removeprefix(PACKAGE) if node.name.startswith(PACKAGE) else ""


def constant(node: ExprNode, zones: Zones) -> Point | None:
    """The value of a literal, in the order of its type; None where it is NULL, or no such."""
    if short(node) != "Literal":
        return None
    term = expression([dict(node.fields)], {}, zones.session)
    if isinstance(term, Declined) or not isinstance(term, Lit):
        return None
    value = literal_value(term)
    if isinstance(value, bool):
        return int(value)
    if isinstance(value, float):
        return place(value)
    return value if isinstance(value, int | str) else None


def is_null(node: ExprNode) -> bool:
    """Whether it is the literal NULL."""
    return short(node) == "Literal" and node.fields.get("value") is None


def type_name(node: ExprNode) -> str:
    """Spark's type of a column, a literal or a cast; "" for other expressions and types."""
    if short(node) not in ("AttributeReference", "Literal", "Cast"):
        return ""
    try:
        return type_of(node)
    except DeclineSignal:
        return ""


def domain(type_: str) -> Interval:
    """All values of a type; those of unknown types have no ends."""
    digits = decimal_type(type_)
    if digits is not None:
        return 1 - 10 ** digits[0], 10 ** digits[0]
    return DOMAINS.get(type_, (None, None))


ORDINARY: Mapping[str, Interval] = {
    "date": (_FIRST, _END),
    "timestamp": (_FIRST * DAY, _END * DAY),
    "timestamp_ntz": (_FIRST * DAY, _END * DAY),
    "double": (None, NAN),
}
"""Values of a type that constants are written of. Others are days and instants of other years than
those of four digits, and NaN.
"""

DOMAINS: Mapping[str, Interval] = {
    **{name: (low, high + 1) for name, (low, high) in INT_RANGES.items()},
    "boolean": (0, 2),
    "date": _DAYS,
    "timestamp": _WIDE,
    "timestamp_ntz": _WIDE,
    "double": (place(-math.inf), NAN + 1),
    "string": ("", None),
}


def _same(argument: ExprNode, f: Steps, *within: Interval, rising: bool = True) -> Monotone:
    return Monotone(argument, tuple(Piece(w, f, f, rising) for w in within))


def _between(argument: ExprNode, least: Steps, most: Steps, *within: Interval) -> Monotone:
    return Monotone(argument, tuple(Piece(w, least, most) for w in within))


_INTEGERS = ("tinyint", "smallint", "int", "bigint")


def _range(type_: str) -> Interval | None:
    """The values of a type of integers."""
    low, high = INT_RANGES.get(type_, (1, 0))
    return (low, high + 1) if type_ in _INTEGERS else None


# --- arithmetic -------------------------------------------------------------------------------


def _sum(sign: int) -> Reader:
    def reader(node: ExprNode, zones: Zones) -> Monotone | None:
        left, right = node.children
        fixed = constant(right, zones)
        argument, turned = (left, False) if fixed is not None else (right, True)
        fixed = constant(left, zones) if turned else fixed
        if not isinstance(fixed, int):
            return None
        type_ = type_name(right if not turned else left)
        factor = sign if turned else 1
        if type_ == "double":
            return _of_doubles(argument, _added(number(fixed), sign, turned), rising=factor > 0)
        span = _range(type_)
        if span is None:
            return None
        offset = fixed if turned else sign * fixed
        return _linear(argument, factor, offset, span)

    return reader


def _added(fixed: float, sign: int, turned: bool) -> Callable[[float], float]:
    if turned:
        return lambda x: fixed + x if sign > 0 else fixed - x
    return lambda x: x + fixed if sign > 0 else x - fixed


def _linear(argument: ExprNode, factor: int, offset: int, span: Interval) -> Monotone:
    """``factor * x + offset`` of integers, where x and the value are within the type."""
    low, end = span
    assert isinstance(low, int)
    assert isinstance(end, int)
    bound = (low - offset, end - 1 - offset)
    if factor < 0:
        bound = (-bound[1], -bound[0])
    first, final = -(-bound[0] // abs(factor)), bound[1] // abs(factor)
    within = (max(first, low), min(final, end - 1) + 1)
    return _same(argument, lambda x: factor * x + offset, within, rising=factor > 0)  # type: ignore[operator]


def _product(node: ExprNode, zones: Zones) -> Monotone | None:
    left, right = node.children
    fixed, argument, other = constant(right, zones), left, right
    if fixed is None:
        fixed, argument, other = constant(left, zones), right, left
    if not isinstance(fixed, int) or fixed == 0:
        return None
    if type_name(other) == "double":
        factor = number(fixed)
        if not math.isfinite(factor):
            return None
        return _of_doubles(argument, lambda x: x * factor, rising=factor > 0)
    span = _range(type_name(other))
    return None if span is None else _linear(argument, fixed, 0, span)


def _quotient(node: ExprNode, zones: Zones) -> Monotone | None:
    """Division of doubles, or of integers towards zero, by a constant."""
    argument, right = node.children
    fixed = constant(right, zones)
    if not isinstance(fixed, int) or fixed == 0:
        return None
    if short(node) == "Divide":
        divisor = number(fixed)
        if type_name(right) != "double" or not math.isfinite(divisor):
            return None
        return _of_doubles(argument, lambda x: x / divisor, rising=divisor > 0)
    span = _range(type_name(right))
    if span is None or fixed == -1:  # the least integer has no opposite
        return None

    def divided(x: Point) -> Point:
        assert isinstance(x, int)
        whole = abs(x) // abs(fixed)
        return whole if (x < 0) == (fixed < 0) else -whole

    return _same(argument, divided, span, rising=fixed > 0)


def _of_doubles(argument: ExprNode, f: Callable[[float], float], *, rising: bool) -> Monotone:
    """Of numbers, and of NaN, of which each gives NaN."""
    numbers = _same(argument, lambda p: place(f(number(p))), _NUMBERS, rising=rising)  # type: ignore[arg-type]
    return Monotone(argument, (*numbers.pieces, _NAN))


def _opposite(node: ExprNode, _: Zones) -> Monotone | None:
    (argument,) = node.children
    if type_name(argument) == "double":
        return _of_doubles(argument, lambda x: -x, rising=False)
    span = _range(type_name(argument))
    return None if span is None else _linear(argument, -1, 0, span)


def _absolute(node: ExprNode, _: Zones) -> Monotone | None:
    (argument,) = node.children
    is_double = type_name(argument) == "double"
    span = (None, None) if is_double else _range(type_name(argument))
    if span is None:
        return None
    low, end = span
    least = low + 1 if isinstance(low, int) else None  # the least integer has no opposite
    falling = Piece((least, 0), _negated, _negated, rising=False)
    rising = Piece((0, end), lambda x: x, lambda x: x)
    return Monotone(argument, (falling, rising))


def _negated(x: Point) -> Point:
    return -x  # type: ignore[operator]


def _rounded(f: Callable[[float], int]) -> Reader:
    def reader(node: ExprNode, _: Zones) -> Monotone | None:
        (argument,) = node.children
        if type_name(argument) != "double":
            return None
        within = (place(-(2.0**62)), place(2.0**62))
        return _same(argument, lambda p: f(number(p)), within)  # type: ignore[arg-type]

    return reader


# --- days and instants ------------------------------------------------------------------------


def _offsets(node: ExprNode, zones: Zones) -> Offsets | None:
    zone = node.fields.get("timeZoneId")
    return zones.offsets.get(zone) if isinstance(zone, str) else None


def year_of(day: int) -> int:
    """The year of a day, in the calendar that is extended to all days."""
    cycles, inside = divmod(day - first_day(1), 146_097)
    return date_of(first_day(1) + inside).year + 400 * cycles


def _civil(day: int) -> tuple[int, int, int]:
    cycles, inside = divmod(day - first_day(1), 146_097)
    date = date_of(first_day(1) + inside)
    return date.year + 400 * cycles, date.month, date.day


def _day(year: int, month: int, day: int) -> int:
    cycles, inside = divmod(year - 1, 400)
    return days_of(dt.date(inside + 1, month, day)) + cycles * 146_097


def _truncated(day: int, unit: str) -> int:
    year, month, _ = _civil(day)
    match unit:
        case "year":
            return _day(year, 1, 1)
        case "quarter":
            return _day(year, (month - 1) // 3 * 3 + 1, 1)
        case "month":
            return _day(year, month, 1)
        case "week":
            return day - (day + 3) % 7
    return day


_UNITS = {
    **dict.fromkeys(("YEAR", "YYYY", "YY"), "year"),
    **dict.fromkeys(("MONTH", "MON", "MM"), "month"),
    "QUARTER": "quarter",
    "WEEK": "week",
}
_SPANS = {"DAY": DAY, "DD": DAY, "HOUR": 3600 * SECOND, "MINUTE": 60 * SECOND, "SECOND": SECOND}


def _year(node: ExprNode, _: Zones) -> Monotone | None:
    return _same(node.children[0], lambda d: year_of(d), _DAYS)  # type: ignore[arg-type]


def _date_trunc(node: ExprNode, zones: Zones) -> Monotone | None:
    argument, unit = node.children
    name = _UNITS.get(str(constant(unit, zones)).upper())
    if name is None:
        return None
    return _same(argument, lambda d: _truncated(d, name), _DAYS)  # type: ignore[arg-type]


def _timestamp_trunc(node: ExprNode, zones: Zones) -> Monotone | None:
    """The local time, cut, and back: each way by some offset of the zone."""
    unit, argument = node.children
    offsets, name = _offsets(node, zones), str(constant(unit, zones)).upper()
    if offsets is None or (name not in _UNITS and name not in _SPANS):
        return None

    def cut(local: int) -> int:
        if name in _SPANS:
            return local - local % _SPANS[name]
        return _truncated(local // DAY, _UNITS[name]) * DAY

    low, high = offsets
    return _between(
        argument,
        lambda x: cut(x + low) - high,  # type: ignore[operator]
        lambda x: cut(x + high) - low,  # type: ignore[operator]
        _WIDE,
    )


def _moved_days(sign: int) -> Reader:
    def reader(node: ExprNode, zones: Zones) -> Monotone | None:
        argument, count = node.children
        fixed = constant(count, zones)
        if not isinstance(fixed, int):
            return None
        return _linear(argument, 1, sign * fixed, _DAYS)

    return reader


def _days_between(node: ExprNode, zones: Zones) -> Monotone | None:
    end, start = node.children
    fixed = constant(start, zones)
    if isinstance(fixed, int):
        return _linear(end, 1, -fixed, _DAYS)
    fixed = constant(end, zones)
    return _linear(start, -1, fixed, _DAYS) if isinstance(fixed, int) else None


def _months_later(node: ExprNode, zones: Zones) -> Monotone | None:
    """The same day of a later month, or its last."""
    argument, count = node.children
    fixed = constant(count, zones)
    if not isinstance(fixed, int) or abs(fixed) > 120_000:
        return None

    def later(day: Point) -> Point:
        assert isinstance(day, int)
        year, month, of_month = _civil(day)
        whole = year * 12 + month - 1 + fixed
        return _clamped(whole // 12, whole % 12 + 1, of_month)

    return _same(argument, later, _DAYS)


def _clamped(year: int, month: int, day: int) -> int:
    following = _day(year + month // 12, month % 12 + 1, 1)
    return min(_day(year, month, 1) + day - 1, following - 1)


def _last_day(node: ExprNode, _: Zones) -> Monotone | None:
    def end(day: Point) -> Point:
        assert isinstance(day, int)
        year, month, _ = _civil(day)
        return _clamped(year, month, 31)

    return _same(node.children[0], end, _DAYS)


_DAY_TIME = re.compile(r"interval (?:day|hour|minute|second)(?: to \w+)?")


def _interval_later(node: ExprNode, zones: Zones) -> Monotone | None:
    """Days of the interval are those of the calendar, which may be longer or shorter."""
    argument, interval = node.children
    offsets, type_ = _offsets(node, zones), str(interval.fields.get("dataType"))
    text = str(interval.fields.get("value"))
    if offsets is None or not _DAY_TIME.fullmatch(type_) or not re.fullmatch(r"-?\d+", text):
        return None
    added = int(text)
    slack = offsets[1] - offsets[0] if abs(added) >= DAY else 0
    return _between(
        argument,
        lambda x: x + added - slack,  # type: ignore[operator]
        lambda x: x + added + slack,  # type: ignore[operator]
        (_WIDE[0] + abs(added) + slack, _WIDE[1] - abs(added) - slack),  # type: ignore[operator]
    )


def _seconds(divided: Steps) -> Reader:
    def reader(node: ExprNode, _: Zones) -> Monotone | None:
        argument = node.children[0]
        return _same(argument, divided, _WIDE) if type_name(argument) == "timestamp" else None

    return reader


def _floored(x: Point) -> Point:
    return x // SECOND  # type: ignore[operator]


def _cut(x: Point) -> Point:
    """Towards zero, which is how ``UnixTime`` divides."""
    assert isinstance(x, int)
    return x // SECOND if x >= 0 else -(-x // SECOND)


def _scaled(factor: int) -> Reader:
    def reader(node: ExprNode, _: Zones) -> Monotone | None:
        argument = node.children[0]
        if type_name(argument) not in ("tinyint", "smallint", "int", "bigint"):
            return None
        return _linear(argument, factor, 0, _WIDE)

    return reader


def _unchanged(node: ExprNode, _: Zones) -> Monotone | None:
    return _same(node.children[0], lambda x: x, _WIDE)


# --- text ------------------------------------------------------------------------------------

_FORMAT = re.compile(r"yyyy(?:[-/.]?MM(?:[-/.]?dd(?:[ ]?HH(?::?mm(?::?ss)?)?)?)?)?")
_CODES = {"yyyy": "{0:04d}", "MM": "{1:02d}", "dd": "{2:02d}", "HH": "{3:02d}"}
_CODES |= {"mm": "{4:02d}", "ss": "{5:02d}"}


def _written(argument: ExprNode, unit: int, offsets: Offsets, text: Steps) -> Monotone:
    """Texts of days or instants, of their local time. Other years than those of four digits begin
    with a sign, or are before the year 2 in either way to count them.
    """
    low, high = offsets
    first, end, later = _FIRST * unit - low, _END * unit - high, _END * unit - low
    pieces = (
        Piece((None, first), lambda _: "", lambda _: "0002"),
        Piece((first, end), lambda x: text(x + low), lambda x: text(x + high)),  # type: ignore[operator]
        Piece((end, later), lambda _: "+", lambda _: "9999~"),
        Piece((later, None), lambda _: "+", lambda _: "+~"),
    )
    return Monotone(argument, pieces[:2] + pieces[2 if end < later else 3 :])


def _printed(local: int, form: str) -> str:
    day, rest = divmod(local, DAY)
    seconds = rest // SECOND
    return form.format(*_civil(day), seconds // 3600, seconds // 60 % 60, seconds % 60)


def _formatted(node: ExprNode, zones: Zones) -> Monotone | None:
    """The parts of an instant from the year on: as text they are in the same order."""
    argument, pattern = node.children
    offsets, text = _offsets(node, zones), constant(pattern, zones)
    if offsets is None or not isinstance(text, str) or not _FORMAT.fullmatch(text):
        return None
    form = re.sub("|".join(_CODES), lambda m: _CODES[m[0]], text)
    return _written(argument, DAY, offsets, lambda x: _printed(x, form))  # type: ignore[arg-type]


def _head(node: ExprNode, zones: Zones) -> Monotone | None:
    """The first characters, in the order of all texts."""
    argument, start, count = node.children
    first, size = constant(start, zones), constant(count, zones)
    if first not in (0, 1) or not isinstance(size, int) or size < 1:
        return None
    if type_name(argument) != "string" and short(argument) not in ("Substring", "DateFormatClass"):
        return None  # binary values have other characters
    return _same(argument, lambda s: s[:size], EVERYTHING)  # type: ignore[index]


# --- casts -----------------------------------------------------------------------------------


def _cast(node: ExprNode, zones: Zones) -> Monotone | None:
    (argument,) = node.children
    before, after = type_name(argument), type_name(node)
    if before in _INTEGERS:
        return _cast_integer(argument, after)
    if before == "double" and after in _INTEGERS:
        low, end = _range(after) or (0, 0)
        assert isinstance(low, int)
        assert isinstance(end, int)
        within = (place(float(max(low, -(2**62)))), place(float(min(end - 1, 2**62))))
        return _same(argument, lambda p: math.trunc(number(p)), within)  # type: ignore[arg-type]
    rule = _CASTS.get((before or _source(argument), after))
    offsets = _offsets(node, zones)
    return None if rule is None or offsets is None else rule(argument, offsets)


def _source(node: ExprNode) -> str:
    return {"TruncDate": "date", "DateAdd": "date", "DateSub": "date"}.get(short(node), "")


def _cast_integer(argument: ExprNode, after: str) -> Monotone | None:
    if after in _INTEGERS:
        span = _range(after)
        return None if span is None else _same(argument, lambda x: x, span)
    if after == "double":
        return _same(argument, lambda x: place(float(x)), _WIDE)
    digits = decimal_type(after)
    if digits is None:
        return None
    precision, scale = digits
    end = 10 ** (precision - scale)
    return _same(argument, lambda x: x * 10**scale, (1 - end, end))


def _shifted(
    argument: ExprNode, f: Callable[[int], Point], offsets: Offsets, within: Interval
) -> Monotone:
    low, high = offsets
    return _between(argument, lambda x: f(x + low), lambda x: f(x + high), within)  # type: ignore[operator]


def _full(local: Point) -> str:
    assert isinstance(local, int)
    text = _printed(local, "{0:04d}-{1:02d}-{2:02d} {3:02d}:{4:02d}:{5:02d}")
    fraction = f"{local % SECOND:06d}".rstrip("0")
    return f"{text}.{fraction}" if fraction else text


def _iso(day: Point) -> str:
    assert isinstance(day, int)
    return "{:04d}-{:02d}-{:02d}".format(*_civil(day))


_CASTS: dict[tuple[str, str], Callable[[ExprNode, Offsets], Monotone]] = {
    ("timestamp", "date"): lambda a, o: _shifted(a, lambda x: x // DAY, o, _WIDE),
    ("timestamp", "timestamp_ntz"): lambda a, o: _shifted(a, lambda x: x, o, _WIDE),
    ("timestamp", "bigint"): lambda a, _: _same(a, _floored, _WIDE),
    ("date", "timestamp"): lambda a, o: _between(
        a,
        lambda d: d * DAY - o[1],  # type: ignore[operator]
        lambda d: d * DAY - o[0],  # type: ignore[operator]
        _DAYS,
    ),
    ("date", "timestamp_ntz"): lambda a, _: _same(a, lambda d: d * DAY, _DAYS),
    ("timestamp_ntz", "date"): lambda a, _: _same(a, lambda x: x // DAY, _WIDE),  # type: ignore[operator]
    ("timestamp", "string"): lambda a, o: _written(a, DAY, o, _full),
    ("date", "string"): lambda a, _: _written(a, 1, (0, 0), _iso),
}

READERS: dict[str, Reader] = {
    "Add": _sum(1),
    "Subtract": _sum(-1),
    "Multiply": _product,
    "Divide": _quotient,
    "IntegralDivide": _quotient,
    "UnaryMinus": _opposite,
    "Abs": _absolute,
    "Floor": _rounded(math.floor),
    "Ceil": _rounded(math.ceil),
    "Year": _year,
    "TruncDate": _date_trunc,
    "TruncTimestamp": _timestamp_trunc,
    "DateAdd": _moved_days(1),
    "DateSub": _moved_days(-1),
    "DateDiff": _days_between,
    "AddMonths": _months_later,
    "LastDay": _last_day,
    "TimestampAddInterval": _interval_later,
    "TimeAdd": _interval_later,
    "UnixTimestamp": _seconds(_cut),
    "ToUnixTimestamp": _seconds(_cut),
    "UnixSeconds": _seconds(_floored),
    "UnixMicros": _unchanged,
    "UnixDate": _unchanged,
    "SecondsToTimestamp": _scaled(SECOND),
    "MillisToTimestamp": _scaled(1000),
    "MicrosToTimestamp": _scaled(1),
    "DateFormatClass": _formatted,
    "Substring": _head,
    "Cast": _cast,
}
"""By class."""
