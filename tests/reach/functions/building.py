"""Functions of groups that build their rows by hand, join other tables, or do more than give rows."""

# ruff: noqa
# mypy: ignore-errors
from __future__ import annotations

import json
import random
from datetime import datetime, timedelta

import numpy as np
import pandas as pd
import requests

RATES = pd.DataFrame({"currency": ["EUR", "GBP", "JPY"], "to_usd": [1.09, 1.27, 0.0067]})
CARRIERS = {"DHL": 2.0, "UPS": 2.5, "GLS": 1.5}
SCHEMA = ["truck", "stop", "eta", "late"]
processed = []


def make_converter(rates, digits):
    def convert(pdf):
        joined = pdf.merge(rates, on="currency", how="left")
        joined["usd"] = (joined["amount"] * joined["to_usd"]).round(digits)
        return joined.drop(columns=["to_usd"])

    return convert


convert_currency = make_converter(RATES, 2)


def explode_orders(key, pdf):
    """one row for each line item of the JSON documents"""
    out = []
    for _, row in pdf.iterrows():
        try:
            doc = json.loads(row["payload"])
        except (TypeError, ValueError):
            continue
        for item in doc.get("items", []):
            out.append(
                {
                    "shop": key[0],
                    "order_id": row["order_id"],
                    "sku": item.get("sku"),
                    "qty": int(item.get("qty", 1)),
                }
            )
    return pd.DataFrame(out, columns=["shop", "order_id", "sku", "qty"])


def plan_stops(key, pdf):
    clock = datetime(2024, 1, 1, 8, 0)
    rows = []
    for r in pdf.sort_values("sequence").itertuples(index=False):
        clock = clock + timedelta(minutes=float(r.drive_min or 0) + 5)
        rows.append((key[0], r.stop, clock, clock.hour >= r.due_hour))
    return pd.DataFrame(rows, columns=SCHEMA)


def carrier_cost(pdf):
    def cost(row):
        base = CARRIERS.get(row["carrier"], 3.0)
        if row["express"]:
            base *= 1.5
        return base + 0.1 * row["weight_kg"]

    pdf["cost"] = pdf.apply(cost, axis=1)
    return pdf


def bill_of_materials(pdf):
    """walks the tree of parts, level by level"""
    children = {}
    for rec in pdf.to_dict("records"):
        children.setdefault(rec["parent"], []).append((rec["part"], rec["qty"]))
    root = pdf["assembly"].iloc[0]
    totals, todo, seen = {}, [(root, 1.0)], 0
    while todo and seen < 1000:
        seen += 1
        part, factor = todo.pop()
        for child, qty in children.get(part, []):
            totals[child] = totals.get(child, 0.0) + factor * (qty or 0.0)
            todo.append((child, factor * (qty or 0.0)))
    return pd.DataFrame(
        {"assembly": [root] * len(totals), "part": list(totals), "qty": list(totals.values())}
    )


def sensors_long(pdf):
    return pdf.melt(
        id_vars=["rig", "ts"], value_vars=["torque", "rpm", "depth"], value_name="reading"
    ).dropna(subset=["reading"])


def tagged_articles(pdf):
    pdf = pdf.assign(tag=pdf["tags"].str.split(";")).explode("tag")
    pdf["tag"] = pdf["tag"].str.strip().str.lower()
    return pdf[["publisher", "article_id", "tag"]].drop_duplicates()


def with_margin(df):
    df["margin"] = (df["price"] - df["cost"]) / df["price"]
    return df


def only_priced(df, minimum):
    return df.query("price > 0 and cost >= 0").loc[lambda d: d["price"] >= minimum]


def margins(pdf):
    return (
        pdf.pipe(only_priced, minimum=1.0)
        .pipe(with_margin)
        .assign(above=lambda d: d["margin"] > d["margin"].mean())
        .rename(columns={"sku": "product"})
    )


def post_alerts(key, pdf):
    hot = pdf[pdf["temperature"] > 85]
    if len(hot):
        requests.post(
            "https://alerts.example.com/v1/hot",
            json={"rack": key[0], "count": len(hot), "max": float(hot["temperature"].max())},
            timeout=5,
        )
    return pd.DataFrame({"rack": [key[0]], "alerts": [len(hot)]})


def stratified_sample(pdf):
    n = min(len(pdf), 100)
    return pdf.sample(n=n, random_state=7)


def bootstrap_mean(key, pdf):
    values = pdf["spend"].dropna().to_numpy()
    means = [np.mean(np.random.choice(values, len(values))) for _ in range(200)]
    return pd.DataFrame(
        {
            "cohort": key[0],
            "mean": [np.mean(means)],
            "low": [np.percentile(means, 2.5)],
            "high": [np.percentile(means, 97.5)],
        }
    )


def salted(pdf):
    """spreads large tenants over buckets"""
    pdf["tenant"] = (
        pdf["tenant"]
        + "_"
        + pd.Series([str(random.randint(0, 9)) for _ in range(len(pdf))], index=pdf.index)
    )
    return pdf


def export_partition(key, pdf):
    path = f"/mnt/export/year={key[0]}/month={key[1]}.csv"
    pdf.drop(columns=["year", "month"]).to_csv(path, index=False)
    return pd.DataFrame({"year": [key[0]], "month": [key[1]], "path": [path], "rows": [len(pdf)]})


def counted_groups(key, pdf):
    processed.append(key[0])
    print(f"group {len(processed)}: {key[0]} with {pdf.shape[0]} rows")
    return pdf.head(1)


def household_head(pdf):
    """the grouping column is renamed and another one takes its name"""
    pdf = pdf.sort_values("age", ascending=False)
    head = pdf["person_id"].iloc[0]
    pdf["household"] = head
    return pdf[["household", "person_id", "age"]]
