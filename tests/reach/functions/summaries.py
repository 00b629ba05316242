"""Functions of groups that give one row or a few: medians, shares, counts, correlations, pivots."""

# ruff: noqa
# mypy: ignore-errors
from __future__ import annotations

from collections import Counter

import numpy as np
import pandas as pd

PERCENTILES = [50, 90, 95, 99]
AGE_BINS = [0, 18, 30, 45, 65, 120]
AGE_LABELS = ["<18", "18-29", "30-44", "45-64", "65+"]
WEEKDAYS = ("mon", "tue", "wed", "thu", "fri", "sat", "sun")


def latency_percentiles(key, pdf):
    values = np.nanpercentile(pdf["latency_ms"], PERCENTILES)
    row = {"endpoint": key[0], "region": key[1], "requests": len(pdf)}
    for p, v in zip(PERCENTILES, values):
        row[f"p{p}"] = v
    return pd.DataFrame([row])


def median_salary(pdf):
    return pd.DataFrame(
        {
            "department": [pdf["department"].iloc[0]],
            "median": [pdf["salary"].median()],
            "q1": [pdf["salary"].quantile(0.25)],
            "q3": [pdf["salary"].quantile(0.75)],
            "headcount": [pdf["employee_id"].nunique()],
        }
    )


def described(pdf):
    stats = pdf["delay_min"].describe()
    return pd.DataFrame(
        [
            [
                pdf["route"].iloc[0],
                stats["count"],
                stats["mean"],
                stats["std"],
                stats["25%"],
                stats["50%"],
                stats["75%"],
                stats["max"],
            ]
        ],
        columns=["route", "n", "mean", "std", "q25", "q50", "q75", "worst"],
    )


def favourite_genre(key, pdf):
    counts = pdf["genre"].value_counts()
    if counts.empty:
        return pd.DataFrame({"user_id": [key[0]], "genre": [None], "share": [0.0]})
    return pd.DataFrame(
        {"user_id": [key[0]], "genre": [counts.index[0]], "share": [counts.iloc[0] / len(pdf)]}
    )


def feature_correlation(key, pdf):
    cols = ["dwell_s", "scroll_pct", "clicks"]
    corr = pdf[cols].corr(method="spearman")
    rows = []
    for a in cols:
        for b in cols:
            if a < b:
                rows.append((key[0], a, b, corr.loc[a, b]))
    return pd.DataFrame(rows, columns=["page", "left", "right", "rho"])


def weekday_profile(pdf):
    pdf["weekday"] = pd.to_datetime(pdf["opened_at"]).dt.dayofweek
    wide = pdf.pivot_table(
        index="branch", columns="weekday", values="visitors", aggfunc="mean", fill_value=0
    )
    wide = wide.reindex(columns=range(7), fill_value=0)
    wide.columns = list(WEEKDAYS)
    return wide.reset_index()


def gini(pdf):
    x = np.sort(pdf["income"].dropna().to_numpy())
    n = len(x)
    if n == 0 or x.sum() == 0:
        value = 0.0
    else:
        value = (2 * np.arange(1, n + 1) - n - 1).dot(x) / (n * x.sum())
    return pd.DataFrame({"country": pdf["country"].unique(), "gini": value})


def rfm(pdf):
    now = pd.Timestamp("2024-06-30")
    last = pdf["ordered_at"].max()
    return pd.DataFrame(
        [
            {
                "customer": pdf.customer.values[0],
                "recency": (now - last).days if pd.notna(last) else None,
                "frequency": int(pdf.order_id.nunique()),
                "monetary": float(pdf.amount.sum()),
            }
        ]
    )


def age_groups(pdf):
    pdf["age_group"] = pd.cut(pdf["age"], bins=AGE_BINS, labels=AGE_LABELS, right=False)
    out = (
        pdf.groupby(["clinic", "age_group"], observed=True)
        .agg(patients=("patient_id", "nunique"), cost=("cost", "sum"))
        .reset_index()
    )
    out["age_group"] = out["age_group"].astype(str)
    return out


def weighted_price(key, pdf):
    volume = pdf["volume"].sum()
    vwap = (pdf["price"] * pdf["volume"]).sum() / volume if volume else float("nan")
    return pd.DataFrame([key + (vwap, volume)], columns=["symbol", "day", "vwap", "volume"])


def word_counts(key, pdf):
    counter = Counter()
    for text in pdf["body"].dropna():
        counter.update(w for w in text.lower().split() if len(w) > 3)
    top = counter.most_common(10)
    return pd.DataFrame(
        [(key[0], w, n) for w, n in top], columns=["subreddit", "word", "occurrences"]
    )


def ab_test(pdf):
    by = pdf.groupby("variant")["converted"].agg(["sum", "count"])
    if not {"A", "B"} <= set(by.index):
        return pd.DataFrame()
    pa, pb = by["sum"] / by["count"]
    pool = by["sum"].sum() / by["count"].sum()
    se = np.sqrt(pool * (1 - pool) * (1 / by["count"]).sum())
    return pd.DataFrame(
        {"experiment": [pdf["experiment"].iloc[0]], "uplift": [pb - pa], "z": [(pb - pa) / se]}
    )
