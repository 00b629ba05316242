"""Where a Parquet scan, given a filter, drops rows that the filter itself keeps.

All on Spark's own settings. Each row group holds one value many times over, so that its dictionary
or its statistics decide of all of them at once.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from tests.traps import udfs
from tests.traps.checks import agg, kept, moved

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

MANY = 300


def one_file_each(spark: SparkSession, path: Path, column: str, *values: str) -> DataFrame:
    """A file for each of the values, in which team ``ti`` has the i-th many times."""
    for number, value in enumerate(values):
        rows = spark.range(MANY).selectExpr(f"'t{number}' AS team", f"{value} AS {column}")
        rows.coalesce(1).write.mode("append").parquet(str(path))
    return spark.read.parquet(str(path))


ZEROS: list[tuple[Callable[..., int], str]] = [
    (udfs.not_negative, "score >= 0.0D"),
    (udfs.not_positive, "score <= -0.0D"),
    (udfs.zeros, "score = 0.0D"),
    (udfs.zeros, "score = -0.0D"),
]


@pytest.mark.parametrize(("function", "naive"), ZEROS)
def test_two_zeros(
    spark: SparkSession, tmp_path: Path, function: Callable[..., int], naive: str
) -> None:
    """-0.0 equals 0.0 in Spark's filter; for parquet-mr's dictionaries it is another value."""
    rows = one_file_each(spark, tmp_path / "t", "score", "-0.0D", "0.0D", "5.0D", "-5.0D")
    known = rows.filter("NOT isnan(score)")  # no NaN, and so nothing that keeps filters from scans

    def written(rows: DataFrame) -> DataFrame:
        return agg(rows, function, "bigint", "score").filter("m >= 1")

    moved(written(known), written(known.filter(naive)))
    moved(written(rows), written(rows.filter(naive)))


@pytest.mark.parametrize("mode", ["CORRECTED", "LEGACY"])
def test_days_that_one_calendar_has(spark: SparkSession, tmp_path: Path, mode: str) -> None:
    """1582-10-05 to 14 are no days of java.sql.Date: the scan takes them all for the 15th."""
    conf = "spark.sql.parquet.datetimeRebaseModeInWrite"
    spark.conf.set(conf, mode)
    try:
        days = ("DATE '1582-10-04'", "DATE '1582-10-15'", "DATE '2020-01-01'")
        rows = one_file_each(spark, tmp_path / "t", "d", *days)
    finally:
        spark.conf.unset(conf)

    def written(rows: DataFrame) -> DataFrame:
        return agg(rows, udfs.latest_day, "date", "d").filter("m > DATE '1582-10-10'")

    kept(written(rows), written(rows.filter("d > DATE '1582-10-10'")))


def test_moments_between_milliseconds(spark: SparkSession, tmp_path: Path) -> None:
    """In a file of milliseconds the scan cuts the constant, whatever the comparison."""
    conf = "spark.sql.parquet.outputTimestampType"
    spark.conf.set(conf, "TIMESTAMP_MILLIS")
    try:
        moments = ("TIMESTAMP '2020-01-01 00:00:00'", "TIMESTAMP '2021-01-01 00:00:00'")
        rows = one_file_each(spark, tmp_path / "t", "ts", *moments)
    finally:
        spark.conf.unset(conf)

    def written(rows: DataFrame) -> DataFrame:
        found = agg(rows, udfs.earliest, "timestamp", "ts")
        return found.filter("m < TIMESTAMP '2020-01-01 00:00:00.0005'")

    kept(written(rows), written(rows.filter("ts < TIMESTAMP '2020-01-01 00:00:00.0005'")))
