"""Untrusted. Functions of a group's table that no fold describes: medians, quantiles, models."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd

RESULT = "k bigint, value double"


def median(key: Any, pdf: Any) -> Any:
    """The median of one column, where another one is positive."""
    kept = pdf.loc[pdf["d1"] > 0, "d0"]
    return pd.DataFrame({"k": [key[0]], "value": [float(kept.median())]})


def spread(pdf: Any) -> Any:
    """The interquartile range without outliers."""
    low, high = pdf["d2"].quantile([0.25, 0.75])
    inside = pdf[(pdf["d2"] > low - 3 * (high - low)) & (pdf["d2"] < high + 3 * (high - low))]
    return pd.DataFrame({"k": [pdf["k"].iloc[0]], "value": [float(inside["d3"].std())]})


def trend(key: Any, pdf: Any) -> Any:
    """The slope of a line that is fitted to the group's rows."""
    if len(pdf) < 3:
        return pd.DataFrame({"k": [key[0]], "value": [0.0]})
    slope, _ = np.polyfit(pdf["d4"], pdf["d5"], 1)
    return pd.DataFrame({"k": [key[0]], "value": [round(float(slope), 9)]})


def model(key: Any, pdf: Any) -> Any:
    """The residual of a linear model with two features."""
    try:
        features = np.column_stack([np.ones(len(pdf)), pdf["d6"], pdf["d7"]])
        weights, *_ = np.linalg.lstsq(features, pdf["d6"] - pdf["d7"], rcond=None)
        error = float(np.abs(features @ weights - (pdf["d6"] - pdf["d7"])).max())
    except np.linalg.LinAlgError:
        error = float("nan")
    return pd.DataFrame([(*key, round(error, 6))], columns=["k", "value"])


def busiest(pdf: Any) -> Any:
    """The sum over the group's largest rows."""
    top = pdf.sort_values(["i0", "i1"], ascending=False).head(10)
    return pd.DataFrame({"k": [pdf["k"].iloc[0]], "value": [float(top["i1"].sum())]})


FUNCTIONS = (median, spread, trend, model, busiest)
