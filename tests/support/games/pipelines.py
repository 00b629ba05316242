"""Pipelines over games that many tests build."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tests.support.games import udfs

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

SCORE = "score >= 90.0D AND NOT isnan(score)"
"""NaN changes nothing in ``top``, so its rows may go as well; NULL arrives as NaN."""

TOP2 = "team string, first double, second double"


def pandas_udf(name: str, returns: str) -> Any:
    from pyspark.sql.pandas import functions

    make: Any = functions.pandas_udf  # its overloads know neither Any nor the text of a type
    return make(getattr(udfs, name), returns)


def agg(df: DataFrame, name: str, returns: str, *columns: str, alias: str = "m") -> DataFrame:
    udf = pandas_udf(name, returns)
    return df.groupBy("team").agg(udf(*columns).alias(alias))


def top_two(table: DataFrame) -> DataFrame:
    groups = table.groupBy("team").applyInPandas(udfs.top2, TOP2)
    return groups.filter("first >= 90 AND second >= 90")


def most(rows: DataFrame) -> DataFrame:
    from pyspark.sql import functions as F

    return rows.groupBy("team").agg(F.max("v").alias("m"))
