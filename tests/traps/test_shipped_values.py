"""Bugs of other engines with NULL, NOT, casts, strings, names and guards, around a Python function.

Each test names the public thread, and shows that the rewrite which was shipped there is wrong here.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from tests.support.traps import udfs
from tests.support.traps.checks import RAISES, Trap, agg, kept, left_alone, moved, outcome, table

from presieve.driver.optimize import optimize

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession


def test_spark_12218_a_conjunct_under_not(games: DataFrame) -> None:
    """SPARK-12218: of ``NOT (a AND b)`` with an unknown b, ``NOT a`` does not follow."""
    best = agg(games, udfs.top, "double", "score")
    kept(best.filter("NOT (m >= 90 AND sqrt(m) < 9.6)"), best.filter("NOT (m >= 90)"))


def test_spark_52032_paimon_6931_not_null_safe_equal(games: DataFrame) -> None:
    """SPARK-52032, apache/paimon#6931: ``NOT (m <=> 5)`` is true of NULL, ``m <> 5`` is not."""
    best = agg(games, udfs.largest_or_none, "bigint", "v")
    kept(best.filter("NOT (m <=> 5)"), best.filter("m <> 5"))


def test_parquet_java_3640_null_in_a_list(spark: SparkSession, games: DataFrame) -> None:
    """apache/parquet-java#3640: Python's ``None in ("error", None)`` is true, SQL's is not."""
    trap = Trap(udfs.errors_or_none, "bigint", ("level",), "m >= 1", "level IN ('error', NULL)")
    trap.refuted(spark)
    assert "level IS NULL" in moved(trap.written(games), trap.naive(games)).prefilter


def test_parquet_java_3640_null_in_a_list_above(games: DataFrame) -> None:
    """apache/parquet-java#3640: ``m NOT IN (5, NULL)`` is never true."""
    best = agg(games, udfs.largest, "bigint", "v")
    kept(best.filter("m NOT IN (5, NULL)"), best.filter("m NOT IN (5)"))


def test_spark_9927_a_constant_beyond_the_column(spark: SparkSession) -> None:
    """SPARK-9927: an int column against 2147483648, which wraps to -2147483648."""
    schema = "team string, n int"
    rows = table(spark, schema, ("a", 1), ("b", 2**31 - 1), ("b", -(2**31)))
    wrapped = "n < -2147483648"
    trap = Trap(udfs.below_two_to_31, "bigint", ("n",), "m >= 1", wrapped, schema=schema)
    trap.refuted(spark)
    kept(trap.written(rows), trap.naive(rows))


def test_datafusion_24702_a_narrowing_cast(games: DataFrame) -> None:
    """apache/datafusion#24702: a try_cast that is NULL says nothing of what is cast."""
    best = agg(games, udfs.largest, "bigint", "v")
    kept(best.filter("try_cast(m AS TINYINT) IS NULL"), best.filter("m IS NULL"))


def test_datafusion_24702_a_rounding_cast(spark: SparkSession) -> None:
    """apache/datafusion#24702: ``CAST(m AS INT) = 95`` holds of 95.5."""
    rows = table(spark, "team string, score double", ("a", 95.5), ("a", 95.0), ("b", 95.0))
    best = agg(rows, udfs.top, "double", "score")
    kept(best.filter("CAST(m AS INT) = 95"), best.filter("m = 95"))


def test_spark_47168_collations_in_files(spark: SparkSession, tmp_path: Path) -> None:
    """SPARK-47168: a collated comparison against a file's binary statistics."""
    rows = table(spark, "team string, score double", ("a", 95.0), ("a", 1.0), ("b", 99.0))
    path = str(tmp_path / "t")
    rows.selectExpr("team COLLATE UTF8_LCASE AS team", "score").write.parquet(path)
    keyed = spark.read.parquet(path)
    best = agg(keyed, udfs.top, "double", "score").filter("m >= 90 AND team = 'A'")
    below = keyed.filter("team COLLATE UTF8_BINARY = 'A'")
    naive = agg(below, udfs.top, "double", "score").filter("m >= 90")
    boundary = moved(best, naive, policy="assume")
    assert boundary.prefilter.startswith("score >= 90.0D")
    assert "team" not in boundary.prefilter


def test_spark_48498_char_is_padded(spark: SparkSession) -> None:
    """SPARK-48498: in SQL a CHAR column equals 'error', in Python it has spaces behind it."""
    spark.sql("CREATE TABLE padded (team STRING, level CHAR(8)) USING parquet")
    try:
        spark.sql("INSERT INTO padded VALUES ('a', 'error')")
        rows = spark.table("padded")
        trap = Trap(udfs.no_errors, "bigint", ("level",), "m >= 1", "level <> 'error'")
        left_alone(trap.written(rows), trap.naive(rows), "[column-type]")
    finally:
        spark.sql("DROP TABLE padded")


def test_spark_40169_names_that_differ_in_case(spark: SparkSession) -> None:
    """SPARK-40169: columns V and v; the filter is to be on the right one."""
    spark.conf.set("spark.sql.caseSensitive", "true")
    try:
        rows = table(spark, "team string, v bigint, V bigint", ("a", 20, 1), ("b", 1, 20))
        trap = Trap(udfs.count_high, "bigint", ("v",), "m >= 1", "V > 10")
        kept(trap.written(rows), trap.naive(rows))
    finally:
        spark.conf.unset("spark.sql.caseSensitive")


def test_spark_11153_long_strings_in_statistics(spark: SparkSession, tmp_path: Path) -> None:
    """SPARK-11153: files keep the beginning of a long string only; comparing it is not enough."""
    rows = table(spark, "team string, level string", ("a", "z" * 71), ("b", "z" * 70), ("c", "y"))
    rows.coalesce(1).write.parquet(str(tmp_path / "t"))
    read = spark.read.parquet(str(tmp_path / "t"))
    cut = "substring(level, 1, 64) > repeat('z', 64)"
    trap = Trap(udfs.beyond, "bigint", ("level",), "m >= 1", cut)
    boundary = moved(trap.written(read), trap.naive(read))
    assert any("GreaterThan(level," in p for p in boundary.pushed_to_scan)


def test_presto_13009_duckdb_23734_guards(games: DataFrame) -> None:
    """prestodb/presto#13009, duckdb/duckdb#23734: evaluated on rows that a guard had removed."""

    def best(rows: DataFrame) -> DataFrame:
        return agg(rows, udfs.top, "double", "r").filter("m >= 10")

    guarded = games.filter("v <> 0").selectExpr("team", "score / v AS r")
    unguarded = games.filter("score / v >= 10").selectExpr("team", "score / v AS r")
    assert outcome(best(unguarded)) == RAISES
    moved(best(guarded), best(unguarded))


def test_spark_48666_functions_and_partitions(
    spark: SparkSession, games: DataFrame, tmp_path: Path
) -> None:
    """SPARK-48666: a Python function of a partition column is no expression of Spark's."""
    from pyspark.sql.functions import udf

    games.write.partitionBy("v").parquet(str(tmp_path / "t"))
    parts = spark.read.parquet(str(tmp_path / "t")).selectExpr("team", "bigint(v) AS v")

    def written(rows: DataFrame) -> DataFrame:
        return agg(rows, udfs.count_high, "bigint", "v").filter("m >= 1")

    halves = parts.filter(udf(udfs.half, "bigint")("v") >= 5.5)
    df = written(halves)
    assert optimize(df, policy="assume") is not df
    kept(df, written(parts.filter("v / 2 >= 5.5")), policy="assume")
