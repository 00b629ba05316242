"""Aggregates without groups, which Spark merges."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pandas as pd
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


def test_several_of_one_table(tables: Tables) -> None:
    """As written Spark computes one aggregate; with two pre-filters it fails."""
    total = highest(tables.plain)
    assert rewritten(total.filter("m > 3")).kind == "exact"
    both = total.filter("m > 3").union(total.filter("m > 11"))
    better = optimize(both, cost="always")
    same_rows(both, better)
    declined = [d for b in explain(both, cost="always").boundaries for d in b.declined]
    assert {d.code for d in declined} == {"plan-shape"}


def test_one_with_groups_beside(tables: Tables) -> None:
    total = highest(tables.plain).filter("m > 3")
    grouped = highest(tables.plain.groupBy("team")).filter("m > 11").select("m")  # type: ignore[arg-type]
    df = total.union(grouped)
    better = optimize(df, cost="always")
    assert better is not df
    same_rows(df, better)
