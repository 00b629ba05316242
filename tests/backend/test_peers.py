"""Rows that are equal in an ORDER BY: where another order of them may show, the report says so."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pandas as pd
import pytest

import presieve

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

pytestmark = [
    pytest.mark.spark,
    pytest.mark.classic("on Spark Connect, windows that are written as text are not read"),
]

ROWS = [(i, None if i % 7 == 3 else i % 4) for i in range(60)]
LESS = "n >= 2"


@pytest.fixture
def numbers(spark: SparkSession, tmp_path: Path) -> DataFrame:
    """Twelve peers for each number, and rows without one."""
    path = str(tmp_path / "numbers")
    spark.createDataFrame(ROWS, "id int, n int").coalesce(1).write.parquet(path)
    return spark.read.parquet(path)


def told(df: DataFrame) -> list[str]:
    report = presieve.explain(df, cost="always")
    assert report.changed
    said = [str(p) for p in report.data.peer_orders]
    assert all(s in str(report) and s in report._repr_html_() for s in said)
    assert len(report.to_json()["peer_orders"]) == len(said)
    return said


DEPENDENT = [
    ("row_number()", "n DESC"),
    ("lag(id)", "n DESC"),
    ("lead(id, 2)", "n"),
    ("first(id)", "n DESC"),
    ("nth_value(id, 2)", "n DESC"),
    ("collect_list(id)", "n DESC"),
    ("sum(id)", "n DESC ROWS UNBOUNDED PRECEDING"),
    ("sum(double(id))", "n DESC"),
    ("max(id)", "n DESC ROWS 2 PRECEDING"),
]


@pytest.mark.parametrize(("function", "order"), DEPENDENT, ids=str)
def test_functions_that_depend_on_peers(numbers: DataFrame, function: str, order: str) -> None:
    df = numbers.selectExpr("id", "n", f"{function} OVER (ORDER BY {order}) AS w").filter(LESS)
    (said,) = told(df)
    assert "depends on the order of peers (rows with the same n)" in said


@pytest.mark.parametrize(
    "function", ["rank()", "dense_rank()", "max(id)", "count(*)", "sum(id)", "min(id)"]
)
def test_functions_that_do_not(numbers: DataFrame, function: str) -> None:
    df = numbers.selectExpr("id", "n", f"{function} OVER (ORDER BY n DESC) AS w").filter(LESS)
    assert told(df) == []


WHOLE = "ORDER BY id ROWS BETWEEN UNBOUNDED PRECEDING AND UNBOUNDED FOLLOWING"


@pytest.mark.parametrize("frame", ["", WHOLE], ids=["no order", "unbounded"])
def test_a_whole_partition_has_no_order(numbers: DataFrame, frame: str) -> None:
    df = numbers.selectExpr("id", "n", f"max(id) OVER (PARTITION BY n {frame}) AS w")
    assert told(df.filter("w = id AND w > 50")) == []


def test_an_order_without_peers(numbers: DataFrame) -> None:
    whole = numbers.select("id", "n")
    df = whole.selectExpr("*", "row_number() OVER (ORDER BY n DESC, id) AS w").filter(LESS)
    assert told(df) == []


def test_a_limit(numbers: DataFrame) -> None:
    df = numbers.orderBy("n", ascending=False).limit(50).filter("n >= 2")
    (said,) = told(df)
    assert said.startswith(
        "The result of LIMIT depends on the order of peers (rows with the same n),"
    )


def first(pdf: pd.DataFrame) -> pd.DataFrame:
    return pdf.head(1)[["n", "id"]]


def test_what_is_rewritten_elsewhere(numbers: DataFrame) -> None:
    """A window whose input is as it was is not spoken of; one above what is rewritten is."""
    numbered = numbers.selectExpr("id", "row_number() OVER (ORDER BY n) AS w")
    grouped = numbers.groupBy("n").applyInPandas(first, "n int, id int").filter("n = 2")
    assert told(numbered.join(grouped, "id")) == []
    (said,) = told(grouped.selectExpr("id", "row_number() OVER (ORDER BY n) AS w"))
    assert said.startswith(
        "The result of row_number depends on the order of peers (rows with the same n),"
    )


def test_what_is_not_rewritten(numbers: DataFrame) -> None:
    df = numbers.selectExpr("id", "row_number() OVER (ORDER BY n) AS w").filter("w > 5")
    assert presieve.explain(df, cost="always").data.peer_orders == ()
