"""Functions of timestamps, which a worker is given as the time of its own clock."""

# mypy: disable-error-code="no-untyped-def"
from __future__ import annotations

import datetime as dt

START = dt.datetime(2024, 3, 10, 7)


def hour(t):
    return None if t is None else t.hour


def month(t):
    return None if t is None else t.year * 100 + t.month


def is_late(t):
    return t is not None and t >= START


def is_before_a_day(t):
    return t is not None and t.date() < dt.date(2024, 3, 10)


def weekend(t):
    return "weekend" if t is not None and t.weekday() >= 5 else "week"


def day(t):
    return None if t is None else t.strftime("%Y-%m-%d")


CASES = {
    "hour": (hour, "int", "r >= 22 OR r = 2"),
    "month": (month, "int", "r = 202403"),
    "is late": (is_late, "boolean", "r"),
    "is before a day": (is_before_a_day, "boolean", "r"),
    "weekend": (weekend, "string", "r = 'weekend'"),
    "day": (day, "string", "r = '2024-03-10'"),
}
