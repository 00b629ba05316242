"""Folds whose state is a named tuple, a dataclass or an object, as a user writes them."""

# mypy: ignore-errors

from __future__ import annotations

import dataclasses
from collections import namedtuple
from dataclasses import dataclass, field, replace
from typing import NamedTuple

import pandas as pd

Pair = namedtuple("Pair", "low high")


class Best(NamedTuple):
    """A value and how often it came."""

    value: int | None = None
    times: int = 0

    def seen(self, value):
        if self.value is None or value > self.value:
            return Best(value, 1)
        return self._replace(times=self.times + 1) if value == self.value else self


@dataclass
class Tally:
    count: int = 0
    nones: int = 0
    last: int | None = None
    names: list = field(default_factory=list)

    def take(self, value):
        self.count += 1
        if value is None:
            self.nones += 1
            return self
        self.last = value
        return self


@dataclass(frozen=True)
class Span:
    first: int
    last: int

    @property
    def width(self):
        return self.last - self.first

    def with_point(self, x):
        return replace(self, first=min(self.first, x), last=max(self.last, x))


class Summary:
    """An object that keeps its state in ``self``."""

    LIMIT = 3

    def __init__(self, start=0):
        self.total = start
        self.large = 0
        self.reset()

    def reset(self):
        self.previous = None

    def add(self, x):
        if x is None:
            self.reset()
            return
        if self.previous is not None and x > self.previous:
            self.large += 1
        self.previous = x
        if abs(x) <= self.LIMIT:
            self.total += x

    def result(self):
        return self.large if self.total > 0 else -self.large


class Pairs:
    def zero(self):
        return Pair(None, None)

    def reduce(self, acc, row):
        if row.n is None:
            return acc
        low = row.n if acc.low is None else min(acc.low, row.n)
        high = row.n if acc.high is None else max(acc[1], row.n)
        return Pair(low, high=high)

    def finish(self, acc):
        low, high = acc
        return low, high


class Bests:
    def zero(self):
        return Best()

    def reduce(self, acc, row):
        return acc if row.n is None else acc.seen(row.n)


class Tallies:
    def zero(self):
        return Tally()

    def reduce(self, acc, row):
        acc.take(row.n)
        if acc.count > 3:
            acc.count -= 1
        return acc

    def finish(self, acc):
        return {"count": acc.count, "nones": acc.nones, "last": acc.last}


class Spans:
    """None until the first value."""

    def zero(self):
        return None

    def reduce(self, acc, row):
        if row.n is None:
            return acc
        if acc is None:
            return Span(row.n, last=row.n)
        return acc.with_point(row.n)

    def finish(self, acc):
        return dataclasses.astuple(acc) if acc is not None else (None, None)


class Plain:
    def zero(self):
        return Summary(1)

    def reduce(self, acc, row):
        acc.add(row.n)
        return acc

    def finish(self, acc):
        return acc.result()


class Absent:
    """An attribute of what may be None."""

    def zero(self):
        return None

    def reduce(self, acc, row):
        return Best(row.n, 1) if row.s == "a" else acc

    def finish(self, acc):
        return acc.times


class Compared:
    """Named tuples compare as tuples; a named tuple has a length and can be taken apart."""

    def zero(self):
        return Pair(0, 0), 0

    def reduce(self, acc, row):
        best, equal = acc
        here = Pair(row.a, row.b)
        if here == (1, 1) or here == best:
            equal += len(here)
        return max(best, here), equal

    def finish(self, acc):
        (low, high), equal = acc
        return low, high, equal


def summary(n: pd.Series) -> int:
    state = Summary()
    for x in n:
        state.add(x)
    return state.result()


@dataclass
class LongTally(Tally):
    """A dataclass with another one as its base: more fields, and a method of its own."""

    most: int = -1
    nones: int = 5

    def take(self, value):
        if value is not None and value > self.most:
            self.most = value
        return self.keep(value)

    def keep(self, value):
        self.count += 1
        self.last = value
        return self


class Inherited(Tallies):
    def zero(self):
        return LongTally(names=[])

    def finish(self, acc):
        return {"count": acc.count + acc.most, "nones": acc.nones, "last": acc.last}
