"""Filters on what is calculated with a column and constants: they reach the scan."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import pytest
from tests.backend.problems import rates_udfs
from tests.support.games.tables import Tables
from tests.support.pickling import pickled_by_value
from tests.support.running import rewritten, same_rows

from presieve import verify
from presieve.driver.optimize import optimize
from presieve.driver.synthesize import synthesize

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

by_value_too = pickled_by_value(rates_udfs)


def with_c(df: DataFrame, name: str, returns: str, column: str, *, arrow: bool) -> DataFrame:
    from pyspark.sql.functions import udf

    make: Any = udf
    return df.withColumn(
        "c", make(getattr(rates_udfs, name), returns, useArrow=arrow)(*column.split(", "))
    )


CASES = [
    ("priced", "double", "score", "c > 100", ""),  # NaN is greater, and a scan may lose it
    (
        "priced",
        "double",
        "score",
        "c > 100 AND NOT isnan(c)",
        "GreaterThan(score,81.09243697478992)",
    ),
    ("priced", "double", "score", "c <= 100", "LessThanOrEqual(score,81.09243697478992)"),
    ("rest", "double", "score", "c > 3 AND c < 5", "LessThan(score,91.0)"),
    ("rest", "double", "score", "c = 3", "EqualTo(score,91.0)"),
    ("weighed", "double", "v", "c >= 7", "GreaterThanOrEqual(v,5)"),
    ("heat", "string", "score", "c = 'hot'", "GreaterThan(score,93.33333333333333)"),
    ("squared", "double", "score", "c > 100", ""),
    ("charged", "double", "level, score", "c < 40", "LessThan(score,78.0)"),
]


@pytest.mark.parametrize(
    "arrow", [True, pytest.param(False, marks=pytest.mark.slow)], ids=["arrow", "pickled"]
)
@pytest.mark.parametrize(("name", "returns", "column", "where", "scan"), CASES)
def test_scans_get_thresholds(
    tables: Tables, name: str, returns: str, column: str, where: str, scan: str, arrow: bool
) -> None:
    for table in (tables.strange, tables.plain):
        df = with_c(table, name, returns, column, arrow=arrow).filter(where)
        same_rows(df, optimize(df, cost="always"))
    boundary = rewritten(df)
    assert not scan or any(scan in p for p in boundary.pushed_to_scan), boundary.pushed_to_scan


def _next(number: float) -> float:
    return math.nextafter(number, math.inf)


@pytest.mark.parametrize(
    ("name", "returns", "where", "edge"),
    [
        ("priced", "double", "c > 100", 81.09243697478992),
        ("heat", "string", "c = 'hot'", 93.33333333333333),
    ],
)
def test_the_next_number_is_one_too_many(
    spark: SparkSession, name: str, returns: str, where: str, edge: float
) -> None:
    """A threshold that is off by one double loses a row, and is no proven pre-filter."""
    given: dict[str, Any] = {
        "schema": "score double NOT NULL",
        "returns": f"c {returns}",
        "mode": "row",
    }
    function: Any = getattr(rates_udfs, name)
    assert synthesize(function, where, **given).kind == "exact"
    right, wrong = (f"score > {x!r}D AND NOT isnan(score)" for x in (edge, _next(edge)))
    assert verify(function, where, prefilter=right, **given).certificate is not None
    assert verify(function, where, prefilter=wrong, **given).certificate is None
    rows = [(edge,), (_next(edge),), (_next(_next(edge)),)]
    df = spark.createDataFrame(rows, "score double")
    kept = with_c(df, name, returns, "score", arrow=True).filter(where).select("score").collect()
    assert [row.score for row in kept] == [x for (x,) in rows[1:]]
