"""Functions over whole columns that are no folds, or whose result pandas leaves open."""

# mypy: ignore-errors

from __future__ import annotations

import datetime as dt
from decimal import Decimal

import numpy as np
import pandas as pd

CODES = [
    ("product_of_all", "not-a-fold"),
    ("quarter", "not-a-fold"),
    ("sum_after_sorting", "row-order"),
    ("above_mean", "two-passes"),
    ("above_max", "two-passes"),
    ("at_max", "two-passes"),
    ("max_before_loop", "two-passes"),
    ("after_sorting", "row-order"),
    ("third", "row-order"),
    ("how_many_kinds", "not-a-fold"),
    ("groups_inside", "not-a-fold"),
    ("optional_mask", "unsupported-operation"),
    ("other_mask", "unsupported-operation"),
    ("wraps_around", "numpy-scalar"),
    ("best_after_sorting", "row-order"),
    ("whole_table", "unsupported-operation"),
    ("masked_by_table", "unsupported-expression"),
    ("share_before_loop", "group-size"),
    ("in_index", "unsupported-operation"),
    ("two_rows", "unknown-call"),
    ("latest_of_ties", "row-order"),
    ("two_names", "mutation"),
    ("column_of_a_part", "unsupported-operation"),
    ("array_with_nan", "unsupported-operation"),
    ("count_per_max", "two-passes"),
    ("clipped_at_a_decimal", "unsupported-operation"),
    ("clipped_at_a_date", "unsupported-operation"),
    ("above_a_decimal", "unsupported-operation"),
    ("kinds_above_a_decimal", "not-a-fold"),
    ("at_a_date", "unsupported-expression"),
    ("first_few_of_a_decimal", "too-large"),
    ("column_of_bytes", "unsupported-expression"),
]


def product_of_all(pdf: pd.DataFrame) -> pd.DataFrame:
    return pd.DataFrame({"o": [pdf["v"].prod()]})


def quarter(pdf: pd.DataFrame) -> pd.DataFrame:
    return pd.DataFrame({"o": [pdf[pdf.v > 0]["v"].quantile()]})


def sum_after_sorting(pdf: pd.DataFrame) -> pd.DataFrame:
    return pd.DataFrame({"o": [pdf.sort_values("v")["v"].sum()]})


def above_mean(pdf: pd.DataFrame) -> pd.DataFrame:
    return pd.DataFrame({"o": [pdf[pdf.v > pdf.v.mean()]["v"].max()]})


def above_max(pdf: pd.DataFrame) -> pd.DataFrame:
    return pd.DataFrame({"o": [(pdf.v > pdf.n.max()).any()]})


def at_max(pdf: pd.DataFrame) -> pd.DataFrame:
    return pd.DataFrame({"o": [pdf.loc[pdf.n == pdf.n.max(), "v"].max()]})


def max_before_loop(pdf: pd.DataFrame) -> pd.DataFrame:
    best = pdf["v"].max()
    hits = 0
    for v in pdf["v"]:
        if v == best:
            hits += 1
    return pd.DataFrame({"o": [hits]})


def after_sorting(pdf: pd.DataFrame) -> pd.DataFrame:
    return pd.DataFrame({"o": [pdf.sort_values("t")["v"].iloc[-1]]})


def third(pdf: pd.DataFrame) -> pd.DataFrame:
    return pd.DataFrame({"o": [pdf["v"].iloc[2]]})


def how_many_kinds(pdf: pd.DataFrame) -> pd.DataFrame:
    return pd.DataFrame({"o": [1.0 if pdf["s"].nunique() > 3 else 0.0]})


def groups_inside(pdf: pd.DataFrame) -> pd.DataFrame:
    return pd.DataFrame({"o": [pdf.groupby("s")["v"].max().min()]})


def optional_mask(pdf: pd.DataFrame) -> pd.DataFrame:
    part = pdf[pdf.v > 0]
    return pd.DataFrame({"o": [part[part["f"]]["v"].max()]})


def other_mask(pdf: pd.DataFrame) -> pd.DataFrame:
    part = pdf[pdf.v > 0]
    return pd.DataFrame({"o": [part[pdf.n > 0]["v"].max()]})


def wraps_around(pdf: pd.DataFrame) -> pd.DataFrame:
    return pd.DataFrame({"o": [1.0 if pdf["n"].iloc[0] * (pdf.n > 0).sum() > 5 else 0.0]})


def in_index(pdf: pd.DataFrame) -> pd.DataFrame:
    return pd.DataFrame({"o": [1.0 if "a" in pdf["s"] else 0.0]})


def best_after_sorting(pdf: pd.DataFrame) -> pd.DataFrame:
    ordered = pdf.sort_values("t")
    return pd.DataFrame({"o": [ordered.loc[ordered["n"].idxmax(), "v"]]})


def whole_table(pdf: pd.DataFrame) -> pd.DataFrame:
    return pd.DataFrame({"o": [pdf["v"].max() if (pdf == 1) else 0.0]})


def masked_by_table(pdf: pd.DataFrame) -> pd.DataFrame:
    return pd.DataFrame({"o": [pdf["v"].loc[pdf.index].max()]})


def share_before_loop(pdf: pd.DataFrame) -> pd.DataFrame:
    share = pdf["n"].isna().mean()
    for _ in pdf["v"]:
        share = share + 0.0
    return pd.DataFrame({"o": [share]})


def two_names(pdf: pd.DataFrame) -> pd.DataFrame:
    other = pdf
    pdf["v"] = 1.0
    return pd.DataFrame({"o": [other["v"].max()]})


def column_of_a_part(pdf: pd.DataFrame) -> pd.DataFrame:
    pdf["v"] = pdf[pdf.v > 0]["v"]
    return pd.DataFrame({"o": [pdf["v"].max()]})


def array_with_nan(pdf: pd.DataFrame) -> pd.DataFrame:
    return pd.DataFrame({"o": [np.where(pdf.v > 0, pdf.v, 0).max()]})


def count_per_max(pdf: pd.DataFrame) -> pd.DataFrame:
    pdf["top"] = pdf["v"].max()
    return pd.DataFrame({"o": [(pdf["v"] < pdf["top"]).sum() / 1]})


def two_rows(pdf: pd.DataFrame) -> pd.DataFrame:
    return pdf.head(2)


def latest_of_ties(pdf: pd.DataFrame) -> pd.DataFrame:
    return pdf.sort_values("t").tail(1)


def clipped_at_a_decimal(pdf: pd.DataFrame) -> pd.DataFrame:
    return pd.DataFrame({"o": [pdf["v"].clip(upper=Decimal("1.5")).max()]})


def clipped_at_a_date(pdf: pd.DataFrame) -> pd.DataFrame:
    return pd.DataFrame({"o": [pdf["v"].clip(upper=dt.date(1970, 1, 3)).max()]})


def above_a_decimal(pdf: pd.DataFrame) -> pd.DataFrame:
    return pd.DataFrame({"o": [np.maximum(pdf["v"], Decimal("1.5")).max()]})


def kinds_above_a_decimal(pdf: pd.DataFrame) -> pd.DataFrame:
    return pd.DataFrame({"o": [1.0 if pdf["n"].nunique() > Decimal("0.1") else 0.0]})


def at_a_date(pdf: pd.DataFrame) -> pd.DataFrame:
    return pd.DataFrame({"o": [pdf["v"].iloc[dt.date(1970, 1, 1)]]})


def first_few_of_a_decimal(pdf: pd.DataFrame) -> pd.DataFrame:
    return pd.DataFrame({"o": [pdf["v"].nlargest(Decimal("0.3")).max()]})


def column_of_bytes(pdf: pd.DataFrame) -> pd.DataFrame:
    return pd.DataFrame({"o": [pdf[pdf.v > 0][b"v"].max()]})
