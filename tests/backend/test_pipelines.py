"""Pipelines whose filters move, in every shape of plan that is supported."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from tests.support.games import udfs
from tests.support.games.pipelines import SCORE, TOP2, agg, pandas_udf
from tests.support.games.tables import Tables
from tests.support.running import (
    is_connect,
    optimized_plan,
    optimized_with_report,
    plan_text,
    rewritten,
    safe,
    same_rows,
    untouched,
)

from presieve.driver.optimize import explain, optimize
from presieve.driver.options import Cost

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


def test_exact_below_an_aggregate(tables: Tables) -> None:
    df = agg(tables.plain, "top", "double", "score").filter("m >= 90")
    boundary = rewritten(df)
    assert boundary.operator == "Aggregate"
    assert boundary.kind == "exact"
    assert boundary.prefilter == SCORE
    assert boundary.residual == "true"
    assert any("GreaterThanOrEqual(score,90.0)" in p for p in boundary.pushed_to_scan)
    assert "def top" in boundary.source
    assert boundary.span is not None
    assert boundary.span.file.endswith("udfs.py")


@pytest.mark.parametrize("cost", ["auto", "always"])
def test_a_report_changes_nothing(tables: Tables, cost: Cost) -> None:
    """``rewritten`` and ``untouched`` look at the plan of the call that reports."""
    groups = tables.plain.groupBy("team").applyInPandas(udfs.top2, TOP2)
    best = tables.plain.groupBy("team").agg({"score": "max"}).toDF("team", "best")
    for df in (
        agg(tables.plain, "top", "double", "score").filter("m >= 90"),
        agg(tables.strange, "count_high", "bigint", "v").filter("m >= 1 AND team <> 'C'"),
        groups.filter("first >= 90 AND second >= 90"),
        groups.select("team"),
        best.filter("best > 90"),
        best.filter("length(team) = 1"),
        tables.plain.selectExpr(
            "*", "row_number() OVER (PARTITION BY team ORDER BY v) AS n"
        ).filter("n = 1"),
    ):
        better, told = optimize(df, cost=cost), optimized_with_report(df, cost=cost)[0]
        assert (better is df) == (told is df)
        assert optimized_plan(better) == optimized_plan(told)


def test_split_below_apply_in_pandas(tables: Tables) -> None:
    groups = tables.plain.groupBy("team").applyInPandas(udfs.top2, TOP2)
    boundary = rewritten(groups.filter("first >= 90 AND second >= 90"))
    assert boundary.operator == "FlatMapGroupsInPandas"
    guarded = is_connect(groups)  # whose files are not read
    assert boundary.kind == ("partial" if guarded else "split")
    assert boundary.prefilter == "score >= 90.0D"
    assert guarded or boundary.residual == "second IS NOT NULL"
    assert any("GreaterThanOrEqual(score,90.0)" in p for p in boundary.pushed_to_scan)


def test_null_and_nan_that_have_no_influence(tables: Tables) -> None:
    rewritten(agg(tables.strange, "top", "double", "score").filter("m >= 90"))


def test_an_empty_table(tables: Tables) -> None:
    rewritten(agg(tables.empty, "top", "double", "score").filter("m >= 90"))


def test_without_keys(tables: Tables) -> None:
    udf = pandas_udf("top", "double")
    one = tables.plain.agg(udf("score").alias("m"))
    assert rewritten(one.filter("m >= 90")).kind == "exact"
    none = tables.empty.agg(udf("score").alias("m"))
    rewritten(none.filter("m >= 90"))


def test_projections_renames_and_further_filters(tables: Tables) -> None:
    from pyspark.sql import functions as F

    df = (
        agg(tables.plain, "top", "double", "score")
        .select(F.col("m").alias("best"), F.upper("team").alias("name"), "team")
        .filter("name <> 'C'")
        .alias("t")
        .withColumnRenamed("best", "most")
        .filter("most >= 90 AND length(name) = 1")
    )
    boundary = rewritten(df)
    assert boundary.prefilter == SCORE
    better = optimize(df)
    assert "length" in plan_text(better)


def test_a_computed_column_that_lifts(tables: Tables) -> None:
    df = agg(tables.plain, "count_high", "bigint", "v").selectExpr("team", "m >= 1 AS any")
    boundary = rewritten(df.filter("any"))
    assert boundary.prefilter == "v > 10"


def test_a_computed_column_that_does_not_lift(tables: Tables) -> None:
    df = agg(tables.plain, "top", "double", "score").selectExpr("team", "sqrt(m) AS r")
    untouched(df.filter("r >= 9"))


HIGH = "CASE WHEN m >= 90 THEN 'high' WHEN m > 10 THEN 'low' ELSE 'none' END"


@pytest.mark.classic("of CASE in a projection only the text is known")
@pytest.mark.parametrize(
    ("column", "where", "prefilter"),
    [
        ("coalesce(m, 0D)", "c >= 90", SCORE),
        ("coalesce(m, 90D)", "c >= 90", SCORE),  # it is never NULL
        ("CASE WHEN m > 10 THEN m ELSE -1D END", "c >= 90", SCORE),
        ("CASE WHEN m > 10 THEN -1D ELSE m END", "c >= 90", "false"),
        ("nullif(m, 1D)", "c >= 90", SCORE),
        (HIGH, "c = 'high'", SCORE),
        (HIGH, "c <> 'none'", SCORE.replace(">= 90", "> 10")),
        (HIGH, "c = 'none'", "true"),
        (HIGH, "c IS NULL", "false"),
    ],
)
def test_columns_of_cases(tables: Tables, column: str, where: str, prefilter: str) -> None:
    """A condition on CASE is one on each of its values."""
    df = agg(tables.strange, "top", "double", "score").selectExpr("team", f"{column} AS c")
    (boundary,) = explain(df.filter(where), cost="always").boundaries
    assert boundary.prefilter == prefilter
    safe(df.filter(where))


@pytest.mark.classic("of CASE in a projection only the text is known")
@pytest.mark.parametrize(("least", "prefilter"), [(0, "score >= 90.0D"), (90, "true")])
def test_what_takes_the_place_of_null(tables: Tables, least: int, prefilter: str) -> None:
    """There is no second one of a group of one row."""
    groups = tables.plain.groupBy("team").applyInPandas(udfs.top2, TOP2)
    df = groups.selectExpr(f"coalesce(second, {least}D) AS c").filter("c >= 90")
    (boundary,) = explain(df, cost="always").boundaries
    assert boundary.prefilter == prefilter
    safe(df)


def test_filters_on_the_key_go_along(tables: Tables) -> None:
    """Catalyst moves them; both arrive at the scan."""
    df = agg(tables.plain, "top", "double", "score").filter("m >= 90 AND team = 'a'")
    assert rewritten(df).prefilter == SCORE
    _, _, plan = plan_text(optimize(df)).partition("== Optimized Logical Plan ==")
    assert "(score#" in plan.split("Aggregate")[1]
    assert "= a)" in plan.split("Aggregate")[1]


def test_filters_on_the_key_alone_are_left_to_spark(tables: Tables) -> None:
    df = agg(tables.plain, "top", "double", "score").filter("team = 'a'")
    assert untouched(df).declined[0].code == "keys-only"


def test_a_filter_on_key_and_result_together(tables: Tables) -> None:
    df = agg(tables.plain, "top", "double", "score").filter("m >= 90 OR team = 'a'")
    safe(df)


def test_a_renamed_key(tables: Tables) -> None:
    from pyspark.sql import functions as F

    udf = pandas_udf("top", "double")
    groups = tables.plain.groupBy(F.col("team").alias("name")).agg(udf("score").alias("m"))
    assert rewritten(groups.filter("m >= 90 AND name = 'a'")).prefilter == SCORE
    safe(groups.filter("m >= 90 OR name = 'a'"))


def test_a_computed_key(tables: Tables) -> None:
    from pyspark.sql import functions as F

    udf = pandas_udf("top", "double")
    df = (
        tables.plain.groupBy(F.upper("team").alias("name"))
        .agg(udf("score").alias("m"))
        .filter("m >= 90 AND name <> 'B'")
    )
    assert rewritten(df).prefilter == SCORE


def test_a_key_of_doubles_is_no_constant_of_its_group(tables: Tables) -> None:
    """Spark makes one group of 0.0 and -0.0."""
    df = (
        tables.plain.groupBy("score")
        .agg(pandas_udf("count_high", "bigint")("v").alias("m"))
        .filter("m >= 1 AND score >= 0")
    )
    assert rewritten(df, policy="assume").prefilter == "v > 10"
    untouched(df)


def test_a_function_that_takes_the_key(tables: Tables) -> None:
    df = tables.plain.groupBy("team").applyInPandas(udfs.top_with_key, "team string, best bigint")
    boundary = rewritten(df.filter("best > 10"))
    assert boundary.prefilter == "v > 10"


def test_two_functions_side_by_side(tables: Tables) -> None:
    first, second = pandas_udf("top", "double"), pandas_udf("count_high", "bigint")
    df = tables.plain.groupBy("team").agg(
        first("score").alias("m"),
        second("v").alias("n"),
    )
    safe(df.filter("m >= 90 AND n >= 1"))
    boundary = rewritten(df.filter("m >= 90").select("team", "m"))
    assert boundary.prefilter == SCORE


def test_several_boundaries_in_one_plan(tables: Tables) -> None:
    left = agg(tables.plain, "top", "double", "score").filter("m >= 90")
    right = agg(tables.plain, "count_high", "bigint", "v", alias="n").filter("n >= 1")
    df = left.join(right, "team")
    same_rows(df, optimize(df))
    prefilters = {b.prefilter for b in explain(df).boundaries}
    assert prefilters == {SCORE, "v > 10"}


@pytest.mark.classic("functions that are registered are on the server")
def test_sql_views_and_having(spark: SparkSession, tables: Tables) -> None:
    tables.plain.createOrReplaceTempView("games")
    spark.udf.register("top", pandas_udf("top", "double"))
    df = spark.sql("SELECT team, top(score) AS m FROM games GROUP BY team HAVING m >= 90")
    assert rewritten(df).prefilter == SCORE
    df.createOrReplaceTempView("best")
    above = spark.sql("SELECT * FROM best WHERE m >= 95 AND team IS NOT NULL")
    assert rewritten(above).prefilter == SCORE.replace("90", "95")


def test_the_result_keeps_its_columns(tables: Tables) -> None:
    """References by the old DataFrame resolve against the new one."""
    df = agg(tables.plain, "top", "double", "score").filter("m >= 90")
    better = df.transform(optimize)
    assert better.filter(df["m"] > 94).count() == df.filter(df["m"] > 94).count()


def test_again_changes_nothing(tables: Tables) -> None:
    groups = tables.plain.groupBy("team").applyInPandas(udfs.top2, TOP2)
    better = optimize(groups.filter("first >= 90 AND second >= 90"))
    assert optimize(better) is better


def test_what_the_user_filtered_already(tables: Tables) -> None:
    df = agg(tables.plain.filter("v >= 0"), "top", "double", "score").filter("m >= 90")
    assert rewritten(df).prefilter == SCORE


@pytest.mark.parametrize("column", ["select", "a b", "a`b", "score.x", "Ünï"])
def test_odd_names(tables: Tables, column: str) -> None:
    quoted = "`" + column.replace("`", "``") + "`"
    table = tables.plain.selectExpr("team", f"score AS {quoted}")
    udf = pandas_udf("top", "double")
    df = table.groupBy("team").agg(udf(table[quoted]).alias("m"))
    prefilter = rewritten(df.filter("m >= 90")).prefilter
    assert prefilter == SCORE.replace("score", quoted)


def test_the_same_name_twice_below(tables: Tables) -> None:
    """A join of a table with itself: which ``score`` is meant cannot be said by name."""
    other = tables.plain.select("team", "score")
    both = tables.plain.alias("l").join(other.alias("r"), "team")
    from pyspark.sql import functions as F

    udf = pandas_udf("top", "double")
    df = both.groupBy("team").agg(udf(F.col("l.score")).alias("m"))
    assert untouched(df.filter("m >= 90")).declined[-1].code == "ambiguous-name"


def test_partition_columns_choose_partitions(
    spark: SparkSession, tables: Tables, tmp_path: Path
) -> None:
    tables.plain.write.partitionBy("v").parquet(str(tmp_path / "t"))
    parts = spark.read.parquet(str(tmp_path / "t"))
    df = agg(parts.selectExpr("team", "bigint(v) AS v"), "count_high", "bigint", "v")
    boundary = rewritten(df.filter("m >= 1"))
    assert any("v#" in p for p in boundary.pushed_to_scan)
