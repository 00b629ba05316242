"""Witnesses of strength: each must show what it claims, and together they must speak for all."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import pytest
from tests.support.mutants import certificate_of
from tests.support.synthesis.folds import Maximum

from presieve.certificate import Certificate, Rejected, Verified, check
from presieve.certificate.checker import make_solver
from presieve.certificate.obligations import without_witness
from presieve.driver.synthesize import synthesize
from presieve.ir.ops import app, sql_conjunction
from presieve.ir.pushdown import Witness
from presieve.ir.sorts import FLOAT
from presieve.ir.terms import SQL_TRUE, Op, Scope, Term, Var, float_lit, lit
from presieve.records import replace
from presieve.smt.solver import Effort, Unsat

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


def conditions_failed(type_: str, values: Sequence[int]) -> list[str | None]:
    """The condition that fails with a witness of each value, in addition to the known ones."""
    found = synthesize(
        Maximum, "m > 5", schema=f"g string, x {type_} NOT NULL", returns=f"m {type_}", keys="g"
    )
    certificate = found.certificate
    assert certificate is not None
    witness, sort = certificate.witnesses[0], certificate.problem.fold.columns[0].sort
    failed = []
    for value in values:
        one = Witness(witness.region, witness.key, ((lit(sort, value),),), 0)
        verdict = check(replace(certificate, witnesses=(*certificate.witnesses, one)))
        failed.append(verdict.condition if isinstance(verdict, Rejected) else None)
    return failed


@pytest.mark.parametrize(("type_", "last"), [("tinyint", 127), ("bigint", 2**63 - 1)])
def test_a_witness_holds_values_that_its_columns_can_hold(type_: str, last: int) -> None:
    assert conditions_failed(type_, (last, last + 1)) == [None, "form"]


def test_a_decimal_of_a_file_has_any_number_of_digits() -> None:
    """Nobody checks them, so proofs and witnesses allow more than the type has."""
    assert conditions_failed("decimal(3,1)", (999, 1000, 10**6)) == [None, None, None]


@pytest.mark.costly
@pytest.mark.parametrize("name", NAMES)
def test_the_strongest_claim_takes_all_its_witnesses(name: str) -> None:
    """Without one of them something that is kept has no reason to be."""
    certificate = certificate_of(name)
    assert certificate.strength == "optimal"
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


class Late:
    """The highest score; a late row is an error unless a row came before that says why."""

    def zero(self) -> Any:
        return (False, 0.0)

    def reduce(self, acc: Any, row: Any) -> Any:
        excused, best = acc
        if row["kind"] == "excuse":
            return (True, best)
        if row["kind"] == "late":
            if not excused:
                raise ValueError("late without an excuse")
            return (excused, best)
        return (excused, row["score"] if row["score"] > best else best)

    def finish(self, acc: Any) -> Any:
        return acc[1]


class Headed(Late):
    """The highest score; any row is an error before the header."""

    def reduce(self, acc: Any, row: Any) -> Any:
        headed, best = acc
        if row["kind"] == "header":
            return (True, best)
        if not headed:
            raise ValueError("no header")
        return (headed, row["score"] if row["score"] > best else best)


def scored(fold: type, where: str = "m > 100") -> Certificate:
    found = synthesize(
        fold, where, schema="kind string NOT NULL, score double NOT NULL", returns="m double"
    ).certificate
    assert found is not None
    return found


def test_a_table_that_raises_is_no_witness() -> None:
    """Without the excuse the late row raises. That is no reason to keep excuses: the late row may
    go with them, and errors may be erased (``proofs/Examples.v``, ``seen_may_be_dropped``).
    """
    certificate = scored(Late)
    kind = certificate.problem.fold.column("kind")
    excuse = app(Op.SQL_EQ, kind, lit(kind.sort, "excuse"))
    assert all_of(certificate, dropped=excuse)
    assert certificate.strength == "optimal"
    rows = tuple(
        (lit(kind.sort, k), float_lit(x)) for k, x in [("", 200.0), ("excuse", 0.0), ("late", 0.0)]
    )
    claim = Witness(excuse, (), rows, 1)
    verdict = check(replace(certificate, witnesses=(*certificate.witnesses, claim)))
    assert isinstance(verdict, Rejected)
    assert verdict.condition == "form"


def test_rows_that_keep_others_from_raising_stay() -> None:
    """No witness speaks for headers, but without them the scores that are kept would raise."""
    certificate = scored(Headed)
    kind = certificate.problem.fold.column("kind")
    assert not all_of(certificate, dropped=app(Op.SQL_EQ, kind, lit(kind.sort, "header")))
    assert certificate.strength == "universe"


def all_of(certificate: Certificate, *, dropped: Term) -> bool:
    """Whether the pre-filter drops every row that satisfies a predicate."""
    both = replace(certificate, prefilter=sql_conjunction([certificate.prefilter, dropped]))
    solver = make_solver("z3")
    solver.add(without_witness(both, []))
    return isinstance(solver.check([], Effort()), Unsat)
