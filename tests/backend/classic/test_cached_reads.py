"""What is cached: a rewritten plan reads of it what the plan as written reads, and nothing else."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from pyspark.sql import functions as F
from pyspark.sql.types import LongType
from tests.support.group_functions import greatest, udaf
from tests.support.running import rewritten, same_rows

import presieve
from presieve.backend.classic.gateway import ClassicGateway
from presieve.backend.classic.scans.cached import cached_reads, rewrite_above_cached
from presieve.driver.optimize import explain, optimize

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

    from presieve.backend.gateway import Handle

pytestmark = [pytest.mark.spark, pytest.mark.classic("the JVM's CacheManager")]


@pytest.fixture
def path(spark: SparkSession, tmp_path: Path) -> str:
    """Files that a test may change."""
    spark.range(1000).selectExpr(
        "CASE WHEN id % 10 > 0 THEN id END AS n",
        "id % 7 AS k",
        "date_add(DATE '2024-01-01', int(id)) AS day",
        "CASE id % 3 WHEN 0 THEN double('NaN') WHEN 1 THEN -0D ELSE double(id) END AS x",
    ).coalesce(1).write.parquet(str(tmp_path / "t"))
    return str(tmp_path / "t")


@contextmanager
def cached(df: DataFrame) -> Iterator[DataFrame]:
    df.cache()
    try:
        df.count()
        yield df
    finally:
        df.unpersist(blocking=True)


def add_a_file(spark: SparkSession, path: str) -> None:
    """Add a file with a row that cached results do not have."""
    row = "SELECT 900L AS n, 0L AS k, DATE '2024-02-29' AS day, 7D AS x"
    spark.sql(row).coalesce(1).write.parquet(f"{path}_more")
    for file in Path(f"{path}_more").glob("*.parquet"):
        file.rename(Path(path) / file.name)


def half(n: int | None) -> int | None:
    return None if n is None else n // 2


def reads_cache(df: DataFrame) -> int:
    """How often the optimized plan of a DataFrame reads from the cache."""
    return str(df._jdf.queryExecution().optimizedPlan().toString()).count("InMemoryRelation")


def query(t: DataFrame, text: str) -> DataFrame:
    """A query of a view. Spark drops what is cached of a DataFrame that is an argument of SQL."""
    t.createOrReplaceTempView("t")
    return t.sparkSession.sql(text)


HALVES = F.udf(half, LongType())

PIPELINES: dict[str, Callable[[DataFrame], DataFrame]] = {
    "a condition that calls a function": lambda t: t.filter(HALVES("n") >= 400),
    "twice": lambda t: t.filter((HALVES("n") >= 400) & (HALVES("n") < 480)).filter("k = 3"),
    "an aggregate below a computation": lambda t: (
        t.groupBy("k").agg(F.coalesce(F.max("n"), F.lit(0)).alias("m")).filter("m > 994")
    ),
    "a derived range": lambda t: t.filter("year(day) = 2026"),
    "a function of groups": lambda t: (
        t.groupBy("k").agg(udaf(greatest, "long")("n").alias("m")).filter("m > 994")
    ),
    "a definition": lambda t: query(
        t, "WITH b AS (SELECT k, max(n) AS m FROM t GROUP BY k) SELECT * FROM b WHERE m > 994"
    ),
}


@pytest.mark.parametrize("name", PIPELINES)
def test_a_cache_that_the_plan_does_not_read_changes_nothing(
    spark: SparkSession, path: str, name: str
) -> None:
    df = PIPELINES[name](spark.read.parquet(path).filter("n IS NOT NULL"))
    before = explain(df, cost="always").data
    assert before.changed
    with cached(spark.range(3)):
        after = explain(df, cost="always").data
        better = optimize(df, cost="always")
        assert [b.prefilter for b in after.boundaries] == [b.prefilter for b in before.boundaries]
        assert [d.derived for d in after.derived] == [d.derived for d in before.derived]
        assert after.left_alone == before.left_alone
        same_rows(df, better)


@pytest.mark.parametrize("name", [n for n in PIPELINES if n != "a derived range"])
def test_a_plan_that_reads_from_the_cache_still_does(
    spark: SparkSession, path: str, name: str
) -> None:
    """The files have changed since, so the rows tell from where they come."""
    with cached(spark.read.parquet(path).filter("n IS NOT NULL")) as t:
        df = PIPELINES[name](t)
        add_a_file(spark, path)
        better = optimize(df, cost="always")
        assert better is not df
        assert reads_cache(better) == reads_cache(df) == 1
        same_rows(df, better)


def test_a_simplified_plan_that_is_cached(spark: SparkSession, path: str) -> None:
    """``n > 499 + 1`` is not what is cached, so its rows are of now; ``n > 500`` is."""
    with cached(spark.read.parquet(path).filter("n > 500L")):
        add_a_file(spark, path)
        table = spark.read.parquet(path)
        as_cached = table.filter("n > 500L").filter(HALVES("n") == 450)
        df = table.filter("n > 499L + 1L").filter(HALVES("n") == 450)
        better = optimize(df, cost="always")
        assert (reads_cache(as_cached), reads_cache(df), reads_cache(better)) == (1, 0, 0)
        assert (as_cached.count(), df.count(), better.count()) == (1, 2, 2)


def test_only_one_of_two_readers_is_cached(spark: SparkSession, path: str) -> None:
    """The other reader must not become what is cached by its pre-filter."""
    with cached(spark.read.parquet(path).filter("n IS NOT NULL AND n > 994L")) as high:
        add_a_file(spark, path)
        table = spark.read.parquet(path)
        best = table.groupBy("k").agg(udaf(greatest, "long")("n").alias("m"))
        df = high.select("k").join(best.filter("m > 994"), "k")
        better = optimize(df, cost="always")
        assert reads_cache(better) == reads_cache(df) == 1
        same_rows(df, better)


def test_what_a_subquery_reads_from_the_cache(spark: SparkSession, path: str) -> None:
    table = spark.read.parquet(path)
    table.createOrReplaceTempView("all_rows")
    with cached(table.filter("k = 3")) as few:
        add_a_file(spark, path)
        few.createOrReplaceTempView("few")
        text = "SELECT * FROM all_rows WHERE n IN (SELECT n FROM few) AND year(day) = 2025"
        df = spark.sql(text).filter(HALVES("n") > 300)
        assert reads_cache(df) == 1
        better = optimize(df, cost="always")
        assert reads_cache(better) == 1
        same_rows(df, better)


def test_fragments_come_back(spark: SparkSession, path: str) -> None:
    table = spark.read.parquet(path)
    with cached(table.filter("k = 3")) as few, cached(table.filter("k = 4")) as others:
        df = few.union(others).union(table.filter("k = 5"))
        gateway = ClassicGateway(spark)
        plan = gateway.analyze_plan(df)
        assert cached_reads(gateway, plan).total() == 2
        seen: list[str] = []

        def look(above: Handle) -> Handle:
            seen.append(str(above.toString()))
            return gateway.filter_sql("n > 5", above)

        changed = rewrite_above_cached(gateway, plan, look)
        assert seen[0].count("InMemoryRelation") == 2
        assert seen[0].count("Relation [") == 3, "the last part is not cached"
        assert "InMemoryRelation" not in str(changed.toString())
        assert str(changed.child().toString()) == str(plan.toString())
        assert rewrite_above_cached(gateway, plan, lambda above: above) is plan


def test_a_rewriting_that_reads_more_is_refused(spark: SparkSession, path: str) -> None:
    table = spark.read.parquet(path)
    with cached(table.filter("k = 3")) as few:
        gateway = ClassicGateway(spark)
        from_cache = gateway.analyze_plan(few.filter("n > 5"))
        twice = gateway.analyze_plan(few.filter("n > 5").union(table.filter("k = 3")))
        from_files = gateway.analyze_plan(table.filter("n > 5"))
        assert cached_reads(gateway, twice).total() == 2
        assert rewrite_above_cached(gateway, from_files, lambda _: from_cache) is from_files
        assert rewrite_above_cached(gateway, from_cache, lambda _: twice) is from_cache


def test_what_is_cached_later_is_as_before(spark: SparkSession, path: str) -> None:
    df = spark.read.parquet(path).filter(HALVES("n") >= 400)
    better = presieve.optimize(df, cost="always")
    expected = sorted(map(str, better.collect()))
    with cached(better):
        assert sorted(map(str, df.collect())) == expected
    assert rewritten(df).kind == "exact"
