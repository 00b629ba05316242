"""Functions of whole groups, of batches and of rows, as users write them. Pickled by value."""

# mypy: ignore-errors
# ruff: noqa: B905

from __future__ import annotations

import datetime as dt

import pandas as pd


def top(score: pd.Series) -> float:
    best = 0.0
    for s in score:
        if s > best:
            best = s
    return best


def leading_top(score: pd.Series) -> float:
    best = None
    for s in score:
        if best is None or s > best:
            best = s
    return best


def builtin_top(score: pd.Series) -> float:
    return max(list(score))


def first_score(score: pd.Series) -> float:
    return score.iloc[0]


def first_of(v: pd.Series) -> int:
    first = None
    for x in v:
        if first is None:
            first = x
    return first


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


def largest(v: pd.Series) -> int:
    best = 0
    for x in v:
        if x > best:
            best = x
    return best


def largest_or_none(v: pd.Series) -> int:
    best = None
    for x in v:
        if x > 4 and (best is None or x > best):
            best = x
    return best


def strict_largest(v: pd.Series) -> int:
    best = 0
    for x in v:
        if x < 0:
            raise ValueError("negative")
        if x > best:
            best = x
    return best


def bounded(v: pd.Series) -> int:
    best = 0
    for x in v:
        if x > best and x <= 10:
            best = x
    return best


def big_squares(v: pd.Series) -> int:
    n = 0
    for x in v:
        if x * x > 100:
            n += 1
    return n


def as_text(pdf: pd.DataFrame) -> pd.DataFrame:
    return pd.DataFrame({"team": [pdf["team"].iloc[0]], "m": [str(max(pdf["v"]))]})


def as_int(pdf: pd.DataFrame) -> pd.DataFrame:
    return pd.DataFrame({"team": [pdf["team"].iloc[0]], "m": [int(max(pdf["v"]))]})


def top_with_size(pdf: pd.DataFrame) -> pd.DataFrame:
    best = 0
    for x in pdf["v"]:
        if x > best:
            best = x
    return pd.DataFrame({"team": [pdf["team"].iloc[0]], "m": [best], "n": [len(pdf)]})


def extremes(pdf: pd.DataFrame) -> pd.DataFrame:
    low = None
    high = None
    for x in pdf["v"]:
        if low is None or x < low:
            low = x
        if high is None or x > high:
            high = x
    return pd.DataFrame({"team": [pdf["team"].iloc[0]], "low": [low], "high": [high]})


def top_two(pdf: pd.DataFrame) -> pd.DataFrame:
    first = None
    second = None
    for row in pdf.itertuples(index=False):
        if first is None or row.score > first:
            second = first
            first = row.score
        elif second is None or row.score > second:
            second = row.score
    return pd.DataFrame({"team": [pdf["team"].iloc[0]], "first": [first], "second": [second]})


def minus_mean(pdf: pd.DataFrame) -> pd.DataFrame:
    return pdf.assign(score=pdf.score - pdf.score.mean())


def rewrites_key(pdf: pd.DataFrame) -> pd.DataFrame:
    best = 0
    name = "low"
    for x in pdf["v"]:
        if x > best:
            best = x
        if x > 10:
            name = "high"
    return pd.DataFrame({"team": [name], "m": [best]})


def minus_batch_minimum(batches):
    for pdf in batches:
        yield pdf.assign(v=pdf.v - pdf.v.min())


def same(batches):
    yield from batches


class FirstThree:
    """A table function that has seen enough after three rows of its partition."""

    def __init__(self):
        self.seen = 0

    def eval(self, row):
        self.seen += 1
        if self.seen > 3:
            from pyspark.sql.udtf import SkipRestOfInputTableException

            raise SkipRestOfInputTableException("enough")
        yield (row["v"],)


def errors(level: pd.Series) -> int:
    n = 0
    for x in level:
        if x == "error":
            n += 1
    return n


def no_errors(level: pd.Series) -> int:
    n = 0
    for x in level:
        if x != "error":
            n += 1
    return n


def missing_or_error(level: pd.Series) -> int:
    n = 0
    for x in level:
        if x is None or x == "error":
            n += 1
    return n


def errors_or_none(level: pd.Series) -> int:
    n = 0
    for x in level:
        if x in ("error", None):
            n += 1
    return n


def missing(level: pd.Series) -> int:
    n = 0
    for x in level:
        if x is None:
            n += 1
    return n


def not_five(v: pd.Series) -> int:
    n = 0
    for x in v:
        if x != 5:
            n += 1
    return n


def below_two_to_31(n: pd.Series) -> int:
    found = 0
    for x in n:
        if x < 2147483648:
            found += 1
    return found


def not_a_number(score: pd.Series) -> int:
    n = 0
    for x in score:
        if x != x:
            n += 1
    return n


def high_or_nan(score: pd.Series) -> int:
    n = 0
    for x in score:
        if x > 5 or x != x:
            n += 1
    return n


def early_high(i: pd.Series, v: pd.Series) -> int:
    n = 0
    for position, x in zip(i, v):
        if position <= 3 and x > 10:
            n += 1
    return n


LONG = "z" * 70


def beyond(level: pd.Series) -> int:
    n = 0
    for x in level:
        if x is not None and x > LONG:
            n += 1
    return n


def half(v):
    return v / 2


def square_is_big(v):
    return v * v > 100


COUNTER = [0]


def numbered(v):
    COUNTER[0] += 1
    return COUNTER[0]


def length(pdf: pd.DataFrame) -> pd.DataFrame:
    return pd.DataFrame({"team": [pdf["team"].iloc[0]], "n": [len(pdf)]})


LIMIT = dt.datetime(2020, 1, 1)


def latest_before(ts: pd.Series) -> dt.datetime:
    found = None
    for t in ts:
        if t < LIMIT and (found is None or t > found):
            found = t
    return found


def early_days(d: pd.Series) -> int:
    n = 0
    for x in d:
        if x is not None and x < dt.date(2020, 1, 1):
            n += 1
    return n


def not_negative(score: pd.Series) -> int:
    n = 0
    for x in score:
        if x >= 0:
            n += 1
    return n


def not_positive(score: pd.Series) -> int:
    n = 0
    for x in score:
        if x <= 0:
            n += 1
    return n


def zeros(score: pd.Series) -> int:
    n = 0
    for x in score:
        if x == 0:
            n += 1
    return n


def latest_day(d: pd.Series) -> dt.date:
    found = None
    for x in d:
        if found is None or x > found:
            found = x
    return found


def earliest(ts: pd.Series) -> dt.datetime:
    found = None
    for x in ts:
        if found is None or x < found:
            found = x
    return found
