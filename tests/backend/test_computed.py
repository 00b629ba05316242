"""Computed columns on a Spark session: what a function computes from a row goes below as SQL."""

from __future__ import annotations

import math
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pandas as pd
from tests.backend.running import rewritten

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

SCHEMA = "shop string, price double, qty double"
ROWS: list[tuple[str | None, float | None, float | None]] = [
    ("a", 10.0, 99.0),
    ("a", 500.0, 2.0),
    ("a", math.inf, 1.0),
    ("b", 1000.0, 1.0),
    ("b", -2000.0, -1.0),
    ("c", 1.0, 1.0),
    ("c", 0.1, 0.1),
    (None, 1e300, 1e300),
    (None, -0.0, 5.0),
]


def best_sale(pdf: Any) -> Any:
    best = None
    for row in pdf.itertuples(index=False):
        revenue = row.price * row.qty
        if best is None or revenue > best:
            best = revenue
    return pd.DataFrame({"shop": [pdf["shop"].iloc[0]], "revenue": [best]})


def test_a_product_goes_below(spark: SparkSession, by_value: None, tmp_path: Path) -> None:
    spark.createDataFrame(ROWS, SCHEMA).write.parquet(str(tmp_path / "t"))
    sales = spark.read.parquet(str(tmp_path / "t"))
    groups = sales.groupBy("shop").applyInPandas(best_sale, "shop string, revenue double")
    boundary = rewritten(groups.filter("revenue > 1000"))
    assert (boundary.kind, boundary.prefilter) == ("exact", "price * qty > 1000.0D")
    assert [a["code"] for a in boundary.assumptions] == ["no-nan"]
