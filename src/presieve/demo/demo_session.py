# SPDX-License-Identifier: Apache-2.0
"""Untrusted. The demo's own Spark session: small, quiet, in UTC."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager

from pyspark.errors import PySparkRuntimeError
from pyspark.sql import SparkSession

from presieve.driver.cache.disk import CACHE
from presieve.errors import UsageError


@contextmanager
def session() -> Iterator[SparkSession]:
    """Run a local session on two cores. Raises :class:`UsageError` without Java."""
    # Workers start the python3 on PATH, which need not be this one.
    os.environ["PYSPARK_PYTHON"] = sys.executable
    os.environ["PYSPARK_DRIVER_PYTHON"] = sys.executable
    os.environ[CACHE] = "off"  # the demo shows a search, not a cached result
    builder = (
        SparkSession.builder.master("local[2]")
        .appName("presieve demo")
        .config("spark.ui.enabled", "false")
        .config("spark.ui.showConsoleProgress", "false")
        .config("spark.log.level", "ERROR")
        .config("spark.sql.session.timeZone", "UTC")
        .config("spark.sql.shuffle.partitions", "4")
    )
    try:
        spark = builder.getOrCreate()
    except PySparkRuntimeError as error:
        raise UsageError(
            f"Spark did not start ({error.getCondition()}): it needs Java 17 or 21 on PATH or in"
            " JAVA_HOME"
        ) from error
    try:
        yield spark
    finally:
        spark.stop()
