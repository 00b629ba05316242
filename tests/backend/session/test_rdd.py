"""RDDs of an enabled session: classic only, as Connect has none."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from tests.support.games.pipelines import top_two
from tests.support.games.tables import Tables

import presieve

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


@pytest.mark.classic("there are no RDDs")
def test_the_rdd_is_that_of_the_optimized_one_and_stays_the_same(
    spark: SparkSession, tables: Tables
) -> None:
    df = top_two(tables.plain)
    expected = sorted(df.collect(), key=str)
    with presieve.enabled(spark):
        rdd = df.rdd
        assert df.rdd is rdd
        assert sorted(rdd.collect(), key=str) == expected
        df.foreach(lambda row: None)
    assert df.rdd is rdd


def test_json_of_rows(spark: SparkSession, tables: Tables) -> None:
    with presieve.enabled(spark):
        assert len(top_two(tables.plain).toJSON().collect()) == 3
