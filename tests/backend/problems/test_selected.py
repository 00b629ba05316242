"""What pandas selects inside of functions: the same rows with and without what goes below."""

from __future__ import annotations

import math
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pandas as pd
import pytest
from tests.support.running import rewritten, untouched

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

KEY = "spark.sql.session.timeZone"
SCHEMA = "shop string, v double, s string, t timestamp"
_NEW_YEAR = 1704067200  # 2024-01-01T00:00:00Z
ROWS: list[tuple[str | None, float | None, str | None, int | None]] = [
    ("a", 95.0, "x", _NEW_YEAR),
    ("a", 99.0, "x", _NEW_YEAR - 1),
    ("a", 10.0, None, None),
    ("a", math.nan, "y", _NEW_YEAR - 7200),
    ("b", 95.0, "x", _NEW_YEAR - 7201),
    ("b", 10.0, "x", None),
    ("c", None, None, None),
    ("d", 91.0, "y", _NEW_YEAR + 366 * 86400),
    ("d", 92.0, "y", _NEW_YEAR + 366 * 86400 - 1),
    ("d", 93.0, "y", _NEW_YEAR + 366 * 86400 - 7200),
    (None, 90.0, "x", _NEW_YEAR),
    (None, math.inf, "x", _NEW_YEAR),
]


def second(pdf: Any) -> Any:
    top = pdf["v"].nlargest(2)
    worst = top.min() if len(top) == 2 else None
    return pd.DataFrame({"shop": [pdf["shop"].iloc[0]], "second": [worst]})


def often(pdf: Any) -> Any:
    counts = pdf["s"].value_counts()
    return pd.DataFrame({"shop": [pdf["shop"].iloc[0]], "n": [counts.get("x", 0)]})


def dearest(pdf: Any) -> Any:
    part = pdf.query("s == 'x' and v > 50")
    return pd.DataFrame({"shop": [pdf["shop"].iloc[0]], "high": [part["v"].max()]})


def this_year(pdf: Any) -> Any:
    part = pdf[pdf["t"].dt.year == 2024]
    return pd.DataFrame({"shop": [pdf["shop"].iloc[0]], "n": [len(part)]})


def at_night(pdf: Any) -> Any:
    part = pdf[pdf["t"].dt.hour >= 22]
    return pd.DataFrame({"shop": [pdf["shop"].iloc[0]], "n": [len(part)]})


@pytest.fixture
def ahead(spark: SparkSession) -> Iterator[None]:
    """Clocks of the session are two hours ahead of UTC."""
    spark.conf.set(KEY, "+02:00")
    yield
    spark.conf.set(KEY, "UTC")


@pytest.mark.second
def test_selections(spark: SparkSession, by_value: None, ahead: None, tmp_path: Path) -> None:
    from pyspark.sql import functions as F

    seconds = spark.createDataFrame(ROWS, SCHEMA.replace("timestamp", "bigint"))
    rows = seconds.withColumn("t", F.timestamp_seconds("t"))
    rows.write.parquet(str(tmp_path / "t"))
    sales = spark.read.parquet(str(tmp_path / "t")).groupBy("shop")
    pairs = sales.applyInPandas(second, "shop string, second double")
    assert "v > 90.0D" in str(rewritten(pairs.filter("second > 90")).prefilter)
    counts = sales.applyInPandas(often, "shop string, n bigint")
    assert rewritten(counts.filter("n >= 2")).prefilter == "s = 'x'"
    untouched(counts.filter("n < 2"))
    highest = sales.applyInPandas(dearest, "shop string, high double")
    assert "s = 'x'" in str(rewritten(highest.filter("high > 90")).prefilter)
    years = sales.applyInPandas(this_year, "shop string, n bigint")
    interval = "t >= TIMESTAMP '2023-12-31 22:00:00Z' AND t < TIMESTAMP '2024-12-31 22:00:00Z'"
    assert rewritten(years.filter("n >= 2")).prefilter == interval
    nights = sales.applyInPandas(at_night, "shop string, n bigint")
    assert rewritten(nights.filter("n >= 2")).prefilter == "t IS NOT NULL AND hour(t) >= 22"
