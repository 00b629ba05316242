"""Filters below both sides of joins and set operations, on Spark."""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias

import pytest
from pyspark.sql import functions as F
from tests.support.games import udfs
from tests.support.games.pipelines import agg
from tests.support.games.tables import Tables
from tests.support.running import counted, is_connect, plan_text, same_rows

from presieve.driver.optimize import explain, optimize

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

pytestmark = pytest.mark.spark

SCHEMA = "k int, s string, x double, b bigint, {0} int"
Pair: TypeAlias = "tuple[DataFrame, DataFrame]"
Build: TypeAlias = "Callable[[DataFrame, DataFrame], DataFrame]"


@pytest.fixture(scope="module")
def pair(spark: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> Pair:
    """NULL, NaN, zeros of both signs, extremes, empty texts, duplicates; keys of one side only."""
    doubles = [None, math.nan, -0.0, 0.0, 1.0, 2.5, math.inf, -math.inf]
    texts = [None, "", "a", "b", "é"]
    found = []
    for name, step in (("v", 3), ("w", 4)):
        data = [
            (
                None if i % 11 == 0 else i * step % 9,
                texts[i * step % 5],
                doubles[i * step % 8],
                (None, -(2**63), 2**63 - 1, 7)[i * step % 7 % 4],
                i,
            )
            for i in range(40)
        ]
        path = str(tmp_path_factory.mktemp("joins") / name)
        spark.createDataFrame([*data, *data[:5]], SCHEMA.format(name)).write.parquet(path)
        found.append(spark.read.parquet(path))
    return found[0], found[1]


def using(keys: str, where: str) -> Build:
    """Joined by columns of one name."""

    def build(left: DataFrame, right: DataFrame) -> DataFrame:
        columns = keys.split()
        return left.join(right.select(*columns, "w"), columns, "full").filter(where)

    return build


def on(condition: str, column: str, where: str) -> Build:
    """Joined by a condition, with a column of both sides."""

    def build(left: DataFrame, right: DataFrame) -> DataFrame:
        joined = left.alias("l").join(right.alias("r"), F.expr(condition), "full")
        return joined.selectExpr(f"{column} AS c", "l.k", "r.s", "v", "w").filter(where)

    return build


KEY = "coalesce(l.k, r.k)"
PANDAS = "CASE WHEN l.k IS NOT NULL THEN l.k ELSE r.k END"
MOVED: dict[str, tuple[Build, str]] = {
    "a key": (using("k", "k >= 5"), "k >= 5"),
    "one of": (using("k", "k IN (2, 3)"), "k IN (2, 3)"),
    "no key": (using("k", "k IS NULL"), "k IS NULL"),
    "text": (using("s", "s < 'b'"), "s < 'b'"),
    "an extreme": (using("b", "b > 7"), "b > 7"),
    "doubles": (using("x", "x > 0.5D"), "x > 0.5D"),
    "zeros": (using("x", "x = 0"), "x = 0.0D"),
    "NaN": (using("x", "isnan(x)"), "isnan(x)"),
    "two keys": (using("k s", "k >= 5 AND s < 'b'"), "k >= 5 AND s < 'b'"),
    "beside others": (using("k", "k >= 5 AND (v > 3 OR w > 3)"), "k >= 5"),
}
EXPRESSIONS: dict[str, tuple[Build, str]] = {
    "as pandas": (on("l.k = r.k", PANDAS, "c BETWEEN 2 AND 3"), "k >= 2 AND k <= 3"),
    "null-safe": (on("l.k <=> r.k", KEY, "c IS NULL"), "k IS NULL"),
    "not only equal": (on("l.k = r.k AND v < w", KEY, "c = 2"), "k = 2"),
    "another order": (on("l.k = r.k", "coalesce(r.k, l.k)", "c = 2"), "k = 2"),
}


ONLY_CLASSIC = pytest.mark.classic("what a projection computes is not known")


@pytest.mark.parametrize("name", MOVED)
def test_filters_on_the_key_go_below_both_sides(pair: Pair, name: str) -> None:
    build, expected = MOVED[name]
    _check(build(*pair), expected)


@ONLY_CLASSIC
@pytest.mark.parametrize("name", EXPRESSIONS)
def test_filters_on_an_expression_of_both_keys(pair: Pair, name: str) -> None:
    build, expected = EXPRESSIONS[name]
    _check(build(*pair), expected)


def _check(df: DataFrame, expected: str) -> None:
    better = optimize(df)
    assert better is not df, explain(df)
    (found,) = explain(df).boundaries
    assert (found.operator, found.prefilter, found.kind) == ("Join", expected, "partial")
    same_rows(df, better)
    assert optimize(better) is better


TWINS = {
    "another column": (on("l.k = r.k", "coalesce(v, w)", "c < 9"), "v < 9", "w < 9"),
    "not equal": (on("l.k < r.k", KEY, "c >= 5"), "k >= 5", "k >= 5"),
    "one side": (on("l.k = r.k OR v = w", KEY, "c >= 5"), "k >= 5", "k >= 5"),
    "NULL too": (on("l.k = r.k", f"coalesce({KEY}, 9)", "c >= 5"), "k >= 5", "k >= 5"),
}


@ONLY_CLASSIC
@pytest.mark.parametrize("name", TWINS)
def test_wrong_twins_stay_and_do_differ(pair: Pair, name: str) -> None:
    build, left, right = TWINS[name]
    df = build(*pair)
    better = optimize(df, cost="always")
    same_rows(df, better)
    (found,) = explain(df, cost="always").boundaries
    assert found.prefilter != left
    wrong = build(pair[0].filter(left), pair[1].filter(right))
    assert counted(wrong) != counted(df)


def masked(kind: str, where: str) -> Build:
    """Joined in this way, below a condition that is not split into parts by Spark."""

    def build(left: DataFrame, right: DataFrame) -> DataFrame:
        return left.join(right.select("k", "w"), "k", kind).filter(where)

    return build


BOTH = "coalesce(v > 30 AND w > 20, false)"
RIGHT_OR_NONE = "coalesce(v > 30 AND (w > 36 OR w IS NULL), false)"
MASKS = {
    "full": (masked("full", BOTH), "v > 30 (left), w > 20 (right)", 2),
    "left": (masked("left", BOTH), "v > 30 (left), w > 20 (right)", 2),
    "right": (masked("right", BOTH), "v > 30 (left), w > 20 (right)", 2),
    "IF": (masked("full", "IF(v > 30, w > 20, false)"), "v > 30 (left), w > 20 (right)", 2),
    "as pandas": (
        masked("full", "CASE WHEN (v > 30) IS NULL THEN false ELSE v > 30 END AND w > 20"),
        "",
        2,
    ),
    "NULL too": (masked("full", RIGHT_OR_NONE), "v > 30 (left)", 1),
    "a key": (masked("full", "coalesce(k >= 5 AND w > 20, false)"), "k >= 5 AND w > 20 (right)", 2),
}
LOST = {
    "NULL too": (masked("left", RIGHT_OR_NONE), None, "w > 36"),
    "either": (masked("full", "coalesce(v > 30 OR w > 20, false)"), "v > 30", "w > 20"),
    "not false": (masked("full", "coalesce(v > 30 AND w > 36, true)"), "v > 30", "w > 36"),
}


@ONLY_CLASSIC
@pytest.mark.parametrize("name", MASKS)
def test_conjuncts_inside_a_condition_go_below_their_side(pair: Pair, name: str) -> None:
    build, expected, scans = MASKS[name]
    df = build(*pair)
    better = optimize(df, cost="always")
    assert len(re.findall(r"PushedFilters: .*?Greater", plan_text(better))) == scans
    same_rows(df, better)
    assert optimize(better, cost="always") is better
    if expected:
        (found,) = explain(df, cost="always").boundaries
        assert (found.operator, found.kind) == ("Join", "partial")
        assert expected in found.prefilter


@ONLY_CLASSIC
@pytest.mark.parametrize("name", LOST)
def test_conjuncts_inside_a_condition_that_must_stay(pair: Pair, name: str) -> None:
    build, left, right = LOST[name]
    df = build(*pair)
    better = optimize(df, cost="always")
    same_rows(df, better)
    assert "GreaterThan(w," not in plan_text(better)
    wrong = build(pair[0].filter(left) if left else pair[0], pair[1].filter(right))
    assert counted(wrong) != counted(df)


SETS: dict[str, Build] = {
    "INTERSECT": lambda left, right: left.intersect(right),
    "INTERSECT ALL": lambda left, right: left.intersectAll(right),
    "EXCEPT": lambda left, right: left.subtract(right),
    "EXCEPT ALL": lambda left, right: left.exceptAll(right),
    "semi": lambda left, right: _null_safe(left, right, "semi"),
    "anti": lambda left, right: _null_safe(left, right, "anti"),
    "left": lambda left, right: _null_safe(left, right, "left").select("l.k", "l.x", "r.w"),
}


def _null_safe(left: DataFrame, right: DataFrame, kind: str) -> DataFrame:
    there = right.withColumnRenamed("x", "w").alias("r")
    return left.alias("l").join(there, F.expr("l.k <=> r.k"), kind)


@ONLY_CLASSIC
@pytest.mark.parametrize("where", ["k >= 5", "k IS NULL"])
@pytest.mark.parametrize("name", SETS)
def test_what_is_compared_is_filtered_on_both_sides(pair: Pair, name: str, where: str) -> None:
    left, right = (side.select("k", "x") for side in pair)
    df = SETS[name](left, right).filter(where)
    better = optimize(df)
    (found,) = explain(df).boundaries
    assert (found.prefilter, found.kind) == (where, "partial")
    scanned = "IsNull(k)" if "NULL" in where else "GreaterThanOrEqual(k,5)"
    assert plan_text(better).count(scanned) == 2
    same_rows(df, better)
    assert optimize(better) is better


@ONLY_CLASSIC
@pytest.mark.parametrize("name", ["semi", "anti"])
def test_what_is_not_compared_stays(pair: Pair, name: str) -> None:
    left, right = (side.select("k", "x") for side in pair)
    df = SETS[name](left, right).filter("x > 1")
    assert optimize(df, cost="always") is df
    twin = SETS[name](left, right.filter("x > 1")).filter("x > 1")
    assert counted(twin) != counted(df)


@ONLY_CLASSIC
def test_set_operations_on_set_operations(pair: Pair) -> None:
    left, right = (side.select("k", "x", "s") for side in pair)
    df = left.intersect(right).subtract(right.filter("x > 1")).filter("k >= 5")
    better = optimize(df)
    assert plan_text(better).count("GreaterThanOrEqual(k,5)") == 3
    same_rows(df, better)
    again = left.intersect(left).filter("isnan(x) OR x = 0")
    same_rows(again, optimize(again, cost="always"))


def test_filters_reach_the_scans(pair: Pair) -> None:
    better = optimize(using("k", "k >= 5")(*pair))
    plan = plan_text(better)
    if not is_connect(better):
        assert plan.count("GreaterThanOrEqual(k,5)") == 2


def test_on_through_functions_and_windows(tables: Tables) -> None:
    """A filter on the key of what a function gives goes on below the function."""
    best = agg(tables.plain, "top", "double", "score")
    other = agg(tables.plain, "count_high", "bigint", "v").withColumnRenamed("m", "n")
    df = best.join(other, "team", "full").filter("team = 'a'")
    better = optimize(df, cost="always")
    assert better is not df
    same_rows(df, better)
    assert udfs.top is not None


RAISING = {
    "new rows": "100 DIV (v - 3)",
    "partners": "100 DIV (coalesce(w, 3) - 3)",
}


@pytest.mark.parametrize("name", RAISING)
def test_what_raises_above_sees_no_other_rows(pair: Pair, name: str) -> None:
    left, right = (side.filter(f"{c} <> 3") for side, c in zip(pair, "vw", strict=True))
    df = left.join(right.select("k", "w"), "k", "full")
    df = df.filter("w IS NOT NULL AND v IS NOT NULL").withColumn("d", F.expr(RAISING[name]))
    df = df.filter("k > 2")
    same_rows(df, optimize(df, cost="always"))


@ONLY_CLASSIC
def test_a_filter_that_keeps_all_does_not_pay(spark: SparkSession, tmp_path: Path) -> None:
    path = str(tmp_path / "numbers")
    spark.range(2000).selectExpr("id AS v", "id + 1 AS w").write.parquet(path)
    numbers = spark.read.parquet(path)
    joined = numbers.select("v").join(numbers.select("w"), F.expr("v = w"), "full")
    df = joined.selectExpr("coalesce(v, w) AS c").filter("c >= -9")
    (found,) = explain(df).boundaries
    assert [d.code for d in found.declined] == ["cost"]
    assert optimize(df) is df
    (found,) = explain(df, cost="always").boundaries
    assert found.prefilter == "v >= -9 (left), w >= -9 (right)"
