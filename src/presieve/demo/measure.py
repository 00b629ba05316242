"""Untrusted. Fair timing of two DataFrames against each other, and equality of their rows."""

from __future__ import annotations

import time
from dataclasses import dataclass
from statistics import median

from pyspark.sql import DataFrame


@dataclass(frozen=True, slots=True)
class Comparison:
    """Seconds of each measured run, and whether every run gave the same rows in some order."""

    written: tuple[float, ...]
    optimized: tuple[float, ...]
    rows: int
    equal: bool

    @property
    def ratio(self) -> float:
        """How many times faster the optimized DataFrame is, by medians."""
        return median(self.written) / median(self.optimized)


def _run(df: DataFrame) -> tuple[float, list[str]]:
    """Return the seconds, and the rows as a sorted list of their texts, in which NaN equals NaN."""
    # A DataFrame keeps its executed plan, and with it the output of shuffles: plan again.
    fresh = df.select("*")
    start = time.perf_counter()
    rows = fresh.collect()
    return time.perf_counter() - start, sorted(map(repr, rows))


def compare(written: DataFrame, optimized: DataFrame, repetitions: int) -> Comparison:
    """Run both once unmeasured (code generation, file cache, workers), then in turns.

    The order within a turn alternates, so that neither always profits from running second.
    """
    _, expected = _run(written)
    _, actual = _run(optimized)
    equal = actual == expected
    seconds: tuple[list[float], list[float]] = ([], [])
    for turn in range(repetitions):
        pair = ((0, written), (1, optimized))
        for which, df in pair if turn % 2 == 0 else reversed(pair):
            taken, rows = _run(df)
            seconds[which].append(taken)
            equal = equal and rows == expected
    return Comparison(tuple(seconds[0]), tuple(seconds[1]), len(expected), equal)
