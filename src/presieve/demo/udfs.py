# SPDX-License-Identifier: Apache-2.0
"""Untrusted. The user's side of the demo: ordinary functions for ``applyInPandas``.

Nothing here knows of presieve. The functions have a module of their own so that their source is
found.
"""

from __future__ import annotations

from typing import Any

import pandas as pd


def top_two(pdf: pd.DataFrame) -> pd.DataFrame:
    """Return the two highest scores of a team."""
    first = None
    second = None
    for row in pdf.itertuples(index=False):
        if first is None or row.score > first:
            second = first
            first = row.score
        elif second is None or row.score > second:
            second = row.score
    return pd.DataFrame({"team": [pdf["team"].iloc[0]], "first": [first], "second": [second]})


def event_window(key: tuple[Any, ...], pdf: pd.DataFrame) -> pd.DataFrame:
    """Count two actions of a ticker, and find when its events began and ended."""
    time = 0
    price = 0
    first = None
    last = None
    for row in pdf.itertuples(index=False):
        if row.action == "time":
            time += 1
        elif row.action == "price":
            price += 1
        if first is not None and last is not None:
            first = min(first, row.ts)
            last = max(last, row.ts)
        else:
            first = row.ts
            last = row.ts
    return pd.DataFrame(
        {"ticker": [key[0]], "time": [time], "price": [price], "first": [first], "last": [last]}
    )


def open_close(key: tuple[Any, ...], pdf: pd.DataFrame) -> pd.DataFrame:
    """Return price and epoch of a symbol's earliest and latest trade."""
    open_price = 0.0
    open_epoch = None
    close_price = 0.0
    close_epoch = None
    for price, epoch in zip(pdf["price"], pdf["epoch"]):
        if open_epoch is None or epoch < open_epoch:
            open_price = price
            open_epoch = epoch
        if close_epoch is None or epoch > close_epoch:
            close_price = price
            close_epoch = epoch
    return pd.DataFrame(
        {
            "symbol": [key[0]],
            "open_price": [open_price],
            "open_epoch": [open_epoch],
            "close_price": [close_price],
            "close_epoch": [close_epoch],
        }
    )
