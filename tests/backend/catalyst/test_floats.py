"""Columns of 32-bit floats: declined as they are, and understood once they are cast to double."""

from __future__ import annotations

import math
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from tests.support.games.pipelines import agg
from tests.support.running import rewritten, safe, untouched

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

VALUES = [
    *(0.1, 90.0, 90.1, -0.0, 0.0, 16777216.0, 3.4028234663852886e38, 1e-45, -1e-45),
    *(math.inf, -math.inf, math.nan, None),
]


@pytest.fixture(scope="module")
def floats(
    spark: SparkSession, by_value: None, tmp_path_factory: pytest.TempPathFactory
) -> DataFrame:
    """Each value in a file and a group of its own, many times over, and all in one group."""
    path = str(Path(tmp_path_factory.mktemp("floats")) / "t")
    rows = [(team, v) for i, v in enumerate(VALUES) for team in [f"t{i}"] * 50 + ["all"]]
    for i in range(len(VALUES)):
        part = spark.createDataFrame(rows[i * 51 : i * 51 + 51], "team string, f float")
        part.coalesce(1).write.mode("append").parquet(path)
    return spark.read.parquet(path)


def test_a_float_column_is_declined(floats: DataFrame) -> None:
    boundary = untouched(agg(floats, "top", "double", "f").filter("m >= 90"))
    assert boundary.declined[0].code == "column-type"
    assert "cast it to double" in boundary.declined[0].reason


def test_cast_below_it_reaches_the_scan(floats: DataFrame) -> None:
    cast = floats.selectExpr("team", "CAST(f AS double) AS score")
    boundary = rewritten(agg(cast, "top", "double", "score").filter("m >= 90"))
    assert any("GreaterThanOrEqual(f,90.0)" in p for p in boundary.pushed_to_scan)


@pytest.mark.parametrize(
    "where", ["m > 0.1D", "m >= 0.10000000149011612D", "m > 90.1D", "m > 16777217", "m >= 1e39"]
)
def test_constants_between_two_floats(floats: DataFrame, where: str) -> None:
    cast = floats.selectExpr("team", "CAST(f AS double) AS score")
    safe(agg(cast, "top", "double", "score").filter(where))
