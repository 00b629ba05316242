"""Filters of which one conjunct would read, below the function, what must not be computed again."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from tests.support.running import plan_text, same_rows

from presieve.driver.optimize import explain, optimize

if TYPE_CHECKING:
    from collections.abc import Callable

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
