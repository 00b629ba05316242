"""Functions of the corpus that count, add up and keep extremes, from projects on the JVM."""

# mypy: ignore-errors

from __future__ import annotations

import datetime as dt

import pandas as pd
from tests.corpus.runner import Entry, Filter

from presieve import Aggregator

NAN = float("nan")
DAYS = [dt.datetime(2024, 1, day) for day in (1, 10, 11, 12, 13, 15, 17, 18, 19, 20, 30)]
PRICES = [None, NAN, -1.0, 0.0, 1.0, 50.0, 99.0, 100.0, 101.0, 199.0, 200.0, 201.0, 1000.0]


class Activity(Aggregator):
    """S01: two counters by action, first and last time of an event."""

    def zero(self):
        return (0, 0, None, None)

    def reduce(self, acc, row):
        times, prices, first, last = acc
        if row["action"] == "time":
            times += 1
        elif row["action"] == "price":
            prices += 1
        now = row["event_time"]
        if first is not None and last is not None:
            first = now if now < first else first
            last = now if now > last else last
        else:
            first = last = now
        return times, prices, first, last

    def finish(self, acc):
        times, prices, first, last = acc
        return times, prices, times + prices, first, last


class OpenClose:
    """S04: the cheapest open and the dearest close; closes that are not positive never count."""

    def zero(self):
        return 1.7976931348623157e308, 2.2250738585072014e-308

    def reduce(self, acc, row):
        lowest, highest = acc
        if row.open < lowest:
            lowest = row.open
        if row.close > highest:
            highest = row.close
        return (lowest, highest)


class HighestClose(OpenClose):
    """S04 with one of the two kept."""

    def finish(self, acc):
        return acc[1]


class Return(OpenClose):
    """S04 as it is."""

    def finish(self, acc):
        lowest, highest = acc
        return (highest - lowest) / lowest


def average_gain(x: pd.Series) -> float:
    """S07: the mean of what is positive."""
    total, count = 0.0, 0
    for value in x:
        if value > 0:
            total += value
            count += 1
    if count == 0:
        return 0.0
    return total / count


def gains(x: pd.Series) -> int:
    """S07: how many are positive."""
    count = 0
    for value in x:
        if value > 0:
            count += 1
    return count


class NetFlow:
    """S10: what is bought less what is sold."""

    def zero(self):
        return 0.0

    def reduce(self, net, row):
        sign = -1 if row["sell"] else 1
        return net + sign * row["amount"]


ENTRIES = [
    Entry(
        "S01",
        Activity,
        "g string, action string, event_time timestamp NOT NULL",
        "times bigint, prices bigint, both bigint, first timestamp, last timestamp",
        {"action": ["time", "price", "other", None], "event_time": DAYS},
        (
            Filter(
                "both > 0 AND (first <= TIMESTAMP '2024-01-10' OR "
                "first = TIMESTAMP '2024-01-12') AND (last >= TIMESTAMP '2024-01-20' OR "
                "last = TIMESTAMP '2024-01-18')",
                "★",
            ),
            Filter(
                "times >= 3 AND first <= TIMESTAMP '2024-01-10' AND last >= TIMESTAMP '2024-01-20'",
                "★",
            ),
            Filter("both > 2", "○"),
        ),
    ),
    Entry(
        "S04",
        OpenClose,
        "g string, open double NOT NULL, close double NOT NULL",
        "lowest double, highest double",
        {"open": PRICES[1:], "close": PRICES[1:]},
        (Filter("lowest < 100 AND highest > 200", "★"),),
        variant="pair",
    ),
    Entry(
        "S04",
        HighestClose,
        "g string, open double NOT NULL, close double NOT NULL",
        "highest double",
        {"open": PRICES[1:], "close": PRICES[1:]},
        (Filter("highest > 200", "★"),),
        variant="highest",
    ),
    Entry(
        "S04",
        Return,
        "g string, open double NOT NULL, close double NOT NULL",
        "gain double",
        {"open": PRICES[1:], "close": PRICES[1:]},
        (Filter("gain > 0.1", "○"),),
    ),
    Entry(
        "S07",
        average_gain,
        "g string, x double",
        "mean double",
        {"x": [None, NAN, -5.0, 0.0, 5.0, 10.0, 11.0, 20.0]},
        (
            Filter("mean > 10.0", "☆"),
            Filter("mean = 0", "○"),
            Filter("mean != 0", "☆"),
        ),
    ),
    Entry(
        "S07",
        gains,
        "g string, x double",
        "n bigint",
        {"x": [None, NAN, -5.0, 0.0, 5.0, 10.0, 11.0, 20.0]},
        (Filter("n >= 3", "☆"),),
        variant="count",
    ),
    Entry(
        "S10",
        NetFlow,
        "g string, sell boolean, amount double NOT NULL",
        "flow double",
        {"sell": [True, False, None], "amount": [NAN, -0.0, 0.0, 1.0, 60.0, 101.0, -50.0]},
        (Filter("flow > 100", "☆"), Filter("flow < -100", "☆"), Filter("flow >= 0", "○")),
    ),
]
