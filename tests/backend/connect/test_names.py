"""What is special about Spark Connect: names that the server resolves, plan ids, what is opaque."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

import pytest
from pyspark.sql import functions as F
from tests.support.games import udfs
from tests.support.games.pipelines import most, pandas_udf
from tests.support.games.tables import Tables
from tests.support.running import code, rewritten, safe, same_rows, untouched

from presieve.driver.optimize import explain, optimize

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = pytest.mark.usefixtures("only_connect")


@contextmanager
def conf(spark: SparkSession, key: str, value: str) -> Iterator[None]:
    spark.conf.set(key, value)
    try:
        yield
    finally:
        spark.conf.unset(key)


# --- columns by the number of their DataFrame -----------------------------------------------


def test_references_to_dataframes_go_on_resolving(tables: Tables) -> None:
    groups = most(tables.strange)
    df = groups.filter(groups["m"] > 10)
    better = optimize(df)
    assert better is not df
    for one in (df, groups):
        same_rows(df.filter(one["m"] < 50), better.filter(one["m"] < 50))
        same_rows(df.select(one["m"], one["team"]), better.select(one["m"], one["team"]))


def test_references_below_the_boundary(tables: Tables) -> None:
    from pyspark.sql import functions as F

    rows = tables.strange
    top = pandas_udf("top", "double")
    rewritten(rows.groupBy(rows["team"]).agg(top(rows["score"]).alias("m")).filter("m >= 90"))
    renamed = rows.withColumnRenamed("v", "w")
    df = renamed.groupBy(rows["team"]).agg(F.max(renamed["w"]).alias("m"))
    rewritten(df.filter(df["m"] > 10))


def test_a_column_of_another_dataframe_is_not_taken_for_one_of_the_same_name(
    tables: Tables,
) -> None:
    """``m`` of the groups is gone: there is another column of that name."""
    from pyspark.sql import functions as F

    groups = most(tables.plain)
    df = groups.withColumn("m", F.lit(1)).join(groups.select("team", F.lit(2).alias("x")), "team")
    safe(df.filter("m > 10"))


@pytest.mark.parametrize("side", ["left", "right"])
def test_self_joins(tables: Tables, side: str) -> None:
    left = most(tables.strange)
    right = left.withColumnRenamed("m", "other")
    df = left.join(right, left["team"] == right["team"])
    rewritten_or_not = df.filter("m > 10" if side == "left" else "other > 10")
    safe(rewritten_or_not)
    both = left.alias("a").join(left.alias("b"), "team")
    safe(both.filter(f"{'a' if side == 'left' else 'b'}.m > 10"))


def test_an_alias_before_the_name(tables: Tables) -> None:
    from pyspark.sql import functions as F

    rewritten(most(tables.strange).alias("t").filter(F.col("t.m") > 10))
    rewritten(most(tables.strange).alias("t").filter(F.col("t.M") > 10).select("t.*"))


# --- names ----------------------------------------------------------------------------------


def test_strange_names(tables: Tables) -> None:
    from pyspark.sql import functions as F

    rows = tables.strange.withColumnRenamed("v", "a b.c").withColumnRenamed("team", "select")
    df = rows.groupBy("select").agg(F.max("`a b.c`").alias("max(x)"))
    rewritten(df.filter(F.col("`max(x)`") > 10))
    rewritten(df.filter("`max(x)` > 10"))


def test_two_columns_of_a_name(tables: Tables) -> None:
    from pyspark.sql import functions as F

    rows = tables.plain.select("team", "v", F.col("v").alias("V"))
    df = rows.groupBy("team").agg(F.max(rows["team"]).alias("m"), F.count("*").alias("n"))
    safe(df.filter("m > 'b'"))
    twice = tables.plain.groupBy("team").agg(F.max("v").alias("m"), F.min("v").alias("M"))
    assert code(twice.filter("n > 1") if "n" in twice.columns else twice.filter("team = 'a'"))


# --- what the server alone knows ------------------------------------------------------------


def test_tables_are_read(spark: SparkSession, tables: Tables) -> None:
    tables.plain.write.saveAsTable("stored_by_connect", format="parquet", mode="overwrite")
    try:
        boundary = rewritten(most(spark.table("stored_by_connect")).filter("m > 10"))
        assert "GreaterThan(v,10)" in boundary.pushed_to_scan
    finally:
        spark.sql("DROP TABLE stored_by_connect")


def test_functions_that_are_not_known(spark: SparkSession, tables: Tables) -> None:
    from pyspark.sql import functions as F

    spark.udf.register("strange_one", lambda v: v, "bigint")
    called = tables.plain.withColumn("v", F.call_function("strange_one", "v"))
    assert code(most(called).filter("m > 10")) == "nondeterministic"
    for random in (F.rand(), F.uuid(), F.monotonically_increasing_id(), F.expr("rand()")):
        below = most(tables.plain.withColumn("r", random)).filter("m > 10")
        assert code(below) == "nondeterministic"
    assert optimize(most(tables.plain).filter(F.rand() > 0.5)) is not None
    df = most(tables.plain).filter(F.rand() >= 0).filter("m > 10")
    assert optimize(df) is df


def test_a_function_registered_under_the_name_of_spark_s_own(
    spark: SparkSession, tables: Tables
) -> None:
    spark.udf.register("max", lambda v: -1, "bigint")
    try:
        rewritten(most(tables.strange).filter("m > 10"))
        with conf(spark, "spark.sql.functionResolution.sessionOrder", "first"):
            df = most(tables.strange).filter("m > 10")
            assert optimize(df) is df
    finally:
        spark.sql("DROP TEMPORARY FUNCTION IF EXISTS max")


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("spark.sql.caseSensitive", "true"),
        ("spark.sql.ansi.doubleQuotedIdentifiers", "true"),
        ("spark.sql.parser.escapedStringLiterals", "true"),
        ("spark.sql.legacy.typeCoercion.datetimeToString.enabled", "true"),
    ],
)
def test_settings_that_change_what_is_read(
    spark: SparkSession, tables: Tables, key: str, value: str
) -> None:
    with conf(spark, key, value):
        assert code(most(tables.plain).filter("m > 10")) == "conf"
    rewritten(most(tables.plain).filter("m > 10"))


def test_variables_in_text(tables: Tables) -> None:
    df = most(tables.plain).filter("team <> '${x}' AND m > 10")
    safe(df)


# --- caches ---------------------------------------------------------------------------------


def test_what_is_cached(tables: Tables) -> None:
    rows = tables.strange.filter("v > 0").cache()
    try:
        rewritten(most(rows).filter("m > 10"))
        df = most(rows).filter("m > 10").cache()
        try:
            assert code(df.filter("m > 11")) == "cached"
        finally:
            df.unpersist()
    finally:
        rows.unpersist()


def test_a_cache_that_only_the_rewritten_plan_would_read(tables: Tables) -> None:
    """It may be out of date."""
    df = most(tables.strange).filter("m > 10")
    rewritten(df)
    below = tables.strange.filter("v > 10").cache()
    try:
        assert code(df) == "cached"
    finally:
        below.unpersist()
    rewritten(df)


def test_a_function_inside_of_a_filter_above_what_is_cached(tables: Tables) -> None:
    """The client does not know where the plan reads from the cache."""
    half = F.udf(lambda x: None if x is None else x / 2, "double")
    rows = tables.plain.filter("v > 0").cache()
    try:
        (note,) = explain(rows.filter(half("v") > 3)).data.left_alone
        assert note.code == "cached"
        assert "compute the result in a column first" in note.reason
        rewritten(rows.withColumn("h", half("v")).filter("h > 3"))
    finally:
        rows.unpersist()


# --- more shapes ----------------------------------------------------------------------------


def test_all_ways_to_write_a_condition(tables: Tables) -> None:
    m = F.col("m")
    for where in (
        (m > 10) & F.col("team").isNotNull(),
        ~(m <= 10),
        m.between(11, 10**6),
        m.isin(20, 40),
        (m > 10) | (m == 10),
        m.eqNullSafe(20),
        F.when(m > 10, True).otherwise(False),
        F.coalesce(m, F.lit(0)) > 10,
        F.expr("m > 10 AND team IS NOT NULL"),
        F.lit(10) < m,
        m.cast("bigint") > 10,
        m > F.lit(10).cast("int"),
    ):
        for rows in (tables.strange, tables.empty):
            rewritten(most(rows).filter(where))


def test_all_ways_to_name_columns(tables: Tables) -> None:
    from pyspark.sql import functions as F

    groups = most(tables.strange)
    for df in (
        groups.toDF("a", "b").filter("b > 10"),
        groups.withColumnRenamed("m", "b").filter("b > 10"),
        groups.withColumnsRenamed({"m": "b", "team": "m"}).filter("b > 10"),
        groups.select("*", F.col("m").alias("b")).filter("b > 10"),
        groups.selectExpr("m AS b", "team").filter("b > 10"),
        groups.withColumn("b", F.col("m")).drop("m").filter("b > 10"),
        groups.drop(groups["team"]).filter("m > 10"),
        groups.withColumn("m", F.col("m")).filter("m > 10"),
    ):
        rewritten(df)


def test_groups_of_pandas(tables: Tables) -> None:
    from pyspark.sql import functions as F

    schema = "team string, first double, second double"
    groups = tables.plain.groupBy(tables.plain["team"]).applyInPandas(udfs.top2, schema)
    best = groups.filter((F.col("first") >= 90) & (F.col("second") >= 90))
    rewritten(best, policy="assume")
    safe(best)  # below the union of a guarded plan no column of a DataFrame is met


def test_operators_that_are_not_understood_decline_with_their_name(tables: Tables) -> None:
    from pyspark.sql import functions as F

    untouched(most(tables.plain.unpivot(["team"], ["v"], "name", "v")).filter("m > 10"))
    two = tables.plain.select("team", F.posexplode(F.array("v")).alias("at", "v"))
    untouched(most(two).filter("m > 10"))
    grouped = tables.plain.rollup("team").agg(pandas_udf("top", "double")("score").alias("m"))
    assert grouped.filter("m >= 90").count() > 0
    assert code(grouped.filter("m >= 90")) == "grouping-sets"
    pivoted = tables.plain.groupBy("team").pivot("level").agg(F.max("v"))  # only Spark has values
    df = pivoted.filter("info > 10")
    assert code(df) == "plan-shape"
    assert optimize(df) is df


def test_windows_and_generators_below(tables: Tables) -> None:
    from pyspark.sql import Window
    from pyspark.sql import functions as F

    each = Window.partitionBy("team").orderBy("v")
    for below in (
        tables.strange.select("team", F.explode(F.array("v", F.lit(3))).alias("v")),
        tables.strange.withColumn("v", F.explode_outer(F.array("v"))),
        tables.strange.withColumn("r", F.row_number().over(each)),
        tables.strange.select("*", F.lag("v").over(each), F.max("v").over(each).alias("top")),
        tables.strange.withColumns({"v": F.sum("v").over(each), "n": F.count("*").over(each)}),
    ):
        rewritten(most(below).filter("m > 10"))
    for below in (
        tables.strange.withColumn("r", F.row_number().over(each) + 1),
        tables.strange.withColumn("r", pandas_udf("top", "double")("score").over(each)),
        tables.strange.withColumn("r", F.max(F.rand()).over(each)),
        tables.strange.selectExpr("team", "v", "rank() OVER (PARTITION BY team ORDER BY v)"),
        tables.strange.select("*", F.explode(F.array("v")), F.rank().over(each)),
    ):
        assert code(most(below).filter("m > 10")) in ("nondeterministic", "operator")


def test_a_filter_passes_the_windows_that_are_of_its_columns(tables: Tables) -> None:
    from pyspark.sql import Window
    from pyspark.sql import functions as F

    of_m, each = Window.partitionBy("m"), Window.partitionBy("team").orderBy("m")
    several = most(tables.strange).withColumns(
        {"n": F.count("*").over(of_m), "r": F.rank().over(of_m.orderBy("team"))}
    )
    assert rewritten(several.filter("m > 10 AND n >= 1")).prefilter == "v > 10"
    for df in (
        several.withColumn("m", F.max("m").over(of_m)).filter("m > 10"),
        several.withColumn("x", F.rank().over(each)).filter("m > 10"),
        several.withColumn("x", F.rank().over(Window.orderBy("m"))).filter("m > 10"),
    ):
        assert optimize(df) is df


def test_fields_and_names_of_relations(spark: SparkSession, tables: Tables) -> None:
    """What stands before a dot is a relation where there is one, else a struct."""
    from pyspark.sql import functions as F

    rows = tables.strange.select("team", "v", F.struct("v", "score").alias("s"))
    inside = rows.select("team", F.col("s.v").alias("v"))
    for below in (
        inside,
        rows.selectExpr("team", "s.v AS v"),
        rows.select("team", F.col("s").getField("V").alias("v")),
        rows.select("team", "s.*"),
    ):
        assert rewritten(most(below).filter("m > 10")).prefilter == "v > 10"
    assert rewritten(most(rows.filter("s.v > 3 AND s.score < 95")).filter("m > 10"))
    named = most(tables.strange).alias("t")
    assert rewritten(named.filter("t.m > 10 AND t.team <> 'x'")).prefilter
    both = most(tables.strange).alias("s").join(rows.select("s").limit(1).alias("r"))
    assert safe(both.filter("s.m > 10")) is not both
    for relation in (tables.strange.select("team", "v"), tables.empty.groupBy("v").count()):
        relation.createOrReplaceTempView("s")
        named = spark.sql("SELECT v + 1 AS w, v FROM s").withColumnRenamed("w", "x")
        beside = rows.groupBy("team").agg(F.max("v").alias("m"), F.first("s").alias("s"))
        safe(beside.join(named).filter("s.v > 10 AND m > 10").select("team", "m", "x"))
        safe(beside.join(spark.table("s")).filter("s.v > 10 AND m > 10").select("team", "m"))
    unclear = most(tables.strange).withColumnRenamed("m", "v").alias("s").join(rows.select("s"))
    safe(unclear.filter("s.v > 10"))


def test_calls_that_become_columns_keep_the_numbers_of_dataframes(tables: Tables) -> None:
    from pyspark.sql.functions import udf

    high = udf(lambda v: v > 10, "boolean")
    rows = tables.strange
    kept = rows.filter(high(rows["v"]) & (rows["team"] != "x"))
    better = optimize(kept)
    assert better is not kept
    for df in (rows, kept):
        same_rows(kept.select(df["v"], df["team"]), better.select(df["v"], df["team"]))
    assert better.columns == kept.columns
    named = rows.withColumnRenamed("team", "<lambda>(v)").withColumnRenamed("level", "a.b")
    rewritten(named.filter(high("v") & named["`a.b`"].isNotNull()))


def test_calls_beside_what_is_not_known_stay(tables: Tables) -> None:
    from pyspark.sql import functions as F
    from pyspark.sql.functions import udf

    high = udf(lambda v: v > 10, "boolean")
    for where in (
        high("v") & (F.rand() < 2),
        high("v") & F.exists(F.array("v"), lambda x: x > 1),
        high(F.rand() * 100),
    ):
        df = tables.plain.filter(where)
        assert optimize(df) is df
    rewritten(tables.plain.filter(high(F.col("v") / 0.5) & (F.col("v") > 1)))


def test_folds_of_lists_decline_since_lambdas_are_not_analyzed(tables: Tables) -> None:
    from pyspark.sql import functions as F

    best = F.aggregate(F.collect_list("score"), F.lit(0.0), lambda acc, x: F.greatest(acc, x))
    text = F.expr("aggregate(collect_list(v), 0L, (acc, x) -> greatest(acc, x))")
    for fold in (best, text):
        df = tables.strange.groupBy("team").agg(fold.alias("n")).filter("n > 90")
        assert "is not supported" in untouched(df).declined[0].reason


def test_the_plan_that_is_drawn(tables: Tables) -> None:
    report = explain(most(tables.plain).filter("m > 10"))
    (boundary,) = report.boundaries
    assert boundary.pushed_to_scan == ("IsNotNull(v)", "GreaterThan(v,10)")
    assert "Filter" in report.to_json()["plan_after"]


def test_a_plan_too_deep_for_a_message_comes_back(
    spark: SparkSession, only_connect: None, tables: Tables
) -> None:
    """Whether the server would take it is between it and the client."""
    from pyspark.sql import functions as F

    df = tables.plain.groupBy("team").agg(F.max("v").alias("m")).filter("m > 3")
    for i in range(150):
        df = df.withColumn(f"c{i % 3}", F.col("m") + i)
    assert optimize(df.filter("m > 4")) is not None
