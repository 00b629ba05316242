"""Aggregates that give what a fold gives are accepted; their wrong twins are not."""

from __future__ import annotations

import json
from typing import Any

import pytest
from tests.support.aggregates import by_aggregates, by_fold
from tests.support.group_folds import (
    CASES,
    GROUPS,
    Case,
    Empty,
    found,
    refusing,
    rows,
)

from presieve.certificate.checker import Verified
from presieve.certificate.group_aggregates import AggregatedCertificate
from presieve.certificate.stored import check_claim, parse
from presieve.semantics.interpret import Raised


@pytest.fixture(params=CASES, ids=lambda case: case.fold.__name__)
def case(request: pytest.FixtureRequest) -> Case:
    made = request.param
    assert isinstance(made, Case)
    return made


def test_what_is_found_is_accepted_by_both_solvers(case: Case) -> None:
    certificate = found(case)
    assert set(case.functions) <= {a.column.function for a in certificate.aggregates}
    for solver in ("z3", "cvc5"):
        verdict = check_claim(certificate, solver)
        assert isinstance(verdict, Verified), (solver, verdict)
        assert verdict.solver == solver
        assert {"first", "next", "final m"} <= set(verdict.seconds)


def test_both_give_the_same_by_the_interpreter(case: Case) -> None:
    certificate = found(case)
    raising = 0
    for group in GROUPS:
        values: list[Any] = [None if v is None else float(v) for v in group]
        table = rows(group) if case.schema == "v bigint" else rows(values, "x")
        given = by_fold(certificate.problem, table)
        assert by_aggregates(certificate, table[::-1]) == given
        raising += isinstance(given, Raised)
    assert (raising > 0) == (case.fold is Empty)


def test_a_certificate_is_read_back_from_json(case: Case) -> None:
    certificate = found(case)
    again = parse(json.loads(certificate.text()))
    assert again == certificate
    assert isinstance(again, AggregatedCertificate)
    assert again.text() == certificate.text()


def test_a_fold_that_raises_on_a_row() -> None:
    certificate = refusing()
    for solver in ("z3", "cvc5"):
        assert isinstance(check_claim(certificate, solver), Verified)
    for group in GROUPS:
        given = by_fold(certificate.problem, rows(group))
        assert by_aggregates(certificate, rows(group)) == given
        assert isinstance(given, Raised) == (None in group)
