"""Plans in which Spark merges aggregates that yield one row."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pandas as pd
import pytest
from tests.support.games.tables import Tables
from tests.support.running import rewritten, same_rows

from presieve.driver.optimize import explain, optimize

if TYPE_CHECKING:
    from pyspark.sql import DataFrame


def highest(rows: DataFrame) -> DataFrame:
    from pyspark.sql.functions import pandas_udf  # type: ignore[attr-defined]

    def best(v: pd.Series) -> int:
        found = 0
        for x in v:
            found = max(found, x)
        return found

    return rows.agg(pandas_udf(best, "bigint")("v").alias("m"))


def by_team(tables: Tables) -> DataFrame:
    return highest(tables.plain.groupBy("team"))  # type: ignore[arg-type]


def total_filters(tables: Tables) -> DataFrame:
    total = highest(tables.plain)
    return total.filter("m > 3").union(total.filter("m > 11"))


def totals_of_groups(tables: Tables) -> DataFrame:
    grouped = by_team(tables)
    low, high = (grouped.filter(f"m > {x}").agg({"m": "max"}) for x in (3, 11))
    return low.union(high)


def totals_joined(tables: Tables) -> DataFrame:
    grouped = by_team(tables)
    low, high = (grouped.filter(f"m > {x}").agg({"m": "max"}) for x in (3, 11))
    return low.toDF("low").crossJoin(high.toDF("high"))


def in_subqueries(tables: Tables) -> DataFrame:
    grouped = by_team(tables)
    low, high = (grouped.filter(f"m > {x}").agg({"m": "max"}) for x in (3, 11))
    spark = tables.plain.sparkSession
    query = "SELECT (SELECT * FROM {low}) AS low, (SELECT * FROM {high}) AS high"
    return spark.sql(query, low=low, high=high)


def beside_a_subquery(tables: Tables) -> DataFrame:
    total = highest(tables.plain)
    query = "SELECT *, (SELECT * FROM {total}) AS top FROM {filtered}"
    filtered = total.filter("m > 11")
    return tables.plain.sparkSession.sql(query, total=total, filtered=filtered)


@pytest.mark.parametrize(
    "query",
    [total_filters, totals_of_groups, totals_joined, in_subqueries, beside_a_subquery],
    ids=lambda q: q.__name__,
)
def test_several_of_one_table(tables: Tables, query: object) -> None:
    """As written Spark computes one aggregate; with two pre-filters it fails."""
    df = query(tables)  # type: ignore[operator]
    better = optimize(df, cost="always")
    same_rows(df, better)
    declined = [d for b in explain(df, cost="always").boundaries for d in b.declined]
    assert {d.code for d in declined} <= {"plan-shape"}


def test_one(tables: Tables) -> None:
    """Nothing is merged: a single total, or one total over another."""
    total = highest(tables.plain).filter("m > 3")
    assert rewritten(total).kind in {"exact", "partial"}
    assert rewritten(total.agg({"m": "count"})).kind in {"exact", "partial"}
    assert rewritten(by_team(tables).filter("m > 3").agg({"m": "max"})).kind in {"exact", "partial"}


def test_one_with_groups_beside(tables: Tables) -> None:
    total = highest(tables.plain).filter("m > 3")
    grouped = by_team(tables).filter("m > 11").select("m")
    df = total.union(grouped)
    better = optimize(df, cost="always")
    assert better is not df
    same_rows(df, better)


def test_totals_without_python_beside(tables: Tables) -> None:
    """Spark merges aggregates of its own without failing."""
    counted = tables.plain.agg({"v": "max"}).toDF("m")
    grouped = by_team(tables).filter("m > 11").select("m")
    df = grouped.union(counted).union(counted)
    better = optimize(df, cost="always")
    assert better is not df
    same_rows(df, better)
