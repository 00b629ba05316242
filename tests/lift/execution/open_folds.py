"""Dicts that get keys as they come: what they hold under constants is known."""

# mypy: ignore-errors

from __future__ import annotations

import pandas as pd


class _Counts:
    def zero(self):
        return {}

    def finish(self, acc):
        return acc.get("a", 0)


class Counts(_Counts):
    def reduce(self, acc, row):
        acc[row.s] = acc.get(row.s, 0) + 1
        return acc


class CountsAsked(_Counts):
    """Asked first, in two ways."""

    def reduce(self, acc, row):
        if row.s in acc:
            acc[row.s] += 1
        else:
            acc[row.s] = 1
        if row.t not in acc:
            acc[row.t] = 0
        acc[row.t] += 10
        return acc


class Sums:
    def zero(self):
        return {}

    def reduce(self, acc, row):
        acc[row.s] = acc.get(row.s, 0) + row.n
        return acc

    def finish(self, acc):
        return acc.get("a", 0), acc.get("b"), "" in acc


class Spans:
    """Least and greatest for each text."""

    def zero(self):
        return {}

    def reduce(self, acc, row):
        if row.n is None:
            return acc
        if row.s not in acc:
            acc[row.s] = (row.n, row.n)
            return acc
        low, high = acc[row.s]
        if row.n > high:
            acc[row.s] = (low, row.n)
        elif row.n < low:
            acc[row.s] = (row.n, high)
        return acc

    def finish(self, acc):
        found = acc.get("b")
        return (None, None) if found is None else found


class Raising(_Counts):
    """KeyError for a text that is none of the keys."""

    def zero(self):
        return {"a": 0, "b": 1}

    def reduce(self, acc, row):
        acc[row.s] += 1
        return acc


class Last(_Counts):
    """The end raises where there is no such key."""

    def reduce(self, acc, row):
        acc[row.s] = row.n
        return acc

    def finish(self, acc):
        return acc["a"]


class Constants:
    """Constants are keys, too, and a key is read that has just been stored."""

    def zero(self):
        return {"a": 5}, 0

    def reduce(self, acc, row):
        counts, total = acc
        if row.f:
            counts["b"] = 10
        else:
            counts[row.s] = counts.get(row.s, 0) + 1
            total += 2
        counts[row.t] = 7
        return counts, total + counts[row.t]

    def finish(self, acc):
        counts, total = acc
        return counts["a"], counts.get("b", -1), total


def tally(counts, key, by=1):
    counts[key] = counts.get(key, 0) + by
    return counts[key]


class Helper(_Counts):
    def reduce(self, acc, row):
        tally(acc, row.s)
        if row.f:
            tally(acc, "a", 5)
        for key in ("b", row.t):
            tally(acc, key)
        return acc


class Tally:
    def __init__(self):
        self.counts = {}
        self.rows = 0

    def add(self, key):
        self.counts[key] = self.counts.get(key, 0) + 1
        self.rows += 1


class InObject:
    def zero(self):
        return Tally()

    def reduce(self, acc, row):
        other = acc
        if row.n is not None:
            other.add(row.s)
        return acc

    def finish(self, acc):
        return acc.counts.get("a", 0), acc.rows


class Beside:
    """The same keys meet a dict that has constant keys only."""

    def zero(self):
        return {}, {"b": 0, "c": 5}, 0

    def reduce(self, acc, row):
        counts, known, total = acc
        counts[row.s] = counts.get(row.s, 0) + 1
        more = {"x": 100}
        if row.s in known:
            total += 1
        return counts, known, total + known.get(row.s, 10) + more.get(row.s, 0)

    def finish(self, acc):
        return acc[0].get("a", 0), acc[2]


def errors(s: pd.Series) -> int:
    counts = {}
    for x in s:
        counts[x] = counts.get(x, 0) + 1
    return counts.get("a", 0) - counts.get("b", 0)


# --- declined -----------------------------------------------------------------------------------


class Leaks(_Counts):
    """How often something has been seen before, whatever it is."""

    def zero(self):
        return {}, 0

    def reduce(self, acc, row):
        counts, again = acc
        counts[row.s] = counts.get(row.s, 0) + 1
        if counts[row.s] > 1:
            again += 1
        return counts, again

    def finish(self, acc):
        return acc[1]


class LeaksOther(Leaks):
    """What one key has got is read under another one."""

    def reduce(self, acc, row):
        counts, total = acc
        counts[row.s] = 5
        return counts, total + counts.get("q" if row.f else row.s, 0)


class LeaksPresence(Leaks):
    """On both sides it looks as if the other key were there."""

    def reduce(self, acc, row):
        counts, every = acc
        other = None if row.f else row.s
        found = other in counts if row.s in counts else True
        counts[row.s] = 1
        return counts, every + (not found)


class LeaksInside(Leaks):
    """After another key has been stored, nothing is known of the first one."""

    def reduce(self, acc, row):
        counts, total = acc
        other = None if row.f else row.s
        if row.n is not None:
            counts[row.s] = 5
            if row.f:
                counts[other] = 3
            total += counts[row.s]
        return counts, total


def put(counts, key):
    counts[key] = 5
    return key


def fresh(key, flag):
    counts = {}
    counts[key] = 5
    if flag:
        return {"b": 5}
    return counts


def fresh_after(counts, key, flag):
    counts[key] = 3
    return fresh(key, flag)


class _LeaksOut(_Counts):
    """What another key has got on a path that leaves a block is read under the first one."""

    def zero(self):
        return 0

    def reduce(self, acc, row):
        counts = {}
        counts[row.s] = 1
        return acc + self.read(counts, row)

    def finish(self, acc):
        return acc


class LeaksByReturn(_LeaksOut):
    def read(self, counts, row):
        put(counts, row.t)
        return counts[row.s]


class LeaksByContinue(_LeaksOut):
    def read(self, counts, row):
        for _ in (0, 1):
            counts[row.t] = 5
            continue
        return counts[row.s]


class LeaksByBreak(_LeaksOut):
    def read(self, counts, row):
        for _ in (0, 1):
            counts[row.t] = 5
            if row.f:
                break
        return counts[row.s]


class LeaksByValue(_LeaksOut):
    def read(self, counts, row):
        return fresh_after(counts, row.t, row.f).get(row.s, 0)


class MayRaise(_Counts):
    """Whether it raises depends on what other keys hold."""

    def reduce(self, acc, row):
        acc[row.s] = 10 // (acc.get(row.s, 0) - 10)
        return acc


class Size(_Counts):
    def reduce(self, acc, row):
        acc[row.s] = 1
        return acc

    def finish(self, acc):
        return len(acc)


class Any(Size):
    def finish(self, acc):
        return 1 if acc else 0


class All(Size):
    def finish(self, acc):
        return sum(acc.values())


class NoneKey(Size):
    def finish(self, acc):
        return acc.get(None, 0)


class Lists(_Counts):
    def reduce(self, acc, row):
        if row.s not in acc:
            acc[row.s] = [0]
        acc[row.s][0] += 1
        return acc


class Numbers(_Counts):
    def reduce(self, acc, row):
        acc[row.n] = 1
        return acc


class BothKeys(_Counts):
    def reduce(self, acc, row):
        acc[row.s] = acc.get(None if row.f else row.s, 0) + 1
        return acc


class ManyKeys(_Counts):
    def reduce(self, acc, row):
        acc[row.s] = 1
        acc[row.t] = 1
        acc[row.s or "b"] = 1
        acc[row.t or "b"] = 1
        acc[row.s or row.t or "b"] = 1
        acc[row.t or row.s or "c"] = 1
        return acc

    def finish(self, acc):
        return acc.get("a", 0) + acc.get("b", 0) + acc.get("c", 0)


class Copies:
    def zero(self):
        return {}, {}

    def reduce(self, acc, row):
        counts, _ = acc
        counts[row.s] = 1
        return counts, counts

    def finish(self, acc):
        return acc[1].get("a", 0)


def in_the_head_of_the_loop(key, pdf: pd.DataFrame):
    values = {}
    values[key[0]] = pdf["n"]
    total = 0
    for x in values[key[0]]:
        total += x
    return pd.DataFrame({"o": [total]})


def by_its_first_text(pdf: pd.DataFrame) -> pd.DataFrame:
    values = {}
    values[pdf["s"].iloc[0]] = 1
    return pdf[pdf["n"] == values[pdf["s"].iloc[0]]]


def by_a_constant(pdf: pd.DataFrame) -> pd.DataFrame:
    values = {}
    values[pdf["s"].iloc[0]] = 1
    return pdf[pdf["n"] == values.get("a", 0)]
