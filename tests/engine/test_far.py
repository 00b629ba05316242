"""Filters that no short table passes: sums, two counters, counts within a flag, long streaks."""

from __future__ import annotations

from typing import Any

import pytest
from tests.support.answers import Case, assert_answer, assert_same_results, assert_twins_refuted


class Positive:
    """The sum of the positive amounts."""

    def zero(self) -> Any:
        return 0

    def reduce(self, acc: Any, row: Any) -> Any:
        return acc + row["x"] if row["x"] > 0 else acc


class Small:
    """The sum of small amounts: no row adds more than 100."""

    def zero(self) -> Any:
        return 0

    def reduce(self, acc: Any, row: Any) -> Any:
        if row["x"] is not None and 0 < row["x"] <= 100:
            return acc + row["x"]
        return acc


class SmallReal(Small):
    """The same of doubles."""

    def zero(self) -> Any:
        return 0.0


class SmallCounted:
    """Sum and number of small amounts."""

    def zero(self) -> Any:
        return (0, 0)

    def reduce(self, acc: Any, row: Any) -> Any:
        total, n = acc
        if row["x"] is not None and 0 < row["x"] <= 100:
            return (total + row["x"], n + 1)
        return acc


class Sales:
    """Revenue and number of the paid orders, and the number of refunds."""

    def zero(self) -> Any:
        return (0.0, 0, 0)

    def reduce(self, acc: Any, row: Any) -> Any:
        revenue, paid, refunds = acc
        if row["kind"] == "paid":
            return (revenue + row["amount"], paid + 1, refunds)
        if row["kind"] == "refund":
            return (revenue, paid, refunds + 1)
        return acc


class SinceStart:
    """How many errors came after the start, whatever the order of rows is."""

    def zero(self) -> Any:
        return (False, 0)

    def reduce(self, acc: Any, row: Any) -> Any:
        started, n = acc
        if row["event"] == "start":
            return (True, n)
        if started and row["event"] == "error":
            return (started, n + 1)
        return acc


class Streak:
    """The longest run of rows with ``up``, rows that do not say left out."""

    def zero(self) -> Any:
        return (0, 0)

    def reduce(self, acc: Any, row: Any) -> Any:
        best, current = acc
        if row["up"] is None:
            return acc
        current = current + 1 if row["up"] else 0
        return (max(best, current), current)

    def finish(self, acc: Any) -> Any:
        return acc[0]


class Points:
    """A hundred for a large one, one for a small one."""

    def zero(self) -> Any:
        return 0

    def reduce(self, acc: Any, row: Any) -> Any:
        if row["kind"] == "large":
            return acc + 100
        return acc + 1 if row["kind"] == "small" else acc


AMOUNTS: dict[str, Any] = {
    "schema": "g string, x bigint",
    "pools": {"x": [None, -5, 0, 1, 50, 99, 100, 100, 101, 1000]},
}
SMALL = "x > 0 AND x <= 100"

CASES: tuple[Case, ...] = (
    Case(
        name="a large sum",
        fold=Positive,
        where="s >= 1000000",
        schema="g string, x bigint NOT NULL",
        returns="s bigint",
        kind="partial",
        prefilter="x > 0",
        pools={"x": [-1000000, -1, 0, 1, 500000, 999999, 1000000]},
        twins=(("x > 1", None), ("x >= 1000000", None), ("x > 0", "s > 0")),
    ),
    Case(
        name="a sum of small amounts",
        fold=Small,
        where="s >= 20000",
        returns="s bigint",
        kind="partial",
        prefilter=SMALL,
        twins=(("x > 0 AND x < 100", None), ("x > 1 AND x <= 100", None)),
        strength="regions",
        longest=600,
        **AMOUNTS,
    ),
    Case(
        name="a sum of small amounts that takes more rows than a witness may have",
        fold=Small,
        where="s >= 1000000",
        returns="s bigint",
        kind="partial",
        prefilter=SMALL,
        strength="universe",
        reached=0,
        **AMOUNTS,
    ),
    Case(
        name="a sum of small doubles",
        fold=SmallReal,
        where="s >= 1000000",
        schema="g string, x double",
        returns="s double",
        kind="partial",
        prefilter="x > 0.0D AND x <= 100.0D",
        pools={"x": [None, -5.0, 0.0, -0.0, 0.5, 99.5, 100.0, 100.5]},
        strength="universe",
        reached=0,
    ),
    Case(
        name="sum and count",
        fold=SmallCounted,
        where="s >= 10000 AND n >= 50",
        returns="s bigint, n bigint",
        kind="partial",
        prefilter=SMALL,
        strength="universe",
        longest=400,
        **AMOUNTS,
    ),
    Case(
        name="sum and two counts",
        fold=Sales,
        where="paid >= 50 AND refunds >= 20 AND revenue >= 1000",
        schema="g string, kind string, amount double NOT NULL",
        returns="revenue double, paid bigint, refunds bigint",
        kind="partial",
        prefilter="kind IN ('paid', 'refund')",
        pools={
            "kind": ["paid", "paid", "refund", "other", None],
            "amount": [0.0, -1.0, 10.0, 100.0, 1000.0],
        },
        twins=(
            ("kind = 'paid'", None),
            ("kind IN ('paid', 'refund')", "paid >= 50 AND refunds >= 20"),
        ),
        longest=250,
    ),
    Case(
        name="a count within a flag",
        fold=SinceStart,
        where="started AND n >= 30",
        schema="g string, event string",
        returns="started boolean, n bigint",
        kind="split",
        prefilter="event IN ('error', 'start')",
        residual="n >= 30",
        pools={"event": ["start", "error", "error", "error", "other", None]},
        twins=(("event = 'error'", None), ("event IN ('error', 'start')", "started AND n >= 29")),
        longest=90,
    ),
    Case(
        name="a long streak",
        fold=Streak,
        where="best >= 1000000",
        schema="g string, up boolean",
        returns="best bigint",
        kind="partial",
        prefilter="up IS NOT NULL",
        pools={"up": [True, True, True, False, None]},
        strength="universe",
        reached=0,
    ),
    Case(
        name="points of two sizes",
        fold=Points,
        where="s >= 1000",
        schema="g string, kind string",
        returns="s bigint",
        kind="partial",
        prefilter="kind IN ('large', 'small')",
        pools={"kind": ["large", "small", "small", "", None]},
        twins=(("kind = 'large'", None), ("kind IN ('large', 'small')", "s >= 999")),
        longest=40,
        strength="regions",
    ),
)
named = pytest.mark.parametrize("case", CASES, ids=str)
with_twins = pytest.mark.parametrize("case", [c for c in CASES if c.twins], ids=str)


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
@with_twins
def test_wrong_twins(case: Case) -> None:
    assert_twins_refuted(case)
