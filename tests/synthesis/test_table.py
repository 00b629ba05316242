"""Cases in, kind and predicates out; each proof re-checked by both solvers; wrong twins refuted."""

from __future__ import annotations

from itertools import product

import pytest
from tests.support.synthesis.cases import CASES, NOTHING_TO_PUSH, Case
from tests.support.synthesis.running import assumed, equal, pipeline_of, solved
from tests.synthesis.compared import COMPARED
from tests.synthesis.refuted import assert_refuted, certificate, judged
from tests.synthesis.wide import WIDE

from presieve.certificate import Verified, check
from presieve.driver.synthesize import synthesize
from presieve.ir.ops import app, sql_conjunction
from presieve.ir.terms import SQL_TRUE, Op, Term
from presieve.smt.solver import Effort
from presieve.sql.emit import emit

EVERY = CASES + COMPARED + WIDE
named = pytest.mark.parametrize("case", EVERY, ids=str)


# --- kind and predicates ------------------------------------------------------------------------


@named
def test_kind_and_predicates(case: Case) -> None:
    found = solved(case)
    told = (found.kind, found.prefilter, found.residual, found.declined)
    assert told == (case.kind, case.prefilter, case.residual, [])
    assert (found.certificate.strength if found.certificate else "universe") == case.strength
    assert found.invariant


@named
def test_both_solvers_accept_the_certificate(case: Case) -> None:
    for solver in ("z3", "cvc5"):
        verdict = check(certificate(case), solver, Effort(seconds=60.0))
        assert isinstance(verdict, Verified), (solver, verdict)


@pytest.mark.costly
@named
def test_verify_proves_what_synthesize_found(case: Case) -> None:
    verdict = judged(case, case.prefilter, case.residual)
    assert verdict.status == "proved", (verdict.reason, verdict.counterexample)
    assert verdict.certificate is not None
    assert verdict.certificate.kind == case.kind


# --- wrong twins --------------------------------------------------------------------------------


def _without(prefilter: Term, region: Term) -> str:
    """The pre-filter with one region of rows taken out of it."""
    outside = app(Op.SQL_NOT, app(Op.SQL_EQ_NULLSAFE, region, SQL_TRUE))
    return emit(sql_conjunction([prefilter, outside]), "UTC")


@pytest.mark.costly
@pytest.mark.parametrize("case", [c for c in EVERY if c.strength == "optimal"], ids=str)
def test_every_region_that_is_kept_is_needed(case: Case) -> None:
    found = certificate(case)
    assert found.witnesses
    for witness in found.witnesses:
        assert_refuted(case, _without(found.prefilter, witness.region))


@pytest.mark.parametrize(
    "prefilter",
    [
        "price * qty > 1001 AND weekend",
        "price * qty > 1000 AND weekend AND qty > 1",
        "price > 1000 AND weekend",
        "price * qty > 1000 AND NOT weekend",
    ],
)
def test_a_stronger_computed_column_is_refuted(prefilter: str) -> None:
    (case,) = [c for c in CASES if c.name == "weekend revenue"]
    assert_refuted(case, prefilter)


@pytest.mark.parametrize("case", [c for c in EVERY if c.kind in ("split", "partial")], ids=str)
def test_a_residual_that_checks_nothing_is_refuted(case: Case) -> None:
    assert_refuted(case, case.prefilter, "true")


WEAKENED = [
    ("case study A", "(first < {1} OR first = {2}) AND (last > {4} OR last = {3})"),
    ("case study A", "`time` <> 0 AND (last > {4} OR last = {3})"),
    ("case study A", "`time` <> 0 AND (first < {1} OR first = {2})"),
    ("case study A", "`time` <> 0 AND first <= {2} AND (last > {4} OR last = {3})"),
    ("case study B", "close_price < 50 AND open_epoch <= 1000 AND close_epoch >= 4000"),
    (
        "case study B",
        "open_price > 10 AND close_price < 50 AND open_epoch <= 1000 AND close_epoch >= 4000",
    ),
    ("max equal", "m <= 101"),
    ("top2", "first IS NOT NULL"),
    ("top3", "b IS NOT NULL"),
    ("first that is there", "f > 4"),
    ("longest streak", "best >= 2"),
    ("errors at least 5", "errors >= 4"),
    ("sum of positives at least", "s >= 99"),
]


@pytest.mark.parametrize(("name", "residual"), WEAKENED, ids=lambda x: str(x)[:40])
def test_a_weaker_residual_is_refuted(name: str, residual: str) -> None:
    case = {c.name: c for c in CASES}[name]
    days = [f"TIMESTAMP '2024-01-0{d} 00:00:00'" for d in range(5)]
    days[0] = ""
    assert_refuted(case, case.prefilter, residual.format(*days))


def test_what_is_not_decided_is_not_proved() -> None:
    """Products are uninterpreted in the solver, so it does not know that they commute."""
    case = {c.name: c for c in CASES}["weekend revenue"]
    verdict = judged(case, "qty * price > 1000 AND weekend", "true")
    assert verdict.status == "unknown"
    assert verdict.certificate is None
    assert verdict.reason


# --- nothing to push ----------------------------------------------------------------------------


@pytest.mark.parametrize("case", NOTHING_TO_PUSH, ids=str)
def test_nothing_is_pushed(case: Case) -> None:
    found = solved(case)
    told = (found.kind, found.prefilter, found.residual, found.declined)
    assert told == ("none", "true", case.where, [])
    assert found.certificate is None


@pytest.mark.parametrize("case", NOTHING_TO_PUSH, ids=str)
def test_where_nothing_is_pushed_every_row_is_needed(case: Case) -> None:
    """For every row of the pools there is a table whose result changes when the row goes."""
    line = pipeline_of(case)
    where = line.predicate("where", case.where)
    rows = [
        {"g": "a", **dict(zip(case.pools, values, strict=True))}
        for values in product(*case.pools.values())
    ]
    rows = [r for r in rows if line.lawful(r, assumed(case))]
    pairs = ([a, b] for a, b in product(rows, rows) if a is not b)
    contexts = [[], *([r] for r in rows), *pairs]
    outcomes = [(rest, line.outcome(rest, where)) for rest in contexts]
    outcomes.sort(key=lambda x: x[1] == [])  # accepted ones first: most rows matter to one
    for row in rows:
        differs = (not equal(line.outcome([row, *rest], where), out) for rest, out in outcomes)
        assert any(differs), row


# --- the same again -----------------------------------------------------------------------------


@pytest.mark.parametrize("case", [CASES[0], CASES[3], CASES[9]], ids=str)
def test_the_same_answer_with_the_same_work_twice(case: Case) -> None:
    again = synthesize(
        case.fold, case.where, schema=case.schema, returns=case.returns, keys=case.keys, budget=60.0
    )
    first = solved(case)
    assert again.solver_calls == first.solver_calls
    assert again.to_json()["certificate"] == first.to_json()["certificate"]
    assert (again.prefilter, again.residual) == (first.prefilter, first.residual)
