"""Expressions in the place of functions, over files by which a scan loses rows: no row is lost.

Spark moves a filter past an expression that it does not move past a Python function, and hands it
to the scan. In dictionaries -0.0 is below 0.0; other writers leave NaN out of their statistics; the
dates before 1582-10-15 are of another calendar for the scan; of 32 bits a column of 8 or 16 has the
last.
"""

from __future__ import annotations

import datetime as dt
import math
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from pyspark.sql import functions as F
from pyspark.sql.functions import pandas_udf, udf  # type: ignore[attr-defined]
from pyspark.sql.types import BooleanType, DateType, DoubleType, IntegerType, StringType

import presieve

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

pytestmark = [
    pytest.mark.spark,
    pytest.mark.classic("what a server makes of an expression cannot be read back"),
]

NAN = math.nan
SCHEMA = "x double, d date, n smallint, id int"
ROWS = [
    (-0.0, dt.date(1500, 1, 1), 5, 1),
    (-0.0, dt.date(1582, 10, 4), 5, 2),
    (0.0, dt.date(1582, 10, 15), -5, 3),
    (None, None, None, 4),
    (1.5, dt.date(9999, 12, 31), 32_767, 5),
]
WRITERS = ("spark", "pyarrow", "nan", "narrow")

identity = udf(lambda v: v, DoubleType())
same_day = udf(lambda v: v, DateType())
same_number = udf(lambda v: v, IntegerType())
is_zero = udf(lambda v: v == 0, BooleanType())
not_negative = udf(lambda v: v is not None and v >= 0, BooleanType())
is_listed = udf(lambda v: v in (0.0, 1.5), BooleanType())
is_early = udf(lambda v: v is not None and v <= dt.date(1582, 10, 4), BooleanType())
sign_of = udf(lambda v: "none" if v is None else "zero" if v == 0 else "other", StringType())


@pandas_udf(DoubleType())  # type: ignore[untyped-decorator]
def identity_of_column(v: pd.Series) -> pd.Series:
    """The column itself."""
    return v


def _zeros(batches: Iterable[pd.DataFrame]) -> Iterator[pd.DataFrame]:
    for pdf in batches:
        yield pdf[pdf.x == 0]


def _all_batches(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    yield from batches


def _first_of_day(pdf: pd.DataFrame) -> pd.DataFrame:
    return pd.DataFrame({"d": [pdf.d.iloc[0]], "n": [len(pdf)]})


Make: TypeAlias = "Callable[[DataFrame], DataFrame]"

PIPELINES: dict[str, Make] = {
    "udf as a condition": lambda t: t.select("id", is_zero("x").alias("r")).filter("r"),
    "udf in the condition": lambda t: t.filter(is_zero("x")),
    "at least zero": lambda t: t.select("id", not_negative("x").alias("r")).filter("r"),
    "one of a list": lambda t: t.select("id", is_listed("x").alias("r")).filter("r"),
    "a text of it": lambda t: t.select("id", sign_of("x").alias("r")).filter("r = 'zero'"),
    "identity, greater": lambda t: t.select("id", identity("x").alias("r")).filter("r > 2.5"),
    "identity, other than": lambda t: t.select("id", identity("x").alias("r")).filter("r <> 3"),
    "identity, equal": lambda t: t.select("id", identity("x").alias("r")).filter("r = 0"),
    "identity of a column": lambda t: t.select("id", identity_of_column("x").alias("r")).filter(
        "r >= 0"
    ),
    "masks without a filter": lambda t: t.select("x", "id").mapInPandas(_zeros, "x double, id int"),
    "batches passed on": lambda t: (
        t.select("x", "id").mapInArrow(_all_batches, "x double, id int").filter("x > 2.5")
    ),
    "batches passed on, zeros": lambda t: (
        t.select("x", "id").mapInArrow(_all_batches, "x double, id int").filter("x >= 0")
    ),
    "early days": lambda t: t.select("id", is_early("d").alias("r")).filter("r"),
    "identity of days": lambda t: t.select("id", same_day("d").alias("r")).filter(
        "r <= DATE'1582-10-04'"
    ),
    "identity of numbers": lambda t: t.select(
        "id", same_number(F.col("n").cast("int")).alias("r")
    ).filter("r = 5"),
    "key of groups": lambda t: (
        t.groupBy("d")
        .applyInPandas(_first_of_day, "d date, n bigint")
        .filter("d = DATE'1500-01-01'")
    ),
    "under a union": lambda t: (
        t.select(identity("x").alias("r"))
        .unionAll(t.selectExpr("x + 1"))
        .filter("r >= 0 OR r = -1")
    ),
    "a key of a join": lambda t: t.select("id", identity("x").alias("r")).join(
        t.sparkSession.sql("SELECT 0.0D AS r"), "r"
    ),
    "a key of a semi join": lambda t: t.select("id", identity("x").alias("r")).join(
        t.sparkSession.sql("SELECT double('nan') AS r"), "r", "semi"
    ),
}


OPTIONS: tuple[dict[str, Any], ...] = (
    {"compile": "auto"},
    {"compile": "always", "cost": "always"},
    {"compile": "always", "policy": "strict"},
)


def _write(spark: SparkSession, writer: str, path: Path) -> DataFrame:
    """Files in which each row, or each few, may be skipped by itself."""
    match writer:
        case "spark":
            spark.createDataFrame(ROWS, SCHEMA).repartition(5, "id").write.parquet(str(path))
            spark.createDataFrame(ROWS[:2], SCHEMA).coalesce(1).write.mode("append").parquet(
                str(path)
            )
            return spark.read.parquet(str(path))
        case "nan":
            numbers = [1.0, 2.0, 1.5, NAN, 3.0, 3.0, 3.0, NAN]
            count = range(len(numbers))
            columns = {
                "x": pa.array(numbers),
                "d": pa.array([dt.date(2020, 1, 1)] * 8),
                "n": pa.array([1] * 8, pa.int16()),
                "id": pa.array(count, pa.int32()),
            }
        case "narrow":  # what a file has as 32 bits is read as 16
            columns = {
                "x": pa.array([1.0, 2.0]),
                "d": pa.array([dt.date(2020, 1, 1)] * 2),
                "n": pa.array([5 + 2**16, 2**17], pa.int32()),
                "id": pa.array([1, 2], pa.int32()),
            }
        case _:
            types = [pa.float64(), pa.date32(), pa.int16(), pa.int32()]
            names = [part.split()[0] for part in SCHEMA.split(", ")]
            cells = zip(names, types, zip(*ROWS, strict=True), strict=True)
            columns = {name: pa.array(values, type_) for name, type_, values in cells}
    path.mkdir()
    pq.write_table(
        pa.table(columns), path / "a.parquet", row_group_size=4 if writer == "nan" else 1
    )
    return spark.read.schema(SCHEMA).parquet(str(path))


def _rows(df: DataFrame) -> list[str]:
    """The rows, zeros and NaN as they are."""
    return sorted(map(repr, df.collect()))


@pytest.fixture(scope="module")
def stored(spark: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> dict[str, DataFrame]:
    folder = tmp_path_factory.mktemp("compiled")
    return {writer: _write(spark, writer, folder / writer) for writer in WRITERS}


@pytest.mark.parametrize("writer", WRITERS)
@pytest.mark.parametrize("name", PIPELINES)
def test_no_row_is_lost(stored: dict[str, DataFrame], name: str, writer: str) -> None:
    df = PIPELINES[name](stored[writer])
    expected = _rows(df)
    for options in OPTIONS:
        better = presieve.optimize(df, **options)
        assert _rows(better) == expected, str(presieve.explain(df, **options))
    with presieve.enabled(df.sparkSession, compile="always"):
        assert _rows(df) == expected


@pytest.mark.parametrize("writer", WRITERS)
def test_filters_may_come_later(stored: dict[str, DataFrame], writer: str) -> None:
    table = stored[writer]
    for name, later in {
        "x": "r = 0 OR r > 2.5",
        "d": "r <= DATE'1582-10-04'",
        "n": "r = 5",
    }.items():
        function = {"x": identity, "d": same_day, "n": same_number}[name]
        column = F.col(name).cast("int") if name == "n" else F.col(name)
        df = table.select("id", function(column).alias("r"))
        better = presieve.optimize(df, cost="always", compile="always")
        assert _rows(better.filter(later)) == _rows(df.filter(later)), name
