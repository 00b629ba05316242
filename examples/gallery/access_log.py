"""Requests that failed, by the team's own definition of it, which is a Python function.

Run it: ``python examples/gallery/access_log.py``.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pyarrow as pa
from pyspark.sql.functions import udf
from pyspark.sql.types import StringType
from showing import Shown, Wrong, alone, compare, parquet

import presieve

# --- the pipeline ---------------------------------------------------------------------------------


@udf(StringType())
def verdict(status, ms):
    if status is None:
        return "lost"
    if status >= 500 or (ms is not None and ms > 30_000):
        return "failed"
    if status >= 400:
        return "refused"
    return "served"


def pipeline(requests):
    return requests.filter(verdict("status", "ms") == "failed").select("path", "status")


# --- the wrong twin -------------------------------------------------------------------------------

BY_HAND = "status >= 400 OR ms > 30000"


# What was not served has a status of 400 or more, or took too long.
def by_hand():
    return presieve.verify(
        verdict,
        "verdict <> 'served'",
        schema="status int, ms bigint",
        returns="verdict string",
        mode="row",
        prefilter=BY_HAND,
        residual="true",
    )


# --- data and output ------------------------------------------------------------------------------


def requests(spark, folder, rows=60_000):
    """In the order of time, with an outage of half an hour. Some requests were never answered."""
    rng = np.random.default_rng(23)
    outage = (np.arange(rows) > 30_000) & (np.arange(rows) < 31_250)
    usual = rng.choice([200, 304, 404], rows, p=[0.8, 0.15, 0.05])
    status = np.where(outage, rng.choice([200, 500, 503], rows), usual)
    ms = np.where(outage, rng.exponential(20_000, rows), rng.exponential(200, rows)).astype(int)
    paths = rng.choice(["/", "/search", "/cart"], rows)
    return parquet(
        spark,
        folder,
        "requests",
        {
            "path": pa.array(paths),
            "status": pa.array(status.astype("int32"), mask=rng.random(rows) < 0.01),
            "ms": pa.array(ms, mask=rng.random(rows) < 0.01),
        },
    )


def main(spark, folder: Path) -> Shown:
    df = pipeline(requests(spark, folder))
    return compare(df, Wrong("verdict <> 'served'", BY_HAND, by_hand()))


if __name__ == "__main__":
    alone(main)
