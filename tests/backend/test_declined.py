"""What is left alone: the very same object comes back, and the logger says why."""

from __future__ import annotations

import datetime
import inspect
import logging
from typing import TYPE_CHECKING, Any

import pytest
from tests.support.games import udfs
from tests.support.games.pipelines import agg, pandas_udf
from tests.support.games.tables import Tables
from tests.support.running import same_rows, untouched

from presieve.backend.classic.gateway import ClassicGateway
from presieve.driver.optimize import DISABLE, ENABLED, explain, optimize
from presieve.errors import UsageError

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession


def line_of(name: str, text: str) -> int:
    lines, first = inspect.getsourcelines(getattr(udfs, name))
    return first + next(i for i, line in enumerate(lines) if text in line)


@pytest.mark.parametrize(
    ("name", "text"),
    [("clock", "time.time()"), ("global_write", "global SEEN"), ("unknown_call", "math.perm(")],
)
def test_impure_functions(
    tables: Tables,
    caplog: pytest.LogCaptureFixture,
    capfd: pytest.CaptureFixture[str],
    name: str,
    text: str,
) -> None:
    returns = "double" if name == "clock" else "bigint"
    df = agg(tables.plain, name, returns, "v").filter("m >= 1")
    capfd.readouterr()
    with caplog.at_level(logging.INFO, logger="presieve"):
        assert optimize(df) is df
    assert capfd.readouterr().out == ""
    (record,) = caplog.records
    (declined,) = explain(df).boundaries[0].declined
    assert f"[{declined.code}]" in record.getMessage()
    assert declined.span is not None
    assert declined.span.line == line_of(name, text)
    assert f"udfs.py:{declined.span.line}" in record.getMessage()


def test_no_source(tables: Tables) -> None:
    from pyspark.sql.pandas.functions import pandas_udf as make

    hidden: Any = udfs.without_source()  # type: ignore[no-untyped-call]
    udf = make(hidden, "bigint", 202)
    df = tables.plain.groupBy("team").agg(udf("v").alias("m")).filter("m >= 1")
    assert untouched(df).declined[0].code == "no-source"


def test_nothing_to_gain_is_the_same_object(tables: Tables) -> None:
    for df in (
        tables.plain,
        tables.plain.filter("score > 3"),
        tables.plain.select("team").distinct(),
        agg(tables.plain, "top", "double", "score"),
    ):
        assert optimize(df) is df
        assert explain(df).boundaries == ()


def test_nondeterministic_functions(tables: Tables) -> None:
    udf = pandas_udf("top", "double").asNondeterministic()
    df = tables.plain.groupBy("team").agg(udf("score").alias("m")).filter("m >= 90")
    assert untouched(df).declined[0].code == "nondeterministic"


def test_nondeterministic_filters_stay_where_they_are(tables: Tables) -> None:
    df = agg(tables.plain, "top", "double", "score").filter("rand() < 2 AND m >= 90")
    assert optimize(df) is df


def test_argument_expressions(tables: Tables) -> None:
    from pyspark.sql import functions as F

    udf = pandas_udf("top", "double")
    df = tables.plain.groupBy("team").agg(udf(F.col("score") * 2).alias("m"))
    assert untouched(df.filter("m >= 90")).declined[0].code == "argument-expression"


def test_other_operators_with_functions(tables: Tables) -> None:
    def collected(batches):  # type: ignore[no-untyped-def]
        return iter(list(batches))

    df = tables.plain.mapInPandas(collected, tables.plain.schema).filter("score > 3")
    assert untouched(df).declined[0].code == "not-a-function"


def test_cached_results_are_used(tables: Tables) -> None:
    grouped = agg(tables.plain, "top", "double", "score")
    df = grouped.filter("m >= 90")
    grouped.cache()
    try:
        assert untouched(df).declined[0].code == "cached"
    finally:
        grouped.unpersist(blocking=True)
    assert optimize(df) is not df


def test_a_cached_input_is_no_reason(tables: Tables) -> None:
    below = tables.plain.filter("v >= 0")
    below.cache()
    try:
        df = agg(below, "top", "double", "score").filter("m >= 90")
        assert optimize(df) is not df
    finally:
        below.unpersist(blocking=True)


def test_char_columns(spark: SparkSession, tables: Tables) -> None:
    spark.sql("CREATE TABLE padded (team STRING, level CHAR(8)) USING parquet")
    try:
        spark.sql("INSERT INTO padded VALUES ('a', 'error')")
        df = agg(spark.table("padded"), "errors", "bigint", "level").filter("m >= 1")
        untouched(df)
    finally:
        spark.sql("DROP TABLE padded")


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("spark.sql.legacy.execution.pandas.groupedMap.assignColumnsByName", "false"),
        ("spark.sql.execution.pythonUDF.pandas.preferIntExtensionDtype", "true"),
    ],
)
def test_settings_that_change_meanings(
    spark: SparkSession, tables: Tables, key: str, value: str, caplog: pytest.LogCaptureFixture
) -> None:
    df = agg(tables.plain, "top", "double", "score").filter("m >= 90")
    spark.conf.set(key, value)
    try:
        with caplog.at_level(logging.INFO, logger="presieve"):
            assert optimize(df) is df
        assert "[conf]" in caplog.text
    finally:
        spark.conf.unset(key)


def test_off_switches(spark: SparkSession, tables: Tables, monkeypatch: pytest.MonkeyPatch) -> None:
    df = agg(tables.plain, "top", "double", "score").filter("m >= 90")
    spark.conf.set(ENABLED, "false")
    try:
        assert optimize(df) is df
    finally:
        spark.conf.unset(ENABLED)
    monkeypatch.setenv(DISABLE, "1")
    assert optimize(df) is df
    monkeypatch.delenv(DISABLE)
    assert optimize(df, cost="never") is df
    assert optimize(df) is not df


def test_streams(spark: SparkSession, tables: Tables) -> None:
    stream = spark.readStream.format("rate").load().selectExpr("value AS v", "'x' AS team")
    df = agg(stream, "count_high", "bigint", "v").filter("m >= 1")
    assert optimize(df) is df


@pytest.mark.parametrize(
    "options", [{"budget": 0}, {"policy": "lax"}, {"cost": "sometimes"}], ids=str
)
def test_wrong_options_are_misuse(tables: Tables, options: dict[str, object]) -> None:
    with pytest.raises(UsageError):
        optimize(tables.plain, **options)  # type: ignore[arg-type]


def test_a_plan_without_anything_to_do_is_not_read(
    tables: Tables, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It may be large, and every action of a session may come by here."""
    from pyspark.sql import functions as F

    def read(*args: Any) -> str:
        raise AssertionError("the plan was read")

    monkeypatch.setattr(ClassicGateway, "json", read)
    grouped = tables.plain.groupBy("team").agg(F.max("v").alias("m"))
    for df in (tables.plain.filter("v > 3"), grouped):
        assert optimize(df) is df


def reasons(df: DataFrame) -> dict[str, list[str]]:
    """The codes for each function."""
    return {b.function: [d.code for d in b.declined] for b in explain(df, cost="always").boundaries}


@pytest.mark.classic("which columns a text reads is known to the server alone")
def test_what_reads_no_result_of_a_function_is_no_reason(spark: SparkSession) -> None:
    """Spark moves such a condition below functions of rows by itself, also one that is not
    understood, and it names no function whose result is not asked for.
    """
    import pyspark.sql.functions as F

    rows = [(datetime.datetime(2026, 1, 1, i), i, f"s{i}") for i in range(9)]
    table = spark.createDataFrame(rows, "at timestamp, v bigint, s string")

    def twice(v: int) -> int:
        return v * 2

    def more(v: int) -> int:
        return v + 1

    two = table.withColumn("d", F.udf(twice, "bigint")("v"))
    two = two.withColumn("other", F.udf(more, "bigint")("v"))
    by_year = two.filter("dayofyear(at) = 1 AND d > 8")
    assert reasons(by_year) == {"twice": []}
    same_rows(by_year, optimize(by_year, cost="always"))
    assert reasons(two.filter("dayofyear(at) = 1")) == {}
    either = two.filter("dayofyear(at) = 1 OR d > 8")
    assert reasons(either) == {"twice": ["sql-unsupported"]}


@pytest.mark.classic("which columns a text reads is known to the server alone")
def test_a_condition_of_one_side_is_no_reason_at_the_other(spark: SparkSession) -> None:
    table = spark.createDataFrame([(1, "ab"), (2, "xb"), (3, None)], "v bigint, s string")

    def rows(pdf: Any) -> Any:
        return pdf[pdf.v > 0]

    made = table.groupBy("v").applyInPandas(rows, "v bigint, s string")
    joined = made.alias("a").join(table.alias("b"), "v").filter("b.s LIKE 'a%b_' AND b.v > 1")
    assert [c for codes in reasons(joined).values() for c in codes if c == "sql-unsupported"] == []
    here = made.alias("a").join(table.alias("b"), "v").filter("a.s LIKE 'a%b_'")
    assert "sql-unsupported" in [c for codes in reasons(here).values() for c in codes]


def test_the_filter_is_the_reason_where_it_is_not_understood(spark: SparkSession) -> None:
    """And not a column that is of another type."""
    table = spark.createDataFrame([(1, "ab", [1])], "v bigint, s string, xs array<bigint>")

    def batches(frames: Any) -> Any:
        for frame in frames:
            yield frame[frame.v > 0]

    made = table.mapInPandas(batches, table.schema)
    assert reasons(made.filter("s LIKE 'a%b_'")) == {"batches": ["sql-unsupported"]}
