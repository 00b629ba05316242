"""Table functions that are called with a table by partitions, with a filter above."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import pytest
from tests.support import state_classes
from tests.support.games.tables import Tables
from tests.support.running import rewritings, rewritten, same_rows, untouched

from presieve.driver.optimize import optimize

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

pytestmark = pytest.mark.classic("plans of table functions are not read on Connect")

CACHED = "spark.sql.optimizer.canChangeCachedPlanOutputPartitioning"
ADAPTIVE = "spark.sql.adaptive.enabled"
BEST = "team string, best double"


@pytest.fixture(autouse=True)
def without_empty_tasks(spark: SparkSession) -> Iterator[None]:
    """Adaptive execution, also of what is cached."""
    before = spark.conf.get(ADAPTIVE)
    spark.conf.set(ADAPTIVE, "true")
    spark.conf.set(CACHED, "true")
    yield
    spark.conf.set(ADAPTIVE, str(before))
    spark.conf.unset(CACHED)


def function(cls: type, returns: str, *, fixed: bool = True, **options: Any) -> Any:
    from pyspark import cloudpickle
    from pyspark.sql.functions import udtf

    cloudpickle.register_pickle_by_value(state_classes)  # type: ignore[no-untyped-call]
    made: Any = udtf(cls, returnType=returns, **{"useArrow": True, **options})
    return made.asDeterministic() if fixed else made


def best(df: DataFrame, *keys: str) -> DataFrame:
    found: DataFrame = function(state_classes.Best, BEST)(df.asTable().partitionBy(*keys))
    return found


def whole(tables: Tables) -> DataFrame:
    """With NULL scores and keys, without NaN."""
    return tables.strange.filter("score IS NULL OR NOT isnan(score)")


def test_a_best_score(tables: Tables) -> None:
    by_default, report = rewritings(best(whole(tables), "team").filter("best > 92"))
    assert (by_default.kind, report.kind) == ("exact", "exact")
    assert by_default.prefilter == report.prefilter == "score > 92.0D"
    assert "GreaterThan(score,92.0)" in report.pushed_to_scan
    for one in (by_default, report):  # that there is no NaN is what the filter below says
        assert [a["code"] for a in one.assumptions] == ["may-erase-error"]


def test_one_stays_where_functions_are_compiled(tables: Tables) -> None:
    df = best(whole(tables), "team").filter("best > 92")
    better = optimize(df, compile="always", cost="always")
    assert better is not df
    same_rows(df, better)


def test_in_sql_with_an_order_and_a_filter_on_the_key(tables: Tables) -> None:
    spark = tables.plain.sparkSession
    spark.udtf.register("best", function(state_classes.Best, BEST))
    whole(tables).createOrReplaceTempView("scored")
    query = "SELECT best, team AS t FROM best(TABLE(scored) PARTITION BY team ORDER BY v DESC)"
    report = rewritten(spark.sql(f"SELECT * FROM ({query}) WHERE best >= 92 AND t <> 'a'"))
    assert report.prefilter == "team <> 'a' AND score >= 92.0D"


def test_keys_only(tables: Tables) -> None:
    report = rewritten(best(tables.plain, "team").filter("team = 'a'"))
    assert (report.kind, report.prefilter) == ("exact", "team = 'a'")


def test_integers_that_go_through_pandas(spark: SparkSession, tables: Tables) -> None:
    """Beside a NULL they would be floats, and NULL a NaN that is not None."""
    key = "spark.sql.legacy.execution.pythonUDTF.pandas.conversion.enabled"
    spark.conf.set(key, "true")
    try:
        boundary = untouched(best(whole(tables), "team").filter("best > 92"))
    finally:
        spark.conf.unset(key)
    assert boundary.declined[0].code == "conf"


def test_several_keys(tables: Tables) -> None:
    rewritten(best(whole(tables), "team", "v").filter("best > 92"))


def test_the_last_row_of_another_key(tables: Tables) -> None:
    untouched(best(whole(tables), "level").filter("best > 92"))


def test_nothing_is_left(tables: Tables) -> None:
    better = optimize(best(tables.plain.filter("score < 50"), "team").filter("best > 92"))
    assert better.collect() == []
    cached = optimize(best(tables.plain.filter("score < 51"), "team").filter("best > 92")).cache()
    assert cached.count() == 0
    cached.unpersist()
    same_rows(best(tables.empty, "team").filter("best > 92"), better)


def test_few_are_left_in_many_tasks(tables: Tables) -> None:
    spark = tables.plain.sparkSession
    rows = spark.range(500).selectExpr(
        *("CAST(id AS STRING) AS team", "CAST(id AS DOUBLE) AS score", "id AS v", "'' AS level")
    )
    before = spark.conf.get("spark.sql.shuffle.partitions")
    spark.conf.set("spark.sql.shuffle.partitions", "8")
    try:
        df = best(rows, "team").filter("best > 497.5")
        rewritten(df)
        cached = optimize(df).cache()
        assert cached.count() == 2
        cached.unpersist()
    finally:
        spark.conf.set("spark.sql.shuffle.partitions", str(before))


def test_a_wrong_pre_filter_differs(tables: Tables) -> None:
    tally = function(state_classes.Tally, "n bigint, high bigint, kinds bigint")

    def written(df: DataFrame) -> DataFrame:
        found: DataFrame = tally(df.asTable().partitionBy("team")).filter("n > 2")
        return found

    assert written(tables.plain).collect() != written(tables.plain.filter("v >= 5")).collect()
    untouched(written(tables.plain))


@pytest.mark.parametrize(
    ("key", "value"), [(ADAPTIVE, "false"), (CACHED, "false")], ids=["adaptive", "cached"]
)
def test_tasks_of_no_rows_would_fail(tables: Tables, key: str, value: str) -> None:
    spark = tables.plain.sparkSession
    spark.conf.set(key, value)
    report = untouched(best(tables.plain, "team").filter("best > 92"))
    assert key in str(report.declined)


def test_spark_fails_in_a_task_of_no_rows(tables: Tables) -> None:
    """What the settings above are about: once Spark does without, they need not be asked for."""
    from py4j.protocol import Py4JJavaError

    spark = tables.plain.sparkSession
    spark.conf.set(ADAPTIVE, "false")
    with pytest.raises(Py4JJavaError, match="NullPointerException"):
        best(tables.plain.filter("team = 'a'"), "team").collect()


@pytest.mark.parametrize(
    ("made", "code"),
    [
        (lambda d: best(d.withColumn("f", d.score), "f"), "key-type"),
        (
            lambda d: function(state_classes.Best, BEST, fixed=False)(
                d.asTable().partitionBy("team")
            ),
            "nondeterministic",
        ),
        (
            lambda d: function(state_classes.Best, BEST, useArrow=False)(
                d.asTable().partitionBy("team")
            ),
            "eval-type",
        ),
        (
            lambda d: function(state_classes.Best, BEST)(d.asTable().withSinglePartition()),
            "plan-shape",
        ),
    ],
    ids=["float-key", "nondeterministic", "pickled", "single"],
)
def test_what_declines(
    tables: Tables, caplog: pytest.LogCaptureFixture, made: Any, code: str
) -> None:
    df = made(tables.plain).filter("best > 92")
    with caplog.at_level(logging.INFO, logger="presieve"):
        assert optimize(df) is df
    assert f"[{code}]" in caplog.text


def test_functions_that_are_no_folds(tables: Tables) -> None:
    for cls in state_classes.REFUSED:
        df = function(cls, "n bigint")(tables.plain.asTable().partitionBy("team"))
        untouched(df.filter("n > 1"))
