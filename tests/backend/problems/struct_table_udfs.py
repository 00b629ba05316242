"""Scalar pandas UDFs of a struct, which comes as a table."""
# mypy: ignore-errors

from collections.abc import Iterator

import numpy as np
import pandas as pd

CODES = {"a": "first", "b": "second"}
RATES = {"first": 1.5, "second": 3.0}


def total(p: pd.DataFrame) -> pd.Series:
    return p["x"].fillna(0.0) * p["a"].fillna(0)


def of_text(p: pd.DataFrame) -> pd.Series:
    return p["t"].fillna("").map(CODES).map(RATES).fillna(1.0)


def old(p: pd.DataFrame) -> pd.Series:
    return pd.Series(np.where(p["a"].fillna(20.0) >= 75, "old", "young"))


def with_other(p: pd.DataFrame, y: pd.Series) -> pd.Series:
    return p.x + y


def batches(parts: Iterator[pd.DataFrame]) -> Iterator[pd.Series]:
    for p in parts:
        yield p["x"] * 2.0


def of_rows(p: pd.DataFrame) -> pd.Series:
    return p["x"] - p["x"].max()


def of_null(p: pd.DataFrame) -> pd.Series:
    return p["t"].isna() & p["x"].isna()


def beyond(p: pd.DataFrame) -> pd.Series:
    return p["b"] > 2**53
