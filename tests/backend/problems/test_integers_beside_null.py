"""Integers with a NULL in their batch, which functions of batches get as pandas' extension types
if a text stands beside them. What is computed with them keeps NaN, which is NULL elsewhere.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from tests.support.running import rewritten, same_rows

from presieve.driver.optimize import optimize

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

ROWS: list[tuple[float | None, int | None, int | None, str | None]] = [
    (math.inf, None, 1, "a"),
    (1.0, 2, 0, "b"),
    (math.inf, 0, 0, "c"),
    (None, 1, None, "d"),
    (2.0, None, 3, "e"),
    (math.nan, -4, -3, None),
    (-0.0, 0, None, "g"),
    (-math.inf, 0, 5, "h"),
]


@pytest.fixture(scope="module", params=["spark", "pyarrow"])
def table(
    request: pytest.FixtureRequest, spark: SparkSession, tmp_path_factory: pytest.TempPathFactory
) -> DataFrame:
    path = str(tmp_path_factory.mktemp("integers") / "table.parquet")
    if request.param == "spark":
        spark.createDataFrame(ROWS, "x double, a int, b int, t string").coalesce(1).write.parquet(
            path
        )
    else:
        types = {"x": pa.float64(), "a": pa.int32(), "b": pa.int32(), "t": pa.string()}
        columns = zip(types.items(), zip(*ROWS, strict=True), strict=True)
        arrays = {n: pa.array(values, type_) for (n, type_), values in columns}
        pq.write_table(pa.table(arrays), path, row_group_size=3)
    return spark.read.parquet(path)


def product(batches: Iterator[Any]) -> Iterator[Any]:
    for p in batches:
        p["r"] = p["x"].fillna(0.0) * p["a"].fillna(0)
        yield p[["t", "r"]]


def quotient(batches: Iterator[Any]) -> Iterator[Any]:
    for p in batches:
        p["r"] = p["a"].fillna(0) / p["b"].fillna(0)
        yield p[["t", "r"]]


def root(batches: Iterator[Any]) -> Iterator[Any]:
    for p in batches:
        p["r"] = np.sqrt(p["a"].fillna(0) * 1.0)
        yield p[["t", "r"]]


def times_zero(batches: Iterator[Any]) -> Iterator[Any]:
    for p in batches:
        p["r"] = p["a"].fillna(1) * 1e308 * 1e308 * 0.0
        yield p[["t", "r"]]


def scaled(batches: Iterator[Any]) -> Iterator[Any]:
    for p in batches:
        p["r"] = p["a"].fillna(0) * 1.5
        yield p[["t", "r"]]


WHERE = ("r IS NULL", "isnan(r)", "r > 1", "r IS NOT NULL", "NOT r > 1")


@pytest.mark.parametrize("where", WHERE)
@pytest.mark.parametrize("function", [product, quotient, root, times_zero, scaled])
def test_what_is_computed_may_be_nan(
    table: DataFrame, function: Callable[..., Any], where: str
) -> None:
    df = table.mapInPandas(function, "t string, r double").filter(where)
    same_rows(df, optimize(df, cost="always"))


def test_numbers_times_a_constant_are_numbers(table: DataFrame) -> None:
    df = table.mapInPandas(scaled, "t string, r double").filter("r > 1")
    assert rewritten(df).prefilter == "a > 0"
