"""Bounds of single columns that follow from comparisons of columns with each other."""

from __future__ import annotations

from typing import Any

import pytest

from presieve.driver.synthesize import Synthesis, synthesize
from presieve.driver.verify import verify

SCHEMA = "at bigint, announced bigint, span bigint, price bigint"


class Soon:
    """The highest price of those soon after the announcement."""

    def zero(self) -> Any:
        return None

    def reduce(self, acc: Any, row: Any) -> Any:
        if row["announced"] < row["at"] < row["announced"] + row["span"] and (
            acc is None or row["price"] > acc
        ):
            return row["price"]
        return acc


def found(fold: type, schema: str = SCHEMA) -> Synthesis:
    schema = ", ".join(f"{c.strip()} NOT NULL" for c in schema.split(","))
    return synthesize(
        fold, "high > 90", schema=f"g string, {schema}", returns="high bigint", keys="g"
    )


def test_a_bound_for_the_scan() -> None:
    """Comparisons of columns reach no scan, and it follows from them that the span is positive."""
    parts = found(Soon).prefilter.split(" AND ")
    assert "span > 0" in parts
    assert "price > 90" in parts
    assert "announced < at" in parts


def test_the_pushdown_with_bounds_is_proved_and_exact() -> None:
    answer = found(Soon)
    assert (answer.kind, answer.optimal, answer.declined) == ("exact", True, [])


@pytest.mark.parametrize("bound", ["span > 2", "at > 0", "announced <> 0"])
def test_bounds_that_do_not_follow_are_refuted(bound: str) -> None:
    answer = found(Soon)
    schema = ", ".join(f"{c.strip()} NOT NULL" for c in SCHEMA.split(","))
    verdict = verify(
        Soon,
        "high > 90",
        schema=f"g string, {schema}",
        returns="high bigint",
        keys="g",
        prefilter=f"{answer.prefilter} AND {bound}",
        residual="true",
    )
    assert verdict.status == "refuted"


def years_apart(a: Any, b: Any) -> Any:
    return (a.year - b.year) * 2 + b.year - (a.year * 2 - b.year)


@pytest.mark.parametrize("where", ["r >= 5", "r = 0", "r <= -1"])
def test_parts_that_cancel_each_other_say_nothing(where: str) -> None:
    schema = "a timestamp NOT NULL, b timestamp NOT NULL"
    answer = synthesize(years_apart, where, schema=schema, returns="r bigint", mode="row")
    assert answer.prefilter == "true"
