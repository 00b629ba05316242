"""Folds that call functions and methods of their own, as a user writes them."""

# mypy: ignore-errors

from __future__ import annotations

import pandas as pd

LIMIT = 10


def larger(a, b):
    """The larger of two that may be None."""
    if a is None:
        return b
    if b is None:
        return a
    return a if a >= b else b


def size_of(x, small=0, *, big=LIMIT):
    if x is None:
        return "none"
    if x > big:
        return "big"
    if x <= small:
        return "small"
    return "middle"


def add_to(counts, name, by=1):
    counts[name] += by
    return counts[name]


def fresh(x):
    if x is None:
        return [0, 0]
    return [x, 1]


def checked(x):
    if x is None:
        raise ValueError("no value")
    return x


def ratio(total, count):
    return total / count if count else None


def largest(n: pd.Series) -> int:
    best = None
    for x in n:
        best = larger(best, x)
    return best


def banded(n):
    """With functions inside, of which one captures a parameter, and one calls the other."""
    low = 0 if n is None else n - 1

    def clip(x, top=LIMIT, *, bottom=0):
        if x is None:
            return bottom
        return min(max(x, bottom), top)

    def between(x, *others, **_):
        return low < clip(x) and all(low < clip(o, bottom=-5) for o in others)

    return between(n, 3, 4, unused=n), clip(n, 2)


def passes_an_object(n: pd.Series) -> int:
    """As a reason advises where the function would capture it."""
    counts = {"all": 0, "large": 0}

    def add(into, x):
        into["all"] += 1
        into["large"] += 1 if x is not None and x > LIMIT else 0
        return x

    for x in n:
        add(counts, x)
    return counts["all"] * 100 + counts["large"]


def reads_a_number(n: pd.Series) -> int:
    limit, total = 3, 0
    over = lambda x, by=limit: x is not None and x > limit + by  # noqa: E731
    for x in n:
        total += 1 if over(x) else 0
    return total


class Inner:
    """Functions inside of functions, which change what they capture."""

    def zero(self):
        return 0, 0

    def reduce(self, acc, row):
        seen = []

        def keep(x):
            seen.append(x)
            return len(seen)

        inside, clipped = banded(row.n)
        keep(clipped)
        count = keep(inside)

        def or_else(x, y=row.n):
            return x if y is None else y

        low = [x for x in seen]  # noqa: C416
        return acc[0] + (count if inside else or_else(clipped)), acc[1] + len(low)

    def merge(self, a, b):
        raise NotImplementedError

    def finish(self, acc):
        def total(pair):
            first, second = pair
            return first * 2 + second

        doubled = lambda x, by=2: x * by  # noqa: E731
        return total(acc), doubled(acc[1])


class Methods:
    """Methods of all three kinds, which call each other."""

    base = 2

    def zero(self):
        return self.start(), 0

    @staticmethod
    def start():
        return None

    def better(self, old, new):
        return self.pick(old, new) if new is not None else old

    @classmethod
    def pick(cls, old, new):
        return larger(old, new)

    def reduce(self, acc, row):
        best, middle = acc
        kind = size_of(row.n, self.base)
        return self.better(best, row.n), middle + (kind == "middle")

    def finish(self, acc):
        return acc


class Changed:
    """A helper that changes an object of its caller."""

    def zero(self):
        return {"small": 0, "middle": 0, "big": 0, "none": 0}

    def reduce(self, acc, row):
        kind = size_of(row.n, big=5)
        seen = add_to(acc, kind)
        if seen > 2:
            add_to(acc, "none", by=10)
        return acc

    def finish(self, acc):
        return acc


class Fresh:
    """A helper that makes a list, another one on each of its paths."""

    def zero(self):
        return [0, 0]

    def reduce(self, acc, row):
        more = fresh(row.n)
        more[0] += 1
        acc[0] += more[0]
        acc[1] += more[1]
        return acc

    def finish(self, acc):
        return acc[0], acc[1]


class Raising:
    """A helper that raises, asked on some paths only."""

    def zero(self):
        return 0

    def reduce(self, acc, row):
        if row.s == "a" and checked(row.n) > 3:
            return acc + 1
        return acc + (checked(row.n) if row.s == "b" else 0)


def mean_or_none(x: pd.Series) -> float:
    total, count = 0.0, 0
    for v in x:
        if v > 0:
            total += v
            count += 1
    return ratio(total, count)


def same(counts):
    return counts


class Alias:
    """What a helper returns is the very list that it was given."""

    def zero(self):
        return [0]

    def reduce(self, acc, row):
        other = same(acc)
        other[0] += 1
        acc[0] += 1 if row.n is None else 2
        return acc

    def finish(self, acc):
        return acc[0]


def changes(acc):
    acc[0] += 1
    return acc[0] % 3 > 0


class ChangesUnderCondition:
    """Whether the list is changed depends on the row."""

    def zero(self):
        return [1]

    def reduce(self, acc, row):
        if (row.n or 0) > 3 and changes(acc):
            return [acc[0] + 10]
        if row.n == 1 and not changes(acc):
            return [acc[0] + 10]
        return acc

    def finish(self, acc):
        return acc[0]


class ChangesInChoice(ChangesUnderCondition):
    def reduce(self, acc, row):
        done = changes(acc) if row.n == 1 else bool(row.n) and (changes(acc) or changes(acc))
        acc[0] += done
        return acc


class ChangesInChain(ChangesUnderCondition):
    def reduce(self, acc, row):
        acc[0] += 0 < (row.n or 2) < 1 + changes(acc) < 1 + changes(acc) + changes(acc)
        return acc


def positives(n):
    return (n > 0).sum()


def one_more(n: pd.Series) -> int:
    """How large a count of a called function's can get is known where it is called."""
    return positives(n) + 1


def _with_rest(first, *others, **named):
    return first + len(others) + named.get("more", 0)


class Starred:
    """Functions that take any number of arguments."""

    def zero(self):
        return 0

    def reduce(self, acc, row):
        more = {"more": 2}
        pair = (acc, 7)
        return _with_rest(*pair, **more) if row.n is None else _with_rest(acc, 1, 2)

    def finish(self, acc):
        return acc
