"""Functions over decimals that the tests of the backend run. Pickled by value."""

# mypy: ignore-errors

from __future__ import annotations

from decimal import Decimal

import pandas as pd


def highest(price: pd.Series) -> Decimal:
    best = None
    for p in price:
        if p is not None and (best is None or p > best):
            best = p
    return best


def at_least_zero(price: pd.Series) -> Decimal:
    best = Decimal("0")
    for p in price:
        if p is not None and p > best:
            best = p
    return best


def expensive(price: pd.Series) -> int:
    n = 0
    for p in price:
        if p is not None and p >= Decimal("90.505"):
            n += 1
    return n


def cheapest(pdf: pd.DataFrame) -> pd.DataFrame:
    best = None
    name = None
    for row in pdf.itertuples(index=False):
        if row.price is not None and (best is None or row.price < best):
            best = row.price
            name = row.name
    return pd.DataFrame({"team": [pdf["team"].iloc[0]], "best": [best], "name": [name]})


def by_price(key, pdf: pd.DataFrame) -> pd.DataFrame:
    most = None
    for w in pdf["weight"]:
        if w is not None and (most is None or w > most):
            most = w
    return pd.DataFrame({"price": [key[0]], "most": [most]})


def total(price: pd.Series) -> Decimal:
    s = Decimal("0")
    for p in price:
        s += p
    return s
