"""Scalar pandas UDFs in the words that people use: bins, parts of texts, dates, durations."""

# mypy: ignore-errors

from __future__ import annotations

import numpy as np
import pandas as pd

EDGES = [0, 10, 20, np.inf]


def cut_off(x: pd.Series) -> pd.Series:
    return x.clip(0, 10)


def cut_off_backwards(x: pd.Series) -> pd.Series:
    return np.clip(x, 10, 1.5)


def named_bins(x: pd.Series) -> pd.Series:
    return pd.cut(x, bins=EDGES, labels=["low", "mid", "high"])


def written_bins(x: pd.Series) -> pd.Series:
    return pd.cut(x, EDGES, labels=["low", "mid", "high"], right=False).astype(str)


def numbered_bins(n: pd.Series) -> pd.Series:
    return pd.cut(n, [-5, 0, 3], labels=False, include_lowest=True)


def digitized(x: pd.Series) -> pd.Series:
    return pd.Series(np.digitize(x, [0.0, 10.0]))


def searched(x: pd.Series) -> pd.Series:
    return pd.Series(np.searchsorted([0.0, 10.0], x))


def first_there(x: pd.Series, y: pd.Series) -> pd.Series:
    return x.fillna(y)


def sum_of_there(x: pd.Series, y: pd.Series) -> pd.Series:
    return x.add(y, fill_value=0)


def ratio(x: pd.Series, y: pd.Series) -> pd.Series:
    return (x / y.replace(0, np.nan)).replace([np.inf, -np.inf], np.nan)


def floored(x: pd.Series) -> pd.Series:
    return np.floor(x)


def repeated(x: pd.Series) -> pd.Series:
    r = pd.Series(["rest"] * len(x), index=x.index)
    r.loc[x > 10] = "high"
    return r


def truth(b: pd.Series) -> pd.Series:
    return b.fillna(False)


def joined(s: pd.Series, w: pd.Series) -> pd.Series:
    return s.str.cat(w, sep="/", na_rep="?")


def filled(s: pd.Series) -> pd.Series:
    return s.str.rjust(3, "0")


def before(s: pd.Series) -> pd.Series:
    return s.str.partition("-")[0]


def digits(s: pd.Series) -> pd.Series:
    return s.str.extract(r"no(\d+)")[0]


def parts(s: pd.Series) -> pd.Series:
    return s.str.split("-").str.len()


def month(t: pd.Series) -> pd.Series:
    return t.dt.strftime("%Y-%m")


def day(t: pd.Series) -> pd.Series:
    return t.dt.date


def quarter(t: pd.Series) -> pd.Series:
    return t.dt.quarter


def month_end(t: pd.Series) -> pd.Series:
    return t.dt.is_month_end


def days_between(t: pd.Series, u: pd.Series) -> pd.Series:
    return (u - t).dt.days


def hours_since(t: pd.Series) -> pd.Series:
    return (t - pd.Timestamp("2024-01-01")).dt.total_seconds() / 3600


def below_a(x: pd.Series) -> pd.Series:
    return pd.cut(x, [0, 10, 20], labels=["low", "a"]) < "a"
