"""Filters at sources, where Spark's optimizer moves none."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import pytest
from tests.support.games.tables import Tables
from tests.support.running import plan_text, safe, same_rows

from presieve.driver.optimize import explain, optimize

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

EXCLUDED = "spark.sql.optimizer.excludedRules"
RULES = (
    *("PushDownPredicates", "PushPredicateThroughJoin", "PushPredicateThroughNonJoin"),
    "InferFiltersFromConstraints",
)


@pytest.fixture
def alone(spark: SparkSession) -> Iterator[None]:
    """Spark moves no filters."""
    names = (f"org.apache.spark.sql.catalyst.optimizer.{rule}" for rule in RULES)
    spark.conf.set(EXCLUDED, ",".join(names))
    yield
    spark.conf.unset(EXCLUDED)


@pytest.fixture(scope="module")
def sides(spark: SparkSession, tables: Tables) -> tuple[DataFrame, DataFrame]:
    rows = [(k, size) for k in ("a", "b", "x", None) for size in (0, 3, 7, None)]
    return tables.plain, spark.createDataFrame(rows, "team string, size int")


def filters(df: DataFrame) -> list[str]:
    """What stands at sources afterwards; the rows are the same."""
    better = optimize(df, cost="always")
    same_rows(df, better)
    assert optimize(better, cost="always") is better
    return sorted(b.prefilter for b in explain(df, cost="always").boundaries if b.kind != "none")


def test_below_joins(alone: None, sides: tuple[DataFrame, DataFrame]) -> None:
    left, right = sides
    joined = left.join(right, "team")
    assert filters(joined.filter("score > 90 AND size > 1")) == ["score > 90.0D", "size > 1"]
    either = joined.filter("(score > 90 AND size > 1) OR (score > 95 AND size = 0)")
    assert filters(either) == ["score > 90.0D OR score > 95.0D", "size > 1 OR size = 0"]
    pushed = plan_text(optimize(joined.filter("v > 5"), cost="always"))
    assert "PushedFilters: [GreaterThan(v,5)]" in pushed


@pytest.mark.parametrize("how", ["left", "right", "full", "semi", "anti"])
def test_no_filter_goes_where_rows_would_be_lost(
    alone: None, sides: tuple[DataFrame, DataFrame], how: str
) -> None:
    left, right = sides
    joined = left.join(right, "team", how)
    conditions = ["score > 90", "team = 'a'", "team IS NULL", "score IS NULL OR v > 3"]
    if how not in ("semi", "anti"):
        conditions += ["size > 1", "size IS NULL", "size > 1 OR score > 90", "size > 1 OR size = 0"]
    for condition in conditions:
        safe(joined.filter(condition))


def test_below_aggregates_and_unions(alone: None, sides: tuple[DataFrame, DataFrame]) -> None:
    left, right = sides
    counts = right.groupBy("team").count()
    assert filters(counts.filter("team = 'a'")) == ["team = 'a'"]
    both = left.select("team").union(right.select("team")).filter("team = 'a'")
    assert filters(both) == ["team = 'a'", "team = 'a'"]


def test_spark_does_it_by_itself(sides: tuple[DataFrame, DataFrame]) -> None:
    left, right = sides
    df = left.join(right, "team").filter("score > 90 AND size > 1")
    assert optimize(df, cost="always") is df
