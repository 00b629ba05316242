"""What runs of Spark compute: the JVM's tasks by Spark's own account, and the Python workers by the
system's. Planning and compiling are not in it, as they do not grow with the rows; other load on the
machine changes it less than time on the clock.
"""

from __future__ import annotations

import os
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import count
from pathlib import Path
from statistics import median
from typing import TYPE_CHECKING, Any

from py4j.protocol import Py4JJavaError

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

_TICK = os.sysconf("SC_CLK_TCK")


@dataclass(frozen=True, slots=True)
class Spent:
    """Seconds of one run: computed by tasks and Python workers, and on the clock."""

    computed: float
    passed: float


def _processes() -> Iterator[tuple[int, int, int]]:
    """Number and parent of each Python process, and the ticks that it and ended children took."""
    for entry in Path("/proc").iterdir():
        if entry.name.isdecimal():
            try:
                text = (entry / "stat").read_text()
            except OSError:
                continue  # it has ended
            name, _, rest = text.rpartition(")")
            parts = rest.split()
            ticks = sum(map(int, parts[11:15])) if "python" in name else 0
            yield int(entry.name), int(parts[1]), ticks


def _in_workers() -> float:
    """Seconds that Python processes below this one have computed."""
    known = {number: (parent, ticks) for number, parent, ticks in _processes()}
    below = {os.getpid()}
    while True:
        more = {n for n, (parent, _) in known.items() if parent in below} - below
        if not more:
            break
        below |= more
    return sum(known[n][1] for n in below - {os.getpid()}) / _TICK


_groups = count()


def run(df: DataFrame) -> tuple[Spent, list[str]]:
    """What a run takes, and the rows as sorted texts, in which NaN equals NaN."""
    context = df.sparkSession.sparkContext
    group = f"cost {next(_groups)}"
    context.setJobGroup(group, group)
    fresh = df.select("*")  # a DataFrame keeps its plan, and with it what a shuffle has written
    before, started = _in_workers(), time.perf_counter()
    rows = fresh.collect()
    passed, python = time.perf_counter() - started, _in_workers() - before
    return Spent(_in_tasks(context, group) + python, passed), sorted(map(repr, rows))


def _in_tasks(context: Any, group: str) -> float:
    """Seconds that the JVM's tasks of these jobs computed."""
    java, tracker = context._jsc.sc(), context.statusTracker()
    java.listenerBus().waitUntilEmpty()
    jobs = [tracker.getJobInfo(job) for job in tracker.getJobIdsForGroup(group)]
    total = 0
    for stage in {stage for job in jobs for stage in job.stageIds}:
        try:
            total += java.statusStore().lastStageAttempt(stage).executorCpuTime()
        except Py4JJavaError:
            continue  # it was skipped, since what it gives was there
    return total / 1e9


@dataclass(frozen=True, slots=True)
class Comparison:
    """Runs by turns of two DataFrames, and whether all gave the same rows."""

    written: tuple[Spent, ...]
    pushed: tuple[Spent, ...]
    equal: bool

    @property
    def ratio(self) -> float:
        """What is computed as pushed, as a part of that as written: of the least, since whatever
        else goes on only adds to it.
        """
        return min(s.computed for s in self.pushed) / min(s.computed for s in self.written)

    @property
    def middle(self) -> float:
        """The same of medians."""
        return _median(self.pushed) / _median(self.written)

    @property
    def passed(self) -> float:
        """The same on the clock, of the shortest runs."""
        return min(s.passed for s in self.pushed) / min(s.passed for s in self.written)


def _median(spent: Sequence[Spent]) -> float:
    return median(s.computed for s in spent)


def compare(written: DataFrame, pushed: DataFrame, repetitions: int) -> Comparison:
    """Each twice unmeasured (code generation, file cache, workers), then by turns."""
    for _ in range(2):
        _, expected = run(written)
        _, actual = run(pushed)
    equal = actual == expected
    spent: tuple[list[Spent], list[Spent]] = ([], [])
    for turn in range(repetitions):
        pair = ((0, written), (1, pushed))
        for which, df in pair if turn % 2 == 0 else reversed(pair):
            one, rows = run(df)
            spent[which].append(one)
            equal = equal and rows == expected
    return Comparison(tuple(spent[0]), tuple(spent[1]), equal)
