"""Filters on scalar UDFs that are read up to some statement, and no further."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import pytest
from tests.backend.problems import guard_udfs as udfs
from tests.support.pickling import pickled_by_value
from tests.support.running import is_connect, rewritten, safe, untouched

from presieve.driver.optimize import explain

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

NAN = float("nan")
ROWS: list[tuple[Any, ...]] = [
    (None, None),
    ("", 1.0),
    (" ann ", -0.0),
    ('{"kind": "login"}', 6.0),
    ("http://example.com", NAN),
    ("ORD-7", 7.0),
    ("x", None),
    ("zz", 9.0),
    ("a\U0001f600", 5.5),
    ("b", NAN),
]

by_value_too = pickled_by_value(udfs)


@pytest.fixture(scope="module")
def texts(spark: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> DataFrame:
    path = str(tmp_path_factory.mktemp("guards") / "texts.parquet")
    spark.createDataFrame(ROWS, "s string, x double").coalesce(2).write.parquet(path)
    return spark.read.parquet(path)


def computed(
    df: DataFrame, function: Callable[..., Any], *, arrow: bool, of: str, type_: str = "string"
) -> DataFrame:
    from pyspark.sql.functions import udf

    make: Any = udf
    return df.withColumn("c", make(function, type_, useArrow=arrow)(*of.split()))


@pytest.mark.parametrize("arrow", [True, False], ids=["arrow", "pickled"])
@pytest.mark.parametrize("case", udfs.GUARDED, ids=lambda c: f"{c[0].__name__}-{c[1]}")
def test_what_is_decided_first_goes_below(texts: DataFrame, case: Any, arrow: bool) -> None:
    """The filter stays above the function."""
    function, where = case
    df = computed(texts, function, arrow=arrow, of="s").filter(where)
    if not arrow and function in (udfs.numbered, udfs.error_caught):
        safe(df)  # Python may see another text than Spark compares
        return
    boundary = rewritten(df)
    assert boundary.kind == "partial"
    assert boundary.prefilter == udfs.GUARDED[case]
    assert boundary.residual == boundary.where
    assert boundary.declined, "what is not read is named"
    assert [a["code"] for a in boundary.assumptions] == ["may-erase-error"]


@pytest.mark.parametrize("arrow", [True, False], ids=["arrow", "pickled"])
@pytest.mark.parametrize("case", udfs.TYPED, ids=lambda c: c[0].__name__)
def test_results_of_one_class(texts: DataFrame, case: Any, arrow: bool) -> None:
    function, type_ = case
    where, below = udfs.TYPED[case]
    df = computed(texts, function, arrow=arrow, of="s", type_=type_).filter(where)
    # Without Arrow, Python may see another text than Spark compares.
    assert rewritten(df).prefilter == (below if arrow else "s IS NOT NULL")


@pytest.mark.parametrize(("function", "type_"), udfs.MIXED, ids=["double", "int"])
def test_results_of_several_classes_with_arrow(
    texts: DataFrame, function: Callable[..., Any], type_: str
) -> None:
    df = computed(texts, function, arrow=True, of="s", type_=type_).filter("c > 0")
    assert untouched(df).declined


def test_the_plan_has_both_filters(texts: DataFrame) -> None:
    df = computed(texts, udfs.title, arrow=True, of="s").filter("c = 'Ann'")
    report = explain(df, cost="always")
    assert "IsNotNull(s)" in report.boundaries[0].pushed_to_scan or is_connect(df)
    assert "Ann" in report.data.plan_after


@pytest.mark.parametrize("where", ["c = 'first'", "c = 'a'", "c = 'large'", "c < 'Z'", "c <> 'a'"])
def test_branches(texts: DataFrame, where: str) -> None:
    df = computed(texts, udfs.by_two, arrow=True, of="s x").filter(where)
    assert rewritten(df).kind == "partial"


@pytest.mark.parametrize("function", udfs.LOUD, ids=lambda f: f.__name__)
def test_nothing_is_dropped_that_may_be_missed(
    texts: DataFrame, function: Callable[..., Any]
) -> None:
    df = computed(texts, function, arrow=True, of="s").filter("c IS NOT NULL")
    assert untouched(df).declined


@pytest.mark.parametrize("function", udfs.OPEN, ids=lambda f: f.__name__)
def test_what_comes_too_late(texts: DataFrame, function: Callable[..., Any]) -> None:
    """Rows without a text really give something that the filter keeps."""
    df = computed(texts, function, arrow=True, of="s").filter("c IS NOT NULL")
    assert untouched(df).prefilter == "true"
    assert df.filter("s IS NULL").count() == 1


def test_a_loop_is_read_or_not(texts: DataFrame) -> None:
    df = computed(texts, udfs.in_a_loop, arrow=True, of="s")
    safe(df.filter("c = 'n'"))
    safe(df.filter("c = 'X'"))


def test_with_another_function(texts: DataFrame) -> None:
    df = computed(texts, udfs.title, arrow=True, of="s").withColumnRenamed("c", "d")
    df = computed(df, udfs.numbered, arrow=True, of="s")
    for where in ("c = '7' AND d IS NOT NULL", "c = d", "c = 'none' OR d = 'Ann'", "c = 'none'"):
        safe(df.filter(where))


def test_strict_keeps_errors(texts: DataFrame) -> None:
    df = computed(texts, udfs.title, arrow=True, of="s").filter("c = 'Ann'")
    (boundary,) = explain(df, policy="strict").boundaries
    assert [d.code for d in boundary.declined][-1] == "may-erase-error"
