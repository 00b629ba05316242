"""Folds with dicts that give something for a key that they lack."""

# mypy: ignore-errors

from __future__ import annotations

import collections
from collections import Counter, defaultdict

import pandas as pd


class CountsByLevel:
    """Counts under keys that are no constants; one is asked for that may be missing."""

    def zero(self):
        return defaultdict(int)

    def reduce(self, acc, row):
        acc[row["s"]] += 1
        return acc

    def finish(self, acc):
        return (acc["a"], acc["b"] if acc["a"] > 1 else -1, "b" in acc)


class Asked(CountsByLevel):
    """To ask for a key puts it into the dict."""

    def finish(self, acc):
        before = "a" in acc
        found = acc["a"]
        return (found, acc.get("b", -2), before or "c" in acc)


class AskedOnSomePaths:
    """A key is put in by a part of an expression that is evaluated for some rows only."""

    def zero(self):
        return collections.defaultdict(lambda: 3)

    def reduce(self, acc, row):
        if row["n"] is not None and row["n"] > 0 and acc["x"] > 2:
            acc["n"] += row["n"]
        return acc

    def finish(self, acc):
        return (acc["n"], 1 if "x" in acc and acc["y"] > 2 else 0, "y" in acc)


class Lists:
    """A list under each key, made when it is asked for."""

    def zero(self):
        return defaultdict(lambda: [0, 10])

    def reduce(self, acc, row):
        if row["s"] == "a":
            acc["a"][0] += 1
        elif row["s"] is None:
            pair = acc["b"]
            pair[1] -= 1
        return acc

    def finish(self, acc):
        return (acc["a"][0] + acc["c"][1], acc["b"][1], "b" in acc)


class SetDefault:
    """Values, and lists, where there are none yet."""

    def zero(self):
        return {}

    def reduce(self, acc, row):
        first = acc.setdefault("first", row["n"])
        if row["s"] == "a":
            acc.setdefault("pair", [0, 0])[1] = first
        return acc

    def finish(self, acc):
        pair = acc.setdefault("pair", [7, -1])
        return (acc["first"], pair[1], "other" in acc)


class SetDefaultOpen:
    """A key that is no constant."""

    def zero(self):
        return {"b": 5}

    def reduce(self, acc, row):
        acc.setdefault(row["s"], 0)
        acc[row["s"]] += 1
        return acc

    def finish(self, acc):
        return (acc.get("a"), acc["b"], "c" in acc)


class Counted:
    """A Counter gives 0 for what it lacks, and does not keep it."""

    def zero(self):
        return Counter()

    def reduce(self, acc, row):
        acc[row["s"]] += 1
        return acc

    def finish(self, acc):
        return (acc["a"] - acc["b"], acc.get("c"), "b" in acc)


class CountedItems:
    """A Counter that gets items one by one, and counts."""

    def zero(self):
        return Counter(["b", "b"])

    def reduce(self, acc, row):
        acc.update([row["s"], "c"])
        if row["n"] is not None:
            acc.update({"n": row["n"]})
        return acc

    def finish(self, acc):
        return (acc["a"] + 10 * acc["b"] + 100 * acc["c"], acc["n"], "n" in acc)


def column_counts(s: pd.Series) -> int:
    """How often constants stand in a column."""
    counts = Counter(s)
    return counts["a"] + 10 * counts.get("b", 7) + (counts.get("c") or 0)


def number_counts(n: pd.Series) -> int:
    counts = collections.Counter(n)
    return counts[1] - counts[0]


def looped(s: pd.Series, n: pd.Series) -> int:
    """Sums by key."""
    sums = defaultdict(int)
    for key, x in zip(s, n, strict=True):
        sums[key] += x
    return sums["a"] - sums["b"]
