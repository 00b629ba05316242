# SPDX-License-Identifier: Apache-2.0
"""Trusted. Dates and timestamps as text.

Only full, canonical forms are read; Spark reads more (``DateTimeUtils.stringToTimestamp``), which
declines here. A wall-clock time must happen exactly once in its time zone.
"""

from __future__ import annotations

import datetime as dt
import re
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from presieve.errors import DeclineSignal
from presieve.semantics.values import date_of, days_of, instant_of, microseconds_of

_DATE = re.compile(r"(\d{4})-(\d{2})-(\d{2})", re.ASCII)
_TIMESTAMP = re.compile(
    r"(\d{4}-\d{2}-\d{2})"
    r"(?:[ T](\d{2}):(\d{2}):(\d{2})(?:\.(\d{1,6}))?( ?(?:Z|UTC|[+-]\d\d:\d\d))?)?",
    re.ASCII,
)
_OFFSET = re.compile(r"([+-])(\d\d):(\d\d)", re.ASCII)
_UTC_NAMES = ("UTC", "Z", "GMT", "Etc/UTC", "Etc/GMT")

RULES_AGREE = range(1970, 2038)
"""Years in which Python's and Java's time zone databases have the same rules, in every release:
before 1970 they merge zones differently, after 2037 only some have tables.
"""


def _decline(what: str, text: str) -> DeclineSignal:
    return DeclineSignal("sql-literal", f"{what} {text!r} is not supported")


def parse_date(text: str) -> int:
    """Days since the epoch of ``yyyy-mm-dd``. Raises :class:`DeclineSignal`."""
    match = _DATE.fullmatch(text)
    if not match:
        raise _decline("a date must look like '2020-01-31';", text)
    try:
        return days_of(dt.date(int(match[1]), int(match[2]), int(match[3])))
    except ValueError:
        raise _decline("there is no such day;", text) from None


def parse_timestamp(text: str, timezone: str) -> int:
    """Microseconds since the epoch of ``yyyy-mm-dd[ hh:mm:ss[.ffffff]][zone]``.

    Without an explicit zone the text is wall-clock time in ``timezone``. Raises
    :class:`DeclineSignal`.
    """
    wall, zone = _wall(text)
    return _as_instant(wall, zone.strip() if zone else timezone)


def parse_timestamp_ntz(text: str) -> int:
    """The wall-clock time, in microseconds, of ``yyyy-mm-dd[ hh:mm:ss[.ffffff]]``.

    Spark reads a zone and ignores it; here it declines. Raises :class:`DeclineSignal`.
    """
    wall, zone = _wall(text)
    if zone:
        raise _decline("a timestamp without time zone is written without one, not as", text)
    return microseconds_of(wall)


def _wall(text: str) -> tuple[dt.datetime, str | None]:
    """The wall-clock time, and the zone if one is written."""
    match = _TIMESTAMP.fullmatch(text)
    if not match:
        raise _decline("a timestamp must look like '2020-01-31 23:59:59[.123456][Z]';", text)
    day, hour, minute, second, fraction, zone = match.groups()
    midnight = dt.datetime.fromordinal(dt.date(1970, 1, 1).toordinal() + parse_date(day))
    try:
        wall = midnight.replace(
            hour=int(hour or 0),
            minute=int(minute or 0),
            second=int(second or 0),
            microsecond=int((fraction or "").ljust(6, "0")),
        )
    except ValueError:
        raise _decline("there is no such time;", text) from None
    return wall, zone


def midnight(days: int, timezone: str) -> int:
    """The instant at which a day begins in ``timezone``. Raises :class:`DeclineSignal`."""
    return parse_timestamp(date_of(days).isoformat(), timezone)


def midnight_ntz(days: int) -> int:
    """The wall-clock time at which a day begins, in microseconds."""
    return days * 86_400_000_000


def instant_of_wall(shown: int, timezone: str) -> int:
    """The instant at which clocks in ``timezone`` show the time. Raises :class:`DeclineSignal`."""
    try:
        wall = instant_of(shown).replace(tzinfo=None)
    except OverflowError:
        raise _decline("there is no such time;", str(shown)) from None
    return _as_instant(wall, timezone)


def wall_of_instant(instant: int, timezone: str) -> int:
    """The wall-clock time of an instant in ``timezone``, which must never change its clocks: then
    comparing instants is comparing wall-clock times. Raises :class:`DeclineSignal`.
    """
    ahead = _load_zone(timezone).utcoffset(None)
    if ahead is None:
        raise DeclineSignal(
            "timezone",
            f"comparing a timestamp_ntz with a timestamp depends on daylight saving time in "
            f"{timezone}; write TIMESTAMP_NTZ '...'",
        )
    return instant + ahead // dt.timedelta(microseconds=1)


def _load_zone(name: str) -> dt.tzinfo:
    if name in _UTC_NAMES:
        return dt.UTC
    if match := _OFFSET.fullmatch(name):
        minutes = int(match[2]) * 60 + int(match[3])
        if minutes <= 18 * 60 and int(match[3]) < 60:
            return dt.timezone(dt.timedelta(minutes=-minutes if match[1] == "-" else minutes))
    try:
        return ZoneInfo(name)
    except (ZoneInfoNotFoundError, ValueError, OSError):
        raise DeclineSignal("timezone", f"the time zone {name!r} is not known") from None


def _as_instant(wall: dt.datetime, name: str) -> int:
    zone = _load_zone(name)
    if isinstance(zone, ZoneInfo) and wall.year not in RULES_AGREE:
        raise DeclineSignal(
            "timezone", f"{wall} in {name} depends on the time zone database; write it with a Z"
        )
    early, late = (wall.replace(tzinfo=zone, fold=fold) for fold in (0, 1))
    if early.utcoffset() != late.utcoffset():
        raise DeclineSignal(
            "timezone", f"{wall} happens twice or never in {name}; write the instant with a Z"
        )
    offset = early.utcoffset()
    assert offset is not None  # an aware datetime has an offset
    return microseconds_of(wall) - offset // dt.timedelta(microseconds=1)


def print_date(days: int) -> str | None:
    """``yyyy-mm-dd``, or None outside the years 1 to 9999."""
    try:
        return date_of(days).isoformat()
    except OverflowError:
        return None


def print_timestamp(microseconds: int) -> str | None:
    """``yyyy-mm-dd hh:mm:ss[.ffffff]Z``, or None outside the years 1 to 9999."""
    text = print_timestamp_ntz(microseconds)
    return text and text + "Z"


def print_timestamp_ntz(microseconds: int) -> str | None:
    """``yyyy-mm-dd hh:mm:ss[.ffffff]``, or None outside the years 1 to 9999."""
    try:
        return instant_of(microseconds).replace(tzinfo=None).isoformat(sep=" ")
    except OverflowError:
        return None
