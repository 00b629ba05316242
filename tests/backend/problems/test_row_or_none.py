"""Functions of groups that give a row or none: filters on its values, with and without them."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from tests.support.running import counted, rewritten, untouched

from presieve.driver.optimize import explain, optimize

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

NAN = float("nan")
SCHEMA = "k string, v double, s string, t timestamp_ntz"
RESULT = "k string, v double, s string"
TIMES = [None, *pd.date_range("2024-01-01", periods=6, freq="D").to_pydatetime()]
VALUES = [
    *(("a", 1.0, "x", 1), ("a", 9.0, None, 2), ("a", NAN, "y", 3), ("a", 9.0, "b", 2)),
    *(("b", None, "x", 4), ("b", NAN, "z", 0)),
    *(("c", -0.0, "", 5), ("c", 7.5, "c", 0)),
    *(("d", 12.0, "d", 6), (None, 8.0, "e", 1), (None, 3.0, "f", 6), ("", 20.0, None, 0)),
]


@pytest.fixture(scope="module", params=["spark", "pyarrow"])
def table(
    request: pytest.FixtureRequest, spark: SparkSession, tmp_path_factory: pytest.TempPathFactory
) -> DataFrame:
    path = str(tmp_path_factory.mktemp("groups") / "table.parquet")
    rows = [(k, v, s, TIMES[t]) for k, v, s, t in VALUES]
    if request.param == "spark":
        spark.createDataFrame(rows, SCHEMA).coalesce(1).write.parquet(path)
    else:
        columns = [list(c) for c in zip(*rows, strict=True)]
        types = [pa.string(), pa.float64(), pa.string(), pa.timestamp("us")]
        arrays = [pa.array(c, t) for c, t in zip(columns, types, strict=True)]
        pq.write_table(pa.table(arrays, names=["k", "v", "s", "t"]), path, row_group_size=4)
    return spark.read.parquet(path)


def latest(pdf: Any) -> Any:
    pdf = pdf[pdf["t"].notna()]
    return pdf.sort_values(["t", "s"]).tail(1)[["k", "v", "s"]]


def largest(key: Any, pdf: Any) -> Any:
    pdf = pdf[pdf["v"] > 2]
    if pdf.empty:
        return pd.DataFrame(columns=["k", "v", "s"])
    return pd.DataFrame({"k": [key[0]], "v": [pdf["v"].max()], "s": ["some"]})


def largest_in_a_loop(key: Any, pdf: Any) -> Any:
    best = None
    for r in pdf.itertuples():
        if r.v == r.v and (best is None or r.v > best):
            best = r.v
    if best is None:
        return pd.DataFrame()
    return pd.DataFrame([{"k": key[0], "v": best, "s": None}])


def largest_of_many(key: Any, pdf: Any) -> Any:
    """The wrong twin of ``largest``: whether there is a row depends on rows that are filtered."""
    if len(pdf) < 2:
        return pd.DataFrame(columns=["k", "v", "s"])
    return pd.DataFrame({"k": [key[0]], "v": [pdf["v"].max()], "s": ["some"]})


def grouped(table: DataFrame, function: Callable[..., Any]) -> DataFrame:
    return table.groupBy("k").applyInPandas(function, RESULT)


LARGEST = {
    "v > 7": "v > 7.0D AND NOT isnan(v)",
    "v >= 8 OR v IS NULL": "v >= 8.0D AND NOT isnan(v)",
    "v IS NULL": "false",
    "v > 7 AND s = 'some'": "v > 7.0D AND NOT isnan(v)",
}


@pytest.mark.parametrize("where", LARGEST)
def test_a_filter_on_the_largest_goes_below(table: DataFrame, where: str) -> None:
    boundary = rewritten(grouped(table, largest).filter(where))
    assert boundary.prefilter == LARGEST[where]
    assert boundary.kind == ("empty" if where == "v IS NULL" else "exact")
    assert "gives the row" not in f"{boundary.where} {boundary.residual}"


@pytest.mark.parametrize("where", ["v > 7", "v IS NULL OR v >= 8"])
def test_it_goes_below_a_loop(table: DataFrame, where: str) -> None:
    boundary = rewritten(grouped(table, largest_in_a_loop).filter(where))
    assert boundary.kind == "exact"


@pytest.mark.parametrize("where", ["v < 8", "s = 'x'", "s IS NULL AND v > 1"])
def test_rows_that_would_be_chosen_stay(table: DataFrame, where: str) -> None:
    boundary = rewritten(grouped(table, latest).filter(where))
    assert (boundary.prefilter, boundary.kind) == ("t IS NOT NULL", "partial")
    assert "gives the row" not in f"{boundary.where} {boundary.residual}"


def test_whether_there_is_a_row_may_depend_on_rows_that_a_filter_would_drop(
    table: DataFrame,
) -> None:
    df = grouped(table, largest_of_many).filter("v > 7")
    untouched(df)
    assert counted(grouped(table.filter("v > 7"), largest_of_many)) != counted(df)


def test_such_a_function_stays_in_python(table: DataFrame) -> None:
    report = str(explain(grouped(table, largest).filter("v > 7"), compile="always"))
    assert "[row-count] it gives no row for some groups" in " ".join(report.split())


def with_a_row_of_none(key: Any, pdf: Any) -> Any:
    """What the advice leads to."""
    pdf = pdf[pdf["v"] > 2]
    if pdf.empty:
        return pd.DataFrame({"k": [key[0]], "v": [None], "s": [None]})
    return pd.DataFrame({"k": [key[0]], "v": [pdf["v"].max()], "s": ["some"]})


def test_with_a_row_of_none_it_runs_without_python(table: DataFrame) -> None:
    df = grouped(table, with_a_row_of_none).filter("s IS NOT NULL")
    optimized = optimize(df, compile="always", cost="always")
    assert counted(optimized) == counted(df) == counted(grouped(table, largest))
    assert "InPandas" not in optimized._jdf.queryExecution().optimizedPlan().toString()
