"""Classes that call functions of their own in a way that must be declined."""

# mypy: ignore-errors

from __future__ import annotations

import functools


class _Count:
    def zero(self):
        return 0


def changes(counts):
    counts[0] += 1
    return True


def endless(n):
    return endless(n + 1) if n else 0


def one_of(a, b, n):
    return a if n else b


def one_or(a, b, n):
    if n:
        return a
    return b


def outer(n):
    def inner():
        return n

    return inner()


@functools.lru_cache
def cached(n):
    return n


class Endless(_Count):
    def reduce(self, acc, row):
        return endless(row.n)


class OneOrTheOther(_Count):
    def zero(self):
        return [0], [1]

    def reduce(self, acc, row):
        a, b = acc
        chosen = one_of(a, b, row.s == "a")
        chosen[0] += 1
        return acc

    def finish(self, acc):
        return acc[0][0]


class EitherWay(OneOrTheOther):
    def reduce(self, acc, row):
        a, b = acc
        chosen = one_or(a, b, row.s == "a")
        chosen[0] += 1
        return acc


class Inner(_Count):
    def reduce(self, acc, row):
        return outer(row.n)


class Cached(_Count):
    def reduce(self, acc, row):
        return cached(acc)


class TooMany(_Count):
    def reduce(self, acc, row):
        return changes(acc, 1)


class OnInstance(_Count):
    """Calls what is no method of its class."""

    step = 1

    def reduce(self, acc, row):
        return self.step(acc)


class Computing(_Count):
    """What its attributes are is computed."""

    def __getattribute__(self, name):
        return object.__getattribute__(self, name)

    def more(self, acc):
        return acc + 1

    def reduce(self, acc, row):
        return self.more(acc)


class ChangesNumberedItems(_Count):
    """A dict with numbers as keys that is changed after it was written."""

    def reduce(self, acc, row):
        points = {1: 10, 2: 20}
        points[3] = row["n"]
        return acc + points.get(row["n"], 0)


class UpdatesNumberedItems(_Count):
    def reduce(self, acc, row):
        points = {1: [10], 2: [20]}
        points[1].append(row["n"])
        return acc + len(points[1])


REFUSED = [
    (ChangesNumberedItems, "mutation", ""),
    (UpdatesNumberedItems, "mutation", ""),
    (Endless, "unsupported-expression", "calls itself"),
    (OneOrTheOther, "mixed-types", "in one variable"),
    (EitherWay, "mutation", "which object a call returns"),
    (Inner, "unsupported-statement", "is defined inside"),
    (Cached, "unknown-call", "nothing is known of cached"),
    (TooMany, "always-raises", "other arguments"),
    (OnInstance, "unknown-call", ".step()"),
    (Computing, "unknown-call", ".more()"),
]
