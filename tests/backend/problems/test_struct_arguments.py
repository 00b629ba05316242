"""Scalar UDFs of a struct that is built of columns: filters on its fields are filters on these."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from pyspark.sql import functions as F
from tests.support.running import counted, rewritten

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

NAN = float("nan")
ROWS: list[tuple[float | None, int | None, str | None]] = [
    *((x, n, s) for x in (None, NAN, -0.0, 0.0, 1.5, -2.0) for n, s in ((1, "a"), (None, "b"))),
    (float("inf"), 2**31 - 1, "a"),
    (-float("inf"), -(2**31), None),
    (1.5, 1, "a"),
]


@pytest.fixture(scope="module", params=["Spark", "pyarrow"])
def rows(
    request: pytest.FixtureRequest, spark: SparkSession, tmp_path_factory: pytest.TempPathFactory
) -> DataFrame:
    path = str(Path(tmp_path_factory.mktemp("structs")) / "t.parquet")
    if request.param == "Spark":
        df = spark.createDataFrame(ROWS, "x double, n int, s string").sort("x").coalesce(1)
        df.write.option("parquet.block.size", 512).parquet(path)
    else:
        table = pa.table(
            {
                "x": pa.array([r[0] for r in ROWS], pa.float64()),
                "n": pa.array([r[1] for r in ROWS], pa.int32()),
                "s": pa.array([r[2] for r in ROWS], pa.string()),
            }
        )
        pq.write_table(table, path, row_group_size=1)
    return spark.read.parquet(path)


def is_valid(row: Any) -> bool:
    if row.x is None or row.n is None:
        return False
    return bool(row.x > 0 and row["n"] > 0 and row.s not in ("b", "c"))


def is_zero(row: Any) -> bool:
    return bool(row.x == 0 and row.n is not None)


def is_not_negative(row: Any) -> bool:
    return row.x is not None and row.x >= 0


def is_known(row: Any) -> bool:
    """By a dict, which is changed."""
    fields = row.asDict()
    if fields.get("s") is None or fields["x"] is None:
        return False
    fields["s"] = fields["s"].strip()
    return bool(fields["s"] == "a" and fields["x"] > 0)


FUNCTIONS: Mapping[Callable[[Any], bool], tuple[str, ...]] = {
    is_valid: ("x", "n", "s"),
    is_zero: ("x", "n"),
    is_known: ("x", "s"),
    is_not_negative: ("x", "n"),
}


@pytest.mark.classic("plans of Spark Connect name no columns of a struct that is built")
@pytest.mark.parametrize("function", FUNCTIONS, ids=lambda f: f.__name__)
def test_fields_are_columns(rows: DataFrame, function: Callable[[Any], bool]) -> None:
    of_row: Any = F.udf(function, "boolean")
    df = rows.withColumn("ok", of_row(F.struct(*FUNCTIONS[function]))).filter("ok")
    boundary = rewritten(df)
    assert boundary.prefilter != "true"
    assert not [d for d in boundary.declined if d.code == "check"]


def test_a_stronger_filter_loses_rows(rows: DataFrame) -> None:
    of_row: Any = F.udf(is_not_negative, "boolean")

    def valid(table: DataFrame) -> DataFrame:
        return table.withColumn("ok", of_row(F.struct("x", "n"))).filter("ok")

    assert counted(valid(rows.filter("x > 0"))) != counted(valid(rows))
