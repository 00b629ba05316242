"""Wrong pushdowns: judged, and run through the user's own Python."""

from __future__ import annotations

from tests.support.synthesis.cases import Case
from tests.support.synthesis.running import Row, assumed, equal, pipeline_of, solved

from presieve.certificate import Certificate
from presieve.driver.verify import Verdict, verify


def certificate(case: Case) -> Certificate:
    found = solved(case).certificate
    assert found is not None
    return found


def judged(case: Case, prefilter: str, residual: str | None) -> Verdict:
    """Under the assumptions of the answer; where it has none, under none."""
    return verify(
        case.fold,
        case.where,
        schema=case.schema,
        returns=case.returns,
        keys=case.keys,
        mode=case.mode,
        prefilter=prefilter,
        residual=residual,
        budget=60.0,
        policy="default" if solved(case).assumptions else "strict",
    )


def rerun(
    case: Case, rows: list[Row], prefilter: str, residual: str | None
) -> tuple[object, object]:
    """Original and pushdown on the user's own code."""
    line = pipeline_of(case)
    where = line.predicate("where", case.where)
    rest = where if residual is None else line.predicate("residual", residual)
    kept = line.keep(line.predicate("prefilter", prefilter), rows)
    return line.outcome(rows, where), line.outcome(kept, rest)


def assert_refuted(case: Case, prefilter: str, residual: str | None = None) -> None:
    verdict = judged(case, prefilter, residual)
    assert verdict.status == "refuted", (prefilter, residual, verdict.reason)
    assert verdict.certificate is None
    shown = verdict.counterexample
    assert shown is not None
    named = [a["text"] for a in verdict.assumptions]
    assumptions = [a for a in assumed(case) if a.text in named]
    assert all(pipeline_of(case).lawful(r, assumptions) for r in shown.rows)
    original, optimized = rerun(case, shown.rows, prefilter, residual)
    assert equal(original, shown.original)
    assert equal(optimized, shown.optimized)
    assert not equal(original, optimized)
