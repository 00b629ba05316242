"""Untrusted. Functions of batches of rows, as users write them for ``mapInPandas``."""

from __future__ import annotations

import numpy as np

VAT = {"DE": 0.19, "FR": 0.20, "CH": 0.077}


def recent_orders(batches):
    for pdf in batches:
        pdf = pdf[pdf["year"] >= 2023]
        yield pdf.rename(columns={"cust": "customer"})[["key", "customer", "total"]]


def valid_readings(batches):
    for pdf in batches:
        pdf = pdf[pdf["value"].notna() & (pdf["status"] == "ok")]
        pdf = pdf.assign(celsius=(pdf["value"] - 32) / 1.8)
        yield pdf[["key", "celsius"]]


def with_vat(batches):
    for pdf in batches:
        pdf["vat"] = pdf["net"] * pdf["country"].map(VAT).fillna(0.0)
        pdf["gross"] = pdf["net"] + pdf["vat"]
        yield pdf


def risk_bands(batches):
    for pdf in batches:
        pdf["band"] = np.where(pdf["score"] >= 0.7, "high", "low")
        yield pdf


def company_emails(batches):
    for pdf in batches:
        yield pdf[pdf["email"].str.endswith("@example.com", na=False)]
