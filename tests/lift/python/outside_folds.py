"""Folds that look things up in lists and dicts from outside, name values with ``:=``, ask ``is
True``, raise errors of their own, and take the least or greatest of several.
"""

# mypy: ignore-errors

from __future__ import annotations

import math

WEIGHTS = {"a": 1, "b": 5}
LEVELS = {1: "low", 2: "middle", 10: None}
PAIRS = {(1, "a"): 3, (2, "b"): 4}
MIXED = {"a": 1.5, "b": 2, None: 7.0}
STEPS = [[0, 1], [5, 2]]
NAMES = ["a", "b", "x"]
NOTHING = {}


class BadRow(ValueError):
    pass


class _Fold:
    def zero(self):
        return 0

    def finish(self, acc):
        return acc


class Weights(_Fold):
    def reduce(self, acc, row):
        acc += WEIGHTS.get(row.s, 0) + (WEIGHTS.get(row.s) or 2) + len(WEIGHTS)
        acc += 100 * (row.s in WEIGHTS) + (row.s not in WEIGHTS) + (10 if WEIGHTS else 20)
        return acc + NOTHING.get(row.s, 4) + (row.s in NOTHING) + (1 if not NOTHING else 2)


class Strict(_Fold):
    """KeyError for a text that is no key."""

    def reduce(self, acc, row):
        return acc + WEIGHTS[row.s]


class OtherKeys:
    def zero(self):
        return None, None, 0, 0.0

    def reduce(self, acc, row):
        level, at, pairs, total = acc
        level = LEVELS.get(row.n, level)
        at = LEVELS.get(row.x) if row.f else LEVELS.get(row.f)
        pairs += PAIRS.get((row.n, row.s), 0)
        return level, at, pairs, total + MIXED.get(row.s, 0.5)

    def finish(self, acc):
        return acc


class Lists:
    def zero(self):
        return 0, ""

    def reduce(self, acc, row):
        total, name = acc
        for limit, weight in STEPS:
            if row.n is not None and row.n > limit:
                total += weight
        first, _ = STEPS[1]
        name = NAMES[-1] if row.f else NAMES[0]
        return total + first * STEPS[0][1] + (row.s in NAMES), name


class OfClass(_Fold):
    weights = {"a": 2}  # noqa: RUF012
    limits = (3, 1)

    def __init__(self):
        self.extra = {"b": [4, 5]}

    def reduce(self, acc, row):
        acc += self.weights.get(row.s, 0) + self.extra["b"][1]
        return acc + sum(1 for x in self.limits if row.f or x > 1)


class Named(_Fold):
    def reduce(self, acc, row):
        if (n := row.n) is not None and n > 3:
            return acc + n
        if m := WEIGHTS.get(row.s):
            acc += m
        return acc - (m or 0) * 2


class Truths(_Fold):
    def reduce(self, acc, row):
        acc += (row.f is True) + 2 * (row.f is False) + 4 * (row.f is not True)
        return acc + 8 * (row.n is True) + 16 * (None is False) + 32 * ((row.s == "a") is True)


class Errors(_Fold):
    def reduce(self, acc, row):
        if row.s == "b":
            raise BadRow(f"bad {row.s}") from None
        if row.n == 0:
            raise BadRow
        return acc + 1


class Floats:
    def zero(self):
        return 0, -math.inf

    def reduce(self, acc, row):
        count, most = acc
        count += math.isfinite(row.x)
        return count, max(most, math.fabs(row.x))


class WholeQuotients(_Fold):
    """``//`` and ``%`` of doubles: NaN of infinity."""

    def zero(self):
        return 0, 0

    def reduce(self, acc, row):
        steps, odd = acc
        steps += (row.x // 2.5 >= 1) + (row.x // 3 < -1) + (row.x // 0.1 == 0)
        return steps, odd + (row.x % 1 == 0) + (row.x % 0.5 > 0.25)


class Extremes:
    def zero(self):
        return 0, 0, None

    def reduce(self, acc, row):
        most, least, last = acc
        most = max(x for x in (row.n, most) if x is not None)
        least = min([least, row.m, 3])
        last = max((x for x in (row.n, row.m) if x is not None and x > 5), default=None)
        return most, least, last


class ExtremeOfNone(_Fold):
    """ValueError where nothing is left."""

    def reduce(self, acc, row):
        return acc + max(x for x in (row.n, 3) if x is not None and x > 5)


class ExtremeFloats:
    def zero(self):
        return 0.0, 0.0

    def reduce(self, acc, row):
        most, least = acc
        most = max([row.x, most, 1.0])
        return most, min((x for x in (least, row.y, row.x) if x is not None), default=0.0)
