"""Conditions on the current time: a filter holds during a time, and says so itself."""

from __future__ import annotations

import datetime as dt
from functools import partial
from typing import TYPE_CHECKING, Any
from zoneinfo import ZoneInfo

import pytest
from tests.driver.conditions import rows

import presieve
from presieve.backend.classic.scans import current_times
from presieve.records import replace

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

pytestmark = pytest.mark.classic("filters are derived from the plan of Spark's optimizer")


@pytest.fixture(scope="module")
def recent(spark: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> DataFrame:
    """Days and instants of the last two years and of the next one, in order."""
    path = str(tmp_path_factory.mktemp("recent") / "t")
    days = spark.range(-730, 365, 1, 1).selectExpr("date_add(current_date(), int(id)) d", "id")
    days.selectExpr("*", "timestamp(d) + INTERVAL 90 MINUTES ts").write.parquet(path)
    return spark.read.parquet(path)


@pytest.fixture(params=["UTC", "Europe/Berlin", "America/St_Johns", "+05:30", "GMT-3"])
def zone(spark: SparkSession, request: pytest.FixtureRequest) -> Any:
    before = str(spark.conf.get("spark.sql.session.timeZone"))
    spark.conf.set("spark.sql.session.timeZone", request.param)
    yield request.param
    spark.conf.set("spark.sql.session.timeZone", before)


CONDITIONS = [
    "year(d) = year(current_date())",
    "trunc(d, 'MM') = trunc(current_date(), 'MM')",
    "date_add(d, 3) > date_sub(current_date(), 4) AND d <= current_date()",
    "date(ts) = current_date()",
    "date(ts) = date(now())",
    "date_format(ts, 'yyyy-MM') = date_format(current_timestamp(), 'yyyy-MM')",
    "unix_timestamp(ts) > unix_timestamp() - 86400 AND unix_timestamp(ts) < unix_timestamp()",
]


def derived(df: DataFrame) -> str:
    (found,) = presieve.explain(df, cost="always").derived
    return found.derived


@pytest.mark.parametrize("condition", CONDITIONS)
def test_what_is_derived_today(recent: DataFrame, zone: str, condition: str) -> None:
    df = recent.where(condition)
    better = presieve.optimize(df, cost="always")
    assert rows(better) == rows(df)
    # Constants of instants are not read back in a zone of this form.
    assert (better is df) == (zone == "GMT-3" and "ts" in condition)
    assert better is df or derived(df).startswith("NOT (current_")


def test_the_texts_of_days(spark: SparkSession, recent: DataFrame) -> None:
    spark.conf.set("spark.sql.session.timeZone", "UTC")
    day = dt.datetime.now(ZoneInfo("UTC")).date()
    assert derived(recent.where("year(d) = year(current_date()) AND year(d) > 2000")) == (
        f"(d >= DATE '2001-01-01') AND (NOT (current_date() = DATE '{day}') OR"
        f" (d >= DATE '{day.year}-01-01' AND d < DATE '{day.year + 1}-01-01'))"
    )


@pytest.mark.parametrize("condition", CONDITIONS)
@pytest.mark.parametrize("days", [-400, -1, 1, 400])
def test_another_day_than_that_of_the_search(
    monkeypatch: pytest.MonkeyPatch, recent: DataFrame, zone: str, condition: str, days: int
) -> None:
    """A DataFrame that is optimized today, and runs so many days later, or before."""
    monkeypatch.setattr(current_times, "day_in", partial(current_times.day_in, days=-days))
    better = presieve.optimize(recent.where(condition), cost="always")
    monkeypatch.undo()
    assert rows(better) == rows(recent.where(condition))
    assert rows(better)


def test_a_filter_that_forgets_its_time_loses_rows(
    monkeypatch: pytest.MonkeyPatch, recent: DataFrame
) -> None:
    function = current_times._FUNCTIONS["CurrentDate"]

    def forgetful(day: current_times.Day) -> current_times.Period:
        past = function.period(replace(day, number=day.number - 400))
        return replace(past, sql="true")

    monkeypatch.setitem(
        current_times._FUNCTIONS, "CurrentDate", replace(function, period=forgetful)
    )
    df = recent.where("year(d) = year(current_date())")
    assert rows(presieve.optimize(df, cost="always")) != rows(df)


def test_functions_that_are_not_known(recent: DataFrame) -> None:
    for condition in ("year(d) = year(localtimestamp())", "concat(d, '') > current_user()"):
        df = recent.where(condition)
        assert presieve.optimize(df, cost="always") is df
