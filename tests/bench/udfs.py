"""Folds of the published suite as functions of a group, for Spark. Pickled by value."""

# mypy: ignore-errors
# Users write such functions without thinking of stubs; their text is what is lifted.

from __future__ import annotations

import pandas as pd


def any_awarded(pdf: pd.DataFrame) -> pd.DataFrame:
    """20Nov."""
    won = 0
    for row in pdf.itertuples(index=False):
        if won == 1 or row.status == "Adjudicada":
            won = 1
    return pd.DataFrame({"g": [pdf["g"].iloc[0]], "won": [won]})


def has_bought(pdf: pd.DataFrame) -> pd.DataFrame:
    """Jdata."""
    bought = 0
    for row in pdf.itertuples(index=False):
        if bought == 1 or row.type == 4:
            bought = 1
    return pd.DataFrame({"g": [pdf["g"].iloc[0]], "bought": [bought]})


def last_of_code(pdf: pd.DataFrame) -> pd.DataFrame:
    """AggregationQuerySuite."""
    code = None
    value1 = None
    value2 = None
    for row in pdf.itertuples(index=False):
        if row.code == 50:
            code = row.code
            value1 = row.value1
            value2 = row.value2
    group = pdf["g"].iloc[0]
    return pd.DataFrame({"g": [group], "code": [code], "value1": [value1], "value2": [value2]})


def oldest(pdf: pd.DataFrame) -> pd.DataFrame:
    """KeepRowWithMaxAge."""
    number = 0
    site = 0
    grade = 0
    salary = 0
    age = 0
    for row in pdf.itertuples(index=False):
        if row.age > age:
            number = row.number
            site = row.site
            grade = row.grade
            salary = row.salary
            age = row.age
    return pd.DataFrame(
        {
            "g": [pdf["g"].iloc[0]],
            "number": [number],
            "site": [site],
            "grade": [grade],
            "salary": [salary],
            "age": [age],
        }
    )


def best_measurement(pdf: pd.DataFrame) -> pd.DataFrame:
    """KeepRowWithMaxQuality."""
    probe = None
    target = None
    code = None
    signal = None
    status = None
    channel = None
    samples = None
    hops = None
    quality = 0
    for row in pdf.itertuples(index=False):
        if row.quality > quality:
            probe = row.probe
            target = row.target
            code = row.code
            signal = row.signal
            status = row.status
            channel = row.channel
            samples = row.samples
            hops = row.hops
            quality = row.quality
    return pd.DataFrame(
        {
            "g": [pdf["g"].iloc[0]],
            "probe": [probe],
            "target": [target],
            "code": [code],
            "signal": [signal],
            "status": [status],
            "channel": [channel],
            "samples": [samples],
            "hops": [hops],
            "quality": [quality],
        }
    )


def pressing_orders(pdf: pd.DataFrame) -> pd.DataFrame:
    """TPCHUDAF."""
    orders = 0
    for row in pdf.itertuples(index=False):
        if row.priority in ("1-URGENT", "2-HIGH"):
            orders += 1
    return pd.DataFrame({"g": [pdf["g"].iloc[0]], "orders": [orders]})
