"""First rows of what is sorted that pandas leaves open, or of which there are too many."""

# mypy: ignore-errors

from __future__ import annotations

import pandas as pd

CODES = [
    ("others_of_the_largest", "row-order"),
    ("others_after_sorting", "row-order"),
    ("too_many", "too-large"),
    ("as_many_as_rows", "too-large"),
    ("eight_doubles", "not-a-fold"),
    ("texts", "unsupported-operation"),
    ("last_of_ties", "unknown-call"),
    ("first_three", "unknown-call"),
    ("by_two_columns", "unknown-call"),
]


def others_of_the_largest(pdf: pd.DataFrame) -> pd.DataFrame:
    return pd.DataFrame({"o": [pdf.nlargest(3, "n")["v"].iloc[0]]})


def others_after_sorting(pdf: pd.DataFrame) -> pd.DataFrame:
    return pd.DataFrame({"o": [pdf.sort_values("n").head(3)["v"].max()]})


def too_many(pdf: pd.DataFrame) -> pd.DataFrame:
    return pd.DataFrame({"o": [pdf["v"].nlargest(9).min()]})


def as_many_as_rows(pdf: pd.DataFrame) -> pd.DataFrame:
    return pd.DataFrame({"o": [pdf["v"].nlargest(len(pdf)).min()]})


def eight_doubles(pdf: pd.DataFrame) -> pd.DataFrame:
    return pd.DataFrame({"o": [pdf["v"].nlargest(8).sum()]})


def texts(pdf: pd.DataFrame) -> pd.DataFrame:
    return pd.DataFrame({"o": [1.0 if pdf["s"].nlargest(2).size > 1 else 0.0]})


def last_of_ties(pdf: pd.DataFrame) -> pd.DataFrame:
    return pd.DataFrame({"o": [pdf["v"].nlargest(2, keep="last").min()]})


def first_three(pdf: pd.DataFrame) -> pd.DataFrame:
    return pd.DataFrame({"o": [pdf["v"].head(3).max()]})


def by_two_columns(pdf: pd.DataFrame) -> pd.DataFrame:
    return pd.DataFrame({"o": [pdf.nlargest(2, ["v", "n"])["v"].min()]})
