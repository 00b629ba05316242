"""Functions of the corpus with states, flags and records, from projects on the JVM."""

# mypy: ignore-errors

from __future__ import annotations

import datetime as dt
import sys
from collections import namedtuple
from dataclasses import dataclass

import pandas as pd
from tests.corpus.runner import Entry, Filter

NAN = float("nan")
SOLD, BOUGHT, LENT = "sold", "bought", "lent"
YEAR = (dt.date(2015, 1, 1), dt.date(2015, 12, 31))
BEFORE = (dt.date(2014, 1, 1), dt.date(2014, 12, 31))
FIRST = -sys.maxsize - 1


@dataclass
class Supply:
    """What three symbols have told so far."""

    volume: float | None = None
    price: float | None = None
    lent: float | None = None
    bought: float | None = None

    def is_complete(self):
        return None not in (self.volume, self.price, self.lent, self.bought)


class Volume:
    """S13: the least of three products, once all of them are known and not zero."""

    def zero(self):
        return Supply()

    def reduce(self, acc, row):
        if row.symbol == SOLD:
            acc.volume = row.amount
            acc.price = row.price
        elif row.symbol == BOUGHT:
            acc.bought = row.amount
        elif row.symbol == LENT:
            acc.lent = row.amount
        return acc

    def finish(self, acc):
        if not acc.is_complete():
            return 0.0
        if acc.volume == 0 or acc.price == 0 or acc.lent == 0 or acc.bought == 0:
            return 0.0
        return min(acc.volume * acc.price, acc.bought * acc.price, acc.lent)


class Supplies:
    """S13, all four of them."""

    def zero(self):
        return None, None, None, None

    def reduce(self, acc, row):
        volume, price, bought, lent = acc
        if row.symbol == SOLD:
            return row.amount, row.price, bought, lent
        if row.symbol == BOUGHT:
            return volume, price, row.amount, lent
        return (volume, price, bought, row.amount) if row.symbol == LENT else acc


def last_price_of(pair):
    """S16: the last price of one pair, which a closure holds."""

    def last_price(symbol: pd.Series, avg_price: pd.Series) -> float:
        price = 0.0
        for name, value in zip(symbol, avg_price, strict=True):
            if name == pair:
                price = value
        return price

    return last_price


class Growth:
    """S19: this year's sum, and of last year's the last row with this year's sum, as in the
    project.
    """

    def within(self, day, bounds):
        start, end = bounds
        return start < day < end

    def zero(self):
        return 0.0, 0.0

    def reduce(self, acc, row):
        current, previous = acc
        if self.within(row.day, YEAR):
            current += row.metric
        if self.within(row.day, BEFORE):
            previous = current + row.metric
        return current, previous


class GrowthInPercent:
    """S19 with its quotient."""

    def zero(self):
        return 0.0, 0.0

    def reduce(self, acc, row):
        current, previous = acc
        if YEAR[0] < row.day < YEAR[1]:
            current += row.metric
        if BEFORE[0] < row.day < BEFORE[1]:
            previous = current + row.metric
        return current, previous

    def finish(self, acc):
        current, previous = acc
        return None if previous == 0 else (current - previous) / previous * 100


class Completed:
    """S22: a case is completed for good."""

    def zero(self):
        return "ACTIVE"

    def reduce(self, acc, row):
        match row.value:
            case "COMPLETED" if acc != "COMPLETED":
                return "COMPLETED"
            case _:
                return acc


Cell = namedtuple("Cell", "alive x y generation")


class Life:
    """S25: whether any cell lives, and the greatest coordinates."""

    def zero(self):
        return Cell(alive=False, x=FIRST, y=FIRST, generation=FIRST)

    def reduce(self, acc, row):
        return Cell(
            acc.alive or row.alive,
            max(acc.x, row.x),
            max(acc.y, row.y),
            max(acc.generation, row.generation),
        )


class Latest:
    """S28: the row with the greatest sequence and version, a later one where they are equal."""

    def zero(self):
        return "", -1, None, None

    def reduce(self, acc, row):
        sequence, version = acc[0], acc[1]
        if (row["sequence"], row["version"]) >= (sequence, version):
            return row["sequence"], row["version"], row["deleted"], row["title"]
        return acc


@dataclass(frozen=True)
class Envelope:
    left: float
    right: float
    bottom: float
    top: float

    def around(self, other):
        return Envelope(
            min(self.left, other.left),
            max(self.right, other.right),
            min(self.bottom, other.bottom),
            max(self.top, other.top),
        )


class Extent:
    """S37: the envelope of all geometries, each with its own."""

    def zero(self):
        inf = float("inf")
        return Envelope(inf, -inf, inf, -inf)

    def reduce(self, acc, row):
        if row.x1 is None:
            return acc
        return acc.around(Envelope(row.x1, row.x2, row.y1, row.y2))

    def finish(self, acc):
        return acc.left, acc.right, acc.bottom, acc.top


def rightmost(x2: pd.Series) -> float:
    """S37: only how far it goes to the right."""
    best = float("-inf")
    for x in x2:
        best = max(best, x)
    return best


class Area:
    """S37: the area of the envelope."""

    def zero(self):
        return float("inf"), float("-inf"), float("inf"), float("-inf")

    def reduce(self, acc, row):
        if row.x1 is None:
            return acc
        left, right, bottom, top = acc
        return min(left, row.x1), max(right, row.x2), min(bottom, row.y1), max(top, row.y2)

    def finish(self, acc):
        left, right, bottom, top = acc
        return (right - left) * (top - bottom)


DAYS = [dt.date(2013, 12, 31), dt.date(2014, 1, 1), dt.date(2014, 6, 1), dt.date(2014, 12, 31)]
DAYS += [dt.date(2015, 1, 1), dt.date(2015, 1, 2), dt.date(2015, 7, 1), dt.date(2015, 12, 31)]
SYMBOLS = {
    "symbol": [SOLD, BOUGHT, LENT, "other", None],
    "amount": [NAN, 0.0, -1.0, 1.0, 1000.0, 2000.0],
    "price": [NAN, 0.0, 1.0, 2.0],
}
METRICS = {"day": DAYS, "metric": [NAN, 0.0, -5.0, 10.0, 999.0, 1001.0]}
BOXES = {n: [None, NAN, -1.0, 0.0, 9.0, 10.0, 11.0, 20.0, 21.0] for n in ("x1", "x2", "y1", "y2")}
BOXED = {n: p[1:] for n, p in BOXES.items()}
CELLS = {"alive": [True, False]} | {
    n: [FIRST, 0, 1, 2, 3, 4, 5, 6, 10, 11] for n in ("x", "y", "generation")
}
UNKNOWN = "ours: other symbols change no state, and a group of only those gives 0"
SUPPLY = "g string, symbol string, amount double NOT NULL, price double NOT NULL"

ENTRIES = [
    Entry(
        "S13",
        Volume,
        SUPPLY,
        "volume double",
        SYMBOLS,
        (Filter("volume > 1000", "○", UNKNOWN), Filter("volume > 0", "○", UNKNOWN)),
        longest=8,
    ),
    Entry(
        "S13",
        Supplies,
        SUPPLY,
        "volume double, price double, bought double, lent double",
        SYMBOLS,
        (
            Filter(
                "volume IS NOT NULL AND price IS NOT NULL AND bought IS NOT NULL "
                "AND lent IS NOT NULL",
                "☆",
            ),
        ),
        variant="all four",
        longest=8,
    ),
    Entry(
        "S16",
        last_price_of("A/B"),
        "g string, symbol string, avg_price double",
        "price double",
        {"symbol": ["A/B", "B/A", None], "avg_price": [None, NAN, -1.0, 0.0, 100.0, 101.0]},
        (Filter("price > 0", "☆"), Filter("price > 100.0", "☆"), Filter("price = 0", "○")),
    ),
    Entry(
        "S19",
        Growth,
        "g string, day date NOT NULL, metric double NOT NULL",
        "current double, previous double",
        METRICS,
        (
            Filter("previous != 0 AND current > 1000", "☆"),
            Filter("current > 0", "☆"),
        ),
        variant="pair",
    ),
    Entry(
        "S19",
        GrowthInPercent,
        "g string, day date NOT NULL, metric double NOT NULL",
        "percent double",
        METRICS,
        (Filter("percent IS NOT NULL", "☆"),),
    ),
    Entry(
        "S22",
        Completed,
        "g string, value string",
        "state string",
        {"value": ["COMPLETED", "ACTIVE", "", None]},
        (
            Filter("state = 'COMPLETED'", "☆"),
            Filter("state = 'ACTIVE'", "○"),
            Filter("state != 'ACTIVE'", "☆"),
        ),
    ),
    Entry(
        "S25",
        Life,
        "g string, alive boolean NOT NULL, x bigint NOT NULL, y bigint NOT NULL, "
        "generation bigint NOT NULL",
        "alive boolean, x bigint, y bigint, generation bigint",
        CELLS,
        (
            Filter("alive AND x >= 5 AND y >= 5 AND generation >= 3", "★"),
            Filter("x > 10 AND y > 10 AND generation > 0 AND alive", "★"),
            Filter("NOT alive", "○"),
        ),
    ),
    Entry(
        "S28",
        Latest,
        "g string, sequence string NOT NULL, version bigint NOT NULL, deleted boolean, "
        "title string",
        "sequence string, version bigint, deleted boolean, title string",
        {
            "sequence": ["", "20231231", "20240101", "20240102"],
            "version": [-2, -1, 0, 1],
            "deleted": [True, False, None],
            "title": ["a", None],
        },
        (
            Filter("sequence >= '20240101'", "★"),
            Filter("sequence >= '20240101' AND deleted = false", "★"),
            Filter(
                "deleted = false",
                "○",
                "ours: rows before the initial version replace nothing, and a group of only "
                "such rows gives NULL",
            ),
        ),
    ),
    Entry(
        "S37",
        Extent,
        "g string, x1 double, x2 double NOT NULL, y1 double NOT NULL, y2 double NOT NULL",
        "left double, right double, bottom double, top double",
        {**BOXED, "x1": BOXES["x1"]},
        (Filter("left < 10 AND right > 20 AND bottom < 10 AND top > 20", "★", long=True),),
    ),
    Entry(
        "S37",
        rightmost,
        "g string, x2 double",
        "right double",
        {"x2": BOXES["x2"]},
        (Filter("right > 20", "★"),),
        variant="rightmost",
    ),
    Entry(
        "S37",
        Area,
        "g string, x1 double, x2 double NOT NULL, y1 double NOT NULL, y2 double NOT NULL",
        "area double",
        {**BOXED, "x1": BOXES["x1"]},
        (
            Filter(
                "area > 100",
                "☆",
                "ours: without any geometry it is (-inf - inf) * (-inf - inf), which is inf",
            ),
        ),
        variant="area",
    ),
]
