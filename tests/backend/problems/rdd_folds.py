"""Aggregators with ``merge``, as users of ``aggregateByKey`` write them, right ones and wrong."""

from __future__ import annotations

from typing import Any


class Highest:
    """The highest score."""

    def zero(self) -> Any:
        return None

    def reduce(self, acc: Any, row: Any) -> Any:
        if row.score is None:
            return acc
        return row.score if acc is None or row.score > acc else acc

    def merge(self, a: Any, b: Any) -> Any:
        if a is None:
            return b
        if b is None:
            return a
        return b if b > a else a


class LowestOfMerged(Highest):
    """Wrong: merging takes the lower of two."""

    def merge(self, a: Any, b: Any) -> Any:
        if a is None or b is None:
            return None
        return b if b < a else a


class FirstOfMerged(Highest):
    """Wrong: merging takes the first state, whatever the second is."""

    def merge(self, a: Any, b: Any) -> Any:
        return a


class FailsOnNothing(Highest):
    """Wrong: a state without a score cannot be merged."""

    def merge(self, a: Any, b: Any) -> Any:
        return max(a, b)


class TwoHighest:
    """The two highest scores."""

    def zero(self) -> Any:
        return (None, None)

    def reduce(self, acc: Any, row: Any) -> Any:
        first, second = acc
        if row.score is None:
            return acc
        if first is None or row.score > first:
            return (row.score, first)
        if second is None or row.score > second:
            return (first, row.score)
        return acc

    def merge(self, a: Any, b: Any) -> Any:
        first, second = a
        for score in b:
            if score is not None:
                if first is None or score > first:
                    first, second = score, first
                elif second is None or score > second:
                    second = score
        return (first, second)


class HowMany:
    """How many scores are not below a bound, and whether any value is high."""

    def __init__(self, bound: float = 90.0) -> None:
        self.bound = bound

    def zero(self) -> tuple[int, bool]:
        return (0, False)

    def reduce(self, acc: tuple[int, bool], row: Any) -> tuple[int, bool]:
        n, high = acc
        if row.score is not None and row.score >= self.bound:
            n += 1
        return (n, high or row.v > 90)

    def merge(self, a: tuple[int, bool], b: tuple[int, bool]) -> tuple[int, bool]:
        return (a[0] + b[0], a[1] or b[1])


class OneTooMany(HowMany):
    """Wrong: each merge counts one more, so that it tells how many partitions there were."""

    def merge(self, a: tuple[int, bool], b: tuple[int, bool]) -> tuple[int, bool]:
        return (a[0] + b[0] + 1, a[1] or b[1])


class Sum:
    """Sums of doubles depend on where they are merged."""

    def zero(self) -> float:
        return 0.0

    def reduce(self, acc: float, row: Any) -> float:
        return acc + row.score if row.score is not None and row.score > 90 else acc

    def merge(self, a: float, b: float) -> float:
        return a + b


class Total:
    """Sums of whole numbers do not."""

    def zero(self) -> int:
        return 0

    def reduce(self, acc: int, row: Any) -> int:
        return acc + row.v if row.v > 90 else acc

    def merge(self, a: int, b: int) -> int:
        return a + b


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

    def merge(self, a: list[Any], b: list[Any]) -> list[Any]:
        for score in tuple(b):
            if score is not None:
                if a[0] is None or score > a[0]:
                    a[1] = a[0]
                    a[0] = score
                elif a[1] is None or score > a[1]:
                    a[1] = score
        return a

    def finish(self, acc: list[Any]) -> list[Any]:
        return list(acc)
