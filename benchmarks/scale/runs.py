"""Untrusted. How the run time of a pipeline grows, as written and as optimized."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

from benchmarks.on_spark.parquet import write
from benchmarks.on_spark.run import in_turns
from benchmarks.scale.points import Point
from presieve.driver.optimize import optimize
from presieve.errors import PresieveError
from presieve.spark import group_fold

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

ROWS, GROUPS, KEPT = 500_000, 1000, 0.02
"""What stays as it is while something else grows."""

GROWING: dict[str, tuple[float, ...]] = {
    "rows": (50_000, 200_000, 500_000, 1_000_000, 2_000_000),
    "groups": (10, 100, 1000, 10_000, 50_000),
    "share of rows that the pre-filter keeps": (0.001, 0.01, 0.1, 0.3, 0.6, 0.9),
}
"""What grows, one after the other, and the sizes that are measured."""


class SecondBest:
    """The second greatest value of a group."""

    def zero(self) -> Any:
        """No value yet."""
        return None, None

    def reduce(self, acc: Any, row: Any) -> Any:
        """The two greatest values with one more."""
        first, second = acc
        v = row["v"]
        if first is None or v > first:
            return v, first
        if second is None or v > second:
            return first, v
        return acc

    def finish(self, acc: Any) -> Any:
        """The second one."""
        return acc[1]


def measure(
    spark: SparkSession,
    directory: Path,
    turns: int,
    largest: int | None,
    progress: Callable[[str], None],
) -> Iterator[Point]:
    """Two points for each size; tables have at most ``largest`` rows.

    Raises :class:`PresieveError` where the two forms give different rows.
    """
    for what, sizes in GROWING.items():
        for size in sizes:
            rows = int(size) if what == "rows" else ROWS
            if largest is not None and rows > largest:
                if what == "rows":
                    continue
                rows = largest
            groups = int(size) if what == "groups" else GROUPS
            kept = size if what.startswith("share") else KEPT
            written = _pipeline(spark.read.parquet(str(_stored(directory, rows, groups))), kept)
            optimized = optimize(written, cost="always")
            taken, results, equal = in_turns([written, optimized], turns)
            if not equal:
                raise PresieveError(f"{what} {size}: the optimized pipeline gave other rows")
            made = f"{rows:,} rows, {groups:,} groups, {kept:.1%} kept, {results:,} results"
            progress(f"{what} {size}: {min(taken[1]) / min(taken[0]):.2f} of the time, {made}")
            for curve, seconds in zip(("as written", "as optimized"), taken, strict=True):
                yield Point(f"run: {what}", curve, size, seconds, made)


def _pipeline(table: DataFrame, kept: float) -> DataFrame:
    second = group_fold(SecondBest, "double")
    return table.groupBy("key").agg(second("v").alias("m")).filter(f"m >= {1 - kept}D")


def _stored(directory: Path, rows: int, groups: int) -> Path:
    """A table of values between 0 and 1, in no order, written where it is missing."""
    import numpy as np
    import pyarrow as pa

    path = directory / f"scale-{rows}-{groups}-v1.parquet"
    if not path.exists():
        rng = np.random.default_rng(rows + groups)
        cells = {"key": rng.integers(0, groups, rows), "v": rng.random(rows)}
        write(pa.table(cells), path, 100_000)
    return path
