"""Rows of games, with and without what is missing, as most pipelines of the tests read them."""

from __future__ import annotations

import math
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

SCHEMA = "team string, score double, v bigint, level string"

ROWS: list[tuple[str | None, float | None, int, str | None]] = [
    # a: two high scores
    ("a", 95.0, 1, "error"),
    ("a", 92.0, 20, "info"),
    ("a", -3.0, 5, None),
    # b: one high score, no errors
    ("b", 91.0, 11, "info"),
    ("b", 5.0, 10, "warn"),
    # c: nothing high
    ("c", 4.0, 0, "error"),
    ("c", -0.0, 5, "error"),
    # d: strange floats
    ("d", math.inf, 2**40, "é"),
    ("d", 0.0, 2**53, ""),
    ("d", math.inf, 3, "zebra"),
    # no key
    (None, 99.0, 7, None),
    (None, 98.0, 12, "info"),
]

STRANGE: list[tuple[str | None, float | None, int, str | None]] = [
    ("e", math.nan, 30, "info"),
    ("e", 93.0, 2, None),
    ("f", None, 4, "error"),
    ("f", 97.0, 40, "info"),
    ("g", None, 1, None),
]
"""Rows with NULL and NaN in ``score``, for folds on which they have no influence."""


@dataclass(frozen=True)
class Tables:
    """``plain`` has no NULL and no NaN in its numbers, ``strange`` has both, ``empty`` no rows."""

    plain: DataFrame
    strange: DataFrame
    empty: DataFrame


def without_footers(spark: SparkSession, path: Path, rows: str) -> DataFrame:
    """JSON lines count nothing."""
    spark.sql(f"SELECT * FROM VALUES {rows} AS t(team, v)").write.json(str(path))
    return spark.read.schema("team string, v bigint").json(str(path))
