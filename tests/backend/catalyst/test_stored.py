"""Relations whose rows are stored: what is read of them stays what it was.

These tests change what is stored, so that they make their own tables.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from tests.support.games.pipelines import SCORE, agg
from tests.support.games.tables import ROWS, SCHEMA
from tests.support.running import rewritten, safe, untouched

from presieve.driver.optimize import optimize

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession


def table(spark: SparkSession) -> DataFrame:
    return spark.createDataFrame(ROWS, SCHEMA)


def pipeline(rows: DataFrame) -> DataFrame:
    return agg(rows, "top", "double", "score").filter("m >= 90")


def test_a_cached_relation_that_the_pre_filter_would_name(
    spark: SparkSession, by_value: None, tmp_path: Path
) -> None:
    """Spark reads from the cache whatever is the same plan, although the files have changed since:
    a pre-filter must not make it do so.
    """
    path = str(tmp_path / "t")
    table(spark).write.parquet(path)
    high = spark.read.parquet(path).filter(SCORE)
    high.cache()
    try:
        assert high.count() > 0
        more = spark.createDataFrame([("new", 99.0, 1, "info")], SCHEMA).coalesce(1)
        more.write.parquet(str(tmp_path / "more"))
        for file in (tmp_path / "more").glob("*.parquet"):
            file.rename(tmp_path / "t" / file.name)
        df = pipeline(spark.read.parquet(path))
        assert "new" in {row["team"] for row in df.collect()}
        assert safe(df) is df
        assert untouched(df).declined[-1].code == "cached"
    finally:
        high.unpersist(blocking=True)
    rewritten(df)


def test_a_cached_input_that_has_changed(
    spark: SparkSession, by_value: None, tmp_path: Path
) -> None:
    """As written it is read from the cache, and so it is with a pre-filter above it."""
    path = str(tmp_path / "t")
    table(spark).write.parquet(path)
    stored = spark.read.parquet(path).cache()
    try:
        assert stored.count() > 0
        for file in (tmp_path / "t").glob("*.parquet"):
            file.unlink()
        rewritten(pipeline(stored))
    finally:
        stored.unpersist(blocking=True)


def test_random_rows_in_the_cache(spark: SparkSession, by_value: None) -> None:
    """What is lost from the cache is computed anew."""
    stored = table(spark).selectExpr("team", "rand() * 100 AS score").cache()
    try:
        assert untouched(pipeline(stored)).declined[0].code == "nondeterministic"
    finally:
        stored.unpersist(blocking=True)


def test_random_rows_in_a_checkpoint(spark: SparkSession, by_value: None) -> None:
    """A checkpoint is a relation of its own, and nothing in it is computed anew."""
    random = table(spark).unionAll(table(spark)).selectExpr("team", "90 + 10 * rand() AS score")
    for stored in (random.localCheckpoint(), random.localCheckpoint(eager=False)):
        df = pipeline(stored)
        assert optimize(df) is not df
        safe(df)
        safe(df)
