"""The trace of a search is true, the same each time, and makes no difference to the search."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Callable
from functools import cache
from itertools import count
from pathlib import Path
from typing import Any

import pytest
from benchmarks.suite import Benchmark, benchmarks, load
from tests.report.trace.replay import check, check_rounds
from tests.support.synthesis.cases import CASES, Case
from tests.support.synthesis.running import pipeline_of

from presieve.driver.solve import Solution, solve
from presieve.driver.synthesize import Synthesis, synthesize
from presieve.ir.fold import Problem
from presieve.ir.terms import SQL_FALSE, SQL_TRUE
from presieve.records import replace
from presieve.report.trace_steps import trace
from presieve.synthesis import events as record
from presieve.synthesis.events import Event

ROOT = Path(__file__).parents[3]
SUITE = {b.name: b for b in benchmarks(load(ROOT / "benchmarks" / "families"))}
NAMES = ["Top2_3", "MinPooling_4", "EventAggregationUdf_5", "ReturnPriceAggregator_1"]
"""With refutations and many rounds, a filter that counts far, and assumptions that go."""
LONG = "MinPooling_4"


def problem_of(case: Case) -> Problem:
    line = pipeline_of(case)
    return line.inputs.problem(line.predicate("where", case.where))


@cache
def told(case: Case) -> tuple[Solution, list[Event]]:
    events: list[Event] = []
    return solve(problem_of(case), budget=60.0, event_log=events), events


@cache
def traced(name: str, *, trace: bool = True) -> Synthesis:
    benchmark: Benchmark = SUITE[name]
    return synthesize(
        benchmark.family.fold,
        benchmark.filter.where,
        schema=benchmark.schema,
        returns=benchmark.returns,
        budget=60.0,
        trace=trace,
    )


def trace_of(name: str) -> list[Event]:
    events = traced(name)._event_log
    assert events
    return events


@pytest.mark.costly
@pytest.mark.parametrize("case", CASES, ids=str)
def test_what_is_told_is_so(case: Case) -> None:
    solution, events = told(case)
    check(events)
    last = events[-1]
    if solution.verified is not None:
        assert isinstance(last, record.Checked)
        assert last.pushdown.prefilter == solution.prefilter
        assert last.pushdown.residual == solution.residual
        assert (last.pushdown.kind, last.pushdown.strength, last.refused) == (
            *(solution.kind, solution.strength),
            "",
        )
        (*_, minimised) = (e for e in events if isinstance(e, record.Minimised))
        proved = [e.pushdown for e in events if isinstance(e, record.Ended)]
        assert any(p and set(minimised.invariant) <= set(p.invariant) for p in proved)


@pytest.mark.parametrize("case", CASES[::2], ids=str)
def test_the_tables_shown_give_what_the_user_gets(case: Case) -> None:
    """What is shown beside rows is what the user's own Python gives for them."""
    events = told(case)[1]
    if any(isinstance(e, record.CountsScaled) for e in events):
        events = events[
            : next(i for i, e in enumerate(events) if isinstance(e, record.CountsScaled))
        ]
    if any(isinstance(e, record.Searched) and e.computed for e in events):
        return  # of columns that the user does not have
    line = pipeline_of(case)
    runs = [r for s in trace(events).steps for e in s.exhibits for r in e.runs]
    for run in runs:
        assert (run.outputs is None) == (run.result in ("no group", "raises"))
        if run.outputs is not None:
            outputs = line.run(run.rows)
            assert not isinstance(outputs, str)
            assert list(map(repr, run.outputs.values())) == list(map(repr, outputs))


@pytest.mark.costly
@pytest.mark.parametrize("name", NAMES)
def test_what_is_told_of_benchmarks_is_so(name: str) -> None:
    check(trace_of(name))


def test_all_there_is_to_tell_is_told() -> None:
    """The searches here go through every kind of step but the rarest."""
    events = [e for name in NAMES for e in trace_of(name)]
    events += [e for case in CASES for e in told(case)[1]]
    kinds = {type(e) for e in events}
    assert kinds >= {
        *(record.Searched, record.CountsScaled, record.Explored, record.Proposed, record.Refuted),
        *(
            record.PutBack,
            record.Mined,
            record.Round,
            record.Settled,
            record.Tried,
            record.Minimised,
        ),
        *(record.Stays, record.Weaker, record.Ended, record.Relaxed, record.Checked),
    }
    assert {e.by for e in events if isinstance(e, record.Round)} >= {"sync", "stutter"}
    assert {e.judged for e in events if isinstance(e, record.Tried)} >= {"refuted", "taken"}


@pytest.mark.parametrize("name", ["top2", "case study A", "longest streak", "max equal"])
def test_the_obligation_that_kills_clauses_is_the_one_told(name: str) -> None:
    (case,) = (c for c in CASES if c.name == name)
    solution, events = told(case)
    check_rounds(*first_search(events))
    assert solution.verified is not None


def first_search(events: list[Event]) -> tuple[list[Event], Problem]:
    """The events of the first search, and its problem."""
    searches = [e for e in events if isinstance(e, record.Searched)]
    first = events[: events.index(searches[1])] if len(searches) > 1 else events
    return first, searches[0].problem


def test_rounds_are_checked_at_all() -> None:
    """The check above is not empty, and would notice the other obligation."""
    events, problem = first_search(trace_of(LONG))
    assert check_rounds(events, problem) > 0
    kept = [replace(e, by="stutter") if isinstance(e, record.Round) else e for e in events]
    kept = [replace(e, prefilter=SQL_TRUE) if isinstance(e, record.Proposed) else e for e in kept]
    with pytest.raises(AssertionError):
        check_rounds(kept, problem)


# --- stories that lie -----------------------------------------------------------------------------


def lies() -> list[tuple[str, type, Callable[[Any], Any]]]:
    def moved(e: record.PutBack) -> record.PutBack:
        one = e.needed[0]
        group = replace(one.group, rows=one.group.rows[one.index : one.index + 1] * 2)
        return replace(e, needed=(replace(one, group=group, index=0), *e.needed[1:]))

    def cut(e: Any) -> Any:
        return replace(e, group=replace(e.group, rows=())) if e.group else e

    return [
        ("another row", record.PutBack, moved),
        ("another region", record.PutBack, lambda e: replace(e, needed=elsewhere(e.needed))),
        ("an error", record.PutBack, lambda e: replace(e, needed=raising(e.needed))),
        ("no rows", record.Refuted, cut),
        ("another candidate", record.Refuted, lambda e: replace(e, prefilter=SQL_TRUE)),
        ("kept by the candidate", record.Proposed, lambda e: replace(e, prefilter=SQL_TRUE)),
        ("no group", record.Tried, cut),
        ("rows that do not pass", record.Tried, lambda e: replace(e, prefilter=SQL_FALSE)),
        ("the filter", record.Tried, rejecting),
        ("a conjunct that is not needed", record.Stays, lambda e: replace(e, rest=e.conjunct)),
        ("fewer clauses", record.Mined, lambda e: replace(e, clauses=e.clauses - 1)),
        ("one killed less", record.Round, lambda e: replace(e, killed=e.killed[1:])),
        ("one left more", record.Settled, lambda e: replace(e, clauses=(*e.clauses, SQL_TRUE))),
    ]


def elsewhere(needed: tuple[record.Needed, ...]) -> tuple[record.Needed, ...]:
    return tuple(replace(n, region=SQL_FALSE) for n in needed)


def raising(needed: tuple[record.Needed, ...]) -> tuple[record.Needed, ...]:
    return tuple(replace(n, raises=not n.raises) for n in needed)


def rejecting(event: record.Tried) -> record.Tried:
    return replace(event, residual=event.group.problem.where) if event.group else event


@pytest.mark.parametrize(("kind", "lie"), [lie[1:] for lie in lies()], ids=[x[0] for x in lies()])
def test_a_lie_is_noticed(kind: type, lie: Callable[[Any], Any]) -> None:
    events = trace_of(LONG)
    assert any(isinstance(e, kind) for e in events)
    with pytest.raises(AssertionError):
        check([lie(e) if isinstance(e, kind) else e for e in events])


# --- the same each time ---------------------------------------------------------------------------


@pytest.mark.costly
@pytest.mark.parametrize("name", NAMES)
def test_listening_changes_nothing(name: str) -> None:
    heard, unheard = traced(name), traced(name, trace=False)
    assert unheard.trace is None
    assert "trace" not in unheard.to_json()
    assert heard.certificate == unheard.certificate
    assert heard.solver_calls == unheard.solver_calls


_TELL = """
import sys
from tests.report.trace.test_trace import traced
for name in sys.argv[1:]:
    found = traced(name)
    print(name, found.kind, found.solver_calls)
    print(found.trace)
    print(found.trace.to_json())
    print(found.certificate and found.certificate.to_json())
"""


@pytest.mark.slow
def test_the_hash_seed_does_not_matter() -> None:
    """The same answer, number of solver calls and trace in processes with other hashes."""
    names = ["Ada1_3", "Ada3_3", "MinPooling_1", "SnapshotAggregator_1", "Top2_3", "UDAF2_2"]
    heard = set()
    for seed in ("0", "4242"):
        done = subprocess.run(
            [sys.executable, "-c", _TELL, *names],
            capture_output=True,
            text=True,
            check=True,
            cwd=ROOT,
            env={**os.environ, "PYTHONHASHSEED": seed, "PYTHONPATH": f"{ROOT}:{ROOT / 'src'}"},
        )
        heard.add(done.stdout)
    assert len(heard) == 1
    assert "pre-filter  P1" in heard.pop()


def test_what_else_the_machine_does_is_no_matter(monkeypatch: pytest.MonkeyPatch) -> None:
    """A wall clock that runs away, as it does where others compute, decides nothing."""
    benchmark = SUITE["Top2_3"]
    ticks = count(step=100.0)
    monkeypatch.setattr(time, "perf_counter", lambda: next(ticks))
    monkeypatch.setattr(time, "monotonic", lambda: next(ticks))
    found = synthesize(
        benchmark.family.fold,
        benchmark.filter.where,
        schema=benchmark.schema,
        returns=benchmark.returns,
        budget=60.0,
    )
    assert found.certificate == traced("Top2_3").certificate
    assert found.solver_calls == traced("Top2_3").solver_calls
    assert found.seconds > 60.0
