"""Aggregators as users write them."""

from __future__ import annotations

from datetime import date, datetime
from decimal import Decimal
from typing import Any

import presieve


class Best(presieve.Aggregator):
    """The highest score."""

    def zero(self) -> Any:
        return None

    def reduce(self, acc: Any, row: Any) -> Any:
        score = row["score"]
        if score is None:
            return acc
        return score if acc is None or score > acc else acc


class CountAtLeast:
    """How many values are not below a bound; inherits nothing."""

    def __init__(self, bound: int) -> None:
        self.bound = bound

    def zero(self) -> int:
        return 0

    def reduce(self, acc: int, row: Any) -> int:
        return acc + 1 if row.v >= self.bound else acc


class TopTwo(presieve.Aggregator):
    """The two highest scores, as a tuple."""

    def zero(self) -> Any:
        return (None, None)

    def reduce(self, acc: Any, row: Any) -> Any:
        first, second = acc
        score = row[0]
        if score is None:
            return acc
        if first is None or score > first:
            return (score, first)
        if second is None or score > second:
            return (first, score)
        return acc


class TwoSums(presieve.Aggregator):
    """The sum of the values over 10, and of those over 3."""

    def zero(self) -> Any:
        return (0, 0)

    def reduce(self, acc: Any, row: Any) -> Any:
        large, some = acc
        v = row[0]
        if v is not None and v > 10:
            large += v
        if v is not None and v > 3:
            some += v
        return large, some


class Mean:
    """In the shape of PySpark 4.4: rows are tuples, types are properties."""

    @property
    def bufferSchema(self) -> str:
        return "total double, n bigint"

    @property
    def outputType(self) -> str:
        return "double"

    def zero(self) -> tuple[float, int]:
        return (0.0, 0)

    def reduce(self, acc: tuple[float, int], value: Any) -> tuple[float, int]:
        (v,) = value
        return acc if v is None else (acc[0] + v, acc[1] + 1)

    def merge(self, a: tuple[float, int], b: tuple[float, int]) -> tuple[float, int]:
        return (a[0] + b[0], a[1] + b[1])

    def finish(self, acc: tuple[float, int]) -> float | None:
        return acc[0] / acc[1] if acc[1] else None


class Latest(presieve.Aggregator):
    """The greatest of any type of values."""

    def zero(self) -> Any:
        return None

    def reduce(self, acc: Any, row: Any) -> Any:
        (x,) = row
        return acc if x is None or (acc is not None and acc >= x) else x


class Boundaries(presieve.Aggregator):
    """Compares with naive constants."""

    def zero(self) -> Any:
        return (None, None, None)

    def reduce(self, acc: Any, row: Any) -> Any:
        day, at, amount = acc
        if row.d is not None and row.d >= date(2024, 1, 2):
            day = row.d
        if row.t is not None and row.t >= datetime(2024, 1, 2, 12):
            at = row.t
        if row.m is not None and row.m >= Decimal("2.50"):
            amount = row.m
        return (day, at, amount)


class Listing(presieve.Aggregator):
    """Grows a list: not lifted."""

    def zero(self) -> Any:
        return ()

    def reduce(self, acc: Any, row: Any) -> Any:
        return (*acc, row["score"])

    def finish(self, acc: Any) -> int:
        return len({str(x)[:1] for x in acc})


class Late(presieve.Aggregator):
    """Its finish is no method, which lifting would not see."""

    finish = Decimal  # type: ignore[assignment]

    def zero(self) -> int:
        return 0

    def reduce(self, acc: int, row: Any) -> int:
        return acc if row.v < acc else int(row.v)


class TwoInPlace:
    """The two highest scores, in a list that is changed in place and returned."""

    def zero(self) -> list[Any]:
        return [None, None]

    def reduce(self, acc: list[Any], row: Any) -> list[Any]:
        if row.score is None:
            return acc
        if acc[0] is None or row.score > acc[0]:
            acc[1] = acc[0]
            acc[0] = row.score
        elif acc[1] is None or row.score > acc[1]:
            acc[1] = row.score
        return acc

    def finish(self, acc: list[Any]) -> list[Any]:
        return list(acc)
