"""Grouping columns whose equal values are not the same: which of them is shown depends on rows."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tests.support.traps import udfs
from tests.support.traps.checks import outcome, pandas_udf, table, tempting

from presieve.driver.optimize import explain, optimize

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession


def grouped(rows: DataFrame, key: str) -> DataFrame:
    high = pandas_udf(udfs.count_high, "bigint")("v").alias("m")
    return rows.groupBy(key).agg(high).filter("m >= 1")


def is_assumed(rows: DataFrame, key: str) -> None:
    """Another form of the key is a possible result too: that any may be shown is assumed only where
    the caller allows it.
    """
    df = grouped(rows, key)
    tempting(df, grouped(rows.filter("v > 10"), key))
    (boundary,) = explain(df, policy="assume").boundaries
    assert "key-form" in {a["code"] for a in boundary.assumptions}
    assert optimize(df) is df
    assert optimize(df, policy="strict") is df
    # Where nobody sees the key, nothing is assumed.
    counts = df.select("m")
    strict = optimize(counts, policy="strict")
    assert strict is not counts
    assert outcome(strict) == outcome(counts)


def test_signed_zeros(spark: SparkSession) -> None:
    rows = table(spark, "score double, v bigint NOT NULL", (-0.0, 1), (0.0, 20), (5.0, 30))
    is_assumed(rows.coalesce(1), "score")


def test_collated_strings(spark: SparkSession) -> None:
    schema = "team string collate UTF8_LCASE, v bigint NOT NULL"
    rows = table(spark, schema, ("A", 1), ("a", 20), ("b", 30))
    is_assumed(rows.coalesce(1), "team")
