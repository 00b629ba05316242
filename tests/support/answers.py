"""What is asked of every case: the expected answer, the same results, and no wrong twin."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from importlib import import_module
from random import Random

import pytest
from tests.support.amount import amount
from tests.support.synthesis.running import RAISES, Pipeline, Row, equal, pipeline

from presieve.certificate import Verified, check
from presieve.driver.synthesize import Synthesis, synthesize
from presieve.driver.verify import verify
from presieve.smt.solver import Effort

TABLES = amount(1500)
STRENGTHS = ("universe", "regions", "optimal")


@dataclass(frozen=True)
class Case:
    """One problem. ``pools`` are values worth trying of every input column; ``twins`` are wrong
    pairs of pre-filter and residual (None: the filter) that a table of few rows refutes. The claim
    of ``strength`` is the least that is expected.
    """

    name: str
    fold: type
    where: str
    schema: str
    returns: str
    kind: str
    prefilter: str = "true"
    residual: str | None = None
    pools: Mapping[str, Sequence[object]] = field(default_factory=dict, hash=False)
    twins: tuple[tuple[str, str | None], ...] = ()
    strength: str = "optimal"
    keys: str = "g"
    longest: int = 8
    reached: int = 5
    pure: tuple[Callable[..., object], ...] = ()

    def __str__(self) -> str:
        return self.name

    @property
    def rest(self) -> str:
        """The residual; the filter itself where none is given."""
        return self.where if self.residual is None else self.residual


@cache
def pipeline_of(case: Case) -> Pipeline:
    """The case's fold as the user's own code runs it."""
    return pipeline(case.fold, case.schema, case.returns, case.keys, pure=case.pure)


@cache
def solved(case: Case) -> Synthesis:
    """The answer to a case, once a run."""
    return synthesize(
        case.fold,
        case.where,
        schema=case.schema,
        returns=case.returns,
        keys=case.keys,
        budget=60.0,
        pure=case.pure,
    )


def assert_answer(case: Case) -> None:
    """Kind, predicates and strength are the expected ones, and both solvers accept the proof."""
    found = solved(case)
    told = (found.kind, found.prefilter, found.residual, found.declined)
    assert told == (case.kind, case.prefilter, case.rest, [])
    if found.certificate is not None:
        assert STRENGTHS.index(found.certificate.strength) >= STRENGTHS.index(case.strength)
        for solver in ("z3", "cvc5"):
            verdict = check(found.certificate, solver, Effort(seconds=60.0))
            assert isinstance(verdict, Verified), (solver, verdict)


def assert_same_results(case: Case) -> None:
    """On random tables the user's own code gives the same with and without the pushdown."""
    line, found = pipeline_of(case), solved(case)
    assert found.certificate is not None
    where = line.predicate("where", case.where)
    below = line.predicate("prefilter", found.prefilter)
    above = line.predicate("residual", found.residual)
    results = dropped = raised = 0
    for rows in _tables(case):
        kept, original = line.keep(below, rows), line.outcome(rows, where)
        dropped += len(rows) - len(kept)
        if original == RAISES:
            raised += 1
            continue
        assert equal(original, line.outcome(kept, above)), rows
        results += original != []
    assert results >= case.reached, "the tables must reach the filter"
    assert dropped > TABLES // 10
    assert raised < TABLES // 2


def _tables(case: Case) -> list[list[Row]]:
    """Tables of one group each, of all lengths, that obey what the answer assumes."""
    random, line, certificate = Random(case.name), pipeline_of(case), solved(case).certificate
    assert certificate is not None
    found = []
    for i in range(TABLES):
        same = {k: random.choice(case.pools.get(k, ["a"])) for k in line.inputs.keys}
        few = [
            {**{n: random.choice(p) for n, p in case.pools.items()}, **same}
            for _ in range(random.choice((2, 4, 30)))
        ]
        lawful = [r for r in few if line.lawful(r, certificate.problem.assumptions)]
        length = i % (case.longest + 1) if lawful else 0
        found.append([random.choice(lawful) for _ in range(length)])
    return found


def assert_refuted(case: Case, prefilter: str, residual: str | None) -> None:
    """``verify`` refutes a wrong twin with a table that differs when the user's code runs it."""
    verdict = verify(
        case.fold,
        case.where,
        schema=case.schema,
        returns=case.returns,
        keys=case.keys,
        prefilter=prefilter,
        residual=residual,
        budget=60.0,
        pure=case.pure,
    )
    assert verdict.status == "refuted", (verdict.status, verdict.reason)
    shown, line = verdict.counterexample, pipeline_of(case)
    assert shown is not None
    rest = line.predicate("residual", case.where if residual is None else residual)
    kept = line.keep(line.predicate("prefilter", prefilter), shown.rows)
    original = line.outcome(shown.rows, line.predicate("where", case.where))
    optimized = line.outcome(kept, rest)
    assert equal(original, shown.original)
    assert equal(optimized, shown.optimized)
    assert not equal(original, optimized)


def assert_twins_refuted(case: Case) -> None:
    """All wrong twins of a case."""
    assert case.twins
    for prefilter, residual in case.twins:
        assert_refuted(case, prefilter, residual)


def stand_in(
    monkeypatch: pytest.MonkeyPatch, function: Callable[..., object], other: object
) -> None:
    """Puts another function where a module has one."""
    monkeypatch.setattr(import_module(function.__module__), function.__name__, other)
