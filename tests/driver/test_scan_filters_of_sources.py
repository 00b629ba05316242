"""Derived filters on sources that are not Spark's own: only where they are taken at their word."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import pytest
from tests.driver.conditions import rows
from tests.support.running import handing_filters
from tests.support.spark_version import is_before

import presieve

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

pytestmark = [
    pytest.mark.classic("filters are derived from the plan of Spark's optimizer"),
    pytest.mark.skipif(is_before("4.1"), reason="Spark hands no filters to Python data sources"),
]


@pytest.fixture(scope="module", autouse=True)
def sources(spark: SparkSession) -> Iterator[None]:
    from tests.driver.lakehouse import Lakehouse, Wrong

    spark.dataSource.register(Lakehouse)
    spark.dataSource.register(Wrong)
    with handing_filters(spark):
        yield


@pytest.fixture
def table(spark: SparkSession) -> DataFrame:
    return spark.read.format("lakehouse").load()


CASES = [
    ("date_format(day, 'yyyy-MM') = '2024-03'", 4),
    ("year(day) = 2024 AND add_months(day, 1) < DATE '2024-04-01'", 8),
    ("trunc(day, 'QUARTER') = DATE '2024-04-01'", 12),
    ("id DIV 10 = 30", 4),
    ("k DIV 1 = 2", 12),
    ("coalesce(id, 0) BETWEEN 480 AND 520 AND greatest(k, 0) = 2", 2),
    ("year(day) = 2023", 1),
]


@pytest.mark.parametrize(("where", "most"), CASES)
def test_files_are_kept_by_metadata(table: DataFrame, where: str, most: int) -> None:
    df = table.where(where)
    assert presieve.optimize(df) is df
    better = presieve.optimize(df, policy="assume")
    assert better is not df
    assert rows(better) == rows(df)
    assert df.rdd.getNumPartitions() >= 12
    assert better.rdd.getNumPartitions() <= most
    (found,) = presieve.explain(df, policy="assume").derived
    assert found.assumptions[0]["code"] == "source-claims"


def test_a_source_that_claims_what_it_does_not(spark: SparkSession) -> None:
    """Without the assumption nothing is handed to it, with it rows are lost: it says so."""
    df = spark.read.format("wrong_lakehouse").load().where("id + 1 >= 201")
    assert len(rows(presieve.optimize(df))) == len(rows(df)) == 2200
    assert len(rows(presieve.optimize(df, policy="assume"))) < 2200
