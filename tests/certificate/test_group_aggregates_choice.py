"""Folds that keep one row, where the order of rows is said to make no difference."""

from __future__ import annotations

import math
import random
from typing import Any

import pytest
from tests.support.aggregates import Rows, by_aggregates, by_fold, claim, problem_of
from tests.support.amount import amount

from presieve.certificate import stored
from presieve.certificate.checker import Rejected, Verified, check
from presieve.certificate.group_aggregates import (
    AggregatedCertificate,
    parse,
)
from presieve.errors import Declined
from presieve.ir.ops import app, negate
from presieve.ir.sorts import FLOAT, Option
from presieve.ir.terms import Op, Scope, Var
from presieve.records import replace
from presieve.semantics.aggregates import AggregateColumn
from presieve.semantics.assumptions import REORDERED, assumption_of
from presieve.semantics.interpret import run_fold
from presieve.synthesis.aggregates.aggregate_search import aggregates_of

SCHEMA = "v bigint NOT NULL, w bigint, t string"


class Highest:
    """The first of the rows with the greatest value."""

    def zero(self) -> Any:
        return None, None, None

    def reduce(self, acc: Any, row: Any) -> Any:
        if acc[0] is None or row["v"] > acc[0]:
            return row["v"], row["w"], row["t"]
        return acc

    def finish(self, acc: Any) -> Any:
        return acc


class LastHighest(Highest):
    """The last of them."""

    def reduce(self, acc: Any, row: Any) -> Any:
        if acc[0] is None or row["v"] >= acc[0]:
            return row["v"], row["w"], row["t"]
        return acc


class FromZero(Highest):
    """The first row with the greatest value above zero."""

    def zero(self) -> Any:
        return 0, None, "none"

    def reduce(self, acc: Any, row: Any) -> Any:
        if row["v"] > acc[0] and row["t"] is not None:
            return row["v"], row["w"], row["t"]
        return acc


class Ends(Highest):
    """What stands beside the least value and beside the greatest one."""

    def zero(self) -> Any:
        return None, None, None, None

    def reduce(self, acc: Any, row: Any) -> Any:
        low, first, high, last = acc
        if low is None or row["v"] < low:
            low, first = row["v"], row["t"]
        if high is None or row["v"] > high:
            high, last = row["v"], row["t"]
        return low, first, high, last


class LastOfOne(Highest):
    """The last row with a certain value."""

    def reduce(self, acc: Any, row: Any) -> Any:
        if row["w"] is not None and row["w"] == 1:
            return row["v"], row["v"] + 1, "one"
        return acc


class LastText(Highest):
    """The text of the last row with a certain value, which may be missing."""

    def zero(self) -> Any:
        return None

    def reduce(self, acc: Any, row: Any) -> Any:
        return row["t"] if row["v"] > 1 else acc


class FirstText(Highest):
    """The first text."""

    def zero(self) -> Any:
        return None

    def reduce(self, acc: Any, row: Any) -> Any:
        return row["t"] if acc is None else acc


THREE = "v bigint, w bigint, t string"
FOUR = "v bigint, t string, w bigint, u string"
CASES = {
    "highest": (Highest, THREE, {"max", "max_by"}, {True}),
    "last highest": (LastHighest, THREE, {"max", "max_by"}, {False}),
    "from zero": (FromZero, "v bigint, w bigint, t string", {"max", "max_by"}, {True}),
    "ends": (Ends, FOUR, {"min", "min_by", "max", "max_by"}, {True}),
    "last of one": (LastOfOne, THREE, {"max_by"}, {False}),
    "last text": (LastText, "t string", {"max_by"}, {False}),
    "first text": (FirstText, "t string", {"max_by"}, {True}),
}


def searched(fold: object, returns: str, *, reordered: bool = True) -> AggregatedCertificate:
    """The claim that the search makes."""
    problem = problem_of(fold, SCHEMA, returns)
    said = (REORDERED.of(),) if reordered else ()
    found = aggregates_of(replace(problem, assumptions=(*problem.assumptions, *said)))
    assert not isinstance(found, Declined), found
    return claim(found)


def tables(number: int) -> list[Rows]:
    seed = random.Random(5)
    return [
        [
            {
                "v": seed.randrange(-1, 4),
                "w": seed.choice([None, 1, 2]),
                "t": seed.choice([None, "", "a", "b"]),
            }
            for _ in range(seed.randrange(1, 6))
        ]
        for _ in range(number)
    ]


@pytest.mark.random
@pytest.mark.parametrize("name", CASES)
def test_both_solvers_accept_what_gives_the_same(name: str) -> None:
    fold, returns, functions, reverse = CASES[name]
    made = searched(fold, returns)
    assert not made.lists
    assert {a.column.function for a in made.aggregates} == functions
    assert {a.column.reverse for a in made.aggregates} == reverse
    for solver in ("z3", "cvc5"):
        assert isinstance(stored.check_claim(made, solver), Verified)
    assert parse(made.to_json()) == made
    for rows in tables(amount(400)):
        assert by_fold(made.problem, rows) == by_aggregates(made, rows)


@pytest.mark.parametrize("name", CASES)
def test_the_other_order_is_rejected_and_differs(name: str) -> None:
    fold, returns, _, _ = CASES[name]
    made = searched(fold, returns)
    other = _changed(made, lambda c: replace(c, reverse=not c.reverse))
    assert isinstance(check(other), Rejected)
    assert any(by_fold(made.problem, r) != by_aggregates(other, r) for r in tables(400))


@pytest.mark.parametrize("name", CASES)
def test_unless_it_is_said_order_matters(name: str) -> None:
    """What stands beside equal values is not the same in every order."""
    fold, returns, _, _ = CASES[name]
    made = searched(fold, returns)
    exact = replace(made, problem=problem_of(fold, SCHEMA, returns))
    verdict = check(exact)
    assert isinstance(verdict, Rejected)
    assert verdict.condition.startswith("order ")


def test_two_orders_at_once_are_no_claim() -> None:
    made = searched(Ends, CASES["ends"][1])
    first, *rest = made.aggregates
    mixed = replace(first, column=replace(first.column, reverse=False))
    verdict = check(replace(made, aggregates=(mixed, *rest)))
    assert verdict == Rejected("form", "aggregates go over the rows in two orders")


@pytest.mark.parametrize("function", ["max_by", "min_by", "max", "min", "count"])
def test_in_reverse_it_is_the_same_of_the_rows_in_reverse(function: str) -> None:
    """To the bit: of two zeros the one or the other is taken."""
    x = Var(Scope.ROW, "x", Option(FLOAT))
    by = x if function.endswith("_by") else None
    here = AggregateColumn("c", function, "double", x, by)
    there = replace(here, reverse=True)
    seed = random.Random(4)
    for _ in range(300):
        values = seed.choices([None, -0.0, 0.0, 1.0, math.nan], k=seed.randrange(1, 6))
        rows = [{"x": v} for v in values]
        forth, back = run_fold(here.fold, rows, {}), run_fold(there.fold, rows[::-1], {})
        assert repr(forth) == repr(back)


class HighestDouble(Highest):
    """The first row with the greatest double."""

    def zero(self) -> Any:
        return None, None

    def reduce(self, acc: Any, row: Any) -> Any:
        return (row["x"], row["v"]) if acc[0] is None or row["x"] > acc[0] else acc


def test_of_doubles_no_zero_may_be_negative() -> None:
    """Or else the greatest one is the first zero for Python, and the last one for Spark."""
    problem = problem_of(
        HighestDouble, "x double NOT NULL, v bigint NOT NULL", "x double, v bigint"
    )
    column = problem.fold.column("x")
    number = assumption_of("no-nan", negate(app(Op.IS_NAN, column)))
    problem = replace(problem, assumptions=(REORDERED.of(), number))
    found = aggregates_of(problem)
    assert not isinstance(found, Declined)
    assert {c.function for c in found.calls} == {"max", "max_by"}
    assert {a.code for a in found.problem.assumptions} == {"row-order", "no-nan", "zero-sign"}
    made = claim(found)
    assert isinstance(check(made), Verified)
    assert isinstance(check(replace(made, problem=problem)), Rejected)
    rows: Rows = [{"x": x, "v": i} for i, x in enumerate([-1.0, 0.0, -0.0])]
    assert repr(by_fold(problem, rows)) != repr(by_aggregates(made, rows))


def _changed(made: AggregatedCertificate, change: Any) -> AggregatedCertificate:
    """The claim with other columns, also in its invariant."""
    texts = tuple(replace(a, column=change(a.column)) for a in made.aggregates)
    assert all(v.scope is Scope.ACC for v in made.results)
    return replace(made, aggregates=texts)
