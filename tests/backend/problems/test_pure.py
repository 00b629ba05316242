"""Pipelines whose functions call others that are declared pure."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from tests.support.games import udfs
from tests.support.games.pipelines import agg, pandas_udf
from tests.support.games.tables import ROWS, SCHEMA, Tables
from tests.support.running import same_rows, untouched

from presieve.driver.optimize import explain, optimize
from presieve.ir.assumption_codes import PURE
from presieve.report.report_data import BoundaryReport

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

FUNCTIONS: list[Any] = [udfs.normalize, udfs.weight]


def rewritten(df: DataFrame, pure: Any = FUNCTIONS) -> BoundaryReport:
    """The report of the one boundary, after the rewritten pipeline gave the same rows."""
    better = optimize(df, pure=pure)
    assert better is not df, explain(df, pure=pure)
    same_rows(df, better)
    (boundary,) = explain(df, pure=pure).boundaries
    return boundary


@pytest.mark.parametrize("name", ["plain", "strange", "empty"])
def test_a_grouped_aggregate(tables: Tables, name: str) -> None:
    df = agg(getattr(tables, name), "high_errors", "bigint", "level", "v").filter("m >= 1")
    boundary = rewritten(df)
    assert boundary.prefilter == "v >= 5"
    assert boundary.strength == "universe"
    assert any("GreaterThanOrEqual(v,5)" in p for p in boundary.pushed_to_scan)
    (told,) = [a for a in boundary.assumptions if a["code"] == PURE]
    assert told["text"].startswith("normalize changes nothing")
    if name == "plain":
        assert df.count() > 0


def test_a_call_that_is_not_declared(tables: Tables) -> None:
    df = agg(tables.plain, "high_errors", "bigint", "level", "v").filter("m >= 1")
    (declined,) = untouched(df).declined
    assert "pure=[normalize]" in declined.reason
    assert declined.span is not None
    other: dict[Any, Any] = {udfs.weight: float}
    assert optimize(df, pure=other) is df


def test_groups_as_tables(tables: Tables) -> None:
    groups = tables.plain.groupBy("team").applyInPandas(
        udfs.heaviest, "team string, w double, level string"
    )
    boundary = rewritten(groups.filter("w >= 30"))
    assert boundary.prefilter == "v > 10"
    assert {a["text"].split()[0] for a in boundary.assumptions if a["code"] == PURE} == {
        "normalize",
        "weight",
    }


def test_two_functions_that_call_the_same_one(tables: Tables) -> None:
    one, two = pandas_udf("high_errors", "bigint"), pandas_udf("high_errors", "bigint")
    df = (
        tables.plain.withColumn("other", tables.plain["team"])
        .groupBy("team")
        .agg(one("level", "v").alias("a"), two("other", "v").alias("b"))
        .filter("a >= 1 AND b >= 0")
    )
    better = optimize(df, pure=FUNCTIONS)
    same_rows(df, better)
    (boundary,) = explain(df, pure=FUNCTIONS).boundaries
    assert not boundary.declined


def test_a_function_of_the_main_module(spark: SparkSession, tables: Tables) -> None:
    """It travels by value, so what is analysed is a copy of what was declared."""
    from pyspark.sql.pandas import functions

    def trimmed(level: str | None) -> str:
        return (level or "").strip()

    def count(level: Any, v: Any) -> int:
        n = 0
        for name, x in zip(level, v, strict=True):
            if trimmed(name) == "error" and x > 3:
                n += 1
        return n

    make: Any = functions.pandas_udf
    udf = make(count, "bigint", 202)
    df = spark.createDataFrame(ROWS, SCHEMA).groupBy("team").agg(udf("level", "v").alias("m"))
    boundary = rewritten(df.filter("m >= 1"), [trimmed])
    assert boundary.prefilter == "v > 3"
