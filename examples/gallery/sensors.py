"""Sensors that were too hot at least three times in a day.

Run it: ``python examples/gallery/sensors.py``.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from pyspark.sql import functions as F
from pyspark.sql.functions import arrow_udf
from pyspark.sql.types import LongType
from showing import Shown, Wrong, alone, compare, parquet

import presieve

# --- the pipeline ---------------------------------------------------------------------------------


@arrow_udf(LongType())
def alarms(celsius: pa.Array) -> int:
    return pc.count(pc.filter(celsius, pc.greater(celsius, 80.0)))


def pipeline(readings):
    return (
        readings.filter("unit = 'C'")
        .withColumn("celsius", F.col("value").cast("double"))  # the file has floats of 32 bits
        .groupBy("sensor")
        .agg(alarms("celsius").alias("alarms"))
        .filter("alarms >= 3")
    )


# --- the wrong twin -------------------------------------------------------------------------------


# For the sensors without an alarm, only the readings without one matter.
def by_hand():
    return presieve.verify(
        alarms,
        "alarms = 0",
        schema="celsius double",
        returns="alarms bigint",
        prefilter="celsius <= 80",
    )


# --- data and output ------------------------------------------------------------------------------


def readings(spark, folder, rows=60_000, sensors=250):
    """In the order of time; it is hot at noon. Broken readings are NaN, missing ones NULL."""
    rng = np.random.default_rng(17)
    hour = np.arange(rows) * 24 / rows
    value = 45 + 31 * np.exp(-(((hour - 13) / 2) ** 2)) + rng.normal(0, 3.5, rows)
    value = np.where(rng.random(rows) < 0.002, np.nan, value)
    return parquet(
        spark,
        folder,
        "readings",
        {
            "sensor": pa.array(rng.integers(0, sensors, rows)),
            "unit": pa.array(np.where(rng.random(rows) < 0.05, "F", "C")),
            "value": pa.array(value, pa.float32(), mask=rng.random(rows) < 0.01),
        },
    )


def main(spark, folder: Path) -> Shown:
    df = pipeline(readings(spark, folder))
    return compare(df, Wrong("alarms = 0", "celsius <= 80", by_hand()))


if __name__ == "__main__":
    alone(main)
