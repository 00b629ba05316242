"""Functions that raise on some rows, as users write them. Pickled by value."""

# mypy: ignore-errors

from __future__ import annotations

import math

import pandas as pd
import pyarrow as pa

MONTHS = {"jan": 1, "feb": 2, "mar": 3}
CODES = {"a": 1, "b": 2, "7": 3}


def season(d):
    """Raises where the day is missing."""
    if d < 60:
        return 0
    return 1


def month_number(name):
    """Raises unless the name is one of those that are known."""
    if name == "jan":
        return 1
    if name == "feb":
        return 2
    if name < "n":
        raise ValueError(name)
    return 12


def share(n):
    """Raises on zero and on NULL."""
    return 100.0 / n


def checked(d):
    """Raises on a part of those it would let pass."""
    if d is None:
        return -1
    if 100 <= d < 200:
        raise ValueError(d)
    return d


def positive(d):
    if d is None or d < 0:
        raise ValueError(d)
    return True


def raising_last(d):
    """The largest values raise."""
    if d is not None and d > 300:
        raise ValueError(d)
    return 0 if d is None else d


def missing(d):
    return 1 if d is None else 0


def top_of(score: pd.Series) -> float:
    """Raises on scores that are too high to be."""
    best = 0.0
    for s in score:
        if s > 1000.0:
            raise ValueError(s)
        if s > best:
            best = s
    return best


def best_of(pdf):
    best = 0.0
    for s in pdf.score:
        if s > 1000.0:
            raise ValueError(s)
        if s > best:
            best = s
    return pd.DataFrame({"team": [pdf.team.iloc[0]], "best": [best]})


def arrow_best(table):
    best = 0.0
    for s in table.column("score").to_pylist():
        if s > 1000.0:
            raise ValueError(s)
        if s > best:
            best = s
    return pa.table({"best": pa.array([best], pa.float64())})


def at_the_end(score: pd.Series) -> float:
    """Raises of the greatest one, when all are seen."""
    best = 0.0
    for s in score:
        if s > best:
            best = s
    if best > 1000.0:
        raise ValueError(best)
    return best


def fair(score: pd.Series) -> int:
    """Counts, and raises on scores that the others take."""
    found = 0
    for s in score:
        if s > 1000.0:
            raise ValueError(s)
        if s > 50.0:
            found += 1
    return found


def high(score: pd.Series) -> float:
    """The greatest one, without an error."""
    best = 0.0
    for s in score:
        if s > best:
            best = s
    return best


class BestOf:
    """A table function that raises on scores that are too high to be."""

    def __init__(self):
        self.team = None
        self.best = 0.0

    def eval(self, row):
        if row["score"] > 1000.0:
            raise ValueError("score")
        self.team = row["team"]
        if row["score"] > self.best:
            self.best = row["score"]

    def terminate(self):
        yield self.team, self.best


def second(x, d):
    """The first argument does not matter."""
    return -1 if d is None else d


def total(x):
    return -1 if x is None else x


# Of the rows that no filter on these results keeps, some raise.


def inverse(n):
    return 1.0 / n


def rest(n):
    return 10 % n


def quotient(n, d):
    return n // d


def number(text):
    return int(text)


def initial(text):
    return text[0]


def logarithm(x):
    return math.log(x)


def root(x):
    return math.sqrt(x)


def code(text):
    return CODES[text]


def refused(n):
    if n is None:
        raise ValueError("nothing")
    return n * n


def above_zero(n):
    if n <= 0:
        raise ValueError(n)
    return 100 / n


def size(text):
    return len(text)


def later(day):
    return day.year


def nth(n):
    return ("a", "b", "c")[n]


def tagged(text, d):
    n = int(text)
    return n if d == 1 else None
