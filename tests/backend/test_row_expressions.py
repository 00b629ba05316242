"""Scalar UDFs that become expressions of Spark, in plans: the same rows and the same schema."""

from __future__ import annotations

import datetime as dt
import math
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from py4j.protocol import Py4JJavaError
from pyspark.errors import PySparkException
from pyspark.sql import functions as F
from pyspark.sql.functions import udf
from pyspark.sql.types import DoubleType, StructField, StructType
from tests.support.spark_version import is_before

import presieve
from presieve.driver.optimize import explain, optimize_and_report
from presieve.driver.options import Options

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

pytestmark = [
    pytest.mark.spark,
    pytest.mark.classic("what a server makes of an expression cannot be read back"),
]

NAN, INF = math.nan, math.inf
ROWS = [
    (1, 2.0, "a", dt.date(2020, 1, 31), (3, "p")),
    (None, NAN, None, None, None),
    (-7, -0.0, " de ", dt.date(1, 1, 1), (None, None)),
    (2**62, INF, "", dt.date(9999, 12, 31), (-3, "")),
    (8, 1e308, "dex", dt.date(1969, 12, 31), (8, "q")),
    (8, 2.5, "a", dt.date(2024, 2, 29), (8, "q")),
]
SCHEMA = "x bigint, y double, s string, d date, r struct<k: bigint, t: string>"


def _mix(x):  # type: ignore[no-untyped-def]
    return None if x is None else x % 7 + x // 3


def _grade(y):  # type: ignore[no-untyped-def]
    if y is None:
        return "u"
    return "low" if y < 1.5 else "high"


def _ok(x):  # type: ignore[no-untyped-def]
    return x is not None and x > 5 and x % 2 == 0


def _year(d):  # type: ignore[no-untyped-def]
    return None if d is None else d.year * 100 + d.month


def _tag(g):  # type: ignore[no-untyped-def]
    return g + "!"


def _positive(x):  # type: ignore[no-untyped-def]
    if x <= 0:
        raise ValueError("no")
    return x


def _half(x):  # type: ignore[no-untyped-def]
    return 2.5 if x is None else x


BY_ARROW = not is_before("4.1")
"""Before, scalar UDFs with Arrow are declined."""


@pytest.fixture(params=[True, False], ids=["arrow", "pickled"])
def arrow(request: pytest.FixtureRequest) -> bool:
    if request.param and not BY_ARROW:
        pytest.skip("scalar UDFs with Arrow are declined: values go through pandas")
    return bool(request.param)


@pytest.fixture(scope="module")
def df(spark: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> DataFrame:
    path = str(tmp_path_factory.mktemp("rows") / "t")
    spark.createDataFrame(ROWS, SCHEMA).coalesce(1).write.parquet(path)
    return spark.read.parquet(path)


def function(of: Callable[..., Any], type_: str, arrow: bool = BY_ARROW) -> Any:
    return udf(of, type_, useArrow=arrow)


def better(df: DataFrame, **options: Any) -> DataFrame:
    """As in an enabled session, where what is optimized is what runs."""
    return optimize_and_report(df, Options(compile="always", **options), at_once=True)[0]


def calls(df: DataFrame) -> int:
    """Python functions in the plan that Spark's optimizer gives."""
    return str(df._jdf.queryExecution().optimizedPlan()).count("EvalPython")


RAISES = "raises"


def rows(df: DataFrame) -> list[str] | str:
    try:
        return sorted(map(repr, df.collect()))
    except (PySparkException, Py4JJavaError):
        return RAISES


def check(out: DataFrame, left: int = 0, **options: Any) -> DataFrame:
    """The same rows and schema, with so many calls of Python left."""
    made = better(out, **options)
    assert calls(out) > left or left
    assert calls(made) == left, made._jdf.queryExecution().optimizedPlan()
    assert made.schema == out.schema
    assert made.columns == out.columns
    assert rows(made) == rows(out)
    return made


# --- operators ------------------------------------------------------------------------------------

OPERATORS: dict[str, Callable[[DataFrame, Any, Any, Any], DataFrame]] = {
    "select": lambda df, mix, grade, ok: df.select(mix("x"), grade("y").alias("g"), ok("x")),
    "withColumn": lambda df, mix, grade, ok: df.withColumn("y", mix("x")).withColumn("n", ok("x")),
    "filter": lambda df, mix, grade, ok: df.filter(ok("x") | (mix("x") > 2)).select("x", "y"),
    "group by": lambda df, mix, grade, ok: df.groupBy(grade("y").alias("g")).count(),
    "aggregate": lambda df, mix, grade, ok: df.groupBy("s").agg(F.sum(mix("r.k")), F.max(ok("x"))),
    "order": lambda df, mix, grade, ok: df.select("x", "y").orderBy(mix("x"), "y"),
    "larger": lambda df, mix, grade, ok: df.select(mix("x") + 1, F.upper(grade("y")), "s"),
    "when": lambda df, mix, grade, ok: df.select(F.when(ok("x"), mix("x")).otherwise(0)),
    "union": lambda df, mix, grade, ok: df.select(mix("x").alias("m")).union(df.select("x")),
    "distinct": lambda df, mix, grade, ok: df.select(grade("y").alias("g")).distinct(),
    "limit": lambda df, mix, grade, ok: df.select("x", mix("x")).orderBy("x").limit(3),
    "twice": lambda df, mix, grade, ok: df.select(mix("x").alias("a"), mix("x").alias("b")),
    "join below": lambda df, mix, grade, ok: (
        df.select("x", "y")
        .join(df.select(F.col("x").alias("k")), F.col("x") == F.col("k"))
        .select(mix("k"), grade("y"))
    ),
    "join above": lambda df, mix, grade, ok: df.select("x", mix("x").alias("m")).join(
        df.select(F.col("x").alias("k")), F.col("m") == F.col("k"), "left"
    ),
    "window": lambda df, mix, grade, ok: df.select("x", grade("y").alias("g")).selectExpr(
        "x", "count(*) OVER (PARTITION BY g)"
    ),
    "having": lambda df, mix, grade, ok: df.groupBy(ok("x").alias("o")).count().filter("count > 1"),
    "struct field": lambda df, mix, grade, ok: df.select(mix("r.k"), grade("y")),
}


@pytest.mark.parametrize("name", OPERATORS)
def test_no_python_is_left(df: DataFrame, name: str, arrow: bool) -> None:
    mix, grade = function(_mix, "bigint", arrow), function(_grade, "string", arrow)
    check(OPERATORS[name](df, mix, grade, function(_ok, "boolean", arrow)))


def test_a_join_condition_stays_in_python(df: DataFrame) -> None:
    mix = function(_mix, "bigint")
    left, right = df.select("x"), df.select(F.col("x").alias("k"))
    out = left.join(right, mix("x") == F.col("k"))
    made = better(out)
    assert calls(made) == calls(out) > 0
    assert rows(made) == rows(out)


def test_dates_and_a_filter_that_goes_below(df: DataFrame, arrow: bool) -> None:
    year = function(_year, "int", arrow)
    made = check(df.select("x", year("d").alias("ym")).filter("ym > 200000"))
    assert str(made._jdf.queryExecution().analyzed()).count("Filter") >= 1
    check(df.select("x", year("d").alias("ym")).filter("ym % 2 = 0"))


def test_views_and_definitions(spark: SparkSession, df: DataFrame) -> None:
    spark.udf.register("grade_of", function(_grade, "string"))
    df.createOrReplaceTempView("compiled_rows")
    check(spark.sql("SELECT grade_of(y) AS g, count(*) FROM compiled_rows GROUP BY grade_of(y)"))
    check(spark.sql("WITH t AS (SELECT x, grade_of(y) AS g FROM compiled_rows) SELECT * FROM t"))
    twice = "WITH t AS (SELECT x, grade_of(y) AS g FROM compiled_rows) "
    out = spark.sql(twice + "SELECT a.g FROM t a JOIN t b ON a.x = b.x WHERE a.g = 'low'")
    assert rows(better(out)) == rows(out)
    spark.catalog.dropTempView("compiled_rows")


# --- chains ---------------------------------------------------------------------------------------


def test_a_chain_of_functions_that_are_read(df: DataFrame, arrow: bool) -> None:
    grade, tag = function(_grade, "string", arrow), function(_tag, "string", arrow)
    out = df.select(grade("y").alias("g")).withColumnRenamed("g", "h").select(tag("h"))
    made = better(out)
    assert rows(made) == rows(out)
    assert made.schema == out.schema


CHAINS: dict[str, Callable[[DataFrame], DataFrame]] = {
    "direct": lambda df: df,
    "renamed": lambda df: df.withColumnRenamed("m", "q").withColumnRenamed("q", "m"),
    "union": lambda df: df.union(df),
    "limit": lambda df: df.limit(100),
    "filter": lambda df: df.filter("s IS NULL OR s <> 'zz'"),
    "sort": lambda df: df.orderBy("s"),
}


@pytest.mark.parametrize("between", CHAINS)
@pytest.mark.parametrize("inner", [_half, _mix], ids=["2.5 for bigint", "bigint"])
def test_what_functions_hand_on(
    df: DataFrame, inner: Callable[..., Any], between: str, arrow: bool
) -> None:
    """A function may be handed the very object that another one returns."""
    first, second = function(inner, "bigint", arrow), function(_mix, "bigint", arrow)
    below = CHAINS[between](df.select("s", first("x").alias("m")))
    out = below.select("s", second("m").alias("o"), F.col("m").alias("p"))
    made = better(out)
    assert made.schema == out.schema
    assert rows(made) == rows(out)


def test_a_function_that_is_not_read_above_and_below(df: DataFrame, arrow: bool) -> None:
    opaque = function(lambda x: hash(x) % 3 if x else None, "bigint", arrow)
    mix, tag = function(_mix, "bigint", arrow), function(_half, "bigint", arrow)
    for out in (
        df.select(mix(opaque("x"))),
        df.select(opaque(mix("x"))),
        df.select(opaque(tag("x"))),
        df.select(tag(opaque("x")), mix("x")),
    ):
        made = better(out)
        assert rows(made) == rows(out)
        assert made.schema == out.schema


# --- errors ---------------------------------------------------------------------------------------


def test_both_raise(df: DataFrame, arrow: bool) -> None:
    positive = function(_positive, "bigint", arrow)
    out = df.select(positive("x"))
    made = better(out)
    assert calls(made) == 0
    assert rows(made) == rows(out) == RAISES
    check(df.filter("x > 0").select(positive("x")))


def test_a_function_that_raises_stays_where_more_may_come(df: DataFrame) -> None:
    """Spark moves a filter that comes later below an expression, and calls Python after it."""
    out = df.withColumn("z", function(_positive, "bigint")("x"))
    made = presieve.optimize(out, compile="always")
    assert calls(made) == calls(out) == 1
    later = "z % 2 = 0 AND x > 0"
    assert rows(made.filter(later)) == rows(out.filter(later)) != RAISES


def _stripped(tables: Iterator[Any]) -> Iterator[Any]:
    for pdf in tables:
        pdf["s"] = pdf["s"].apply(lambda v: v.strip())
        yield pdf


@pytest.mark.parametrize("how", ["what it gives is used further", "a filter is above"])
def test_a_function_of_tables_that_raises_stays(spark: SparkSession, how: str) -> None:
    """Spark 3.5 moves a filter on an expression that raises below the join, where more rows are."""
    rows_ = spark.createDataFrame([("a", 1.0), (" b ", 2.0), (None, 3.0)], "s string, y double")
    keys = spark.createDataFrame([(1.0,), (2.0,)], "k double")
    joined = rows_.join(keys, rows_.y == keys.k).select("s", "y")
    out = joined.mapInPandas(_stripped, "s string, y double")
    stays = "soundex(s) <> 'a'"  # no pre-filter takes its place
    later = out.filter(stays)
    assert rows(later) != RAISES
    if how == "a filter is above":
        made = better(later)
    else:
        made = presieve.optimize(out, compile="always").filter(stays)
    assert rows(made) == rows(later)
    assert "MapInPandas" in str(made._jdf.queryExecution().optimizedPlan())


def _whole_number(y: float | None) -> float | None:
    return 1 if y is None or y < 2.0 else y


def _shown(z: float | None) -> str | None:
    return None if z is None else str(z)


def test_an_object_is_handed_on_where_more_may_come(df: DataFrame) -> None:
    """The integer that it returns is a double in the column, and none for a function above it."""
    out = df.withColumn("z", function(_whole_number, "double")("y"))
    made = presieve.optimize(out, compile="always")
    assert calls(made) == calls(out) == 1
    shown = function(_shown, "string")
    later, apart = (d.select(shown("z")) for d in (out, out.orderBy("x").limit(100)))
    assert rows(made.select(shown("z"))) == rows(later) != rows(apart)
    check(out)


_COUNTED = ("x", "z", "count(*) OVER (PARTITION BY x) AS c")

FILTERED: dict[str, Callable[[DataFrame, DataFrame], DataFrame]] = {
    "a join": lambda df, keys: df.join(keys, df.z == keys.k),
    "a condition that may raise": lambda df, keys: df.filter("z % 2 = 0 AND 10 / x > 0"),
    "a condition that is not read": lambda df, keys: df.filter("z % 2 = 0 AND abs(hash(x)) > x"),
    "the result of another function": lambda df, keys: df.withColumn(
        "n", function(_mix, "bigint")("x")
    ).filter("z % 2 = 0 AND n > 2 AND hash(n) <> 5"),
}


@pytest.mark.parametrize("name", FILTERED)
def test_an_error_is_never_added(df: DataFrame, name: str) -> None:
    """Spark calls Python after other conjuncts, and evaluates expressions in the order that they
    have.
    """
    if is_before("4.0") and "raise" in name:
        pytest.skip("nothing raises without ANSI")
    positive = function(_positive, "bigint")
    keys = df.filter("x > 0").select(F.col("x").alias("k")).distinct()
    out = FILTERED[name](df.withColumn("z", positive("x")), keys)
    made = better(out)
    if rows(out) != RAISES:
        assert rows(made) == rows(out)
    assert calls(made) == calls(out) > 0


_UNREAD = "reverse(CAST(z AS STRING)) <> '5'"
"""A condition on the result that no pre-filter takes the place of."""


def _not_negative(x):  # type: ignore[no-untyped-def]
    return 0 if x is None or x < 0 else x


DIVIDED: dict[str, Callable[[DataFrame], DataFrame]] = {
    "two conjuncts": lambda df: df.filter("10 div z > 0 AND x > 0"),
    "two filters": lambda df: df.filter("10 div z > 0").filter("x > 0"),
    "a column": lambda df: df.withColumn("w", F.expr("10 div z")).filter("w > 0 AND x > 0"),
    "a column of a column": lambda df: (
        df.withColumn("w", F.expr("10 div z"))
        .withColumn("v", F.expr("w + 1"))
        .filter("v > 1 AND x > 0")
    ),
    "a join": lambda df: df.join(df.sparkSession.range(1, 9), F.expr("10 div z = id AND x > 0")),
}


@pytest.mark.skipif(is_before("4.0"), reason="nothing raises without ANSI")
@pytest.mark.parametrize("name", DIVIDED)
def test_what_reads_the_result_raises_for_no_further_rows(df: DataFrame, name: str) -> None:
    """Spark calls Python after ``x > 0``, so that nothing is divided by zero."""
    out = DIVIDED[name](df.withColumn("z", function(_not_negative, "bigint")("x")))
    made = better(out)
    assert rows(made) == rows(out) != RAISES
    assert calls(made) == calls(out) > 0
    whole = better(
        df.withColumn("z", function(_not_negative, "bigint")("x")).filter("10 div z > 0")
    )
    assert calls(whole) == 0


CALLED_IF: dict[str, Callable[[DataFrame], DataFrame]] = {
    "another conjunct": lambda df: df.filter(f"{_UNREAD} AND x > 0"),
    "another filter": lambda df: df.filter(_UNREAD).filter("x > 0"),
    "two filters": lambda df: df.filter("x > 0 OR y > 1").filter(f"{_UNREAD} AND x <> -7"),
    "no filter on the result": lambda df: df.filter("x > 0"),
    "a column that the function does not read": lambda df: df.filter("y > 0.5"),
    "a renamed column": lambda df: df.selectExpr("x AS w", "z").filter(f"{_UNREAD} AND w > 0"),
    "a sort": lambda df: df.orderBy("y", "x").filter(f"{_UNREAD} AND x > 0"),
    "a window": lambda df: df.selectExpr(*_COUNTED).filter(f"{_UNREAD} AND x > 0"),
    "a count": lambda df: df.groupBy("z").count().filter("count > 0"),
    "a grouping column": lambda df: df.groupBy("z", "x").count().filter(f"{_UNREAD} AND x > 0"),
    "a union": lambda df: df.select("x", "z").union(df.select("x", "x")).filter("x > 0"),
}


@pytest.mark.parametrize("name", CALLED_IF)
def test_an_expression_raises_only_for_rows_that_the_function_is_called_for(
    df: DataFrame, name: str
) -> None:
    positive = function(_positive, "bigint")
    out = CALLED_IF[name](df.withColumn("z", positive("x")))
    made = better(out)
    assert calls(out) > 0
    assert calls(made) == 0
    assert rows(made) == rows(out)
    some = CALLED_IF[name](df.filter("x > 0").withColumn("z", positive("x")))
    assert rows(better(some)) == rows(some) != RAISES


def test_a_row_that_the_other_conditions_keep_keeps_its_error(df: DataFrame) -> None:
    """In each of these, a row remains for which the function raises."""
    z = df.withColumn("z", function(_positive, "bigint")("x"))
    for where in ("x > -10", "x > 0 OR s IS NULL", "x IS NULL"):
        out = z.filter(where)
        made = better(out)
        assert calls(made) == 0
        assert rows(made) == rows(out) == RAISES, where


def test_a_filter_on_results_alone_drops_no_row_before_the_call(df: DataFrame) -> None:
    positive = function(_positive, "bigint")
    for rows_ in (df, df.filter("x > 0"), df.filter("x > 0").orderBy("x")):
        out = rows_.withColumn("z", positive("x")).filter("z % 2 = 0 AND z > x - 100")
        made = better(out)
        assert calls(made) == 0
        assert rows(made) == rows(out)


def test_spark_moves_such_a_filter_below_a_join(df: DataFrame) -> None:
    keys = df.filter("x > 0").select(F.col("x").alias("k")).distinct()
    out = df.join(keys, df.x == keys.k).withColumn("z", function(_positive, "bigint")("x"))
    out = out.filter("z % 2 = 0")
    made = better(out)
    assert calls(made) == calls(out) > 0
    assert rows(made) == rows(out) != RAISES


def test_no_error_disappears_under_the_strict_policy(df: DataFrame) -> None:
    positive = function(_positive, "bigint")
    guarded = df.select(F.when(F.col("x") > 0, positive("x")))
    assert rows(guarded) == RAISES
    assert rows(better(guarded, policy="strict")) == RAISES
    assert calls(better(guarded, policy="strict")) > 0
    assert calls(better(guarded)) == 0
    check(df.select(function(_mix, "bigint")("x")), policy="strict")


def test_dates_beyond_pythons_are_an_error_that_only_strict_keeps(spark: SparkSession) -> None:
    far = spark.sql("SELECT explode(array(DATE '2024-01-31', DATE '+10000-01-01')) AS d")
    out = far.select(function(_year, "int", False)("d"))
    assert calls(better(out, policy="strict")) > 0
    assert calls(better(out)) == 0


# --- inputs ---------------------------------------------------------------------------------------


def test_an_input_in_the_cache(df: DataFrame) -> None:
    kept = df.select("x", "y").cache()
    kept.count()
    try:
        check(kept.select(function(_mix, "bigint")("x")))
        out = kept.select(function(_mix, "bigint")("x").alias("m")).cache()
        out.count()
        made = better(out.filter("m > 2"))
        assert "InMemoryRelation" in str(made._jdf.queryExecution().withCachedData())
        assert rows(made) == rows(out.filter("m > 2"))
        out.unpersist()
    finally:
        kept.unpersist()


def test_columns_of_one_name(df: DataFrame) -> None:
    mix = function(_mix, "bigint")
    out = df.select(mix("x").alias("m"), mix("r.k").alias("m"))
    assert rows(better(out)) == rows(out)
    twins = df.alias("a").join(df.alias("b"), F.col("a.x") == F.col("b.x"))
    out = twins.select(mix("a.x"), mix("b.r.k"))
    made = better(out)
    assert rows(made) == rows(out)
    assert made.schema == out.schema


def test_columns_that_are_never_null(spark: SparkSession) -> None:
    """What a function gives is nullable for Spark, and stays so."""
    df = spark.range(20).selectExpr("id", "id IN (3, 4) AS b")
    made = check(df.select(function(_mix, "bigint")("id"), function(_ok, "boolean")("id")))
    assert all(f.nullable for f in made.schema)
    assert not any(f.nullable for f in df.schema)


ODD = ["`a b`", "`select`", "`a``b`", "`a.b`", "`é`"]


@pytest.mark.parametrize("name", ODD)
def test_odd_names(spark: SparkSession, name: str) -> None:
    df = spark.range(5).selectExpr(f"id AS {name}", "id AS other")
    check(df.select(function(_mix, "bigint")(F.col(name))))


CODE = re.compile(r"^[A-Z]{2,8}\d{2,4}$")
LEVEL = re.compile(r"\[(error|warn)\]", re.IGNORECASE)
TEXTS = ["AB12", "ab12", "AB12\n", "AB12\r\n", "AB\u0661\u0662", "ABCDEFGHI12", "", None]
TEXTS += ["x [ERROR] y", "[Warn]", "[warn", "a\n[error]", "\u2028AB12", "[\u212aerror]"]


def _is_code(s):  # type: ignore[no-untyped-def]
    return s is not None and bool(CODE.match(s))


def _level(s):  # type: ignore[no-untyped-def]
    if s is None:
        return None
    return "bad" if LEVEL.search(s) else "short" if re.fullmatch(r"\S{0,5}", s) else "other"


def _has_word(s):  # type: ignore[no-untyped-def]
    return s is not None and re.search(r"\bAB", s) is not None


def test_patterns(spark: SparkSession, arrow: bool) -> None:
    """Without Arrow, Python reads bytes that are no UTF-8 as texts, as Spark then does, too."""
    df = spark.createDataFrame([(t,) for t in TEXTS], "s string")
    code, level = function(_is_code, "boolean", arrow), function(_level, "string", arrow)
    for out in (
        df.select("s", code("s")),
        df.filter(code("s")),
        df.select("s", level("s").alias("l")).filter("l = 'bad'"),
    ):
        check(out)
    left = df.select("s", function(_has_word, "boolean", arrow)("s"))
    assert calls(better(left)) == 1
    assert rows(better(left)) == rows(left)


def test_bytes_that_are_no_text(spark: SparkSession, arrow: bool) -> None:
    """A worker without Arrow decodes them; with Arrow it raises."""
    df = spark.sql("SELECT CAST(b AS STRING) AS s FROM VALUES (X'61FF'), (X'FF'), (X'62') AS t(b)")
    for of, type_ in ((lambda s: s, "string"), (lambda s: None if s is None else len(s), "int")):
        out = df.select(function(of, type_, arrow)("s"))
        if rows(out) != RAISES:
            assert rows(better(out)) == rows(out)
        assert rows(better(out, policy="strict")) == rows(out)


@pytest.fixture
def without_ansi(spark: SparkSession) -> Iterator[None]:
    before = spark.conf.get("spark.sql.ansi.enabled")
    spark.conf.set("spark.sql.ansi.enabled", "false")
    yield
    spark.conf.set("spark.sql.ansi.enabled", str(before))


def _sum(x, y):  # type: ignore[no-untyped-def]
    return None if x is None or y is None else x + x + y


@pytest.mark.usefixtures("without_ansi")
def test_integers_beyond_64_bits_without_ansi(spark: SparkSession, arrow: bool) -> None:
    df = spark.createDataFrame([(2**62, 2**62), (3, 4), (-(2**63), -1)], "x bigint, y bigint")
    out = df.select(function(_sum, "bigint", arrow)("x", "y"))
    made = better(out)
    assert calls(made) == 0
    assert rows(made) == rows(out)


def _times_nothing(x, y):  # type: ignore[no-untyped-def]
    return None if x is None or y is None else x * (0 * y) * x


def _moved(x, y):  # type: ignore[no-untyped-def]
    if x is None or y is None or x < 2**62 or y < 2**62:
        return None
    return (x + -(2**62)) + (y + -(2**62))


@pytest.mark.parametrize("of", [_times_nothing, _moved])
def test_spark_computes_constants_last(spark: SparkSession, of: Any, arrow: bool) -> None:
    """In that order a product, or a sum, would overflow (``ReorderAssociativeOperator``)."""
    rows_of = [(2**62, 2**62 + 3), (3, 4), (-(2**62), -1), (2**62 + 1, 2**62 + 1), (None, 1)]
    df = spark.createDataFrame(rows_of, "x bigint, y bigint")
    out = df.select(function(of, "bigint", arrow)("x", "y"))
    assert rows(better(out)) == rows(out) != RAISES


def test_what_is_declined_stays(df: DataFrame, tmp_path: Path) -> None:
    mix = function(_mix, "bigint")
    opaque = function(lambda x: hash(x), "bigint")
    random = mix.asNondeterministic()
    out = df.select(opaque("x"), random("x"), mix("x").alias("m"))
    made = better(out)
    assert rows(made) == rows(out)
    assert calls(made) >= 1
    assert calls(presieve.optimize(df.select(mix("x")), compile="never")) == 1
    assert calls(better(df.select(mix("x")), cost="never")) == 1


def test_a_stream_is_left_alone(spark: SparkSession) -> None:
    stream = spark.readStream.format("rate").load().select(function(_mix, "bigint")("value"))
    made = better(stream)
    assert "_mix(" in made._jdf.queryExecution().analyzed().toString()


def _itself(x):  # type: ignore[no-untyped-def]
    return x


def test_a_columns_metadata_ends_at_the_function(df: DataFrame) -> None:
    """Spark gives an alias the metadata of the column that it is of."""
    marked = df.select(F.col("x").alias("x", metadata={"of": "x"}))
    itself = function(_itself, "bigint")
    for out in (
        marked.select(itself("x")),
        marked.select(itself("x").alias("z")),
        marked.select(itself("x").alias("z", metadata={"of": "z"})),
    ):
        made = check(out)
        assert [f.metadata for f in made.schema] == [f.metadata for f in out.schema]


def _first(batches):  # type: ignore[no-untyped-def]
    for pdf in batches:
        yield pdf[["a"]]


@pytest.mark.parametrize("mode", ["DROPMALFORMED", "FAILFAST"])
def test_rows_that_depend_on_which_columns_are_read(
    spark: SparkSession, tmp_path: Path, mode: str
) -> None:
    (tmp_path / "t.csv").write_text("1,2\n3,x\n5,6\n")
    read = spark.read.schema("a double, b bigint").option("mode", mode)
    out = read.csv(str(tmp_path)).mapInPandas(_first, "a double")
    assert rows(better(out)) == rows(out)


def test_metadata_of_a_tables_columns(spark: SparkSession, df: DataFrame) -> None:
    given = StructType([StructField("y", DoubleType(), True, {"of": "y"})])
    out = df.select("y").mapInPandas(_as_they_are, given)
    made = better(out)
    assert "MapInPandas" not in made._jdf.queryExecution().analyzed().toString()
    assert [f.metadata for f in made.schema] == [f.metadata for f in out.schema] == [{"of": "y"}]


def _as_they_are(batches):  # type: ignore[no-untyped-def]
    yield from batches


def _drawn(batches):  # type: ignore[no-untyped-def]
    for pdf in batches:
        pdf["y"] = pdf["y"].rank()
        yield pdf


def test_a_function_of_tables_that_stays_has_a_reason(df: DataFrame) -> None:
    out = df.select("y").mapInPandas(_drawn, "y double")
    (function,) = presieve.explain(out, compile="auto").functions
    assert function.compiled is None
    assert [n.subject for n in function.notes if n.subject == "compiling"] == ["compiling"]


def _halved(x):  # type: ignore[no-untyped-def]
    return None if x is None else x / 2


def test_what_reaches_scans_is_told_of_the_right_boundary(df: DataFrame) -> None:
    """The operator of a function that is compiled is no longer in the plan."""
    half = udf(_halved, "double")
    one = df.select(half("y").alias("z")).filter("z < 1")
    best = df.groupBy("s").max("y").toDF("s", "m").filter("m > 2")
    for out in (one, one.join(best, one.z == best.m), best.join(one, one.z == best.m)):
        told = [
            [
                (b.prefilter, b.pushed_to_scan)
                for b in presieve.explain(out, compile=compile_, cost="always").boundaries
            ]
            for compile_ in ("never", "auto")
        ]
        assert told[0] == told[1]
        assert any(pushed for _, pushed in told[1]), told


def returned(v: int | None) -> str | None:
    """Texts that are none among them: half of a pair of surrogates, alone and before a letter."""
    return {"1": "\ud800", "2": "\ude00é", "3": "abc"}.get(str(v))


def after_of_two(s: str | None, v: int | None) -> bool:
    return s is not None and s > "é" and v is not None


@pytest.mark.parametrize("arrow", [False, True])
def test_texts_that_a_function_returned(spark: SparkSession, arrow: bool) -> None:
    """What was pickled is UTF-8 by now. What came by Arrow is decoded as it is for a worker.
    Functions of two arguments are handed columns, not the very objects that others return.
    """
    table = spark.range(3 if arrow else 1, 5).withColumnRenamed("id", "v")
    out = table.withColumn("s", function(returned, "string", arrow)("v"))
    if not arrow:
        given = [r.s for r in out.orderBy("v").collect()]
        assert given == ["\ufffd", "\ufffdé", "abc", None]
    check(out.withColumn("r", function(after_of_two, "boolean", arrow=False)("s", "v")), left=1)


# --- what an enabled session compiles -------------------------------------------------------------


def inverse(x: Any) -> Any:
    return None if x is None else 1 / x


def logarithm(x: Any) -> Any:
    return None if x is None else math.log(1 / x)


@pytest.mark.classic("functions are not compiled on Spark Connect")
@pytest.mark.parametrize(("of", "promised"), [(inverse, True), (logarithm, False)])
def test_what_an_enabled_session_compiles_is_promised_if_it_does(
    spark: SparkSession, of: Callable[[Any], Any], promised: bool
) -> None:
    """A function that no text of Spark's means says so, whatever may be done with it later."""
    df = spark.createDataFrame([(1.0,), (0.5,), (None,)], "x double")
    out = df.select(function(of, "double")("x").alias("r")).filter("r IS NOT NULL")
    told = " ".join(str(explain(out, cost="always", compile="auto")).split())
    assert ("in an enabled session, where what runs is known" in told) == promised
    assert (calls(better(out)) == 0) == promised


def _hours(a, b):  # type: ignore[no-untyped-def]
    return (b - a).total_seconds() / 3600


def _percent(x):  # type: ignore[no-untyped-def]
    return x / 100


def test_large_integers_by_a_power_of_ten(spark: SparkSession) -> None:
    """Also differences of times that are farther apart than a double counts microseconds."""
    times = [
        dt.datetime(1, 1, 2),
        dt.datetime(1970, 1, 1),
        dt.datetime(9999, 12, 30, 23, 59, 59, 999_999),
    ]
    pairs = [
        (a, b, n)
        for a, n in zip(times, (2**53 + 1, -(2**63), 2**63 - 1), strict=True)
        for b in times
    ]
    df = spark.createDataFrame(pairs, "a timestamp, b timestamp, n bigint").repartition(1)
    check(df.select(function(_hours, "double", False)("a", "b"), function(_percent, "double")("n")))
