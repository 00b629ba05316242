"""Untrusted. The user's side of the synthesis benchmark: folds as classes."""

from __future__ import annotations

from typing import Any

from presieve.aggregator import Aggregator


class TopTwo(Aggregator):
    """The two greatest values."""

    def zero(self) -> Any:
        return None, None

    def reduce(self, acc: Any, row: Any) -> Any:
        first, second = acc
        if first is None or row["x"] > first:
            return row["x"], first
        if second is None or row["x"] > second:
            return first, row["x"]
        return acc


class TopThree(Aggregator):
    """The three greatest values."""

    def zero(self) -> Any:
        return None, None, None

    def reduce(self, acc: Any, row: Any) -> Any:
        first, second, third = acc
        if first is None or row["x"] > first:
            return row["x"], first, second
        if second is None or row["x"] > second:
            return first, row["x"], second
        if third is None or row["x"] > third:
            return first, second, row["x"]
        return acc


class Greatest(Aggregator):
    """The greatest value."""

    def zero(self) -> Any:
        return None

    def reduce(self, acc: Any, row: Any) -> Any:
        return row["x"] if acc is None or row["x"] > acc else acc


class SumOfPositives(Aggregator):
    """The sum of what is greater than zero."""

    def zero(self) -> Any:
        return 0

    def reduce(self, acc: Any, row: Any) -> Any:
        return acc + row["n"] if row["n"] > 0 else acc


class CountErrors(Aggregator):
    """The number of errors."""

    def zero(self) -> Any:
        return 0

    def reduce(self, acc: Any, row: Any) -> Any:
        return acc + 1 if row["error"] else acc


class AnyError(Aggregator):
    """Whether there was an error."""

    def zero(self) -> Any:
        return False

    def reduce(self, acc: Any, row: Any) -> Any:
        return acc or row["error"]


class FirstValue(Aggregator):
    """The first value that is not NULL."""

    def zero(self) -> Any:
        return None

    def reduce(self, acc: Any, row: Any) -> Any:
        return row["x"] if acc is None else acc


class LongestStreak(Aggregator):
    """The length of the longest run of errors; NULL does not end a run."""

    def zero(self) -> Any:
        return 0, 0

    def reduce(self, acc: Any, row: Any) -> Any:
        current, longest = acc
        if row["error"] is None:
            return acc
        current = current + 1 if row["error"] else 0
        return current, max(current, longest)

    def finish(self, acc: Any) -> Any:
        return acc[1]
