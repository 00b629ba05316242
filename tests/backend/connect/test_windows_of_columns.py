"""Filters below windows on Spark Connect, of functions that are columns; not those of SQL text."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import pytest
from tests.support.games.tables import Tables
from tests.support.running import counted, same_rows

from presieve.driver.optimize import explain, optimize

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame

pytestmark = pytest.mark.usefixtures("only_connect")


def over(name: str) -> Column:
    """A window's column. Functions are made in a session alone."""
    from pyspark.sql import Window as W
    from pyspark.sql import functions as F

    by = W.partitionBy("team").orderBy(F.desc("score"))
    ranged = W.partitionBy("team").orderBy("v").rangeBetween(-1, 0)
    columns: dict[str, Callable[[], Column]] = {
        "number": lambda: F.row_number().over(by),
        "rank": lambda: F.dense_rank().over(by),
        "before": lambda: F.lag("score").over(by),
        "after": lambda: F.lead("score", 2).over(by),
        "after by a negative lag": lambda: F.lag("score", -1).over(by),
        "running": lambda: F.max("v").over(by),
        "rows": lambda: F.max("v").over(by.rowsBetween(-2, 0)),
        "following": lambda: F.max("v").over(by.rowsBetween(0, 2)),
        "range": lambda: F.count("score").over(ranged),
        "share": lambda: F.ntile(2).over(by),
        "whole": lambda: F.max("v").over(W.partitionBy("team")),
    }
    return columns[name]()


MOVED = {
    "number": ("score > 60", "score > 60.0D"),
    "rank": ("score > 60 AND w = 1", "score > 60.0D"),
    "before": ("score > 60", "score > 60.0D"),
    "after": ("score < 60", "score < 60.0D OR score IS NULL"),
    "running": ("score > 60", "score > 60.0D"),
    "rows": ("score > 60", "score > 60.0D"),
    "following": ("score < 60", "score < 60.0D OR score IS NULL"),
    "range": ("v = 3", "v <= 3 AND (v >= 2 OR v < -9223372036854775807L)"),
}


@pytest.mark.parametrize("name", MOVED)
def test_filters_go_below(tables: Tables, name: str) -> None:
    where, expected = MOVED[name]
    df = tables.plain.withColumn("w", over(name)).filter(where)
    (found,) = explain(df).boundaries
    assert (found.operator, found.prefilter) == ("Window", expected)
    better = optimize(df)
    assert better is not df
    same_rows(df, better)


@pytest.mark.parametrize(
    "name", ["after", "after by a negative lag", "following", "share", "whole"]
)
def test_wrong_twins_stay_and_do_differ(tables: Tables, name: str) -> None:
    df = tables.plain.withColumn("w", over(name)).filter("score > 60")
    assert optimize(df, cost="always") is df
    wrong = tables.plain.filter("score > 60").withColumn("w", over(name))
    assert counted(wrong) != counted(df)


def stays(df: DataFrame) -> None:
    """The DataFrame comes back as it is."""
    assert optimize(df, cost="always") is df
    assert not any(b.kind != "none" for b in explain(df, cost="always").boundaries)


def test_windows_in_text(tables: Tables) -> None:
    numbered = tables.plain.selectExpr("*", "row_number() OVER (ORDER BY score DESC) AS n")
    stays(numbered.filter("score > 90"))


def first(df: DataFrame, where: str) -> DataFrame:
    """The first rows by score, and of these some."""
    return df.orderBy("score", "v").limit(3).filter(where)


def test_the_first_rows(tables: Tables) -> None:
    """Whether row groups are skipped only the server could say."""
    df = first(tables.plain, "score < 90")
    (boundary,) = explain(df, cost="always").boundaries
    assert (boundary.operator, boundary.prefilter) == (
        "GlobalLimit",
        "score < 90.0D OR score IS NULL",
    )
    better = optimize(df, cost="always")
    assert better is not df
    same_rows(df, better)


def test_first_rows_that_are_others(tables: Tables) -> None:
    stays(first(tables.plain, "score > 60"))
    assert counted(first(tables.plain.filter("score > 60"), "true")) != counted(
        first(tables.plain, "score > 60")
    )


def test_limits_whose_order_is_not_read(tables: Tables) -> None:
    from pyspark.sql import functions as F

    stays(tables.plain.limit(3).filter("score < 90"))
    stays(tables.plain.sortWithinPartitions("score").limit(3).filter("score < 90"))
    for first in (F.lit(1), F.expr("1")):  # the first column, not a constant
        by_place = tables.plain.orderBy(first, "score").limit(3)
        assert counted(by_place) != counted(tables.plain.orderBy("score").limit(3))
        stays(by_place.filter("score < 90"))
    stays(tables.plain.orderBy("score").offset(1).limit(3).filter("score < 90"))
