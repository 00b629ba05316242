"""Scalar UDFs get NULL in place of arguments that they do not read."""

from __future__ import annotations

import datetime as dt
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from tests.backend.problems import unread_udfs as udfs
from tests.support.pickling import pickled_by_value
from tests.support.running import optimized_plan, same_rows

from presieve.driver.optimize import explain, optimize
from presieve.lift.python.unread_parameters import unread_parameters

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

pytestmark = pytest.mark.classic("there, scalar UDFs get the arguments as written")
by_value_too = pickled_by_value(udfs)

NAN = float("nan")
SCHEMA = "k int, x double, y bigint, s string, d date"
ROWS: list[tuple[Any, ...]] = [
    (1, 1.5, 3, "é", dt.date(2024, 2, 29)),
    (2, NAN, None, None, None),
    (3, -0.0, -(2**63), "", dt.date(1, 1, 1)),
    (4, None, 2**63 - 1, "a/b", dt.date(9999, 12, 31)),
    (None, 7.0, 0, "y", None),
]


@pytest.fixture(scope="module")
def table(spark: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> DataFrame:
    path = str(tmp_path_factory.mktemp("arguments") / "table.parquet")
    spark.createDataFrame(ROWS, SCHEMA).coalesce(1).write.parquet(path)
    return spark.read.parquet(path)


def called(df: DataFrame, name: str, returns: str, *columns: str, arrow: bool = False) -> DataFrame:
    from pyspark.sql.functions import udf

    make: Any = udf
    function = make(getattr(udfs, name), returns, useArrow=arrow)
    return df.select("k", function(*columns).alias("c")).filter("k > 0")


def columns_read(df: DataFrame) -> str:
    """The columns of the scan."""
    return optimized_plan(df).rsplit("Relation", 1)[0].rsplit("Project", 1)[-1]


UNREAD = [
    ("first", "string", {0}),
    ("neither", "string", set()),
    ("known_first", "double", {0}),
    ("handed_on", "double", {0}),
    ("set_anew", "string", {0, 1}),
    ("of_object", "string", {0}),
    ("tested", "string", {0, 1}),
    ("inside", "string", {1}),
    ("by_name", "string", {0, 1}),
    ("with_rest", "string", {1}),
    ("decorated", "string", {0, 1}),
    ("failing", "double", {0, 1}),
]


@pytest.mark.parametrize("arrow", [False, True])
@pytest.mark.parametrize(("name", "returns", "read"), UNREAD)
def test_arguments(
    table: DataFrame, name: str, returns: str, read: set[int], *, arrow: bool
) -> None:
    df = called(table, name, returns, "x", "s", arrow=arrow)
    better = optimize(df, cost="always", compile="never")
    same_rows(df, better)
    text = optimized_plan(better)
    assert ("null AS" in text or "null)" in text or "(null" in text) == (len(read) < 2), text
    reports = explain(df, cost="always", compile="never").functions
    found = [f for f in reports if f.pruned]
    assert bool(found) == (len(read) < 2)
    for report in found:
        assert report.columns == (len(read), 2)
        assert report.read == tuple("xs"[i] for i in sorted(read))


def test_scans_read_fewer_columns(table: DataFrame) -> None:
    df = called(table, "first", "string", "x", "s")
    text = optimize(df, cost="always")._jdf.queryExecution().executedPlan().toString()
    assert "ReadSchema: struct<k:int,x:double>" in text


def test_a_column_that_is_selected_stays(table: DataFrame) -> None:
    from pyspark.sql.functions import udf

    function = udf(udfs.first, "string")
    df = table.select("k", "s", function("x", "s").alias("c")).filter("k > 0 AND s > ''")
    same_rows(df, optimize(df, cost="always"))


def test_whole_columns(table: DataFrame) -> None:
    """Of integers, the type depends on whether there is a NULL."""
    from pyspark.sql.functions import pandas_udf  # type: ignore[attr-defined]

    make: Any = pandas_udf
    for name, other, read in (("column", "s", 1), ("column_of", "y", 2), ("sized", "s", 2)):
        function = make(getattr(udfs, name), "string")
        df = table.select("k", function("x", other).alias("c")).filter("k > 0")
        same_rows(df, optimize(df, cost="always"))
        reports = [f for f in explain(df, cost="always").functions if f.pruned]
        assert [f.columns for f in reports] == ([(read, 2)] if read < 2 else [])


FIELDS = [
    ("of_row", "string", False, ("x", "s")),
    ("of_attributes", "string", False, ("s",)),
    ("as_dict", "string", False, None),
    ("handed_whole", "string", False, ("s",)),
    ("handed_to_unknown", "string", False, None),
    ("of_table", "double", True, ("x", "y", "k")),
    ("kind_of_integers", "string", True, ("y", "k")),
    ("number_of_columns", "bigint", True, None),
    ("changing_table", "double", True, None),
]


@pytest.mark.parametrize(("name", "returns", "whole", "read"), FIELDS)
def test_fields_of_a_struct(
    table: DataFrame, name: str, returns: str, read: tuple[str, ...] | None, *, whole: bool
) -> None:
    """Integers of a table stay, whose type depends on whether there is a NULL."""
    from pyspark.sql.functions import pandas_udf, struct, udf  # type: ignore[attr-defined]

    make: Any = pandas_udf if whole else udf
    function = make(getattr(udfs, name), returns)
    for arguments in ((struct("*"),), (struct("x", "y", "s", "k"),)):
        df = table.select("k", function(*arguments).alias("c")).filter("k > 0")
        same_rows(df, optimize(df, cost="always"))
        reports = [f for f in explain(df, cost="always", compile="never").functions if f.pruned]
        assert [set(f.read) for f in reports] == ([set(read)] if read else [])


def test_fields_that_a_filter_below_reads(table: DataFrame) -> None:
    """The pre-filter stands between the struct and the call."""
    from pyspark.sql.functions import struct, udf

    function = udf(udfs.level, "string")
    rows = table.select("k", struct("*").alias("r"))
    df = rows.select("k", function("r").alias("c")).filter("c = 'high'")
    asked = rows.filter("r.y > 0").select("k", function("r").alias("c")).filter("c = 'high'")
    whole = rows.filter("hash(r) <> 0").select("k", function("r").alias("c")).filter("c = 'high'")
    for written, read in ((df, {"x"}), (asked, {"x", "y"}), (whole, set())):
        same_rows(written, optimize(written, cost="always", compile="never"))
        report = explain(written, cost="always", compile="never")
        assert report.boundaries[0].kind != "none"
        assert [set(f.read) for f in report.functions if f.pruned] == ([read] if read else [])


def test_a_struct_beside_an_argument(table: DataFrame) -> None:
    """One report says both."""
    from pyspark.sql.functions import struct, udf

    function = udf(udfs.of_both, "string")
    df = table.select("k", function(struct("x", "s"), "d").alias("c")).filter("k > 0")
    same_rows(df, optimize(df, cost="always"))
    for compile_ in ("never", "always"):
        reports = explain(df, cost="always", compile=compile_).functions
        (report,) = (f for f in reports if f.pruned)
        assert report.columns == (2, 4)
        assert "d" not in report.read
        assert "s" in report.read


def test_a_struct_that_is_shown_stays(table: DataFrame) -> None:
    from pyspark.sql.functions import struct, udf

    function = udf(udfs.of_attributes, "string")
    rows = table.select("k", struct("*").alias("r"))
    shown = rows.select("k", "r", function("r").alias("c")).filter("k > 0")
    alone = rows.select("k", function("r").alias("c")).filter("k > 0")
    twice = rows.select("k", function("r").alias("c"), function("r").alias("e")).filter("k > 0")
    for df, pruned in ((shown, False), (alone, True), (twice, False)):
        same_rows(df, optimize(df, cost="always"))
        reports = explain(df, cost="always", compile="never").functions
        assert any(f.pruned for f in reports) == pruned


def test_a_column_that_is_never_null(table: DataFrame) -> None:
    """Of which the function is not known to take a NULL."""
    from pyspark.sql.functions import udf

    never = table.selectExpr("k", "x", "coalesce(y, 0L) AS y", "coalesce(s, '') AS s")
    for name in ("never_none", "compared_with_itself"):
        function = udf(getattr(udfs, name), "double")
        df = never.select("k", function("x", "y").alias("c")).filter("k > 0")
        for compile_ in ("never", "always"):
            same_rows(df, optimize(df, cost="always", compile=compile_))
        assert not any(f.pruned for f in explain(df, cost="always", compile="never").functions)


def test_fields_with_names_of_methods(spark: SparkSession, tmp_path: Path) -> None:
    from pyspark.sql.functions import struct, udf

    rows = [(1, 1, "é"), (2, None, None)]
    with_names = spark.createDataFrame(rows, "k int, count int, index string")
    with_names.write.parquet(str(tmp_path / "named"))
    named = spark.read.parquet(str(tmp_path / "named"))
    for name in ("count_missing", "of_traceback"):
        function = udf(getattr(udfs, name), "string")
        df = named.select("k", function(struct("k", "count", "index")).alias("c")).filter("k > 0")
        same_rows(df, optimize(df, cost="always", compile="never"))


def test_computed_arguments(table: DataFrame) -> None:
    """What computes an argument that is not read may raise; strictly it stays."""
    from pyspark.sql.functions import expr, udf

    function = udf(udfs.first, "string")
    df = table.select("k", function("x", expr("CAST(s AS INT)")).alias("c")).filter("k > 0")
    wide = table.selectExpr("k", "x", "CAST(s AS INT) AS s")
    with_cast = wide.select("k", function("x", "s").alias("c")).filter("k > 0")
    for written in (df, with_cast):
        reports = explain(written, cost="always", policy="strict").functions
        assert not any(f.pruned for f in reports)
    (report,) = (f for f in explain(with_cast, cost="always").functions if f.pruned)
    assert [a["code"] for a in report.assumptions] == ["may-erase-error"]


def test_a_date_that_python_does_not_have(spark: SparkSession, tmp_path: Path) -> None:
    spark.range(1).selectExpr(
        "1 AS k", "2.0D AS x", "date_add(DATE '9999-12-31', 9) AS s"
    ).write.parquet(str(tmp_path / "late"))
    df = called(spark.read.parquet(str(tmp_path / "late")), "first", "string", "x", "s")
    strict = optimize(df, cost="always", policy="strict")
    assert strict is df or "null" not in optimized_plan(strict)


def test_two_calls_in_one_projection(table: DataFrame) -> None:
    from pyspark.sql.functions import udf

    one, other = udf(udfs.first, "string"), udf(udfs.tested, "string")
    df = table.select("k", one("x", "s").alias("a"), other("x", "s").alias("b")).filter("k > 0")
    same_rows(df, optimize(df, cost="always"))
    assert [f.columns for f in explain(df, cost="always").functions if f.pruned] == [(1, 2)]


def test_it_is_optimized_again(table: DataFrame) -> None:
    better = optimize(called(table, "first", "string", "x", "s"), cost="always")
    again = better.filter("c = '1.5'")
    same_rows(again, optimize(again, cost="always"))


def test_a_frame_that_a_call_looks_at() -> None:
    """The names tell."""

    def asks(x: object, s: object) -> str:
        import sys

        return str(sys._getframe(0).f_locals)

    assert unread_parameters(asks) == set()  # type: ignore[arg-type]
