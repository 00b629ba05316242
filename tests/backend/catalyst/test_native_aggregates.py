"""Filters on Spark's own aggregates (HAVING): pipelines as written and as optimized."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from tests.support.games.tables import Tables
from tests.support.running import (
    is_connect,
    named,
    plan_text,
    rewritten,
    safe,
    same_rows,
    untouched,
)

from presieve.driver.optimize import explain, optimize

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession


def having(rows: DataFrame, outputs: str, where: str) -> DataFrame:
    """``SELECT team, outputs FROM rows GROUP BY team HAVING where``."""
    if is_connect(rows):
        return _as_frames(rows, outputs, where)
    rows.createOrReplaceTempView("native")
    chosen = f"team, {outputs}" if outputs else "team"
    return rows.sparkSession.sql(f"SELECT {chosen} FROM native GROUP BY team HAVING {where}")


CALL = re.compile(
    r"\b(?:max|min|count|count_if|any|sum|avg)\((?:[^()]|\((?:[^()]|\([^()]*\))*\))*\)"
    r"(?: FILTER \([^()]*\))?"
)


def _as_frames(rows: DataFrame, outputs: str, where: str) -> DataFrame:
    """The same without SQL text for a whole query: what HAVING computes has a name of its own."""
    from pyspark.sql import functions as F

    calls: dict[str, str] = {}
    where = CALL.sub(lambda m: calls.setdefault(m[0], f"c{len(calls)}"), where)
    named = re.findall(r"(?:^|, )(.+?) AS (\w+)(?=, |$)", outputs)
    columns = [F.expr(call).alias(name) for call, name in [*named, *calls.items()]]
    kept = rows.groupBy("team").agg(*columns).filter(where)
    return kept.select("team", *(name for _, name in named))


def differs(df: DataFrame, other: DataFrame) -> None:
    assert sorted(map(str, df.collect())) != sorted(map(str, other.collect()))


def plan_of(df: DataFrame) -> str:
    return plan_text(df).partition("== Physical Plan ==")[2]


def test_a_maximum_reaches_the_scan(tables: Tables) -> None:
    from pyspark.sql import functions as F

    df = tables.plain.groupBy("team").agg(F.max("v").alias("m")).filter("m > 90")
    boundary = rewritten(df)
    assert (boundary.kind, boundary.prefilter, boundary.residual) == ("exact", "v > 90", "true")
    assert "GreaterThan(v,90)" in boundary.pushed_to_scan
    assert boundary.function == "max"
    before, _, after = plan_of(optimize(df)).partition("Exchange")
    assert "Filter" not in before
    assert "GreaterThan(v,90)" in after


def test_sql_text(tables: Tables) -> None:
    text = "SELECT team, max(v) AS m FROM native_text GROUP BY team HAVING max(v) > 10"
    with named(tables.strange, "native_text"):
        boundary = rewritten(tables.strange.sparkSession.sql(text))
    assert (boundary.kind, boundary.prefilter) == ("exact", "v > 10")
    assert "GreaterThan(v,10)" in boundary.pushed_to_scan


CASES = [
    # outputs, HAVING, kind, pre-filter, and one that is too strong
    ("min(v) AS m", "min(v) < 5", "exact", "v < 5", "v < 4"),
    ("max(score) AS m", "m > 90", "exact", "score > 90.0D OR isnan(score)", "score > 94"),
    ("max(level) AS m", "m > 'j'", "exact", "level > 'j'", "level > 'x'"),
    ("", "count_if(v > 10) >= 1", "exact", "v > 10", "v > 11"),
    ("", "count(*) FILTER (WHERE v > 10) > 0", "exact", "v > 10", "v > 11"),
    ("", "sum(CASE WHEN v > 10 THEN 1 ELSE 0 END) > 0", "partial", "v > 10", "v > 11"),
    ("", "sum(int(v > 10)) > 0", "partial", "v > 10", "v > 11"),
    ("", "any(v > 10)", "exact", "v > 10", "v > 11"),
    ("count(score) AS c", "c > 1", "split", "score IS NOT NULL OR isnan(score)", "score > 0"),
    ("sum(v) AS s", "s > 20", "partial", "v <> 0", "v > 1"),
    ("max_by(level, v) AS l", "max(v) > 10", "exact", "v > 10", "v > 11"),
    ("min_by(v, score) AS l", "min(score) < 90", "exact", "score < 90.0D", "score < 0"),
    ("max(v) AS m", "m > 10 AND count_if(v > 10) >= 2", "split", "v > 10", "v > 2000000000000"),
    ("min(v) AS m", "max(v) > 10", "partial", "v IS NOT NULL", "v > 10"),
]


@pytest.mark.parametrize(("outputs", "where", "kind", "prefilter", "wrong"), CASES)
def test_every_function(
    tables: Tables, outputs: str, where: str, kind: str, prefilter: str, wrong: str
) -> None:
    for rows in (tables.strange, tables.empty):
        boundary = rewritten(having(rows, outputs, where))
        assert (boundary.kind, boundary.prefilter) == (kind, prefilter)
    df = having(tables.strange, outputs, where)
    differs(df, having(tables.strange.filter(wrong), outputs, where))


def test_what_a_double_needs(tables: Tables) -> None:
    """NaN is the greatest double, and scans may lose it: only without NaN it goes to the scan."""
    df = having(tables.plain, "max(score) AS m", "m > 90")
    assert explain(df).boundaries[0].pushed_to_scan == ()
    declared = ("NOT isnan(score)",)
    (boundary,) = explain(df, declare=declared).boundaries
    assert boundary.prefilter == "score > 90.0D"
    assert "GreaterThan(score,90.0)" in boundary.pushed_to_scan
    same_rows(df, optimize(df, declare=declared))
    differs(
        having(tables.strange, "max(score) AS m", "m > 90"),
        having(tables.strange.filter("NOT isnan(score)"), "max(score) AS m", "m > 90"),
    )


@pytest.mark.parametrize(
    ("outputs", "where"),
    [
        ("count(*) AS c", "c > 1"),
        ("count(*) AS c", "max(v) > 10"),
        ("", "max(v) > 10 AND count(*) < 3"),
        ("", "max(v) IS NULL"),
    ],
)
def test_what_needs_every_row(tables: Tables, outputs: str, where: str) -> None:
    assert not untouched(having(tables.plain, outputs, where)).declined


@pytest.mark.parametrize(
    ("outputs", "where", "code"),
    [
        ("sum(score) AS s", "s > 10", "native-aggregate"),
        ("avg(v) AS a", "a > 10", "native-aggregate"),
        ("avg(v) AS a", "max(v) > 10", "native-aggregate"),
        ("try_sum(v) AS s", "s > 10", "native-aggregate"),
        ("count(DISTINCT v) AS c", "c > 1", "native-aggregate"),
        ("approx_count_distinct(v) AS c", "c > 1", "native-aggregate"),
        ("first(v) AS f", "f > 10", "native-aggregate"),
        ("max_by(v, score, 2) AS f", "size(f) > 1", "native-aggregate"),
        ("max(v) + 1 AS m", "m > 10", "native-aggregate"),
        ("max(v + 1) FILTER (WHERE v > 0) AS m", "m > 10", "sql-unsupported"),
        ("collect_set(v) AS s", "size(s) > 1", "native-aggregate"),
    ],
)
def test_what_is_declined(tables: Tables, outputs: str, where: str, code: str) -> None:
    declined = untouched(having(tables.plain, outputs, where)).declined
    behind = ["sql-unsupported"] if "size(" in where else []
    assert [d.code for d in declined] == [code, *behind]


@pytest.mark.parametrize("unread", ["avg(v)", "sum(score)", "stddev(score)", "count(DISTINCT v)"])
def test_unknown_functions_that_nobody_reads(tables: Tables, unread: str) -> None:
    df = having(tables.strange, f"max(v) AS m, {unread} AS u", "m > 10")
    untouched(df)
    assert rewritten(df.select("team", "m")).kind == "exact"
    assert untouched(df.filter("u > 1").select("team", "m")).declined


def test_a_sum_that_may_raise_is_not_left_out(tables: Tables) -> None:
    """Without the rows in between it may overflow, and the job would raise that did not."""
    df = having(tables.plain, "", "max(v) > 10").filter("team > 'a'")
    assert rewritten(df).kind == "exact"
    df = having(tables.plain, "max(v) AS m, sum(v) AS s", "m > 10").select("team", "m")
    untouched(df)
    df = having(tables.plain, "max(v) AS m, sum(v * v) AS s", "m > 10").select("team", "m")
    assert untouched(df).declined


@pytest.mark.parametrize("ansi", ["true", "false"])
def test_sums_at_the_ends(spark: SparkSession, tables: Tables, ansi: str) -> None:
    spark.conf.set("spark.sql.ansi.enabled", ansi)
    try:
        rows = tables.plain.selectExpr("team", "CAST(v AS BIGINT) AS v")
        for where in ("s > 20", "s < 0", "s = 0", "s IS NULL", "s <> 6 AND min(v) > 0"):
            safe(having(rows, "sum(v) AS s", where))
        big = spark.range(4).selectExpr("'z' AS team", "9223372036854775807L - id AS v")
        if ansi == "false":
            safe(having(big, "sum(v) AS s", "s < 0"))
            safe(having(big, "", "sum(v) < 0"))
    finally:
        spark.conf.unset("spark.sql.ansi.enabled")


@pytest.mark.parametrize("by", ["rollup", "cube"])
def test_grouping_sets_of_frames(tables: Tables, by: str) -> None:
    from pyspark.sql import functions as F

    df = getattr(tables.plain, by)("team").agg(F.max("v").alias("m")).filter("m > 10")
    assert untouched(df).declined[0].code == "grouping-sets"


@pytest.mark.classic("GROUPING SETS in SQL text")
@pytest.mark.parametrize("by", ["ROLLUP(team)", "CUBE(team)", "GROUPING SETS ((team), ())"])
def test_grouping_sets(tables: Tables, by: str) -> None:
    tables.plain.createOrReplaceTempView("native")
    df = tables.plain.sparkSession.sql(
        f"SELECT team, max(v) AS m FROM native GROUP BY {by} HAVING max(v) > 10"
    )
    assert untouched(df).declined[0].code == "grouping-sets"


@pytest.mark.parametrize("where", ["m > 10", "m IS NULL", "m <=> 3", "1 = 0", "m > 10 OR m <= 10"])
def test_without_group_by(tables: Tables, where: str) -> None:
    """There is one row, whatever becomes of the input."""
    from pyspark.sql import functions as F

    for rows in (tables.plain, tables.empty, tables.plain.filter("v < 0")):
        safe(rows.agg(F.max("v").alias("m")).filter(where))
        safe(rows.agg(F.max("v").alias("m"), F.count_if(F.col("v") > 3).alias("c")).filter("c = 0"))


def test_without_group_by_what_is_left_is_checked(tables: Tables) -> None:
    from pyspark.sql import functions as F

    df = tables.plain.agg(F.max("v").alias("m")).filter("m > 90")
    boundary = rewritten(df)
    assert (boundary.kind, boundary.prefilter) == ("split", "v > 90")
    assert boundary.residual == "m IS NOT NULL"
    low = tables.plain.filter("v < 50").agg(F.max("v").alias("m")).filter("m > 90")
    assert optimize(low).collect() == []


def test_one_above_the_other(tables: Tables) -> None:
    from pyspark.sql import functions as F

    teams = tables.strange.groupBy("team", "level").agg(F.max("v").alias("v"))
    df = teams.groupBy("team").agg(F.max("v").alias("m")).filter("m > 10")
    same_rows(df, optimize(df))
    assert [b.prefilter for b in explain(df).boundaries] == ["v > 10", "v > 10"]


@pytest.mark.second
def test_projections_views_and_keys(tables: Tables) -> None:
    from pyspark.sql import functions as F

    df = (
        tables.strange.groupBy("team")
        .agg(F.max("v").alias("m"), F.count("*").alias("n"))
        .select(F.col("m").alias("best"), "team")
        .filter("best > 10 AND team <> 'a'")
    )
    assert rewritten(df).kind == "exact"
    rewritten(having(tables.strange, "", "max(v) > 10 AND (team = 'a' OR max(v) > 100)"))
    computed = tables.strange.groupBy(F.upper("team").alias("t")).agg(F.max("v").alias("m"))
    assert rewritten(computed.filter("m > 10")).kind == "exact"


def test_a_grouping_expression_that_raises(tables: Tables) -> None:
    """Its error may be gone with a row: that is told, and refused under ``strict``."""
    from pyspark.sql import functions as F

    groups = tables.plain.groupBy(F.expr("10 div v").alias("g"))
    df = groups.agg(F.max("v").alias("m")).filter("m > 90")
    (told,) = explain(df).boundaries
    assert [a["code"] for a in told.assumptions] == ["may-erase-error"]
    assert optimize(df, policy="strict") is df


def test_copies_of_one_aggregate_with_different_filters(
    spark: SparkSession, tmp_path: Path
) -> None:
    """Spark computes what is left of them together, and tells results apart by their numbers."""
    from pyspark.sql import functions as F

    rows = "('a', -5L), ('a', 500L), ('b', 30L), ('b', NULL)"
    spark.sql(f"SELECT * FROM VALUES {rows} AS t(team, v)").write.parquet(str(tmp_path / "t"))
    table = spark.read.parquet(str(tmp_path / "t"))
    y = table.agg(F.max("v").alias("m"))
    both = y.unionAll(y.filter("m > 10")).unionAll(y.filter("m > 1000"))
    better = optimize(both, cost="always")
    assert better is not both
    same_rows(both, better)
    x = table.agg(F.max("v").alias("m"), F.count_if(F.col("v") > 10).alias("n"))
    more = x.select("m").unionAll(y.filter("m > 10")).unionAll(y.filter("m > 1000"))
    same_rows(more, optimize(more, cost="always"))
    one = y.filter("m > 10")
    same_rows(one.unionAll(y).unionAll(one), optimize(one, cost="always").unionAll(y).unionAll(one))
    sums = table.agg((F.max("v") + F.max("v")).alias("m")).filter("m > 10")
    same_rows(sums.unionAll(sums), optimize(sums, cost="always").unionAll(sums))


@pytest.mark.classic("the server reads such a query")
def test_a_column_that_is_grouped_by_twice(tables: Tables) -> None:
    with named(tables.strange, "native_twice"):
        text = "SELECT team, max(v) AS m FROM native_twice GROUP BY team, team HAVING max(v) > 10"
        assert rewritten(tables.strange.sparkSession.sql(text)).prefilter == "v > 10"


@pytest.mark.parametrize("where", ["left(m, 2) = 'bl'", "substring(m, 1, 3) = 'red'"])
def test_a_constant_beside_a_text_that_is_none(tables: Tables, where: str) -> None:
    """``left(m, 2)`` has a text and a number."""
    from pyspark.sql import functions as F

    safe(tables.plain.groupBy("level").agg(F.max("team").alias("m")).filter(where))
