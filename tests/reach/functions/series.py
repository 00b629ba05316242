"""Functions of groups that work along time: windows, gaps, sessions, resampling."""

# ruff: noqa
# mypy: ignore-errors
from __future__ import annotations

from datetime import timedelta

import numpy as np
import pandas as pd

SESSION_TIMEOUT = pd.Timedelta(minutes=30)
LAGS = (1, 7)
EARTH_RADIUS_KM = 6371.0088


def rolling_demand(pdf):
    pdf = pdf.sort_values("day")
    pdf["avg_7d"] = pdf["units"].rolling(7, min_periods=1).mean()
    pdf["std_7d"] = pdf["units"].rolling(7, min_periods=2).std().fillna(0.0)
    return pdf[["sku", "day", "units", "avg_7d", "std_7d"]]


def daily_readings(pdf):
    """one value per day, gaps are interpolated"""
    device = pdf["device_id"].iloc[0]
    daily = (
        pdf.set_index("measured_at")["temperature"]
        .resample("D")
        .mean()
        .interpolate(limit=3)
        .reset_index()
    )
    daily["device_id"] = device
    return daily[["device_id", "measured_at", "temperature"]]


def outages(key, pdf):
    """gaps and islands: consecutive rows without signal are one outage"""
    pdf = pdf.sort_values("ts").reset_index(drop=True)
    down = pdf["signal"].isna()
    island = (down != down.shift()).cumsum()
    rows = []
    for _, part in pdf[down].groupby(island):
        rows.append(
            {
                "meter_id": key[0],
                "started": part["ts"].min(),
                "ended": part["ts"].max(),
                "samples": len(part),
            }
        )
    return pd.DataFrame(rows, columns=["meter_id", "started", "ended", "samples"])


def sessionize(pdf):
    pdf = pdf.sort_values("event_time")
    gap = pdf["event_time"].diff() > SESSION_TIMEOUT
    pdf["session_no"] = gap.cumsum()
    pdf["session_id"] = pdf["user_id"].astype(str) + "-" + pdf["session_no"].astype(str)
    return pdf.drop(columns=["session_no"])


def session_summary(pdf):
    df = pdf.sort_values("event_time").copy()
    df["session"] = (df["event_time"].diff() > SESSION_TIMEOUT).cumsum()
    out = df.groupby(["user_id", "session"], as_index=False).agg(
        start=("event_time", "min"),
        end=("event_time", "max"),
        events=("event_time", "count"),
        pages=("page", "nunique"),
    )
    out["seconds"] = (out["end"] - out["start"]).dt.total_seconds()
    return out


def lagged_load(pdf):
    pdf = pdf.sort_values("hour")
    for lag in LAGS:
        pdf[f"lag_{lag}"] = pdf["load_mw"].shift(lag)
    pdf["ramp"] = pdf["load_mw"].diff()
    return pdf


def running_stock(pdf):
    pdf = pdf.sort_values(["booked_at", "movement_id"])
    pdf["signed"] = np.where(pdf["direction"] == "OUT", -pdf["qty"], pdf["qty"])
    pdf["on_hand"] = pdf["signed"].cumsum()
    pdf["stockout"] = pdf["on_hand"] <= 0
    return pdf[["warehouse", "sku", "booked_at", "on_hand", "stockout"]]


def max_drawdown(key, pdf):
    prices = pdf.sort_values("day")["close"].ffill()
    peak = prices.cummax()
    drawdown = prices / peak - 1.0
    worst = drawdown.min()
    return pd.DataFrame([(key[0], float(worst), len(prices))], columns=["ticker", "mdd", "days"])


def rsi(pdf):
    pdf = pdf.sort_values("day", ignore_index=True)
    delta = pdf["close"].diff()
    up = delta.clip(lower=0).ewm(alpha=1 / 14, adjust=False).mean()
    down = (-delta.clip(upper=0)).ewm(alpha=1 / 14, adjust=False).mean()
    pdf["rsi"] = 100 - 100 / (1 + up / down)
    return pdf[["ticker", "day", "close", "rsi"]]


def fill_calendar(pdf):
    """a row for each day between the first and the last one"""
    pdf = pdf.set_index("day").sort_index()
    pdf = pdf[~pdf.index.duplicated(keep="last")]
    full = pd.date_range(pdf.index.min(), pdf.index.max(), freq="D")
    out = pdf.reindex(full)
    out["hotel"] = pdf["hotel"].iloc[0]
    out["rooms_sold"] = out["rooms_sold"].fillna(0)
    out["rate"] = out["rate"].ffill()
    return out.rename_axis("day").reset_index()[["hotel", "day", "rooms_sold", "rate"]]


def trip_distance(pdf):
    pdf = pdf.sort_values("ts")
    lat, lon = np.radians(pdf["lat"]), np.radians(pdf["lon"])
    dlat, dlon = lat.diff(), lon.diff()
    a = np.sin(dlat / 2) ** 2 + np.cos(lat) * np.cos(lat.shift()) * np.sin(dlon / 2) ** 2
    km = 2 * EARTH_RADIUS_KM * np.arcsin(np.sqrt(a))
    hours = pdf["ts"].diff().dt.total_seconds() / 3600
    speed = (km / hours).replace([np.inf, -np.inf], np.nan)
    return pd.DataFrame(
        {
            "vehicle": [pdf["vehicle"].iloc[0]],
            "km": [km.sum()],
            "top_speed": [speed.max()],
            "started": [pdf["ts"].min()],
        }
    )


def forward_filled(pdf):
    cols = ["heart_rate", "spo2", "resp_rate"]
    pdf = pdf.sort_values("charted_at")
    pdf[cols] = pdf[cols].ffill(limit=4)
    return pdf


def longest_streak(key, pdf):
    wins = pdf.sort_values("played_on")["won"].fillna(False).astype(bool)
    best = current = 0
    for won in wins:
        current = current + 1 if won else 0
        best = max(best, current)
    return pd.DataFrame({"team": [key[0]], "season": [key[1]], "streak": [best]})


def time_to_second_purchase(pdf):
    times = pdf["ordered_at"].sort_values().reset_index(drop=True)
    days = None
    if len(times) > 1:
        days = (times[1] - times[0]) / timedelta(days=1)
    return pd.DataFrame([{"customer": pdf["customer"].iat[0], "days": days, "orders": len(times)}])


def daily_peak(pdf):
    pdf["day"] = pdf["ts"].dt.floor("D")
    idx = pdf.groupby("day")["kwh"].idxmax().dropna()
    return pdf.loc[idx, ["meter", "day", "ts", "kwh"]]
