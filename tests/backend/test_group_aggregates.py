"""Functions of groups that become aggregates of Spark, in each form: the same rows and schema."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import pytest
from tests.support import group_functions as g
from tests.support.aggregating import RAISES, Saved, better, check, grouped, python_left, rows
from tests.support.amount import some
from tests.support.pickling import pickled_by_value

from presieve.spark import group_fold

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

pytestmark = [
    pytest.mark.spark,
    pytest.mark.classic("what a server makes of an expression cannot be read back"),
]
functions_by_value = pickled_by_value(g, scope="module")


@pytest.fixture(scope="module")
def saved(spark: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> Saved:
    return Saved(spark, tmp_path_factory)


@pytest.fixture(scope="module")
def df(saved: Saved) -> DataFrame:
    """NULL, NaN, infinities, extremes, empty strings, ties, equal rows, a group of NULLs."""
    return saved(g.ROWS, g.SCHEMA)


@pytest.fixture(scope="module")
def clean(df: DataFrame) -> DataFrame:
    """Without NULL, NaN and zeros, which filters say."""
    return df.filter("v IS NOT NULL AND x <> 0 AND NOT isnan(x) AND s IS NOT NULL")


# --- grouped-aggregate pandas UDFs ----------------------------------------------------------------

Udf = tuple[Callable[..., Any], str, str]
ALWAYS: dict[str, Udf] = {
    "count where": (g.above_one, "bigint", "x"),
    "count where, at least": (g.at_least_one, "bigint", "x"),
    "any": (g.has_x, "boolean", "s"),
    "every": (g.all_x, "boolean", "s"),
    "size": (g.size, "bigint", "x"),
    "size, int": (g.size, "int", "v"),
    "not NaN": (g.itself, "bigint", "x"),
    "pandas any": (g.any_x, "boolean", "s"),
    "pandas count": (g.there, "bigint", "v"),
    "pandas isna": (g.missing, "bigint", "v"),
    "no NULL among doubles": (g.any_none, "boolean", "x"),
}
CLEAN: dict[str, Udf] = {
    "greatest double": (g.greatest, "double", "x"),
    "least double": (g.least, "double", "x"),
    "greatest bigint": (g.greatest, "bigint", "v"),
    "pandas max double": (g.pandas_max, "double", "x"),
    "pandas min double": (g.pandas_min, "double", "x"),
}


@some("name", ALWAYS, of=3)
def test_on_any_table(df: DataFrame, clean: DataFrame, name: str) -> None:
    of, type_, column = ALWAYS[name]
    check(grouped(df, of, type_, column))
    check(grouped(clean, of, type_, column))


def test_files_without_rows(saved: Saved) -> None:
    """Footers say that there is no group; what is written for one is proved all the same."""
    empty = saved([], g.SCHEMA)
    for of, type_, column in ALWAYS.values():
        check(grouped(empty, of, type_, column))


@some("name", CLEAN, of=3)
def test_where_filters_say_enough(df: DataFrame, clean: DataFrame, name: str) -> None:
    of, type_, column = CLEAN[name]
    check(grouped(clean, of, type_, column))
    out = grouped(df, of, type_, column)
    assert rows(better(out)) == rows(out)


SAME: dict[str, Udf] = {
    "sum": (g.total, "bigint", "v"),
    "pandas sum": (g.pandas_sum, "bigint", "v"),
    "pandas max of integers": (g.pandas_max, "bigint", "v"),
    "greatest small integer": (g.greatest, "int", "i"),
    "remainders": (g.remainders, "bigint", "i"),
    "quotients": (g.quotients, "bigint", "i"),
    "quotient at the end": (g.mean_down, "bigint", "i"),
    "NaN compared": (g.not_below, "bigint", "x"),
    "an integer that is NULL": (g.any_none, "boolean", "i"),
    "last": (g.last, "bigint", "v"),
    "sum of doubles": (g.total_double, "double", "x"),
    "joined": (g.joined, "string", "s"),
    "range": (g.spread, "double", "x"),
    "greatest text": (g.greatest, "string", "s"),
    "raises": (g.refuses, "bigint", "x"),
    "of another type": (g.size, "tinyint", "x"),
    "greatest date": (g.greatest, "date", "d"),
    "greatest time": (g.greatest, "timestamp", "t"),
    "greatest bytes": (g.greatest, "binary", "b"),
    "pandas max of dates": (g.pandas_max, "date", "d"),
    "pandas min of bytes": (g.pandas_min, "binary", "b"),
    "greatest decimal": (g.greatest, "decimal(10,2)", "n"),
    "wider decimal": (g.greatest, "decimal(12,2)", "n"),
}


@some("name", SAME, of=4)
@pytest.mark.parametrize("policy", ["default", "strict"])
def test_declined_or_right(df: DataFrame, name: str, policy: str) -> None:
    of, type_, column = SAME[name]
    for table in (df, df.filter(f"{column} IS NOT NULL"), df.filter("k = 'all'")):
        out = grouped(table, of, type_, column)
        made = better(out, policy=policy)
        assert made.schema == out.schema
        assert rows(made) == rows(out)


@pytest.mark.parametrize("name", ["last", "sum of doubles", "joined"])
def test_what_depends_on_order_stays_python(clean: DataFrame, name: str) -> None:
    of, type_, column = SAME[name]
    assert python_left(better(grouped(clean, of, type_, column), policy="assume"))


@pytest.mark.parametrize("ansi", ["true", "false"])
def test_sums(spark: SparkSession, saved: Saved, ansi: str) -> None:
    few = saved([("a", 2**61), ("a", 2**61), ("b", -3)], "k string, v bigint NOT NULL")
    more = few.union(few).union(few)
    before = spark.conf.get("spark.sql.ansi.enabled")
    safe = spark.conf.get("spark.sql.execution.pandas.convertToArrowArraySafely") == "true"
    spark.conf.set("spark.sql.ansi.enabled", ansi)
    try:
        check(grouped(few.filter("v IS NOT NULL"), g.total, "bigint", "v"))
        for out in (
            *(grouped(t, g.total, "bigint", "v") for t in (more, more.filter("v IS NOT NULL"))),
            grouped(few.crossJoin(spark.range(9)), g.total, "bigint", "v"),
            grouped(few.selectExpr("k", "explode(array(v, v, v)) AS v"), g.total, "bigint", "v"),
            grouped(few.sample(True, 30.0, 1), g.total, "bigint", "v"),
        ):
            assert rows(better(out)) == rows(out)
            # Results that do not fit wrap around unless Arrow converts them safely.
            assert rows(better(out, policy="assume")) == RAISES
            assert rows(out) == RAISES or not safe
    finally:
        spark.conf.set("spark.sql.ansi.enabled", str(before))


# --- zeros ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("of", [g.greatest, g.least, g.pandas_max, g.pandas_min])
def test_zeros_of_both_signs(saved: Saved, of: Callable[..., Any]) -> None:
    """Which of two zeros comes first decides what a function gives, and Spark's does not tell."""
    zeros = [("a", 0.0), ("a", -0.0), ("b", -0.0), ("b", 0.0), ("c", -0.0), ("d", -1.0)]
    table = saved(zeros, "k string, x double").filter("x IS NOT NULL AND NOT isnan(x)")
    for policy in ("default", "strict"):
        out = grouped(table, of, "double", "x")
        assert python_left(better(out, policy=policy))
        assert rows(better(out, policy=policy)) == rows(out)
        check(grouped(table.filter("x <> 0"), of, "double", "x"), policy=policy)


@pytest.mark.parametrize("of", [g.pandas_max, g.pandas_min])
def test_extremes_of_pandas_pass_over_null_and_nan(saved: Saved, of: Callable[..., Any]) -> None:
    nan = float("nan")
    given = [("a", 1.5), ("a", None), ("a", nan), ("b", nan), ("c", None), ("d", -2.0), ("d", 9.0)]
    check(grouped(saved(given, "k string, x double"), of, "double", "x"))


@pytest.mark.parametrize("of", [g.greatest, g.least, g.pandas_max, g.pandas_min])
def test_one_zero_is_no_obstacle(saved: Saved, of: Callable[..., Any]) -> None:
    """That there is no -0.0 is what the data show."""
    given = [("a", 0.0), ("a", -1.0), ("b", 0.0), ("b", 1.0), ("c", 0.0), ("c", 0.0)]
    table = saved(given, "k string, x double").filter("x IS NOT NULL AND NOT isnan(x)")
    check(grouped(table, of, "double", "x"))
    assert python_left(better(grouped(table, of, "double", "x"), policy="strict"))


# --- other forms ----------------------------------------------------------------------------------


@pytest.mark.second
def test_tables_by_pandas(df: DataFrame, clean: DataFrame) -> None:
    check(df.groupBy("k").applyInPandas(g.counted, "k string, n bigint"))
    check(df.groupBy("k").applyInPandas(g.counted, "n bigint, k string"))
    check(df.groupBy("k", "s").applyInPandas(g.by_two_keys, "n bigint, s string, k string"))
    check(clean.groupBy("k").applyInPandas(g.extremes, "k string, hi double, n bigint"))
    check(df.groupBy("k").applyInPandas(g.sized, "n bigint NOT NULL"))
    raised = df.groupBy("k").applyInPandas(g.extremes, "k string, hi double, n bigint")
    assert rows(better(raised)) == rows(raised)


def test_tables_by_arrow(df: DataFrame) -> None:
    check(df.groupBy("k").applyInArrow(g.arrow_table, "k string, n bigint, m bigint"))


@pytest.mark.parametrize("of", [g.arrow_max, g.arrow_count, g.arrow_size])
@some("column", ["v", "s"], of=2)
def test_arrow_udfs(df: DataFrame, of: Callable[..., Any], column: str) -> None:
    udfs = pytest.importorskip("pyspark.sql.functions")
    if not hasattr(udfs, "arrow_udf"):
        pytest.skip("no Arrow UDFs")
    type_ = "string" if (of, column) == (g.arrow_max, "s") else "bigint"
    made = udfs.arrow_udf(of, type_, udfs.ArrowUDFType.GROUPED_AGG)
    check(df.groupBy("k").agg(made(column).alias("m")))


CLASSES: dict[str, tuple[type, str, tuple[str, ...], bool]] = {
    "greatest": (g.Greatest, "bigint", ("v",), True),
    "marked": (g.Marked, "string", ("s",), True),
    "pairs": (g.Pair, "bigint", ("v", "s"), True),
    "best row": (g.BestRow, "string", ("v", "s"), False),
    "best row, last": (g.LastBestRow, "string", ("v", "s"), False),
    "last": (g.Last, "bigint", ("v",), False),
}


@some("name", CLASSES, of=2)
@pytest.mark.parametrize("streamed", [False, True])
def test_classes(df: DataFrame, name: str, streamed: bool) -> None:
    fold, type_, columns, compiled = CLASSES[name]
    out = df.groupBy("k").agg(group_fold(fold, type_, streamed=streamed)(*columns).alias("m"))
    made = check(out) if compiled else better(out)
    assert python_left(made) != compiled
    assert rows(made) == rows(out)


def test_several_functions(df: DataFrame) -> None:
    any_x, above = g.udaf(g.has_x, "boolean"), g.udaf(g.above_one, "bigint")
    check(df.groupBy("k").agg(any_x("s").alias("a"), above("x").alias("n"), above("x").alias("o")))
    last = g.udaf(g.last, "bigint")
    out = df.orderBy("v").groupBy("k").agg(any_x("s").alias("a"), last("v").alias("l"))
    assert python_left(better(out))
    assert rows(better(out.select("k", "a"))) == rows(out.select("k", "a"))
