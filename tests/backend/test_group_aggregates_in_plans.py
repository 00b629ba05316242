"""Where functions of groups that become aggregates stand in plans, and what is left alone."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from pyspark.sql import functions as F
from tests.support import group_functions as g
from tests.support.aggregating import RAISES, Saved, better, check, grouped, python_left, rows
from tests.support.pickling import pickled_by_value

import presieve

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
    return saved(g.ROWS, g.SCHEMA)


def above(column: str = "x", name: str = "m") -> Any:
    """How many values are above one."""
    return g.udaf(g.above_one, "bigint")(column).alias(name)


def of(df: DataFrame) -> DataFrame:
    return df.groupBy("k").agg(above())


# --- operators ------------------------------------------------------------------------------------

OPERATORS: dict[str, Callable[[DataFrame], DataFrame]] = {
    "two keys": lambda df: df.groupBy("k", "s").agg(above()),
    "no rows": lambda df: of(df.filter("v = 12345")),
    "having": lambda df: of(df).filter("m > 0"),
    "key above": lambda df: of(df).filter("k = 'a'"),
    "key is NULL": lambda df: of(df).filter("k IS NULL AND m >= 0"),
    "nullable key": lambda df: of(df).filter("k IS NOT NULL").select("m"),
    "join above": lambda df: of(df).join(df.select("k", "v"), "k"),
    "outer join above": lambda df: df.select("k", "v").join(of(df).filter("m > 1"), "k", "left"),
    "with itself": lambda df: of(df).join(of(df).withColumnRenamed("m", "q"), "k"),
    "one plan twice": lambda df: (lambda d: d.union(d))(of(df)),
    "union of two": lambda df: of(df).union(df.groupBy("s").agg(above("x", "z"))),
    "rollup": lambda df: df.rollup("k").agg(above()),
    "cube": lambda df: df.cube("k", "s").agg(above()),
    "limit below": lambda df: of(df.orderBy("v", "x").limit(5)),
    "window above": lambda df: of(df).selectExpr("k", "sum(m) OVER (PARTITION BY m) AS w"),
    "order above": lambda df: of(df).orderBy("m", "k").limit(2),
    "aggregate above": lambda df: of(df).groupBy("m").count(),
    "expression below": lambda df: of(df.withColumn("x", F.col("x") * 2)),
    "key is an expression": lambda df: df.withColumn("k", F.upper("k")).groupBy("k").agg(above()),
    "aggregate of its results": lambda df: (
        df.groupBy("k", "s").agg(above()).groupBy("k").agg(g.udaf(g.size, "bigint")("m"))
    ),
    "subquery": lambda df: df.join(of(df), "k", "left_semi").groupBy("k").agg(above("x", "z")),
}


@pytest.mark.parametrize("name", OPERATORS)
def test_operators(df: DataFrame, name: str) -> None:
    check(OPERATORS[name](df))


LEFT: dict[str, Callable[[DataFrame], DataFrame]] = {
    "double key": lambda df: df.groupBy("x").agg(above()),
    "no key": lambda df: df.groupBy().agg(above()),
    "no key, no row": lambda df: df.filter("1 = 0").groupBy().agg(above()),
    "key by an expression": lambda df: df.groupBy(F.upper("k").alias("u")).agg(above()),
    "key twice": lambda df: df.groupBy("k", F.col("k").alias("l")).agg(above()),
    "argument by an expression": lambda df: df.groupBy("k").agg(above(F.col("x") + 1)),  # type: ignore[arg-type]
    "larger expression": lambda df: df.groupBy("k").agg((above() + 1).alias("m")),
    "result called as its key": lambda df: df.groupBy("k").agg(above("x", "k")),
    "results of one name": lambda df: df.groupBy("k").agg(above("x", "m"), above("x", "M")),
    "struct key": lambda df: df.select("x", F.struct("k").alias("k")).groupBy("k").agg(above()),
    "not deterministic": lambda df: df.groupBy("k").agg(
        g.udaf(g.above_one, "bigint").asNondeterministic()("x").alias("m")
    ),
    "names of two tables": lambda df: (
        df.alias("a").join(df.alias("b"), F.expr("a.k = b.k")).groupBy("a.k").agg(above("b.x"))
    ),
    "collated key": lambda df: of(df.select(F.expr("k COLLATE UTF8_LCASE").alias("k"), "x")),
}


@pytest.mark.parametrize("name", LEFT)
def test_what_is_left_alone_or_right(df: DataFrame, name: str) -> None:
    out = LEFT[name](df)
    made = better(out)
    assert made.schema == out.schema
    assert rows(made) == rows(out)


def test_by_sql(spark: SparkSession, df: DataFrame) -> None:
    spark.udf.register("above_one", g.udaf(g.above_one, "bigint"))
    df.createOrReplaceTempView("grouped_rows")
    grouping = "SELECT k, s, above_one(x) AS m FROM grouped_rows GROUP BY GROUPING SETS "
    for text in (
        "SELECT k, above_one(x) AS m FROM grouped_rows GROUP BY k HAVING above_one(x) > 0",
        "SELECT above_one(x) AS m, k FROM grouped_rows GROUP BY ALL ORDER BY k",
        grouping + "((k), (k, s), ())",
        "WITH t AS (SELECT k, above_one(x) AS m FROM grouped_rows GROUP BY k) "
        "SELECT * FROM t AS a JOIN t AS b ON a.k = b.k",
    ):
        check(spark.sql(text))
    spark.catalog.dropTempView("grouped_rows")


NAMES = ["a b", "a`b", "a.b", "select", "é", "rows", "count(1)", "__presieve_0_0", "x'y"]


@pytest.mark.parametrize("name", NAMES)
def test_odd_names(df: DataFrame, name: str) -> None:
    quoted = "`" + name.replace("`", "``") + "`"
    check(df.select("k", F.col("x").alias(name)).groupBy("k").agg(above(quoted, name + "_")))
    check(df.groupBy("k").agg(above("x", name)))
    key = df.select("x", F.col("k").alias(name)).groupBy(quoted).agg(above())
    assert rows(better(key)) == rows(key)
    assert python_left(better(key)) == (name == "__presieve_0_0")


def test_columns_that_differ_in_case(spark: SparkSession, df: DataFrame) -> None:
    before = spark.conf.get("spark.sql.caseSensitive")
    spark.conf.set("spark.sql.caseSensitive", "true")
    try:
        two = df.select("k", F.col("x").alias("a"), F.col("v").cast("double").alias("A"))
        for out in (
            two.groupBy("k").agg(above("A")),
            two.groupBy("k").agg(above("a"), above("A", "M")),
            two.groupBy("k", "a").agg(above("A")),
        ):
            assert rows(better(out)) == rows(out)
            assert better(out).schema == out.schema
    finally:
        spark.conf.set("spark.sql.caseSensitive", str(before))


# --- schemas --------------------------------------------------------------------------------------


def test_nullability(spark: SparkSession) -> None:
    never = spark.range(9).selectExpr("id AS k", "CAST(id AS DOUBLE) AS x")
    out = of(never)
    made = check(out)
    assert [f.nullable for f in made.schema] == [f.nullable for f in out.schema] == [False, True]
    check(never.groupBy("k").applyInPandas(g.sized, "n bigint NOT NULL"))


def test_metadata_of_columns(df: DataFrame) -> None:
    marked = df.select(
        F.col("k").alias("k", metadata={"of": "k"}), F.col("x").alias("x", metadata={"of": "x"})
    )
    made = check(of(marked))
    assert [f.metadata for f in made.schema] == [{"of": "k"}, {}]
    check(marked.groupBy("k").applyInPandas(g.sized, "n bigint"))


def test_metadata_of_a_result(df: DataFrame) -> None:
    size = g.udaf(g.size, "bigint")("x").alias("n", metadata={"of": "n"})
    made = check(df.groupBy("k").agg(size))
    assert made.schema["n"].metadata == {"of": "n"}


# --- errors ---------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def raising(saved: Saved) -> DataFrame:
    """pandas has no maximum of bytes and None: the function raises for one group."""
    return saved([(1, b"a"), (2, b"b"), (2, None)], "k bigint, b binary")


def test_a_function_that_raises_raises(raising: DataFrame) -> None:
    out = grouped(raising, g.pandas_max, "binary", "b")
    made = better(out)
    assert not python_left(made)
    assert made.schema == out.schema
    assert rows(made) == rows(out) == RAISES
    check(grouped(raising.filter("k = 1"), g.pandas_max, "binary", "b"))


ABOVE: dict[str, Callable[[DataFrame], DataFrame]] = {
    "choice": lambda d: d.selectExpr("CASE WHEN k = 1 THEN m END AS c"),
    "another function": lambda d: d.filter("n = 1"),
    "another function first": lambda d: d.filter("n = 1 AND m IS NOT NULL"),
}


@pytest.mark.parametrize("name", ABOVE)
@pytest.mark.parametrize("at_once", [True, False])
def test_no_error_disappears_under_the_strict_policy(
    raising: DataFrame, name: str, at_once: bool
) -> None:
    largest, size = g.udaf(g.pandas_max, "binary"), g.udaf(g.size, "bigint")
    out = raising.groupBy("k").agg(largest("b").alias("m"), size("b").alias("n"))
    later = ABOVE[name](out)
    assert rows(later) == RAISES
    if at_once:
        made = better(later, policy="strict")
    else:
        strict = presieve.optimize(out, policy="strict", compile="always", cost="always")
        made = ABOVE[name](strict)
    assert rows(made) == RAISES


@pytest.mark.parametrize("above_it", ["k", "j = 1", "count"])
def test_tables_that_raise_under_the_strict_policy(raising: DataFrame, above_it: str) -> None:
    out = raising.groupBy("k").applyInPandas(g.bytes_max, "j bigint, m binary")
    strict = presieve.optimize(out, policy="strict", compile="always", cost="always")
    for d in (out, strict):
        later = {
            "k": lambda d: d.select("j"),
            "j = 1": lambda d: d.filter("j = 1"),
            "count": lambda d: d.groupBy().count(),
        }[above_it](d)
        assert rows(later) == RAISES


# --- what is known --------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def some(saved: Saved) -> DataFrame:
    """With NULL and NaN, where a function gives what no aggregate does."""
    return saved(
        [("a", 1, 2.0), ("a", 2, 3.0), ("b", 5, -1.0), ("b", 6, g.NAN), ("b", 7, 9.0)],
        "k string, v bigint, x double",
    )


NOT_SAID: dict[str, Callable[[DataFrame, DataFrame], DataFrame]] = {
    "outer join": lambda t, pos: (
        t.selectExpr("k", "v AS w").distinct().join(pos.selectExpr("v AS w", "x"), "w", "left")
    ),
    "union": lambda t, pos: pos.union(t),
    "another column of the name": lambda t, pos: pos.withColumn("x", F.expr("nullif(-x, -2)")),
    "or": lambda t, pos: t.filter("(x > 0 AND NOT isnan(x)) OR k = 'b'"),
    "NaN": lambda t, pos: t.filter("x > 0"),
    "rollup": lambda t, pos: pos.union(t.filter("k = 'b'")),
}


@pytest.mark.parametrize("name", NOT_SAID)
def test_filters_that_say_nothing(some: DataFrame, name: str) -> None:
    positive = some.filter("x > 0 AND NOT isnan(x)")
    check(grouped(positive, g.greatest, "double", "x"))
    out = grouped(NOT_SAID[name](some, positive), g.greatest, "double", "x")
    assert rows(better(out)) == rows(out)


FACTS = "x IS NOT NULL AND NOT isnan(x) AND x <> 0"


def unsaid(some: DataFrame) -> DataFrame:
    """Of values of which neither plan nor files say that none is NaN."""
    computed = some.filter("v <> 6").selectExpr("k", "x + 0 AS x")
    return grouped(computed, g.greatest, "double", "x")


def test_policies(some: DataFrame) -> None:
    check(unsaid(some), policy="assume")
    for policy in ("strict", "default"):
        assert rows(better(unsaid(some), policy=policy)) == rows(unsaid(some))
    assert python_left(better(unsaid(some), policy="strict"))


@pytest.mark.parametrize("policy", ["strict", "default"])
def test_declared_facts(some: DataFrame, policy: str) -> None:
    check(unsaid(some), declare=(FACTS,), policy=policy)


@pytest.mark.parametrize("mode", ["DROPMALFORMED", "FAILFAST", "PERMISSIVE"])
def test_rows_that_depend_on_which_columns_are_read(
    spark: SparkSession, tmp_path: Path, mode: str
) -> None:
    (tmp_path / "t.csv").write_text("a,1,2\nb,3,x\na,5,6\n")
    read = spark.read.schema("k string, x double, b bigint").option("mode", mode)
    out = of(read.csv(str(tmp_path)))
    assert rows(better(out)) == rows(out)
    assert python_left(better(out)) == (mode != "PERMISSIVE")


# --- what is left alone ---------------------------------------------------------------------------


def test_options(df: DataFrame) -> None:
    for options in ({"compile": "never"}, {"cost": "never"}):
        assert python_left(better(of(df), **options))
        assert rows(better(of(df), **options)) == rows(of(df))
    for policy in ("default", "strict", "assume"):
        check(of(df), policy=policy)


def test_the_cache(df: DataFrame) -> None:
    kept = df.select("k", "x").cache()
    kept.count()
    out = of(kept)
    made = check(out)
    assert "InMemory" in str(made._jdf.queryExecution().executedPlan())
    out = out.cache()
    out.count()
    for later in (out, out.filter("m > 0")):
        made = better(later)
        assert "InMemory" in str(made._jdf.queryExecution().executedPlan())
        assert rows(made) == rows(later)
    out.unpersist()
    kept.unpersist()


def test_a_dataframe_that_is_used_again(df: DataFrame) -> None:
    out = of(df)
    first = presieve.optimize(out, compile="always", cost="always")
    second = presieve.optimize(out, compile="always", cost="always")
    third = presieve.optimize(first, compile="always", cost="always")
    for made in (first, second, third):
        assert not python_left(made)
        assert made.schema == out.schema
    assert rows(first) == rows(second) == rows(third) == rows(out)
    assert rows(first.join(out.withColumnRenamed("m", "n"), "k")) == rows(
        out.join(out.withColumnRenamed("m", "n"), "k")
    )


def test_a_stream_is_left_alone(spark: SparkSession) -> None:
    stream = spark.readStream.format("rate").load()
    out = stream.groupBy("value").applyInPandas(g.sized, "n bigint")
    assert "InPandas" in str(better(out)._jdf.queryExecution().analyzed())
