"""Where a Parquet scan, given a filter, drops rows that the filter itself keeps.

All on Spark's own settings. Each row group holds one value many times over, so that its dictionary
or its statistics decide of all of them at once.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from tests.matrix.cells import conf
from tests.support.traps import udfs
from tests.support.traps.checks import RAISES, agg, kept, moved, outcome

from presieve.driver.optimize import explain, optimize

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


OLD = (
    "1582-10-15 12:00:00",
    "1850-01-01 00:00:00",
    "1899-12-31 23:59:59.999",
    "2020-01-01 00:00:00",
)


@pytest.mark.parametrize("type_", ["INT96", "TIMESTAMP_MICROS", "TIMESTAMP_MILLIS"])
@pytest.mark.parametrize("mode", ["LEGACY", "CORRECTED"])
def test_moments_before_1900(spark: SparkSession, tmp_path: Path, type_: str, mode: str) -> None:
    """In the other calendar and the time zones of the time, as files by Spark 2 have them."""
    settings = {
        "spark.sql.session.timeZone": "America/Los_Angeles",
        "spark.sql.parquet.outputTimestampType": type_,
        "spark.sql.parquet.datetimeRebaseModeInWrite": mode,
        "spark.sql.parquet.int96RebaseModeInWrite": mode,
    }
    with conf(spark, settings):
        rows = one_file_each(spark, tmp_path / "t", "ts", *(f"TIMESTAMP '{x}'" for x in OLD[1:]))
    best = agg(rows, udfs.earliest, "timestamp", "ts")
    changed = 0
    for sign in ("<", "<=", ">", ">=", "="):
        for constant in OLD:
            df = best.filter(f"m {sign} TIMESTAMP '{constant}Z'")
            better = optimize(df)
            if better is not df:
                changed += 1
                assert outcome(better) == outcome(df), (sign, constant)
    assert changed


def test_old_days_that_spark_refuses_to_read(spark: SparkSession, tmp_path: Path) -> None:
    """The error may be gone with the row group, and so that is told; none is added."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    for number, day in enumerate((dt.date(1500, 1, 1), dt.date(2020, 1, 1))):
        (tmp_path / str(number)).mkdir()
        made = pa.table({"team": ["a"], "d": pa.array([day], pa.date32())})
        pq.write_table(made, tmp_path / str(number) / "t.parquet")

    def written(*numbers: int, where: str) -> DataFrame:
        rows = spark.read.parquet(*(str(tmp_path / str(n)) for n in numbers))
        return agg(rows.filter("d IS NOT NULL"), udfs.latest_day, "date", "d").filter(where)

    with conf(spark, {"spark.sql.parquet.datetimeRebaseModeInRead": "EXCEPTION"}):
        df = written(0, 1, where="m >= DATE '2000-01-01'")
        assert outcome(df) == RAISES
        assert optimize(df, policy="strict") is df
        if optimize(df) is not df:
            assert "may-erase-error" in {a["code"] for a in explain(df).boundaries[0].assumptions}
        old = written(1, where="m >= DATE '0001-01-01'")
        assert outcome(old) != RAISES
        assert outcome(optimize(old)) == outcome(old)
