"""A session without a time zone of its own has that of the JVM."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from tests.support.running import rewritten

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

KEY = "spark.sql.session.timeZone"


@pytest.fixture
def new_york(spark: SparkSession) -> Iterator[None]:
    jvm: Any = spark._jvm
    zones = jvm.java.util.TimeZone
    before = zones.getDefault()
    spark.conf.unset(KEY)
    zones.setDefault(zones.getTimeZone("America/New_York"))
    yield
    zones.setDefault(before)
    spark.conf.set(KEY, "UTC")


def rows(spark: SparkSession, path: Path) -> DataFrame:
    from pyspark.sql import functions as F

    hours = spark.range(48).select(
        (F.col("id") % 5).alias("k"),
        F.timestamp_seconds(F.lit(1704067200) + F.col("id") * 3600).alias("t"),
    )
    hours.write.parquet(str(path / "hours"))
    return spark.read.parquet(str(path / "hours"))


@pytest.mark.classic("the time zone of the server's JVM is not set from here")
def test_the_time_zone_of_the_jvm(spark: SparkSession, tmp_path: Path, new_york: None) -> None:
    from pyspark.sql import functions as F

    groups = rows(spark, tmp_path).groupBy("k").agg(F.max("t").alias("m"))
    assert spark.conf.get(KEY) == "America/New_York"
    rewritten(groups.filter("m > TIMESTAMP '2024-01-02 16:30:00'"))
    rewritten(groups.filter("m > '2024-01-02 16:30:00'"))
