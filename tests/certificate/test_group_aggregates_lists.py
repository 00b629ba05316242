"""Certificates of folds over the list of a group's rows, and their wrong twins."""

from __future__ import annotations

import json
from itertools import permutations
from typing import Any

import pytest
from tests.support.aggregates import by_aggregates, by_fold, claim, problem_of, searched
from tests.support.group_folds import Fold, Last, V, rows

from presieve.certificate.checker import Rejected, Verified
from presieve.certificate.group_aggregates import AggregatedCertificate
from presieve.certificate.stored import check_claim, parse
from presieve.errors import Declined
from presieve.ir.ops import app, negate
from presieve.ir.terms import TRUE, Op, int_lit
from presieve.records import replace
from presieve.semantics.aggregates import ListColumn
from presieve.semantics.assumptions import REORDERED
from presieve.semantics.smart_constructors import is_none, some
from presieve.synthesis.aggregates.aggregate_search import aggregates_of


class Second(Fold):
    """The second largest; it refuses 13."""

    start = (None, None)

    def reduce(self, acc, row):  # type: ignore[no-untyped-def]
        best, other = acc
        if row.v is None:
            return acc
        if row.v == 13:
            raise ValueError("unlucky")
        if best is None or row.v > best:
            return row.v, best
        return (best, row.v) if other is None or row.v > other else acc

    def finish(self, acc):  # type: ignore[no-untyped-def]
        return acc[1]


GROUPS: tuple[list[Any], ...] = (
    *([None], [3], [3, 3], [1, 2, 3], [-5, None, -7], [4, 13], [13], [2**62, -(2**62), 0]),
)


@pytest.fixture(scope="module")
def right() -> AggregatedCertificate:
    return claim(searched(Second, "v bigint", "m bigint"))


def with_column(certificate: AggregatedCertificate, column: ListColumn) -> AggregatedCertificate:
    (one,) = certificate.lists
    return replace(certificate, lists=(replace(one, column=column),))


def rejected(certificate: AggregatedCertificate) -> str:
    conditions = set()
    for solver in ("z3", "cvc5"):
        verdict = check_claim(certificate, solver)
        assert isinstance(verdict, Rejected), solver
        conditions.add(verdict.condition.split()[0])
    (condition,) = conditions
    return condition


@pytest.mark.parametrize("solver", ["z3", "cvc5"])
def test_it_is_accepted(right: AggregatedCertificate, solver: Any) -> None:
    (one,) = right.lists
    assert one.column.fields
    assert isinstance(check_claim(right, solver), Verified)
    again = parse(json.loads(right.text()))
    assert again == right
    assert isinstance(check_claim(again, solver), Verified)


@pytest.mark.parametrize("group", GROUPS)
def test_it_gives_the_same_in_any_order(right: AggregatedCertificate, group: list[Any]) -> None:
    expected = by_fold(right.problem, rows(group))
    for order in permutations(group):
        assert by_aggregates(right, rows(list(order))) == expected


def test_another_step(right: AggregatedCertificate) -> None:
    """The second best one is that of the next row."""
    (one,) = right.lists
    best, other, *rest = one.column.fields
    twin = replace(one.column, fields=(best, replace(other, step=V), *rest))
    assert rejected(with_column(right, twin)) in ("first", "next", "order")
    wrong = with_column(right, twin)
    assert by_aggregates(wrong, rows([3, 2, 1])) != by_fold(right.problem, rows([3, 2, 1]))


def test_another_start(right: AggregatedCertificate) -> None:
    (one,) = right.lists
    best, *rest = one.column.fields
    twin = replace(one.column, fields=(replace(best, init=some(int_lit(0))), *rest))
    assert rejected(with_column(right, twin)) in ("first", "order")
    wrong = with_column(right, twin)
    assert by_aggregates(wrong, rows([-3])) != by_fold(right.problem, rows([-3]))


def test_a_step_that_may_raise_or_is_not_safe(right: AggregatedCertificate) -> None:
    (one,) = right.lists
    some_rows = app(Op.PY_GT, int_lit(2**63 - 1), app(Op.GET, V))
    assert rejected(with_column(right, replace(one.column, raises=is_none(V)))) == "step"
    assert rejected(with_column(right, replace(one.column, safe=negate(is_none(V))))) == "step"
    assert rejected(with_column(right, replace(one.column, safe=some_rows))) == "step"


def test_a_field_of_another_type(right: AggregatedCertificate) -> None:
    (one,) = right.lists
    types = ("double", *one.column.types[1:])
    assert rejected(with_column(right, replace(one.column, types=types))) == "form"


def test_a_forgotten_invariant(right: AggregatedCertificate) -> None:
    assert rejected(replace(right, invariant=())) in ("order", "final")
    assert rejected(replace(right, invariant=(app(Op.NOT, TRUE),))) == "first"


def test_what_depends_on_the_order_needs_to_be_said() -> None:
    problem = problem_of(Last, "v bigint", "m bigint")
    assert isinstance(aggregates_of(problem), Declined)
    said = replace(problem, assumptions=(REORDERED.of(),))
    certificate = claim(aggregates_of(said))
    assert isinstance(check_claim(certificate, "z3"), Verified)
    assert by_fold(problem, rows([1, 2])) != by_fold(problem, rows([2, 1]))
    unsaid = replace(certificate, problem=problem)
    assert rejected(unsaid) == "order"
