"""Untrusted. Spark's own transpiler of Python functions."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

TRANSPILER = "spark.sql.experimental.optimizer.transpilePyUDFs"
"""Spark's own transpiler, which makes expressions of scalar UDFs of one statement where they are
called. It is off by default.
"""


@contextmanager
def transpiler(spark: SparkSession, *, on: bool) -> Iterator[None]:
    """The setting. What is built without it runs without it."""
    before = spark.conf.get(TRANSPILER)
    spark.conf.set(TRANSPILER, str(on).lower())
    try:
        with warnings.catch_warnings(action="ignore"):  # where it can do nothing
            yield
    finally:
        spark.conf.set(TRANSPILER, str(before))
