"""Calls of code that is not read, under each policy and option."""

from __future__ import annotations

from typing import Any

import pytest
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F
from tests.backend.problems import effect_udfs as udfs
from tests.support.running import same_rows

import presieve
from presieve.report.report import Report

ROWS = [("a", 1.0), ("a", None), ("b", 150.0), (None, float("nan")), ("b", -0.0)]
KEPT = "k = 'a'"


@pytest.fixture(scope="module")
def table(spark: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> DataFrame:
    path = str(tmp_path_factory.mktemp("effects") / "table")
    spark.createDataFrame(ROWS, "k string, v double").coalesce(1).write.parquet(path)
    return spark.read.parquet(path)


def _filtered(table: DataFrame, function: Any, where: str = KEPT) -> DataFrame:
    grouped = table.groupBy("k").applyInPandas(function, "k string, m double")
    return grouped.filter(where)


def _asked(df: DataFrame, **options: Any) -> Report:
    return presieve.explain(df, cost="always", compile="never", **options)


def _prefilter(table: DataFrame, function: Any, **options: Any) -> str:
    df = _filtered(table, function)
    better = presieve.optimize(df, cost="always", compile="never", **options)
    same_rows(df, better)
    (boundary,) = _asked(df, **options).boundaries
    return boundary.prefilter


def test_unknown_code_may_be_skipped_and_is_named(table: DataFrame) -> None:
    assert _prefilter(table, udfs.fits) == KEPT
    (boundary,) = _asked(_filtered(table, udfs.fits)).boundaries
    named = [a for a in boundary.assumptions if a["code"] == "no-effects"]
    line = udfs.fits.__code__.co_firstlineno + 1
    assert f"Model().fit() has no effect that you count on, line {line}" in {
        a["text"] for a in named
    }


@pytest.mark.parametrize("options", [{"policy": "strict"}, {"effects": "keep"}], ids=str)
def test_unknown_code_stays_where_that_is_asked(table: DataFrame, options: Any) -> None:
    assert _prefilter(table, udfs.fits, **options) == "true"
    (boundary,) = _asked(_filtered(table, udfs.fits), **options).boundaries
    assert boundary.declined[0].code == "unknown-call"


@pytest.mark.parametrize("function", [udfs.saves, udfs.logs_a_metric], ids=lambda f: f.__name__)
def test_a_name_that_acts_is_trusted_only_if_asked(table: DataFrame, function: Any) -> None:
    assert _prefilter(table, function) == "true"
    assert _prefilter(table, function, effects="none") == KEPT


STAY = (
    *(udfs.writes, udfs.reads_the_clock, udfs.numbers_groups, udfs.counts_its_calls),
    *(udfs.counts_in_the_class, udfs.counts_in_another_class),
)


@pytest.mark.parametrize("function", STAY, ids=lambda f: f.__name__)
def test_what_acts_or_changes_other_rows_stays(table: DataFrame, function: Any) -> None:
    for effects in ("auto", "none", "keep"):
        (boundary,) = _asked(_filtered(table, function), effects=effects).boundaries
        assert boundary.prefilter == "true"


def test_state_really_changes_rows(table: DataFrame) -> None:
    """The wrong twin: with fewer groups, another number comes out."""
    ordered = table.coalesce(1).orderBy("k")
    function = udfs.counts_its_calls
    late = ordered.groupBy("k").applyInPandas(function, "k string, m double").coalesce(1)
    early = ordered.filter("k = 'b'").groupBy("k").applyInPandas(function, "k string, m double")
    assert [r.m for r in early.collect()] == [1.0]
    assert sorted(r.m for r in late.collect()) != [1.0]


def test_messages_are_told_and_stop_nothing(table: DataFrame) -> None:
    assert _prefilter(table, udfs.prints) == KEPT
    assert _prefilter(table, udfs.prints, effects="keep") == KEPT
    (boundary,) = _asked(_filtered(table, udfs.prints)).boundaries
    texts = {a["text"] for a in boundary.assumptions if a["code"] == "messages"}
    assert {t.partition(",")[0] for t in texts} == {
        "print() may write fewer messages",
        "LOG.info() may write fewer messages",
    }


def test_messages_stop_no_function_of_values(table: DataFrame) -> None:
    df = table.withColumn("r", F.udf(udfs.label, "string")("v")).filter("r = 'high'")
    same_rows(df, presieve.optimize(df, cost="always", compile="never"))
    (boundary,) = _asked(df).boundaries
    assert boundary.prefilter == "v > 100.0D AND NOT isnan(v)"
    assert {a["code"] for a in boundary.assumptions} >= {"messages"}


@pytest.mark.classic("functions are not compiled on Spark Connect")
def test_messages_of_a_function_that_is_compiled_are_told(table: DataFrame) -> None:
    df = table.withColumn("r", F.udf(udfs.label, "string")("v"))
    better = presieve.optimize(df, cost="always", compile="always")
    same_rows(df, better)
    report = presieve.explain(df, cost="always", compile="always")
    (function,) = [f for f in report.functions if f.compiled]
    assert "messages" in {a["code"] for a in function.assumptions}


def test_the_part_of_a_function_of_values_before_unknown_code(table: DataFrame) -> None:
    df = table.withColumn("r", F.udf(udfs.scaled, "string")("v")).filter("r IS NOT NULL")
    same_rows(df, presieve.optimize(df, cost="always", compile="never"))
    (boundary,) = _asked(df).boundaries
    assert boundary.prefilter == "v > 0.0D OR isnan(v)"
    assert "no-effects" in {a["code"] for a in boundary.assumptions}
    (kept,) = _asked(df, effects="keep").boundaries
    assert kept.prefilter == "true"
