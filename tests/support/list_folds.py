"""Folds over lists whose length depends on the rows: bounded lists, heaps and deques."""

# mypy: ignore-errors
# ruff: noqa: RUF005

from __future__ import annotations

import heapq
from collections import defaultdict, deque

import pandas as pd


class Best:
    """The two highest scores, by sorting."""

    def zero(self):
        return []

    def reduce(self, acc, row):
        if row["v"] is not None:
            acc.append(row["v"])
            acc.sort(reverse=True)
        return acc[:2]

    def finish(self, acc):
        return (acc[0] if acc else None, acc[1] if len(acc) > 1 else None)


class BestDeleted(Best):
    def reduce(self, acc, row):
        if row["v"] is not None:
            acc.append(row["v"])
        acc.sort(reverse=True)
        del acc[2:]
        return acc


class BestCopied(Best):
    """Lists that are made anew, of a list and of one of its parts."""

    def reduce(self, acc, row):
        found = list(acc)
        if row["v"] is not None:
            one = (row["v"],)
            found = list(one) + found
        found.sort(reverse=True)
        return found[:2]


class BestUnpacked(Best):
    """Lists that are unpacked into others, before and behind other items."""

    def reduce(self, acc, row):
        if row["v"] is None:
            return [*acc]
        return sorted([*acc[1:], row["v"], *acc[:1]], reverse=True)[:2]


class BestPopped(Best):
    def reduce(self, acc, row):
        if row["v"] is None:
            return acc
        acc += [row["v"]]
        acc = sorted(acc, reverse=True)
        if len(acc) > 2:
            acc.pop()
        return acc


class BestRaising(Best):
    """An index beyond the end of the list."""

    def finish(self, acc):
        return (acc[0], acc[-2])


class Heap(Best):
    """The two highest scores, in a heap."""

    def reduce(self, acc, row):
        if row["v"] is not None:
            if len(acc) < 2:
                heapq.heappush(acc, row["v"])
            else:
                heapq.heappushpop(acc, row["v"])
        return acc

    def finish(self, acc):
        best = heapq.nlargest(2, acc)
        return (best[0] if best else None, acc[0] if len(acc) == 2 else None)


class HeapReplaced(Heap):
    def reduce(self, acc, row):
        if row["v"] is None:
            return acc
        if len(acc) < 2:
            heapq.heappush(acc, row["v"])
        elif row["v"] > acc[0]:
            heapq.heapreplace(acc, row["v"])
        return acc


class HeapPopped(Heap):
    def reduce(self, acc, row):
        if row["v"] is not None:
            heapq.heappush(acc, row["v"])
            if len(acc) > 2:
                heapq.heappop(acc)
        return acc

    def finish(self, acc):
        ordered = sorted(acc)
        return (ordered[-1] if ordered else None, ordered[0])


class Last:
    """The last values, the oldest first."""

    def zero(self):
        return deque(maxlen=3)

    def reduce(self, acc, row):
        if row["v"] is not None:
            acc.append(row["v"])
        return acc

    def finish(self, acc):
        return (max(acc, default=None), acc[0])


class LastSlice(Best):
    def reduce(self, acc, row):
        return acc if row["v"] is None else (acc + [row["v"]])[-3:]

    def finish(self, acc):
        return (acc[-1], acc[0] if len(acc) == 3 else None)


class First(Best):
    """The first three values; which of them is the greatest."""

    def reduce(self, acc, row):
        if row["v"] is not None and len(acc) < 3:
            acc.append(row["v"])
        return acc

    def finish(self, acc):
        best = None
        for x in acc:
            if best is None or x > best:
                best = x
        return (best, acc[1])


def keep(pairs, row):
    """Keeps the two pairs of the lowest value."""
    pairs.append((row["v"], row["s"]))
    pairs.sort(key=lambda p: p[0])
    del pairs[2:]


class Pairs:
    """The lowest rows of each level, with what else they hold."""

    def zero(self):
        return defaultdict(list)

    def reduce(self, acc, row):
        if row["v"] is not None and row["s"] == "a":
            keep(acc["a"], row)
        elif row["v"] is not None and row["s"] == "b":
            keep(acc["b"], row)
        return acc

    def finish(self, acc):
        return (acc["a"][0][0] if acc["a"] else None, acc["b"][-1][0] if len(acc["b"]) else None)


class ByKey(Best):
    """The two rows with the highest number; those that tie stay in their order."""

    def reduce(self, acc, row):
        if row["n"] is not None and row["v"] is not None:
            acc = sorted(acc + [(row["n"], row["v"])], key=lambda p: -p[0])[:2]
        return acc

    def finish(self, acc):
        return (acc[0][1], acc[-1][1])


def latest(v: pd.Series, n: pd.Series) -> float:
    """The values of the two rows of the lowest n."""
    rows = []
    for x, y in zip(v, n, strict=True):
        rows.append((y, x))
        rows.sort(key=lambda r: r[0])
        rows = rows[:2]
    return rows[-1][1]


def smallest(v: pd.Series) -> float:
    kept = []
    for x in v:
        kept = heapq.nsmallest(3, kept + [x])
    return kept[-1]
