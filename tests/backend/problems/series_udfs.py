"""Functions of whole columns: from Series to Series."""

# mypy: ignore-errors

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pandas as pd


def taxed(score: pd.Series) -> pd.Series:
    return score * 1.25


def filled(score: pd.Series) -> pd.Series:
    return score.fillna(0.0)


def clipped(score: pd.Series) -> pd.Series:
    return score.clip(10.0, 90.0)


def high(score: pd.Series) -> pd.Series:
    return score > 90.0


def graded(score: pd.Series) -> pd.Series:
    return pd.Series(np.where(score >= 90.0, "top", "rest"))


def array_of_grades(score: pd.Series) -> pd.Series:
    return np.where(score >= 90.0, "top", "rest")


def labelled(score: pd.Series) -> pd.Series:
    limit = 50.0
    return (score > limit) | score.isna()


def both(score: pd.Series, v: pd.Series) -> pd.Series:
    return (score > 50.0) & (v > 3)


def itself(v: pd.Series) -> pd.Series:
    return v


def errors(level: pd.Series) -> pd.Series:
    return level.isin(["error", "fatal"])


def equal(level: pd.Series) -> pd.Series:
    return level == "error"


def batches(parts: Iterator[pd.Series]) -> Iterator[pd.Series]:
    for score in parts:
        yield score + 1.0


def pairs(parts: Iterator[tuple[pd.Series, pd.Series]]) -> Iterator[pd.Series]:
    for score, v in parts:
        yield (score > 50.0) & (v > 3)


# --- what is not a function of single rows, or not read ---------------------------------------


def centred(score: pd.Series) -> pd.Series:
    return score - score.mean()


def ranked(score: pd.Series) -> pd.Series:
    return score.rank()


def ordered(score: pd.Series) -> pd.Series:
    return score.sort_values()


def chosen(score: pd.Series) -> pd.Series:
    return score[score > 50.0]


def shifted(score: pd.Series) -> pd.Series:
    return score.shift(1)


def changed(score: pd.Series) -> pd.Series:
    score += 10.0
    return score


def running(parts: Iterator[pd.Series]) -> Iterator[pd.Series]:
    total = 0.0
    for score in parts:
        total += len(score)
        yield score + total


def plus_ten(score: pd.Series) -> pd.Series:
    """Changes what it is given, where it can."""
    if score.to_numpy().flags.writeable:
        score[:] = -1.0
    return score


def halves(v: pd.Series) -> pd.Series:
    return v.astype("float64") + 0.5


def above_two(y: pd.Series) -> pd.Series:
    return y > 2


LIMIT = 50.0


def by_lambda(score: pd.Series) -> pd.Series:
    low = 10.0
    return score.apply(lambda x: "high" if x > LIMIT else ("low" if x < low else "middle"))


def by_lambda_of_computed(score: pd.Series) -> pd.Series:
    return (score * 2.0).apply(lambda x: "high" if x > 2 * LIMIT else "low")


def by_lambda_of_lower(level: pd.Series) -> pd.Series:
    return level.fillna("none").map(lambda s: s.upper()[:1])


def one_grade(x: float) -> str | None:
    if np.isnan(x):
        return None
    return "top" if x >= 90 else "rest"


def by_function(score: pd.Series) -> pd.Series:
    return score.map(one_grade)


def of_text(level: pd.Series) -> pd.Series:
    return level.apply(lambda s: s is not None and s.lower().startswith("err"))


def of_numbers(v: pd.Series) -> pd.Series:
    return v.apply(lambda x: x + 1)


def of_digits(v: pd.Series) -> pd.Series:
    """A NULL in the batch makes other texts of all its numbers."""
    return v.apply(lambda x: str(x))


def one_over(score: pd.Series) -> pd.Series:
    return score.apply(lambda x: 1.0 / x)


def rated(v: pd.Series) -> pd.Series:
    return v.apply(lambda n: "high" if n >= 4 else str(n))


def with_none(score: pd.Series) -> pd.Series:
    return score.apply(lambda x: None if x > 50.0 else x)


def spelled(level: pd.Series) -> pd.Series:
    return level.str.strip().str.upper()
