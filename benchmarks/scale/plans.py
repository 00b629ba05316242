"""Untrusted. How ``optimize`` grows with the plan."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from functools import reduce
from typing import TYPE_CHECKING

from benchmarks.scale.points import Point
from presieve.driver.optimize import optimize

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

SIZES = (10, 50, 100, 200)
"""Operators of a plan."""


def _columns(df: DataFrame, count: int) -> DataFrame:
    return reduce(lambda df, i: df.withColumn(f"c{i % 5}", df.v + i), range(count), df)


def _filters(df: DataFrame, count: int) -> DataFrame:
    return reduce(lambda df, i: df.filter(f"v > {-i}"), range(count), df)


def _mean(df: DataFrame, count: int) -> DataFrame:
    grouped = _columns(df, count - 2).groupBy("k").agg({"v": "avg"})
    return grouped.filter("`avg(v)` > 3")


def _union(df: DataFrame, count: int) -> DataFrame:
    return reduce(lambda df, _: df.union(df), range(count), df)


def _greatest(df: DataFrame, count: int) -> DataFrame:
    grouped = _columns(df, count - 2).groupBy("k").agg({"v": "max"})
    return grouped.filter("`max(v)` > 3")


SHAPES: dict[str, Callable[[DataFrame, int], DataFrame]] = {
    "columns": _columns,
    "filters": _filters,
    "unions": _union,
    "columns, a mean, a filter": _mean,
    "columns, a maximum, a filter": _greatest,
}
"""Only in the last one there is something to gain."""


def measure(spark: SparkSession, turns: int, progress: Callable[[str], None]) -> Iterator[Point]:
    """A point for each shape and size; a first call of each plan is not measured."""
    table = spark.range(9).selectExpr("id % 3 AS k", "id AS v")
    for shape, make in SHAPES.items():
        for size in SIZES:
            df = make(table, size)
            changed = optimize(df) is not df
            seconds = []
            for _ in range(turns):
                started = time.perf_counter()
                optimize(df)
                seconds.append(time.perf_counter() - started)
            point = Point(
                "optimize: operators of the plan",
                shape,
                size,
                tuple(seconds),
                "changed" if changed else "as it is",
            )
            progress(f"{shape} {size}: {1000 * point.typical:.1f} ms, {point.outcome}")
            yield point
