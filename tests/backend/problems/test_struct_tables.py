"""Filters on what scalar pandas UDFs compute of a struct, which they get as a table."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from tests.backend.problems import struct_table_udfs as udfs
from tests.support.batches import small_batches
from tests.support.running import rewritten, same_rows, untouched
from tests.support.spark_version import is_before

from presieve.driver.optimize import optimize

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

SCHEMA = "s struct<a: int, b: bigint, x: double, t: string>, y double, id int"
ROWS: list[tuple[Any, ...]] = [
    ((80, 2**53 + 1, 2.0, "a"), 1.0, 0),
    ((None, None, None, None), 2.0, 1),
    (None, None, 2),
    ((75, 0, math.nan, "b"), math.nan, 3),
    ((74, -1, -0.0, ""), -0.0, 4),
    ((-(2**31), 2**63 - 1, 1e308, "c"), 0.0, 5),
    ((100, 7, 3.5, "b"), None, 6),
]


@pytest.fixture(scope="module", params=["spark", "pyarrow"])
def table(
    request: pytest.FixtureRequest, spark: SparkSession, tmp_path_factory: pytest.TempPathFactory
) -> DataFrame:
    path = str(tmp_path_factory.mktemp("tables") / "table.parquet")
    if request.param == "spark":
        spark.createDataFrame(ROWS, SCHEMA).coalesce(1).write.parquet(path)
    else:
        names = ("a", "b", "x", "t")
        types = (pa.int32(), pa.int64(), pa.float64(), pa.string())
        struct = pa.struct(list(zip(names, types, strict=True)))
        structs = [None if s is None else dict(zip(names, s, strict=True)) for s, _, _ in ROWS]
        columns = {
            "s": pa.array(structs, struct),
            "y": pa.array([y for _, y, _ in ROWS], pa.float64()),
            "id": pa.array([i for *_, i in ROWS], pa.int32()),
        }
        pq.write_table(pa.table(columns), path, row_group_size=3)
    return spark.read.parquet(path)


@pytest.fixture(scope="module", autouse=True)
def batches_of_two_rows(spark: SparkSession) -> Iterator[None]:
    with small_batches(spark):
        yield


def called(table: DataFrame, name: str, returns: str, *columns: str) -> DataFrame:
    from pyspark.sql.functions import pandas_udf  # type: ignore[attr-defined]

    make: Any = pandas_udf
    return table.withColumn("r", make(getattr(udfs, name), returns)(*columns))


READ = [
    ("of_text", "double", "r > 2", "s.t = 'b'"),
    ("of_text", "double", "r < 2", "s.t IS NULL OR s.t <> 'b'"),
    ("old", "string", "r = 'old'", "s.a >= 75"),
    ("old", "string", "r = 'young'", "s.a IS NULL OR s.a < 75"),
    ("batches", "double", "r > 6", "NOT isnan(s.x) AND s.x > 3.0D"),
    ("batches", "double", "r IS NULL", "s.x IS NULL OR isnan(s.x)"),
    ("of_null", "boolean", "r", "s.t IS NULL AND (s.x IS NULL OR isnan(s.x))"),
]


@pytest.mark.parametrize(("name", "returns", "where", "below"), READ)
def test_fields_are_columns_of_the_table(
    table: DataFrame, name: str, returns: str, where: str, below: str
) -> None:
    """A struct that is NULL has NULL in all fields."""
    df = called(table, name, returns, "s")
    same_rows(df, optimize(df, cost="always"))
    assert rewritten(df.filter(where)).prefilter == below
    assert df.filter(where).count() == table.filter(below).count()


def test_arithmetic_of_fields(table: DataFrame) -> None:
    df = called(table, "total", "double", "s").filter("r > 100")
    if is_before("4.2"):
        below = rewritten(df).prefilter
        assert "s.x" in below
        assert "s.a" in below
    else:  # texts beside integers with NULL: they are of a type of pandas' own
        untouched(df)


def test_a_struct_and_a_column(table: DataFrame) -> None:
    df = called(table, "with_other", "double", "s", "y")
    assert "s.x" in rewritten(df.filter("r > 2")).prefilter
    same_name = table.withColumnRenamed("y", "x")
    untouched(called(same_name, "with_other", "double", "s", "x").filter("r > 2"))


def test_integers_that_are_doubles_beside_a_null_are_in_one_batch(table: DataFrame) -> None:
    """They are rounded, so that another row of the batch decides about this one."""
    alone = table.selectExpr("struct(s.b) AS s", "id")
    df = called(alone, "beyond", "boolean", "s").filter("r")
    same_rows(df, optimize(df, cost="always"))
    untouched(df)


def test_structs_that_are_made_of_columns(table: DataFrame) -> None:
    df = table.selectExpr("struct(y AS x, id AS a, CAST(id AS STRING) AS t) AS s", "id")
    report = rewritten(called(df, "batches", "double", "s").filter("r > 1"))
    assert report.prefilter == "NOT isnan(s.x) AND s.x > 0.5D"


def test_other_rows_of_the_batch_count(table: DataFrame) -> None:
    untouched(called(table, "of_rows", "double", "s").filter("r = 0"))


def test_a_comparison_of_the_field_keeps_other_rows(table: DataFrame) -> None:
    """The wrong twin: pandas makes NaN of NULL, and Spark puts NaN above all numbers."""
    df = called(table, "batches", "double", "s")
    assert df.filter("r > 6").count() != table.filter("s.x > 3").count()
    assert df.filter("id = 2").collect()[0].r is None
