"""Scalar pandas UDFs in the words that people use, over files of two writers with small row groups:
the same rows with and without the filter below, and a filter that looks right loses some.
"""

from __future__ import annotations

import datetime as dt
import math
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from pyspark.sql import functions as F
from pyspark.sql.pandas import functions
from tests.backend import column_functions
from tests.support.pickling import pickled_by_value
from tests.support.running import counted, rewritten, same_rows

from presieve.driver.optimize import optimize

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

pytestmark = [pytest.mark.spark, pytest.mark.classic("the server's files are not read")]
by_value = pickled_by_value(column_functions)

NUMBERS = (
    *(None, math.nan, -0.0, 0.0, 0.5, 1.0, 1.5, 9.999, 10.0, 10.5, 20.0, 25.0, -3.0, 1e308),
    *(math.inf, -math.inf),
)
SECONDS = (None, 0.0, -0.0, math.nan, 2.0, math.inf)
TEXTS = (
    None,
    "",
    "a",
    "7",
    "07",
    "a-b",
    "no7",
    "no07-x",
    "a-b-c",
    " 7",
    "007",
    "ü-7",
    "\U0001f600-",
)
TIMES = (
    *(
        None,
        "2023-12-31 23:59:59.999999",
        "2024-01-01",
        "2024-01-31 12:00:00",
        "2024-02-29 00:00:01",
    ),
    *("2024-04-01", "1969-12-31 23:59:59", "2023-12-31", "2024-02-01", "2024-03-31 23:59:59"),
)
SIZE = 130


def _rows() -> list[tuple[Any, ...]]:
    def at(values: tuple[Any, ...], i: int) -> Any:
        return values[i % len(values)]

    times = [None if t is None else dt.datetime.fromisoformat(t + "+00:00") for t in TIMES]
    return [
        (
            *(at(NUMBERS, i), at(SECONDS, i // 3), at((None, 0, 3, -5, 4, 1), i)),
            *(at(TEXTS, i), at((None, "x", "", "7"), i // 2), at((True, None, False), i)),
            *(at(tuple(times), i), at(tuple(times), i // 7)),
        )
        for i in range(SIZE)
    ]


@pytest.fixture(scope="module", params=["spark", "pyarrow"])
def table(
    request: pytest.FixtureRequest, spark: SparkSession, tmp_path_factory: pytest.TempPathFactory
) -> DataFrame:
    rows, path = _rows(), tmp_path_factory.mktemp("columns") / "t.parquet"
    names = ("x", "y", "n", "s", "w", "b", "t", "u")
    if request.param == "spark":
        ddl = "x double, y double, n int, s string, w string, b boolean, t timestamp, u timestamp"
        spark.createDataFrame(rows, ddl).repartition(9, "s").write.parquet(str(path))
        return spark.read.parquet(str(path))
    times = pa.timestamp("us", "UTC")
    types = (pa.float64(), pa.float64(), pa.int32(), pa.string(), pa.string(), pa.bool_())
    schema = pa.schema(list(zip(names, (*types, times, times), strict=True)))
    columns = [list(c) for c in zip(*rows, strict=True)]
    _write(path, pa.table(columns, schema=schema))
    return spark.read.parquet(str(path))


def _write(path: Path, table: pa.Table) -> None:
    pq.write_table(table, path, row_group_size=7)


CASES = {
    "ends": ("cut_off", "double", "x", "r > 5", "NOT isnan(x) AND x > 5.0D", "x > 5 AND x <= 10"),
    "an end": ("cut_off", "double", "x", "r = 0", "x < 0.0D OR x = 0.0D OR isnan(x)", "x = 0"),
    "swapped ends": (
        *("cut_off_backwards", "double", "x", "r >= 10"),
        *("NOT isnan(x) AND x >= 10.0D", "x > 10"),
    ),
    "a bin": (
        *("named_bins", "string", "x", "r = 'mid'"),
        *("(x > 10.0D OR isnan(x)) AND x <= 20.0D", "x >= 10 AND x < 20"),
    ),
    "no bin": ("named_bins", "string", "x", "r IS NULL", None, "x IS NULL"),
    "no bin in words": ("written_bins", "string", "x", "r = 'nan'", None, "x IS NULL"),
    "the lowest": ("numbered_bins", "int", "n", "r = 0", "n >= -5 AND n <= 0", "n > -5 AND n <= 0"),
    "digitized": ("digitized", "bigint", "x", "r = 2", None, "x >= 10 AND NOT isnan(x)"),
    "searched": ("searched", "bigint", "x", "r = 1", None, "x >= 0 AND x < 10"),
    "the first there": ("first_there", "double", "x y", "r = 2", None, "x = 2"),
    "a sum": ("sum_of_there", "double", "x y", "r > 20", None, "x > 20 AND y IS NOT NULL"),
    "a ratio": ("ratio", "double", "x y", "r > 4", None, "y > 2"),
    "a floor": ("floored", "double", "x", "r = 1", None, "x = 1"),
    "repeated": (
        *("repeated", "string", "x", "r = 'high'"),
        *("x > 10.0D AND NOT isnan(x)", "x > 10 AND x < 1e6"),
    ),
    "no truth": ("truth", "boolean", "b", "NOT r", "b IS NULL OR NOT b", "NOT b"),
    "joined": ("joined", "string", "s w", "r = 'a/?'", None, "s = 'a' AND w = '?'"),
    "filled": ("filled", "string", "s", "r = '007'", "s IN ('07', '7', '007')", "s = '007'"),
    "before": ("before", "string", "s", "r = 'a'", None, "s = 'a'"),
    "digits": ("digits", "string", "s", "r = '7'", None, "s = '7'"),
    "parts": ("parts", "int", "s", "r = 2", None, "s LIKE '_-_'"),
    "a month": ("month", "string", "t", "r = '2024-01'", None, "t > '2024-01-01 00:00:00Z'"),
    "a day": (
        *("day", "date", "t", "r = DATE '2023-12-31'"),
        *(None, "t = TIMESTAMP '2023-12-31 00:00:00Z'"),
    ),
    "a quarter": ("quarter", "int", "t", "r = 1", None, "month(t) < 3"),
    "the end": ("month_end", "boolean", "t", "r", None, "day(t) = 31"),
    "days": ("days_between", "bigint", "t u", "r >= 30", None, "datediff(u, t) > 30"),
    "hours": (
        "hours_since",
        "double",
        "t",
        "r > 730",
        None,
        "t > TIMESTAMP '2024-03-01 00:00:00Z'",
    ),
}
"""The function, its result, its columns, a filter above, the one below, and a wrong one below."""


def _filtered(table: DataFrame, case: tuple[Any, ...]) -> DataFrame:
    name, returns, columns, where, *_ = case
    make: Any = functions.pandas_udf
    call = make(getattr(column_functions, name), returns)(*columns.split())
    return table.withColumn("r", call).filter(where)


@pytest.mark.parametrize("name", CASES)
def test_the_filter_below(table: DataFrame, name: str) -> None:
    *_, below, wrong = CASES[name]
    df = _filtered(table, CASES[name])
    assert df.count()
    same_rows(df, optimize(df, cost="always"))
    prefilter = rewritten(df).prefilter
    assert prefilter != "true"
    assert below is None or prefilter == below
    assert counted(_filtered(table.filter(F.expr(wrong)), CASES[name])) != counted(df)


def test_categories_keep_their_order(table: DataFrame) -> None:
    """Categories compare in the order of the bins, which is not that of their names."""

    make: Any = functions.pandas_udf
    below_a = make(column_functions.below_a, "boolean")
    df = table.withColumn("r", below_a("x")).filter("r")
    same_rows(df, optimize(df, cost="always"))
    assert df.count()
