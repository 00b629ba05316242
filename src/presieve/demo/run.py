"""Untrusted. The whole demo: generate, optimize, run both, compare, tell."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from pyspark.sql import SparkSession

from presieve.demo.data import generate
from presieve.demo.measure import Comparison, compare
from presieve.demo.pipelines import PIPELINES, Pipeline
from presieve.demo.session import session
from presieve.driver.optimize import explain, optimize
from presieve.report.report import Report


@dataclass(frozen=True, slots=True)
class Outcome:
    """What one pipeline gave. ``rows`` is the number of rows that it reads as written."""

    pipeline: Pipeline
    report: Report
    comparison: Comparison
    rows: int

    @property
    def good(self) -> bool:
        """A pre-filter was pushed and the results are equal."""
        return self.report.changed and self.comparison.equal


def run(
    directory: Path, rows: int, repetitions: int, tell: Callable[[str], None]
) -> tuple[Outcome, ...]:
    """Every pipeline in turn. ``tell`` gets a line whenever something that takes time begins."""
    tell(f"tables of {rows:,} rows in {directory}")
    paths = generate(directory, rows)
    tell("starting Spark")
    with session() as spark:
        return tuple(
            _outcome(spark, pipeline, paths[pipeline.table], rows, repetitions, tell)
            for pipeline in PIPELINES
        )


def _outcome(
    spark: SparkSession,
    pipeline: Pipeline,
    path: Path,
    rows: int,
    repetitions: int,
    tell: Callable[[str], None],
) -> Outcome:
    tell(f"{pipeline.name}: searching and proving")
    written = pipeline.build(spark.read.parquet(str(path)))
    report = explain(written)
    optimized = optimize(written)
    tell(f"{pipeline.name}: one warm-up and {repetitions} measured runs of both, in turns")
    return Outcome(pipeline, report, compare(written, optimized, repetitions), rows)
