"""Functions of tables are handed the columns that they need, and no others."""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pandas as pd
import pytest
from tests.backend.problems import column_udfs as udfs
from tests.support.pickling import pickled_by_value
from tests.support.running import counted, is_connect, plan_text, same_rows

from presieve.driver.optimize import explain, optimize
from presieve.report.report_data import FunctionReport

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

SCHEMA = "k string, x double, y bigint, s string, t timestamp, z double"
RESULT = "k string, m double"
NAMES = [c.split()[0] for c in SCHEMA.split(", ")]
NAN = float("nan")
MOMENT = dt.datetime(2024, 3, 31, 2, 30)
ROWS: list[tuple[Any, ...]] = [
    ("a", 1.5, 3, "é", MOMENT, 1.0),
    ("a", NAN, 2**53 + 1, None, None, None),
    ("a", -0.0, 3, "", MOMENT, NAN),
    ("b", None, -(2**63), "x", MOMENT, 0.5),
    ("b", 9.0, 2**63 - 1, "x", MOMENT, 0.5),
    ("b", 9.0, 2**63 - 1, "x", MOMENT, 0.5),
    (None, 7.0, 5, "y", None, 2.0),
    ("", 0.0, 0, None, MOMENT, None),
]

by_value_too = pickled_by_value(udfs)


@pytest.fixture(scope="module")
def wide(spark: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> DataFrame:
    path = str(tmp_path_factory.mktemp("columns") / "wide.parquet")
    spark.createDataFrame(ROWS, SCHEMA).coalesce(1).write.parquet(path)
    return spark.read.parquet(path)


def grouped(df: DataFrame, function: Callable[..., Any]) -> DataFrame:
    return df.groupBy("k").applyInPandas(function, RESULT)


def pruned(df: DataFrame, **options: Any) -> FunctionReport:
    """The report of the one function, after the DataFrame with fewer columns gave the same rows."""
    better = optimize(df, **options)
    assert better is not df, explain(df, **options)
    same_rows(df, better)
    report = explain(df, **options)
    assert report.changed
    (function,) = report.functions
    assert function.pruned
    return function


def kept(df: DataFrame, **options: Any) -> FunctionReport:
    """The report of the one function, which is handed all columns."""
    assert optimize(df, **options) is df
    (function,) = explain(df, **options).functions
    assert not function.pruned
    return function


@pytest.mark.parametrize("function", udfs.NARROW, ids=lambda f: f.__name__)
def test_what_is_not_read_is_not_handed_over(wide: DataFrame, function: Callable[..., Any]) -> None:
    df = grouped(wide, function)
    found = pruned(df)
    read = udfs.NARROW[function].split()
    assert list(found.read) == read
    assert found.columns == (len(read), len(NAMES))
    schema = plan_text(optimize(df)).split("ReadSchema: struct<")[1].split(">")[0]
    assert [field.split(":")[0] for field in schema.split(",")] == read
    assert f"reads {len(read)} of {len(NAMES)}" in str(explain(df))


@pytest.mark.parametrize("function", udfs.WIDE, ids=lambda f: f.__name__)
def test_what_can_be_seen_is_handed_over(wide: DataFrame, function: Callable[..., Any]) -> None:
    """And without the columns that the function does not name, it really gives something else."""
    found = kept(grouped(wide, function))
    assert found.columns in (None, (len(NAMES), len(NAMES)))
    assert [n for n in found.notes if n.subject == "columns"] or found.declined
    differs = False
    for _, pdf in pd.DataFrame(ROWS, columns=NAMES).groupby("k", dropna=False):
        pdf = pdf.astype({"x": float, "z": float, "y": "int64"}).reset_index(drop=True)
        whole = function((pdf["k"].iloc[0],), pdf)
        for column in ("s", "t", "z", "x"):
            try:
                part = function((pdf["k"].iloc[0],), pdf.drop(columns=column))
            except (KeyError, IndexError):
                part = None
            differs = differs or part is None or not whole.equals(part)
    assert differs


def test_what_outlives_the_call_is_handed_over(wide: DataFrame) -> None:
    found = kept(grouped(wide, udfs.remembers))
    assert [e.subject for e in found.effects] == ["state"]


def test_grouping_columns_stay(wide: DataFrame) -> None:
    df = wide.groupBy("k", "s").applyInPandas(udfs.median, RESULT)
    assert pruned(df).read == ("k", "x", "s")


def test_grouping_by_an_expression(wide: DataFrame) -> None:
    df = wide.groupBy((wide.y % 2).alias("g")).applyInPandas(udfs.median, "k bigint, m double")
    assert pruned(df).read == ("x",)


def test_with_a_filter_on_the_key(wide: DataFrame) -> None:
    df = grouped(wide, udfs.median).filter("k > ''")
    pruned(df)
    report = explain(df)
    assert report.boundaries[0].kind == "exact"
    assert report.boundaries[0].columns == (2, 6)
    assert report.boundaries[0].keys == ("k",)


def test_batches_of_rows_by_themselves(wide: DataFrame) -> None:
    found = pruned(wide.mapInPandas(udfs.doubled, RESULT))
    assert found.read == ("k", "x", "y")
    assert found.passes == ("k",)


def test_a_text_decides_how_integers_come(spark: SparkSession, tmp_path: Path) -> None:
    """Beside a text, integers with NULL are ``Int64``, and doubles else."""
    path = str(tmp_path / "t")
    rows = [("a", 1.0, 5), ("b", 2.0, None)]
    spark.createDataFrame(rows, "s string, x double, y bigint").write.parquet(path)
    table = spark.read.parquet(path)
    df = table.mapInPandas(udfs.of_integers, RESULT)
    assert counted(table.select("x", "y").mapInPandas(udfs.of_integers, RESULT)) != counted(df)
    assert kept(df).columns == (3, 3)
    if is_connect(df):
        return  # batches that are cut alike are not seen
    numbers = table.selectExpr("x", "y", "x AS z").mapInPandas(udfs.of_integers, RESULT)
    assert pruned(numbers).read == ("x", "y")


def test_batches_whose_rows_depend_on_each_other(wide: DataFrame) -> None:
    """How many rows are in a batch hangs on how wide they are, and they are not known to be
    narrow.
    """
    found = kept(wide.mapInPandas(udfs.centred, RESULT))
    assert "batches" in found.declined[0].reason


@pytest.mark.classic("the files of a server are not looked at")
def test_batches_that_are_the_same_for_all_columns(wide: DataFrame) -> None:
    narrow = wide.selectExpr("int(y % 5) AS k", "y % 100 AS y", "x", "z")
    df = narrow.mapInPandas(udfs.centred, "k int, m double")
    assert pruned(df).read == ("k", "y")
    shuffled = narrow.repartition(3, "y").mapInPandas(udfs.centred, "k int, m double")
    assert "batches" in kept(shuffled).declined[0].reason


def test_batches_of_arrow(wide: DataFrame) -> None:
    named = wide.mapInArrow(udfs.arrow_named, "k string, m double, t timestamp")
    assert pruned(named, compile="never").read == ("k", "x", "t")
    for function, schema in (
        (udfs.arrow_numbered, RESULT),
        (udfs.arrow_whole, wide.schema),
        (udfs.arrow_counting, RESULT),
    ):
        kept(wide.mapInArrow(function, schema), compile="never")


def test_two_groups(wide: DataFrame) -> None:
    other = wide.selectExpr("k AS l", "z AS w", "s AS p", "t AS q", "y AS n")
    df = wide.groupBy("k").cogroup(other.groupBy("l")).applyInPandas(udfs.of_two, RESULT)
    assert pruned(df).read == ("k", "x", "l", "w")


def test_what_is_cached_stays(wide: DataFrame) -> None:
    df = grouped(wide, udfs.median).cache()
    try:
        assert kept(df).declined[0].code == "cached"
    finally:
        df.unpersist(blocking=True)


def test_random_rows_stay(spark: SparkSession, wide: DataFrame) -> None:
    from pyspark.sql.functions import rand

    df = grouped(wide.withColumn("r", rand(1)).filter("r >= 0"), udfs.median)
    assert kept(df).declined[0].code == "nondeterministic"


@pytest.mark.parametrize("mode", ["PERMISSIVE", "DROPMALFORMED"])
def test_malformed_rows(spark: SparkSession, tmp_path: Path, mode: str) -> None:
    """A row that is dropped because of one column is there where that is not read."""
    path = tmp_path / "rows.csv"
    path.write_text("a,1.0,3\na,2.0,no\nb,5.0,4\n")
    reader = spark.read.schema("k string, x double, y bigint").option("mode", mode)
    df = grouped(reader.csv(str(path)), udfs.median)
    if mode == "PERMISSIVE":
        assert pruned(df).read == ("k", "x")
        return
    assert kept(df).declined[0].code == "source"
    by_hand = grouped(reader.csv(str(path)).select("k", "x"), udfs.median)
    assert counted(by_hand) != counted(df)


def test_a_column_of_malformed_rows(spark: SparkSession, tmp_path: Path) -> None:
    path = tmp_path / "rows.json"
    path.write_text('{"k":"a","x":1.0,"y":3}\n{"k":"a","x":2.0,"y":"no"}\n')
    schema = "k string, x double, y bigint, _corrupt_record string"
    table = spark.read.schema(schema).json(str(path)).withColumnRenamed("_corrupt_record", "s")
    df = grouped(table.selectExpr("k", "double(length(s)) AS x", "y"), udfs.median)
    assert kept(df).declined[0].code == "source"


@pytest.mark.classic("settings of the session")
def test_corrupt_files_that_are_left_out(spark: SparkSession, wide: DataFrame) -> None:
    spark.conf.set("spark.sql.files.ignoreCorruptFiles", "true")
    try:
        assert kept(grouped(wide, udfs.median)).declined[0].code == "conf"
    finally:
        spark.conf.unset("spark.sql.files.ignoreCorruptFiles")


def test_errors_of_columns_that_nobody_reads(wide: DataFrame) -> None:
    """They are gone, which is told, and not done where that is forbidden."""
    risky = wide.selectExpr("k", "x", "y", "1 / (y - 3) AS q")
    df = grouped(risky, udfs.median)
    with pytest.raises(Exception, match="DIVIDE_BY_ZERO"):
        df.collect()
    better = optimize(df)
    assert better.count() == 4
    (function,) = explain(df).functions
    assert [a["code"] for a in function.assumptions] == ["may-erase-error"]
    strict = explain(df, policy="strict")
    assert strict.functions[0].pruned
    with pytest.raises(Exception, match="DIVIDE_BY_ZERO"):
        optimize(df, policy="strict").collect()


@pytest.mark.classic("exchanges are looked at")
def test_shared_exchanges_stay_shared(wide: DataFrame) -> None:
    one, other = grouped(wide, udfs.median), grouped(wide, udfs.caught)
    both = one.union(other)
    better = optimize(both)
    same_rows(both, better)
    better.collect()
    assert "ReusedExchange" in plan_text(better)
    assert [f.pruned for f in explain(both).functions] == [True, True]


@pytest.mark.classic("exchanges are looked at")
def test_one_of_two_that_needs_all(wide: DataFrame) -> None:
    both = grouped(wide, udfs.median).union(grouped(wide, udfs.shape))
    assert optimize(both) is both


def test_nothing_is_done_without_a_gain(wide: DataFrame) -> None:
    df = grouped(wide.select("k", "x"), udfs.median)
    assert kept(df).columns == (2, 2)


def test_never_only_explains(wide: DataFrame) -> None:
    df = grouped(wide, udfs.median)
    assert optimize(df, cost="never") is df
    assert explain(df, cost="never").functions[0].columns == (2, 6)


def test_every_python_function_is_named(wide: DataFrame) -> None:
    from pyspark.sql.functions import udf
    from pyspark.sql.pandas.functions import pandas_udf

    make: Any = pandas_udf
    scalar: Any = udf(udfs.length, "int")
    plain = wide.select("k", scalar("s").alias("n"), make(udfs.lengths, "bigint")("s").alias("m"))
    df = plain.groupBy("k").agg(make(udfs.highest, "bigint")("m").alias("m"))
    if is_connect(df):  # where a plan without any filter is not read
        df = df.filter("m > 0")
    report = explain(df)
    assert {f.function for f in report.functions} == {"length", "lengths", "highest"}
    assert not report.changed
    assert "lengths" in str(report)
    names = [f["function"] for f in report.to_json()["functions"]]
    assert sorted(names) == ["highest", "length", "lengths"]
