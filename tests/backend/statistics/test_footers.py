"""Footers speak of columns that come out of the files as they stand there, and of no others."""

from __future__ import annotations

import datetime as dt
import importlib
from decimal import Decimal
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pandas as pd
import pytest
from tests.support.running import safe, same_rows

from presieve.backend.classic.gateway import ClassicGateway
from presieve.backend.statistics import footers
from presieve.driver.optimize import explain, optimize

pytestmark = pytest.mark.classic("files of a server are not read")

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession


def high(k: pd.Series) -> int:
    """How many are above 10, one by one. What is not is, where pandas has a NaN for a NULL, one."""
    n = 0
    for v in k:
        if not v <= 10:
            n += 1
    return n


def pipeline(df: DataFrame) -> DataFrame:
    pandas_udf: Any = importlib.import_module("pyspark.sql.functions").pandas_udf
    return df.groupBy("g").agg(pandas_udf(high, "bigint")("k").alias("m")).filter("m >= 1")


def by_footers(df: DataFrame) -> bool:
    """Whether footers say of ``k`` that it has no NULL; the rows are the same in any case."""
    better = optimize(df, cost="always", policy="strict")
    if better is not df:
        same_rows(df, better)
    (boundary,) = explain(df, cost="always").boundaries
    return any(d["by"] == "Parquet footers" for d in boundary.discharged)


def write(path: Path, name: str = "part.parquet", **columns: Any) -> None:
    import pyarrow as pa
    import pyarrow.parquet as pq

    path.mkdir(parents=True, exist_ok=True)
    pq.write_table(pa.table(columns), path / name)


def longs(*values: int | None) -> Any:
    import pyarrow as pa

    return pa.array(values, pa.int64())


def test_a_column_of_the_files(spark: SparkSession, tmp_path: Path) -> None:
    write(tmp_path, g=longs(1, 1, 2), k=longs(3, 20, 4))
    assert by_footers(pipeline(spark.read.parquet(str(tmp_path))))


@pytest.mark.parametrize(
    ("how", "known"),
    [
        *(("inner", True), ("left", False), ("right", True), ("full", False)),
        *(("leftsemi", None), ("cross", True)),
    ],
)
def test_a_column_of_a_side_of_a_join(
    spark: SparkSession, tmp_path: Path, how: str, known: bool | None
) -> None:
    """Rows come any number of times, and NULLs stand for those that are not there."""
    write(tmp_path / "a", g=longs(1, 1, 2, 4), x=longs(1, 2, 3, 4))
    write(tmp_path / "b", h=longs(1, 1, 2, 5), k=longs(3, 20, 4, 7))
    a, b = (spark.read.parquet(str(tmp_path / name)) for name in ("a", "b"))
    both = a.crossJoin(b) if how == "cross" else a.join(b, a.g == b.h, how)
    if known is None:
        both, known = both.withColumnRenamed("x", "k"), True
    assert by_footers(pipeline(both)) is known
    assert by_footers(pipeline(both.distinct())) is False


def test_rows_of_joins(spark: SparkSession, tmp_path: Path) -> None:
    write(tmp_path / "a", g=longs(1, 1, 2, 4))
    write(tmp_path / "none", h=longs())
    a, none = (spark.read.parquet(str(tmp_path / name)) for name in ("a", "none"))
    other = a.withColumnRenamed("g", "i")
    for df, most in (
        (a.crossJoin(other), 16),
        (a.join(other.filter("i > 1"), a.g == other.i, "left"), 16),
        (a.join(none, a.g == none.h, "left"), 4),
        (a.join(none, a.g == none.h, "full"), None),
        (a.union(a), None),
    ):
        gateway = ClassicGateway(spark)
        plan = gateway.analyze_plan(df)
        found = footers.rows(gateway, plan, gateway.tree(plan))
        assert found == most
        assert found is None or df.count() <= found


def test_a_partition_column_that_the_files_have_too(spark: SparkSession, tmp_path: Path) -> None:
    write(tmp_path / "k=__HIVE_DEFAULT_PARTITION__", g=longs(1, 1, 2), k=longs(1, 2, 3))
    write(tmp_path / "k=20", g=longs(3, 3), k=longs(5, 6))
    assert not by_footers(pipeline(spark.read.parquet(str(tmp_path))))


@pytest.mark.parametrize("directory", ["K=__HIVE_DEFAULT_PARTITION__", "K=7"])
def test_a_partition_column_of_another_case(
    spark: SparkSession, tmp_path: Path, directory: str
) -> None:
    write(tmp_path / directory, g=longs(1, 1, 2), k=longs(1, 2, 3))
    write(tmp_path / "K=20", g=longs(3, 3), k=longs(5, 6))
    assert not by_footers(pipeline(spark.read.parquet(str(tmp_path))))


def test_a_partition_column_of_a_table(spark: SparkSession, tmp_path: Path) -> None:
    rows = "(1L, NULL), (1L, 4L), (2L, 20L)"
    table = "footers_partitioned"
    spark.sql(f"CREATE TABLE {table} (g BIGINT, k BIGINT) USING parquet PARTITIONED BY (k)")
    try:
        spark.sql(f"INSERT INTO {table} VALUES {rows}")
        assert not by_footers(pipeline(spark.table(table)))
    finally:
        spark.sql(f"DROP TABLE {table}")


@pytest.mark.parametrize("case", ["true", "false"])
def test_names_of_another_case(spark: SparkSession, tmp_path: Path, case: str) -> None:
    write(tmp_path, g=longs(1, 1, 2), K=longs(3, None, 20), k=longs(3, 20, 30))
    before = spark.conf.get("spark.sql.caseSensitive")
    try:
        spark.conf.set("spark.sql.caseSensitive", case)
        df = spark.read.schema("g bigint, K bigint").parquet(str(tmp_path))
        one = df.withColumnRenamed("K", "k") if case == "true" else df.selectExpr("g", "K AS k")
        if case == "true":
            assert not by_footers(pipeline(one))
        else:  # Spark refuses to read such files
            found = explain(pipeline(one)).boundaries
            assert not any(d["by"] == "Parquet footers" for b in found for d in b.discharged)
    finally:
        spark.conf.set("spark.sql.caseSensitive", str(before))


def test_a_file_whose_column_is_of_another_case(spark: SparkSession, tmp_path: Path) -> None:
    write(tmp_path, g=longs(1, 1, 2), K=longs(3, None, 20))
    assert not by_footers(pipeline(spark.read.schema("g bigint, k bigint").parquet(str(tmp_path))))


def test_columns_by_field_id(spark: SparkSession, tmp_path: Path) -> None:
    import pyarrow as pa
    import pyarrow.parquet as pq
    from pyspark.sql.types import LongType, StructField, StructType

    def field(name: str, number: int) -> Any:
        return pa.field(name, pa.int64(), metadata={b"PARQUET:field_id": str(number).encode()})

    # By number, column k is what the file calls other.
    schema = pa.schema([field("g", 1), field("k", 3), field("other", 2)])
    columns = [longs(1, 1, 2), longs(3, 4, 5), longs(None, 5, 20)]
    table = pa.table(dict(zip(schema.names, columns, strict=True)), schema=schema)
    pq.write_table(table, tmp_path / "t.parquet")
    read = StructType(
        [
            StructField("g", LongType(), True, {"parquet.field.id": 1}),
            StructField("k", LongType(), True, {"parquet.field.id": 2}),
        ]
    )
    spark.conf.set("spark.sql.parquet.fieldId.read.enabled", "true")
    try:
        df = spark.read.schema(read).parquet(str(tmp_path))
        assert {r.k for r in df.collect()} == {None, 5, 20}
        assert not by_footers(pipeline(df))
    finally:
        spark.conf.unset("spark.sql.parquet.fieldId.read.enabled")


def test_a_column_that_some_files_lack(spark: SparkSession, tmp_path: Path) -> None:
    write(tmp_path, "a.parquet", g=longs(1, 1, 2), k=longs(3, 20, 4))
    write(tmp_path, "b.parquet", g=longs(2, 5))
    assert not by_footers(pipeline(spark.read.option("mergeSchema", "true").parquet(str(tmp_path))))


def test_a_narrower_type_in_the_file(spark: SparkSession, tmp_path: Path) -> None:
    import pyarrow as pa

    write(tmp_path, g=longs(1, 1, 2), k=pa.array([3, 20, 4], pa.int32()))
    assert by_footers(pipeline(spark.read.schema("g bigint, k bigint").parquet(str(tmp_path))))


def test_a_field_of_a_struct_that_is_called_like_a_column(
    spark: SparkSession, tmp_path: Path
) -> None:
    import pyarrow as pa

    inner = pa.array([{"b": 1}, {"b": 2}, {"b": 3}], pa.struct([("b", pa.int64())]))
    write(tmp_path, g=longs(1, 1, 2), a=inner, **{"a.b": longs(None, 3, 20)})
    df = spark.read.parquet(str(tmp_path)).selectExpr("g", "`a.b` AS k")
    assert not by_footers(pipeline(df))


def test_files_without_statistics(spark: SparkSession, tmp_path: Path) -> None:
    import pyarrow as pa
    import pyarrow.parquet as pq

    table = pa.table({"g": longs(1, 1, 2), "k": longs(3, 20, 4)})
    pq.write_table(table, tmp_path / "t.parquet", write_statistics=False)
    assert not by_footers(pipeline(spark.read.parquet(str(tmp_path))))


def test_a_default_of_the_table(spark: SparkSession) -> None:
    table = "footers_default"
    spark.sql(f"CREATE TABLE {table} (g BIGINT) USING parquet")
    try:
        spark.sql(f"INSERT INTO {table} VALUES (1L), (2L)")
        spark.sql(f"ALTER TABLE {table} ADD COLUMN (k BIGINT DEFAULT 20)")
        spark.sql(f"INSERT INTO {table} VALUES (3L, 4L)")
        assert not by_footers(pipeline(spark.table(table)))
    finally:
        spark.sql(f"DROP TABLE {table}")


def test_days_that_are_read_as_moments(spark: SparkSession, tmp_path: Path) -> None:
    """Python has days to the year 9999, and pandas moments to 2262."""
    import pyarrow as pa

    def last(pdf: pd.DataFrame) -> pd.DataFrame:
        best = None
        for t in pdf["t"]:
            if best is None or t > best:
                best = t
        return pd.DataFrame({"m": [best]})

    days = pa.array([dt.date(2020, 1, 1), dt.date(2500, 1, 1)])
    write(tmp_path, g=longs(1, 2), t=days)
    read = spark.read.schema("g bigint, t timestamp_ntz").parquet(str(tmp_path))
    df = read.groupBy("g").applyInPandas(last, "m timestamp_ntz")
    df = df.filter("m > timestamp_ntz'2400-01-01'")
    assert optimize(df, policy="strict", declare="t IS NOT NULL") is df


def test_metadata_of_files(spark: SparkSession, tmp_path: Path) -> None:
    write(tmp_path, g=longs(1, 1, 2), k=longs(3, 20, 4), row_index=longs(1, 2, 3))
    df = spark.read.parquet(str(tmp_path)).selectExpr("g", "_metadata.row_index AS k")
    safe(pipeline(df))
    assert not by_footers(pipeline(df))


@pytest.mark.parametrize(("type_", "fits"), [("integer", True), ("short", True), ("byte", False)])
def test_extremes_that_the_type_does_not_have(tmp_path: Path, type_: str, fits: bool) -> None:
    """Spark reads the 300 of a file as a tinyint of 44, of which its extremes say nothing."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    write(tmp_path, k=pa.array([300, None], pa.int32()))
    column = pq.read_metadata(tmp_path / "part.parquet").row_group(0).column(0)
    assert footers._extremes_fit([], column.statistics, type_) is fits


def total(k: pd.Series) -> int:
    return int(k.sum())


def how_many(k: pd.Series) -> int:
    n = 0
    for v in k:
        if v >= 3:
            n += 1
    return n


SUMS = [
    (total, "bigint", [1, 2, 300], True),
    (total, "bigint", [1, 2, 2**51], True),
    (total, "bigint", [1, 2, 2**52], False),
    (total, "int", [1, 2, 2**29], True),
    (total, "int", [1, 2, 2**30], False),
    (total, "int", [1, 2, -(2**30)], False),
    (how_many, "int", [1, 2, 2**62], True),
]


@pytest.mark.parametrize(("function", "type_", "values", "fits"), SUMS)
def test_sums_and_counts_that_fit(
    spark: SparkSession, tmp_path: Path, function: Any, type_: str, values: list[int], fits: bool
) -> None:
    """Of so many rows with such values: the file has three."""
    pandas_udf: Any = importlib.import_module("pyspark.sql.functions").pandas_udf
    write(tmp_path, g=longs(1, 1, 2), k=longs(*values))
    df = spark.read.parquet(str(tmp_path))
    df = df.groupBy("g").agg(pandas_udf(function, type_)("k").alias("m")).filter("m > 0")
    same_rows(df, optimize(df, cost="always"))
    (boundary,) = explain(df, cost="always").boundaries
    assert (boundary.kind != "none") is fits
    assert not fits or any(d["code"] == "int-range" for d in boundary.discharged)


def test_more_rows_than_the_files_have(spark: SparkSession, tmp_path: Path) -> None:
    """A generator or a join may give a row many times: the files say nothing of that."""
    pandas_udf: Any = importlib.import_module("pyspark.sql.functions").pandas_udf
    write(tmp_path, g=longs(1, 1, 2), k=longs(1, 2, 2**40))
    table = spark.read.parquet(str(tmp_path))
    for df in (
        table.selectExpr("g", "k", "explode(array(1, 2, 3)) AS x"),
        table.join(spark.range(3).withColumnRenamed("id", "g"), "g"),
        table.unionAll(table),
    ):
        found = df.groupBy("g").agg(pandas_udf(total, "bigint")("k").alias("m")).filter("m > 0")
        (boundary,) = explain(found, cost="always").boundaries
        assert not any(d["code"] == "int-range" for d in boundary.discharged)
        safe(found)


def top(k: pd.Series) -> float:
    best = 0.0
    for v in k:
        if not v <= best:
            best = v
    return best


@pytest.mark.parametrize(
    ("column", "shown"),
    [
        ("CAST(k AS double)", True),
        ("CAST(CAST(k AS decimal(20,0)) AS double)", False),
        ("CAST(CAST(k AS string) AS double)", False),
        ("CAST(k AS double) / 0.5D", False),
        ("CAST(d AS double)", False),
        ("d", False),
    ],
)
def test_doubles_that_are_cast(
    spark: SparkSession, tmp_path: Path, column: str, shown: bool
) -> None:
    """What is cast from integers is never NaN, and NULL where they are."""
    pandas_udf: Any = importlib.import_module("pyspark.sql.functions").pandas_udf
    write(tmp_path, g=longs(1, 1, 2), k=longs(1, 2, 300), d=[1.0, float("nan"), 3.0])
    df = spark.read.parquet(str(tmp_path)).selectExpr("g", f"{column} AS k")
    df = df.groupBy("g").agg(pandas_udf(top, "double")("k").alias("m")).filter("m > 2")
    same_rows(df, optimize(df, cost="always"))
    (boundary,) = explain(df, cost="always").boundaries
    assert any("a cast below" in d["by"] for d in boundary.discharged) is shown


@pytest.mark.parametrize(("cell", "shown"), [("12345.00", True), (None, False)])
def test_decimals(spark: SparkSession, tmp_path: Path, cell: str | None, shown: bool) -> None:
    """Where no decimal has more digits than its type, none is read as NULL."""
    import pyarrow as pa

    pandas_udf: Any = importlib.import_module("pyspark.sql.functions").pandas_udf
    cells = [Decimal("1.00"), Decimal(cell) if cell else None]
    write(tmp_path, g=longs(1, 1), k=pa.array(cells, pa.decimal128(10, 2)))
    df = spark.read.parquet(str(tmp_path)).selectExpr("g", "CAST(k AS double) AS k")
    df = df.groupBy("g").agg(pandas_udf(top, "double")("k").alias("m")).filter("m > 2")
    same_rows(df, optimize(df, cost="always"))
    (boundary,) = explain(df, cost="always").boundaries
    assert any("Parquet footers" in d["by"] for d in boundary.discharged) is shown


@pytest.mark.parametrize(
    ("cast", "cells", "shown"),
    [
        ("bigint", ["-3.99", "20.50", "4.00"], True),
        ("int", ["-3.99", "20.50", "4.00"], False),
        ("bigint", ["-3.99", None, "4.00"], True),
        ("double", ["-3.99", "20.50", "4.00"], False),
    ],
)
def test_decimals_that_are_cast_to_integers(
    spark: SparkSession, tmp_path: Path, cast: str, cells: list[str | None], shown: bool
) -> None:
    """All digits before the point fit, or else nothing is known."""
    import pyarrow as pa

    pandas_udf: Any = importlib.import_module("pyspark.sql.functions").pandas_udf
    values = pa.array([c and Decimal(c) for c in cells], pa.decimal128(12, 2))
    write(tmp_path, g=longs(1, 1, 2), k=values)
    column = "k" if cast == "bigint" else f"CAST(k AS {cast})"
    df = spark.read.parquet(str(tmp_path)).selectExpr("g", f"CAST({column} AS bigint) AS k")
    made = df.groupBy("g").agg(pandas_udf(total, "bigint")("k").alias("m")).filter("m > 0")
    same_rows(made, optimize(made, cost="always"))
    (boundary,) = explain(made, cost="always").boundaries
    assert any(d["code"] == "int-range" for d in boundary.discharged) is shown


def test_extremes_of_decimals_are_cut_off() -> None:
    met: list[int] = []

    class Extremes:
        has_min_max, has_null_count, null_count = True, True, 0
        min_raw, max_raw = -399, 2050

        class logical_type:
            @staticmethod
            def to_json() -> str:
                return '{"Type": "Decimal", "precision": 12, "scale": 2}'

    assert footers._extremes_fit(met, Extremes(), "decimal(12,2)")
    assert met == [-3, 20]


@pytest.mark.parametrize(("times", "fits"), [(1, True), (2, False)])
def test_a_file_that_is_read_twice(
    spark: SparkSession, tmp_path: Path, times: int, fits: bool
) -> None:
    """It has twice as many rows: three such numbers add up to less than 2^31, and six do not."""
    pandas_udf: Any = importlib.import_module("pyspark.sql.functions").pandas_udf
    write(tmp_path, g=longs(1, 1, 2), k=longs(1, 2, 2**29))
    table = spark.read.parquet(*[str(tmp_path)] * times)
    assert table.count() == 3 * times
    df = table.groupBy("g").agg(pandas_udf(total, "int")("k").alias("m")).filter("m > 0")
    same_rows(df, optimize(df, cost="always"))
    (boundary,) = explain(df, cost="always").boundaries
    assert (boundary.kind != "none") is fits
