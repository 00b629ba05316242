"""Functions that raise on some rows, as users write them. Pickled by value."""

# mypy: ignore-errors

from __future__ import annotations

MONTHS = {"jan": 1, "feb": 2, "mar": 3}


def season(d):
    """Raises where the day is missing."""
    if d < 60:
        return 0
    return 1


def month_number(name):
    """Raises unless the name is one of those that are known."""
    if name == "jan":
        return 1
    if name == "feb":
        return 2
    if name < "n":
        raise ValueError(name)
    return 12


def share(n):
    """Raises on zero and on NULL."""
    return 100.0 / n


def checked(d):
    """Raises on a part of those it would let pass."""
    if d is None:
        return -1
    if 100 <= d < 200:
        raise ValueError(d)
    return d


def positive(d):
    if d is None or d < 0:
        raise ValueError(d)
    return True


def raising_last(d):
    """The largest values raise."""
    if d is not None and d > 300:
        raise ValueError(d)
    return 0 if d is None else d


def total(d):
    return 0 if d is None else d


def missing(d):
    return 1 if d is None else 0


def next_day(x):
    return x + 1
