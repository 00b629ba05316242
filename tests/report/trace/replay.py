"""A trace checked against what it tells of: every table is run again, every count added up."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from presieve.certificate import Certificate
from presieve.certificate.checker import make_solver
from presieve.certificate.obligations import stutter, sync
from presieve.ir.fold import Problem
from presieve.ir.terms import Scope, Term
from presieve.semantics.interpret import (
    Nothing,
    Raised,
    Result,
    Row,
    agree,
    evaluate,
    holds,
    keep,
    key_env,
    outcome,
    pushed_outcome,
)
from presieve.semantics.values import Value
from presieve.smt.solver import Effort, Sat
from presieve.synthesis import events as record
from presieve.synthesis.events import Event, Group, Needed

Keys = dict[str, Value]


def table(group: Group) -> tuple[list[Row], Keys]:
    """The rows and the key of a group, by name; all rows must obey the assumptions."""
    fold = group.problem.fold
    rows: list[Row] = [
        dict(zip((c.name for c in fold.columns), row, strict=True)) for row in group.rows
    ]
    keys = dict(zip((c.name for c in fold.keys), group.key, strict=True))
    for row in rows:
        env = {**key_env(keys), **{(Scope.ROW, n): v for n, v in row.items()}}
        assert all(evaluate(a.term, env) is True for a in group.problem.assumptions)
    return rows, keys


def check_needed(needed: Needed, dropped_by: Term | None = None) -> None:
    """Leaving the row out changes the result, or raises; the last candidate dropped it."""
    rows, keys = table(needed.group)
    row = rows[needed.index]
    before = outcome(needed.group.problem, rows, keys)
    without = [r for i, r in enumerate(rows) if i != needed.index]
    after = outcome(needed.group.problem, without, keys)
    assert not agree(before, after)
    assert isinstance(after, Raised) == needed.raises
    env = {**key_env(keys), **{(Scope.ROW, n): v for n, v in row.items()}}
    assert holds(needed.region, env)
    assert dropped_by is None or not holds(dropped_by, env)


def check_refuted(event: record.Refuted, candidate: Term | None) -> None:
    """The candidate that was told last gives another result."""
    assert event.prefilter == candidate
    rows, keys = table(event.group)
    problem = event.group.problem
    pushed = pushed_outcome(problem, rows, keys, event.prefilter, problem.where)
    assert not agree(outcome(problem, rows, keys), pushed)


def check_tried(event: record.Tried) -> None:
    """What is refuted comes with rows that pass, which the filter rejects and the residual not."""
    assert (event.group is not None) == (event.judged == "refuted")
    if event.group is None:
        return
    rows, keys = table(event.group)
    problem = event.group.problem
    assert keep(event.prefilter, rows, keys) == rows
    assert isinstance(outcome(problem, rows, keys, event.residual), Result)
    assert isinstance(outcome(problem, rows, keys), Nothing)


def check_stays(event: record.Stays) -> None:
    """The group is rejected by the filter, and accepted without the conjunct."""
    if event.group is None:
        return
    rows, keys = table(event.group)
    problem = event.group.problem
    assert isinstance(outcome(problem, rows, keys), Nothing)
    pushed = pushed_outcome(problem, rows, keys, event.prefilter, event.rest)
    assert isinstance(pushed, Result)


def check(events: Iterable[Event]) -> None:
    """AssertionError where a trace is not so."""
    candidate: Term | None = None
    left = -1
    for event in events:
        match event:
            case record.Searched() | record.CountsScaled():
                candidate = None
            case record.Explored(_, regions, needed):
                assert len(needed) <= regions
                for one in needed:
                    check_needed(one)
            case record.Proposed(prefilter):
                candidate = prefilter
            case record.Refuted():
                check_refuted(event, candidate)
            case record.PutBack(needed):
                for one in needed:
                    check_needed(one, candidate)
            case record.Mined():
                left = event.clauses
            case record.Round(asked, killed, _):
                assert asked == left
                assert killed
                left -= len(killed)
            case record.Settled(clauses, _):
                assert len(clauses) == left
            case record.Tried():
                check_tried(event)
            case record.Stays():
                check_stays(event)
            case record.Minimised(clauses, invariant):
                assert clauses == left >= len(invariant)


def check_rounds(events: Sequence[Event], problem: Problem) -> int:
    """Each round's obligation does not hold for the clauses of the round, which a solver says that
    has nothing to do with the search. The number of rounds.
    """
    checked = 0
    prefilter: Term | None = None
    rounds: list[record.Round] = []
    for event in events:
        match event:
            case record.Proposed(prefilter):
                rounds = []
            case record.Round():
                rounds.append(event)
            case record.Settled(clauses, _):
                assert prefilter is not None
                for one in reversed(rounds):
                    clauses = (*clauses, *one.killed)
                    if one.by != "alone":
                        claim = Certificate(
                            problem, "partial", "universe", prefilter, problem.where, clauses
                        )
                        solver = make_solver("z3")
                        solver.add(sync(claim) if one.by == "sync" else stutter(claim))
                        assert isinstance(solver.check([], Effort()), Sat), one
                        checked += 1
                rounds = []
    return checked
