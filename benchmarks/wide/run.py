"""Untrusted. The table, and each function as written and as optimized, in turns."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path
from statistics import median
from typing import TYPE_CHECKING

from benchmarks.on_spark.run import in_turns
from benchmarks.wide.functions import FUNCTIONS, RESULT
from presieve.driver.optimize import explain, optimize

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

ROWS_PER_GROUP = 5_000
LAYOUT = 2
"""Part of the file's name: raise it when what is generated changes."""


@dataclass(frozen=True, slots=True)
class Row:
    """One function: columns that it reads and all, seconds of each turn, and of ``optimize``."""

    name: str
    read: int
    columns: int
    groups: int
    equal: bool
    optimize: float
    written: tuple[float, ...]
    optimized: tuple[float, ...]

    @property
    def times(self) -> float:
        """How many times as fast it is as optimized, by medians."""
        return median(self.written) / median(self.optimized)


def stored(spark: SparkSession, rows: int, directory: Path) -> Path:
    """A table of 60 columns: a key, 30 doubles, 19 integers and 10 texts; made where missing."""
    path = directory / f"wide-{rows}-v{LAYOUT}.parquet"
    if not path.exists():
        columns = [f"id % {max(1, rows // ROWS_PER_GROUP)} AS k"]
        columns += [f"xxhash64(id, {i}) / 1e17D AS d{i}" for i in range(30)]
        columns += [f"xxhash64(id, {i}, 'i') % 1000000 AS i{i}" for i in range(19)]
        columns += [f"concat('text ', pmod(xxhash64(id, {i}), 1000)) AS s{i}" for i in range(10)]
        spark.range(rows).selectExpr(*columns).write.mode("overwrite").parquet(f"{path}.new")
        Path(f"{path}.new").replace(path)
    return path


def pipelines(table: DataFrame) -> dict[str, DataFrame]:
    """Each function over the table's groups; no filter stands anywhere."""
    groups = table.groupBy("k")
    return {f.__name__: groups.applyInPandas(f, RESULT) for f in FUNCTIONS}


def measure(
    table: DataFrame, turns: int, progress: Callable[[str], None] = lambda _: None
) -> list[Row]:
    """Each function ``turns`` times in both forms."""
    found = []
    for name, written in pipelines(table).items():
        start = time.perf_counter()
        optimized = optimize(written)
        seconds = time.perf_counter() - start
        (function,) = explain(written).functions
        read, columns = function.columns or (0, 0)
        times, groups, equal = in_turns([written, optimized], turns)
        pruned = equal and optimized is not written
        row = Row(name, read, columns, groups, pruned, seconds, times[0], times[1])
        found.append(row)
        progress(f"{name}: reads {read} of {columns} columns, {row.times:.1f} times as fast")
    return found


def to_line(rows: list[Row]) -> dict[str, object]:
    """A line of the ledger."""
    written = sum(median(r.written) for r in rows)
    optimized = sum(median(r.optimized) for r in rows)
    listed = [{**asdict(r), "times": round(r.times, 2)} for r in rows]
    together = round(written / optimized, 2) if optimized else 0.0
    return {"rows": listed, "equal": all(r.equal for r in rows), "times": together}
