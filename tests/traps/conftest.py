"""The table that most traps run on."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import pytest
from tests.support import remembered
from tests.support.pickling import pickled_by_value
from tests.support.traps import udfs
from tests.support.traps.checks import table

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

orders_are_decided_once = remembered.orders_are_decided_once

SCHEMA = "team string, score double, v bigint, level string"
ROWS: tuple[tuple[str | None, float | None, int, str | None], ...] = (
    ("a", 95.0, 1, "error"),
    ("a", 92.0, 20, "info"),
    ("a", -3.0, 5, None),
    ("b", 91.0, 11, "info"),
    ("b", 5.0, 10, "warn"),
    ("c", 4.0, 0, "error"),
    ("c", -0.0, 5, "error"),
    ("d", math.inf, 2**40, "é"),
    ("d", 0.0, 2**53 + 1, ""),
    ("e", 50.0, 3, None),
    (None, 99.0, 7, None),
    (None, 98.0, 12, "info"),
)


by_value = pickled_by_value(udfs, scope="session")


@pytest.fixture(scope="session")
def games(spark: SparkSession) -> DataFrame:
    """Five teams and those without one; nothing is NaN, and no number is NULL."""
    return table(spark, SCHEMA, *ROWS)
