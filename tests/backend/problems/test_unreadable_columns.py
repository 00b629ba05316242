"""Filters of which one conjunct would read, below the function, what must not be computed again."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from tests.support.running import plan_text, same_rows

from presieve.driver.optimize import explain, optimize

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from pyspark.sql import DataFrame, SparkSession

CITIES = ["b ", "B", "c", None, "", "b"]


@pytest.fixture(scope="module")
def trips(spark: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> DataFrame:
    fares = [1.5, -0.0, float("nan"), None, 1e308]
    rows = [(i % 4, CITIES[i % 6], fares[i % 5]) for i in range(40)]
    path = str(tmp_path_factory.mktemp("trips") / "table")
    spark.createDataFrame(rows, "day int, raw string, fare double").coalesce(1).write.parquet(path)
    return spark.read.parquet(path)


def _cleaned(series: Any) -> Any:
    return series.str.strip().str.lower()


def _summary(pdf: Any) -> Any:
    import pandas as pd

    day, city = pdf["day"].iloc[0], pdf["city"].iloc[0]
    return pd.DataFrame({"day": [day], "city": [city], "trips": [len(pdf)]})


def _clean(name: str) -> Callable[..., Any]:
    from pyspark.sql.functions import udf
    from pyspark.sql.pandas.functions import PandasUDFType, pandas_udf

    if name == "pandas":
        return pandas_udf(_cleaned, "string", PandasUDFType.SCALAR)
    return udf(lambda s: None if s is None else s.strip().lower(), "string")


@pytest.mark.parametrize("kind", ["pandas", "scalar"])
def test_the_conjunct_that_may_move_moves(trips: DataFrame, kind: str) -> None:
    cleaned = trips.select("day", _clean(kind)("raw").alias("city"), "fare")
    result = cleaned.groupBy("day", "city").applyInPandas(
        _summary, "day int, city string, trips long"
    )
    df = result.filter("city = 'b' AND day = 3")
    better = optimize(df, cost="always", compile="never")
    same_rows(df, better)
    (boundary, *_) = (b for b in explain(df, cost="always", compile="never").boundaries)
    assert boundary.prefilter == "day = 3"
    assert "(day" in plan_text(better).partition("FlatMapGroupsInPandas")[2]
    assert "city = 'b'" in boundary.residual


@pytest.mark.parametrize("where", ["city = 'b' OR day = 3", "city = 'b'"])
def test_nothing_moves_without_that_column(trips: DataFrame, where: str) -> None:
    cleaned = trips.select("day", _clean("pandas")("raw").alias("city"), "fare")
    result = cleaned.groupBy("day", "city").applyInPandas(
        _summary, "day int, city string, trips long"
    )
    df = result.filter(where)
    same_rows(df, optimize(df, cost="always", compile="never"))
    (boundary, *_) = explain(df, cost="always", compile="never").boundaries
    assert boundary.prefilter == "true"
    assert "may-add-error" in [d.code for d in boundary.declined]


def _per_day(pdf: Any) -> Any:
    import pandas as pd

    return pd.DataFrame({"day": [pdf["day"].iloc[0]], "n": [len(pdf)]})


def _with_fare(batches: Any) -> Any:
    for pdf in batches:
        yield pdf[pdf["fare"] > 0]


DAYS = {"one day": "day = DATE '2026-03-29'", "several": "day IN ('2026-03-29', '2026-10-25')"}
RANGES = {
    "one day": "ts >= TIMESTAMP '2026-03-29 00:00:00Z' AND ts < TIMESTAMP '2026-03-30 00:00:00Z'",
    "several": "((ts >= TIMESTAMP '2026-03-29 00:00:00Z' AND ts < TIMESTAMP '2026-03-30 00:00:00Z')"
    " OR (ts >= TIMESTAMP '2026-10-25 00:00:00Z' AND ts < TIMESTAMP '2026-10-26 00:00:00Z'))",
}


@pytest.fixture(params=["UTC", "Europe/Berlin", "Pacific/Apia"])
def zone(request: pytest.FixtureRequest, spark: SparkSession) -> Iterator[str]:
    before = spark.conf.get("spark.sql.session.timeZone")
    spark.conf.set("spark.sql.session.timeZone", request.param)
    yield request.param
    spark.conf.set("spark.sql.session.timeZone", before or "UTC")


@pytest.mark.parametrize("days", DAYS)
@pytest.mark.classic("Spark Connect shows no plan of the conditions below a function")
def test_a_day_computed_between_two_functions_is_a_range_of_times_below_both(
    spark: SparkSession, tmp_path: Path, days: str, zone: str
) -> None:
    """The second function passes the time on, and the first one is grouped by its day."""
    from pyspark.sql import functions as F

    times = spark.range(400).selectExpr(
        "TIMESTAMP '2026-03-28 00:00:00' + id * INTERVAL '13' HOUR AS ts",
        "CASE id % 5 WHEN 0 THEN NULL WHEN 1 THEN double('NaN') WHEN 2 THEN -0.0D ELSE 1D END"
        " AS fare",
    )
    rows = times.union(spark.sql("SELECT CAST(NULL AS TIMESTAMP), 2D")).coalesce(1)
    rows.write.parquet(str(tmp_path / "t"))
    passed = spark.read.parquet(str(tmp_path / "t")).mapInPandas(
        _with_fare, "ts timestamp, fare double"
    )
    by_day = passed.withColumn("day", F.to_date("ts")).groupBy("day")
    df = by_day.applyInPandas(_per_day, "day date, n long").filter(DAYS[days])
    better = optimize(df, cost="always", compile="never")
    same_rows(df, better)
    assert df.count() > 0
    boundaries = explain(df, cost="always", compile="never").boundaries
    (passing,) = (b for b in boundaries if b.function == "_with_fare")
    if zone == "UTC":
        assert passing.prefilter.startswith(RANGES[days])
    else:
        assert passing.prefilter == "true"  # pandas may give another time back there
