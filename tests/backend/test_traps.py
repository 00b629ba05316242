"""Tempting pushdowns that are wrong, each by its number in the project's catalogue of traps."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from tests.support.games import udfs
from tests.support.games.pipelines import SCORE, agg, pandas_udf
from tests.support.games.tables import Tables
from tests.support.running import by_footers, rewritten, safe, same_rows, untouched

from presieve.driver.optimize import explain, optimize

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


def test_t01_groups_without_such_rows_vanish(tables: Tables) -> None:
    untouched(agg(tables.plain, "count_high", "bigint", "v").filter("m = 0"))
    untouched(agg(tables.plain, "errors", "bigint", "level").filter("m <= 5"))


def test_t01_but_at_least_one_moves(tables: Tables) -> None:
    df = agg(tables.plain, "errors", "bigint", "level").filter("m >= 1")
    boundary = rewritten(df)
    assert boundary.kind == "partial"  # a text that is no UTF-8 raises on its way to the function
    assert boundary.prefilter == "level = 'error'"


def test_t02_the_sibling_output_changes(tables: Tables) -> None:
    top, count = pandas_udf("top", "double"), pandas_udf("count", "bigint")
    both = tables.plain.groupBy("team").agg(
        top("score").alias("m"),
        count("v").alias("n"),
    )
    untouched(both.filter("m > 10"))
    rewritten(both.filter("m > 10").select("team", "m"))


def test_t03_a_global_aggregate_of_no_rows(tables: Tables) -> None:
    count = pandas_udf("count_high", "bigint")
    for table in (tables.plain, tables.empty, tables.plain.filter("v < 0")):
        safe(table.agg(count("v").alias("c")).filter("c = 0"))
        safe(table.agg(count("v").alias("c")).filter("c >= 1"))


def test_t04_a_native_maximum_of_no_rows(tables: Tables) -> None:
    from pyspark.sql import functions as F

    for table in (tables.plain, tables.empty):
        safe(table.agg(F.max("v").alias("m")).filter("m IS NULL"))


def test_t08_a_key_that_the_function_rewrites(tables: Tables) -> None:
    schema = "team string, best bigint"
    df = tables.plain.groupBy("team").applyInPandas(udfs.rewrites_key, schema)
    for where in ("team = 'a'", "team = 'low'", "team = 'high'", "team = 'high' AND best > 10"):
        safe(df.filter(where))


def test_t09_a_limit_in_between(tables: Tables) -> None:
    df = agg(tables.plain, "top", "double", "score").orderBy("team").limit(3)
    asked = df.filter("m >= 90")
    assert optimize(asked) is asked
    assert [b.kind for b in explain(asked).boundaries] == ["none"]


def test_t10_numbers_of_rows(tables: Tables) -> None:
    from pyspark.sql import functions as F

    numbered = tables.plain.withColumn("i", F.monotonically_increasing_id())
    df = agg(numbered.filter("i % 2 = 0"), "top", "double", "score").filter("m >= 90")
    assert untouched(df).declined[0].code == "nondeterministic"


def test_t15_squares_that_overflow(tables: Tables) -> None:
    """Rows with ``v * v > 100`` in SQL would raise for 2**40; nothing that can raise is pushed."""
    df = agg(tables.plain, "big_squares", "bigint", "v").filter("m >= 1")
    assert "*" not in str(explain(df).boundaries[0].prefilter)
    safe(df)


def test_t16_an_error_that_would_disappear(tables: Tables) -> None:
    df = agg(tables.plain, "strict_max", "bigint", "v").filter("m > 10")
    boundary = rewritten(df)
    assert boundary.prefilter == "v > 10"
    assert "may-erase-error" in {a["code"] for a in boundary.assumptions}
    assert optimize(df, policy="strict") is df


def test_t18_null_counts(tables: Tables) -> None:
    df = agg(tables.plain, "null_or_high", "bigint", "level").filter("m >= 1")
    boundary = rewritten(df)
    assert "level IS NULL" in boundary.prefilter


def test_t19_a_filter_that_drops_null(tables: Tables) -> None:
    df = agg(tables.strange, "count", "bigint", "level").filter("m >= 1")
    safe(df)
    untouched(agg(tables.strange, "count", "bigint", "level").filter("m >= 2"))


def test_t23_a_filter_without_any_column(tables: Tables) -> None:
    from pyspark.sql import functions as F

    boundary = rewritten(tables.plain.agg(F.max("v").alias("m")).filter("1 = 0"))
    assert (boundary.kind, boundary.residual) == ("empty", "false")
    udf = pandas_udf("top", "double")
    for table in (tables.plain, tables.empty):
        safe(table.agg(udf("score").alias("m")).filter("false"))
        safe(agg(table, "top", "double", "score").filter("false"))
        safe(agg(table, "top", "double", "score").filter("true"))
        safe(agg(table, "top", "double", "score").filter("CAST(NULL AS BOOLEAN)"))


def test_t24_a_filter_that_can_never_hold(tables: Tables) -> None:
    df = agg(tables.plain, "bounded", "bigint", "v").filter("m > 10")
    boundary = rewritten(df)
    assert boundary.kind == by_footers(df, "empty")
    assert boundary.prefilter == "false"
    assert optimize(df).count() == 0
    udf = pandas_udf("bounded", "bigint")
    one = tables.plain.agg(udf("v").alias("m")).filter("m > 10")
    assert rewritten(one).kind == by_footers(one, "empty")


def test_t17_collations(spark: SparkSession, tables: Tables) -> None:
    folded = tables.plain.selectExpr("team", "level COLLATE UTF8_LCASE AS level")
    untouched(agg(folded, "errors", "bigint", "level").filter("m >= 1"))
    keyed = tables.plain.selectExpr("team COLLATE UTF8_LCASE AS team", "score")
    df = agg(keyed, "top", "double", "score")
    df = df.filter("m >= 90 AND team = 'A'")
    untouched(df)  # which spelling of a team is shown would be open
    assert rewritten(df, policy="assume").prefilter == SCORE


def test_a_group_minus_its_mean(tables: Tables) -> None:
    df = tables.plain.groupBy("team").applyInPandas(udfs.minus_mean, tables.plain.schema)
    untouched(df.filter("score > 0"))


@pytest.mark.classic("grouping sets")
def test_grouping_sets(tables: Tables) -> None:
    """The columns of an Expand: which ``team`` is meant in a pre-filter cannot be said by name."""
    udf = pandas_udf("top", "double")
    df = tables.plain.rollup("team").agg(udf("score").alias("m"))
    assert rewritten(df.filter("m >= 90")).prefilter == SCORE
    safe(df.filter("m >= 90 AND team IS NOT NULL"))
    safe(df.filter("m >= 90 AND team = 'a'"))


def test_a_random_sample_below(tables: Tables) -> None:
    """The pre-filter stands above the sample; with a seed both sides see the same rows."""
    df = agg(tables.plain.sample(fraction=0.7, seed=1), "top", "double", "score").filter("m >= 90")
    same_rows(df, optimize(df))


def test_a_limit_below(tables: Tables) -> None:
    few = tables.plain.orderBy("v").limit(6)
    df = agg(few, "top", "double", "score").filter("m >= 90")
    rewritten(df)
