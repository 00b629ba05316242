"""Reductions of pandas on a Spark session: the same rows with and without what goes below."""

from __future__ import annotations

import importlib
import math
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
import pytest
from tests.support.running import rewritten, untouched

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

SCHEMA = "shop string, v double, n int, s string"
ROWS: list[tuple[str | None, float | None, int | None, str | None]] = [
    ("a", 10.0, None, "x"),
    ("a", 500.0, 7, None),
    ("a", math.nan, 1, "y"),
    ("b", None, 100, "x"),
    ("b", 91.0, 99, "y"),
    ("c", None, None, None),
    ("d", math.nan, None, "x"),
    (None, 90.0, 3, "x"),
    (None, math.inf, -3, None),
]


def dearest(pdf: Any) -> Any:
    good = pdf[pdf["v"] > 50]
    return pd.DataFrame({"shop": [pdf["shop"].iloc[0]], "high": [good["v"].max()]})


def labelled(pdf: Any) -> Any:
    best = pdf["n"].max()
    if pd.isna(best):
        return pd.DataFrame({"shop": [pdf["shop"].iloc[0]], "n": [None], "s": [None]})
    label = pdf.loc[pdf["n"].idxmax(), "s"]
    return pd.DataFrame({"shop": [pdf["shop"].iloc[0]], "n": [best], "s": [label]})


def added(pdf: Any) -> Any:
    return pd.DataFrame({"shop": [pdf["shop"].iloc[0]], "total": [pdf["v"].quantile(0.9)]})


def latest(pdf: Any) -> Any:
    return pdf.sort_values("n", ascending=False, kind="stable").head(1)


def averages(pdf: Any) -> Any:
    good = pdf[pdf["n"] > 0]
    pdf["kind"] = np.where(pdf["s"] == "x", "x", "other")
    spread = good["v"].std()
    return pd.DataFrame(
        {
            "shop": [pdf["shop"].iloc[0]],
            "mean": [good["v"].mean()],
            "total": [good["v"].sum()],
            "spread": [0.0 if pd.isna(spread) else spread],
        }
    )


def hits(s: pd.Series) -> int:
    return (s == "x").sum()


@pytest.mark.second
def test_tables(spark: SparkSession, by_value: None, tmp_path: Path) -> None:
    spark.createDataFrame(ROWS, SCHEMA).write.parquet(str(tmp_path / "t"))
    sales = spark.read.parquet(str(tmp_path / "t")).groupBy("shop")
    groups = sales.applyInPandas(dearest, "shop string, high double")
    assert rewritten(groups.filter("high > 90")).prefilter == "v > 90.0D AND NOT isnan(v)"
    assert rewritten(groups.filter("high IS NOT NULL")).kind == "exact"
    best = sales.applyInPandas(labelled, "shop string, n int, s string")
    assert rewritten(best.filter("n > 5 AND s = 'y'")).prefilter == "n > 5"
    means = sales.applyInPandas(averages, "shop string, mean double, total double, spread double")
    assert rewritten(means.filter("mean > 90")).prefilter == "n > 0"
    assert rewritten(means.filter("total > 90 AND spread < 5")).prefilter == "n > 0"
    newest = sales.applyInPandas(latest, "shop string, v double, n int, s string")
    assert rewritten(newest.filter("n >= 7")).prefilter == "n >= 7"
    rewritten(newest.filter("n >= 7 AND s = 'y'"))
    totals = sales.applyInPandas(added, "shop string, total double")
    (found,) = untouched(totals.filter("total > 9")).declined
    assert found.code == "not-a-fold"


def test_aggregates(spark: SparkSession, by_value: None, tmp_path: Path) -> None:
    spark.createDataFrame(ROWS, SCHEMA).write.parquet(str(tmp_path / "t"))
    hits.__annotations__ = {"s": pd.Series, "return": int}
    pandas_udf: Any = importlib.import_module("pyspark.sql.functions").pandas_udf
    udf = pandas_udf(hits, "bigint")
    groups = spark.read.parquet(str(tmp_path / "t")).groupBy("shop").agg(udf("s").alias("n"))
    boundary = rewritten(groups.filter("n >= 1"))
    assert (boundary.kind, boundary.prefilter) == ("partial", "s = 'x'")
    assert rewritten(groups.filter("n >= 2")).prefilter == "s = 'x'"
