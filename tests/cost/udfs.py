"""Functions of whole groups, as users write them."""

# mypy: ignore-errors

from __future__ import annotations

import pandas as pd


def top_two(pdf: pd.DataFrame) -> pd.DataFrame:
    first = None
    second = None
    for row in pdf.itertuples(index=False):
        if first is None or row.v > first:
            second = first
            first = row.v
        elif second is None or row.v > second:
            second = row.v
    return pd.DataFrame({"g": [pdf["g"].iloc[0]], "first": [first], "second": [second]})


def last_time(pdf: pd.DataFrame) -> pd.DataFrame:
    last = None
    for t in pdf["t"]:
        if last is None or t > last:
            last = t
    return pd.DataFrame({"g": [pdf["g"].iloc[0]], "last": [last]})


def best(v: pd.Series) -> float:
    return v.max()
