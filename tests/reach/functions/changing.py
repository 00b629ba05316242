"""Functions of groups after which a column does not hold the group's key, or none of them does."""

# ruff: noqa
# mypy: ignore-errors
from __future__ import annotations

import numpy as np
import pandas as pd


def tidy_country(pdf):
    pdf["country"] = pdf["country"].str.upper().str.strip()
    return pdf.drop_duplicates(subset=["country", "supplier"])


def with_total_row(key, pdf):
    lines = pdf.groupby("account", as_index=False)["amount"].sum()
    lines["division"] = key[0]
    total = pd.DataFrame([{"division": "TOTAL", "account": None, "amount": lines["amount"].sum()}])
    return pd.concat([lines, total], ignore_index=True)[["division", "account", "amount"]]


def children_as_parents(pdf):
    sums = pdf.groupby("child", as_index=False).agg(staff=("headcount", "sum"))
    return sums.rename(columns={"child": "unit"})


def region_or_unknown(pdf):
    pdf["region"] = pdf["region"].fillna("unknown")
    pdf["share"] = pdf["sales"] / pdf["sales"].sum()
    return pdf[["region", "shop", "share"]]


def price_bands(pdf):
    pdf["band"] = (pdf["price"] // 10 * 10).astype(float)
    return pdf.groupby("band", as_index=False)["listing"].count()


def linked_identities(pdf):
    canonical = pdf["customer_id"].min()
    out = pdf[pdf["customer_id"] != canonical][["customer_id"]].copy()
    out["canonical_id"] = canonical
    return out


def first_key_only(key, pdf):
    """the day is the first one of the week"""
    monday = pd.Timestamp(key[1]) - pd.Timedelta(days=pd.Timestamp(key[1]).dayofweek)
    return pd.DataFrame({"line": [key[0]], "day": [monday.date()], "scrap": [pdf["scrap"].sum()]})
