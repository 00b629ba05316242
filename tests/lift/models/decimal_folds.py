"""Functions over decimals that the tests lift: as a user writes them."""

# mypy: ignore-errors

from __future__ import annotations

import decimal
from decimal import Decimal
from typing import Any

import pandas as pd

LIMIT = Decimal("90.500")
SMALL = (Decimal("0.1"), Decimal("0.10"), 5, 2.5)
FEW = frozenset({Decimal("90.5"), 7})


def highest(price: pd.Series) -> Any:
    best = None
    for p in price:
        if p is not None and (best is None or p > best):
            best = p
    return best


def from_zero(price: pd.Series) -> Any:
    best = Decimal("0")
    for p in price:
        if p is not None and p > best:
            best = p
    return best


def wide(a: pd.Series, b: pd.Series) -> Any:
    """Decimals of two scales in one variable, compared with each other."""
    best = Decimal(1)
    for x, y in zip(a, b, strict=True):
        if x is None or y is None:
            continue
        if x < y:
            best = min(best, x)
        elif x == y or best < x:
            best = y
    return best


def against(price: pd.Series) -> int:
    """Constants of every kind of number, at and between the decimals."""
    n = 0
    for p in price:
        if p is None:
            continue
        n += 1 if p > LIMIT else 0
        n += 10 if p >= Decimal("90.505") else 0
        n += 100 if p == Decimal("90.505") else 0
        n += 1000 if 90 < p < 91.25 else 0
        n += 10000 if p <= 0.1 else 0
        n += 100000 if p < float("inf") and not p < float("-inf") else 0
        n += 1000000 if p == 0.5 or p == 3 or p == True else 0  # noqa: E712
        n += 10000000 if p != decimal.Decimal("-0.01") else 0
        n += 100000000 if p in SMALL or p in FEW else 0
        n += 1000000000 if p else 0
        n += 10000000000 if p >= -1180591620717411303424 and Decimal("1E+3") > p else 0
        n += 100000000000 if p == "90.5" else 0
    return n


class Cheapest:
    """The least price and its name."""

    def zero(self) -> Any:
        return (Decimal("1E+20"), "")

    def reduce(self, acc: Any, row: Any) -> Any:
        here = (row.price, row.name)
        return here if here < acc else acc


class Raising:
    """Ordering against None raises."""

    limit = Decimal("5.5")

    def zero(self) -> Any:
        return 0

    def reduce(self, acc: Any, row: Any) -> Any:
        return acc + 1 if row.price >= self.limit else acc


def by_key(key: Any, pdf: pd.DataFrame) -> pd.DataFrame:
    n = 0
    for row in pdf.itertuples(index=False):
        if row.p == key[0]:
            n += 1
    return pd.DataFrame({"k": [key[0]], "n": [n]})


def rows(pdf: pd.DataFrame) -> pd.DataFrame:
    best = None
    for _, row in pdf.iterrows():
        if row["p"] is not None and (best is None or row["p"] <= best):
            best = row["p"]
    return pd.DataFrame({"best": [best]})


# --- what is declined ---------------------------------------------------------------------------


def total(price: pd.Series) -> Any:
    s = Decimal(0)
    for p in price:
        s += p
    return s


def negated(price: pd.Series) -> Any:
    s = Decimal(0)
    for p in price:
        s = -p
    return s


def from_int(price: pd.Series) -> Any:
    best = 0
    for p in price:
        if p > best:
            best = p
    return best


def against_nan(price: pd.Series) -> int:
    n = 0
    for p in price:
        if p == float("nan"):
            n += 1
    return n


def as_text(price: pd.Series) -> int:
    n = 0
    for p in price:
        if str(p) == "1.50":
            n += 1
    return n


def as_float(price: pd.Series) -> int:
    n = 0
    for p in price:
        if float(p) > 1.5:
            n += 1
    return n


def against_column(price: pd.Series, x: pd.Series) -> int:
    n = 0
    for p, y in zip(price, x, strict=True):
        if p > y:
            n += 1
    return n


def against_text(price: pd.Series) -> int:
    n = 0
    for p in price:
        if p > "1":
            n += 1
    return n


def computed(price: pd.Series) -> int:
    n = 0
    for p in price:
        if p > Decimal(p):
            n += 1
    return n


def unreadable(price: pd.Series) -> int:
    n = 0
    for p in price:
        if p > Decimal("cheap"):
            n += 1
    return n


def too_fine(price: pd.Series) -> int:
    n = 0
    for p in price:
        if p > Decimal(0.1):  # noqa: RUF032
            n += 1
    return n
