"""What is logged of a DataFrame: one line for each boundary, once, and never a warning."""

from __future__ import annotations

import gc
import logging
import weakref
from typing import TYPE_CHECKING

import pytest

from presieve import enabled, explain, optimize
from presieve.driver import log

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession


def highest(spark: SparkSession, where: str = "m > 4") -> DataFrame:
    table = spark.createDataFrame([("a", 1), ("a", 9), ("b", 3)], "k string, v bigint")
    return table.groupBy("k").agg({"v": "max"}).toDF("k", "m").filter(where)


def impure(spark: SparkSession) -> DataFrame:
    from pyspark.sql import functions as F

    def size(v: int) -> int:
        return len(list(open(str(v))))

    return spark.range(9).withColumn("d", F.udf(size, "bigint")("id")).filter("d > 3")


def test_what_was_pushed_is_told_once(
    spark: SparkSession, caplog: pytest.LogCaptureFixture
) -> None:
    df = highest(spark)
    with caplog.at_level(logging.INFO, logger="presieve"):
        optimize(df, cost="always")
        optimize(df, cost="always")
        explain(df, cost="always")
        (record,) = caplog.records
        assert record.levelname == "INFO"
        assert "pre-filter v > 4; residual true" in record.getMessage()
        optimize(highest(spark), cost="always")
    assert len(caplog.records) == 2  # another DataFrame, if of the same plan


def test_another_answer_is_told(spark: SparkSession, caplog: pytest.LogCaptureFixture) -> None:
    df = highest(spark)
    with caplog.at_level(logging.INFO, logger="presieve"):
        optimize(df, cost="always")
        optimize(df, cost="always", declare="v > 4")
    assert len(caplog.records) == 2


def test_what_was_left_alone_is_no_warning(
    spark: SparkSession, caplog: pytest.LogCaptureFixture
) -> None:
    df = impure(spark)
    assert optimize(df) is df
    assert not caplog.records
    with caplog.at_level(logging.INFO, logger="presieve"):
        assert optimize(df) is df
        assert not explain(df).changed
    (record,) = caplog.records
    assert record.levelname == "INFO"
    assert "left as it is: [" in record.getMessage()
    assert "test_logging.py:" in record.getMessage()


def test_an_enabled_session_tells_once(
    spark: SparkSession, caplog: pytest.LogCaptureFixture
) -> None:
    df = highest(spark)
    with caplog.at_level(logging.INFO, logger="presieve"):
        with enabled(spark, cost="always"):
            assert df.count() == 1
        with enabled(spark, cost="always"):  # nothing is kept from one setting to the next
            assert [row.m for row in df.collect()] == [9]
    assert len(caplog.records) == 1


def test_what_is_told_keeps_no_dataframe(
    spark: SparkSession, caplog: pytest.LogCaptureFixture
) -> None:
    df = highest(spark)
    with caplog.at_level(logging.INFO, logger="presieve"):
        optimize(df)
    assert df in log._logged
    gone = weakref.ref(df)
    del df
    gc.collect()
    assert gone() is None


def test_debug_says_what_is_looked_at_and_what_the_search_did(
    spark: SparkSession, caplog: pytest.LogCaptureFixture
) -> None:
    with caplog.at_level(logging.DEBUG, logger="presieve"):
        optimize(highest(spark, "m > 123454321"), cost="always")
    texts = [r.getMessage() for r in caplog.records]
    assert texts[0].startswith("looking at Aggregate max")
    assert texts[1].startswith("1 search: ")
    assert any("checker: accepted: exact" in text for text in texts)
    assert caplog.records[-1].levelname == "INFO"
    caplog.clear()
    with caplog.at_level(logging.DEBUG, logger="presieve"):
        optimize(highest(spark, "m > 123454321"), cost="always")
    assert caplog.records[1].getMessage() == "this process has searched that before"
