"""Folds as users write them, for the public surface and the traps."""

from __future__ import annotations

import time
from typing import Any

import presieve


def shout(v: int | None) -> str | None:
    """A function of one row."""
    if v is None:
        return None
    return "high" if v > 10 else "low"


class CountBetween:
    """How many values lie strictly between two bounds."""

    def __init__(self, low: int, high: int) -> None:
        self.low = low
        self.high = high

    def zero(self) -> Any:
        return 0

    def reduce(self, acc: Any, row: Any) -> Any:
        return acc + 1 if self.low < row["v"] < self.high else acc

    def finish(self, acc: Any) -> Any:
        return acc


class CountAbove(presieve.Aggregator):
    """How many values are above ten."""

    def zero(self) -> Any:
        return 0

    def reduce(self, acc: Any, row: Any) -> Any:
        return acc + 1 if row["v"] > 10 else acc


class Maximum:
    """The largest value; neither inherits nor finishes."""

    def zero(self) -> Any:
        return None

    def reduce(self, acc: Any, row: Any) -> Any:
        v = row["v"]
        return v if acc is None or v > acc else acc


class MaximumPresent:
    """The largest of the values that are there, by attribute."""

    def zero(self) -> Any:
        return None

    def reduce(self, acc: Any, row: Any) -> Any:
        if row.v is None:
            return acc
        return row.v if acc is None or row.v > acc else acc


class MaximumAndSize:
    """The largest value and the number of rows, side by side; by position."""

    def zero(self) -> Any:
        return (None, 0)

    def reduce(self, acc: Any, row: Any) -> Any:
        largest, size = acc
        v = row[1]
        return (v if largest is None or v > largest else largest, size + 1)


class SquareAbove:
    """Whether a square is above a hundred."""

    def zero(self) -> Any:
        return False

    def reduce(self, acc: Any, row: Any) -> Any:
        return acc or row["v"] * row["v"] > 100


class MaximumOfPositive:
    """The largest value; a negative one is an error."""

    def zero(self) -> Any:
        return None

    def reduce(self, acc: Any, row: Any) -> Any:
        v = row["v"]
        if v < 0:
            raise ValueError("a negative value")
        return v if acc is None or v > acc else acc


class Recent:
    """The last value; one above ten that comes first is an error."""

    def zero(self) -> Any:
        return None

    def reduce(self, acc: Any, row: Any) -> Any:
        v = row["v"]
        if acc is None and v > 10:
            raise ValueError("nothing before a high value")
        return v


class NullOrAbove:
    """Whether a value is missing or above ten."""

    def zero(self) -> Any:
        return False

    def reduce(self, acc: Any, row: Any) -> Any:
        v = row["v"]
        return acc or v is None or v > 10


class Size:
    """The number of rows."""

    def zero(self) -> Any:
        return 0

    def reduce(self, acc: Any, row: Any) -> Any:
        return acc + 1


class Total:
    """The sum of the values."""

    def zero(self) -> Any:
        return 0

    def reduce(self, acc: Any, row: Any) -> Any:
        return acc + row["v"]


class Above:
    """The largest value above a limit that the instance knows."""

    def __init__(self, limit: int) -> None:
        self.limit = limit

    def zero(self) -> Any:
        return None

    def reduce(self, acc: Any, row: Any) -> Any:
        v = row["v"]
        if v <= self.limit:
            return acc
        return v if acc is None or v > acc else acc


class Clock:
    """What no proof can speak of."""

    def zero(self) -> Any:
        return 0

    def reduce(self, acc: Any, row: Any) -> Any:
        return acc + time.time()


_seen = 0


class Counter:
    """Writes a global."""

    def zero(self) -> Any:
        return 0

    def reduce(self, acc: Any, row: Any) -> Any:
        global _seen
        _seen += 1
        return acc + 1


def helper(x: Any) -> Any:
    return open(x)


class UnknownCall:
    """Calls what is not known."""

    def zero(self) -> Any:
        return 0

    def reduce(self, acc: Any, row: Any) -> Any:
        return acc + helper(row["v"])
