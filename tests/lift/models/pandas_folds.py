"""Functions that reduce whole columns and tables, as users of pandas write them."""

# mypy: ignore-errors

from __future__ import annotations

import datetime as dt
import re

import numpy as np
import pandas as pd


def plain(pdf: pd.DataFrame) -> pd.DataFrame:
    return pd.DataFrame(
        {
            "rows": [len(pdf)],
            "present": [pdf["v"].count()],
            "low": [pdf["v"].min()],
            "high": [pdf.v.max()],
            "total": [pdf["n"].sum()],
            "least": [np.min(pdf["n"])],
            "most": [pdf["n"].max()],
            "some": [(pdf["v"] > 1).any()],
            "every": [(pdf["v"] <= 10).all()],
            "shape": [pdf.shape[0] + pdf.shape[1]],
            "size": [pdf.v.size],
        }
    )


def masked(pdf: pd.DataFrame) -> pd.DataFrame:
    good = pdf[pdf["v"] > 1]
    few = pdf.loc[(pdf["s"] == "a") & ~(pdf.n < 0)]
    return pd.DataFrame(
        {
            "good": [len(good)],
            "low": [good["v"].min()],
            "high": [pdf.loc[pdf["s"] == "a", "v"].max()],
            "n": [pdf.loc[pdf.v.notna(), "n"].max()],
            "few": [few.n.min()],
            "count": [(pdf["v"] > 1).sum()],
            "share": [(pdf["v"] > 1).mean()],
            "other": [(pdf["s"] != "a").sum() / len(pdf)],
            "filled": [pdf["v"].fillna(0).max()],
            "nulls": [pdf["s"].isna().sum() + pdf["v"].isnull().sum()],
            "none": [few.empty],
            "half": [np.sum(pdf[pdf.n > 0]["n"])],
        }
    )


def compared(pdf: pd.DataFrame) -> pd.DataFrame:
    best = pdf["v"].max()
    last = pdf["n"].max()
    if best > 1 and last >= 0:
        kind = "big"
    elif pd.isna(best):
        kind = "none"
    elif best != 0 or last == -3:
        kind = "some"
    else:
        kind = "zero"
    high = None if pd.isna(last) else last
    if pdf["s"].isin(["a", "b"]).any() and pdf["n"].nunique() > 1:
        kind = "mixed"
    return pd.DataFrame([{"kind": kind, "high": high, "one": pdf["s"].nunique() == 1}])


def ends(pdf: pd.DataFrame) -> pd.DataFrame:
    return pd.DataFrame(
        [(pdf["v"].iloc[0], pdf.v.iloc[-1], pdf["s"].iloc[0], pdf["n"].iloc[-1], pdf.t.iloc[0])],
        columns=["a", "b", "c", "d", "e"],
    )


def ends_of_part(pdf: pd.DataFrame) -> pd.DataFrame:
    part = pdf[pdf["v"] > 1]
    return pd.DataFrame({"a": [part["v"].iloc[0]], "b": [part["s"].iloc[-1]]})


def first_where_any(pdf: pd.DataFrame) -> pd.DataFrame:
    part = pdf[pdf["v"] > 1]
    if part.empty:
        return pd.DataFrame({"a": [None], "b": ["no"]})
    return pd.DataFrame({"a": [part["v"].iloc[0]], "b": ["yes"]})


def arg_max(pdf: pd.DataFrame) -> pd.DataFrame:
    return pd.DataFrame(
        {"v": [pdf["v"].max()], "s": [pdf.loc[pdf["v"].idxmax(), "s"]]},
    )


def arg_min(pdf: pd.DataFrame) -> pd.DataFrame:
    row = pdf.loc[pdf["n"].idxmin()]
    return pd.DataFrame({"s": [row["s"]], "w": [pdf.loc[pdf.n.idxmax(), "v"]]})


def attributes_of_best(pdf: pd.DataFrame) -> pd.DataFrame:
    best = pdf.loc[pdf["v"].idxmax()]
    return pd.DataFrame({"n": [best.n], "v": [best.v], "t": [best["t"]]})


def texts(pdf: pd.DataFrame) -> pd.DataFrame:
    return pd.DataFrame({"a": [pdf["s"].min()], "b": [pdf.s.dropna().max()]})


def times(pdf: pd.DataFrame) -> pd.DataFrame:
    late = pdf[pdf["t"] >= pd.Timestamp("2020-01-01")]
    return pd.DataFrame(
        {
            "first": [pdf["t"].min()],
            "last": [late["t"].max()],
            "n": [(pdf["t"] < "2020-01-01").sum()],
            "d": [pdf["d"].dropna().max()],
            "x": [(pdf["d"] == dt.date(2020, 2, 29)).any()],
        }
    )


def required(pdf: pd.DataFrame) -> pd.DataFrame:
    return pd.DataFrame(
        {
            "mean": [pdf["n"].mean()],
            "flags": [pdf["f"].sum()],
            "share": [pdf["f"].mean()],
            "spread": [int(pdf["n"].max()) - int(pdf["n"].min())],
            "clip": [pdf["v"].clip(lower=1, upper=10).max()],
            "product": [(pdf["v"] * pdf["n"]).max()],
            "ratio": [pdf["f"].sum() / (pdf["v"] > 1).sum()],
            "with": [len(pdf[pdf["f"]])],
            "top": [pdf["v"].max() - pdf["v"].min()],
        }
    )


def mean_of_positive(pdf: pd.DataFrame) -> pd.DataFrame:
    return pd.DataFrame({"m": [pdf[pdf.n > 0]["n"].mean()]})


def per_column(v: pd.Series, s: pd.Series) -> float:
    if (s == "b").sum() > 1:
        return v[s == "b"].max()
    return v.dropna().min()


def number_of(n: pd.Series) -> int:
    return int(n.max())


def written(pdf: pd.DataFrame) -> pd.DataFrame:
    pdf["kind"] = np.where(pdf["v"] > 1, "big", "small")
    pdf.loc[pdf["s"] == "a", "kind"] = "a"
    pdf["w"] = np.maximum(pdf["v"], 1)
    made = pdf.assign(x=pdf["v"].where(pdf["s"] == "b"), one=1)
    return pd.DataFrame(
        {
            "big": [(pdf["kind"] == "big").sum()],
            "w": [pdf["w"].max()],
            "x": [made["x"].min()],
            "ones": [made.loc[made["kind"] != "a", "one"].sum()],
            "far": [pdf["v"].abs().max()],
            "hits": [np.where(pdf["v"] > 1, 1, 0).sum()],
            "pre": [pdf.loc[pdf["s"].str.startswith("a", na=False), "v"].max()],
        }
    )


def spelled(pdf: pd.DataFrame) -> pd.DataFrame:
    s = pdf["s"]
    return pd.DataFrame(
        {
            "lower": [(s.str.lower() == "a").sum()],
            "upper": [(s.str.upper() == "A").sum()],
            "strip": [(s.str.strip() == "a").sum()],
            "inner": [(s.str.lstrip().str.rstrip("a ") == "").sum()],
            "cut": [(s.str[:1] == "a").sum()],
            "rest": [(s.str[1:] == "").sum()],
            "end": [s.str.endswith(("a", "c"), na=True).sum()],
            "has": [s.str.contains("a", na=False).sum()],
            "dot": [s.str.contains(".", regex=False, na=True).sum()],
            "long": [(s.str.len() > 1).sum()],
            "other": [(s.str.replace("a", "b") == "b").sum()],
            "bare": [(s.str.removeprefix("a") == "").sum()],
            "none": [s.str.lower().isna().sum()],
            "title": [(s.str.title() == "A").sum()],
            "head": [(s.str.capitalize() == s.str.casefold()).sum()],
            "swap": [(s.str.swapcase() == "a").any()],
            "zeros": [(s.str.zfill(2) == "0z").sum()],
            "tail": [(s.str.removesuffix("a") == "").sum()],
            "place": [s.str.find("a").max()],
            "last": [(s.str.rfind("a") >= 0).sum()],
            "letters": [(s.str.isalpha() == True).sum()],  # noqa: E712
            "lowered": [s.str.islower().isna().sum()],
        }
    )


PARTS = re.compile(r"(?P<head>[A-Z ]?)(?P<tail>[a-z])", re.ASCII)


def extracted(pdf: pd.DataFrame) -> pd.DataFrame:
    s, initial = pdf["s"], re.compile(r"^\s*([a-z])", re.IGNORECASE)
    return pd.DataFrame(
        {
            "first": [(s.str.extract(initial, expand=False).str.lower() == "a").sum()],
            "second": [(s.str.extract(r"[ab](.)", expand=False).str.upper() == "B").any()],
            "none": [s.str.extract("(z)", expand=False).isna().sum()],
            "named": [(s.str.extract(PARTS)["tail"] == "z").sum()],
            "spaced": [s.str.extract(PARTS, expand=True)["head"].notna().sum()],
            "replaced": [(s.str.replace(r"[a-b]|\s$", "-", regex=True) == "-").sum()],
            "swapped": [(s.str.replace(PARTS, r"\g<tail>\1", regex=True) == "za").any()],
            "counted": [(s.str.count("[a-z]") > 0).sum()],
            "most": [s.str.count(PARTS).max()],
        }
    )


def nullable_mask(pdf: pd.DataFrame) -> pd.DataFrame:
    return pd.DataFrame({"n": [len(pdf[pdf["f"]])], "top": [pdf.loc[pdf["f"], "v"].max()]})


def in_sequence(pdf: pd.DataFrame) -> pd.DataFrame:
    good = pdf[pdf["v"] > 1]
    some = pdf.loc[pdf["s"] == "a", "v"]
    return pd.DataFrame(
        {
            "total": [pdf["v"].sum()],
            "good": [good["v"].sum()],
            "mean": [np.mean(pdf["v"])],
            "few": [good["v"].mean()],
            "std": [some.std()],
            "var": [pdf["n"].var()],
            "middle": [some.median()],
            "third": [pdf["n"].median()],
            "square": [(good["v"] * good["v"]).sum()],
            "filled": [pdf["v"].fillna(0).sum()],
            "there": [pdf["v"].dropna().mean()],
            "half": [float(good["v"].mean()) / 2],
        }
    )


def weighted(pdf: pd.DataFrame) -> pd.DataFrame:
    part = pdf[pdf["s"].isin(["a", "b"])]
    spread = part["v"].max() - part["v"].mean()
    if spread > 1 and part["v"].std() < 10:
        return pd.DataFrame({"kind": ["wide"], "total": [part["v"].sum() + 1]})
    return pd.DataFrame({"kind": ["narrow"], "total": [0.0]})


def first_row(pdf: pd.DataFrame) -> pd.DataFrame:
    return pdf.head(1)


def last_row(pdf: pd.DataFrame) -> pd.DataFrame:
    return pdf.iloc[[-1]][["s", "v", "n", "t"]]


def earliest(pdf: pd.DataFrame) -> pd.DataFrame:
    return pdf.sort_values("t", kind="stable").head(1).reset_index(drop=True)


def latest(pdf: pd.DataFrame) -> pd.DataFrame:
    return pdf.sort_values("t", kind="mergesort").tail(1)


def highest(pdf: pd.DataFrame) -> pd.DataFrame:
    return pdf.sort_values(by=["v"], ascending=False, kind="stable").iloc[[0]]


def lowest(pdf: pd.DataFrame) -> pd.DataFrame:
    return pdf.sort_values("n", ascending=False, kind="stable").tail(1)


def labels(pdf: pd.DataFrame) -> pd.DataFrame:
    return pdf.loc[[pdf["v"].idxmax()], ["t", "v", "n", "s"]]


def ends_by(pdf: pd.DataFrame) -> pd.DataFrame:
    by_day = pdf.sort_values("t", kind="stable")
    part = pdf[pdf["v"] > 0].sort_values("s", ascending=False, kind="stable")
    return pd.DataFrame(
        {
            "a": [by_day["v"].iloc[0]],
            "b": [by_day["s"].iloc[-1]],
            "c": [part["s"].iloc[0] if len(part) else None],
        }
    )
