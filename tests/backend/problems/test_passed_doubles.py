"""Doubles that a function of batches passes on: NaN comes back from pandas as NULL, and -0.0 as it
is.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from tests.support.running import rewritten, untouched

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

NAN = math.nan
VALUES = [1.0, NAN, 60.0, None, -0.0, 0.0, math.inf, -math.inf, NAN, 70.0, 51.0, 5e-324]
SCHEMA = "v double, k string"


@pytest.fixture(scope="module", params=["spark", "pyarrow"])
def values(
    request: pytest.FixtureRequest, spark: SparkSession, tmp_path_factory: pytest.TempPathFactory
) -> DataFrame:
    path = str(tmp_path_factory.mktemp("doubles") / "table.parquet")
    keys = [str(i % 3) for i in range(len(VALUES))]
    if request.param == "spark":
        rows = list(zip(VALUES, keys, strict=True))
        spark.createDataFrame(rows, SCHEMA).coalesce(1).write.parquet(path)
    else:
        pq.write_table(pa.table({"v": VALUES, "k": keys}), path, row_group_size=4)
    return spark.read.parquet(path)


def passed_on(batches: Iterator[Any]) -> Iterator[Any]:
    for pdf in batches:
        pdf["w"] = np.arctan(pdf["v"])
        yield pdf[["v", "k"]]


def filled(batches: Iterator[Any]) -> Iterator[Any]:
    for pdf in batches:
        pdf["v"] = pdf["v"].fillna(pdf["v"].max())
        yield pdf[["v", "k"]]


def below(values: DataFrame, function: Callable[..., Any], where: str) -> DataFrame:
    return values.mapInPandas(function, SCHEMA).filter(where)


ABOVE = {
    "v > 50": "NOT isnan(v) AND v > 50.0D",
    "v < 0": "v < 0.0D",
    "v = 0": "v = 0.0D OR isnan(v)",
    "v <> 60": "NOT isnan(v) AND v <> 60.0D",
    "v IS NULL": "v IS NULL OR isnan(v)",
    "v IS NOT NULL": "v IS NOT NULL AND NOT isnan(v)",
    "v >= 60 OR v IS NULL": "v >= 60.0D OR v IS NULL OR isnan(v)",
    "isnan(v)": "false",
}


@pytest.mark.parametrize("where", ABOVE)
def test_filters_on_a_double_go_below(values: DataFrame, where: str) -> None:
    boundary = rewritten(below(values, passed_on, where))
    assert boundary.prefilter == ABOVE[where]
    assert boundary.kind == {"v = 0": "partial", "isnan(v)": "empty"}.get(where, "exact")


@pytest.mark.parametrize("where", ["v IS NULL", "v > 50"])
def test_as_it_stands_the_filter_would_lose_or_keep_other_rows(
    values: DataFrame, where: str
) -> None:
    """The wrong twin: NaN is above all numbers for Spark, and no NULL."""
    right = below(values, passed_on, where).count()
    assert values.filter(where).mapInPandas(passed_on, SCHEMA).count() != right


def test_a_double_that_depends_on_others_stays(values: DataFrame) -> None:
    assert untouched(below(values, filled, "v > 50")).prefilter == "true"
