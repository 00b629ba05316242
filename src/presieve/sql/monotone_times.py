# SPDX-License-Identifier: Apache-2.0
"""Trusted. Spark's functions of days, instants and texts, in monotone pieces.

Instants are read in a time zone by the least and the greatest offset that the zone ever had, so
clock changes and their dates need not be known. Days and instants whose year Spark cannot compute
may raise; they are more than five million years from now.

Source: ``datetimeExpressions.scala`` and ``stringExpressions.scala`` of Spark.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from functools import cache, partial
from itertools import pairwise

from msgspec import Struct

from presieve.records import replace
from presieve.semantics.function_meanings import civil, day_number
from presieve.semantics.intervals import EVERYTHING, Interval, Point, intersection, is_empty
from presieve.semantics.values import INT_RANGES, INTEGERS
from presieve.sql.catalyst_tree import ExprNode
from presieve.sql.expressions import basics, textual, times
from presieve.sql.expressions.entry import Entry
from presieve.sql.piecewise import (
    DAY,
    DAYS,
    END_DAY,
    FIRST_DAY,
    LONGS,
    SECOND,
    Monotone,
    Offsets,
    Piece,
    Reader,
    Steps,
    Zones,
    bracket,
    exactly,
    linear,
    literal_in_order,
    type_name,
)


def offsets_of(node: ExprNode, zones: Zones) -> Offsets | None:
    zone = node.fields.get("timeZoneId")
    return zones.offsets.get(zone) if isinstance(zone, str) else None


def _truncate_day(day: int, unit: str) -> int:
    year, month, _ = civil(day)
    match unit:
        case "year":
            return day_number(year, 1, 1)
        case "quarter":
            return day_number(year, (month - 1) // 3 * 3 + 1, 1)
        case "month":
            return day_number(year, month, 1)
        case "week":
            return day - (day + 3) % 7
    return day


def _of_32_bits(number: int) -> int:
    return (number + 2**31) % 2**32 - 2**31


def _week(day: int) -> int:
    """The Monday after the day a week ago (``DateTimeUtils.getNextDateForDayOfWeek``)."""
    start = _of_32_bits(day - 7)
    return _of_32_bits(start + 1 + _of_32_bits(3 - start) % 7)


_DAYS: Mapping[str, Callable[[int], int]] = {
    "year": lambda day: _of_32_bits(_truncate_day(day, "year")),
    "quarter": lambda day: _truncate_day(day, "quarter"),
    "month": lambda day: _of_32_bits(_truncate_day(day, "month")),
    "week": _week,
    "last day": lambda day: _of_32_bits(_clamp_day(*civil(day)[:2], 31)),
}
"""Functions from a day to the one that belongs to it, with 32 bits as Spark computes them. For a
quarter Spark raises instead (``DateTimeUtils.truncDate``).
"""


@cache
def _rising(name: str) -> tuple[Interval, ...]:
    """The ranges of days between the places where the day that belongs to them wraps around."""
    low, end = INT_RANGES["int"][0], INT_RANGES["int"][1] + 1
    of, year = _DAYS[name], 366
    near = (*range(low + 1, low + year), *range(end - year, end))
    return tuple(pairwise((low, *(day for day in near if of(day) < of(day - 1)), end)))


def _belonging(argument: ExprNode, name: str) -> Monotone:
    return exactly(argument, _DAYS[name], *_rising(name))  # type: ignore[arg-type]


UNITS = {
    **dict.fromkeys(("YEAR", "YYYY", "YY"), "year"),
    **dict.fromkeys(("MONTH", "MON", "MM"), "month"),
    "QUARTER": "quarter",
    "WEEK": "week",
}
_SPANS = {"DAY": DAY, "DD": DAY, "HOUR": 3600 * SECOND, "MINUTE": 60 * SECOND, "SECOND": SECOND}


def _date_trunc(node: ExprNode, zones: Zones) -> Monotone | None:
    argument, unit = node.children
    name = UNITS.get(str(literal_in_order(unit, zones)).upper())
    if name is None:
        return None
    return _belonging(argument, name)


def _timestamp_trunc(node: ExprNode, zones: Zones) -> Monotone | None:
    """Truncate the local time and convert back: each way by some offset of the zone."""
    unit, argument = node.children
    offsets, name = offsets_of(node, zones), str(literal_in_order(unit, zones)).upper()
    if offsets is None or (name not in UNITS and name not in _SPANS):
        return None

    def cut(local: int) -> int:
        if name in _SPANS:
            return local - local % _SPANS[name]
        return _truncate_day(local // DAY, UNITS[name]) * DAY

    low, high = offsets
    return bracket(
        argument,
        lambda x: cut(x + low) - high,  # type: ignore[operator]
        lambda x: cut(x + high) - low,  # type: ignore[operator]
        LONGS,
    )


# --- parts of a day or an instant ------------------------------------------------------------


class _Part(Struct, frozen=True):
    """A part of a day, such as its month, which rises from the ``first`` day of a period to the
    last one. ``longest`` is a number of days after which each period has ended, and the next has
    not.
    """

    of: Callable[[int], int]
    first: Callable[[int], int]
    longest: int
    within: tuple[int, int]


_MAX_PERIODS = 64
_YEAR = partial(_truncate_day, unit="year")

_PARTS: Mapping[Entry, _Part] = {
    times.MONTH: _Part(lambda day: civil(day)[1], _YEAR, 366, (1, 12)),
    times.QUARTER: _Part(lambda day: (civil(day)[1] + 2) // 3, _YEAR, 366, (1, 4)),
    times.DAY_OF_YEAR: _Part(lambda day: day - _YEAR(day) + 1, _YEAR, 366, (1, 366)),
    times.DAY_OF_MONTH: _Part(
        lambda day: civil(day)[2], partial(_truncate_day, unit="month"), 31, (1, 31)
    ),
    times.DAY_OF_WEEK: _Part(
        lambda day: (day + 4) % 7 + 1, lambda day: day - (day + 4) % 7, 7, (1, 7)
    ),
    times.WEEKDAY: _Part(lambda day: (day + 3) % 7, lambda day: day - (day + 3) % 7, 7, (0, 6)),
}


def _part_of_day(node: ExprNode, _: Zones) -> Monotone:
    part = _PARTS[node.entry]
    low, high = part.within
    anywhere = Piece(DAYS, lambda _: low, lambda _: high)

    def periods(hull: Interval) -> tuple[Piece, ...]:
        day, end = hull
        if not isinstance(day, int) or not isinstance(end, int):
            return ()
        if not FIRST_DAY <= day < end <= min(END_DAY, day + _MAX_PERIODS * part.longest):
            return ()
        pieces = []
        while day < end:
            following = part.first(part.first(day) + part.longest)
            pieces.append(Piece((day, min(following, end)), part.of, part.of))  # type: ignore[arg-type]
            day = following
        return tuple(pieces)

    return Monotone(node.children[0], (anywhere,), periods)


def _hour(node: ExprNode, zones: Zones) -> Monotone | None:
    """Within a day of every offset of the zone the hour rises; around midnight it is not known."""
    (argument,) = node.children
    without_zone = type_name(argument) == "timestamp_ntz"
    offsets = (0, 0) if without_zone else offsets_of(node, zones)
    if offsets is None or type_name(argument) not in ("timestamp", "timestamp_ntz"):
        return None
    low, high = offsets
    anywhere = Piece(LONGS, lambda _: 0, lambda _: 23)

    def periods(hull: Interval) -> tuple[Piece, ...]:
        first, end = hull
        if not isinstance(first, int) or not isinstance(end, int):
            return ()
        if end - first > _MAX_PERIODS * DAY:
            return ()
        days = range((first + low) // DAY, (end + high) // DAY + 1)
        parts = (intersection((day * DAY - low, (day + 1) * DAY - high), hull) for day in days)
        return tuple(
            Piece(part, lambda x: _local_hour(x, low), lambda x: _local_hour(x, high))
            for part in parts
            if not is_empty(part)
        )

    return Monotone(argument, (anywhere,), periods)


def _local_hour(instant: Point, offset: int) -> int:
    return (instant + offset) % DAY // (3600 * SECOND)  # type: ignore[operator]


def _moved_days(sign: int) -> Reader:
    def reader(node: ExprNode, zones: Zones) -> Monotone | None:
        argument, count = node.children
        fixed = literal_in_order(count, zones)
        if not isinstance(fixed, int):
            return None
        return linear(argument, 1, sign * fixed, DAYS)

    return reader


def _days_between(node: ExprNode, zones: Zones) -> Monotone | None:
    end, start = node.children
    fixed = literal_in_order(start, zones)
    if isinstance(fixed, int):
        return linear(end, 1, -fixed, DAYS)
    fixed = literal_in_order(end, zones)
    return linear(start, -1, fixed, DAYS) if isinstance(fixed, int) else None


def _months_later(node: ExprNode, zones: Zones) -> Monotone | None:
    """The same day of a later month, or that month's last day."""
    argument, count = node.children
    fixed = literal_in_order(count, zones)
    if not isinstance(fixed, int) or abs(fixed) > 120_000:
        return None

    def later(day: Point) -> Point:
        assert isinstance(day, int)
        year, month, of_month = civil(day)
        months = year * 12 + month - 1 + fixed
        return _clamp_day(months // 12, months % 12 + 1, of_month)

    return exactly(argument, later, DAYS)


def _clamp_day(year: int, month: int, day: int) -> int:
    following = day_number(year + month // 12, month % 12 + 1, 1)
    return min(day_number(year, month, 1) + day - 1, following - 1)


_DAY_TIME = re.compile(r"interval (?:day|hour|minute|second)(?: to \w+)?")


def _interval_later(node: ExprNode, zones: Zones) -> Monotone | None:
    """Days in the interval are calendar days, which may be longer or shorter than 24 hours."""
    argument, interval = node.children
    offsets, type_ = offsets_of(node, zones), str(interval.fields.get("dataType"))
    text = str(interval.fields.get("value"))
    if offsets is None or not _DAY_TIME.fullmatch(type_) or not re.fullmatch(r"-?\d+", text):
        return None
    added = int(text)
    slack = offsets[1] - offsets[0] if abs(added) >= DAY else 0
    return bracket(
        argument,
        lambda x: x + added - slack,  # type: ignore[operator]
        lambda x: x + added + slack,  # type: ignore[operator]
        (LONGS[0] + abs(added) + slack, LONGS[1] - abs(added) - slack),  # type: ignore[operator]
    )


def _seconds(divided: Steps) -> Reader:
    def reader(node: ExprNode, _: Zones) -> Monotone | None:
        argument = node.children[0]
        return exactly(argument, divided, LONGS) if type_name(argument) == "timestamp" else None

    return reader


def whole_seconds(x: Point) -> Point:
    return x // SECOND  # type: ignore[operator]


def _cut_seconds(x: Point) -> Point:
    """Divide towards zero, as ``UnixTime`` does."""
    assert isinstance(x, int)
    return x // SECOND if x >= 0 else -(-x // SECOND)


def _scale_by(factor: int) -> Reader:
    def reader(node: ExprNode, _: Zones) -> Monotone | None:
        argument = node.children[0]
        if type_name(argument) not in INTEGERS:
            return None
        return linear(argument, factor, 0, LONGS)

    return reader


def _keep_unchanged(node: ExprNode, _: Zones) -> Monotone | None:
    return exactly(node.children[0], lambda x: x, LONGS)


# --- text ------------------------------------------------------------------------------------

FORMAT = re.compile(r"yyyy(?:[-/.]?MM(?:[-/.]?dd(?:[ ]?HH(?::?mm(?::?ss)?)?)?)?)?")
_CODES = {"yyyy": "{0:04d}", "MM": "{1:02d}", "dd": "{2:02d}", "HH": "{3:02d}"}
_CODES |= {"mm": "{4:02d}", "ss": "{5:02d}"}


def texts_of_times(argument: ExprNode, unit: int, offsets: Offsets, text: Steps) -> Monotone:
    """Texts of days or instants, by their local time. Years without four digits begin with a sign,
    or are before the year 2 in either way of counting.
    """
    low, high = offsets
    first, end, later = FIRST_DAY * unit - low, END_DAY * unit - high, END_DAY * unit - low
    pieces = (
        Piece((None, first), lambda _: "", lambda _: "0002"),
        Piece((first, end), lambda x: text(x + low), lambda x: text(x + high)),  # type: ignore[operator]
        Piece((end, later), lambda _: "+", lambda _: "9999~"),
        Piece((later, None), lambda _: "+", lambda _: "+~"),
    )
    return Monotone(argument, pieces[:2] + pieces[2 if end < later else 3 :])


def _print_local(local: int, form: str) -> str:
    day, time_of_day = divmod(local, DAY)
    seconds = time_of_day // SECOND
    return form.format(*civil(day), seconds // 3600, seconds // 60 % 60, seconds % 60)


def printed_instant(local: Point) -> str:
    assert isinstance(local, int)
    text = _print_local(local, "{0:04d}-{1:02d}-{2:02d} {3:02d}:{4:02d}:{5:02d}")
    fraction = f"{local % SECOND:06d}".rstrip("0")
    return f"{text}.{fraction}" if fraction else text


def printed_day(day: Point) -> str:
    assert isinstance(day, int)
    return "{:04d}-{:02d}-{:02d}".format(*civil(day))


def _form_of(node: ExprNode, zones: Zones) -> str:
    """How a function writes an instant, as a format of Python's; "" if it is not known."""
    text = literal_in_order(node.children[1], zones)
    if not isinstance(text, str) or not FORMAT.fullmatch(text):
        return ""
    return re.sub("|".join(_CODES), lambda m: _CODES[m[0]], text)


def _format_parts(node: ExprNode, zones: Zones) -> Monotone | None:
    """The parts of an instant from the year on: their text has the same order."""
    offsets, form = offsets_of(node, zones), _form_of(node, zones)
    if offsets is None or not form:
        return None
    return texts_of_times(node.children[0], DAY, offsets, lambda x: _print_local(x, form))  # type: ignore[arg-type]


_MOST_SECONDS = LONGS[1] // SECOND  # type: ignore[operator]


def _format_seconds(node: ExprNode, zones: Zones) -> Monotone | None:
    """The same for seconds since 1970; more of them wrap around as microseconds."""
    offsets, form = offsets_of(node, zones), _form_of(node, zones)
    if offsets is None or not form:
        return None
    texts = texts_of_times(
        node.children[0],
        DAY // SECOND,
        (offsets[0] // SECOND, offsets[1] // SECOND),
        lambda x: _print_local(x * SECOND, form),  # type: ignore[arg-type]
    )
    within = (1 - _MOST_SECONDS, _MOST_SECONDS)
    pieces = (replace(p, within=intersection(p.within, within)) for p in texts.pieces)
    return Monotone(texts.argument, tuple(pieces))


def day_of_text(node: ExprNode, zones: Zones) -> Monotone | None:
    """The day that a function has written with the year, the month and the day, as a function of
    the written time.
    """
    unit = {times.DATE_FORMAT: DAY, times.FROM_UNIX_TIME: DAY // SECOND}.get(node.entry)
    offsets = offsets_of(node, zones)
    if unit is None or offsets is None or not _form_of(node, zones).startswith(_WHOLE_DAY):
        return None
    low, high = (offset * unit // DAY for offset in offsets)
    within = (FIRST_DAY * unit - low, END_DAY * unit - high)
    return bracket(
        node.children[0],
        lambda x: (x + low) // unit,  # type: ignore[operator]
        lambda x: (x + high) // unit,  # type: ignore[operator]
        within,
    )


_WHOLE_DAY = "{0:04d}-{1:02d}-{2:02d}"


def _parse_number(node: ExprNode, zones: Zones) -> Monotone | None:
    """The midnight of a day that is written as a number of eight digits. Others, and numbers that
    are no day, are NULL or raise.
    """
    text, pattern = node.children
    offsets = offsets_of(node, zones)
    if offsets is None or literal_in_order(pattern, zones) != "yyyyMMdd":
        return None
    if node.fields.get("dataType") != "timestamp" or text.entry is not basics.CAST:
        return None
    (number,) = text.children
    if type_name(number) not in INTEGERS or type_name(text) != "string":
        return None
    low, high = offsets
    piece = Piece(
        (10_000_101, 100_000_000),
        lambda n: _day_in_digits(n) * DAY - high,  # type: ignore[arg-type]
        lambda n: _day_in_digits(n) * DAY - low,  # type: ignore[arg-type]
        nullable=True,
    )
    return Monotone(number, (piece,))


def _day_in_digits(number: int) -> int:
    """The day of a number such as 20240229, or the last day before it if it is none."""
    year, month, day = number // 10_000, number // 100 % 100, number % 100
    if month > 12:
        month, day = 12, 31
    return _clamp_day(year, month, day) if month else day_number(year, 1, 1)


def _first_characters(node: ExprNode, zones: Zones) -> Monotone | None:
    """The first characters, in the order of all texts."""
    argument, start, count = node.children
    first, size = literal_in_order(start, zones), literal_in_order(count, zones)
    if first not in (0, 1) or not isinstance(size, int) or size < 1:
        return None
    if type_name(argument) != "string" and argument.entry not in (
        textual.SUBSTRING,
        times.DATE_FORMAT,
    ):
        return None  # binary values have other characters
    return exactly(argument, lambda s: s[:size], EVERYTHING)  # type: ignore[index]


TIME_READERS: Mapping[Entry, Reader] = {
    times.YEAR: lambda node, _: exactly(node.children[0], lambda d: civil(d)[0], DAYS),  # type: ignore[arg-type]
    times.TRUNC_DATE: _date_trunc,
    times.TRUNC_TIMESTAMP: _timestamp_trunc,
    times.DATE_ADD: _moved_days(1),
    times.DATE_SUB: _moved_days(-1),
    times.DATE_DIFF: _days_between,
    times.ADD_MONTHS: _months_later,
    times.LAST_DAY: lambda node, _: _belonging(node.children[0], "last day"),
    times.ADD_INTERVAL: _interval_later,
    times.UNIX_TIMESTAMP: _seconds(_cut_seconds),
    times.UNIX_SECONDS: _seconds(whole_seconds),
    times.UNIX_MICROS: _keep_unchanged,
    times.UNIX_DATE: _keep_unchanged,
    times.SECONDS_TO_TIMESTAMP: _scale_by(SECOND),
    times.MILLIS_TO_TIMESTAMP: _scale_by(1000),
    times.MICROS_TO_TIMESTAMP: _scale_by(1),
    times.DATE_FORMAT: _format_parts,
    times.FROM_UNIX_TIME: _format_seconds,
    times.GET_TIMESTAMP: _parse_number,
    textual.SUBSTRING: _first_characters,
    **dict.fromkeys(_PARTS, _part_of_day),
    times.HOUR: _hour,
}
