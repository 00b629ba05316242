"""Bugs of other engines around joins, and where something is not deterministic.

Each test names the public thread, and shows that the rewrite which was shipped there is wrong here.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from tests.support.traps import udfs
from tests.support.traps.checks import agg, kept, left_alone, outcome, pandas_udf, table

from presieve.driver.optimize import explain, optimize

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession


def best(rows: DataFrame) -> DataFrame:
    return agg(rows, udfs.top, "double", "score")


def teams_of(spark: SparkSession) -> DataFrame:
    """A team that never played among them."""
    return table(spark, "team string, city string", ("a", "A"), ("c", "C"), ("x", "X"))


def test_duckdb_21687_not_null_above_an_outer_join(spark: SparkSession, games: DataFrame) -> None:
    """duckdb/duckdb#21687: what is never NULL on the right is NULL above a left (lateral) join."""
    teams = teams_of(spark)
    df = teams.join(best(games), "team", "left").filter("m IS NOT NULL")
    kept(df, teams.join(best(games), "team", "left"))


def test_duckdb_24540_null_above_nested_outer_joins(spark: SparkSession, games: DataFrame) -> None:
    """duckdb/duckdb#24540: IS NULL pushed into the inner of two left joins."""
    teams = teams_of(spark)
    size = agg(games, udfs.count, "bigint", "v").withColumnRenamed("m", "n")
    inner = teams.join(best(games), "team", "left").join(size, "team", "left")
    below = teams.join(best(games).filter("m IS NULL"), "team", "left").join(size, "team", "left")
    kept(inner.filter("m IS NULL"), below)


def test_datafusion_10881_an_outer_join_on_false(spark: SparkSession, games: DataFrame) -> None:
    """apache/datafusion#10881: ``LEFT JOIN ON false WHERE m IS NOT NULL`` has no row."""
    from pyspark.sql import functions as F

    teams = teams_of(spark)
    groups = best(games).withColumnRenamed("team", "played")
    joined = teams.join(groups, F.lit(False), "left")
    kept(joined.filter("m IS NOT NULL"), joined)


def test_datafusion_23126_not_in_with_null(spark: SparkSession, games: DataFrame) -> None:
    """apache/datafusion#23126: NOT IN of a list with NULL is never true; an anti join is."""
    games.createOrReplaceTempView("played")
    best(games).createOrReplaceTempView("best")
    df = spark.sql("SELECT * FROM played WHERE team NOT IN (SELECT team FROM best WHERE m >= 92)")
    naive = spark.sql(
        "SELECT p.* FROM played p LEFT ANTI JOIN (SELECT team FROM best WHERE m >= 92) b"
        " ON p.team = b.team"
    )
    kept(df, naive)


def test_polars_4788_the_wrong_side_of_a_self_join(games: DataFrame) -> None:
    """pola-rs/polars#4788: a predicate on one side of a self-join binds to the other."""
    from pyspark.sql import functions as F

    both = games.alias("l").join(games.alias("r"), "team")

    def written(rows: DataFrame) -> DataFrame:
        high = pandas_udf(udfs.count_high, "bigint")(F.col("r.v"))
        return rows.groupBy("team").agg(high.alias("m")).filter("m >= 2")

    left_alone(written(both), written(both.filter("l.v > 10")), "ambiguous", policy="assume")


def test_datafusion_17188_a_range_across_a_join(spark: SparkSession, games: DataFrame) -> None:
    """apache/datafusion#17188: a filter from the join's other side is not one on its rows."""
    from pyspark.sql import functions as F

    teams = teams_of(spark)
    limits = teams.withColumn("limit", F.when(F.col("team") == "a", 94.0).otherwise(3.0))
    df = best(games).join(limits, "team").filter("m > limit AND m > 3")
    naive = best(games.filter("score > 94")).join(limits, "team").filter("m > limit AND m > 3")
    kept(df, naive)


def test_spark_59434_a_shared_cte(spark: SparkSession, games: DataFrame) -> None:
    """SPARK-59434: predicates into a CTE that is read twice and is not deterministic."""
    games.coalesce(1).createOrReplaceTempView("played")
    spark.udf.register("early_high", pandas_udf(udfs.early_high, "bigint"))
    spark.udf.register("count_high", pandas_udf(udfs.count_high, "bigint"))

    def written(call: str, below: str) -> DataFrame:
        return spark.sql(
            "WITH c AS (SELECT *, monotonically_increasing_id() AS i FROM"
            f" (SELECT * FROM played {below}))"
            f" SELECT * FROM (SELECT team, {call} AS m FROM c GROUP BY team) WHERE m >= 1"
            " UNION ALL SELECT team, i FROM c WHERE v > 10"
        )

    for call in ("early_high(i, v)", "count_high(v)"):
        kept(written(call, ""), written(call, "WHERE v > 10"))


def shared(rows: DataFrame, column: str, prefilter: str = "") -> DataFrame:
    """A CTE read twice: by a function, and under a filter, with its rows numbered."""
    spark = rows.sparkSession
    rows.createOrReplaceTempView("played")
    spark.udf.register("count_high", pandas_udf(udfs.count_high, "bigint"))
    return spark.sql(
        f"WITH t AS (SELECT * FROM played), c AS (SELECT *, {column} AS i FROM t)"
        f" SELECT * FROM (SELECT team, count_high(v) AS m FROM c {prefilter} GROUP BY team)"
        " WHERE m >= 1"
        " UNION ALL"
        " SELECT CONCAT(team, i < 2), monotonically_increasing_id() FROM c WHERE v < 6"
    )


def test_spark_59434_a_definition_that_is_not_deterministic(
    spark: SparkSession, games: DataFrame, tmp_path: Path
) -> None:
    """SPARK-59434: once every reference stands under a filter, Spark filters the one relation that
    they share, and what is not deterministic above another reference gets other rows.
    """
    games.coalesce(1).write.parquet(str(tmp_path / "t"))
    rows = spark.read.parquet(str(tmp_path / "t"))
    df, naive = (shared(rows, "rand(1)", where) for where in ("", "WHERE v > 10"))
    left_alone(df, naive, "[nondeterministic]")
    indirectly = shared(rows, "(SELECT count(*) FROM t WHERE rand(1) < 2)")
    assert optimize(indirectly) is indirectly


def test_spark_59434_a_definition_that_is_inlined(
    spark: SparkSession, games: DataFrame, tmp_path: Path
) -> None:
    """The same with a deterministic definition, of which each reference gets its own copy. The
    filter stays: whether a column of a view's files holds NULL is asked when the plan runs.
    """
    games.coalesce(1).write.parquet(str(tmp_path / "t"))
    df = shared(spark.read.parquet(str(tmp_path / "t")), "v")
    better = optimize(df)
    assert better is not df
    assert outcome(better) == outcome(df)
    report = explain(df)
    assert report.changed
    (boundary,) = report.boundaries
    assert (boundary.kind, boundary.prefilter) == ("partial", "v > 10")
    assert any("GreaterThan(v,10)" in f for f in boundary.pushed_to_scan)


def test_spark_13722_through_a_generator(games: DataFrame) -> None:
    """SPARK-13722: what is not deterministic, moved through explode()."""
    from pyspark.sql import functions as F

    one, twice = games.coalesce(1), F.explode(F.expr("array(1, 2)")).alias("x")
    below = one.select("*", F.monotonically_increasing_id().alias("i")).select("*", twice)
    above = one.select("*", twice).select("*", F.monotonically_increasing_id().alias("i"))

    def written(rows: DataFrame) -> DataFrame:
        return agg(rows, udfs.largest, "bigint", "i").filter("m >= 5")

    left_alone(written(below), written(above), "[nondeterministic]")


def test_datafusion_24678_numbered_results(games: DataFrame) -> None:
    """apache/datafusion#24678: an expression that is not deterministic, evaluated once more."""
    from pyspark.sql import functions as F

    def numbered(rows: DataFrame) -> DataFrame:
        return rows.select("team", "m", F.monotonically_increasing_id().alias("i"))

    groups = best(games)
    df = numbered(groups).filter("m >= 90 AND i >= 1")
    left_alone(df, numbered(groups.filter("m >= 90")).filter("i >= 1"), "[operator]")
