"""Filters above joins, unions, windows, sorts and definitions: the same rows, and where they go."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from tests.support.games.pipelines import SCORE, agg, pandas_udf
from tests.support.games.tables import Tables
from tests.support.running import rewritten, same_rows

from presieve.driver.optimize import explain, optimize

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession


@pytest.fixture(scope="session")
def cities(spark: SparkSession, tables: Tables) -> DataFrame:
    """Teams with no city, one, two, and cities of no team."""
    rows = [("a", "Rome", 1), ("a", "Oslo", 2), ("b", None, 3), ("x", "Bern", 4), (None, "Ur", 5)]
    return spark.createDataFrame(rows, "team string, city string, size int")


def best(tables: Tables) -> DataFrame:
    return agg(tables.strange, "top", "double", "score")


def goes_below(df: DataFrame, prefilter: str = SCORE) -> None:
    """The rows are the same, and the pre-filter stands below the one boundary."""
    assert rewritten(df).prefilter == prefilter
    better = optimize(df)
    assert optimize(better) is better


def stays_above(df: DataFrame) -> None:
    """Nothing is changed, and no boundary claims anything."""
    assert optimize(df) is df
    assert all(b.kind == "none" for b in explain(df).boundaries)


@pytest.mark.parametrize("how", ["inner", "left", "semi", "anti"])
def test_from_the_side_whose_rows_are_shown(tables: Tables, cities: DataFrame, how: str) -> None:
    goes_below(best(tables).join(cities, "team", how).filter("m >= 90"))


@pytest.mark.parametrize("how", ["inner", "right"])
def test_from_the_other_side(tables: Tables, cities: DataFrame, how: str) -> None:
    goes_below(cities.join(best(tables), "team", how).filter("m >= 90"))


def test_all_pairs(tables: Tables, cities: DataFrame) -> None:
    goes_below(best(tables).crossJoin(cities.select("city")).filter("m >= 90 AND city IS NOT NULL"))


@pytest.mark.parametrize("how", ["left", "full"])
def test_a_copy_where_nulls_do_not_pass(tables: Tables, cities: DataFrame, how: str) -> None:
    goes_below(cities.join(best(tables), "team", how).filter("m >= 90"))


@pytest.mark.parametrize("how", ["left", "full"])
def test_not_where_nulls_pass(tables: Tables, cities: DataFrame, how: str) -> None:
    joined = cities.join(best(tables), "team", how)
    stays_above(joined.filter("m IS NULL OR m >= 90"))
    stays_above(joined.filter("NOT (m >= 90) OR city = 'Bern'"))
    assert "rows for which there is no group" in str(explain(joined.filter("m IS NULL")))


def test_counts_that_become_nullable(tables: Tables, cities: DataFrame) -> None:
    counts = agg(tables.strange, "count_high", "bigint", "v")
    goes_below(cities.join(counts, "team", "left").filter("m >= 1"), "v > 10")


@pytest.mark.second
def test_parts_of_a_join_condition(tables: Tables, cities: DataFrame) -> None:
    left, right = best(tables).alias("l"), cities.alias("r")
    from pyspark.sql import functions as F

    on = (F.col("l.team") == F.col("r.team")) & (F.col("l.m") >= 90)
    for how in ("inner", "right", "semi"):
        goes_below(left.join(right, on, how))
    for how in ("left", "full", "anti"):
        stays_above(left.join(right, on, how))
    for how in ("inner", "left", "semi", "anti"):
        goes_below(right.join(left, on, how))
    for how in ("right", "full"):
        stays_above(right.join(left, on, how))


def test_a_part_of_a_condition_that_weakens(tables: Tables, cities: DataFrame) -> None:
    from tests.support.games import udfs
    from tests.support.games.pipelines import TOP2

    groups = tables.plain.groupBy("team").applyInPandas(udfs.top2, TOP2)
    df = cities.join(groups, "team", "left").filter("first >= 90 AND second >= 90")
    boundary = rewritten(df)
    assert boundary.prefilter == "score >= 90.0D"
    better = optimize(df)
    assert optimize(better) is better


def test_one_filter_of_both_sides(tables: Tables) -> None:
    """Each side takes its part out; none is left."""
    other = agg(tables.plain, "top", "double", "score").withColumnRenamed("m", "n")
    df = best(tables).join(other, "team").filter("m >= 90 AND n >= 95")
    better = optimize(df)
    same_rows(df, better)
    assert [b.kind for b in explain(df).boundaries] == ["exact", "exact"]
    assert not explain(better).boundaries


def test_filters_that_read_the_other_side_stay(tables: Tables, cities: DataFrame) -> None:
    stays_above(best(tables).join(cities, "team").filter("m >= size"))
    goes_below(best(tables).join(cities, "team").filter("m >= size AND m >= 90"))


@pytest.fixture(scope="session")
def sizes(spark: SparkSession, tables: Tables) -> DataFrame:
    """Counts that some teams have, and others that none has."""
    rows = [
        (0, "none"),
        (1, "one"),
        (1, "single"),
        (2, "two"),
        (3, None),
        (99, "many"),
        (None, "?"),
    ]
    return spark.createDataFrame(rows, "size bigint, word string")


JOINS_SAY = pytest.mark.classic("what joins say of the other side is read in plans of the JVM")


@JOINS_SAY
@pytest.mark.parametrize("how", ["inner", "right", "semi", "left", "full", "anti"])
@pytest.mark.parametrize("where", ["below", "above"])
def test_equal_columns_of_the_other_side(
    tables: Tables, sizes: DataFrame, how: str, where: str
) -> None:
    """What is known of ``size`` is known of ``m``, where each row of ``m`` needs a partner."""
    counts = agg(tables.plain, "count_high", "bigint", "v")
    if where == "above" and how in ("semi", "anti"):
        return  # there is no such column
    if where == "below":
        df = counts.join(sizes.filter("size >= 1"), counts.m == sizes.size, how)
    else:
        df = counts.join(sizes, counts.m == sizes.size, how).filter("size >= 1")
    if how in ("inner", "right", "semi"):
        goes_below(df, "v > 10")
    elif (how, where) == ("full", "above"):  # it goes below the join on both sides
        same_rows(df, optimize(df))
    else:
        stays_above(df)


@JOINS_SAY
def test_equal_columns_through_projections(tables: Tables, sizes: DataFrame) -> None:
    counts = agg(tables.plain, "count_high", "bigint", "v")
    other = sizes.filter("size >= 1 OR word = 'x'").selectExpr("size AS s", "upper(word) AS w")
    stays_above(counts.join(other, counts.m == other.s))
    other = sizes.filter("size >= 1").selectExpr("size AS s", "upper(word) AS w").orderBy("w")
    goes_below(counts.join(other, counts.m == other.s), "v > 10")
    twin = sizes.filter("size >= 1").selectExpr("size - 1 AS s")
    stays_above(counts.join(twin, counts.m == twin.s))


def test_doubles_that_are_equal_may_differ(tables: Tables) -> None:
    other = tables.plain.selectExpr("score AS d")
    top = best(tables)
    stays_above(top.join(other.filter("CAST(d AS string) <> '-0.0'"), top.m == other.d))
    stays_above(top.join(other.filter("d >= 90"), top.m == other.d))


@JOINS_SAY
def test_alternatives_of_both_sides(tables: Tables, cities: DataFrame) -> None:
    joined = best(tables).join(cities, "team")
    df = joined.filter("(m >= 90 AND size > 1) OR (m >= 95 AND city = 'Oslo')")
    goes_below(df)
    stays_above(joined.filter("(m >= 90 AND size > 1) OR city = 'Oslo'"))
    outer = cities.join(best(tables), "team", "left")
    goes_below(outer.filter("(m >= 90 AND size > 1) OR (m >= 95 AND city = 'Oslo')"))
    stays_above(outer.filter("(m >= 90 AND size > 1) OR (m IS NULL AND city = 'Bern')"))


def test_nothing_is_filtered_below_a_limit(tables: Tables) -> None:
    stays_above(best(tables).orderBy("team").limit(3).filter("m >= 90"))
    goes_below(best(tables).orderBy("team").filter("m >= 90").limit(3))


def test_sorted_and_distributed(tables: Tables) -> None:
    goes_below(best(tables).orderBy("m").filter("m >= 90"))
    spread = best(tables).repartition(3, "team").coalesce(2).hint("broadcast")
    goes_below(spread.sortWithinPartitions("team").filter("m >= 90"))


@pytest.mark.second
def test_unions(tables: Tables) -> None:
    counts = agg(tables.strange, "count_high", "bigint", "v").selectExpr("team", "m + 0.0D AS m")
    for df in (
        best(tables).union(tables.plain.select("team", "score")).filter("m >= 90"),
        tables.plain.select("team", "score").union(best(tables)).filter("score >= 90"),
        best(tables).unionByName(tables.plain.selectExpr("score AS m", "team")).filter("m >= 90"),
    ):
        goes_below(df)
    both = best(tables).union(agg(tables.plain, "top", "double", "score")).filter("m >= 90")
    better = optimize(both)
    same_rows(both, better)
    assert [b.prefilter for b in explain(both).boundaries] == [SCORE, SCORE]
    assert optimize(better) is better
    wider = counts.union(best(tables)).filter("m >= 90")
    same_rows(wider, optimize(wider))
    assert SCORE in {b.prefilter for b in explain(wider).boundaries}


def test_windows_and_distinct(tables: Tables) -> None:
    from pyspark.sql import Window
    from pyspark.sql import functions as F

    counts = agg(tables.strange, "count_high", "bigint", "v")
    by_count = Window.partitionBy("m").orderBy("team")
    goes_below(counts.withColumn("r", F.row_number().over(by_count)).filter("m >= 1"), "v > 10")
    stays_above(
        counts.withColumn("r", F.row_number().over(Window.orderBy("team"))).filter("m >= 1")
    )
    stays_above(
        counts.withColumn("r", F.row_number().over(Window.partitionBy("team").orderBy("m"))).filter(
            "m >= 1"
        )
    )
    goes_below(counts.select("m").distinct().filter("m >= 1"), "v > 10")
    goes_below(counts.dropDuplicates(["m"]).select("m").filter("m >= 1"), "v > 10")
    stays_above(counts.dropDuplicates(["team"]).filter("m >= 1"))
    # Doubles: 0.0 and -0.0 are one class, and either may be shown.
    stays_above(best(tables).select("m").distinct().filter("m >= 90"))


def test_groups_of_groups(tables: Tables) -> None:
    counts = agg(tables.strange, "count_high", "bigint", "v")
    df = counts.groupBy("m").count().filter("m >= 1 AND count < 3")
    same_rows(df, optimize(df))
    assert [b.prefilter for b in explain(df).boundaries] == ["true", "v > 10"]
    everything = counts.agg({"m": "max"}).filter("1 = 0")
    same_rows(everything, optimize(everything))


def test_generators(tables: Tables) -> None:
    from pyspark.sql import functions as F

    df = best(tables).withColumn("e", F.explode(F.array("m", F.lit(1.0))))
    goes_below(df.filter("m >= 90"))
    stays_above(df.filter("e >= 90"))


BEST = "WITH best AS (SELECT team, top(score) AS m FROM games GROUP BY team) "


@pytest.fixture
def games(spark: SparkSession, tables: Tables) -> None:
    tables.strange.createOrReplaceTempView("games")
    spark.udf.register("top", pandas_udf("top", "double"))


@pytest.mark.classic("whole queries as text")
@pytest.mark.usefixtures("games")
@pytest.mark.parametrize(
    "query",
    [
        BEST + "SELECT * FROM best WHERE m >= 90",
        BEST + "SELECT * FROM games g JOIN best b ON g.team = b.team WHERE m >= 90",
        BEST + ", named AS (SELECT upper(team) AS name, m FROM best) "
        "SELECT name FROM named WHERE m >= 90",
        BEST.replace("GROUP BY team", "GROUP BY team HAVING m >= 90")
        + "SELECT * FROM best WHERE team <> 'x'",
        BEST + ", unread AS (SELECT * FROM best WHERE m < 90) SELECT * FROM best WHERE m >= 90",
    ],
)
def test_definitions(spark: SparkSession, query: str) -> None:
    """The plan as it was written may stand beside the rewritten one."""
    df = spark.sql(query)
    goes_below(df)
    same_rows(df.union(df), df.union(optimize(df)))
    same_rows(df.union(df), optimize(df).union(df))


@pytest.mark.classic("whole queries as text")
@pytest.mark.usefixtures("games")
@pytest.mark.parametrize(
    ("query", "prefilters"),
    [
        ("SELECT * FROM best a JOIN best b ON a.team = b.team WHERE a.m >= 90", {SCORE, ""}),
        (
            "SELECT * FROM best a JOIN best b ON a.team = b.team WHERE a.m >= 90 AND b.m >= 95",
            {SCORE, SCORE.replace("90", "95")},
        ),
        ("SELECT * FROM best WHERE m >= 90 UNION ALL SELECT * FROM best", {SCORE, ""}),
        (
            "SELECT * FROM best WHERE m >= 90 AND team IN (SELECT team FROM best WHERE m < 95)",
            {SCORE, "true"},  # the filter in the subquery is met, too, and nothing follows from it
        ),
    ],
)
def test_definitions_that_are_read_twice(
    spark: SparkSession, query: str, prefilters: set[str]
) -> None:
    """Each reader has its own filter, as each computes it for itself."""
    df = spark.sql(BEST + query)
    better = optimize(df)
    same_rows(df, better)
    same_rows(df.union(df), df.union(better))
    assert {b.prefilter for b in explain(df).boundaries} == prefilters - {""}
    assert optimize(better) is better


@pytest.mark.classic("whole queries as text")
@pytest.mark.usefixtures("games")
def test_definitions_that_stay(spark: SparkSession) -> None:
    """One that gives other rows each time is computed once for all who read it; one that is cached
    is not computed at all.
    """
    drawn = BEST.replace("FROM games", "FROM games WHERE rand() < 2")
    stays_above(
        spark.sql(drawn + "SELECT * FROM best a JOIN best b ON a.team = b.team WHERE a.m >= 90")
    )
    df = spark.sql(BEST + "SELECT * FROM best WHERE m >= 90").cache()
    stays_above(df.filter("team <> 'x'"))
    df.unpersist()


@pytest.mark.classic("whole queries as text")
def test_subqueries_and_views(spark: SparkSession, tables: Tables) -> None:
    tables.strange.createOrReplaceTempView("games")
    spark.udf.register("top", pandas_udf("top", "double"))
    text = "SELECT team, top(score) AS m FROM games GROUP BY team"
    goes_below(
        spark.sql(f"SELECT team FROM (SELECT * FROM ({text}) x) y WHERE m >= 90 ORDER BY team")
    )
    spark.sql(f"CREATE OR REPLACE TEMP VIEW best AS {text}")
    goes_below(spark.sql("SELECT b.* FROM best b LEFT JOIN games g USING (team) WHERE b.m >= 90"))


def test_what_may_raise_in_between(tables: Tables, cities: DataFrame) -> None:
    """Rows that a filter rejects never reach what stands below the filter: less can raise."""
    df = best(tables).selectExpr("team", "m", "1 / m AS inverse").join(cities, "team")
    boundary = rewritten(df.filter("m >= 90"))
    assert "may-erase-error" in {a["code"] for a in boundary.assumptions}


def test_a_weaker_filter_above_is_no_reason_to_look_again(tables: Tables) -> None:
    """``v >= 2`` below says already that v is not NULL."""
    from pyspark.sql import functions as F

    df = tables.strange.groupBy("level").agg(F.max("v").alias("m")).filter("m = 20")
    assert rewritten(df).residual == "m <= 20"
    better = optimize(df)
    assert optimize(better) is better
