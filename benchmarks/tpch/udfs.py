"""Untrusted. The functions of the TPC-H pipelines, as users write them for ``applyInPandas`` and
``udf``.
"""

from __future__ import annotations

from typing import Any

import pandas as pd


def top_two(key: tuple[Any, ...], pdf: pd.DataFrame) -> pd.DataFrame:
    """The two most expensive lines of a supplier."""
    first = None
    second = None
    for row in pdf.itertuples(index=False):
        if first is None or row.price > first:
            second = first
            first = row.price
        elif second is None or row.price > second:
            second = row.price
    return pd.DataFrame({"supplier": [key[0]], "first": [first], "second": [second]})


def late_lines(key: tuple[Any, ...], pdf: pd.DataFrame) -> pd.DataFrame:
    """How many lines of a supplier came late, and the last day on which one did."""
    late = 0
    last = None
    for row in pdf.itertuples(index=False):
        if row.received > row.committed:
            late += 1
            if last is None or row.received > last:
                last = row.received
    return pd.DataFrame({"supplier": [key[0]], "late": [late], "last": [last]})


def waiting(key: tuple[Any, ...], pdf: pd.DataFrame) -> pd.DataFrame:
    """How often a supplier kept a large finished order waiting."""
    times = 0
    for row in pdf.itertuples(index=False):
        if row.status == "F" and row.quantity >= 45 and row.received > row.committed:
            times += 1
    return pd.DataFrame({"supplier": [key[0]], "times": [times]})


def span(key: tuple[Any, ...], pdf: pd.DataFrame) -> pd.DataFrame:
    """The first and the last day on which a part was shipped."""
    first = None
    last = None
    for day in pdf["shipped"]:
        if first is None or day < first:
            first = day
        if last is None or day > last:
            last = day
    return pd.DataFrame({"part": [key[0]], "first": [first], "last": [last]})


def cheapest(key: tuple[Any, ...], pdf: pd.DataFrame) -> pd.DataFrame:
    """Who supplies a part for least, and for how much; of several the one with least number."""
    supplier = None
    cost = None
    for row in pdf.itertuples(index=False):
        if cost is None or row.cost < cost or (row.cost == cost and row.supplier < supplier):
            supplier = row.supplier
            cost = row.cost
    return pd.DataFrame({"part": [key[0]], "supplier": [supplier], "cost": [cost]})


def latest_order(key: tuple[Any, ...], pdf: pd.DataFrame) -> pd.DataFrame:
    """Day and total of a customer's latest order; of several the largest total."""
    day = None
    total = None
    for row in pdf.itertuples(index=False):
        if day is None or row.ordered > day:
            day = row.ordered
            total = row.total
        elif row.ordered == day and row.total > total:
            total = row.total
    return pd.DataFrame({"customer": [key[0]], "day": [day], "total": [total]})


def returned(key: tuple[Any, ...], pdf: pd.DataFrame) -> pd.DataFrame:
    """How many lines a customer sent back, and the most expensive of them."""
    lines = 0
    most = 0.0
    for flag, price in zip(pdf["flag"], pdf["price"]):
        if flag == "R":
            lines += 1
            if price > most:
                most = price
    return pd.DataFrame({"customer": [key[0]], "lines": [lines], "most": [most]})


def pressing(key: tuple[Any, ...], pdf: pd.DataFrame) -> pd.DataFrame:
    """How many lines of urgent and of other orders a clerk had sent by ship or mail."""
    urgent = 0
    other = 0
    for row in pdf.itertuples(index=False):
        if row.mode in ("MAIL", "SHIP"):
            if row.priority in ("1-URGENT", "2-HIGH"):
                urgent += 1
            else:
                other += 1
    return pd.DataFrame({"clerk": [key[0]], "urgent": [urgent], "other": [other]})


def scarce(key: tuple[Any, ...], pdf: pd.DataFrame) -> pd.DataFrame:
    """The least stock of any part of a supplier."""
    return pd.DataFrame({"supplier": [key[0]], "least": [pdf["stock"].min()]})


def ordered_in_all(key: tuple[Any, ...], pdf: pd.DataFrame) -> pd.DataFrame:
    """How many pieces a customer has ordered of everything."""
    total = 0
    for quantity in pdf["quantity"]:
        total += quantity
    return pd.DataFrame({"customer": [key[0]], "total": [total]})


# What a line costs. Spark's transpiler takes one statement, and counts a docstring as another.
def discounted(price: float, discount: float) -> float:
    return price * (1 - discount)


def handling(quantity: float, mode: str, instruction: str) -> str:
    """How a line is to be handled."""
    if mode not in ("AIR", "REG AIR"):
        return "ground"
    if quantity >= 45 and instruction == "DELIVER IN PERSON":
        return "special"
    return "air"
