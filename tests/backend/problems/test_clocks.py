"""What clocks show at an instant, in pandas functions: filters and expressions of Spark."""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from tests.backend.problems import clock_udfs as udfs
from tests.support.pickling import pickled_by_value
from tests.support.running import counted, plan_text, rewritten, untouched

import presieve
from presieve import verify

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

by_value_too = pickled_by_value(udfs)
KEY = "spark.sql.session.timeZone"
UTC = dt.UTC
INSTANTS = [
    None,
    *(dt.datetime(2024, 2, 28, h, 59, 59, 999_999, UTC) for h in (0, 5, 18, 19, 22, 23)),
    *(dt.datetime(2024, m, 1, 5, 30, tzinfo=UTC) for m in (1, 2, 2, 3, 12)),
    *(dt.datetime(2023, 12, 31, h, 29, 59, tzinfo=UTC) for h in (16, 17, 18, 19)),
    dt.datetime(2023, 12, 31, 18, 30, tzinfo=UTC),
    *(dt.datetime(1969, 12, 31, 23, 59, 59, 999_999, UTC), dt.datetime(1970, 1, 1, tzinfo=UTC)),
    dt.datetime(1899, 12, 31, 20, tzinfo=UTC),
    *(dt.datetime(1677, 9, 22, 12, tzinfo=UTC), dt.datetime(2262, 4, 11, 12, tzinfo=UTC)),
    None,
    dt.datetime(2024, 2, 29, tzinfo=UTC),
]
"""Among them the last days that pandas has, and hours around midnight in both zones."""


@pytest.fixture(params=["UTC", "+05:30"])
def zone(request: pytest.FixtureRequest, spark: SparkSession) -> Iterator[str]:
    before = spark.conf.get(KEY)
    spark.conf.set(KEY, request.param)
    yield request.param
    spark.conf.set(KEY, before or "UTC")


@pytest.fixture(scope="module", params=["spark", "pyarrow"])
def path(
    request: pytest.FixtureRequest, spark: SparkSession, tmp_path_factory: pytest.TempPathFactory
) -> str:
    """Files of two writers, the second one with small row groups."""
    path = tmp_path_factory.mktemp("clocks") / "table.parquet"
    instants = pa.array(INSTANTS, pa.timestamp("us", tz="UTC"))
    table = pa.table({"t": instants, "k": pa.array([i % 3 for i in range(len(INSTANTS))])})
    if request.param == "pyarrow":
        pq.write_table(table, path, row_group_size=4)
        return str(path)
    pq.write_table(table, Path(f"{path}.source"))
    spark.read.parquet(f"{path}.source").coalesce(1).write.parquet(str(path))
    return str(path)


def with_r(df: DataFrame, name: str, returns: str = "int") -> DataFrame:
    from pyspark.sql.functions import pandas_udf  # type: ignore[attr-defined]

    make: Any = pandas_udf
    return df.withColumn("r", make(getattr(udfs, name), returns)("t"))


CASES = [
    ("month", "int", "r = 2", "month(CAST(t AS DATE)) = 2"),
    ("day", "int", "r >= 29", "day(CAST(t AS DATE)) >= 29"),
    ("year", "int", "r = 2023", "t >= TIMESTAMP '202"),
    ("year", "int", "r IS NULL", "t IS NULL"),
    ("hour", "int", "r < 6", "hour(t) < 6"),
    ("minute", "int", "r = 29", "minute(t) = 29"),
    ("second", "int", "r <> 0", "second(t) <> 0"),
    ("weekday", "int", "r > 4", "weekday(CAST(t AS DATE)) > 4"),
    ("is_night", "boolean", "r", "hour(t) < 6 OR hour(t) >= 22"),
]


@pytest.mark.parametrize(("name", "returns", "where", "below"), CASES)
def test_filters_go_below(
    spark: SparkSession, path: str, zone: str, name: str, returns: str, where: str, below: str
) -> None:
    df = with_r(spark.read.parquet(path), name, returns).filter(where)
    assert below in rewritten(df).prefilter
    assert 0 < df.count() < len(INSTANTS)


@pytest.mark.classic("functions are not compiled on Spark Connect")
@pytest.mark.parametrize("name", ["month", "hour", "year", "is_night"])
def test_functions_become_expressions(spark: SparkSession, path: str, zone: str, name: str) -> None:
    returns = "boolean" if name == "is_night" else "int"
    df = with_r(spark.read.parquet(path).select("t"), name, returns).select("r")
    expected = counted(df)
    with presieve.enabled(spark, cost="always", compile="always"):
        assert counted(df) == expected
        assert "EvalPython" not in plan_text(df)


@pytest.mark.classic("the files of a server are not looked at")
def test_tables_and_groups(spark: SparkSession, path: str, zone: str) -> None:
    table = spark.read.parquet(path)
    batches = table.mapInPandas(udfs.hours_of_batches, "t timestamp, k bigint")
    assert "hour(t) >= 5" in rewritten(batches.filter("k = 1")).prefilter
    groups = table.groupBy("k").applyInPandas(udfs.nights, "k bigint, n bigint")
    assert "hour(t) >= 22" in rewritten(groups.filter("n >= 1")).prefilter


def test_a_pre_filter_of_another_hour_is_refuted(spark: SparkSession, path: str, zone: str) -> None:
    """The wrong twin makes a difference on this table, too."""
    from pyspark.sql.functions import pandas_udf  # type: ignore[attr-defined]

    make: Any = pandas_udf
    given: dict[str, Any] = {"schema": "t timestamp", "returns": "r int", "mode": "row"}
    hour = make(udfs.hour, "int")
    assert verify(hour, "r = 5", prefilter="hour(t) = 5", **given).certificate is not None
    assert verify(hour, "r = 5", prefilter="hour(t) = 6", **given).status == "refuted"
    table = spark.read.parquet(path)
    kept = with_r(table, "hour").filter("r = 5")
    assert kept.count() > 0
    shifted = table.filter("hour(t) = 6")
    assert with_r(shifted, "hour").filter("r = 5").count() < kept.count()


def test_where_clocks_are_changed_functions_stay(spark: SparkSession, path: str) -> None:
    before = spark.conf.get(KEY)
    spark.conf.set(KEY, "Europe/Berlin")
    try:
        boundary = untouched(with_r(spark.read.parquet(path), "hour").filter("r = 5"))
        assert boundary.declined[0].code == "timestamp-zone"
    finally:
        spark.conf.set(KEY, before or "UTC")


def test_an_enabled_session_follows_its_time_zone(spark: SparkSession, path: str) -> None:
    """Rows of functions and of Spark's own conditions, each in the time zone that it has then."""
    before, seen = spark.conf.get(KEY), []
    try:
        for name in ("UTC", "+05:30", "-08:00", "Europe/Berlin"):
            spark.conf.set(KEY, name)
            df = with_r(spark.read.parquet(path), "hour").filter("r = 5 AND hour(t) < 6")
            seen.append(counted(df))
            with presieve.enabled(spark, cost="always"):
                assert counted(df) == seen[-1]
    finally:
        spark.conf.set(KEY, before or "UTC")
    assert seen[0] != seen[1]
