"""Of a filter of ours and an equality Spark infers a filter on another column, and hands it to the
scan of that one.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from pyspark.sql import functions as F
from tests.support.running import handing_filters, plan_text, same_rows
from tests.support.spark_version import is_before

import presieve

if TYPE_CHECKING:
    from pathlib import Path

    from pyspark.sql import DataFrame, SparkSession

pytestmark = pytest.mark.classic("what a scan loses is seen in classic sessions")


@pytest.fixture(scope="module")
def narrow(spark: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> DataFrame:
    """300 in the file is 44 in a column of 8 bits, but its extremes are 300."""
    folder = tmp_path_factory.mktemp("narrow")
    pq.write_table(pa.table({"k": pa.array([300, 300], pa.int32())}), folder / "a.parquet")
    return spark.read.schema("k tinyint").parquet(str(folder))


@pytest.fixture
def numbers(spark: SparkSession) -> DataFrame:
    return spark.createDataFrame([(43, 1), (44, 2), (45, 44)], "t tinyint, i int")


def is_44(number: int | None) -> bool:
    return number is not None and number == 44


def called(df: DataFrame, column: str) -> DataFrame:
    return df.where(F.udf(is_44, "boolean")(column))


JOINS: dict[str, Callable[[DataFrame, DataFrame], DataFrame]] = {
    "above a join": lambda a, b: called(a.join(b, a.t == b.k), "t"),
    "below a join": lambda a, b: called(a, "t").join(b, a.t == b.k),
    "with a cast": lambda a, b: called(a.join(b, a.i == b.k.cast("int")), "i"),
    "by another name": lambda a, b: (
        called(a, "t")
        .withColumnRenamed("t", "u")
        .join(b.withColumnRenamed("k", "m"), F.col("u") == F.col("m"))
    ),
    "by a third": lambda a, b: called(
        a.join(a.select(F.col("t").alias("s")), F.col("s") == a.t).join(b, F.col("s") == b.k), "t"
    ),
    "in a filter": lambda a, b: called(a.crossJoin(b).where("t = k"), "t"),
    "above a group": lambda a, b: called(a.groupBy("t").count(), "t").join(b, F.col("t") == b.k),
    "a semi-join": lambda a, b: called(a.join(b, a.t == b.k, "left_semi"), "t"),
    "a union": lambda a, b: (
        called(a.select("t"), "t").union(called(a.select("t"), "t")).join(b, F.col("t") == b.k)
    ),
}


@pytest.mark.parametrize("name", JOINS)
def test_what_is_inferred_drops_nothing(name: str, numbers: DataFrame, narrow: DataFrame) -> None:
    df = JOINS[name](numbers, narrow)
    assert df.count() > 0
    same_rows(df, presieve.optimize(df, cost="always"))


SUBQUERIES = {
    "exists": "EXISTS (SELECT 1 FROM narrow n WHERE CAST(n.k AS int) = w.i)",
    "in": "i IN (SELECT CAST(k AS int) FROM narrow)",
    "in an exists": "EXISTS (SELECT 1 FROM wide v WHERE v.i = w.i AND v.i IN "
    "(SELECT CAST(k AS int) FROM narrow))",
    "scalar": "2 = (SELECT count(k) FROM narrow n WHERE CAST(n.k AS int) = w.i)",
}


@pytest.mark.parametrize("name", SUBQUERIES)
@pytest.mark.parametrize("condition", ["i DIV 1 = 44", "is_44(i)"])
def test_what_is_inferred_in_subqueries_drops_nothing(
    spark: SparkSession, narrow: DataFrame, tmp_path: Path, name: str, condition: str
) -> None:
    path = str(tmp_path / "wide")
    spark.range(40, 50).selectExpr("CAST(id AS int) AS i").write.parquet(path)
    spark.read.parquet(path).createOrReplaceTempView("wide")
    narrow.createOrReplaceTempView("narrow")
    spark.udf.register("is_44", is_44, "boolean")
    df = spark.sql(f"SELECT * FROM wide w WHERE {condition} AND {SUBQUERIES[name]}")
    assert df.count() == 1
    same_rows(df, presieve.optimize(df, cost="always"))


def is_large(number: int | None) -> bool:
    return number is not None and number >= 201


@pytest.mark.skipif(is_before("4.1"), reason="Spark hands no filters to Python data sources")
@pytest.mark.parametrize("place", ["above", "below"])
def test_a_source_that_is_not_known(spark: SparkSession, place: str) -> None:
    """It claims to apply filters that it applies otherwise, and none of ours is meant for it."""
    from tests.driver.lakehouse import Wrong

    with handing_filters(spark):
        spark.dataSource.register(Wrong)
        other = spark.read.format("wrong_lakehouse").load().drop("day")
        few = spark.createDataFrame([(n,) for n in range(190, 210)], "n int")
        large = F.udf(is_large, "boolean")
        df = few.join(other, few.n == other.id)
        if place == "above":
            df = few.where(large("n")).join(other, F.col("n") == other.id)
        else:
            df = df.where(large("n"))
        assert df.count() == 9
        same_rows(df, presieve.optimize(df, cost="always"))


def test_others_are_handed_filters(
    spark: SparkSession, numbers: DataFrame, narrow: DataFrame, tmp_path: Path
) -> None:
    """A column of the same table that no equality leads to."""
    path = f"{tmp_path}/rows"
    numbers.write.parquet(path)
    rows = spark.read.parquet(path)
    df = called(rows.join(narrow, rows.t == narrow.k), "i")
    assert "EqualTo(i,44)" in plan_text(presieve.optimize(df, cost="always", compile="never"))
