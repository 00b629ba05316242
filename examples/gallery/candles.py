"""Trades of a day: symbols that traded from the first minutes to the last, and closed high.

Run it: ``python examples/gallery/candles.py``.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa
from showing import Shown, Wrong, alone, compare, parquet

import presieve

UTC = pa.timestamp("us", "UTC")
OPEN = np.datetime64("2026-03-02T09:30:00", "us")
SECONDS = int(6.5 * 3600)

# --- the pipeline ---------------------------------------------------------------------------------


def candle(pdf: pd.DataFrame) -> pd.DataFrame:
    first = pdf.loc[pdf["at"].idxmin()]
    last = pdf.loc[pdf["at"].idxmax()]
    return pd.DataFrame(
        {
            "symbol": [first["symbol"]],
            "opened": [first["at"]],
            "open": [first["price"]],
            "closed": [last["at"]],
            "close": [last["price"]],
        }
    )


CANDLE = "symbol string, opened timestamp, open double, closed timestamp, close double"
WHOLE_DAY = """
    opened < TIMESTAMP '2026-03-02 09:35:00'
    AND closed >= TIMESTAMP '2026-03-02 15:55:00'
    AND close > 100
"""


def pipeline(trades, listings):
    candles = trades.groupBy("symbol").applyInPandas(candle, CANDLE)
    return candles.join(listings, "symbol").filter(WHOLE_DAY).filter("board = 'main'")


# --- the wrong twin -------------------------------------------------------------------------------

BY_HAND = """
    (at < TIMESTAMP '2026-03-02 09:35:00' OR at >= TIMESTAMP '2026-03-02 15:55:00')
    AND price > 100
"""


# Only the first and the last minutes matter, and only prices over 100.
def by_hand():
    return presieve.verify(
        candle,
        WHOLE_DAY,
        schema="symbol string, at timestamp, price double",
        returns=CANDLE,
        keys="symbol",
        prefilter=BY_HAND,
    )


# --- data and output ------------------------------------------------------------------------------


def trades(spark, folder, rows=60_000, symbols=200):
    """In the order of time, as a tape is. No two trades at one moment; some without a price."""
    rng = np.random.default_rng(3)
    at = OPEN + (np.arange(rows) * (SECONDS * 1_000_000 // rows)).astype("timedelta64[us]")
    symbol = np.minimum(rng.zipf(1.3, rows), symbols).astype(int)
    price = 60.0 + symbol % 90 + rng.normal(0, 3, rows).round(2)
    names = [None if s == 7 else f"S{s:03d}" for s in symbol]
    prices = np.where(rng.random(rows) < 0.01, np.nan, price)
    return parquet(
        spark,
        folder,
        "trades",
        {
            "symbol": pa.array(names),
            "at": pa.array(at, UTC),
            "price": pa.array(prices, mask=rng.random(rows) < 0.01),
        },
    )


def listings(spark, folder, symbols=180):
    boards = ["main", "main", "growth", None]
    return parquet(
        spark,
        folder,
        "listings",
        {
            "symbol": pa.array([f"S{s:03d}" for s in range(symbols)]),
            "board": pa.array([boards[s % 4] for s in range(symbols)]),
        },
    )


def main(spark, folder: Path) -> Shown:
    df = pipeline(trades(spark, folder), listings(spark, folder))
    return compare(df, Wrong(WHOLE_DAY, BY_HAND, by_hand()))


if __name__ == "__main__":
    alone(main)
