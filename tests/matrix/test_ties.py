"""What the matrix accepts of pipelines with rows that tie: what some order of them gives."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, TypeAlias

import pytest
from pyspark.sql import functions as F
from tests.matrix.compare import Pair, differences
from tests.support import other_orders

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

ROWS = [(1, 90, "a"), (2, 90, "b"), (3, 80, "c"), (4, 70, "d"), (5, 70, "e")]

Build: TypeAlias = Callable[["DataFrame"], "DataFrame"]


def ranked(function: str, order: str = "n DESC") -> Build:
    """A function over all rows."""
    return lambda df: df.selectExpr("*", f"{function} OVER (ORDER BY {order}) AS w")


def chosen(where: str) -> Build:
    """Other rows that somebody says are the result."""
    return lambda df: df.filter(where).select("id", "n", "s")


def first(count: int) -> Build:
    """The best rows."""
    return lambda df: df.orderBy(F.desc("n")).limit(count)


def top(where: str) -> Build:
    """Rows by their numbers."""
    return lambda df: ranked("row_number()")(df).filter(where).drop("w")


CHOICES: dict[str, tuple[Build, str, str]] = {
    "the first": (top("w = 1"), "id = 2", "id = 3"),
    "the third": (top("w = 3"), "id = 3", "id = 2"),
    "the last": (top("w = 5"), "id = 4", "id IN (4, 5)"),
    "the first two": (top("w <= 2"), "id <= 2", "id IN (2, 3)"),
    "a limit": (first(4), "id <> 4", "id <> 2"),
}
"""A pipeline, rows that some order chooses, and rows that none does."""


@pytest.mark.spark
@pytest.mark.parametrize("name", CHOICES)
def test_rows_that_tie(spark: SparkSession, name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(other_orders, "ORDERS", 24)
    build, right, wrong = CHOICES[name]
    rows = spark.createDataFrame(ROWS, "id int, n int, s string")
    for where, count in ((right, 0), (wrong, 1)):
        pair = Pair(name, build(rows), chosen(where)(rows), frozenset(), is_ordered=True)
        assert len(differences(spark, [pair], ["pushdown"])) == count


@pytest.mark.spark
def test_an_order_that_the_report_does_not_tell(spark: SparkSession) -> None:
    build, right, _ = CHOICES["the first"]
    rows = spark.createDataFrame(ROWS, "id int, n int, s string")
    pair = Pair("the first", build(rows), chosen(right)(rows), frozenset())
    assert len(differences(spark, [pair], ["pushdown"])) == 1


@pytest.mark.spark
def test_rows_that_do_not_tie(spark: SparkSession, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where no two rows are equal, one result is right."""
    monkeypatch.setattr(other_orders, "ORDERS", 8)
    rows = spark.createDataFrame(ROWS, "id int, n int, s string")
    lagged = ranked("lag(s)", "id, n")(rows)
    for order, count in (("id", 0), ("n DESC, id", 0), ("n DESC, id DESC", 1)):
        pair = Pair(order, lagged, ranked("lag(s)", order)(rows), frozenset(), is_ordered=True)
        assert len(differences(spark, [pair], ["pushdown"])) == count
