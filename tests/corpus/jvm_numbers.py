"""Functions of the corpus that compute from sums and extremes, and those that keep collections."""

# mypy: ignore-errors

from __future__ import annotations

import datetime as dt
from dataclasses import dataclass
from typing import NamedTuple

import pandas as pd
from tests.corpus.runner import Entry, Filter

NAN = float("nan")
WATCHED = ("a", "b")
BINS = ("10-20", "20-30", "30-40")
URGENT = frozenset({"1-URGENT", "2-HIGH"})
TIMES = [dt.datetime(2024, 1, d) for d in (1, 10, 11, 19, 20, 30)]


class Words:
    """S31: how often each value comes, whatever it is."""

    def zero(self):
        return {}

    def reduce(self, acc, row):
        if row.value is not None:
            acc[row.value] = acc.get(row.value, 0) + 1
        return acc

    def finish(self, acc):
        return acc.get("a", 0), acc.get("b", 0)


class WatchedWords:
    """S31: how often each of the values comes that are asked for."""

    def zero(self):
        return {word: 0 for word in WATCHED if word}

    def reduce(self, acc, row):
        if row.value in WATCHED:
            acc[row.value] += 1
        return acc

    def finish(self, acc):
        return acc["a"], acc["b"]


class Line:
    """A least-squares line."""

    def __init__(self):
        self.x = self.y = self.xy = self.xx = 0.0
        self.n = 0

    def add(self, x, y):
        self.x += x
        self.y += y
        self.xy += x * y
        self.xx += x * x
        self.n += 1

    def slope(self):
        below = self.n * self.xx - self.x * self.x
        if below == 0:
            return None
        return (self.n * self.xy - self.x * self.y) / below


class Slope:
    """S34: prices against months since 2000."""

    def zero(self):
        return Line()

    def reduce(self, acc, row):
        months = float(row.year - 2000) * 12.0
        acc.add(months, float(row.price))
        return acc

    def finish(self, acc):
        return acc.slope()


class FirstEvents:
    """S40: the first three events."""

    def zero(self):
        return []

    def reduce(self, acc, row):
        if len(acc) < 3:
            acc.append(row.trust)
        return acc

    def finish(self, acc):
        return len(acc), acc[0]


@dataclass
class Moments:
    """Sums that lose little to rounding, by Kahan."""

    count: float = 0.0
    count_rest: float = 0.0
    total: float = 0.0
    total_rest: float = 0.0
    least: float = float("inf")
    most: float = float("-inf")

    def add(self, weight, reward, count):
        step = count - self.count_rest
        grown = self.count + step
        self.count_rest = (grown - self.count) - step
        self.count = grown
        step = weight * reward * count - self.total_rest
        grown = self.total + step
        self.total_rest = (grown - self.total) - step
        self.total = grown


class Estimate:
    """S43: an importance-weighted mean."""

    def zero(self):
        return Moments()

    def reduce(self, acc, row):
        weight = row.predicted / row.logged
        acc.least = min(acc.least, weight)
        acc.most = max(acc.most, weight)
        acc.add(weight, row.reward, row["count"])
        return acc

    def finish(self, acc):
        assert acc.count >= 0
        if acc.count == 0:
            return None, 0.0
        return acc.total / acc.count, acc.count


class Vote:
    """S46: what most annotators say."""

    def zero(self):
        return 0.0, 0

    def reduce(self, acc, row):
        ones, count = acc
        return ones + row.value, count + 1

    def finish(self, acc):
        ones, count = acc
        if count == 0:
            raise ValueError("no votes")
        return 1 if ones / count >= 0.5 else 0


def votes(pdf: pd.DataFrame) -> pd.DataFrame:
    """S46: both counts."""
    ones = count = 0
    for row in pdf.itertuples(index=False):
        ones += row.value
        count += 1
    return pd.DataFrame({"ones": [ones], "count": [count]})


class Range(NamedTuple):
    least: dt.datetime
    most: dt.datetime


class Collected:
    """S49: the first and the last time; None until there is one."""

    def zero(self):
        return None

    def reduce(self, acc, row):
        now = row.at
        if now is None:
            return acc
        if acc is None:
            return Range(now, now)
        return Range(least=min(acc.least, now), most=max(acc.most, now))

    def finish(self, acc):
        return (None, None) if acc is None else (acc.least, acc.most)


class LastCollected(Collected):
    """S49: the last time."""

    def finish(self, acc):
        return None if acc is None else acc.most


class Duration(Collected):
    """S49: how long it took."""

    def finish(self, acc):
        return None if acc is None else (acc.most - acc.least).total_seconds()


class Ages:
    """S52: a histogram, whose bounds are in the names of its bins."""

    def zero(self):
        return {name: 0 for name in BINS if name}

    def reduce(self, acc, row):
        if row.age is None:
            return acc
        for name in acc:
            low, high = name.split("-")
            if int(low) <= row.age < int(high):
                acc[name] += 1
        return acc

    def finish(self, acc):
        return acc["10-20"], acc["20-30"], acc["30-40"], sum(acc.values())


class Share:
    """S55, Q8: the share of one nation."""

    def zero(self):
        return (0.0, 0.0)

    def reduce(self, acc, row):
        partial, total = acc
        return (partial + row.volume if row.nation == "BRAZIL" else partial, total + row.volume)

    def finish(self, acc):
        partial, total = acc
        return partial / total if total != 0 else None


class Partial:
    """S55, Q8: the part of one nation."""

    def zero(self):
        return 0.0

    def reduce(self, acc, row):
        return acc + row.volume if row.nation == "BRAZIL" else acc


def high(priority: pd.Series) -> int:
    """S55, Q12: orders of high priority."""
    count = 0
    for p in priority:
        count += p in URGENT
    return count


def low(priority: pd.Series) -> int:
    """S55, Q12: all others."""
    count = 0
    for p in priority:
        if p not in URGENT:
            count += 1
    return count


def discounted(price, discount):
    return price * (1.0 - discount)


class Promotions:
    """S55, Q14: the revenue of promotions."""

    def zero(self):
        return 0.0

    def reduce(self, revenue, row):
        if row.p_type is not None and row.p_type.startswith("PROMO"):
            revenue += discounted(row.price, row.discount)
        return revenue


class Burst:
    """S58: the start of the current burst of 60 seconds."""

    def zero(self):
        return 0

    def reduce(self, start, row):
        return row.ts if start == 0 or row.ts - start > 60 else start


class Mean:
    """S61: the mean and a hundred, None where there is nothing."""

    def zero(self):
        return None, 0

    def reduce(self, acc, row):
        total, count = acc
        if row.x is None:
            return acc
        if total is None:
            return row.x, 1
        return total + row.x, count + 1

    def finish(self, acc):
        total, count = acc
        return None if total is None else total / count + 100.0


class Labels:
    """S64: how many of the last legal and the last fraud id are left, and whether one is 7."""

    def zero(self):
        return (-1, 0), (-1, 0)

    def reduce(self, acc, row):
        legal, fraud = acc
        match row.label:
            case -1:
                legal = (row.id, legal[1] + 1)
            case 1:
                fraud = (row.id, fraud[1] + 1)
        return legal, fraud

    def finish(self, acc):
        left = [-1 if times == 1 else last for last, times in acc]
        return sum(1 for x in left if x != -1), any(x == 7 for x in left)


def larger(current, new):
    """P10: the larger of the two; one that is NaN does not count."""
    return current if current == current and current > new else new


class Statistics:
    """P10: a mean, the largest D, and the variance of the negative E."""

    def zero(self):
        return 0.0, 0, NAN, 0.0, 0.0, 0

    def reduce(self, acc, row):
        total, count, most, squares, below, n = acc
        if row.E < 0:
            squares, below, n = squares + row.E * row.E, below + row.E, n + 1
        return total + row.C, count + 1, larger(most, row.D), squares, below, n

    def finish(self, acc):
        total, count, most, squares, below, n = acc
        mean = NAN if count < 1 else total / count
        variance = NAN if n < 2 else (squares - below * below / n) / (n - 1)
        return mean, most, variance


class Variance(Statistics):
    """P10: only the variance."""

    def finish(self, acc):
        _, _, _, squares, below, n = acc
        return NAN if n < 2 else (squares - below * below / n) / (n - 1)


class BySubgroup:
    """P12: the mean over subgroups of a variance."""

    def zero(self):
        return {}

    def reduce(self, acc, row):
        squares, total, n = acc.get(row.subgroup, (0.0, 0.0, 0))
        acc[row.subgroup] = (squares + row.E * row.E, total + row.E, n + 1)
        return acc

    def finish(self, acc):
        variances = [s / n - (t / n) ** 2 for s, t, n in acc.values()]
        return sum(variances) / len(variances)


def larger_or_none(a, b):
    """P14: the larger of two that may be None."""
    if a is None:
        return b
    if b is None:
        return a
    return a if a > b else b


class OptionalMax:
    """P14: a mean, the largest D and a variance, None where there is none."""

    def zero(self):
        return 0.0, 0, None, 0.0, 0.0

    def reduce(self, acc, row):
        total, count, most, squares, values = acc
        most = larger_or_none(most, row.D)
        return total + row.C, count + 1, most, squares + row.E * row.E, values + row.E

    def finish(self, acc):
        total, count, most, squares, values = acc
        if count == 0:
            return None, most, None
        return total / count, most, squares / count - (values / count) * (values / count)


class OnlyMax(OptionalMax):
    """P14: only the largest D."""

    def finish(self, acc):
        return acc[2]


VOLUMES = {"nation": ["BRAZIL", "CHINA", None], "volume": [NAN, 0.0, -1.0, 1.0, 100.0]}
PRIORITY = {"priority": ["1-URGENT", "2-HIGH", "3-MEDIUM", "5-LOW", None]}
PARTS = {
    "p_type": ["PROMO A", "PROMO", "PROMP", "PROM", "ECONOMY", None],
    "price": [NAN, 0.0, 500.0, 1500.0, -5.0],
    "discount": [0.0, 0.1, 1.0],
}
MEASURES = {
    "C": [NAN, 0.0, 0.4, 2.0],
    "D": [NAN, 0.5, 0.9, 0.95, -1.0],
    "E": [NAN, -1.0, -0.5, -0.0, 0.5, 2.0],
}
LATER = (
    "ours that zeros must stay, as -100, 0, -150, -50, 5, 30, 89, 149 shows; open whether "
    "something else could go, since what was tried was neither proved nor refuted"
)
BURSTS = (
    "ours: where times may be negative, a zero can start a burst anew, as in -100, 0, -150, -50, 5"
)
CDE = "g string, C double NOT NULL, D double NOT NULL, E double NOT NULL"

ENTRIES = [
    Entry(
        "S31",
        Words,
        "g string, value string",
        "a bigint, b bigint",
        {"value": ["a", "b", "c", None]},
        (Filter("a >= 3", "☆"), Filter("a > b", "☆")),
        lift="collection",
        variant="any value",
    ),
    Entry(
        "S31",
        WatchedWords,
        "g string, value string",
        "a bigint, b bigint",
        {"value": ["a", "b", "c", None]},
        (Filter("a >= 3", "☆"), Filter("a > b", "☆")),
        lift="collection",
        variant="watched",
    ),
    Entry(
        "S34",
        Slope,
        "g string, year bigint NOT NULL, price bigint NOT NULL",
        "slope double",
        {"year": [1999, 2000, 2001, 2010], "price": [-100, 0, 1, 1000]},
        (
            Filter("slope > 0", "○"),
            Filter("slope < -10", "○"),
            Filter("slope BETWEEN -1 AND 1", "○"),
        ),
    ),
    Entry(
        "S40",
        FirstEvents,
        "g string, trust double",
        "size bigint, first double",
        {"trust": [0.1, 0.6]},
        lift="collection",
        declined="mutation",
        because="None may get into a list that grows: leave it out first",
    ),
    Entry(
        "S43",
        Estimate,
        "g string, logged double NOT NULL, predicted double NOT NULL, reward double NOT NULL, "
        "count double NOT NULL",
        "estimate double, n double",
        {
            "logged": [0.1, 0.5, 1.0] * 7 + [0.0],
            "predicted": [0.2, 0.5],
            "reward": [NAN, 0.0, 1.0],
            "count": [0.0, 1.0, 50.0],
        },
        (
            Filter("estimate > 0.5", "○", long=True),
            Filter("n >= 100", "○", long=True),
        ),
    ),
    Entry(
        "S46",
        Vote,
        "g string, value int NOT NULL",
        "label int",
        {"value": [0, 1]},
        (Filter("label = 1", "○"), Filter("label = 0", "○")),
    ),
    Entry(
        "S46",
        votes,
        "g string, value int NOT NULL",
        "ones bigint, count bigint",
        {"value": [0, 1]},
        (Filter("count >= 5 AND ones >= 3", "○"),),
        variant="pair",
    ),
    Entry(
        "S49",
        Collected,
        "g string, at timestamp",
        "least timestamp, most timestamp",
        {"at": [None, *TIMES]},
        (Filter("least <= TIMESTAMP '2024-01-10' AND most >= TIMESTAMP '2024-01-20'", "★"),),
    ),
    Entry(
        "S49",
        LastCollected,
        "g string, at timestamp",
        "most timestamp",
        {"at": [None, *TIMES]},
        (Filter("most >= TIMESTAMP '2024-01-20'", "★"),),
        variant="last",
    ),
    Entry(
        "S49",
        Duration,
        "g string, at timestamp",
        "seconds double",
        {"at": [None, *TIMES]},
        declined="unsupported-operation",
        because="arithmetic on a value of type timestamp",
        variant="duration",
    ),
    Entry(
        "S52",
        Ages,
        "g string, age int",
        "young bigint, middle bigint, old bigint, total bigint",
        {"age": [None, 9, 10, 19, 20, 25, 29, 30, 39, 40]},
        (
            Filter("middle > 0", "☆"),
            Filter("middle > old", "☆"),
            Filter("total >= 3", "☆"),
        ),
        lift="collection",
    ),
    Entry(
        "S55",
        Share,
        "g string, nation string, volume double NOT NULL",
        "share double",
        VOLUMES,
        (Filter("share > 0.1", "☆"),),
        variant="Q8",
    ),
    Entry(
        "S55",
        Partial,
        "g string, nation string, volume double NOT NULL",
        "partial double",
        VOLUMES,
        (Filter("partial > 0", "☆"),),
        variant="Q8 part",
    ),
    Entry(
        "S55",
        high,
        "g string, priority string",
        "n bigint",
        PRIORITY,
        (Filter("n > 2", "☆"),),
        variant="Q12 high",
    ),
    Entry(
        "S55",
        low,
        "g string, priority string",
        "n bigint",
        PRIORITY,
        (Filter("n > 2", "☆"),),
        variant="Q12 low",
    ),
    Entry(
        "S55",
        Promotions,
        "g string, p_type string, price double NOT NULL, discount double NOT NULL",
        "revenue double",
        PARTS,
        (Filter("revenue > 1000", "☆"),),
        variant="Q14",
    ),
    Entry(
        "S58",
        Burst,
        "g string, ts int NOT NULL",
        "s bigint",
        {"ts": [0, 1, 30, 61, 62, 100, 161]},
        (Filter("s > 0", "☆", BURSTS), Filter("s >= 100", "☆", LATER)),
    ),
    Entry(
        "S61",
        Mean,
        "g string, x double",
        "mean double",
        {"x": [None, NAN, -100.0, 0.0, 49.0, 51.0, 80.0]},
        (
            Filter("mean > 150.0", "☆"),
            Filter("mean IS NOT NULL", "☆"),
            Filter("mean IS NULL", "○"),
        ),
    ),
    Entry(
        "S64",
        Labels,
        "g string, label int, id bigint NOT NULL",
        "left bigint, has boolean",
        {"label": [-1, 0, 1, 2, None], "id": [-1, 6, 7, 8]},
        (Filter("left >= 1", "☆"), Filter("left >= 2", "☆"), Filter("has", "☆")),
        lift="collection",
        longest=8,
    ),
    Entry(
        "P10",
        Statistics,
        CDE,
        "mean double, most double, variance double",
        MEASURES,
        (Filter("most > 0.9", "○"), Filter("mean > 0.5", "○")),
    ),
    Entry(
        "P10",
        Variance,
        CDE,
        "variance double",
        MEASURES,
        (
            Filter(
                "variance > 0.1",
                "☆",
                "ours: in Spark NaN is greater than 0.1, so that a group without negative E passes",
            ),
            Filter("variance > 0.1 AND NOT isnan(variance)", "☆"),
        ),
        variant="variance",
    ),
    Entry(
        "P12",
        BySubgroup,
        "g string, subgroup int NOT NULL, E double NOT NULL",
        "variance double",
        {"subgroup": [1, 2], "E": [0.1, 0.2]},
        lift="collection",
        declined="mutation",
        because="ask first whether it is one of a few",
    ),
    Entry(
        "P14",
        OptionalMax,
        CDE.replace("D double NOT NULL", "D double"),
        "mean double, most double, variance double",
        {**MEASURES, "D": [None, *MEASURES["D"]]},
        (Filter("most > 0.9", "○", long=True), Filter("variance > 0.1", "○", long=True)),
    ),
    Entry(
        "P14",
        OnlyMax,
        CDE.replace("D double NOT NULL", "D double"),
        "most double",
        {**MEASURES, "D": [None, *MEASURES["D"]]},
        (Filter("most > 0.9", "★"),),
        variant="largest",
    ),
]
