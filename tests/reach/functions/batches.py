"""Functions of batches: mapInPandas, most of them row by row, some with state or effects."""

# ruff: noqa
# mypy: ignore-errors
from __future__ import annotations

import json
import logging
import re

import numpy as np
import pandas as pd
import requests

logger = logging.getLogger("scoring")

VAT = {"DE": 0.19, "FR": 0.20, "CH": 0.077}
EMAIL = re.compile(r"[^@\s]+@[^@\s]+\.[a-z]+")
FEATURES = ["amount", "age_days", "n_logins"]
UNITS = {"C": 1.0, "F": 5 / 9}


def add_vat(batches):
    for pdf in batches:
        pdf["vat"] = pdf["net"] * pdf["country"].map(VAT).fillna(0.0)
        pdf["gross"] = pdf["net"] + pdf["vat"]
        yield pdf


def fraud_scores(iterator):
    """the model is loaded once per partition"""
    import joblib

    model = joblib.load("/mnt/models/fraud.joblib")
    for batch in iterator:
        batch["score"] = model.predict_proba(batch[FEATURES])[:, 1]
        yield batch[["tx_id", "account", "score"]]


def only_valid_emails(iterator):
    for pdf in iterator:
        ok = pdf["email"].str.contains(EMAIL, na=False)
        yield pdf[ok]


def parsed_events(batches):
    for pdf in batches:
        docs = [json.loads(x) if x else {} for x in pdf["payload"]]
        yield pd.DataFrame(
            {
                "event_id": pdf["event_id"],
                "kind": [d.get("kind") for d in docs],
                "amount": [float(d.get("amount", 0) or 0) for d in docs],
            }
        )


def celsius(iterator):
    for pdf in iterator:
        factor = pdf["unit"].map(UNITS)
        offset = np.where(pdf["unit"] == "F", 32.0, 0.0)
        out = pdf[["station", "ts"]].copy()
        out["celsius"] = (pdf["value"] - offset) * factor
        yield out


def tokenized(batches):
    stop = {"the", "a", "of"}
    for pdf in batches:
        words = pdf["text"].fillna("").str.lower().str.split()
        pdf["tokens"] = words.apply(lambda ws: [w for w in ws if w not in stop])
        pdf["n_tokens"] = pdf["tokens"].str.len()
        yield pdf.drop(columns=["text"])


def normalized_batches(iterator):
    """scales by the batch, which depends on how Spark cuts batches"""
    for pdf in iterator:
        pdf["scaled"] = (pdf["load"] - pdf["load"].mean()) / pdf["load"].std()
        yield pdf


def numbered(iterator):
    n = 0
    for pdf in iterator:
        pdf["row_no"] = range(n, n + len(pdf))
        n += len(pdf)
        yield pdf


def geocoded(iterator):
    session = requests.Session()
    for pdf in iterator:
        answers = []
        for address in pdf["address"]:
            reply = session.get("https://geo.example.com/search", params={"q": address})
            answers.append(reply.json())
        pdf["lat"] = [a["lat"] for a in answers]
        pdf["lon"] = [a["lon"] for a in answers]
        yield pdf


def recent_orders(iterator):
    cutoff = pd.Timestamp("2024-01-02")
    for pdf in iterator:
        pdf = pdf[pdf["ordered_at"] >= cutoff]
        pdf = pdf.rename(columns={"ordered_at": "ordered", "cust": "customer"})
        pdf["month"] = pdf["ordered"].dt.strftime("%Y-%m")
        yield pdf[["order_id", "customer", "ordered", "month"]]


def long_form(iterator):
    for pdf in iterator:
        yield pdf.melt(id_vars=["player", "match"], value_vars=["kills", "deaths"])


def grid_cells(batches):
    def cell(lat, lon, size):
        return (
            np.floor(lat / size).astype("Int64").astype(str)
            + ":"
            + np.floor(lon / size).astype("Int64").astype(str)
        )

    for pdf in batches:
        logger.debug("%d points", len(pdf))
        pdf = pdf.dropna(subset=["lat", "lon"])
        pdf = pdf.assign(cell=cell(pdf["lat"], pdf["lon"], 0.5))
        yield pdf[["device", "ts", "cell"]]


def risk_bands(iterator):
    for pdf in iterator:
        pdf["band"] = pd.cut(
            pdf["score"], bins=[-np.inf, 0.2, 0.7, np.inf], labels=["low", "mid", "high"]
        ).astype(str)
        pdf.loc[pdf["blocked"] == True, "band"] = "high"
        yield pdf


def flattened(iterator):
    for pdf in iterator:
        rows = []
        for r in pdf.itertuples(index=False):
            for part in (r.path or "").strip("/").split("/"):
                rows.append({"request_id": r.request_id, "part": part, "status": r.status})
        yield pd.DataFrame(rows, columns=["request_id", "part", "status"])


def deduplicated(iterator):
    seen = set()
    for pdf in iterator:
        fresh = pdf[~pdf["event_id"].isin(seen)]
        seen.update(fresh["event_id"])
        yield fresh
