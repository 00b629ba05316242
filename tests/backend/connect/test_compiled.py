"""On Spark Connect functions are not compiled, and it is said."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from pyspark.sql.functions import udf

import presieve

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = [pytest.mark.spark, pytest.mark.usefixtures("only_connect")]


def test_the_function_stays_and_a_sentence_says_why(spark: SparkSession) -> None:
    df = spark.range(5).select(udf(lambda v: v % 3, "bigint")("id").alias("m")).filter("m > 1")
    made = presieve.optimize(df, compile="always")
    assert made.collect() == df.collect()
    assert made.schema == df.schema
    assert "on Spark Connect, functions are not compiled" in str(
        presieve.explain(df, compile="always")
    )
