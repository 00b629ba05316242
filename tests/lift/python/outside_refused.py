"""Lists and dicts from outside that are changed, and other code that must be declined."""

# mypy: ignore-errors

from __future__ import annotations

WEIGHTS = {"a": 1, "b": 5}
NAMES = ["a", "b", "x"]


class Telling(ValueError):
    def __init__(self):
        NAMES.append("seen")


class _Fold:
    def zero(self):
        return 0


class ChangesDict(_Fold):
    def reduce(self, acc, row):
        WEIGHTS["a"] += 1
        return acc


class ChangesAlias(_Fold):
    def reduce(self, acc, row):
        weights = WEIGHTS
        weights["a"] = 3
        return acc + WEIGHTS["a"]


class ChangesList(_Fold):
    def reduce(self, acc, row):
        NAMES.append("x")
        return acc + len(NAMES)


class InState:
    def zero(self):
        return WEIGHTS

    def reduce(self, acc, row):
        return acc

    def finish(self, acc):
        return acc["a"]


class SometimesNamed(_Fold):
    def reduce(self, acc, row):
        n = 1
        if row.f and (n := row.n) is None:
            return acc
        return acc + n


class NamedInside(_Fold):
    def reduce(self, acc, row):
        found = [n := k for k in (1, 2)]
        return acc + n + found[0]


class ListKey(_Fold):
    def reduce(self, acc, row):
        return acc + WEIGHTS.get([1], 0)


class OwnError(_Fold):
    def reduce(self, acc, row):
        if row.f:
            raise Telling
        return acc
