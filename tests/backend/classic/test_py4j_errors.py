"""Under the default policy a condition on data that nobody checked splits the groups: those that
break it keep all their rows.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import product
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pandas as pd
import pytest
from pyspark.sql.pandas import functions
from tests.backend.classic.groups_that_break_assumptions import BAD, GOOD, SCHEMA, applied, report
from tests.support import aggregators, arrow_udfs
from tests.support.amount import some
from tests.support.games.pipelines import pandas_udf
from tests.support.running import is_connect, plan_text, same_rows

from presieve.driver.optimize import optimize

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession


TABLES = ["good json", "bad json", "good parquet", "bad parquet"]


@pytest.fixture(scope="module", params=TABLES)
def table(
    request: pytest.FixtureRequest,
    spark: SparkSession,
    by_value: None,
    tmp_path_factory: pytest.TempPathFactory,
) -> DataFrame:
    """JSON lines, of which nobody knows anything, or Parquet, which may be looked at."""
    kind, format_ = request.param.split()
    rows = GOOD + (BAD if kind == "bad" else [])
    path = str(Path(tmp_path_factory.mktemp("guarded")) / "t")
    spark.createDataFrame(rows, SCHEMA).coalesce(1).write.format(format_).save(path)
    return spark.read.schema(SCHEMA).format(format_).load(path)


@pytest.fixture(autouse=True)
def adaptive(spark: SparkSession) -> Iterator[None]:
    """As Spark has it by default."""
    key = "spark.sql.adaptive.enabled"
    before = spark.conf.get(key)
    spark.conf.set(key, "true")
    yield
    spark.conf.set(key, str(before))


def udaf(df: DataFrame) -> DataFrame:
    function = pandas_udf("top", "double")
    return df.groupBy("team").agg(function("score").alias("m")).filter("m > 90")


def arrow_udaf(df: DataFrame) -> DataFrame:
    from pyspark.util import PythonEvalType

    make: Any = functions.arrow_udf
    kind = PythonEvalType.SQL_GROUPED_AGG_ARROW_UDF
    function = make(arrow_udfs.best_loop, "double", functionType=kind)
    return df.groupBy("team").agg(function("score").alias("m")).filter("m > 90")


def count_high(df: DataFrame) -> DataFrame:
    function = pandas_udf("count_high", "bigint")
    return df.groupBy("team").agg(function("v").alias("m")).filter("m >= 1")


def two_keys(df: DataFrame) -> DataFrame:
    function = pandas_udf("top", "double")
    return df.groupBy("team", "day").agg(function("score").alias("m")).filter("m > 90")


def computed_key(df: DataFrame) -> DataFrame:
    from pyspark.sql.functions import expr

    function = pandas_udf("top", "double")
    return df.groupBy(expr("day % 2")).agg(function("score").alias("m")).filter("m > 90")


def aggregator(df: DataFrame) -> DataFrame:
    from presieve.spark import group_fold

    fold = group_fold(aggregators.Best, "double")
    return df.groupBy("team").agg(fold("score").alias("m")).filter("m > 90")


def below_join(df: DataFrame) -> DataFrame:
    days = df.sparkSession.sql("SELECT * FROM VALUES (1, 'x'), (2, 'y') AS t(day, name)")
    return udaf(df.join(days, "day").selectExpr("team", "score"))


def of_union(df: DataFrame) -> DataFrame:
    return applied(df.filter("day < 3").union(df.filter("day > 1")).selectExpr("team", "score"))


def scalar(df: DataFrame) -> DataFrame:
    from pyspark.sql.functions import udf

    def twice(score: float | None) -> float | None:
        return None if score is None else score * 2.0

    return df.withColumn("w", udf(twice, "double")("score")).filter("w > 180")


def rows_in_batches(df: DataFrame) -> DataFrame:
    def shifted(batches: Any) -> Any:
        for pdf in batches:
            pdf["v"] = pdf["v"] + 1
            yield pdf

    return df.mapInPandas(shifted, SCHEMA).filter("v > 11")


SHAPES = (
    *(applied, udaf, arrow_udaf, count_high, two_keys, computed_key, aggregator, below_join),
    *(of_union, scalar, rows_in_batches),
)


@some("table, shape", product(TABLES, SHAPES), of=3, indirect=["table"])
def test_as_written(table: DataFrame, shape: Callable[[DataFrame], DataFrame]) -> None:
    df = shape(table)
    same_rows(df, optimize(df, cost="always"), optimize(df))


SOME_SHAPES = [applied, udaf, two_keys, of_union]


@some("table, shape", product(TABLES, SOME_SHAPES), of=3, indirect=["table"])
def test_nothing_is_assumed(table: DataFrame, shape: Callable[[DataFrame], DataFrame]) -> None:
    df = shape(table)
    found = report(df)
    assert found.kind != "none", found.declined
    assert not [a for a in found.assumptions if a["code"] != "may-erase-error"]
    assert "score >" in found.prefilter


def test_a_guard_is_what_keeps_groups_with_nan(table: DataFrame) -> None:
    """The wrong twin: the bare pre-filter changes the result where its assumption is broken."""
    df = applied(table)
    bare = optimize(df, cost="always", policy="assume")
    assert bare is not df
    broken = table.filter("isnan(score)").count() > 0
    assert (sorted(map(str, bare.collect())) != sorted(map(str, df.collect()))) == broken
    same_rows(df, optimize(df, cost="always"))


def test_where_no_group_is_bad_the_plan_becomes_the_plain_one(
    spark: SparkSession, tmp_path: Path, by_value: None
) -> None:
    path = str(tmp_path / "t")
    spark.createDataFrame(GOOD, SCHEMA).write.json(path)
    better = optimize(applied(spark.read.schema(SCHEMA).json(path)), cost="always")
    if is_connect(better):
        return  # what was run is not shown
    better.collect()
    final = plan_text(better).partition("== Initial Plan ==")[0].partition("== Final Plan ==")[2]
    assert "FlatMapGroupsInPandas" in final
    assert "Join" not in final
    assert "Union" not in final


OTHER_ROWS = [
    lambda df: df.limit(9),
    lambda df: df.groupBy("team", "day").sum("score").toDF("team", "day", "score"),
    lambda df: df.selectExpr("team", "first(score) OVER (PARTITION BY day) AS score"),
    lambda df: df.selectExpr("team", "score + (SELECT sum(x) FROM VALUES (0.1D) t(x)) score"),
    lambda df: df.dropDuplicates(["team"]),
]


@some("table, below", product(TABLES, OTHER_ROWS), of=3, indirect=["table"])
def test_what_may_give_other_rows_is_not_read_twice(
    table: DataFrame, below: Callable[[DataFrame], DataFrame]
) -> None:
    df = applied(below(table))
    found = report(df)
    assert not any(d.get("by") == "the guarded plan" for d in found.discharged)
    assert not [a for a in found.assumptions if a["code"] != "may-erase-error"]
    assert "__presieve_class" not in plan_text(optimize(df, cost="always"))


def test_without_adaptive_execution_there_is_no_guard(
    spark: SparkSession, table: DataFrame
) -> None:
    spark.conf.set("spark.sql.adaptive.enabled", "false")
    df = applied(table)
    assert "__presieve_class" not in plan_text(optimize(df, cost="always"))


def test_strict_has_no_guard(table: DataFrame) -> None:
    df = applied(table)
    assert "__presieve_class" not in plan_text(optimize(df, policy="strict", cost="always"))


def test_rows_that_come_later(spark: SparkSession, by_value: None) -> None:
    """A guard is about the rows that are there when the plan runs."""
    name = "guarded_later"
    spark.createDataFrame(GOOD, SCHEMA).write.saveAsTable(name, format="parquet", mode="overwrite")
    try:
        df = applied(spark.table(name))
        fast = optimize(df, cost="always")
        same_rows(df, fast)
        spark.createDataFrame(BAD, SCHEMA).write.insertInto(name)
        same_rows(applied(spark.table(name)), optimize(applied(spark.table(name))))
        same_rows(df.select("*"), fast.select("*"))
    finally:
        spark.sql(f"DROP TABLE {name}")


def _as_it_is(v: pd.Series) -> pd.Series:
    return v


@pytest.mark.second
@pytest.mark.parametrize("big", [2**53 + 1, 2**63 - 2])
def test_rows_beside_others_in_a_batch(spark: SparkSession, tmp_path: Path, big: int) -> None:
    """A NULL that is dropped would have rounded the integers beside it."""
    rows = [("a", None), ("a", big), ("b", 10)]
    path = str(tmp_path / "t")
    spark.createDataFrame(rows, "k string, v bigint").coalesce(1).write.parquet(path)
    from pyspark.sql.pandas import functions

    of_series: Any = functions.pandas_udf
    as_it_is = of_series(_as_it_is, "bigint")
    df = spark.read.parquet(path).select("k", as_it_is("v").alias("c"))
    for where in ("c > 9007199254740992", "c > 5"):
        out = df.filter(where)
        assert outcome(optimize(out, cost="always")) == outcome(out)


def outcome(df: DataFrame) -> list[str] | str:
    from pyspark.errors import PySparkException

    try:
        return sorted(map(repr, df.collect()))
    except PySparkException:
        return "raises"


def least(v: pd.Series) -> float:
    return v.min()  # type: ignore[no-any-return]


def test_an_order_that_is_proved_of_the_other_rows_alone(
    spark: SparkSession, tmp_path: Path
) -> None:
    """Of two zeros the first is the least. Of groups that have both, no order was proved away."""
    from presieve.driver.optimize import explain

    rows = [("a", 0.0), ("a", -0.0), ("b", 1.0)]
    spark.createDataFrame(rows, "k string, x double").write.json(str(tmp_path / "t"))
    df = spark.read.schema("k string, x double").json(str(tmp_path / "t"))
    make: Any = functions.pandas_udf
    folded = df.groupBy("k").agg(make(least, "double")("x").alias("m")).filter("m < 1")
    (boundary,) = explain(folded, cost="always").boundaries
    assert "the guarded plan" in {d["by"] for d in boundary.discharged}
    assert boundary.order is not None
    assert boundary.order.status == "independent"
    assert "column x is nowhere -0.0" in boundary.order.text
