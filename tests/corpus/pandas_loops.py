"""Functions of the corpus that come from pandas and need a loop: order, two fields, sums."""

# mypy: ignore-errors

from __future__ import annotations

import pandas as pd
from tests.corpus.runner import Entry, Filter

NAN = float("nan")
OWN = "the pre-filter depends on the filter: its constant is one of the function's own, too."
NOW = 1_700_000_000


class TripsInBin:
    """D04: the last number of trips, and the trip ends of all bins before."""

    def zero(self):
        return None, None, None

    def reduce(self, acc, row):
        _, pending, tail = acc
        if pending is not None:
            tail = pending if tail is None else tail + pending
        return row.num_trips, row.num_trip_ends, tail

    def finish(self, acc):
        last, _, tail = acc
        return None if last is None or tail is None else last + tail


class Expectancy:
    """D06: what a trade brings, in doubles."""

    def zero(self):
        return 0, 0.0, 0, 0.0, 0

    def reduce(self, acc, row):
        n, won, wins, lost, losses = acc
        if row.profit_abs > 0:
            won, wins = won + row.profit_abs, wins + 1
        elif row.profit_abs < 0:
            lost, losses = lost - row.profit_abs, losses + 1
        return n + 1, won, wins, lost, losses

    def finish(self, acc):
        n, won, wins, lost, losses = acc
        if n == 0:
            return 0.0, 100.0
        average_win = won / wins if wins else 0.0
        average_loss = lost / losses if losses else 0.0
        rate = wins / n
        expectancy = rate * average_win - (losses / n) * average_loss
        ratio = (1 + average_win / average_loss) * rate - 1 if average_loss > 0 else 100.0
        return expectancy, ratio


class ProfitSum(Expectancy):
    """D06: the sum of what is won, and how often."""

    def finish(self, acc):
        _, won, wins, _, _ = acc
        return won, wins


class SinceLastTrue:
    """D12: how long ago the flag was last up, of times in seconds."""

    def zero(self):
        return None

    def reduce(self, last, row):
        return row.t if row.b and row.t is not None else last

    def finish(self, last):
        return None if last is None else NOW - last


class Quality:
    """D16: which part of its extent is tracked, of times in seconds."""

    def zero(self):
        return 0, None, None

    def reduce(self, acc, row):
        tracked, begin, end = acc
        tracked += row.finished_at - row.started_at
        begin = row.started_at if begin is None else min(begin, row.started_at)
        end = row.finished_at if end is None else max(end, row.finished_at)
        return tracked, begin, end

    def finish(self, acc):
        tracked, begin, end = acc
        if begin is None or end <= begin:
            return None
        return float(tracked) / float(end - begin)


def begins(started_at: pd.Series) -> object:
    """D16: the first start alone."""
    return started_at.dropna().min()


def strike_above_mean(x: pd.Series) -> int:
    """D20: the longest run above the mean."""
    best = run = 0
    mean = x.mean()
    for value in x:
        run = run + 1 if value > mean else 0
        best = max(best, run)
    return best


def first_of_max(x: pd.Series) -> float:
    """D20: where the maximum comes first, as a part of the length."""
    return x.idxmax() / len(x)


class TwiceTheMax:
    """D20: the maximum, and whether it comes twice."""

    def zero(self):
        return None, 0

    def reduce(self, acc, row):
        best, times = acc
        if best is None or row.x > best:
            return row.x, 1
        return best, times + 1 if row.x == best else times

    def finish(self, acc):
        return acc[0], acc[1] >= 2


def worst_category(category: pd.Series) -> str:
    """D22: the worst category that occurs."""
    seen = set()
    for c in category:
        seen.add(c)
    if "Critical" in seen:
        return "Critical"
    if "Warning" in seen:
        return "Warning"
    return "Offline" if "Offline" in seen else "Good"


def several_of_each(pdf: pd.DataFrame) -> pd.DataFrame:
    """D22: whether there is more than one system, and more than one set of channels."""
    return pd.DataFrame(
        {"systems": [pdf["system"].nunique() > 1], "sets": [pdf["channels"].nunique() > 1]}
    )


def runs_of_text(pdf: pd.DataFrame) -> pd.DataFrame:
    """D28: a record for each run of rows with one text."""
    out, previous, total = [], None, 0.0
    for text, x in zip(pdf["text"], pdf["x"], strict=True):
        if previous is not None and text != previous:
            out.append((previous, total))
            total = 0.0
        previous, total = text, total + x
    out.append((previous, total))
    return pd.DataFrame(out, columns=["text", "total"])


class LastRun:
    """D28: the last run of rows with one text, and what it adds up to."""

    def zero(self):
        return None, 0.0

    def reduce(self, acc, row):
        text, total = acc
        if text is not None and row.text == text:
            return text, total + row.x
        return row.text, row.x

    def finish(self, acc):
        return acc


def signal_changes(pdf: pd.DataFrame) -> pd.DataFrame:
    """D30: a record for each change of the signal."""
    out, previous = [], None
    for day, signal in zip(pdf["day"], pdf["signal"], strict=True):
        if previous is not None and signal != previous:
            out.append((day, signal))
        previous = signal
    return pd.DataFrame(out, columns=["day", "new_value"])


class RankOne:
    """D30: how often something starts to be first, and what the last signal is."""

    def zero(self):
        return None, 0, None

    def reduce(self, acc, row):
        rank, starts, _ = acc
        if row.rank == 1 and rank != 1:
            starts += 1
        return row.rank, starts, row.signal

    def finish(self, acc):
        return acc[1], acc[2]


class Band:
    """D34: the least and the greatest price of a pair."""

    def zero(self):
        return None

    def reduce(self, acc, row):
        if acc is None:
            return row.price, row.price
        low, high = acc
        if row.price > high:
            high = row.price
        elif row.price < low:
            low = row.price
        return low, high

    def finish(self, acc):
        return (None, None) if acc is None else acc


class BandWidth(Band):
    """D34: how far apart the prices of a pair are."""

    def finish(self, acc):
        return None if acc is None else acc[1] - acc[0]


class Highest(Band):
    """D34: the greatest price alone."""

    def finish(self, acc):
        return None if acc is None else acc[1]


def all_pairs(pdf: pd.DataFrame) -> pd.DataFrame:
    """D34: a record for each pair."""
    bands = pdf.groupby("pair")["price"].agg(["min", "max"])
    return bands.reset_index()


GAINS = [-7.0, -0.5, 0.0, 0.5, 1.0, 40.0, NAN]
PRICES = [80.0, 89.9, 90.0, 100.0, 110.0, 110.5, 500.0, NAN]
SPANS = {"started_at": [0, 10, 60, 100], "finished_at": [0, 12, 70, 100, 4000]}

ENTRIES = [
    Entry(
        "D04",
        TripsInBin,
        "g string, num_trips int NOT NULL, num_trip_ends int",
        "v bigint",
        {"num_trips": [0, 1, 5, -20], "num_trip_ends": [None, 0, 1, 9]},
        (Filter("v >= 10", "○"), Filter("v IS NULL", "○"), Filter("v > 0", "○")),
    ),
    Entry(
        "D06",
        Expectancy,
        "g string, profit_abs double NOT NULL",
        "expectancy double, ratio double",
        {"profit_abs": GAINS},
        (Filter("expectancy > 0.2", "○"), Filter("ratio > 1", "○")),
        variant="loop",
    ),
    Entry(
        "D06",
        ProfitSum,
        "g string, profit_abs double NOT NULL",
        "won double, wins bigint",
        {"profit_abs": GAINS},
        (Filter("won > 0", "☆"),),
        variant="won",
    ),
    Entry(
        "D12",
        SinceLastTrue,
        "g string, t bigint, b boolean",
        "dt bigint",
        {"t": [None, NOW - 10, NOW - 3599, NOW - 3600, 0], "b": [None, True, False]},
        (Filter("dt < 3600", "☆"), Filter("dt IS NOT NULL", "☆"), Filter("dt IS NULL", "○")),
        variant="since",
    ),
    Entry(
        "D16",
        Quality,
        "g string, started_at int NOT NULL, finished_at int NOT NULL",
        "quality double",
        SPANS,
        (Filter("quality > 0.8", "○"), Filter("quality < 0.1", "○")),
        variant="quality",
    ),
    Entry(
        "D16",
        begins,
        "g string, started_at bigint NOT NULL",
        "begin bigint",
        {"started_at": [0, 10, 60, 100]},
        (Filter("begin <= 10", "★"),),
        variant="begin",
    ),
    Entry(
        "D20",
        strike_above_mean,
        "g string, x double",
        "best bigint",
        {},
        lift="hard",
        variant="strike",
        declined="two-passes",
        because="takes two passes",
    ),
    Entry(
        "D20",
        first_of_max,
        "g string, x double",
        "o double",
        {},
        lift="hard",
        variant="first of max",
        declined="unsupported-operation",
        because="not supported on the label of a row",
    ),
    Entry(
        "D20",
        TwiceTheMax,
        "g string, x double NOT NULL",
        "best double, twice boolean",
        {"x": [NAN, -1.0, 0.0, 99.0, 100.0, 100.5, 300.0]},
        (Filter("twice AND best > 100", "★"),),
        lift="hard",
        variant="twice the max",
    ),
    Entry(
        "D22",
        worst_category,
        "g string, category string",
        "cat string",
        {"category": ["Good", "Offline", "Warning", "Critical", None]},
        (
            Filter("cat = 'Critical'", "★", OWN),
            Filter("cat IN ('Critical', 'Warning')", "★", OWN),
            Filter("cat = 'Good'", "○"),
        ),
        lift="collection",
        variant="category",
    ),
    Entry(
        "D22",
        several_of_each,
        "g string, system string, channels string",
        "systems boolean, sets boolean",
        {"system": ["a", "b", None], "channels": ["1", "2", None]},
        (Filter("systems OR sets", "REAL"),),
        lift="collection",
        variant="several",
    ),
    Entry(
        "D28",
        runs_of_text,
        "g string, text string, x double NOT NULL",
        "text string, total double",
        {},
        lift="hard",
        declined="mutation",
        because="keep the items that you need",
    ),
    Entry(
        "D28",
        LastRun,
        "g string, text string, x double NOT NULL",
        "text string, total double",
        {"text": ["x", "y", None], "x": [0.0, 0.5, 1.0, -1.0, NAN]},
        (Filter("total > 1.0", "○"), Filter("text = 'x'", "○")),
        lift="hard",
        variant="last",
    ),
    Entry(
        "D30",
        signal_changes,
        "g string, day int NOT NULL, signal string",
        "day int, new_value string",
        {},
        lift="hard",
        declined="mutation",
        because="keep the items that you need",
    ),
    Entry(
        "D30",
        RankOne,
        "g string, rank int, signal string",
        "starts bigint, signal string",
        {"rank": [None, 1, 2, 3], "signal": ["BUY", "SELL", None]},
        (Filter("starts >= 1", "○"), Filter("signal = 'BUY'", "○")),
        lift="hard",
        variant="starts",
    ),
    Entry(
        "D34",
        Band,
        "g string, price double NOT NULL",
        "low double, high double",
        {"price": PRICES},
        (Filter("low < 90 AND high > 110", "★"),),
        lift="collection",
    ),
    Entry(
        "D34",
        Highest,
        "g string, price double NOT NULL",
        "high double",
        {"price": PRICES},
        (Filter("high > 110", "★"),),
        lift="collection",
        variant="highest",
    ),
    Entry(
        "D34",
        BandWidth,
        "g string, price double NOT NULL",
        "width double",
        {"price": PRICES},
        (Filter("width > 20", "○"),),
        lift="collection",
        variant="width",
    ),
    Entry(
        "D34",
        all_pairs,
        "g string, pair string, price double",
        "pair string, min double, max double",
        {},
        lift="collection",
        variant="all pairs",
        declined="not-a-fold",
        because="regroups the rows",
    ),
]
