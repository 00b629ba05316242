"""Sessions of a shop that ended on the payment page late in the evening, with their customers.

Run it: ``python examples/gallery/visits.py``.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pyarrow as pa
from showing import Shown, Wrong, alone, compare, parquet

import presieve
from presieve.spark import group_fold

UTC = pa.timestamp("us", "UTC")
DAY = np.datetime64("2026-03-02T00:00:00", "us")

# --- the pipeline ---------------------------------------------------------------------------------


class Ended:
    """When and where a session was seen last."""

    def zero(self):
        return (None, None)

    def reduce(self, acc, row):
        if row.at is not None and (acc[0] is None or row.at > acc[0]):
            return (row.at, row.page)
        return acc


ENDED = "at timestamp, page string"
GAVE_UP = "at >= TIMESTAMP '2026-03-02 22:00:00' AND page = '/payment'"


def pipeline(clicks, customers):
    ended = group_fold(Ended, ENDED)
    return (
        clicks.groupBy("session", "customer")
        .agg(ended("at", "page").alias("ended"))
        .select("session", "customer", "ended.at", "ended.page")
        .filter(GAVE_UP)
        .join(customers, "customer")
        .filter("country <> 'test'")
    )


# --- the wrong twin -------------------------------------------------------------------------------


# Only late clicks on the payment page matter.
def by_hand():
    return presieve.verify(Ended, GAVE_UP, schema=ENDED, returns=ENDED, prefilter=GAVE_UP)


# --- data and output ------------------------------------------------------------------------------

PAGES = ["/", "/search", "/cart", "/payment", "/thanks", None]


def clicks(spark, folder, rows=60_000):
    """In the order of time. Sessions go on for about an hour; some clicks have no time."""
    rng = np.random.default_rng(5)
    at = DAY + (np.arange(rows) * (86_400_000_000 // rows)).astype("timedelta64[us]")
    session = np.arange(rows) // 2500 * 25 + rng.integers(0, 25, rows)
    page = rng.choice(6, rows, p=[0.3, 0.3, 0.15, 0.15, 0.09, 0.01])
    return parquet(
        spark,
        folder,
        "clicks",
        {
            "session": pa.array(session),
            "customer": pa.array(session % 500, mask=session % 41 == 0),
            "at": pa.array(at, UTC, mask=rng.random(rows) < 0.01),
            "page": pa.array([PAGES[p] for p in page]),
        },
    )


def customers(spark, folder):
    countries = ["DE", "FR", "PL", None, "test"]
    return parquet(
        spark,
        folder,
        "customers",
        {
            "customer": pa.array(np.arange(480)),
            "country": pa.array([countries[i % 5] for i in range(480)]),
        },
    )


def main(spark, folder: Path) -> Shown:
    df = pipeline(clicks(spark, folder), customers(spark, folder))
    return compare(df, Wrong(GAVE_UP, GAVE_UP, by_hand()))


if __name__ == "__main__":
    alone(main)
