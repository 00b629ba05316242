"""Folds with loops over constants, comprehensions, match and methods of texts."""

# mypy: ignore-errors

from __future__ import annotations

import sys

import pandas as pd

BINS = ("0-10", "10-20", "20-3")
LIMITS = [(0, "low"), (10, "middle"), (100, "high")]
WEIGHTS = {"a": 1, "b": 2, "x": 5}


def label(n):
    for limit, name in LIMITS:
        if n < limit:
            return name
    return "top"


class Histogram:
    def zero(self):
        return {name: 0 for name in BINS if name}

    def reduce(self, acc, row):
        if row.n is None:
            return acc
        for name in acc:
            low, high = name.split("-")
            if int(low) <= row.n < int(high):
                acc[name] += 1
        return acc

    def finish(self, acc):
        return acc["0-10"], acc["10-20"], sum(acc.values())


class Labels:
    """``return`` inside of a loop of a helper; ``break`` and ``continue``."""

    def zero(self):
        return 0, 0, None

    def reduce(self, acc, row):
        low, steps, last = acc
        if row.n is None:
            return acc
        low += label(row.n) == "low"
        for i in range(4):
            if row.n == i:
                continue
            if row.n > 10 - i:
                last = i
                break
            steps += 1
        return low, steps, last


class Weighted:
    def zero(self):
        return 0, False, True, 0

    def reduce(self, acc, row):
        total, seen, every, several = acc
        for name, weight in WEIGHTS.items():
            if row.s == name:
                total += weight
        hit = any(row.s == name for name in WEIGHTS)
        small = all(row.n is None or row.n < limit for limit, _ in LIMITS if limit > 0)
        marks = [row.s == "a", row.n == 1, total > 3]
        several += sum(1 for m in marks if m) + sum([i * 2 for i in (1, 2) if i > 1])
        return total, seen or hit, every and small, several + sum(marks)


class Lazy:
    """What ``any`` and ``all`` do not ask raises nothing."""

    def zero(self):
        return 0

    def reduce(self, acc, row):
        if any(row.n is None or row.n > k for k in (0, 5)):
            acc += 1
        if all([row.s == "a", row.n is not None and row.n > 1]):
            acc += 10
        if all(row.n > k for k in (3, 1)):
            acc += 100
        return acc


class Matched:
    def zero(self):
        return "active", 0

    def reduce(self, acc, row):
        state, count = acc
        match row.s:
            case "time" | "price":
                count += 1
            case None:
                count += 10
            case "error" if row.n == 1:
                state = "failed"
            case other if other > "b":
                state = other
            case _:
                pass
        match (state, row.f):
            case ("failed", True):
                count += 100
            case (name, False):
                state = name
            case ("active", _):
                count += 1000
        match row.n:
            case 0 | 1 as small:
                count += small
        return state, count


class Prefixes:
    def zero(self):
        return 0, 0, 0

    def reduce(self, acc, row):
        few, many, odd = acc
        if row.s is not None and row.s.startswith("pri"):
            few += 1
        if row.s and row.s.startswith(("ti", "e", "\U0001f600")):
            many += 1
        if row.t.startswith("") and not row.t.startswith("\U0010ffff"):
            odd += 1
        return few, many, odd + (row.s == "TIME".lower())


class RaisingPrefix:
    def zero(self):
        return 0

    def reduce(self, acc, row):
        return acc + row.s.startswith("a")


class Ends:
    def zero(self):
        return sys.maxsize, -sys.maxsize - 1, sys.float_info.max, sys.float_info.min

    def reduce(self, acc, row):
        low, high, least, most = acc
        if row.n is not None:
            low, high = min(low, row.n), max(high, row.n)
        if row.x is not None:
            least, most = min(least, row.x), max(most, row.x)
        return low, high, least, most


def in_function(n: pd.Series) -> int:
    counts = [0, 0]
    for x in n:
        for i, limit in enumerate((0, 10)):
            if x > limit:
                counts[i] += 1
    return counts[0] - counts[1]
