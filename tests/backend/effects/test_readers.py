"""Spark keeps one reader for all DataFrames of a Python data source: what one plan hands to it
holds for the others. Plans of ours have readers of their own.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import pytest
from pyspark.sql import functions as F
from tests.support.running import handing_filters
from tests.support.spark_version import is_before

import presieve
from presieve.driver.solve import Policy

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

pytestmark = [
    pytest.mark.classic("filters of ours are handed to sources in classic sessions only"),
    pytest.mark.skipif(is_before("4.1"), reason="Spark hands no filters to Python data sources"),
]

ROWS = 2400


@pytest.fixture
def table(spark: SparkSession) -> Iterator[DataFrame]:
    from tests.driver.lakehouse import Lakehouse

    with handing_filters(spark):
        spark.dataSource.register(Lakehouse)
        yield spark.read.format("lakehouse").load()


def test_spark_has_one_reader(table: DataFrame) -> None:
    """If this fails, Spark has repaired it, and readers of our own are needed no more."""
    assert table.where("id < 100").count() == 100
    assert table.count() < ROWS


def is_small(number: int | None) -> bool:
    return number is not None and number < 100


@pytest.mark.parametrize("filters", ["derived", "below a function"])
def test_what_we_hand_over_is_ours(table: DataFrame, filters: str) -> None:
    derived = filters == "derived"
    df = table.where("id DIV 100 = 0") if derived else table.where(F.udf(is_small, "boolean")("id"))
    better = presieve.optimize(df, policy="assume", compile="never")
    presieve.explain(df, policy="assume", compile="never")
    assert better is not df
    assert better.rdd.getNumPartitions() < 10
    assert df.rdd.getNumPartitions() == 48
    assert better.count() == df.count() == 100
    assert table.count() == ROWS
    assert table.where("k + 0 = 1").count() == ROWS // 4


def test_another_source_of_the_same_name(spark: SparkSession, table: DataFrame) -> None:
    """What is read is what was loaded."""
    from tests.driver.lakehouse import FILES, Lakehouse, Reader

    class FewFiles(Reader):
        def __init__(self) -> None:
            self.files = FILES[:2]

    class Other(Lakehouse):
        def reader(self, schema: object) -> Reader:
            return FewFiles()

    df = table.where("id DIV 100 = 0")
    spark.dataSource.register(Other)
    better = presieve.optimize(df, policy="assume")
    assert better.count() == df.count() == 100


@pytest.mark.parametrize("policy", ["default", "assume"])
def test_what_is_only_optimized_hands_over_nothing(table: DataFrame, policy: Policy) -> None:
    """Nor do filters of the user that would reach the source."""
    presieve.optimize(table.where("id < 100 AND abs(k) < 9"), policy=policy)
    assert table.count() == ROWS
