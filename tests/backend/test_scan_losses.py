"""Filters below windows and limits, over files whose statistics omit NaN: no row is lost."""

from __future__ import annotations

import math
from pathlib import Path
from typing import TYPE_CHECKING

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import presieve

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

QUERIES = {
    "row_number": "SELECT *, row_number() OVER (PARTITION BY k ORDER BY x DESC) AS n FROM {t}",
    "rank": "SELECT *, rank() OVER (PARTITION BY k ORDER BY x DESC) AS n FROM {t}",
    "limit": "SELECT * FROM {t} ORDER BY x DESC LIMIT 3",
}


@pytest.mark.parametrize("name", QUERIES)
def test_nan_is_above_the_bound(spark: SparkSession, tmp_path: Path, name: str) -> None:
    table = pa.table({"k": [1, 1, 2], "x": [math.nan, 1.0, 2.0]})
    pq.write_table(table, tmp_path / "nan.parquet")
    view = spark.read.parquet(str(tmp_path / "nan.parquet"))
    view.createOrReplaceTempView("scan_losses")
    df = spark.sql(f"SELECT * FROM ({QUERIES[name].format(t='scan_losses')}) WHERE x > 5")
    better = presieve.optimize(df, cost="always")
    assert len(df.collect()) == 1
    assert str(better.collect()) == str(df.collect())
