"""Bugs of other engines around aggregates, re-created around a Python function.

Each test names the public thread, and shows that the rewrite which was shipped there is wrong here.
"""

from __future__ import annotations

import math
from pathlib import Path
from typing import TYPE_CHECKING

from tests.support.traps import udfs
from tests.support.traps.checks import Trap, agg, kept, left_alone, moved, pandas_udf, table

from presieve.driver.optimize import optimize
from presieve.records import replace

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

NOTHING = "no pre-filter was found"


def test_spark_22983_a_constant_beside_a_global_aggregate(games: DataFrame) -> None:
    """SPARK-22983: a filter on a constant output pushed below an aggregate without GROUP BY."""
    from pyspark.sql import functions as F

    def total(rows: DataFrame) -> DataFrame:
        return rows.agg(F.lit(0).alias("zero"), F.count("*").alias("n"))

    best = agg(games, udfs.top, "double", "score")
    left_alone(total(best).filter("zero = 1"), total(best.filter("0 = 1")), "[")


def test_pinot_12647_a_condition_inside_becomes_one_below(games: DataFrame) -> None:
    """apache/pinot#12647: the FILTER of an aggregate as WHERE: groups with 0 vanish."""
    trap = Trap(udfs.count_high, "bigint", ("v",), "m >= 0", "v > 10")
    kept(trap.written(games), trap.naive(games))


def test_datafusion_25415_duckdb_24207_a_volatile_grouping_key(games: DataFrame) -> None:
    """apache/datafusion#25415, duckdb/duckdb#24207: the key is computed once more below."""
    from pyspark.sql import functions as F

    def key() -> object:
        return F.monotonically_increasing_id() % 2

    def written(rows: DataFrame) -> DataFrame:
        size = pandas_udf(udfs.count, "bigint")("v")
        grouped = rows.groupBy(key().alias("k")).agg(size.alias("m"))  # type: ignore[attr-defined]
        return grouped.filter("k = 0 AND m >= 1")

    one = games.coalesce(1)
    below = one.filter(key() == 0)  # type: ignore[arg-type]
    left_alone(written(one), written(below), "[nondeterministic]")


def test_polars_29456_a_key_from_the_row_before(games: DataFrame) -> None:
    """pola-rs/polars#29456: a predicate below the shift() that makes the grouping key."""
    from pyspark.sql import Window
    from pyspark.sql import functions as F

    def written(rows: DataFrame) -> DataFrame:
        before = F.lag("team").over(Window.orderBy("v", "score"))
        high = pandas_udf(udfs.top, "double")("score").alias("m")
        return rows.withColumn("before", before).groupBy("before").agg(high).filter("m >= 92")

    assert moved(written(games), written(games.filter("score >= 92"))).prefilter


def test_clickhouse_119596_null_among_the_conjuncts(games: DataFrame) -> None:
    """ClickHouse/ClickHouse#119596: a NULL conjunct of HAVING is lost."""
    best = agg(games, udfs.top, "double", "score")
    df = best.filter("m >= 90 AND CAST(NULL AS BOOLEAN)")
    assert moved(df, best.filter("m >= 90")).kind == "empty"


def test_databend_20379_equal_to_itself(games: DataFrame) -> None:
    """databendlabs/databend#20379: ``m = m`` taken for true: groups with NULL stay."""
    best = agg(games, udfs.largest_or_none, "bigint", "v")
    kept(best.filter("m = m"), best)


def test_duckdb_6686_grouping_sets(games: DataFrame) -> None:
    """duckdb/duckdb#6686: IS NOT NULL on a key goes below GROUPING SETS; the total row stays."""

    def rolled(rows: DataFrame) -> DataFrame:
        return rows.rollup("team").agg(pandas_udf(udfs.top, "double")("score").alias("m"))

    df = rolled(games).filter("m >= 90 AND team IS NOT NULL")
    kept(df, rolled(games.filter("team IS NOT NULL")).filter("m >= 90"))


def test_restate_5214_minimum_and_maximum_together(games: DataFrame) -> None:
    """restatedev/restate#5214: the filter fits the maximum, and the minimum changes."""

    def written(rows: DataFrame) -> DataFrame:
        schema = "team string, low bigint, high bigint"
        return rows.groupBy("team").applyInPandas(udfs.extremes, schema).filter("high > 10")

    df = written(games)
    left_alone(df, written(games.filter("v > 10")), NOTHING)
    assert optimize(df.select("team", "high")) is not df


def test_iceberg_15069_spark_57739_nan_and_null_in_statistics(
    spark: SparkSession, tmp_path: Path
) -> None:
    """apache/iceberg#15069, SPARK-57739: row groups of NaN alone or NULL alone: NaN in pandas."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    score = pa.array([math.nan, math.nan, None, None, 1.0, 2.0], from_pandas=False)
    data = pa.table({"team": ["a", "b", "c", "c", "d", "d"], "score": score})
    pq.write_table(data, tmp_path / "t.parquet", row_group_size=2)
    rows = spark.read.parquet(str(tmp_path / "t.parquet"))
    trap = Trap(udfs.not_a_number, "bigint", ("score",), "m >= 1", "isnan(score)")
    replace(trap, options={"policy": "strict"}).refuted(spark)
    boundary = moved(trap.written(rows), trap.naive(rows))
    assert "isnan(score)" in boundary.prefilter
    assert "score IS NULL" in boundary.prefilter


def test_datafusion_17188_a_range_from_one_value(spark: SparkSession) -> None:
    """apache/datafusion#17188: from ``m = 95`` follows ``score >= 95``, and not ``score = 95``."""
    rows = table(spark, "team string, score double", ("a", 95.0), ("a", 99.0), ("b", 95.0))
    trap = Trap(udfs.top, "double", ("score",), "m = 95", "score = 95")
    trap.refuted(spark)
    boundary = moved(trap.written(rows), trap.naive(rows))
    assert (boundary.kind, boundary.prefilter) != ("exact", "score = 95.0D")


def test_not_does_not_inherit(spark: SparkSession, games: DataFrame) -> None:
    """Of exact, inexact and unsupported: that a filter is exact says nothing of its negation."""
    trap = Trap(udfs.top, "double", ("score",), "NOT (m >= 92)", "NOT (score >= 92)")
    trap.refuted(spark)
    left_alone(trap.written(games), trap.naive(games), NOTHING)


def test_exact_and_unsupported_is_inexact(games: DataFrame) -> None:
    """(unsupported AND exact) is not exact: what cannot be moved stays above."""
    best = agg(games, udfs.top, "double", "score")
    df = best.filter("m >= 90 AND sqrt(m) < 9.6")
    moved(df, agg(games.filter("score >= 90"), udfs.top, "double", "score"))
    assert "SQRT" in optimize(df)._jdf.queryExecution().analyzed().toString().upper()
