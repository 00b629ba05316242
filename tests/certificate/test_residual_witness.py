"""Conjuncts that stay in a residual: each comes with a group without which it could go."""

from __future__ import annotations

import math
from typing import Any

import pytest
from tests.support.mutants import certificate_of
from tests.support.synthesis.cases import CASES, Case
from tests.support.synthesis.running import pipeline_of, solved

from presieve import verify
from presieve.certificate import Certificate, Rejected, Verified, check, parse
from presieve.driver.synthesize import synthesize
from presieve.ir.ops import sql_conjunction, sql_conjuncts
from presieve.ir.pushdown import ResidualWitness
from presieve.ir.terms import Lit, Term, float_lit, literal_value
from presieve.records import replace
from presieve.semantics.values import to_python
from presieve.sql.emit import emit

CHECKING = [c for c in CASES if c.kind in ("split", "partial")]


def of(case: Case) -> Certificate:
    found = solved(case).certificate
    assert found is not None
    return found


def with_witnesses(certificate: Certificate, *witnesses: ResidualWitness) -> Certificate:
    return replace(certificate, residual_witnesses=witnesses)


def refused(certificate: Certificate) -> bool:
    """Whether the checker refuses it for its witnesses."""
    verdict = check(certificate)
    if isinstance(verdict, Verified):
        return False
    assert isinstance(verdict, Rejected)
    assert verdict.condition == "residual"
    return True


@pytest.mark.costly
@pytest.mark.parametrize("case", CHECKING, ids=str)
def test_every_conjunct_is_needed(case: Case) -> None:
    certificate = of(case)
    assert certificate.residual_strength == "needed"
    assert solved(case).residual_strength == "needed"
    assert solved(case).to_json()["residual_strength"] == "needed"
    numbers = [w.conjunct for w in certificate.residual_witnesses]
    assert numbers == list(range(len(sql_conjuncts(certificate.residual))))


@pytest.mark.parametrize("case", CHECKING, ids=str)
def test_the_users_python_needs_it_too(case: Case) -> None:
    """The class itself, run on the rows of a witness: as written, and without the conjunct."""
    certificate, line = of(case), pipeline_of(case)
    fold = certificate.problem.fold
    parts = sql_conjuncts(certificate.residual)
    for w in certificate.residual_witnesses:
        key = dict(zip((c.name for c in fold.keys), map(shown, w.key), strict=True))
        names = [c.name for c in fold.columns]
        rows = [key | dict(zip(names, map(shown, row), strict=True)) for row in w.rows]
        rows = [{n: r.get(n) for n in line.inputs.input_names()} for r in rows]
        rest = sql_conjunction(c for j, c in enumerate(parts) if j != w.conjunct)
        assert line.outcome(rows, certificate.problem.where) == []
        assert len(line.outcome(line.keep(certificate.prefilter, rows), rest)) == 1


def shown(term: Term) -> object:
    assert isinstance(term, Lit)
    return to_python(literal_value(term), term.sort)


@pytest.mark.parametrize("name", ["top2", "max equal", "case study B"])
def test_without_a_conjunct_the_pushdown_is_refuted(name: str) -> None:
    (case,) = (c for c in CASES if c.name == name)
    certificate = of(case)
    parts = sql_conjuncts(certificate.residual)
    for number in range(len(parts)):
        rest = sql_conjunction(c for j, c in enumerate(parts) if j != number)
        verdict = verify(
            case.fold,
            case.where,
            schema=case.schema,
            returns=case.returns,
            keys=case.keys,
            mode=case.mode,
            prefilter=solved(case).prefilter,
            residual=emit(rest, "UTC"),
        )
        assert verdict.status == "refuted"


def test_tampered_witnesses_are_refused() -> None:
    certificate = certificate_of("top2")
    (good,) = certificate.residual_witnesses
    assert not refused(certificate)

    def rows(*values: float) -> tuple[tuple[Term, ...], ...]:
        return tuple((float_lit(x),) for x in values)

    assert not refused(with_witnesses(certificate, replace(good, rows=rows(95.0))))
    assert not refused(with_witnesses(certificate, replace(good, rows=rows(20.0, 95.0))))
    bad = [
        replace(good, conjunct=1),
        replace(good, conjunct=-1),
        replace(good, rows=()),  # there is no such group
        replace(good, rows=rows(20.0)),  # nothing is left to accept
        replace(good, rows=rows(95.0, 96.0)),  # the filter accepts it
        replace(good, rows=rows(95.0, math.nan)),  # against an assumption
        replace(good, rows=((*good.rows[0], float_lit(95.0)),)),
        replace(good, rows=((good.rows[0][0], *good.key),)),
        replace(good, key=(*good.key, float_lit(1.0))),
    ]
    for witness in bad:
        assert refused(with_witnesses(certificate, witness)), witness
        assert refused(with_witnesses(certificate, good, witness)), witness


def test_a_witness_speaks_for_its_own_conjunct() -> None:
    certificate = certificate_of("case study B")
    witnesses = certificate.residual_witnesses
    assert len(witnesses) > 1
    for w in witnesses:
        for number in range(len(witnesses)):
            moved = with_witnesses(certificate, replace(w, conjunct=number))
            assert refused(moved) == (number != w.conjunct)


class Strict:
    """The greatest number, none of which may be above 1000."""

    def zero(self) -> Any:
        return None

    def reduce(self, acc: Any, row: Any) -> Any:
        if row["x"] > 1000:
            raise ValueError("too large")
        return row["x"] if acc is None or row["x"] > acc else acc

    def finish(self, acc: Any) -> Any:
        return acc


def test_a_group_that_raises_is_no_witness() -> None:
    """It fails as written, so that nobody could tell what became of it."""
    found = synthesize(Strict, "m = 100", schema="x bigint NOT NULL", returns="m bigint")
    certificate = found.certificate
    assert certificate is not None
    assert (found.residual, found.residual_strength) == ("m <= 100", "needed")
    (good,) = certificate.residual_witnesses
    sort = certificate.problem.fold.columns[0].sort
    fine, raising = (((Lit(sort, n),),) for n in (1000, 1001))
    assert not refused(with_witnesses(certificate, replace(good, rows=fine)))
    assert refused(with_witnesses(certificate, replace(good, rows=raising)))


def test_without_witnesses_nothing_is_claimed() -> None:
    certificate = with_witnesses(certificate_of("case study B"))
    assert certificate.residual_strength == "unshown"
    assert isinstance(check(certificate), Verified)
    fewer = with_witnesses(certificate, *certificate_of("case study B").residual_witnesses[1:])
    assert fewer.residual_strength == "unshown"
    assert isinstance(check(fewer), Verified)


def test_certificates_from_before_are_read() -> None:
    certificate = certificate_of("top2")
    data = dict(certificate.to_json())
    assert parse(data) == certificate
    del data["residual_witnesses"]
    old = parse(data)
    assert old == with_witnesses(certificate)
    assert isinstance(check(old), Verified)


def test_where_nothing_is_checked_nothing_is_to_be_shown() -> None:
    for case in CASES:
        found = solved(case).certificate
        if case.kind in ("exact", "empty"):
            assert found is not None
            assert (found.residual_witnesses, found.residual_strength) == ((), "needed")
        elif case.kind == "none":
            assert solved(case).residual_strength == "unshown"
