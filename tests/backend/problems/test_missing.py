"""NULL and NaN are cases of the search: functions and filters that ask for them find them."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from datetime import datetime
from itertools import product
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pandas as pd
import pytest
from tests.backend.problems import missing_udfs as udfs
from tests.support.amount import some
from tests.support.pickling import pickled_by_value
from tests.support.running import rewritten, safe, safe_each, untouched

from presieve.driver.optimize import explain, optimize

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

SCHEMA = "k string, d double, n bigint, i int, t timestamp"


by_value_too = pickled_by_value(udfs)


GROUPS: dict[str | None, list[float | None]] = {
    "whole": [10.0, 3.0, 91.0, 3.0],
    "low": [1.0, 2.0],
    "one gone": [95.0, None, 2.0],
    "low and gone": [None, 1.0, None],
    "one NaN": [99.0, math.nan, 1.0],
    "first NaN": [math.nan, 96.0, 4.0, None],
    "all gone": [None, None],
    "all NaN": [math.nan],
    "zeros": [0.0, -0.0, -3.0],
    "extremes": [math.inf, -math.inf, 6.0],
    None: [None, 97.0, math.nan],
}


def _cells(v: float | None) -> tuple[Any, ...]:
    """The same as a number of each type; times and integers are NULL where a double is NaN."""
    if v is None or v != v:
        return v, None, None, None
    small = max(min(v, 2.0**31 - 1), -(2.0**31))
    time = datetime(2020, 1, 1 + int(max(min(v, 25.0), 0.0)))
    return v, int(max(min(v, 2.0**53 - 1), 1 - 2.0**53)), int(small), time


@pytest.fixture(scope="module")
def table(spark: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> DataFrame:
    path = str(Path(tmp_path_factory.mktemp("missing")) / "t")
    rows = [(k, *_cells(v)) for k, values in GROUPS.items() for v in values]
    spark.createDataFrame(rows, SCHEMA).repartition(2).sortWithinPartitions("k").write.parquet(path)
    return spark.read.parquet(path)


TYPES = {"d": "double", "n": "bigint", "i": "int", "t": "timestamp"}


def name_of(case: Any) -> str:
    """The name of a function or of a column."""
    return getattr(case, "__name__", str(case))


def of_groups(table: DataFrame, column: str, function: Callable[..., Any], type_: str) -> DataFrame:
    grouped = table.selectExpr("k", f"{column} AS v").groupBy("k")
    return grouped.applyInPandas(function, f"k string, m {type_}")


@some("function, column", product(udfs.COUNTING, TYPES), of=3, ids=name_of)
def test_functions_that_count_what_is_missing(table: DataFrame, function: Any, column: str) -> None:
    if column == "t" and function in (udfs.asked_by_numpy, udfs.asked_by_math):
        pytest.skip("TypeError for a moment")
    counted = of_groups(table, column, function, "bigint")
    safe_each(counted, ("m > 0", "m = 0", "m IS NULL"))


@some("function, column", product(udfs.NUMBERS, "dni"), of=2, ids=name_of)
def test_results_that_may_be_missing(table: DataFrame, function: Any, column: str) -> None:
    if column != "d" and function in (udfs.chosen, udfs.filled):
        pytest.skip("of doubles only")
    found = of_groups(table, column, function, TYPES[column])
    safe_each(found, ("m IS NULL", "m IS NOT NULL", "m > 5", "m < 5 OR m IS NULL"))


@pytest.mark.second
def test_moments_that_are_missing(table: DataFrame) -> None:
    for function in (udfs.greatest, udfs.least, udfs.when_whole, udfs.greatest_of_those_there):
        found = of_groups(table, "t", function, "timestamp")
        safe_each(found, ("m IS NULL", "m IS NOT NULL", "m > TIMESTAMP '2020-01-06'"))


@pytest.mark.parametrize("name", ["high_missing", "least_there"])
def test_aggregates_of_columns(table: DataFrame, name: str) -> None:
    from pyspark.sql.pandas.functions import pandas_udf

    make: Any = pandas_udf
    function = make(getattr(udfs, name), "bigint")
    for column in ("n", "i"):
        found = table.groupBy("k").agg(function(column).alias("m"))
        safe_each(found, ("m > 0", "m < 5", "m IS NULL"))


@pytest.mark.parametrize("where", ["m IS NULL", "m IS NOT NULL"])
def test_what_pushes_nothing_changes_nothing(table: DataFrame, where: str) -> None:
    """A filter is not taken away on the strength of what nobody knows."""
    df = of_groups(table, "d", udfs.greatest_in_a_loop, "double").filter(where)
    assert optimize(df, cost="always") is df
    (boundary,) = explain(df, cost="always").boundaries
    assert boundary.kind == "none"


@pytest.mark.second
def test_rows_of_batches(table: DataFrame) -> None:
    spark = table.sparkSession
    conf = "spark.sql.execution.arrow.maxRecordsPerBatch"
    columns = table.selectExpr("k", "n AS v", "coalesce(i, 0) AS w", "d")
    spark.conf.set(conf, "3")
    try:
        for name in ("missing_rows", "like_the_first"):
            rows = columns.mapInPandas(getattr(udfs, name), columns.schema)
            safe_each(rows, ("v IS NULL", "v > 5", "d > 90 AND v IS NOT NULL", "w > 1"))
        schema = "k string, v bigint, w int, d double, gone boolean"
        rows = columns.mapInPandas(udfs.marked_rows, schema)
        rewritten(rows.filter("gone"))
        high = columns.mapInPandas(udfs.high_rows, schema)
        # Where a text is sent along, pandas compares integers that may be missing.
        below = {"gone": "v > 5", "NOT gone": "v <= 5", "gone IS NULL": "v IS NULL"}
        for where, prefilter in below.items():
            assert rewritten(high.filter(where)).prefilter == prefilter
        narrow = columns.select("w", "v", "d")
        high = narrow.mapInPandas(udfs.high_rows, "w int, v bigint, d double, gone boolean")
        safe_each(high, ("gone", "NOT gone", "gone IS NULL"))
        safe(rows.filter("NOT gone AND v > 5"))
    finally:
        spark.conf.unset(conf)


def test_the_first_row_of_a_batch_is_not_every_row(table: DataFrame) -> None:
    """Not for columns without NULL, either."""
    rows = table.selectExpr("k", "coalesce(d, 0D) AS w").orderBy("w")

    def marked(batches: Iterator[pd.DataFrame]) -> Iterator[pd.DataFrame]:
        for pdf in batches:
            yield pdf[pdf["w"] == pdf["w"].iloc[0]]

    untouched(rows.mapInPandas(marked, "k string, w double").filter("w > 5"))


ZEROS = [0.0, -0.0, *(float(-i % 7) - 6 for i in range(40)), -0.0, 0.0]


@pytest.mark.parametrize(
    ("name", "where"),
    [
        ("greatest", "m >= 0"),
        ("greatest", "m > -2"),
        ("greatest", "m IS NOT NULL"),
        ("greatest", "m > 0"),
        ("least", "m <= 0"),
        ("least", "m < 0"),
    ],
)
def test_signs_of_zeros(spark: SparkSession, name: str, where: str) -> None:
    """Where NumPy finds several zeros, the one it takes hangs on what stands between them."""
    rows = [(str(k), v) for k in range(12) for v in ZEROS[k:] + ZEROS[:k] if k % 2 or v <= 0]
    table = spark.createDataFrame(rows, "k string, d double").coalesce(1)
    df = of_groups(table, "d", getattr(udfs, name), "double").filter(where)
    better = optimize(df, cost="always")
    shown = [sorted((r.k, str(r.m)) for r in x.collect()) for x in (df, better)]
    assert shown[0] == shown[1]
    (boundary,) = explain(df, cost="always").boundaries
    if where in ("m > 0", "m < 0"):
        assert better is not df
        assert "open-zero" not in [a["code"] for a in (*boundary.assumptions, *boundary.discharged)]
