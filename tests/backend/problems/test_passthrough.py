"""Filters on columns that a function passes on row by row, although it does not lift."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from tests.backend.problems import passing_udfs as udfs
from tests.support.pickling import pickled_by_value
from tests.support.running import counted, rewritten, safe, untouched
from tests.support.spark_version import RUNNING

from presieve.driver.optimize import explain

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

SCHEMA = "k string, x double, y bigint, s string"
RESULT = "k string, y bigint, m double"
NAN = float("nan")
ROWS: list[tuple[Any, ...]] = [
    ("a", 1.5, 3, "é"),
    ("a", NAN, 2**53 + 1, None),
    ("b", -0.0, -4, ""),
    ("b", None, -(2**63), "x"),
    ("c", 9.0, 2**63 - 1, "x"),
    (None, 7.0, -9, "y"),
    ("", 0.0, 0, None),
]

by_value_too = pickled_by_value(udfs)


@pytest.fixture(scope="module")
def full(spark: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> DataFrame:
    """Without NULL in ``y``, which files show."""
    path = str(tmp_path_factory.mktemp("passed") / "full.parquet")
    spark.createDataFrame(ROWS, SCHEMA).coalesce(1).write.parquet(path)
    return spark.read.parquet(path)


def mapped(df: DataFrame, function: Callable[..., Any]) -> DataFrame:
    return df.mapInPandas(function, RESULT)


@pytest.mark.classic("the files of a server are not looked at")
@pytest.mark.parametrize("function", udfs.PASSING, ids=lambda f: f.__name__)
def test_filters_drop_rows(full: DataFrame, function: Callable[..., Any]) -> None:
    where, below = udfs.PASSING[function]
    boundary = rewritten(mapped(full, function).filter(where))
    assert (boundary.kind, boundary.prefilter) == ("exact", below)
    both = rewritten(mapped(full, function).filter(f"{where} AND m >= 1"))
    assert both.prefilter == below
    assert [a["code"] for a in boundary.assumptions] == ["may-erase-error"]


@pytest.mark.parametrize("function", udfs.PASSING, ids=lambda f: f.__name__)
def test_columns_without_integers_need_no_files(
    full: DataFrame, function: Callable[..., Any]
) -> None:
    where, below = udfs.PASSING[function]
    table = full.selectExpr("k", "x", "s", "x AS y")
    df = table.mapInPandas(function, "k string, y double, m double")
    assert rewritten(df.filter(where)).prefilter == below


@pytest.mark.parametrize("function", udfs.DEPENDING, ids=lambda f: f.__name__)
def test_rows_that_depend_on_others(full: DataFrame, function: Callable[..., Any]) -> None:
    """With the filter below they really are others."""
    df = mapped(full, function).filter("k > 'a'")
    assert untouched(df).declined
    assert counted(mapped(full.filter("k > 'a'"), function)) != counted(df)


@pytest.mark.classic("the files of a server are not looked at")
def test_rows_of_a_group(full: DataFrame) -> None:
    df = full.groupBy("k").applyInPandas(udfs.of_a_group, RESULT)
    above_one = "NOT isnan(x) AND (x >= 1.0000000000000004D OR x <= -1.0000000000000004D)"
    assert rewritten(df.filter("y > 2 AND m > 1")).prefilter == f"y > 2 AND {above_one}"


@pytest.mark.classic("the files of a server are not looked at")
def test_rows_of_a_group_with_its_key(full: DataFrame) -> None:
    df = full.groupBy("k").applyInPandas(udfs.with_the_rate_of_a_group, RESULT)
    assert rewritten(df.filter("y > 2 AND k >= 'a'")).prefilter == "y > 2 AND k >= 'a'"


def test_rows_of_a_group_that_depend_on_others(full: DataFrame) -> None:
    """With the filter below they really are others."""
    where = "y > 3"
    df = full.groupBy("k").applyInPandas(udfs.with_shares_of_a_group, RESULT).filter(where)
    untouched(df)
    below = full.filter(where).groupBy("k")
    assert counted(below.applyInPandas(udfs.with_shares_of_a_group, RESULT)) != counted(df)


def test_a_group_that_must_have_two_rows(full: DataFrame) -> None:
    pairs, where = full.filter("k IN ('a', 'b')"), "y > 0"
    df = pairs.groupBy("k").applyInPandas(udfs.weighted_pair, RESULT).filter(where)
    assert untouched(df).declined
    assert sum(counted(df).values()) == 2
    below = pairs.filter("y = 3").groupBy("k").applyInPandas(udfs.weighted_pair, RESULT)
    with pytest.raises(Exception, match="Length of values"):
        below.collect()


WORDS = "CASE WHEN s = 'x' THEN array('a', NULL, k) WHEN s = '' THEN array() ELSE split(s, '') END"


def test_rows_that_are_exploded(full: DataFrame) -> None:
    table = full.selectExpr("k", f"{WORDS} AS words")
    df = table.mapInPandas(udfs.one_row_for_each_word, "k string, word string")
    assert rewritten(df.filter("k > 'a' AND word <> 'b'")).prefilter == "k > 'a'"


def test_rows_that_are_exploded_and_numbered(full: DataFrame) -> None:
    """With the filter below they really are others."""
    table, where = full.selectExpr("k", f"{WORDS} AS words"), "k > 'b'"
    df = table.mapInPandas(udfs.numbered_words, "k string, word string").filter(where)
    untouched(df)
    below = table.filter(where).mapInPandas(udfs.numbered_words, "k string, word string")
    assert counted(below) != counted(df)


def test_integers_beside_null(spark: SparkSession, full: DataFrame, tmp_path: Path) -> None:
    """A filter below would change the type of the batch, and with it what is made of other rows."""
    nulls = spark.createDataFrame([("a", 1.0, None, "s")], SCHEMA)
    path = str(tmp_path / "nulls.parquet")
    full.union(nulls).coalesce(1).write.parquet(path)
    table = spark.read.parquet(path)
    df = mapped(table, udfs.roots).filter("k > 'a'")
    assert counted(mapped(table.filter("k > 'a'"), udfs.roots)) != counted(df)
    boundary = untouched(df)
    assert boundary.declined[0].code in ("assumption", "unsupported-operation")
    safe(mapped(full, udfs.roots).filter("k > 'a'"))


def test_integers_that_are_passed_on_beside_null(spark: SparkSession, tmp_path: Path) -> None:
    """Before Spark 4.2 they come as doubles, with a text in the batch, too, so that a filter below
    would make 2^53 + 1 of what is 2^53 as written.
    """
    path = str(tmp_path / "odd.parquet")
    rows = [("a", None), ("b", 2**53 + 1), ("c", 5)]
    spark.createDataFrame(rows, "k string, y bigint").coalesce(1).write.parquet(path)
    df = spark.read.parquet(path).mapInPandas(udfs.as_they_are, "k string, y bigint")
    exact = RUNNING >= (4, 2)
    assert {r.y for r in df.collect()} == {None, 2**53 + exact, 5}
    safe(df.filter("k > 'a'"))


def test_errors_of_rows_that_are_dropped(full: DataFrame) -> None:
    table = full.selectExpr("k", "x", "s", "x AS y")
    df = table.mapInPandas(udfs.logarithms, "k string, y double, m double").filter("k > 'a'")
    strict = explain(df, policy="strict").boundaries[0]
    assert [d.code for d in strict.declined][-1] == "may-erase-error"
