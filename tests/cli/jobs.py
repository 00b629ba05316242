"""A user's file, as the command line is given it."""

from __future__ import annotations

from typing import Any

print("a user's file may print")


class TopTwo:
    def zero(self) -> Any:
        return (None, None)

    def reduce(self, acc: Any, row: Any) -> Any:
        first, second = acc
        score = row["score"]
        if first is None or score > first:
            return (score, first)
        if second is None or score > second:
            return (first, score)
        return acc


class CountErrors:
    def zero(self) -> Any:
        return 0

    def reduce(self, acc: Any, row: Any) -> Any:
        return acc + 1 if row["error"] else acc


class Total:
    def zero(self) -> Any:
        return 0

    def reduce(self, acc: Any, row: Any) -> Any:
        return acc + row["x"]


class LatestError:
    def zero(self) -> Any:
        return None

    def reduce(self, acc: Any, row: Any) -> Any:
        return row["error"]


def normalize(level: str | None) -> str:
    return (level or "").expandtabs().lower()


class SlowErrors:
    def zero(self) -> Any:
        return 0

    def reduce(self, acc: Any, row: Any) -> Any:
        return acc + 1 if normalize(row["level"]) == "error" and row["ms"] > 500 else acc


def grade(score):  # type: ignore[no-untyped-def]
    if score is None:
        return "none"
    return "low" if score < 1.5 else "high"


def hashed(x):  # type: ignore[no-untyped-def]
    return hash(x)
