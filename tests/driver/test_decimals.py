"""Pushdowns over decimals: proved ones, and their wrong twins refuted by running them."""

from __future__ import annotations

from decimal import Decimal

import pytest
from tests.support.refuting import Job
from tests.support.synthesis import folds as table

from presieve import synthesize

TOP2 = Job(
    table.Top2,
    "first > 90.50 AND second > 90.50",
    "team string, score decimal(10,2) NOT NULL",
    "first decimal(10,2), second decimal(10,2)",
    "team",
)


def test_top_two() -> None:
    TOP2.proved("score > 90.50", "second IS NOT NULL")
    shown = TOP2.refuted("score > 90.51", "second IS NOT NULL")
    assert Decimal("90.51") in [r["score"] for r in shown.rows]
    TOP2.refuted("score > 90.50", "true")
    TOP2.refuted("score >= 91", "second IS NOT NULL")


def test_what_lies_between_two_decimals_makes_no_difference() -> None:
    """90.50 is the last decimal of the column below 90.51."""
    TOP2.proved("score >= 90.51", "second IS NOT NULL")
    finer = Job(
        table.Top2,
        TOP2.where,
        "team string, score decimal(11,3) NOT NULL",
        "first decimal(11,3), second decimal(11,3)",
        "team",
    )
    shown = finer.refuted("score >= 90.51", "second IS NOT NULL")
    assert any(90 < r["score"] < Decimal("90.51") for r in shown.rows)  # type: ignore[operator]


def test_the_ends_of_the_type_do_not_bound_the_values() -> None:
    """Nobody checks that a decimal in a file has no more digits than its type; integers fit."""
    job = Job(table.Maximum, "m > 99.8", "g string, x decimal(3,1) NOT NULL", "m decimal(3,1)")
    shown = job.refuted("x = 99.9", "true")
    assert all(r["x"] >= 100 for r in shown.rows)  # type: ignore[operator]
    job.proved("x >= 99.9", "true")
    low = Job(table.Maximum, "m >= -99.9", "g string, x decimal(3,1) NOT NULL", "m decimal(3,1)")
    low.refuted("true", "true")
    whole = Job(table.Maximum, "m > 126", "g string, x tinyint NOT NULL", "m tinyint")
    whole.proved("x = 127", "true")


def test_more_digits_than_doubles_have() -> None:
    where = "m > 1234567890123456789012345678.0123456789"
    job = Job(table.Maximum, where, "g string, x decimal(38,10) NOT NULL", "m decimal(38,10)")
    job.proved("x > 1234567890123456789012345678.0123456789", "true")
    shown = job.refuted("x > 1234567890123456789012345678.0123456790", "true")
    assert Decimal("1234567890123456789012345678.0123456790") in [r["x"] for r in shown.rows]


@pytest.mark.parametrize(
    ("where", "kind", "prefilter"),
    [
        ("m >= 90.5", "exact", "x >= 90.50"),
        ("m > 90", "exact", "x > 90.00"),
        ("m < 0", "none", "true"),
        ("m = -0.01", "split", "x >= -0.01"),
    ],
)
def test_found_prefilters_have_the_scale_of_the_column(
    where: str, kind: str, prefilter: str
) -> None:
    found = synthesize(
        table.Maximum,
        where,
        schema="g string, x decimal(10,2) NOT NULL",
        returns="m decimal(10,2)",
        keys="g",
    )
    assert (found.kind, found.prefilter) == (kind, prefilter), found
