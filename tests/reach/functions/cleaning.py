"""Functions of groups that clean rows: outliers, duplicates, gaps, scales, the best few."""

# ruff: noqa
# mypy: ignore-errors
from __future__ import annotations

import logging

import numpy as np
import pandas as pd

log = logging.getLogger(__name__)

METRICS = ["impressions", "clicks", "spend"]
OUTPUT_COLUMNS = ["plant", "tag", "ts", "value", "quality"]
Z_LIMIT = 3.0


def drop_outliers_zscore(pdf):
    mean, std = pdf["value"].mean(), pdf["value"].std(ddof=0)
    if std == 0 or np.isnan(std):
        return pdf
    z = (pdf["value"] - mean).abs() / std
    kept = pdf[z < Z_LIMIT]
    log.info("kept %d of %d rows", len(kept), len(pdf))
    return kept


def iqr_bounds(s, k=1.5):
    q1, q3 = s.quantile(0.25), s.quantile(0.75)
    return q1 - k * (q3 - q1), q3 + k * (q3 - q1)


def clean_fares(pdf):
    low, high = iqr_bounds(pdf["fare"])
    pdf = pdf[pdf["fare"].between(low, high)]
    return pdf.reset_index(drop=True)


def winsorized(pdf):
    out = pdf.copy()
    for c in METRICS:
        lo, hi = out[c].quantile([0.01, 0.99])
        out[c] = out[c].clip(lo, hi)
    return out


def latest_version(pdf):
    pdf = pdf.sort_values("updated_at", ascending=False, na_position="last")
    return pdf.drop_duplicates(subset=["order_id"], keep="first")


def latest_status(pdf):
    newest = pdf.sort_values(["changed_at", "seq"]).tail(1)
    return newest[["ticket_id", "status", "assignee", "changed_at"]]


def top_products(pdf):
    best = pdf.nlargest(3, "revenue")
    best["rank"] = range(1, len(best) + 1)
    best["share"] = best["revenue"] / pdf["revenue"].sum()
    return best[["category", "product", "revenue", "rank", "share"]]


def impute_by_site(pdf):
    for col in ["ph", "turbidity", "chlorine"]:
        pdf[col] = pdf[col].fillna(pdf[col].median())
    pdf["imputed"] = True
    return pdf


def scaled_features(key, pdf):
    """min-max scaling, the columns are whatever is numeric"""
    out = pdf.copy()
    for c in out.columns:
        if c in ("player_id", "league"):
            continue
        span = out[c].max() - out[c].min()
        out[c] = (out[c] - out[c].min()) / span if span else 0.0
    return out


def tidy_names(pdf):
    pdf["name"] = pdf["name"].str.strip().str.title()
    pdf["email"] = pdf["email"].str.lower().replace("", None)
    pdf["domain"] = pdf["email"].str.split("@").str[-1]
    pdf = pdf.dropna(subset=["email"])
    return pdf[["account", "name", "email", "domain"]]


def validated(pdf):
    bad = pdf["value"].isna() | (pdf["quality"] != "GOOD")
    if bad.all():
        return pd.DataFrame(columns=OUTPUT_COLUMNS)
    pdf = pdf.loc[~bad].copy()
    pdf["value"] = pdf["value"].rolling(3, center=True, min_periods=1).median()
    return pdf[OUTPUT_COLUMNS]


def make_hampel(window, n_sigma):
    def hampel(pdf):
        pdf = pdf.sort_values("ts")
        med = pdf["flow"].rolling(window, center=True, min_periods=1).median()
        mad = (pdf["flow"] - med).abs().rolling(window, center=True, min_periods=1).median()
        pdf.loc[(pdf["flow"] - med).abs() > n_sigma * 1.4826 * mad, "flow"] = np.nan
        pdf["flow"] = pdf["flow"].interpolate(method="linear", limit_direction="both")
        return pdf

    return hampel


hampel = make_hampel(window=5, n_sigma=3)
