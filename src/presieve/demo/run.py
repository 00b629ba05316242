"""Untrusted. Each pipeline of the demo, as written and as optimized."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

from pyspark.sql import SparkSession

from presieve.demo.measure import Comparison, compare
from presieve.demo.pipelines import PIPELINES, Pipeline
from presieve.driver.optimize import explain, optimize
from presieve.report.report import Report


@dataclass(frozen=True, slots=True)
class PipelineRun:
    """What one pipeline gave. ``rows`` is the number of rows that it reads as written."""

    pipeline: Pipeline
    report: Report
    comparison: Comparison
    rows: int

    @property
    def good(self) -> bool:
        """A pre-filter was pushed and the results are equal."""
        return self.report.changed and self.comparison.equal


STEPS = 2 * len(PIPELINES)
"""How many lines :func:`run` tells."""


def run(
    spark: SparkSession,
    paths: Mapping[str, Path],
    rows: int,
    repetitions: int,
    tell: Callable[[str], None],
) -> tuple[PipelineRun, ...]:
    """Every pipeline in turn over the tables at ``paths``, each of ``rows`` rows.

    ``tell`` gets a line whenever something that takes time begins.
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
