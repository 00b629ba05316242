"""Witnesses of strength: each must show what it claims, and together they must speak for all."""

from __future__ import annotations

import math
from dataclasses import replace

import pytest
from tests.certificate.mutants import certificate_of

from presieve.certificate import Rejected, Verified, check
from presieve.ir.ops import app
from presieve.ir.pushdown import Witness
from presieve.ir.sorts import FLOAT
from presieve.ir.terms import SQL_TRUE, Op, Scope, Term, Var, float_lit

NAMES = ["top2", "max equal", "errors at least 1", "case study A", "case study B", "longest streak"]


def test_a_witness_may_only_speak_of_rows() -> None:
    certificate = certificate_of("max equal")
    witness = certificate.witnesses[0]
    stranger = app(Op.SQL_IS_NULL, Var(Scope.ACC, "acc", FLOAT))
    tampered = (replace(witness, region=stranger), *certificate.witnesses[1:])
    verdict = check(replace(certificate, witnesses=tampered))
    assert isinstance(verdict, Rejected)
    assert verdict.condition == "form"


def scores(*values: float) -> tuple[tuple[Term, ...], ...]:
    return tuple((float_lit(x),) for x in values)


def test_a_witness_must_make_a_difference_and_obey_the_assumptions() -> None:
    certificate = certificate_of("top2")
    score = certificate.problem.fold.column("score")
    key = certificate.witnesses[0].key
    low = app(Op.SQL_LE, score, float_lit(90.0))
    idle = Witness(low, key, scores(95.0, 96.0, 50.0), 2)
    unlawful = Witness(app(Op.SQL_IS_NAN, score), key, scores(math.nan, 95.0, 96.0), 0)
    elsewhere = Witness(low, key, scores(95.0, 96.0), 0)
    for extra in (idle, unlawful, elsewhere):
        verdict = check(replace(certificate, witnesses=(*certificate.witnesses, extra)))
        assert isinstance(verdict, Rejected)
        assert verdict.condition == "form"
        assert "witness" in verdict.reason
    fine = Witness(certificate.witnesses[0].region, key, scores(95.0, 96.0), 0)
    assert isinstance(check(replace(certificate, witnesses=(fine,))), Verified)


@pytest.mark.parametrize("name", NAMES)
def test_the_strongest_claim_takes_all_its_witnesses(name: str) -> None:
    """Without one of them something that is kept has no reason to be."""
    certificate = certificate_of(name)
    assert certificate.strength == "strongest"
    for i in range(len(certificate.witnesses))[:6]:
        fewer = certificate.witnesses[:i] + certificate.witnesses[i + 1 :]
        verdict = check(replace(certificate, witnesses=fewer))
        assert isinstance(verdict, Rejected)
        assert verdict.condition == "strength"
        assert isinstance(
            check(replace(certificate, witnesses=fewer, strength="universe")), Verified
        )


def test_a_weaker_filter_is_not_the_strongest() -> None:
    certificate = replace(certificate_of("max above"), kind="none", prefilter=SQL_TRUE)
    certificate = replace(certificate, residual=certificate.problem.where)
    verdict = check(certificate)
    assert isinstance(verdict, Rejected)
