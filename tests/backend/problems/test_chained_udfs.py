"""Filters on the results of scalar UDFs of what scalar UDFs give."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from tests.backend.problems import value_udfs
from tests.support.pickling import pickled_by_value
from tests.support.running import named, plan_text, same_rows

from presieve import verify
from presieve.driver.optimize import explain, optimize

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

by_value_too = pickled_by_value(value_udfs)

TEXTS = [None, "", " a1", "A1 ", "a2\t", "b", " ", "none", "A1", "a1", "x", "\u2003a1", "é", "a1 x"]


@pytest.fixture(scope="module")
def texts(spark: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> DataFrame:
    rows = [(i, s, float(i)) for i, s in enumerate(TEXTS * 2)]
    path = str(tmp_path_factory.mktemp("chains") / "table")
    spark.createDataFrame(rows, "v bigint, s string, x double").coalesce(1).write.parquet(path)
    return spark.read.parquet(path)


def function(name: str, returns: str = "string", *, arrow: bool = True) -> Callable[..., Any]:
    from pyspark.sql.functions import udf

    make: Any = udf
    made: Callable[..., Any] = make(getattr(value_udfs, name), returns, useArrow=arrow)
    return made


def columns(df: DataFrame, arrow: bool) -> DataFrame:
    """Each in a column of its own."""
    df = df.withColumn("a", function("stripped", arrow=arrow)("s"))
    return df.withColumn("u", function("upper", arrow=arrow)("a"))


def one_name(df: DataFrame, arrow: bool) -> DataFrame:
    """The column on which a filter stands below is not there any more."""
    df = df.withColumn("s", function("stripped", arrow=arrow)("s"))
    return df.withColumn("s", function("upper", arrow=arrow)("s")).withColumnRenamed("s", "u")


def nested(df: DataFrame, arrow: bool) -> DataFrame:
    made = function("upper", arrow=arrow)(function("stripped", arrow=arrow)("s"))
    return df.withColumn("u", made)


def selected(df: DataFrame, arrow: bool) -> DataFrame:
    df = df.select("v", function("stripped", arrow=arrow)("s").alias("a"))
    return df.select("v", function("upper", arrow=arrow)("a").alias("u"))


FORMS = [columns, one_name, nested, selected]
WAYS = [pytest.param(True, id="arrow"), pytest.param(False, id="pickled", marks=pytest.mark.slow)]


@pytest.mark.parametrize("arrow", WAYS)
@pytest.mark.parametrize(
    "where",
    [
        "u = 'A1'",
        "u = 'A1' AND v > 3",
        *(pytest.param(w, marks=pytest.mark.slow) for w in ("u <> 'A1'", "u IS NULL")),
    ],
)
@pytest.mark.parametrize("form", FORMS, ids=lambda f: f.__name__)
def test_a_chain_is_one_function(texts: DataFrame, form: Any, where: str, arrow: bool) -> None:
    df = form(texts, arrow).filter(where)
    better = optimize(df, cost="always")
    same_rows(df, better)
    assert better is not df
    (boundary,) = explain(df, cost="always").boundaries
    assert boundary.function == "upper"
    if arrow and where.startswith("u = "):
        assert "FROM s) IN ('A1', 'a1')" in boundary.prefilter
        assert "trim(" in plan_text(better)


def test_a_chain_without_arrow(texts: DataFrame) -> None:
    df = columns(texts, False).filter("u = 'A1'")
    same_rows(df, optimize(df, cost="always"))
    (boundary,) = explain(df, cost="always").boundaries
    assert boundary.prefilter == "s <> ''"
    assert "text-encoding" in [d.code for d in boundary.declined]


@pytest.mark.parametrize("where", ["u = 'A1' AND a = 'a1'", "u <> a", "a = 'A1'"])
def test_filters_on_both(texts: DataFrame, where: str) -> None:
    df = columns(texts, True).filter(where)
    better = optimize(df, cost="always")
    same_rows(df, better)
    assert better is not df


def test_three_functions_a_join_and_a_view(texts: DataFrame, spark: SparkSession) -> None:
    kinds = spark.createDataFrame([("Germany", 1), ("other", 2)], "c string, k int")
    df = columns(texts, True).withColumn("c", function("country")("u"))
    with named(df.join(kinds, "c"), "labelled"):
        found = spark.sql("SELECT v, c, k FROM labelled WHERE c = 'other' AND k = 2")
        same_rows(found, optimize(found, cost="always"))
        report = explain(found, cost="always")
        assert all(b.declined == () for b in report.boundaries if b.kind != "none")


@pytest.mark.parametrize("arrow", WAYS)
def test_doubles_that_are_handed_on(texts: DataFrame, arrow: bool) -> None:
    """A filter goes below both, whatever is assumed of NaN in the column between them."""
    x = "CASE v % 3 WHEN 0 THEN double('NaN') WHEN 2 THEN x END x"
    df = texts.selectExpr("v", "s", x)
    df = df.withColumn("net", function("reduced", "double", arrow=arrow)("x"))
    df = df.withColumn("band", function("level", arrow=arrow)("net"))
    for where, kept in [("band = 'high'", 6), ("band = 'none'", 9), ("band = 'low'", 13)]:
        found = df.filter(where)
        same_rows(found, optimize(found))
        assert found.count() == kept
        (boundary,) = explain(found).boundaries
        assert boundary.prefilter != "true", where


@pytest.mark.parametrize("arrow", WAYS)
def test_a_filter_on_a_column_beside(texts: DataFrame, arrow: bool) -> None:
    """A filter may read a column that no function reads, together with what one gives."""
    df = texts.withColumn("level", function("level", arrow=arrow)("x")).filter(
        "level = 'high' AND v > 20 OR level = 'none' AND s = 'b'"
    )
    same_rows(df, optimize(df))
    (boundary,) = explain(df).boundaries
    assert "v > 20" in boundary.prefilter or "v >= 21" in boundary.prefilter


def test_a_field_beside(texts: DataFrame) -> None:
    """The reason names the column whose field a filter reads beside a function's result."""
    df = texts.selectExpr("x", "named_struct('v', v) p").withColumn("level", function("level")("x"))
    df = df.filter("level = 'high' OR p.v = 1")
    assert optimize(df) is df
    (boundary,) = explain(df).boundaries
    (declined,) = boundary.declined
    assert declined.code == "column-type"
    assert "column 'p' of type struct" in declined.reason


def test_a_link_that_is_not_read(texts: DataFrame) -> None:
    df = texts.withColumn("a", function("titled")("s"))
    df = df.withColumn("u", function("upper")("a")).filter("u = 'A1'")
    same_rows(df, optimize(df, cost="always"))


def test_a_filter_between(texts: DataFrame) -> None:
    df = texts.withColumn("a", function("stripped")("s")).filter("v > 3")
    df = df.withColumn("u", function("upper")("a")).filter("u = 'A1'")
    same_rows(df, optimize(df, cost="always"))


def test_the_first_function_raises(texts: DataFrame) -> None:
    """What is kept keeps its error."""
    first = function("strict_strip")
    df = texts.withColumn("a", first("s")).withColumn("u", function("upper")("a"))
    assert optimize(df.filter("u = 'A1'"), cost="always", policy="strict") is not None
    kept = df.filter("u = 'A1'").select("v")
    with pytest.raises(Exception, match="strip"):
        kept.collect()


def test_what_a_link_computes_besides_may_raise(texts: DataFrame) -> None:
    """The strict policy erases no error, of whatever column."""
    df = texts.selectExpr("*", "10 DIV v AS y").withColumn("a", function("stripped")("s"))
    df = df.withColumn("u", function("upper")("a")).filter("u = 'A1'")
    assert optimize(df, cost="always", policy="strict") is df
    (boundary,) = explain(df, cost="always").boundaries
    assert "may-erase-error" in [a["code"] for a in boundary.assumptions]


@pytest.mark.parametrize("arrow", [True, False], ids=["arrow", "pickled"])
@pytest.mark.parametrize(
    ("first", "type_", "second", "where"),
    [
        ("tripled", "bigint", "is_there", "u"),
        ("tripled", "bigint", "is_there", "NOT u"),
        ("as_it_is", "double", "exceeds", "u"),
        ("as_it_is", "double", "exceeds", "NOT u"),
    ],
)
def test_workers_hand_values_on_as_they_are(
    spark: SparkSession,
    tmp_path: Path,
    first: str,
    type_: str,
    second: str,
    where: str,
    arrow: bool,
) -> None:
    """A chain is called in one worker: a value between is not made one of its column's type."""
    rows = [(1,), (2**53 + 1,), (2**62,), (-(2**63),), (None,)]
    spark.createDataFrame(rows, "v bigint").coalesce(1).write.parquet(str(tmp_path / "t"))
    df = spark.read.parquet(str(tmp_path / "t"))
    df = df.withColumn("a", function(first, type_, arrow=arrow)("v"))
    df = df.withColumn("u", function(second, "boolean", arrow=arrow)("a")).filter(where)
    written = df.select("v")
    same_rows(written, optimize(written, cost="always"))


def test_a_filter_that_loses_a_row_is_refuted() -> None:
    def both(s: Any) -> Any:
        a = s.strip() if s else None
        return None if a is None else a.upper()

    for prefilter in ("s = 'a1'", "trim(BOTH ' ' FROM s) IN ('a1', 'A1')", "s IN ('A1', 'a1')"):
        found = verify(
            both,
            "u = 'A1'",
            schema="s string",
            returns="u string",
            mode="row",
            prefilter=prefilter,
        )
        assert found.certificate is None


def directly(df: DataFrame) -> DataFrame:
    return df


def filtered(df: DataFrame) -> DataFrame:
    return df.filter("v < 9")


def renamed(df: DataFrame) -> DataFrame:
    return df.withColumnRenamed("y", "z").selectExpr("v", "z AS y")


def united(df: DataFrame) -> DataFrame:
    """Spark moves projections into both."""
    none = df.selectExpr("v", "CAST(NULL AS bigint) AS y").filter("v < 0")
    return none.union(df)


def limited(df: DataFrame) -> DataFrame:
    return df.limit(30)


def shared(df: DataFrame) -> DataFrame:
    return df.sparkSession.sql("WITH h AS (SELECT * FROM {df}) SELECT * FROM h", df=df)


@pytest.mark.parametrize("arrow", WAYS)
@pytest.mark.parametrize(
    "between", [directly, filtered, renamed, united, limited, shared], ids=lambda b: b.__name__
)
def test_values_of_another_class_than_the_column(
    texts: DataFrame, between: Any, arrow: bool
) -> None:
    """Twice a number that is no integer is odd, which twice an integer never is."""
    df = texts.select("v", function("half_more", "bigint", arrow=arrow)("v").alias("y"))
    twice = function("doubled", "bigint", arrow=arrow)("y").alias("o")
    made = between(df).select(twice, function("next_number", "bigint", arrow=arrow)("v").alias("p"))
    df = made.filter("o = 5 OR p > 7")
    same_rows(df, optimize(df, cost="always"))
    other = made.filter("p > 9")
    better = optimize(other, cost="always")
    same_rows(other, better)
    assert better is not other or arrow or between in (united, limited, shared)


@pytest.mark.parametrize("arrow", WAYS)
def test_a_field_of_what_another_function_returns(texts: DataFrame, arrow: bool) -> None:
    """Spark takes the field from the struct in a column: it is no object of the first function."""
    parts = function("parts", "number int, word string", arrow=arrow)
    df = texts.select("v", parts("s").alias("p")).select("v", "p.*").withColumnRenamed("word", "w")
    df = df.withColumn("c", function("country", arrow=arrow)("w")).filter("c = 'unknown'")
    (boundary,) = explain(df, cost="always").boundaries
    assert "argument-expression" not in [d.code for d in boundary.declined]
    same_rows(df, optimize(df, cost="always"))


@pytest.mark.parametrize("arrow", WAYS)
def test_a_field_of_a_struct_of_what_another_function_returns(
    texts: DataFrame, arrow: bool
) -> None:
    """Spark's optimizer takes such structs apart, and makes a chain of both functions."""
    first = function("half_more", "bigint", arrow=arrow)
    df = texts.selectExpr("v").withColumn("a", first("v"))
    df = df.selectExpr("named_struct('y', a) AS p").selectExpr("p.y AS y")
    df = df.withColumn("o", function("doubled", "bigint", arrow=arrow)("y")).filter("o = 5")
    assert df.count() > 0  # twice an integer is even
    (boundary,) = explain(df, cost="always").boundaries
    assert "argument-expression" in [d.code for d in boundary.declined]
    same_rows(df, optimize(df, cost="always"))


def _passed(batches: Any) -> Any:
    yield from batches


def _of_groups(pdf: Any) -> Any:
    return pdf


@pytest.mark.parametrize("below", ["mapInPandas", "applyInPandas", "mapInPandas over a UDF"])
def test_what_functions_of_tables_return_is_in_columns(texts: DataFrame, below: str) -> None:
    if below.endswith("UDF"):
        texts = texts.select("v", function("stripped", arrow=False)("s").alias("s"))
    schema = "v bigint, s string"
    df = texts.select("v", "s")
    if below == "applyInPandas":
        df = df.groupBy("v").applyInPandas(_of_groups, schema)
    else:
        df = df.mapInPandas(_passed, schema)
    df = df.withColumn("c", function("country", arrow=False)("s")).filter("c = 'Germany'")
    boundaries = explain(df, cost="always").boundaries
    assert "argument-expression" not in [d.code for b in boundaries for d in b.declined]
    (of_country,) = (b for b in boundaries if b.function == "country")
    assert of_country.prefilter != "true"
    same_rows(df, optimize(df, cost="always"))
