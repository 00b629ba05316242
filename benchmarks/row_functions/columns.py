"""Untrusted. Functions of pandas columns, as users write them for ``pandas_udf``."""

from __future__ import annotations

import numpy as np
import pandas as pd


def fahrenheit(celsius: pd.Series) -> pd.Series:
    return celsius * 1.8 + 32


def gross_price(net: pd.Series, country: pd.Series) -> pd.Series:
    return net * np.where(country == "DE", 1.19, 1.2)


def clean_email(email: pd.Series) -> pd.Series:
    return email.str.strip().str.lower()


def capped(value: pd.Series) -> pd.Series:
    return value.fillna(0.0).clip(0.0, 100.0)


def is_overdue(days_open: pd.Series, limit: pd.Series) -> pd.Series:
    return (days_open > limit) & (limit > 0)
