"""Small batches for functions of columns and of batches."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


@contextmanager
def small_batches(spark: SparkSession, rows: int = 2) -> Iterator[None]:
    """Batches of so many rows, also directly above files: the vectorized reader of Parquet makes
    one batch of a row group, which Spark does not cut.
    """
    settings = {
        "spark.sql.execution.arrow.maxRecordsPerBatch": str(rows),
        "spark.sql.parquet.enableVectorizedReader": "false",
    }
    for key, value in settings.items():
        spark.conf.set(key, value)
    try:
        yield
    finally:
        for key in settings:
            spark.conf.unset(key)
