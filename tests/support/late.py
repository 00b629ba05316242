"""Folds of rows with notes. Pickled by value."""

# mypy: ignore-errors

from __future__ import annotations


class MaxLate:
    """The greatest number beside an urgent note."""

    def zero(self):
        return None

    def reduce(self, acc, row):
        if row.note is None or not row.note.startswith("urgent") or row.v is None:
            return acc
        return row.v if acc is None or row.v > acc else acc

    def finish(self, acc):
        return acc


class Largest:
    """The greatest number."""

    def zero(self):
        return None

    def reduce(self, acc, row):
        if row.v is None:
            return acc
        return row.v if acc is None or row.v > acc else acc

    def finish(self, acc):
        return acc


class Highest:
    """The greatest double."""

    def zero(self):
        return None

    def reduce(self, acc, row):
        if row.score is None:
            return acc
        return row.score if acc is None or row.score > acc else acc

    def finish(self, acc):
        return acc


class Many:
    """How many numbers are 10 or more."""

    def zero(self):
        return 0

    def reduce(self, acc, row):
        return acc + 1 if row.v is not None and row.v >= 10 else acc

    def finish(self, acc):
        return acc


class ManyLate:
    """How many numbers beside an urgent note are 10 or more."""

    def zero(self):
        return 0

    def reduce(self, acc, row):
        if row.note is None or not row.note.startswith("urgent"):
            return acc
        return acc + 1 if row.v is not None and row.v >= 10 else acc

    def finish(self, acc):
        return acc


class Last:
    """The latest time, and the number beside it."""

    def zero(self):
        return (None, None)

    def reduce(self, acc, row):
        t, _ = acc
        if row.v is None:
            return acc
        if t is None or row.v > t:
            return (row.v, row.w)
        return acc

    def finish(self, acc):
        return acc


def of_some(v):
    """Known where v is small."""
    if v is None or v < 10:
        return 0
    return int(str(v).expandtabs())
