"""pandas functions of what clocks show at an instant."""

# mypy: ignore-errors

from __future__ import annotations

from collections.abc import Iterator

import pandas as pd


def month(ts: pd.Series) -> pd.Series:
    return pd.to_datetime(ts).dt.month


def day(ts: pd.Series) -> pd.Series:
    return ts.dt.day


def year(ts: pd.Series) -> pd.Series:
    return ts.dt.year


def hour(ts: pd.Series) -> pd.Series:
    return ts.dt.hour


def minute(ts: pd.Series) -> pd.Series:
    return ts.dt.minute


def second(ts: pd.Series) -> pd.Series:
    return ts.dt.second


def weekday(ts: pd.Series) -> pd.Series:
    return ts.dt.dayofweek


def is_night(ts: pd.Series) -> pd.Series:
    return (ts.dt.hour < 6) | (ts.dt.hour >= 22)


def hours_of_batches(batches: Iterator[pd.DataFrame]) -> Iterator[pd.DataFrame]:
    for pdf in batches:
        yield pdf[pdf["t"].dt.hour >= 5]


def nights(pdf: pd.DataFrame) -> pd.DataFrame:
    late = pdf[pdf["t"].dt.hour >= 22]
    return pd.DataFrame({"k": [pdf["k"].iloc[0]], "n": [len(late)]})
