#!/usr/bin/env python
"""Nightly sessionization of the click stream.

    python sessionize.py --events data/events --out data/sessions --country DE

Writes three tables under --out: sessions, struggling (users who ran into server errors) and
idlers (users whose pages stay open for long). Without --events a small stream is made up.
"""

from __future__ import annotations

import argparse
import logging
import random
from datetime import datetime, timedelta
from pathlib import Path

import pandas as pd
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F
from pyspark.sql.functions import pandas_udf
from pyspark.sql.types import IntegerType

log = logging.getLogger("sessionize")

GAP_SECONDS = 30 * 60
SERVER_ERROR = 500

EVENTS = (
    "user_id string, country string, ts timestamp_ntz, page string, "
    "status int, dwell_ms bigint, load_s double"
)
SESSIONS = "user_id string, country string, session int, pages int, seconds double"
SLOWEST = "user_id string, country string, page string, load_s double"


def split_sessions(pdf: pd.DataFrame) -> pd.DataFrame:
    """One row per session; a session ends after half an hour of silence."""
    pdf = pdf.sort_values("ts")
    gaps = pdf["ts"].diff().dt.total_seconds().fillna(0.0)
    pdf = pdf.assign(session=(gaps > GAP_SECONDS).cumsum().astype("int32"))
    rows = []
    for session, part in pdf.groupby("session"):
        seconds = (part["ts"].max() - part["ts"].min()).total_seconds()
        rows.append((int(session), len(part), seconds))
    out = pd.DataFrame(rows, columns=["session", "pages", "seconds"])
    out.insert(0, "country", pdf["country"].iloc[0])
    out.insert(0, "user_id", pdf["user_id"].iloc[0])
    return out


@pandas_udf(IntegerType())
def server_errors(status: pd.Series) -> int:
    failed = 0
    for code in status:
        if code >= SERVER_ERROR:
            failed += 1
    return failed


def slowest_page(pdf: pd.DataFrame) -> pd.DataFrame:
    """The page that took longest to load; loads that were never measured do not count."""
    page = None
    worst = 0.0
    for row in pdf.itertuples(index=False):
        if row.load_s > worst:
            worst = row.load_s
            page = row.page
    return pd.DataFrame(
        {
            "user_id": [pdf["user_id"].iloc[0]],
            "country": [pdf["country"].iloc[0]],
            "page": [page],
            "load_s": [worst],
        }
    )


def only(country: str | None):
    """A step that keeps one country, or everything."""

    def step(df: DataFrame) -> DataFrame:
        return df if country is None else df.where(F.col("country") == country)

    return step


def sessions(events: DataFrame) -> DataFrame:
    return events.groupBy("user_id", "country").applyInPandas(split_sessions, SESSIONS)


def struggling(events: DataFrame) -> DataFrame:
    return (
        events.groupBy("user_id", "country")
        .agg(server_errors("status").alias("errors"))
        .where("errors >= 1")
    )


def patience(events: DataFrame, slower_than: float) -> DataFrame:
    return (
        events.groupBy("user_id", "country")
        .applyInPandas(slowest_page, SLOWEST)
        .where(F.col("load_s") > slower_than)
    )


def idlers(events: DataFrame, minutes: int) -> DataFrame:
    longest = events.groupBy("user_id").agg(F.max("dwell_ms").alias("longest_ms"))
    return longest.where(F.col("longest_ms") > minutes * 60_000)


def made_up(spark: SparkSession, users: int = 60, seed: int = 11) -> DataFrame:
    """A day of clicks, with the holes that real ones have."""
    rng = random.Random(seed)
    start = datetime(2026, 3, 1)
    rows = []
    for user in range(users):
        country = rng.choice(["DE", "FR", "PL", None])
        ts = start + timedelta(seconds=rng.randrange(40_000))
        for _ in range(rng.randrange(1, 40)):
            ts += timedelta(seconds=rng.choice([20, 90, 300, 2400]))
            rows.append(
                (
                    f"u{user:03d}" if user else None,
                    country,
                    ts,
                    rng.choice(["/", "/cart", "/search", "/help"]),
                    rng.choice([200] * 30 + [404, 500, 503, None]),
                    rng.choice([None, rng.randrange(500, 90_000), rng.randrange(700_000)]),
                    rng.choice([None, float("nan"), rng.expovariate(2.0), rng.expovariate(1.0)]),
                )
            )
    return spark.createDataFrame(rows, EVENTS)


def parse_args() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--events", type=Path, help="Parquet of the events")
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--country", default=None)
    parser.add_argument("--idle-minutes", type=int, default=10)
    parser.add_argument("--slow-seconds", type=float, default=2.5)
    parser.add_argument("-v", "--verbose", action="store_true")
    return parser.parse_args()


def main() -> None:
    args = parse_args()
    logging.basicConfig(level=logging.INFO if args.verbose else logging.WARNING)
    spark = SparkSession.builder.appName("sessionize").getOrCreate()

    source = args.events
    if source is None:
        source = args.out / "events"
        made_up(spark).coalesce(2).write.mode("overwrite").parquet(str(source))
    events = spark.read.parquet(str(source))

    tables = {
        "sessions": events.transform(sessions).transform(only(args.country)),
        "struggling": events.transform(struggling).transform(only(args.country)),
        "patience": patience(events, args.slow_seconds).transform(only(args.country)),
        "idlers": idlers(events, args.idle_minutes),
    }
    for name, table in tables.items():
        table.write.mode("overwrite").parquet(str(args.out / name))
        log.info("%s: %d rows", name, spark.read.parquet(str(args.out / name)).count())
        print(f"{name} written")
    spark.stop()


if __name__ == "__main__":
    main()
