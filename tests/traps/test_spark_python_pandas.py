"""The traps that Spark, Python and pandas set, T01 to T24: each tempting pre-filter is wrong.

docs/traps.md has them in a table.
"""

from __future__ import annotations

import math
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from tests.support.traps import udfs
from tests.support.traps.checks import (
    RAISES,
    Trap,
    agg,
    kept,
    left_alone,
    moved,
    outcome,
    pandas_udf,
    table,
    tempting,
)

import presieve
from presieve.driver.optimize import explain, optimize
from presieve.driver.solve import Policy
from presieve.records import replace

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

NOTHING = "no pre-filter was found"


def codes(df: DataFrame, policy: Policy = "default") -> set[str]:
    """What the rewrite of a pipeline with one boundary assumes of data."""
    (boundary,) = explain(df, policy=policy).boundaries
    return {a["code"] for a in boundary.assumptions}


def test_t01_groups_without_such_rows_vanish(spark: SparkSession, games: DataFrame) -> None:
    trap = Trap(udfs.count_high, "bigint", ("v",), "m = 0", "v > 10")
    trap.refuted(spark)
    left_alone(trap.written(games), trap.naive(games), NOTHING)


def test_t01_at_most_five_errors(spark: SparkSession, games: DataFrame) -> None:
    trap = Trap(udfs.errors, "bigint", ("level",), "m <= 5", "level = 'error'")
    trap.refuted(spark)
    left_alone(trap.written(games), trap.naive(games), NOTHING)


def test_t02_the_sibling_output_changes(games: DataFrame) -> None:
    def written(rows: DataFrame) -> DataFrame:
        schema = "team string, m bigint, n bigint"
        return rows.groupBy("team").applyInPandas(udfs.top_with_size, schema).filter("m > 10")

    df, naive = written(games), written(games.filter("v > 10"))
    left_alone(df, naive, NOTHING)
    assert optimize(df.select("team", "m")) is not df
    one = presieve.verify(
        udfs.top_with_size,
        "m > 10",
        schema="team string, v bigint NOT NULL",
        returns="team string, m bigint, n bigint",
        keys="team",
        prefilter="v > 10",
    )
    assert one.status == "refuted"


def test_t02_two_aggregates_side_by_side(games: DataFrame) -> None:
    def written(rows: DataFrame) -> DataFrame:
        high, size = pandas_udf(udfs.top, "double"), pandas_udf(udfs.count, "bigint")
        both = rows.groupBy("team").agg(high("score").alias("m"), size("v").alias("n"))
        return both.filter("m >= 90")

    left_alone(written(games), written(games.filter("score >= 90")), NOTHING)


def test_t03_a_global_aggregate_of_no_rows(games: DataFrame) -> None:
    """A global pandas aggregate of no rows is no row, unlike a native one."""

    def written(rows: DataFrame) -> DataFrame:
        return rows.agg(pandas_udf(udfs.count_high, "bigint")("v").alias("c")).filter("c = 0")

    low = games.filter("v < 10")
    left_alone(written(low), written(low.filter("v > 10")), NOTHING)
    verdict = presieve.verify(
        udfs.count_high, "c = 0", schema="v bigint", returns="c bigint", prefilter="v > 10"
    )
    assert verdict.status == "refuted"


class Largest:
    """A native ``max``: NULL of no rows."""

    def zero(self) -> Any:
        return None

    def reduce(self, acc: Any, row: Any) -> Any:
        return row["v"] if acc is None or row["v"] > acc else acc


def test_t04_a_native_maximum_of_no_rows(games: DataFrame) -> None:
    from pyspark.sql import functions as F

    def written(rows: DataFrame) -> DataFrame:
        return rows.agg(F.max("v").alias("m")).filter("m IS NULL")

    kept(written(games), written(games.filter("v > 1e17")))
    verdict = presieve.verify(
        Largest,
        "m IS NULL",
        schema="v bigint NOT NULL",
        returns="m bigint",
        mode="global",
        prefilter="v > 1000",
    )
    assert verdict.status == "refuted"
    assert verdict.counterexample is not None
    assert verdict.counterexample.original == []
    assert verdict.counterexample.optimized == [{"m": None}]


@pytest.mark.parametrize(
    ("function", "returns", "where", "value"),
    [
        (udfs.as_text, "string", "m = '7.0'", 7),
        (udfs.as_int, "bigint", f"m = {2**53}", 2**53 + 1),
    ],
)
def test_t05_dtypes_flip_with_null(
    spark: SparkSession, function: Any, returns: str, where: str, value: int
) -> None:
    """With a NULL the longs are float64: 7 is '7.0', and 2**53 + 1 is 2**53."""
    rows = table(spark, "team string, v bigint", ("a", value), ("a", None)).coalesce(1)

    def written(rows: DataFrame) -> DataFrame:
        groups = rows.groupBy("team").applyInPandas(function, f"team string, m {returns}")
        return groups.filter(where)

    left_alone(written(rows), written(rows.filter("v IS NOT NULL")), "[nested-loop]")


def test_t05_in_a_loop_the_assumption_is_listed(spark: SparkSession) -> None:
    rows = table(spark, "team string, v bigint", ("a", 2**53 + 1), ("a", None)).coalesce(1)
    trap = Trap(udfs.largest, "bigint", ("v",), "m > 10", "v > 10")
    df = trap.written(rows)
    kept(df, trap.naive(rows))
    assert "no-null" in codes(df, policy="assume")
    assert not codes(df)
    assert optimize(df, policy="strict") is df


def test_t06_nan_comes_first(spark: SparkSession) -> None:
    """``max([nan, 95])`` is NaN, which comes out as NULL."""
    rows = table(spark, "team string, score double", ("a", math.nan), ("a", 95.0)).coalesce(1)
    prefilter = "score > 10 AND NOT isnan(score)"
    trap = Trap(udfs.builtin_top, "double", ("score",), "m > 10", prefilter)
    left_alone(trap.written(rows), trap.naive(rows), "[un")


def test_t06_in_a_loop_the_assumption_is_listed(spark: SparkSession) -> None:
    """A leading NaN stays the maximum: that there is none is assumed, or nothing is done."""
    rows = table(spark, "team string, score double", ("a", math.nan), ("a", 95.0)).coalesce(1)
    prefilter = "score > 10 AND NOT isnan(score)"
    trap = Trap(udfs.leading_top, "double", ("score",), "m > 10", prefilter)
    df = trap.written(rows)
    right = outcome(df)
    kept(df, trap.naive(rows))
    assert not codes(df)
    assert "no-nan" in codes(df, policy="assume")
    assert outcome(optimize(df, policy="assume")) != right
    assert optimize(df, policy="strict") is df
    assert [a["code"] for a in trap.verdict().assumptions] == ["no-nan"]
    replace(trap, options={"policy": "strict"}).refuted(spark)


def test_t07_the_mean_changes(games: DataFrame) -> None:
    def written(rows: DataFrame) -> DataFrame:
        return rows.groupBy("team").applyInPandas(udfs.minus_mean, rows.schema).filter("score > 0")

    rows = games.filter("team = 'a'")
    left_alone(written(rows), written(rows.filter("score > 0")), "[")


def test_t08_a_key_that_the_function_rewrites(games: DataFrame) -> None:
    def written(rows: DataFrame) -> DataFrame:
        groups = rows.groupBy("team").applyInPandas(udfs.rewrites_key, "team string, m bigint")
        return groups.filter("team = 'high'")

    kept(written(games), written(games.filter("team = 'high'")))


def test_t09_below_a_limit(games: DataFrame) -> None:
    def best(rows: DataFrame) -> DataFrame:
        return agg(rows, udfs.largest, "bigint", "v")

    df = best(games).orderBy("m").limit(3).filter("m > 7")
    naive = best(games.filter("v > 7")).orderBy("m").limit(3).filter("m > 7")
    left_alone(df, naive, "[operator]")


def test_t10_numbers_of_rows(games: DataFrame) -> None:
    from pyspark.sql import functions as F

    def numbered(rows: DataFrame) -> DataFrame:
        return rows.withColumn("i", F.monotonically_increasing_id())

    def written(rows: DataFrame) -> DataFrame:
        return agg(rows, udfs.early_high, "bigint", "i", "v").filter("m >= 1")

    one = games.coalesce(1)
    left_alone(
        written(numbered(one)), written(numbered(one.filter("v > 10"))), "[nondeterministic]"
    )


def test_t11_what_a_batch_has_in_common(spark: SparkSession) -> None:
    def written(rows: DataFrame) -> DataFrame:
        return rows.mapInPandas(udfs.minus_batch_minimum, rows.schema).filter("v > 3")

    rows = [("a", 7), ("a", 5), ("b", 3), ("b", 1)]
    one = table(spark, "team string, v bigint NOT NULL", *rows).coalesce(1)
    left_alone(written(one), written(one.filter("v > 3")), "[two-passes]")


def test_t12_a_table_function_that_stops_early(spark: SparkSession, games: DataFrame) -> None:
    from pyspark.sql.functions import udtf

    function: Any = udtf
    spark.udtf.register("first_three", function(udfs.FirstThree, returnType="v bigint"))

    def written(rows: DataFrame) -> DataFrame:
        rows.select("team", "v").coalesce(1).createOrReplaceTempView("played")
        return spark.sql(
            "SELECT v FROM first_three(TABLE(played) PARTITION BY team ORDER BY v) WHERE v > 7"
        )

    four = games.unionAll(games.selectExpr("team", "score", "v + 1 AS v", "level"))
    left_alone(written(four), written(four.filter("v > 7")), "[nondeterministic]")


def test_t13_the_first_value_depends_on_order(spark: SparkSession, games: DataFrame) -> None:
    rows = table(spark, "team string, score double", ("a", -3.0), ("a", 95.0)).coalesce(1)
    trap = Trap(udfs.first_score, "double", ("score",), "m > 10", "score > 10")
    left_alone(trap.written(rows), trap.naive(rows), NOTHING)
    looped = Trap(udfs.first_of, "bigint", ("v",), "m > 10", "v > 10")
    looped.refuted(spark)
    one = games.coalesce(1)
    left_alone(looped.written(one), looped.naive(one), NOTHING)


def test_t14_a_window_sees_fewer_rows(games: DataFrame) -> None:
    from pyspark.sql import Window

    def written(rows: DataFrame) -> DataFrame:
        size = pandas_udf(udfs.count, "bigint")("v").over(Window.partitionBy("team"))
        return rows.select("team", "v", size.alias("n")).filter("v > 10")

    left_alone(written(games), written(games.filter("v > 10")), "[operator]")


def test_t15_squares_that_overflow(games: DataFrame) -> None:
    """Python's integers have no bounds; Spark's raise."""
    from pyspark.sql.functions import udf

    big = games.withColumn("big", udf(udfs.square_is_big, "boolean")("v")).filter("big")
    boundary = moved(big, games.filter("v > 11").selectExpr("*", "true AS big"))
    assert boundary.prefilter == "v >= 11 OR v <= -11"
    trap = Trap(udfs.big_squares, "bigint", ("v",), "m >= 1", "v * v > 100")
    assert outcome(trap.naive(games)) == RAISES
    assert trap.verdict().status != "proved"
    for boundary in kept(trap.written(games), trap.naive(games)):
        assert "*" not in boundary.prefilter


def test_t16_an_error_disappears(spark: SparkSession) -> None:
    """Allowed, told, and refused under the strict policy."""
    rows = table(spark, "team string, v bigint", ("a", -1), ("a", 20))
    trap = Trap(udfs.strict_largest, "bigint", ("v",), "m > 10", "v > 10")
    df = trap.written(rows)
    assert tempting(df, trap.naive(rows)) == RAISES
    assert "may-erase-error" in codes(df)
    assert optimize(df, policy="strict") is df
    strict = replace(trap, schema="team string, v bigint NOT NULL", options={"policy": "strict"})
    assert strict.verdict().status == "unknown"


def test_t17_collations(spark: SparkSession) -> None:
    """In Python ``'ERROR' != 'error'``; in SQL, under UTF8_LCASE, they are equal."""
    rows = table(spark, "team string, level string", ("a", "ERROR"), ("b", "info"))
    folded = rows.selectExpr("team", "level COLLATE UTF8_LCASE AS level")
    trap = Trap(udfs.no_errors, "bigint", ("level",), "m >= 1", "level <> 'error'")
    left_alone(trap.written(folded), trap.naive(folded), "[column-type]")


def test_t18_null_counts_too(spark: SparkSession, games: DataFrame) -> None:
    trap = Trap(udfs.missing_or_error, "bigint", ("level",), "m >= 1", "level = 'error'")
    trap.refuted(spark)
    assert "level IS NULL" in moved(trap.written(games), trap.naive(games)).prefilter


def test_t19_a_filter_that_drops_null(spark: SparkSession) -> None:
    """Of strings: a NULL among them is None in Python, and counts."""
    rows = table(spark, "team string, level string", ("a", None), ("b", "x"), ("c", "y"))
    trap = Trap(udfs.no_errors, "bigint", ("level",), "m >= 1", "level <> 'error'")
    trap.refuted(spark)
    assert "level IS NULL" in moved(trap.written(rows), trap.naive(rows)).prefilter


def test_t20_statistics_that_leave_out_nan(spark: SparkSession, tmp_path: Path) -> None:
    """pyarrow's statistics do not know NaN: the scan skips what the filter itself would keep."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    data = {"team": ["a", "a", "b"], "score": [math.nan, 4.0, 5.0], "v": [1, 2, 3]}
    pq.write_table(pa.table(data), tmp_path / "t.parquet")
    rows = spark.read.parquet(str(tmp_path / "t.parquet"))
    trap = Trap(udfs.high_or_nan, "bigint", ("score",), "m >= 1", "score > 5")
    boundary = moved(trap.written(rows), trap.naive(rows))
    assert "isnan(score)" in boundary.prefilter
    assert not boundary.assumptions


def test_t21_a_hidden_counter(games: DataFrame) -> None:
    from pyspark.sql.functions import udf

    def written(rows: DataFrame) -> DataFrame:
        number = udf(udfs.numbered, "bigint")
        return rows.select("team", "v", number("v").alias("i")).filter("i > 2")

    one = games.coalesce(1)
    left_alone(written(one), written(one.filter("v > 10")), "[mutation]")


@pytest.mark.parametrize("arrow", [True, False])
def test_t22_results_are_coerced(games: DataFrame, arrow: bool) -> None:
    """``7 / 2`` as a long is 3 with Arrow and NULL without; 3.5 is it never."""
    from pyspark.sql.functions import udf

    half = games.withColumn("h", udf(udfs.half, "bigint", useArrow=arrow)("v"))
    naive = half.filter("v / 2 >= 3.5")
    written = half.filter("h >= 3.5")
    if arrow:
        left_alone(written, naive, "[return-type]")
    else:
        assert moved(written, naive).prefilter == "false", "a double is NULL, which is not above 3"


def test_t23_a_filter_without_any_column(games: DataFrame) -> None:
    from pyspark.sql import functions as F

    def native(rows: DataFrame) -> DataFrame:
        return rows.agg(F.max("v").alias("m"))

    boundary = moved(native(games).filter("1 = 0"), native(games.filter("1 = 0")))
    assert (boundary.kind, boundary.residual) == ("empty", "false")
    verdict = presieve.verify(
        Largest,
        "false",
        schema="v bigint NOT NULL",
        returns="m bigint",
        mode="global",
        prefilter="false",
        residual="true",
    )
    assert verdict.status == "refuted"


def test_t24_a_filter_that_can_never_hold(spark: SparkSession, games: DataFrame) -> None:
    """It is said to be empty, and is no split pushdown."""
    trap = Trap(udfs.bounded, "bigint", ("v",), "m > 10", "v > 10", residual="true")
    trap.refuted(spark)
    boundary = moved(trap.written(games), trap.naive(games), policy="assume")
    assert (boundary.kind, boundary.prefilter) == ("empty", "false")
