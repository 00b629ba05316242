"""Large plans without anything to gain come back soon, as they are. docs/benchmarks.md has figures.

Most of these are not read at all, which is what is tested: times say more of the machine.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from functools import reduce
from typing import TYPE_CHECKING

import pytest

from presieve.backend.classic.gateway import ClassicGateway
from presieve.driver.optimize import optimize

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

SECONDS = 5.0
"""Of the fastest of three; it is some milliseconds where nothing else runs."""


def columns(df: DataFrame, count: int) -> DataFrame:
    from pyspark.sql import functions as F

    for i in range(count):
        df = df.withColumn(f"c{i % 5}", F.col("v") + i)
    return df


def filters(df: DataFrame, count: int) -> DataFrame:
    return reduce(lambda found, i: found.filter(f"v > {-i}"), range(count), df)


def joins(df: DataFrame, count: int) -> DataFrame:
    return reduce(
        lambda found, i: found.join(df.selectExpr("k", f"v AS v{i}"), "k"), range(count), df
    )


SHAPES: dict[str, tuple[Callable[[DataFrame], DataFrame], bool]] = {
    "columns": (lambda t: columns(t, 200), False),
    "filters": (lambda t: filters(t, 200), False),
    "joins": (lambda t: joins(t, 60), False),
    "unions": (lambda t: reduce(lambda found, _: found.union(t), range(200), t), False),
    "aggregate on top": (
        lambda t: filters(columns(t, 100), 100).groupBy("k").agg({"v": "max"}),
        False,
    ),
    "filter above a mean": (
        lambda t: columns(t, 195).groupBy("k").agg({"v": "avg"}).filter("`avg(v)` > 3"),
        True,
    ),
    "filter above a count, far down": (
        lambda t: columns(
            t.groupBy("k").count().filter("count > 1").withColumnRenamed("count", "v"), 195
        ),
        True,
    ),
}
"""The plans, and whether they must be read: a filter stands above an aggregate."""


@pytest.mark.classic("which plans the JVM is asked of")
@pytest.mark.parametrize("name", SHAPES)
def test_it_comes_back_as_it_is(
    name: str, spark: SparkSession, monkeypatch: pytest.MonkeyPatch
) -> None:
    build, is_read = SHAPES[name]
    df = build(spark.range(9).selectExpr("id % 3 AS k", "cast(id AS double) AS v"))
    read: list[object] = []
    json = ClassicGateway.json

    def watched(self: ClassicGateway, tree: object) -> str:
        read.append(tree)
        return json(self, tree)

    monkeypatch.setattr(ClassicGateway, "json", watched)
    taken = []
    for _ in range(3):
        started = time.perf_counter()
        assert optimize(df) is df
        taken.append(time.perf_counter() - started)
    assert bool(read) == is_read
    assert min(taken) < SECONDS
    assert len(read) <= 3


@pytest.mark.classic("which plans the JVM is asked of")
def test_a_filter_above_an_aggregate_is_found_wherever_it_stands(spark: SparkSession) -> None:
    table = spark.range(9).selectExpr("id % 3 AS k", "id AS v")
    high = table.groupBy("k").agg({"v": "max"}).filter("`max(v)` > 4")
    assert optimize(high) is not high
    table.createOrReplaceTempView("large_plans")
    with_ = spark.sql(
        "WITH m AS (SELECT k, max(v) AS m FROM large_plans GROUP BY k) SELECT * FROM m WHERE m > 4"
    )
    for df in (
        columns(high.withColumnRenamed("max(v)", "v"), 100),
        high.union(high),
        high.join(table, "k").groupBy("k").count(),
        with_,
    ):
        better = optimize(df)
        assert better is not df
        assert sorted(better.collect()) == sorted(df.collect())
    spark.catalog.dropTempView("large_plans")
