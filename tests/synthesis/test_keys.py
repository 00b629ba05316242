"""Grouping columns in filters and steps: alone, beside outputs, and mixed with them."""

from __future__ import annotations

import math
from random import Random
from typing import Any

import pandas as pd
import pytest
from tests.support.synthesis.running import RAISES, Row, equal, pipeline

from presieve.certificate import Verified, check
from presieve.driver.synthesize import synthesize
from presieve.driver.verify import verify

SCHEMA = "g string, x bigint NOT NULL"


class Best:
    def zero(self) -> int | None:
        return None

    def reduce(self, best: int | None, row: dict[str, int]) -> int | None:
        x = row["x"]
        if best is None or x > best:
            return x
        return best


class CountOfGroupA:
    def zero(self) -> int:
        return 0

    def reduce(self, n: int, row: dict[str, object]) -> int:
        if row["g"] == "a" and row["x"] > 5:  # type: ignore[operator]
            return n + 1
        return n


CASES = [
    (Best, "o > 90 OR g = 'a'", "exact", "x > 90 OR g = 'a'"),
    (Best, "o > 90 OR g > 'a'", "exact", "x > 90 OR g > 'a'"),
    (Best, "(o > 90 OR g = 'a') AND g <> 'z'", "exact", "g <> 'z' AND (x > 90 OR g = 'a')"),
    (Best, "o > 90 AND g IN ('a', 'b')", "exact", "g IN ('a', 'b') AND x > 90"),
    (Best, "o < 90 OR g = 'a'", "none", "true"),
    (CountOfGroupA, "o >= 3", "partial", "x > 5 AND g = 'a'"),
    (CountOfGroupA, "o < 3", "none", "true"),
]


@pytest.mark.parametrize(("fold", "where", "kind", "prefilter"), CASES)
def test_answer(fold: type, where: str, kind: str, prefilter: str) -> None:
    found = synthesize(fold, where, schema=SCHEMA, returns="o bigint", keys="g")
    assert (found.kind, found.prefilter) == (kind, prefilter)
    if found.certificate is not None:
        assert isinstance(check(found.certificate), Verified)
        assert isinstance(check(found.certificate, "cvc5"), Verified)


@pytest.mark.costly
@pytest.mark.parametrize(("fold", "where", "kind", "prefilter"), CASES)
def test_random_groups(fold: type, where: str, kind: str, prefilter: str) -> None:
    found = synthesize(fold, where, schema=SCHEMA, returns="o bigint", keys="g")
    job = pipeline(fold, SCHEMA, "o bigint")
    before = job.predicate("where", where)
    below = job.predicate("prefilter", found.prefilter)
    above = job.predicate("residual", found.residual)
    random = Random(where)
    for _ in range(2000):
        key = random.choice(["a", "b", "z", "", None])
        values = random.choices([4, 5, 6, 89, 90, 91, 1000, -1], k=random.randrange(6))
        rows: list[Row] = [{"g": key, "x": x} for x in values]
        original = job.outcome(rows, before)
        assert original == RAISES or equal(original, job.outcome(job.keep(below, rows), above))


@pytest.mark.parametrize(
    "prefilter", ["x > 90", "g = 'a'", "x > 91 OR g = 'a'", "x > 90 AND g = 'a'"]
)
def test_stronger_ones_are_refuted(prefilter: str) -> None:
    verdict = verify(
        Best,
        "o > 90 OR g = 'a'",
        schema=SCHEMA,
        returns="o bigint",
        keys="g",
        prefilter=prefilter,
    )
    assert verdict.status == "refuted"
    shown = verdict.counterexample
    assert shown is not None
    assert shown.original != shown.optimized


def remainder_of_the_larger(h: Any) -> Any:
    if h is None:
        return None
    return max(2**53 + 1, h) % 7 <= -h


def test_functions_of_constants_alone_are_computed() -> None:
    asked: dict[str, Any] = {"schema": "h bigint", "returns": "r boolean", "mode": "row"}
    found = synthesize(remainder_of_the_larger, "r", **asked)
    assert not found.declined
    assert "pmod(9007199254740993" not in found.prefilter


def is_number_of_larger(x: Any, n: Any) -> Any:
    chosen = x if n > 5 else None
    return chosen is not None and not math.isnan(chosen)


def is_number_or_raises(x: Any, n: Any) -> Any:
    chosen: Any = x if n > 5 else None
    return not math.isnan(chosen)


@pytest.mark.parametrize(
    ("function", "prefilter"),
    [
        (is_number_of_larger, "n > 5 AND x IS NOT NULL AND NOT isnan(x)"),
        (is_number_or_raises, "NOT isnan(x)"),
    ],
)
def test_nan_is_asked_of_a_value_that_may_be_missing(function: Any, prefilter: str) -> None:
    asked: dict[str, Any] = {"schema": "x double, n bigint", "returns": "r boolean", "mode": "row"}
    found = synthesize(function, "r", **asked)
    assert (found.kind, found.prefilter) == ("exact", prefilter)


def latest_day(pdf: pd.DataFrame) -> pd.DataFrame:
    """A time that is computed of each row, and a count."""
    begins = pd.to_datetime(pdf["d"])
    return pd.DataFrame({"n": [len(pdf)], "m": [begins.max()]})


def test_a_time_is_computed_of_each_row() -> None:
    schema, returns = "g string, d date", "n bigint, m timestamp_ntz"
    found = synthesize(latest_day, "g = 'x' AND n >= 2", schema=schema, returns=returns, keys="g")
    assert found.prefilter == "g = 'x'", found.declined
