"""Errors below a boundary: they may vanish, which is told, and must not appear."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from tests.backend.problems import row_udfs
from tests.support.games.pipelines import SCORE, agg
from tests.support.games.tables import Tables
from tests.support.running import is_connect, rewritten, untouched

from presieve.driver.optimize import optimize

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

ERASES = "may-erase-error"


def codes(df: DataFrame) -> set[str]:
    return {a["code"] for a in rewritten(df).assumptions}


@pytest.mark.classic("the function is_valid_utf8 is not known")
def test_nothing_below_can_raise(tables: Tables) -> None:
    """Here strict may push: ``level`` is a string, and nothing is assumed of it."""
    named = tables.plain.selectExpr("upper(team) AS team", "level")
    named = named.filter("team IS NOT NULL AND is_valid_utf8(level)")
    df = agg(named, "errors", "bigint", "level").filter("m >= 1")
    assert ERASES not in codes(df)
    assert optimize(df, policy="strict") is not df


def test_texts_that_may_be_no_utf8(tables: Tables) -> None:
    df = agg(tables.plain, "errors", "bigint", "level").filter("m >= 1")
    assert ERASES in codes(df)
    assert optimize(df, policy="strict") is df
    assert optimize(df, policy="strict", declare="is_valid_utf8(level)") is not df


def test_an_error_below_may_vanish(tables: Tables) -> None:
    divided = tables.plain.selectExpr("team", "level", "1 / (v + 1) AS share")
    df = agg(divided.filter("share > 0"), "errors", "bigint", "level").filter("m >= 1")
    assert ERASES in codes(df)
    assert optimize(df, policy="strict") is df


def test_an_error_above_may_vanish(tables: Tables) -> None:
    df = agg(tables.plain, "errors", "bigint", "level").selectExpr("m", "1 / (m + 1) AS share")
    assert ERASES in codes(df.filter("m >= 1"))


def test_a_pre_filter_may_read_what_can_raise(tables: Tables) -> None:
    """No operator below drops rows, so nothing is computed for further rows."""
    divided = tables.plain.filter("v <> 0").selectExpr("team", "score / v AS score")
    df = agg(divided, "top", "double", "score").filter("m >= 20")
    assert rewritten(df).prefilter == SCORE.replace("90", "20")


def test_but_not_above_a_join(tables: Tables) -> None:
    """The join drops the row whose division would raise; a filter pushed below would compute it."""
    known = tables.plain.filter("v <> 0").select("v").distinct()
    joined = tables.plain.join(known, "v").selectExpr("team", "score / v AS score")
    df = agg(joined.selectExpr("team", "score AS score"), "top", "double", "score")
    assert untouched(df.filter("m >= 20")).declined[-1].code == "may-add-error"


@pytest.mark.parametrize("where", ["v <> 0 AND m >= 20", "m >= 20 AND v <> 0"])
def test_nor_below_a_filter_that_spark_moves_below_it(tables: Tables, where: str) -> None:
    """Spark divides only what passes the filter on the key, and would divide for the pre-filter
    first.
    """
    divided = tables.plain.selectExpr("v", "score / v AS share")
    df = divided.groupBy("v").agg({"share": "max"}).withColumnRenamed("max(share)", "m")
    assert df.filter(where).count() > 0
    assert untouched(df.filter(where)).declined[-1].code == "may-add-error"


def test_nor_for_a_function_of_rows(tables: Tables) -> None:
    from pyspark.sql.functions import udf

    divided = tables.plain.selectExpr("v", "score / v AS share")
    graded: Any = udf(row_udfs.grade, "string", useArrow=False)
    df = divided.withColumn("c", graded("share")).filter("v <> 0 AND c IS NULL")
    df.collect()
    assert untouched(df).declined[-1].code == "may-add-error"


@pytest.mark.classic("a cast of a column, as text, is not known not to raise")
def test_sums_of_doubles_do_not_raise(tables: Tables) -> None:
    table = tables.plain.filter("v > 1").selectExpr("v", "score * 2.0D - CAST(v AS double) AS s")
    df = table.groupBy("v").agg({"s": "max"}).withColumnRenamed("max(s)", "m")
    assert ERASES not in codes(df.filter("v <> 3 AND m >= 20"))


@pytest.mark.parametrize("part", ["year", "quarter", "month", "dayofyear", "weekofyear", "weekday"])
@pytest.mark.parametrize("zone", ["UTC", "America/St_Johns"])
def test_parts_of_dates_do_not_raise(spark: SparkSession, part: str, zone: str) -> None:
    """Of the first and the last microsecond of 64 bits."""
    ends = (-(2**63), -1, 0, 2**63 - 1)
    values = ", ".join(
        f"(timestamp_micros({'-9223372036854775807 - 1' if n < -1 else n}))" for n in ends
    )
    spark.conf.set("spark.sql.session.timeZone", zone)
    try:
        found = spark.sql(f"SELECT {part}(t) AS p FROM VALUES {values} AS v(t)").collect()
    finally:
        spark.conf.unset("spark.sql.session.timeZone")
    assert len(found) == 4


def greatest_above_a_join(spark: SparkSession, tables: Tables, given: str, other: str) -> DataFrame:
    """A maximum of decimals that are cast, of which the join drops those with most digits."""
    precision, scale = map(int, given.removeprefix("decimal(").removesuffix(")").split(","))
    most = f"{'9' * precision}E-{scale}BD"
    rows = f"VALUES ('b', {most}), ('c', -{most}), ('a', 1BD) AS t (team, d)"
    large = spark.sql(f"SELECT team, CAST(d AS {given}) AS d FROM {rows}")
    if is_connect(large):  # where such text is not read
        large = spark.createDataFrame(large.collect(), large.schema)
    known = tables.plain.filter("team = 'a'").select("team").distinct()
    cast = large.join(known, "team").selectExpr("team", f"CAST(d AS {other}) AS d")
    return cast.groupBy("team").agg({"d": "max"}).withColumnRenamed("max(d)", "m").filter("m >= 1")


@pytest.mark.classic("a cast of a column, as text, is not known not to raise")
@pytest.mark.parametrize(
    ("given", "other"),
    [("decimal(20,2)", "bigint"), ("decimal(9,0)", "int"), ("decimal(38,0)", "double")],
)
def test_decimals_with_room_for_them(
    spark: SparkSession, tables: Tables, given: str, other: str
) -> None:
    df = greatest_above_a_join(spark, tables, given, other)
    assert "d" in rewritten(df).prefilter
    assert optimize(df, cost="always").collect() == df.collect() != []


@pytest.mark.parametrize(
    ("given", "other"), [("decimal(21,2)", "bigint"), ("decimal(10,0)", "int")]
)
def test_decimals_without(spark: SparkSession, tables: Tables, given: str, other: str) -> None:
    df = greatest_above_a_join(spark, tables, given, other)
    assert untouched(df).declined[-1].code == "may-add-error"


def test_other_columns_above_a_join(tables: Tables) -> None:
    known = tables.plain.filter("v <> 0").select("v").distinct()
    joined = tables.plain.join(known, "v").selectExpr("team", "score", "1 / v AS share")
    df = agg(joined, "top", "double", "score")
    assert ERASES in codes(df.filter("m >= 90"))


@pytest.mark.classic("whole queries as text")
def test_ctes_are_looked_into(spark: SparkSession, tables: Tables) -> None:
    from tests.support.games.pipelines import pandas_udf

    tables.plain.createOrReplaceTempView("games")
    spark.udf.register("top", pandas_udf("top", "double"))
    query = """
      WITH shares AS (
        SELECT g.team, g.score / g.v AS score
        FROM games g JOIN (SELECT DISTINCT v FROM games WHERE v <> 0) k ON g.v = k.v)
      SELECT team, top(score) AS m FROM shares GROUP BY team HAVING m >= 20
    """
    assert untouched(spark.sql(query)).declined[-1].code == "may-add-error"


def test_a_pre_filter_calls_no_python(tables: Tables) -> None:
    from pyspark.sql.functions import udf

    @udf("double")
    def twice(x: float) -> float:
        return 2 * x

    doubled = tables.plain.withColumn("score", twice("score"))
    df = agg(doubled, "top", "double", "score").filter("m >= 90")
    assert untouched(df).declined[-1].code == "may-add-error"
