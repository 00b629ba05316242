"""Functions that ask whether a value is missing, or that read columns with NULL. By value."""

# mypy: ignore-errors

from __future__ import annotations

import math

import numpy as np
import pandas as pd


def _row(pdf, found):
    return pd.DataFrame({"k": [pdf["k"].iloc[0]], "m": [found]})


# --- of tables: how many are missing --------------------------------------------------------------


def asked_by_pandas(pdf):
    n = 0
    for r in pdf.itertuples():
        if pd.isna(r.v):
            n += 1
    return _row(pdf, n)


def asked_by_isnull(pdf):
    n = 0
    for v in pdf["v"]:
        n += 1 if pd.isnull(v) else 0
    return _row(pdf, n)


def asked_by_itself(pdf):
    n = 0
    for r in pdf.itertuples():
        if r.v != r.v:
            n += 1
    return _row(pdf, n)


def asked_by_equality(pdf):
    n = 0
    for r in pdf.itertuples(index=False):
        if not (r.v == r.v):  # noqa: SIM201
            n += 1
    return _row(pdf, n)


def asked_for_none(pdf):
    n = 0
    for r in pdf.itertuples():
        if r.v is None:
            n += 1
    return _row(pdf, n)


def asked_by_numpy(pdf):
    n = 0
    for r in pdf.itertuples():
        if np.isnan(r.v):
            n += 1
    return _row(pdf, n)


def asked_by_math(pdf):
    n = 0
    for r in pdf.itertuples():
        if math.isnan(r.v):
            n += 1
    return _row(pdf, n)


def asked_by_a_helper(pdf):
    def gone(x):
        return pd.isna(x)

    n = 0
    for r in pdf.itertuples():
        if gone(r.v):
            n += 1
    return _row(pdf, n)


def all_asked_at_once(pdf):
    return _row(pdf, pdf["v"].isna().sum())


def not_counted(pdf):
    return _row(pdf, len(pdf) - pdf["v"].count())


def all_dropped(pdf):
    return _row(pdf, len(pdf) - len(pdf.dropna(subset=["v"])))


COUNTING = (
    asked_by_pandas,
    asked_by_isnull,
    asked_by_itself,
    asked_by_equality,
    asked_for_none,
    asked_by_numpy,
    asked_by_math,
    asked_by_a_helper,
    all_asked_at_once,
    not_counted,
    all_dropped,
)


# --- of tables: a number that is missing or not ---------------------------------------------------


def greatest(pdf):
    return _row(pdf, pdf["v"].max())


def least(pdf):
    return _row(pdf, pdf["v"].min())


def greatest_of_those_there(pdf):
    best = None
    for r in pdf.itertuples():
        if pd.notna(r.v) and (best is None or r.v > best):
            best = r.v
    return _row(pdf, best)


def greatest_in_a_loop(pdf):
    best = None
    for r in pdf.itertuples():
        if best is None or r.v > best:
            best = r.v
    return _row(pdf, best)


def greatest_above(pdf):
    best = -1
    for r in pdf.itertuples():
        if r.v > best:
            best = r.v
    return _row(pdf, best)


def last_is_asked(pdf):
    best = None
    for r in pdf.itertuples():
        if best is None or r.v > best:
            best = r.v
    return _row(pdf, -7 if pd.isna(best) else best)


def chosen(pdf):
    return _row(pdf, pdf["v"].where(pdf["v"].notna(), 7).max())


def filled(pdf):
    return _row(pdf, pdf["v"].fillna(0).max())


def when_whole(pdf):
    """Nothing of a group of which something is missing."""
    if pdf["v"].isna().any():
        return _row(pdf, None)
    return _row(pdf, pdf["v"].max())


def mostly_there(pdf):
    high, n, gone = -1, 0, 0
    for r in pdf.itertuples():
        n += 1
        if pd.isna(r.v):
            gone += 1
        elif r.v > high:
            high = r.v
    return _row(pdf, high if gone * 2 < n else None)


NUMBERS = (
    greatest,
    least,
    greatest_of_those_there,
    last_is_asked,
    chosen,
    filled,
    when_whole,
    mostly_there,
)


# --- of columns -----------------------------------------------------------------------------------


def whole_greatest(v: pd.Series) -> int:
    return int(v.max())


def high_missing(v: pd.Series) -> int:
    n = 0
    for x in v:
        if x != x or x > 5:
            n += 1
    return n


def least_there(v: pd.Series) -> int:
    m = 1000
    for x in v:
        if not pd.isna(x) and x < m:
            m = int(x)
    return m


# --- of batches -----------------------------------------------------------------------------------


def missing_rows(batches):
    for pdf in batches:
        yield pdf[pdf["v"].isna()]


def marked_rows(batches):
    for pdf in batches:
        yield pdf.assign(gone=pdf["v"].isna())


def high_rows(batches):
    for pdf in batches:
        yield pdf.assign(gone=pdf["v"] > 5)


def like_the_first(batches):
    for pdf in batches:
        yield pdf[pdf["w"] >= pdf["w"].iloc[0]]
