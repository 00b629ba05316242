"""Bugs of other engines around windows, order, limit and distinct, around a Python function.

Each test names the public thread, and shows that the rewrite which was shipped there is wrong here.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from tests.support.traps import udfs
from tests.support.traps.checks import agg, kept, left_alone, moved, pandas_udf

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession


def best(rows: DataFrame) -> DataFrame:
    return agg(rows, udfs.top, "double", "score")


def test_risingwave_13653_lag_then_filter(games: DataFrame) -> None:
    """risingwavelabs/risingwave#13653: a filter below lag() changes what came before."""
    from pyspark.sql import Window
    from pyspark.sql import functions as F

    def written(rows: DataFrame) -> DataFrame:
        return rows.withColumn("before", F.lag("m").over(Window.orderBy("team")))

    df = written(best(games)).filter("m >= 92")
    left_alone(df, written(best(games.filter("score >= 92"))), "past a window")


def test_matrixone_24050_another_column_than_the_partition(games: DataFrame) -> None:
    """matrixorigin/matrixone#24050: row_number over one key, filter on another."""
    from pyspark.sql import Window
    from pyspark.sql import functions as F

    def written(rows: DataFrame) -> DataFrame:
        window = Window.partitionBy(F.expr("m >= 90")).orderBy("m")
        return rows.withColumn("rank", F.row_number().over(window)).filter("rank = 1")

    groups = best(games)
    df = written(groups).filter("team <> 'b'")
    left_alone(df, written(groups.filter("team <> 'b'")), "past a window")


def test_databend_17338_qualify_and_having(spark: SparkSession, games: DataFrame) -> None:
    """databendlabs/databend#17338: HAVING comes before the window, QUALIFY after it."""
    games.createOrReplaceTempView("played")
    spark.udf.register("top", pandas_udf(udfs.top, "double"))

    def written(having: str, where: str) -> DataFrame:
        return spark.sql(
            "SELECT team, m FROM (SELECT *, row_number() OVER (ORDER BY m DESC) AS rank FROM"
            f" (SELECT team, top(score) AS m FROM played GROUP BY team HAVING {having}))"
            f" WHERE {where}"
        )

    kept(written("m < 95", "rank = 1"), written("true", "rank = 1 AND m < 95"))
    above = written("m >= 92", "rank = 3")
    boundary = moved(above, written("true", "rank = 3 AND m < 92"))
    assert boundary.prefilter.startswith("score >= 92.0D")


def test_spark_16994_below_a_limit(games: DataFrame) -> None:
    """SPARK-16994: a filter below LIMIT lets other rows in. The pre-filter stays above it."""

    def few(rows: DataFrame) -> DataFrame:
        return rows.orderBy("v", "score").limit(6)

    naive = best(few(games.filter("score >= 90"))).filter("m >= 90")
    boundary = moved(best(few(games)).filter("m >= 90"), naive)
    assert boundary.prefilter.startswith("score >= 90.0D")


def test_datafusion_21063_below_a_sort_with_fetch(games: DataFrame) -> None:
    """apache/datafusion#21063: a filter below the sort that keeps the first two."""
    from pyspark.sql import functions as F

    def two(rows: DataFrame) -> DataFrame:
        return rows.orderBy(F.desc("m")).limit(2)

    groups = best(games)
    left_alone(two(groups).filter("m < 99"), two(groups.filter("m < 99")), "past ")


def test_duckdb_6061_distinct_on(games: DataFrame) -> None:
    """duckdb/duckdb#6061: DISTINCT ON keeps one row of each team; another column filters later."""
    from pyspark.sql import functions as F

    def groups(rows: DataFrame) -> DataFrame:
        size = pandas_udf(udfs.top, "double")("score").alias("m")
        return rows.groupBy("team", "level").agg(size).coalesce(1)

    def first(rows: DataFrame) -> DataFrame:
        return rows.sortWithinPartitions(F.desc("m")).dropDuplicates(["team"])

    df = first(groups(games)).filter("m < 93")
    left_alone(df, first(groups(games).filter("m < 93")), "past ")


def test_polars_12102_equal_to_the_minimum(games: DataFrame) -> None:
    """pola-rs/polars#12102: ``m == min(m)``, then ``m > 10``: two masks are not one."""
    from pyspark.sql import Window
    from pyspark.sql import functions as F

    def least(rows: DataFrame) -> DataFrame:
        return rows.withColumn("least", F.min("m").over(Window.partitionBy())).filter("m = least")

    groups = best(games)
    df = least(groups).filter("m > 10")
    left_alone(df, least(groups.filter("m > 10")), "past a window")


def test_polars_12186_numbers_of_rows(games: DataFrame) -> None:
    """pola-rs/polars#12186: a predicate below the numbering of rows renumbers them."""
    from pyspark.sql import Window
    from pyspark.sql import functions as F

    def numbered(rows: DataFrame) -> DataFrame:
        return rows.withColumn("i", F.row_number().over(Window.orderBy("v", "score")))

    def written(rows: DataFrame) -> DataFrame:
        return agg(rows, udfs.early_high, "bigint", "i", "v").filter("m >= 1")

    all_high = games.selectExpr("team", "score", "v + 4 AS v", "level")
    naive = written(numbered(all_high.filter("v > 10")))
    moved(written(numbered(all_high)), naive, policy="assume")
