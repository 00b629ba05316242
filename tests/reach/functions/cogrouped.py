"""Functions of two tables of one key: joins by time, comparisons, scores of one on the other."""

# ruff: noqa
# mypy: ignore-errors
from __future__ import annotations

import numpy as np
import pandas as pd

TOLERANCE = pd.Timedelta("5min")


def quotes_at_trades(trades, quotes):
    trades = trades.sort_values("ts")
    quotes = quotes.sort_values("ts")[["ts", "bid", "ask"]]
    out = pd.merge_asof(trades, quotes, on="ts", tolerance=TOLERANCE)
    out["mid"] = (out["bid"] + out["ask"]) / 2
    return out[["symbol", "ts", "price", "mid"]]


def budget_against_actual(key, budget, actual):
    b, a = budget["amount"].sum(), actual["amount"].sum()
    deviation = (a - b) / b if b else None
    return pd.DataFrame(
        [(key[0], key[1], b, a, deviation)],
        columns=["cost_center", "year", "budget", "actual", "deviation"],
    )


def missing_shipments(orders, shipments):
    if orders.empty:
        return pd.DataFrame(columns=["customer", "order_id", "ordered"])
    shipped = set(shipments["order_id"])
    late = orders[~orders["order_id"].isin(shipped)]
    return late[["customer", "order_id", "ordered"]]


def attributed_sales(key, clicks, sales):
    """last click before the sale"""
    if clicks.empty or sales.empty:
        return pd.DataFrame({"user_id": [], "sale_id": [], "campaign": []})
    merged = pd.merge_asof(
        sales.sort_values("sold_at"),
        clicks.sort_values("clicked_at"),
        left_on="sold_at",
        right_on="clicked_at",
        direction="backward",
        suffixes=("", "_click"),
    )
    merged["user_id"] = key[0]
    return merged[["user_id", "sale_id", "campaign"]]


def score_with_model(train, score):
    from sklearn.neighbors import KNeighborsRegressor

    cols = ["lat", "lon", "sqm"]
    if len(train) < 3:
        score["estimate"] = np.nan
        return score[["city", "listing", "estimate"]]
    knn = KNeighborsRegressor(n_neighbors=3).fit(train[cols], train["price"])
    score["estimate"] = knn.predict(score[cols])
    return score[["city", "listing", "estimate"]]


def changed_fields(key, old, new):
    rows = []
    merged = old.merge(new, on="record_id", how="outer", suffixes=("_old", "_new"), indicator=True)
    for r in merged.to_dict("records"):
        if r["_merge"] == "left_only":
            rows.append({"table_name": key[0], "record_id": r["record_id"], "change": "deleted"})
        elif r["_merge"] == "right_only":
            rows.append({"table_name": key[0], "record_id": r["record_id"], "change": "added"})
        elif r["digest_old"] != r["digest_new"]:
            rows.append({"table_name": key[0], "record_id": r["record_id"], "change": "changed"})
    return pd.DataFrame(rows, columns=["table_name", "record_id", "change"])


def matched_players(left, right):
    pairs = left.merge(right, on="lobby", suffixes=("_a", "_b"))
    pairs["gap"] = (pairs["elo_a"] - pairs["elo_b"]).abs()
    pairs = pairs[pairs["gap"] < 150].nsmallest(5, "gap")
    return pairs[["lobby", "player_a", "player_b", "gap"]]


def doses_with_weight(doses, weights):
    weight = weights["kg"].median() if len(weights) else 70.0
    doses["mg_per_kg"] = doses["mg"] / weight
    return doses


def corrected_readings(key, readings, calibrations):
    last = calibrations.sort_values("done_on").tail(1)
    offset = last["offset"].iloc[0] if not last.empty else 0.0
    gain = last["gain"].iloc[0] if not last.empty else 1.0
    out = readings.copy()
    out["corrected"] = (out["raw"] - offset) * gain
    return out[["station", "ts", "corrected"]]


def coverage(key, plan, done):
    planned, finished = set(plan["task"].dropna()), set(done["task"].dropna())
    ratio = len(planned & finished) / len(planned) if planned else 1.0
    extra = sorted(finished - planned)
    return pd.DataFrame(
        [key + (ratio, len(extra))], columns=["project", "sprint", "ratio", "extra"]
    )
