"""Errors on the way to Python: values that pandas cannot hold stop the job before any code runs."""

from __future__ import annotations

import datetime as dt
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from tests.support.traps import udfs
from tests.support.traps.checks import RAISES, agg, outcome, table, tempting

from presieve.driver.optimize import explain, optimize

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession


def told(df: DataFrame, naive: DataFrame) -> None:
    """That the error may be gone is said, or nothing is done."""
    assert tempting(df, naive) == RAISES
    better = optimize(df)
    if better is not df:
        (boundary,) = explain(df).boundaries
        assert "may-erase-error" in {a["code"] for a in boundary.assumptions}
    assert optimize(df, policy="strict") is df


@pytest.mark.parametrize("kind", ["timestamp", "timestamp_ntz"])
def test_timestamps_beyond_nanoseconds(spark: SparkSession, kind: str) -> None:
    """pandas has nanoseconds in 64 bits: 1677 to 2262."""
    schema = f"team string, ts {kind} NOT NULL"
    rows = table(spark, schema, ("a", dt.datetime(3000, 1, 1)), ("a", dt.datetime(2019, 6, 1)))
    where = f"m > {kind} '2019-01-01 00:00:00'"
    naive = rows.filter(f"ts < {kind} '2020-01-01 00:00:00'")
    best = agg(rows, udfs.latest_before, kind, "ts").filter(where)
    told(best, agg(naive, udfs.latest_before, kind, "ts").filter(where))


def test_a_timestamp_that_nobody_reads(spark: SparkSession) -> None:
    """``applyInPandas`` sends every column."""
    schema = "team string, score double NOT NULL, ts timestamp NOT NULL"
    rows = table(
        spark, schema, ("a", 1.0, dt.datetime(3000, 1, 1)), ("a", 95.0, dt.datetime(2019, 6, 1))
    )

    def written(rows: DataFrame) -> DataFrame:
        returns = "team string, first double, second double"
        return (
            rows.groupBy("team")
            .applyInPandas(udfs.top_two, returns)
            .filter("first >= 90 AND second >= 90")
        )

    told(written(rows), written(rows.filter("score >= 90")))


def test_dates_beyond_the_year_9999(spark: SparkSession, tmp_path: Path) -> None:
    """Python's dates end there; Spark's do not."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    days = pa.array([18000, 3_000_000], pa.int32()).cast(pa.date32())
    pq.write_table(pa.table({"team": ["a", "a"], "d": days}), tmp_path / "t.parquet")
    rows = spark.read.parquet(str(tmp_path / "t.parquet"))

    def written(rows: DataFrame) -> DataFrame:
        return agg(rows, udfs.early_days, "bigint", "d").filter("m >= 1")

    told(written(rows), written(rows.filter("d < DATE '2020-01-01'")))


@pytest.mark.parametrize(("year", "within"), [(2019, True), (3000, False)])
@pytest.mark.parametrize(("kind", "zone"), [("timestamp", "UTC"), ("timestamp_ntz", None)])
def test_footers_know_the_range(
    spark: SparkSession, tmp_path: Path, year: int, within: bool, kind: str, zone: str | None
) -> None:
    """Where the files say that no such value is there, no error can vanish."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    ts = pa.array([dt.datetime(2019, 6, 1), dt.datetime(year, 2, 1)], pa.timestamp("us", zone))
    pq.write_table(pa.table({"team": ["a", "b"], "ts": ts}), tmp_path / "t.parquet")
    rows = spark.read.parquet(str(tmp_path / "t.parquet")).filter("ts IS NOT NULL")
    best = agg(rows, udfs.latest_before, kind, "ts")
    df = best.filter(f"m > {kind} '2019-01-01 00:00:00'")
    (boundary,) = explain(df).boundaries
    assert ("may-erase-error" in {a["code"] for a in boundary.assumptions}) is not within
    better = optimize(df, policy="strict")
    assert (better is not df) is within
    if within:
        assert outcome(better) == outcome(df)
