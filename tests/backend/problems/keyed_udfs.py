"""Functions of whole groups that do not lift, some of which keep the key. Pickled by value."""

# mypy: ignore-errors

from __future__ import annotations

import numpy as np
import pandas as pd

CALLS = []


def z_scores(pdf):
    return pdf.assign(score=(pdf["score"] - pdf["score"].mean()) / pdf["score"].std())


def median_of(key, pdf):
    return pd.DataFrame({"team": [key[0]], "score": [pdf["score"].quantile(0.5)]})


def upper_half(pdf):
    middle = np.median(pdf["v"])
    out = pdf[pdf["v"] >= middle].sort_values("v").copy()
    out["v"] = out["v"] + 1
    return out.reset_index(drop=True)


def whole_or_nothing(pdf):
    if pdf["v"].quantile(0.9) > 10:
        return pdf
    return pdf.iloc[:0]


def renamed_key(pdf):
    pdf["team"] = pdf["team"].str.swapcase()
    return pdf


def only_the_name(pdf):
    return pd.DataFrame({"team": pdf["level"].fillna("none"), "score": pdf["score"]})


def rows_without_a_key(pdf):
    """Where no row is selected, those of the assigned Series appear, with no team."""
    out = pdf[pdf["v"] > 2**52]
    return out.assign(score=pdf["score"] * 2)


def holes(pdf):
    return pdf[pdf[["team", "score", "v", "level"]] != "b"]


def one_more_row(pdf):
    pdf.loc[len(pdf), "v"] = 3
    return pdf


def left_by_break(pdf):
    out = pdf
    for x in pdf["v"]:
        out = pd.DataFrame({"team": ["z"], "score": [1.0], "v": [1], "level": ["x"]})
        if x > 3:
            break
        out = pdf
    return out


def same_object(pdf):
    other = pdf
    other["team"] = "z"
    return pdf


def numbered(pdf):
    CALLS.append(1)
    return pdf.assign(v=len(CALLS))


def sampled(pdf):
    return pdf.sample(1)


RATES = {"a": (2.0, 1.0), "b": (0.5, 0.0)}


def rated_by_key(key, pdf):
    factor, shift = RATES.get(key[0], (1.0, 0.0))
    pdf["score"] = pdf["score"] * factor + shift
    return pdf[["team", "score", "v", "level"]]


def raised_by_key(key, pdf):
    (team,) = key
    pdf["score"] = pdf["score"] + (1.0 if team == "a" else 0.0)
    return pdf


def marked_by_number(key, pdf):
    v = key[0]
    pdf["score"] = pdf["score"] + (1.0 if v == 7 else 0.0)
    return pdf


def compared_with_the_group(key, pdf):
    factor, _ = RATES.get(key[0], (1.0, 0.0))
    pdf["score"] = pdf["score"] * factor - pdf["score"].max()
    return pdf
