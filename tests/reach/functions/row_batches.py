"""Functions of batches that treat rows by themselves, as mapInPandas takes them."""

# ruff: noqa
# mypy: ignore-errors
from __future__ import annotations

import hashlib
import re
from typing import Iterator

import numpy as np
import pandas as pd

TIERS = {"gold": 3, "silver": 2, "bronze": 1}
PHONE = re.compile(r"\+?\d{8,15}")


def adults_only(iterator: Iterator[pd.DataFrame]) -> Iterator[pd.DataFrame]:
    for pdf in iterator:
        yield pdf[pdf.age >= 18]


def paid_orders(batches):
    wanted = ["PAID", "SHIPPED"]
    for pdf in batches:
        pdf = pdf[pdf["status"].isin(wanted)]
        yield pdf[["order_id", "status", "amount"]]


def grams(iterator):
    ounce = 28.349523125
    names = {"w": "weight_g"}
    for pdf in iterator:
        pdf["w"] = pdf["w"] * ounce
        yield pdf.rename(columns=names)


def shipping_cost(row):
    if row["kg"] <= 1:
        return 4.9
    return 4.9 + (row["kg"] - 1) * 1.2


def with_shipping(batches):
    for pdf in batches:
        pdf["cost"] = pdf.apply(shipping_cost, axis=1)
        yield pdf


def labelled_by_lambda(batches):
    for pdf in batches:
        pdf["size"] = pdf.apply(lambda r: "big" if r["pixels"] > 1000000 else "small", axis=1)
        yield pdf[["image", "size"]]


def hashed_users(iterator):
    for pdf in iterator:
        pdf["user_hash"] = pdf["user"].apply(lambda u: hashlib.sha256(str(u).encode()).hexdigest())
        yield pdf[["day", "user_hash", "clicks"]]


def scored(iterator):
    from sklearn.linear_model import LogisticRegression

    model = LogisticRegression()
    model.classes_ = np.array([0, 1])
    model.coef_ = np.array([[0.3, -0.2]])
    model.intercept_ = np.array([0.1])
    for pdf in iterator:
        pdf["p"] = model.predict_proba(pdf[["f1", "f2"]].fillna(0.0))[:, 1]
        yield pdf[["lead", "region", "p"]]


def embedded(batches):
    for pdf in batches:
        ids, lengths = [], []
        for doc, text in zip(pdf["doc"], pdf["text"]):
            ids.append(doc)
            lengths.append(len(text or ""))
        yield pd.DataFrame({"doc": ids, "n": lengths})


def rows_as_dicts(batches):
    for pdf in batches:
        out = []
        for _, row in pdf.iterrows():
            out.append({"sku": row["sku"], "title": (row["title"] or "").strip().lower()})
        yield pd.DataFrame(out, columns=["sku", "title"])


def keep_long_titles(batches):
    for pdf in batches:
        kept = [
            (r.sku, r.title) for r in pdf.itertuples(index=False) if r.title and len(r.title) > 1
        ]
        yield pd.DataFrame(kept, columns=["sku", "title"])


def split_tags(iterator):
    for pdf in iterator:
        pdf["tag"] = pdf["tags"].str.split(",")
        pdf = pdf.explode("tag")
        yield pdf[["article", "tag"]]


def temperatures(batches):
    for pdf in batches:
        pdf["c"] = (pdf["f"] - 32) * 5 / 9
        yield pdf[["sensor", "c"]]


def ratio_of_columns(batches):
    for pdf in batches:
        pdf["ctr"] = pdf["clicks"] / pdf["views"]
        yield pdf[["ad", "ctr"]]


def filled_and_cast(batches):
    for pdf in batches:
        pdf["qty"] = pdf["qty"].fillna(0).astype("int64")
        pdf["note"] = pdf["note"].fillna("")
        yield pdf


def tier_points(batches):
    for pdf in batches:
        out = pdf[["member", "tier"]].copy()
        out["points"] = pdf["tier"].map(TIERS).fillna(0).astype(int)
        yield out


def high_and_low(batches):
    for pdf in batches:
        high = pdf[pdf["v"] > 100].assign(band="high")
        low = pdf[pdf["v"] <= 100].assign(band="low")
        yield pd.concat([high, low])


def new_frame(iterator):
    for df in iterator:
        yield pd.DataFrame({"id": df["id"], "total": df["price"] * df["rate"]})


def valid_phones(iterator):
    pattern = re.compile(r"^\d+$")
    for pdf in iterator:
        mask = pdf["phone"].apply(lambda p: bool(p) and pattern.match(p) is not None)
        yield pdf.loc[mask.astype(bool)]


def yield_only_if_filled(batches):
    for pdf in batches:
        pdf = pdf[pdf["active"] == True]
        if pdf.empty:
            continue
        yield pdf


def weekday_name(batches):
    for pdf in batches:
        pdf["weekday"] = pdf["ts"].dt.dayofweek
        pdf["weekend"] = np.where(pdf["weekday"] >= 5, "yes", "no")
        yield pdf.drop(columns=["weekday"])


def risk_by_select(batches):
    for pdf in batches:
        conditions = [pdf["score"] >= 0.8, pdf["score"] >= 0.5]
        pdf["risk"] = np.select(conditions, ["high", "medium"], default="low")
        yield pdf


def clean_group(pdf):
    pdf = pdf.dropna(subset=["value"])
    pdf["value"] = pdf["value"].round(2)
    pdf["label"] = pdf.apply(lambda row: row["kind"] if row["value"] > 1 else "none", axis=1)
    return pdf[["site", "kind", "value", "label"]]


def day_types(batches):
    for pdf in batches:
        pdf["dow"] = pdf["at"].dt.dayofweek
        pdf["kind"] = np.where(pdf["dow"] >= 5, "weekend", "weekday")
        yield pdf[["id", "at", "kind"]]


def weighted_rows(batches):
    for pdf in batches:
        pdf["cost"] = pdf.apply(
            lambda row: row["kg"] * (2.5 if row["express"] == "y" else 1.0), axis=1
        )
        yield pdf


def codes_by_zip(batches):
    for pdf in batches:
        pdf["code"] = [f"{a}-{b}" if a and b else None for a, b in zip(pdf["area"], pdf["shop"])]
        yield pdf
