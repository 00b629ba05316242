"""Untrusted. Each pipeline of the demo, as written and as optimized."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

from pyspark.sql import SparkSession

from presieve.demo.measure import Comparison, compare
from presieve.demo.pipelines import PIPELINES, DemoPipeline
from presieve.driver.optimize import explain, optimize
from presieve.report.report import Report


@dataclass(frozen=True, slots=True)
class PipelineRun:
    """The result of one pipeline. ``rows`` is the number of rows that it reads as written."""

    pipeline: DemoPipeline
    report: Report
    comparison: Comparison
    rows: int

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
    for pipeline in PIPELINES:
        tell(f"{pipeline.name}: searching and proving")
        written = pipeline.build(spark.read.parquet(str(paths[pipeline.table])))
        report, optimized = explain(written), optimize(written)
        tell(f"{pipeline.name}: one warm-up and {repetitions} measured runs of both, in turns")
        compared = compare(written, optimized, repetitions)
        runs.append(PipelineRun(pipeline, report, compared, rows))
    return tuple(runs)
