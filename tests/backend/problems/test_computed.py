"""Computed columns on a Spark session: what a function computes from a row goes below as SQL."""

from __future__ import annotations

import math
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pandas as pd
import pytest
from tests.support.running import by_footers, rewritten, untouched

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
    df = groups.filter("revenue > 1000")
    untouched(df)  # a product with NaN in it breaks what is assumed, and no scan is asked for that
    boundary = rewritten(df, policy="assume")
    assert (boundary.kind, boundary.prefilter) == ("exact", "price * qty > 1000.0D")
    assert [a["code"] for a in boundary.assumptions] == ["no-nan", "may-erase-error"]


ENDS = (-(2**63), -1, 0, 1, 2, 2**62, 2**63 - 2, 2**63 - 1)
VISITS = "shop string, opened bigint, at bigint, span bigint, kind string"


def last_within(pdf: Any) -> Any:
    last = None
    for row in pdf.itertuples(index=False):
        if row.kind == "visit" and row.opened < row.at < row.opened + row.span:
            last = row.at
    return pd.DataFrame({"shop": [pdf["shop"].iloc[0]], "last": [last]})


@pytest.mark.parametrize("ansi", ["true", "false"])
def test_a_comparison_of_columns_goes_below(
    spark: SparkSession, by_value: None, tmp_path: Path, ansi: str
) -> None:
    """At the ends of bigint too, where the sum does not fit; what names a constant is scanned."""
    rows = [
        (f"{a}{b}", a, b, c, kind)
        for a in ENDS
        for b in ENDS
        for c in ENDS
        for kind in ("visit", "call")
    ]
    before = str(spark.conf.get("spark.sql.ansi.enabled"))
    try:
        spark.conf.set("spark.sql.ansi.enabled", ansi)
        spark.createDataFrame(rows, VISITS).write.parquet(str(tmp_path / "t"))
        visits = spark.read.parquet(str(tmp_path / "t"))
        groups = visits.groupBy("shop").applyInPandas(last_within, "shop string, last bigint")
        boundary = rewritten(groups.filter("last > 1"))
    finally:
        spark.conf.set("spark.sql.ansi.enabled", before)
    assert boundary.prefilter == (
        "span > 0 AND opened < at AND CAST(at AS DECIMAL(20,0)) <"
        " CAST(opened AS DECIMAL(20,0)) + CAST(span AS DECIMAL(20,0)) AND kind = 'visit'"
    )
    assert boundary.strength == "optimal"
    assert {"EqualTo(kind,visit)", "GreaterThan(span,0)"} <= set(boundary.pushed_to_scan)


HOME = "shop string, region string, v bigint"
AT_HOME: list[tuple[str | None, str | None, int]] = [
    ("a", "a", 101),
    ("a", "b", 500),
    ("a", None, 500),
    ("b", "a", 300),
    ("c", "c", 7),
    ("", "", 200),
    (None, None, 150),
    (None, "a", 400),
]


def best_at_home(pdf: Any) -> Any:
    best = None
    for row in pdf.itertuples(index=False):
        if row.region == row.shop and (best is None or row.v > best):
            best = row.v
    return pd.DataFrame({"shop": [pdf["shop"].iloc[0]], "best": [best]})


def test_a_column_compared_with_the_key(
    spark: SparkSession, by_value: None, tmp_path: Path
) -> None:
    spark.createDataFrame(AT_HOME, HOME).write.parquet(str(tmp_path / "t"))
    sales = spark.read.parquet(str(tmp_path / "t"))
    groups = sales.groupBy("shop").applyInPandas(best_at_home, "shop string, best bigint")
    boundary = rewritten(groups.filter("best > 100"))
    assert boundary.kind == by_footers(groups, "exact")
    assert "region = shop" in boundary.prefilter
    assert "v > 100" in boundary.prefilter
    assert any("GreaterThan(v,100)" in p for p in boundary.pushed_to_scan)
