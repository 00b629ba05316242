"""The k best of a group, k up to five: filters on the last, on two of them, on sums."""

from __future__ import annotations

import math
from typing import Any

import pytest
from tests.support.answers import Case, assert_answer, assert_same_results, assert_twins_refuted


class Top1:
    """The best score."""

    def zero(self) -> Any:
        return None

    def reduce(self, acc: Any, row: Any) -> Any:
        return row["score"] if acc is None or row["score"] > acc else acc


class Top2:
    """The two best."""

    def zero(self) -> Any:
        return (None, None)

    def reduce(self, acc: Any, row: Any) -> Any:
        s1, s2 = acc
        x = row["score"]
        if s1 is None or x > s1:
            return (x, s1)
        if s2 is None or x > s2:
            return (s1, x)
        return acc


class Top3:
    """The three best."""

    def zero(self) -> Any:
        return (None, None, None)

    def reduce(self, acc: Any, row: Any) -> Any:
        s1, s2, s3 = acc
        x = row["score"]
        if s1 is None or x > s1:
            return (x, s1, s2)
        if s2 is None or x > s2:
            return (s1, x, s2)
        if s3 is None or x > s3:
            return (s1, s2, x)
        return acc


class Top4:
    """The four best."""

    def zero(self) -> Any:
        return (None, None, None, None)

    def reduce(self, acc: Any, row: Any) -> Any:
        s1, s2, s3, s4 = acc
        x = row["score"]
        if s1 is None or x > s1:
            return (x, s1, s2, s3)
        if s2 is None or x > s2:
            return (s1, x, s2, s3)
        if s3 is None or x > s3:
            return (s1, s2, x, s3)
        if s4 is None or x > s4:
            return (s1, s2, s3, x)
        return acc


class Top5:
    """The five best."""

    def zero(self) -> Any:
        return (None, None, None, None, None)

    def reduce(self, acc: Any, row: Any) -> Any:
        s1, s2, s3, s4, s5 = acc
        x = row["score"]
        if s1 is None or x > s1:
            return (x, s1, s2, s3, s4)
        if s2 is None or x > s2:
            return (s1, x, s2, s3, s4)
        if s3 is None or x > s3:
            return (s1, s2, x, s3, s4)
        if s4 is None or x > s4:
            return (s1, s2, s3, x, s4)
        if s5 is None or x > s5:
            return (s1, s2, s3, s4, x)
        return acc


class Distinct3:
    """The three best different ones."""

    def zero(self) -> Any:
        return (None, None, None)

    def reduce(self, acc: Any, row: Any) -> Any:
        s1, s2, s3 = acc
        x = row["score"]
        if x is None:
            return acc
        if x in (s1, s2, s3):
            return acc
        if s1 is None or x > s1:
            return (x, s1, s2)
        if s2 is None or x > s2:
            return (s1, x, s2)
        if s3 is None or x > s3:
            return (s1, s2, x)
        return acc


class Distinct5:
    """The five best different ones."""

    def zero(self) -> Any:
        return (None, None, None, None, None)

    def reduce(self, acc: Any, row: Any) -> Any:
        s1, s2, s3, s4, s5 = acc
        x = row["score"]
        if x is None:
            return acc
        if x == s1 or x == s2 or x == s3 or x == s4 or x == s5:  # noqa: SIM109 -- floats
            return acc
        if s1 is None or x > s1:
            return (x, s1, s2, s3, s4)
        if s2 is None or x > s2:
            return (s1, x, s2, s3, s4)
        if s3 is None or x > s3:
            return (s1, s2, x, s3, s4)
        if s4 is None or x > s4:
            return (s1, s2, s3, x, s4)
        if s5 is None or x > s5:
            return (s1, s2, s3, s4, x)
        return acc


class Bubble5:
    """The five best of those that are there, each pushed down by the next better one."""

    def zero(self) -> Any:
        return (None, None, None, None, None)

    def reduce(self, acc: Any, row: Any) -> Any:
        s1, s2, s3, s4, s5 = acc
        x = row["score"]
        if x is None:
            return acc
        if s1 is None or x > s1:
            s1, x = x, s1
        if x is not None and (s2 is None or x > s2):
            s2, x = x, s2
        if x is not None and (s3 is None or x > s3):
            s3, x = x, s3
        if x is not None and (s4 is None or x > s4):
            s4, x = x, s4
        if x is not None and (s5 is None or x > s5):
            s5 = x
        return (s1, s2, s3, s4, s5)


class Shift5:
    """The five best positive ones, zero where there are fewer."""

    def zero(self) -> Any:
        return (0.0, 0.0, 0.0, 0.0, 0.0)

    def reduce(self, acc: Any, row: Any) -> Any:
        s1, s2, s3, s4, s5 = acc
        x = row["score"]
        if x > s1:
            s1, s2, s3, s4, s5 = x, s1, s2, s3, s4
        elif x > s2:
            s2, s3, s4, s5 = x, s2, s3, s4
        elif x > s3:
            s3, s4, s5 = x, s3, s4
        elif x > s4:
            s4, s5 = x, s4
        elif x > s5:
            s5 = x
        return (s1, s2, s3, s4, s5)


class Total5(Shift5):
    """The sum of the five best, and the fifth."""

    def finish(self, acc: Any) -> Any:
        s1, s2, s3, s4, s5 = acc
        return (s1 + s2 + s3 + s4 + s5, s5)


class Named2:
    """Names and scores of the two best."""

    def zero(self) -> Any:
        return (None, None, None, None)

    def reduce(self, acc: Any, row: Any) -> Any:
        n1, s1, _n2, s2 = acc
        x = row["score"]
        if x is None:
            return acc
        if s1 is None or x > s1:
            return (row["name"], x, n1, s1)
        if s2 is None or x > s2:
            return (n1, s1, row["name"], x)
        return acc


INTS = "g string, score bigint NOT NULL"
DOUBLES = "g string, score double"
SCORES = {"score": [89, 90, 91, 94, 95, 96, 97, 98, 99, -1]}
FLOATS = {"score": [*map(float, SCORES["score"]), math.inf, -math.inf, -0.0, 89.5, None]}


def _returns(k: int, type_: str = "bigint") -> str:
    return ", ".join(f"s{i} {type_}" for i in range(1, k + 1))


def _last(k: int, fold: type) -> Case:
    """The k-th is at least 90."""
    return Case(
        f"top {k}, the last",
        fold,
        f"s{k} >= 90",
        INTS,
        _returns(k),
        "split" if k > 1 else "exact",
        "score >= 90",
        f"s{k} IS NOT NULL" if k > 1 else "true",
        SCORES,
        (("score >= 91", None), ("score > 90", None)),
    )


def _two(k: int, fold: type, other: str) -> Case:
    """Another of the k is at least 95, and the k-th at least 90."""
    return Case(
        f"top {k}, {other} and the last",
        fold,
        f"{other} >= 95 AND s{k} >= 90",
        INTS,
        _returns(k),
        "split",
        "score >= 90",
        f"{other} >= 95 AND s{k} IS NOT NULL",
        SCORES,
        (("score >= 95", None), ("score >= 90", f"s{k} IS NOT NULL")),
    )


CASES: tuple[Case, ...] = (
    *(_last(k, fold) for k, fold in enumerate((Top1, Top2, Top3, Top4, Top5), 1)),
    *(_two(k, fold, "s1") for k, fold in enumerate((Top2, Top3, Top4, Top5), 2)),
    _two(5, Top5, "s3"),
    Case(
        "different top 3",
        Distinct3,
        "s3 >= 90",
        "g string, score bigint",
        _returns(3),
        "split",
        "score >= 90",
        "s3 IS NOT NULL",
        {"score": [*SCORES["score"], None]},
        (("score >= 91", None), ("score >= 90", "s2 IS NOT NULL")),
    ),
    Case(
        "different top 5",
        Distinct5,
        "s5 >= 90",
        DOUBLES,
        _returns(5, "double"),
        "split",
        "score >= 90.0D",
        "s5 IS NOT NULL",
        FLOATS,
        (("score >= 91", None), ("score >= 90", "s4 IS NOT NULL")),
        longest=12,
        strength="regions",
    ),
    Case(
        "top 5 by exchanges",
        Bubble5,
        "s5 >= 90",
        DOUBLES,
        _returns(5, "double"),
        "split",
        "score >= 90.0D",
        "s5 IS NOT NULL",
        FLOATS,
        (("score > 90", None), ("score >= 90", "s4 IS NOT NULL")),
    ),
    Case(
        "top 5 equal",
        Bubble5,
        "s5 = 90",
        DOUBLES,
        _returns(5, "double"),
        "split",
        "score >= 90.0D",
        "s5 <= 90.0D",
        FLOATS,
        (("score = 90", None), ("score >= 90", "s5 <= 91")),
        longest=7,
    ),
    Case(
        "three of top 5",
        Bubble5,
        "s1 >= 99 AND s3 >= 95 AND s5 >= 90",
        DOUBLES,
        _returns(5, "double"),
        "split",
        "score >= 90.0D",
        "s1 >= 99.0D AND s3 >= 95.0D AND s5 IS NOT NULL",
        FLOATS,
        (("score >= 95", None), ("score >= 90", "s1 >= 99 AND s5 IS NOT NULL")),
    ),
    Case(
        "top 5 from zero",
        Shift5,
        "s1 >= 95 AND s5 >= 90",
        "g string, score double NOT NULL",
        _returns(5, "double"),
        "split",
        "score >= 90.0D AND NOT isnan(score)",
        "s1 >= 95.0D AND s5 <> 0.0D",
        {"score": [x for x in FLOATS["score"] if x is not None]},
        (("score >= 91", None), ("score >= 90 AND NOT isnan(score)", "s5 <> 0")),
    ),
    Case(
        "two of top 5 together",
        Shift5,
        "s1 + s5 >= 180",
        "g string, score double NOT NULL",
        _returns(5, "double"),
        "partial",
        "score > 0.0D AND NOT isnan(score)",
        None,
        {"score": [x for x in FLOATS["score"] if x is not None]},
        (("score > 1", None), ("score > 0 AND NOT isnan(score)", "s1 >= 90")),
    ),
    Case(
        "names of two",
        Named2,
        "s1 >= 95 AND s2 >= 90 AND n1 = 'x'",
        "g string, name string, score bigint",
        "n1 string, s1 bigint, n2 string, s2 bigint",
        "split",
        "score >= 90",
        "s1 >= 95 AND s2 IS NOT NULL AND n1 = 'x'",
        {**SCORES, "name": ["x", "y", "", None]},
        (("score >= 90 AND name = 'x'", None), ("score >= 95", None)),
    ),
    Case(
        "all of top 5 together",
        Total5,
        "total >= 400 AND fifth >= 60",
        "g string, score double NOT NULL",
        "total double, fifth double",
        "split",
        "score >= 60.0D AND NOT isnan(score)",
        "total >= 400.0D AND fifth <> 0.0D",
        {"score": [0.0, -1.0, 59.0, 60.0, 61.0, 80.0, 100.0, 150.0, math.inf]},
        (("score > 60", None), ("score >= 60 AND NOT isnan(score)", "total >= 400")),
    ),
)

named = pytest.mark.parametrize("case", CASES, ids=str)


@pytest.mark.costly
@named
def test_answer(case: Case) -> None:
    assert_answer(case)


@pytest.mark.costly
@pytest.mark.random
@named
def test_random_tables(case: Case) -> None:
    assert_same_results(case)


@pytest.mark.costly
@named
def test_wrong_twins(case: Case) -> None:
    assert_twins_refuted(case)
