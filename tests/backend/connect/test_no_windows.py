"""Filters stay above windows on Spark Connect, whose functions are not read."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from tests.support.games.tables import Tables

from presieve.driver.optimize import explain, optimize

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

pytestmark = pytest.mark.usefixtures("only_connect")


def stays(df: DataFrame) -> None:
    """The DataFrame comes back as it is."""
    assert optimize(df, cost="always") is df
    assert not any(b.kind != "none" for b in explain(df, cost="always").boundaries)


def test_below_windows(tables: Tables) -> None:
    numbered = tables.plain.selectExpr("*", "row_number() OVER (ORDER BY score DESC) AS n")
    stays(numbered.filter("score > 90"))


def test_below_the_first_rows(tables: Tables) -> None:
    stays(tables.plain.orderBy("score").limit(3).filter("score < 50"))
