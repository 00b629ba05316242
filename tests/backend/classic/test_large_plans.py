"""Large plans with nothing to gain come back soon, unchanged.

Most of these are not read at all, and the tests check that: times say more about the machine.
benchmarks/results/large-plans.md has figures.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Callable
from functools import reduce
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from py4j.clientserver import ClientServerConnection
from py4j.java_gateway import GatewayConnection

from presieve.backend.classic.gateway import ClassicGateway
from presieve.driver.optimize import explain, optimize

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


def mean(df: DataFrame) -> DataFrame:
    from pyspark.sql import functions as F

    return df.groupBy("k").agg(F.avg("v").alias("m"))


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
        lambda t: mean(columns(t, 195)).filter("m > 3"),
        False,
    ),
    "joined to filtered means": (
        lambda t: reduce(lambda f, _: f.join(mean(t).filter("m > 3").drop("m"), "k"), range(2), t),
        False,
    ),
    "filter above a mean, far down": (
        lambda t: columns(mean(t).filter("m > 1").withColumnRenamed("m", "v"), 195),
        False,
    ),
    "filter beside a count": (
        lambda t: filters(t, 30).join(t.groupBy("k").count(), "k").distinct(),
        True,
    ),
    "filter below a count": (lambda t: filters(columns(t, 190), 9).groupBy("k").count(), False),
    "many filters above means": (
        lambda t: reduce(lambda f, _: f.union(mean(t).filter("m > 3")), range(13), mean(t)),
        True,
    ),
    "a name with a line like an operator's": (
        lambda t: mean(t).selectExpr("m AS `m\n+- Aggregate`").filter("`m\n+- Aggregate` > 3"),
        True,
    ),
    "filter above a count": (
        lambda t: columns(t, 195).groupBy("k").count().filter("count > 3"),
        True,
    ),
    "filter above a count, far down": (
        lambda t: columns(
            t.groupBy("k").count().filter("count > 1").withColumnRenamed("count", "v"), 195
        ),
        True,
    ),
}
"""The plans, and whether they must be read: a filter stands above an aggregate of a function that
filters are moved past, or nobody knows without reading, or asking would take as long.
"""


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


@pytest.mark.second
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


@pytest.mark.classic("how often the JVM is asked")
def test_the_jvm_is_not_asked_more_often_of_a_deeper_plan(
    spark: SparkSession, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[str] = []

    def watch(owner: type) -> None:
        send = owner.__dict__["send_command"]

        def watched(self: object, command: str, *args: object, **kwargs: object) -> object:
            if not command.startswith("m\nd\n"):  # something of the JVM is let go, at any time
                asked.append(command)
            return send(self, command, *args, **kwargs)

        monkeypatch.setattr(owner, "send_command", watched)

    table = spark.range(9).selectExpr("id % 3 AS k", "cast(id AS double) AS v")
    counted = table.groupBy("k").count().filter("count > 1").withColumnRenamed("count", "v")
    shallow, deep = columns(counted, 20), columns(counted, 120)
    assert optimize(shallow) is shallow  # what is asked once of a session
    for owner in (ClientServerConnection, GatewayConnection):
        watch(owner)
    counts = []
    for df in (shallow, deep):
        asked.clear()
        assert optimize(df) is df
        counts.append(len(asked))
    assert 0 < counts[1] <= counts[0] + 5


@pytest.mark.classic("which plans the JVM is asked of")
def test_filters_of_other_columns_than_a_function_makes_need_not_be_understood(
    spark: SparkSession, monkeypatch: pytest.MonkeyPatch
) -> None:
    from pyspark.sql import functions as F

    from presieve.backend.catalyst import operators

    double = F.udf(lambda v: v * 2, "double")
    table = spark.range(9).selectExpr("id % 3 AS k", "cast(id AS double) AS v")
    made = table.withColumn("d", double("v")).withColumn("e", F.col("v") + 1)
    counted = table.groupBy("k").count().withColumnRenamed("k", "key")
    understood: list[object] = []
    meaning = operators._meaning

    def watched(tree: object, timezone: str) -> object:
        understood.append(tree)
        return meaning(tree, timezone)  # type: ignore[arg-type]

    monkeypatch.setattr(operators, "_meaning", watched)
    beside = table.join(counted, table.k == counted.key).filter("v > 3 AND v > count")
    for df in (made.filter("e > 3"), beside):
        assert optimize(df) is df
        assert not understood
        assert not [d.code for b in explain(df).boundaries for d in b.declined]
        understood.clear()
    for df in (made.withColumn("f", F.col("d") + 0).filter("f > 4"), beside.filter("count > 2")):
        better = optimize(df)
        assert understood
        assert sorted(better.collect()) == sorted(df.collect())
        understood.clear()
    assert optimize(made.filter("d > 4")) is not made


@pytest.mark.classic("which plans the JVM is asked of")
def test_why_filters_stay_above_means_is_told_where_somebody_listens(
    spark: SparkSession, caplog: pytest.LogCaptureFixture
) -> None:
    table = spark.range(9).selectExpr("id % 3 AS k", "cast(id AS double) AS v")
    renamed = mean(table).filter("m > 1").withColumnRenamed("m", "v")
    for df in (mean(table).filter("m > 3"), columns(renamed, 20)):
        caplog.clear()
        assert optimize(df) is df
        assert not caplog.records
        with caplog.at_level(logging.INFO, logger="presieve"):
            assert optimize(df) is df
        (record,) = caplog.records
        assert "filters are not pushed through the aggregate function avg" in record.getMessage()
        (told,) = explain(df).boundaries
        assert told.declined[0].reason in record.getMessage()


@pytest.mark.parametrize("above", ["m > 3 AND x > 1", "x > 1", "m > 3", "false", "1 > 2 AND m > 3"])
def test_a_mean_beside_a_function_that_is_known_is_no_obstacle(
    above: str, spark: SparkSession
) -> None:
    from pyspark.sql import functions as F

    table = spark.range(9).selectExpr("id % 3 AS k", "cast(id AS double) AS v")
    both = table.groupBy("k").agg(F.avg("v").alias("m"), F.max("v").alias("x")).filter(above)
    alone = mean(table).filter(above.replace("x", "m"))
    for df in (both, alone):
        assert sorted(optimize(df).collect()) == sorted(df.collect())
        assert (optimize(df) is not df) == explain(df).changed


def widened(df: DataFrame, count: int) -> DataFrame:
    from pyspark.sql import functions as F

    for i in range(count):
        df = df.withColumn(f"c{i}", F.col("v") + i).filter(f"c{i} > {i - 9}")
    return df


def tripled(table: DataFrame) -> DataFrame:
    from pyspark.sql import functions as F

    return table.withColumn("d", F.udf(lambda v: v * 3, "bigint")("v"))


@pytest.mark.classic("what the JVM tells of a plan")
@pytest.mark.parametrize("name", ["maximum", "function"])
def test_a_wide_plan_is_condensed_before_it_is_read(
    name: str, spark: SparkSession, monkeypatch: pytest.MonkeyPatch
) -> None:
    table = spark.range(9).selectExpr("id % 3 AS k", "IF(id = 4, NULL, id) AS v")
    best = table.groupBy("k").agg({"v": "max"}).withColumnRenamed("max(v)", "v")
    nothing = {"maximum": widened(best, 60), "function": columns(tripled(table), 60)}[name]
    nothing = nothing if name == "maximum" else widened(nothing, 30)
    read: list[int] = []
    json = ClassicGateway.json

    def watched(self: ClassicGateway, tree: object) -> str:
        text = json(self, tree)
        read.append(len(text))
        return text

    monkeypatch.setattr(ClassicGateway, "json", watched)
    assert optimize(nothing) is nothing
    whole = len(nothing._jdf.queryExecution().analyzed().toJSON())
    assert sum(read) < whole / 3


@pytest.mark.second
@pytest.mark.parametrize("name", ["maximum", "function"])
def test_what_is_to_gain_in_a_wide_plan_is_found(
    name: str, spark: SparkSession, connect: bool, tmp_path: Path
) -> None:
    table = spark.range(9).selectExpr("id % 3 AS k", "IF(id = 4, NULL, id) AS v")
    count = 30
    if connect:  # deeper messages are not parsed; what is computed, as text, may raise
        count = 20
        table.write.parquet(str(tmp_path / "t"))
        table = spark.read.parquet(str(tmp_path / "t"))
    best = table.groupBy("k").agg({"v": "max"}).withColumnRenamed("max(v)", "v")
    start, where = {"maximum": (best, "v > 6"), "function": (tripled(table), "d > 12")}[name]
    other = spark.range(3)
    plans = (widened(start, count).filter(where), widened(start.filter(where), count))
    for df in (*plans, *plans):
        better = optimize(df, cost="always")
        assert better is not df
        assert explain(df, cost="always").changed
        assert sorted(better.collect()) == sorted(df.collect()) != []
        if df is plans[1]:
            other.cache()  # and once more where something is cached
    other.unpersist()


@pytest.mark.classic("what the JVM tells of a plan")
def test_a_line_in_the_way_is_told_of_a_wide_plan_too(
    spark: SparkSession, caplog: pytest.LogCaptureFixture
) -> None:
    from pyspark.sql import functions as F

    def size(v: int) -> int:
        return len(list(open(str(v))))

    table = spark.range(9).selectExpr("id % 3 AS k", "id AS v")
    sized = widened(table.withColumn("d", F.udf(size, "bigint")("v")), 40).filter("d > 3")
    for df in (sized, table.withColumn("d", F.udf(size, "bigint")("v")).filter("d > 3")):
        caplog.clear()
        with caplog.at_level(logging.INFO, logger="presieve"):
            assert optimize(df) is df
        (record,) = caplog.records
        assert record.levelname == "INFO"
        assert "test_large_plans.py" in record.getMessage()


@pytest.mark.classic("what the JVM tells of a plan")
def test_a_narrow_plan_is_not_condensed(spark: SparkSession) -> None:
    table = spark.range(9).selectExpr("id % 3 AS k", "id AS v")
    narrow = table.groupBy("k").agg({"v": "max"}).withColumnRenamed("max(v)", "v")
    for _ in range(40):
        narrow = narrow.selectExpr("k", "v + 1 AS v").filter("v > 0")
    gateway = ClassicGateway(spark)
    assert gateway.condense(gateway.analyze_plan(narrow)) is None
    assert gateway.condense(gateway.analyze_plan(columns(table, 3))) is None
    assert gateway.condense(gateway.analyze_plan(widened(table, 30))) is not None


@pytest.mark.classic("which plans the JVM is asked of")
def test_of_files_the_plan_as_written_is_read_only_if_there_is_something_to_gain(
    spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = str(tmp_path / "sorted")
    spark.range(4000).selectExpr("id AS k", "id AS v").repartitionByRange(8, "k").write.parquet(
        path
    )
    table = spark.read.parquet(path)
    wide = table
    for i in range(60):
        wide = wide.withColumn(f"w{i}", wide.v + i)
    json = ClassicGateway.json
    sizes: list[int] = []

    def watched(self: ClassicGateway, tree: object) -> str:
        found = json(self, tree)
        sizes.append(len(found))
        return found

    monkeypatch.setattr(ClassicGateway, "json", watched)
    all_, few = wide.where("w3 > 1"), wide.where("w3 > 3900")
    assert optimize(all_) is all_
    seen = max(sizes)
    sizes.clear()
    better = optimize(few)
    assert max(sizes) > 5 * seen
    assert better is not few
    assert sorted(better.collect()) == sorted(few.collect())
    assert len(better.collect()) == 102
