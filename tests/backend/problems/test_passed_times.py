"""Times that a function of tables passes on: they come back from pandas as they were, unless the
session's time zone shows one time for two instants.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from tests.support.running import counted, rewritten, untouched

if TYPE_CHECKING:
    from pathlib import Path

    from pyspark.sql import DataFrame, SparkSession

TEXTS = [
    *("2024-10-26T23:30:00Z", "2024-10-27T00:30:00Z", "2024-10-27T01:30:00Z", None),
    *("1678-01-01T00:00:00Z", "2262-04-01T00:00:00.000001Z", "1970-01-01T00:00:00Z", None),
    "2024-10-27T00:30:00Z",
]
"""In Berlin the second and the third show 02:30."""
LATER = "TIMESTAMP '2024-10-27 01:00:00Z'"


@pytest.fixture(scope="module", params=["spark", "pyarrow"])
def path(
    request: pytest.FixtureRequest, spark: SparkSession, tmp_path_factory: pytest.TempPathFactory
) -> str:
    folder: Path = tmp_path_factory.mktemp("times")
    rows = spark.createDataFrame(list(enumerate(TEXTS)), "n int, text string")
    times = rows.selectExpr(
        "concat('k', n % 3) AS k",
        "CAST(text AS timestamp) AS t",
        "CAST(replace(text, 'Z') AS timestamp_ntz) AS z",
        "CASE WHEN n = 3 THEN 'odd' ELSE concat('{\"q\": ', n, '}') END AS doc",
    )
    if request.param == "spark":
        times.coalesce(1).write.parquet(str(folder / "written"))
        return str(folder / "written")
    stamps = pd.to_datetime(pd.Series(TEXTS), format="ISO8601")
    columns = {
        "k": [f"k{n % 3}" for n in range(len(TEXTS))],
        "t": pa.array(stamps, pa.timestamp("us", "UTC")),
        "z": pa.array(stamps.dt.tz_localize(None), pa.timestamp("us")),
        "doc": ["odd" if n == 3 else json.dumps({"q": n}) for n in range(len(TEXTS))],
    }
    pq.write_table(pa.table(columns), str(folder / "table.parquet"), row_group_size=4)
    return str(folder / "table.parquet")


@pytest.fixture(params=["UTC", "+05:30", "Etc/GMT+5"])
def times(request: pytest.FixtureRequest, spark: SparkSession, path: str) -> Iterator[DataFrame]:
    yield from _in_zone(spark, path, request.param)


@pytest.fixture
def times_in_berlin(spark: SparkSession, path: str) -> Iterator[DataFrame]:
    yield from _in_zone(spark, path, "Europe/Berlin")


def _in_zone(spark: SparkSession, path: str, zone: str) -> Iterator[DataFrame]:
    before = spark.conf.get("spark.sql.session.timeZone") or "UTC"
    spark.conf.set("spark.sql.session.timeZone", zone)
    try:
        yield spark.read.parquet(path)
    finally:
        spark.conf.set("spark.sql.session.timeZone", before)


def with_quantities(batches: Iterator[Any]) -> Iterator[Any]:
    for pdf in batches:
        rows = []
        for k, t, doc in zip(pdf["k"], pdf["t"], pdf["doc"], strict=True):
            try:
                quantity = json.loads(doc)["q"]
            except (TypeError, ValueError):
                continue
            rows.append({"k": k, "t": t, "q": quantity})
        yield pd.DataFrame(rows, columns=["k", "t", "q"])


def tagged(key: Any, pdf: Any) -> Any:
    pdf["r"] = np.arctan(pdf["t"].notna() * 1.0)
    pdf["k"] = key[0]
    return pdf[["k", "t", "z", "r"]]


def shifted(batches: Iterator[Any]) -> Iterator[Any]:
    for pdf in batches:
        pdf["t"] = pdf["t"].fillna(pdf["t"].max())
        yield pdf[["k", "t"]]


@pytest.mark.parametrize(
    "where", [f"t >= {LATER}", f"t < {LATER} AND q > 2", "t = TIMESTAMP '2024-10-27 00:30:00Z'"]
)
def test_instants_that_a_loop_passes_on(times: DataFrame, where: str) -> None:
    df = times.mapInPandas(with_quantities, "k string, t timestamp, q int").filter(where)
    boundary = rewritten(df)
    assert "TIMESTAMP '2024-10-27 0" in boundary.prefilter
    assert "q" not in boundary.prefilter


@pytest.mark.parametrize(
    "where", ["t IS NULL", f"t >= {LATER} AND k = 'k2'", "z < TIMESTAMP_NTZ '2000-01-01 00:00:00'"]
)
def test_times_of_the_rows_of_a_group(times: DataFrame, where: str) -> None:
    result = "k string, t timestamp, z timestamp_ntz, r double"
    df = times.groupBy("k").applyInPandas(tagged, result).filter(where)
    assert rewritten(df).kind == "exact"


def test_times_that_are_filled_from_other_rows(times: DataFrame) -> None:
    """The wrong twin: with the filter below, the rows really are others."""
    result, where = "k string, t timestamp", "k = 'k0'"
    df = times.mapInPandas(shifted, result).filter(where)
    untouched(df)
    assert counted(times.filter(where).mapInPandas(shifted, result)) != counted(df)


def test_where_clocks_are_put_back(times_in_berlin: DataFrame) -> None:
    """The wrong twin: pandas returns another instant, which a filter below does not see."""
    result, where = "k string, t timestamp, q int", f"t < {LATER}"
    df = times_in_berlin.mapInPandas(with_quantities, result).filter(where)
    untouched(df)
    below = times_in_berlin.filter(where).mapInPandas(with_quantities, result)
    assert counted(below) != counted(df)


def test_the_reason_names_the_time_zone(times_in_berlin: DataFrame) -> None:
    df = times_in_berlin.mapInPandas(with_quantities, "k string, t timestamp, q int")
    boundary = untouched(df.filter("t < TIMESTAMP '2024-06-01 00:00:00Z'"))
    assert "in time zone Europe/Berlin" in " ".join(d.reason for d in boundary.declined)
