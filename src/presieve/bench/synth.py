"""Untrusted. The synthesis benchmark: how long the search takes, and whether it gets weaker."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import median

from presieve.bench import folds
from presieve.driver.synthesize import synthesize


@dataclass(frozen=True, slots=True)
class Case:
    """A fold, a filter and the kind of pushdown that is right for them."""

    name: str
    fold: object
    schema: str
    returns: str
    where: str
    kind: str


_X = "x double NOT NULL"
_TWO, _THREE = "first double, second double", "first double, second double, third double"
_KNOWN = "f IS NOT NULL AND f > 5"
_ERROR = "error boolean NOT NULL"

CASES = (
    Case("top two, both", folds.TopTwo, _X, _TWO, "first > 90 AND second > 90", "split"),
    Case("top two, first only", folds.TopTwo, _X, _TWO, "first > 90", "none"),
    Case("top three", folds.TopThree, _X, _THREE, "third > 50", "split"),
    Case("greatest, bound", folds.Greatest, _X, "m double", "m > 100", "exact"),
    Case("greatest, value", folds.Greatest, _X, "m double", "m = 100", "split"),
    Case("sum at least", folds.SumOfPositives, "n int NOT NULL", "s bigint", "s >= 100", "partial"),
    Case("sum at most", folds.SumOfPositives, "n int NOT NULL", "s bigint", "s <= 100", "none"),
    Case("errors at least", folds.CountErrors, _ERROR, "n bigint", "n >= 5", "partial"),
    Case("errors at most", folds.CountErrors, _ERROR, "n bigint", "n <= 5", "none"),
    Case("any error", folds.AnyError, _ERROR, "bad boolean", "bad", "exact"),
    Case("first value", folds.FirstValue, "x double", "f double", _KNOWN, "split"),
    Case("streak", folds.LongestStreak, "error boolean", "n bigint", "n >= 3", "partial"),
)


@dataclass(frozen=True, slots=True)
class Measured:
    """Seconds of each run; the first one of a process loads solver and parser too."""

    case: Case
    kind: str
    prefilter: str
    residual: str
    seconds: tuple[float, ...]
    solver_calls: int

    @property
    def typical(self) -> float:
        """The median of the runs."""
        return median(self.seconds)


def measure(cases: Sequence[Case] = CASES, repetitions: int = 3) -> list[Measured]:
    """Run every case ``repetitions`` times, whole rounds in turn."""
    runs: list[list[float]] = [[] for _ in cases]
    last = []
    for turn in range(repetitions):
        for case, seconds in zip(cases, runs, strict=True):
            start = time.perf_counter()
            found = synthesize(
                case.fold, case.where, schema=case.schema, returns=case.returns, budget=30.0
            )
            seconds.append(time.perf_counter() - start)
            if turn == repetitions - 1:
                last.append(found)
    return [
        Measured(c, f.kind, f.prefilter, f.residual, tuple(s), f.solver_calls)
        for c, f, s in zip(cases, last, runs, strict=True)
    ]
