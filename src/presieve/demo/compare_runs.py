# SPDX-License-Identifier: Apache-2.0
"""Untrusted. Each pipeline of the demo, as written and as optimized."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from pathlib import Path
from statistics import median

from msgspec import Struct
from pyspark.sql import DataFrame, SparkSession

from presieve.demo.pipelines import PIPELINES, DemoPipeline
from presieve.driver.optimize import explain, optimize_and_report, read_settings
from presieve.driver.options import Options, of_session
from presieve.records import replace
from presieve.report.report import Report
from presieve.report.report_data import ReportData


class Comparison(Struct, frozen=True):
    """Seconds of each measured run, and whether every run gave the same rows in some order.
    ``optimize`` are the seconds that presieve took before, once.
    """

    written: tuple[float, ...]
    optimized: tuple[float, ...]
    rows: int
    equal: bool
    optimize: float = 0.0

    @property
    def total(self) -> float:
        """Seconds of ``optimize`` and of the optimized DataFrame, whose median counts."""
        return self.optimize + median(self.optimized)

    @property
    def ratio(self) -> float:
        """How many times faster the job is with presieve, with all that presieve takes."""
        return median(self.written) / self.total


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


class PipelineRun(Struct, frozen=True):
    """The result of one pipeline. ``rows`` is the number of rows that it reads as written, and
    ``spent`` what ``optimize`` took.
    """

    pipeline: DemoPipeline
    report: Report
    comparison: Comparison
    rows: int
    spent: ReportData

    @property
    def good(self) -> bool:
        """Whether a pre-filter was pushed and the results are equal."""
        return self.report.changed and self.comparison.equal


STEPS = 2 * len(PIPELINES)
"""The number of lines that :func:`run` passes to ``tell``."""


def run(
    spark: SparkSession,
    paths: Mapping[str, Path],
    rows: int,
    repetitions: int,
    tell: Callable[[str], None],
) -> tuple[PipelineRun, ...]:
    """Run every pipeline in turn over the tables at ``paths``, each of ``rows`` rows.

    ``tell`` receives a line whenever something begins that takes time.
    """
    runs = []
    options = Options.of(of_session(read_settings(spark)))
    for pipeline in PIPELINES:
        tell(f"{pipeline.name}: searching and proving")
        written = pipeline.build(spark.read.parquet(str(paths[pipeline.table])))
        # First of all, as in a job: later calls profit from what this process remembers.
        optimized, spent = optimize_and_report(written, options, skip_hopeless=True)
        report = explain(written)
        tell(f"{pipeline.name}: one warm-up and {repetitions} measured runs of both, in turns")
        compared = replace(compare(written, optimized, repetitions), optimize=spent.optimizing)
        runs.append(PipelineRun(pipeline, report, compared, rows, spent))
    return tuple(runs)
