"""Functions of rows, as users write them for ``udf``. Pickled by value."""

# mypy: ignore-errors

from __future__ import annotations

from datetime import date, datetime
from decimal import Decimal

CALLS = []


def grade(score):
    if score is None:
        return None
    if score >= 95:
        return "top"
    return "good" if score > 90 else "other"


def twice(v):
    return None if v is None else v * 2 + 1


def half(score):
    return -1.0 if score is None else score * 0.5


def alarming(level, v):
    return level == "error" and v < 5


def severity(level):
    codes = {"error": 3, "warn": 2}
    return codes.get(level, 0)


def positive(v):
    if v <= 0:
        raise ValueError("not positive")
    return v


def squared(v):
    return v * v


def over(v):
    if v is None:
        return None
    return v > 10


def band(score):
    if score is None:
        return None
    for least, name in ((95, "top"), (90, "good")):
        if score >= least:
            return name
    return "other"


def named(level):
    return {"error": "bad", "warn": "odd"}.get(level, "fine")


def far(score):
    import math as m
    from math import isnan

    if score is None or isnan(score):
        return None
    return not m.isinf(score) and score > 50


def whole_or_half(score):
    """An int for some rows, which without Arrow is NULL in a column of doubles."""
    if score is None or score != score:
        return 0
    return score * 0.5


def wrong_type(v):
    return v / 2


def numbered(v):
    CALLS.append(v)
    return len(CALLS)


def opaque(level):
    return "".join(sorted(level or ""))


def is_recent(day):
    return day is not None and day >= date(2024, 1, 2)


def not_before(day):
    return date(2024, 1, 2) if day is None or day < date(2024, 1, 2) else day


def in_the_morning(at):
    return at is not None and datetime(2024, 1, 1, 6) <= at < datetime(2024, 1, 1, 12)


def is_large(amount):
    return amount is not None and amount > Decimal("2.50")


def level_of(amount):
    if amount is None:
        return "none"
    return "high" if amount >= Decimal("9.5") else "low"
