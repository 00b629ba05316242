"""Functions of whole groups that the tests run. Pickled by value, so that workers need no path."""

# mypy: ignore-errors
# Users write such functions without thinking of stubs; their text is what is lifted.

from __future__ import annotations

import math
import time

import pandas as pd


def top(score: pd.Series) -> float:
    best = 0.0
    for s in score:
        if s > best:
            best = s
    return best


def count(v: pd.Series) -> int:
    n = 0
    for _x in v:
        n += 1
    return n


def count_high(v: pd.Series) -> int:
    n = 0
    for x in v:
        if x > 10:
            n += 1
    return n


def errors(level: pd.Series) -> int:
    n = 0
    for x in level:
        if x == "error":
            n += 1
    return n


def null_or_high(level: pd.Series) -> int:
    n = 0
    for x in level:
        if x is None or x > "m":
            n += 1
    return n


def big_squares(v: pd.Series) -> int:
    n = 0
    for x in v:
        if x * x > 100:
            n += 1
    return n


def largest(v: pd.Series) -> int:
    return int(v.max())


def strict_max(v: pd.Series) -> int:
    best = 0
    for x in v:
        if x < 0:
            raise ValueError("negative")
        if x > best:
            best = x
    return best


def bounded(v: pd.Series) -> int:
    """Never more than ten."""
    best = 0
    for x in v:
        if x > best and x <= 10:
            best = x
    return best


def top2(pdf: pd.DataFrame) -> pd.DataFrame:
    first = None
    second = None
    for row in pdf.itertuples(index=False):
        if first is None or row.score > first:
            second = first
            first = row.score
        elif second is None or row.score > second:
            second = row.score
    return pd.DataFrame({"team": [pdf["team"].iloc[0]], "first": [first], "second": [second]})


def top_with_key(key, pdf: pd.DataFrame) -> pd.DataFrame:
    best = 0
    for v in pdf["v"]:
        if v > best:
            best = v
    return pd.DataFrame({"team": [key[0]], "best": [best]})


def rewrites_key(pdf: pd.DataFrame) -> pd.DataFrame:
    best = 0
    name = "low"
    for row in pdf.itertuples(index=False):
        if row.v > best:
            best = row.v
            name = "high"
    return pd.DataFrame({"team": [name], "best": [best]})


def minus_mean(pdf: pd.DataFrame) -> pd.DataFrame:
    return pdf.assign(score=pdf.score - pdf.score.mean())


def clock(v: pd.Series) -> float:
    best = 0.0
    for _x in v:
        best = time.time()
    return best


SEEN = 0


def global_write(v: pd.Series) -> int:
    global SEEN
    n = 0
    for _x in v:
        SEEN += 1
        n += 1
    return n


def unknown_call(v: pd.Series) -> int:
    n = 0
    for x in v:
        n = math.perm(n, x)
    return n


def without_source():
    """A function whose text is nowhere."""
    namespace = {}
    exec("def hidden(v):\n    n = 0\n    for x in v:\n        n += 1\n    return n\n", namespace)
    return namespace["hidden"]


def latest(score: pd.Series) -> float:
    last = 0.0
    for s in score:
        last = s
    return last


def normalize(level: str | None) -> str:
    return "".join(c for c in (level or "none") if c.isalpha()).casefold()


def weight(score: float, v: int) -> float:
    return round(score * 2 + v, 2)


def high_errors(level: pd.Series, v: pd.Series) -> int:
    n = 0
    for name, x in zip(level, v, strict=True):
        if normalize(name) == "error" and x >= 5:
            n += 1
    return n


def heaviest(pdf: pd.DataFrame) -> pd.DataFrame:
    best = None
    level = None
    for row in pdf.itertuples():
        if row.v > 10:
            w = weight(row.score, row.v)
            if best is None or w > best:
                best = w
                level = normalize(row.level)
    return pd.DataFrame({"team": [pdf["team"].iloc[0]], "w": [best], "level": [level]})
