"""Pipelines of the matrix alone: Python functions of rows around a function of whole groups."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from tests.matrix.udfs import half
from tests.support.games import udfs
from tests.support.traps import udfs as traps
from tests.support.traps.checks import agg

if TYPE_CHECKING:
    from pyspark.sql import DataFrame


def below(rows: DataFrame) -> DataFrame:
    """The function of rows makes a column that nobody reads."""
    from pyspark.sql.functions import udf

    halved = rows.withColumn("h", udf(half, "bigint")("score"))
    return agg(halved, udfs.top, "double", "score").filter("m >= 90")


def read(rows: DataFrame) -> DataFrame:
    """The function of rows makes the column that is aggregated."""
    from pyspark.sql.functions import udf

    halved = rows.withColumn("h", udf(half, "double")("score"))
    return agg(halved, udfs.top, "double", "h").filter("m >= 45")


def filtered(rows: DataFrame) -> DataFrame:
    """Its result is filtered on, below."""
    from pyspark.sql.functions import udf

    some = rows.filter(udf(half, "double")("score") > 2)
    return agg(some, udfs.count_high, "bigint", "v").filter("m >= 1")


def above(rows: DataFrame) -> DataFrame:
    """It stands above, beside the filter."""
    from pyspark.sql.functions import udf

    groups = agg(rows, udfs.top, "double", "score")
    return groups.withColumn("h", udf(half, "double")("m")).filter("m >= 90 AND h >= 46")


ROW_FUNCTIONS: dict[str, Callable[[DataFrame], DataFrame]] = {
    "a function of rows below, not read": below,
    "a function of rows below, read": read,
    "a function of rows below, filtered": filtered,
    "a function of rows above": above,
}
"""Run with and without Arrow: it changes how rows travel to Python and back."""


def collated(rows: DataFrame) -> DataFrame:
    folded = rows.selectExpr("team COLLATE UTF8_LCASE AS team", "score", "v")
    return agg(folded, udfs.top, "double", "score").filter("m >= 90 AND team <> 'A'")


def collated_values(rows: DataFrame) -> DataFrame:
    folded = rows.selectExpr("team", "v", "level COLLATE UTF8_LCASE AS level")
    errors = folded.filter("level = 'error' OR level IS NULL")
    return agg(errors, udfs.count_high, "bigint", "v").filter("m >= 1")


def not_negative(rows: DataFrame) -> DataFrame:
    """Zero is the threshold, and there are two of them."""
    return agg(rows, traps.not_negative, "bigint", "score").filter("m >= 1")


def not_positive(rows: DataFrame) -> DataFrame:
    return agg(rows, traps.not_positive, "bigint", "score").filter("m >= 1")


def zeros(rows: DataFrame) -> DataFrame:
    return agg(rows, traps.zeros, "bigint", "score").filter("m >= 1")


def emptied(rows: DataFrame) -> DataFrame:
    """Of most groups no row is left before the function sees any."""
    return agg(rows.filter("score > 94"), udfs.top, "double", "score").filter("m >= 95")


OWN: dict[str, Callable[[DataFrame], DataFrame]] = {
    **ROW_FUNCTIONS,
    "collated keys": collated,
    "collated values below": collated_values,
    "not negative": not_negative,
    "not positive": not_positive,
    "zeros": zeros,
    "emptied groups": emptied,
}
