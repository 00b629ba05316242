"""Grouping columns in folds and filters: conjuncts over keys alone go below as they are."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest
from tests.support.answers import Case, assert_answer, assert_same_results, assert_twins_refuted


class Best:
    """The largest value."""

    def zero(self) -> Any:
        return None

    def reduce(self, acc: Any, row: Any) -> Any:
        x = row["x"]
        return x if acc is None or x > acc else acc


class Named:
    """The largest value, and the group that it is of."""

    def zero(self) -> Any:
        return (None, None)

    def reduce(self, acc: Any, row: Any) -> Any:
        x = row["x"]
        return (row["g"], x) if acc[1] is None or x > acc[1] else acc


class AtHome:
    """The largest value in the region that the group is named after."""

    def zero(self) -> Any:
        return None

    def reduce(self, acc: Any, row: Any) -> Any:
        if row["region"] != row["g"]:
            return acc
        x = row["x"]
        return x if acc is None or x > acc else acc


class OverLimit:
    """How many values are over the limit of their group."""

    def zero(self) -> Any:
        return 0

    def reduce(self, acc: Any, row: Any) -> Any:
        if row["g"] == "a":
            return acc + 1 if row["x"] > 10 else acc
        return acc + 1 if row["x"] > 100 else acc


class AboveKey:
    """The largest value above a number that the group has."""

    def zero(self) -> Any:
        return None

    def reduce(self, acc: Any, row: Any) -> Any:
        x = row["x"]
        if x <= row["k"]:
            return acc
        return x if acc is None or x > acc else acc


class Between:
    """How many values lie between the number that the group has and another."""

    def zero(self) -> Any:
        return 0

    def reduce(self, acc: Any, row: Any) -> Any:
        x, k = row["x"], row["k"]
        if x is None or k is None or x <= k:
            return acc
        return acc + 1 if x < row["y"] else acc


GROUPS: dict[str, Sequence[object]] = {
    "g": ["a", "b", "x", "", None],
    "x": [9, 10, 11, 99, 100, 101, 200, 201, -1],
}
PLAIN: dict[str, Any] = {"schema": "g string, x bigint NOT NULL", "pools": GROUPS}

CASES: tuple[Case, ...] = (
    Case(
        name="a key and an output",
        fold=Best,
        where="g = 'a' AND m > 100",
        returns="m bigint",
        kind="exact",
        prefilter="g = 'a' AND x > 100",
        residual="true",
        twins=(("g = 'a' AND x > 101", None), ("x > 100", "true")),
        **PLAIN,
    ),
    Case(
        name="several keys and an output",
        fold=Best,
        where="g IN ('a', 'b') AND g <> 'c' AND m > 100",
        returns="m bigint",
        kind="exact",
        prefilter="g IN ('a', 'b') AND g <> 'c' AND x > 100",
        residual="true",
        twins=(("g IN ('a') AND x > 100", None), ("g IN ('a', 'b')", "m > 99")),
        **PLAIN,
    ),
    Case(
        name="a bound for each key",
        fold=Best,
        where="(g = 'a' AND m > 100) OR (g = 'b' AND m > 200)",
        returns="m bigint",
        kind="exact",
        prefilter="x > 100 AND (x > 200 OR g = 'a') AND g IN ('a', 'b')",
        residual="true",
        twins=(("x > 200 AND g IN ('a', 'b')", None), ("x > 100 AND g IN ('a', 'b')", "true")),
        **PLAIN,
    ),
    Case(
        name="a number among two keys",
        fold=Best,
        where="k >= 5 AND m > 100",
        schema="g string, k bigint, x bigint NOT NULL",
        returns="m bigint",
        keys="g,k",
        kind="exact",
        prefilter="k >= 5 AND x > 100",
        residual="true",
        pools={**GROUPS, "k": [4, 5, 6, None]},
        twins=(("k > 5 AND x > 100", None), ("x > 100", "true")),
    ),
    Case(
        name="an output that shows the key",
        fold=Named,
        where="m > 100 AND name = 'a'",
        returns="name string, m bigint",
        kind="exact",
        prefilter="x > 100 AND g = 'a'",
        residual="true",
        twins=(("x > 100 AND g = 'b'", None), ("x > 100", "true")),
        **PLAIN,
    ),
    Case(
        name="a limit for each key",
        fold=OverLimit,
        where="n >= 3",
        returns="n bigint",
        kind="partial",
        prefilter="x > 10 AND (x > 100 OR g = 'a')",
        twins=(("x > 100", None), ("x > 10", "n >= 2")),
        **PLAIN,
    ),
    Case(
        name="a limit for each key, of one key",
        fold=OverLimit,
        where="n >= 3 AND g = 'a'",
        returns="n bigint",
        kind="split",
        prefilter="g = 'a' AND x > 10 AND (x > 100 OR g = 'a')",
        residual="n >= 3",
        twins=(("g = 'a' AND x > 100", None), ("x > 10", "n >= 3")),
        **PLAIN,
    ),
    Case(
        name="a column against the key",
        fold=AtHome,
        where="m > 100",
        schema="g string, region string, x bigint NOT NULL",
        returns="m bigint",
        kind="exact",
        prefilter="((region IS NULL AND g IS NULL) OR region = g) AND x > 100",
        residual="true",
        pools={**GROUPS, "region": ["a", "b", "", None]},
        twins=(
            ("x > 100 AND region IS NOT NULL", None),
            ("x > 100", "true"),
            ("x > 100 AND region = g", "true"),
        ),
    ),
    Case(
        name="a number against the key",
        fold=AboveKey,
        where="m > 100",
        schema="k bigint NOT NULL, x bigint NOT NULL",
        returns="m bigint",
        keys="k",
        kind="exact",
        prefilter="x > 100 AND x > k",
        residual="true",
        pools={"k": [9, 99, 100, 101, 150], "x": [10, 99, 100, 101, 102, 151, 200]},
        twins=(("x > 100 AND k < 100", None), ("x > 100", "true"), ("x > 150", None)),
    ),
    Case(
        name="between the key and another column",
        fold=Between,
        where="n >= 2",
        schema="k bigint, x bigint, y bigint NOT NULL",
        returns="n bigint",
        keys="k",
        kind="partial",
        prefilter="x < y AND x IS NOT NULL AND k IS NOT NULL AND NOT ((x <= k) <=> true)",
        pools={"k": [9, 99, None], "x": [8, 9, 10, 99, 100, None], "y": [9, 10, 11, 101]},
        twins=(("x > k AND x < y AND y > 10", None), ("x < y", "n >= 1")),
        strength="universe",
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


@named
def test_wrong_twins(case: Case) -> None:
    assert_twins_refuted(case)


def test_an_output_compared_with_the_key_stays_above() -> None:
    schema = "k bigint NOT NULL, x bigint NOT NULL"
    assert_answer(Case("", Best, "m > k", schema, "m bigint", "none", keys="k"))
