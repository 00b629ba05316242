"""What other processes found counts after it is checked, and whatever else lies there does not."""

from __future__ import annotations

import json
import logging
import os
import subprocess
import sys
from collections.abc import Callable
from itertools import chain
from pathlib import Path
from typing import Any

import pytest
from tests.driver import folds
from tests.driver.declared import Best
from tests.support import mutants
from tests.support.mutants import is_true

from presieve.certificate import Certificate
from presieve.driver.cache import checked as recalling
from presieve.driver.cache import lookup as solving
from presieve.driver.cache.checked import Query, keep, recall
from presieve.driver.cache.disk import CACHE, Store
from presieve.driver.cache.process import Memory
from presieve.driver.declare import read_declared, with_declared
from presieve.driver.fold_inputs import Inputs, read_filter, read_inputs
from presieve.driver.solve import Policy, Solution, solve
from presieve.errors import Declined
from presieve.ir.fold import Assumption, Problem
from presieve.ir.terms import TRUE
from presieve.records import replace
from presieve.semantics.assumptions import SUM_IN_RANGE

Data = dict[str, Any]


def problem(where: str, fold: object = folds.Maximum, v: str = "v bigint NOT NULL") -> Problem:
    inputs = read_inputs(fold, f"k string, {v}", "m bigint", "k", "grouped")
    assert isinstance(inputs, Inputs), inputs
    term = read_filter("where", where, inputs.output_names())
    assert not isinstance(term, Declined)
    return inputs.problem(term)


def best(policy: Policy = "default", declare: str = "") -> Query:
    """The maximum of a double: without a declaration NaN is assumed away."""
    inputs = read_inputs(Best, "team string, score double", "best double", "team", "grouped")
    assert isinstance(inputs, Inputs)
    term = read_filter("where", "best > 90", inputs.output_names())
    assert not isinstance(term, Declined)
    facts = read_declared([declare] if declare else [], inputs.input_names(), "UTC")
    bare, known = with_declared(inputs.problem(term), facts)
    return Query(bare, policy, known, 10.0, 10.0)


def ask(where: str, budget: float = 10.0, left: float | None = None) -> Query:
    return Query(problem(where), "default", {}, budget, budget if left is None else left)


def solution(asked: Query) -> Solution:
    return solve(asked.problem, budget=asked.left, policy=asked.policy, discharged=asked.known)


def kept(store: Store, asked: Query) -> Solution:
    found = solution(asked)
    keep(store, asked, found)
    return found


def entry(store: Store, asked: Query) -> Data:
    data = store.get(asked.name)
    assert data is not None
    loaded: Data = json.loads(data)
    return loaded


def said(found: Solution) -> tuple[object, ...]:
    """All but time, effort and the seal."""
    terms = (found.prefilter, found.residual, found.invariant)
    told = (found.assumptions, found.discharged, found.declined)
    return found.problem, found.kind, found.strength, *terms, *told


@pytest.fixture
def store(tmp_path: Path) -> Store:
    return Store(tmp_path)


# --- what comes back ----------------------------------------------------------------------------


@pytest.mark.costly
@pytest.mark.parametrize(
    "asked",
    [
        ask("m > 3"),
        ask("m < 3"),
        ask("m > 3 AND k = 'a'"),
        ask("m > 3 AND m < 2"),
        Query(problem("m >= 5", folds.CountAbove), "default", {}, 10.0, 10.0),
        Query(problem("m > 5", folds.MaximumOfPositive), "default", {}, 10.0, 10.0),
        Query(problem("m > 5", folds.MaximumOfPositive), "strict", {}, 10.0, 10.0),
        Query(problem("m > 5", folds.MaximumPresent, "v bigint"), "strict", {}, 10.0, 10.0),
        best(),
        best("assume"),
        best("strict"),
        best("strict", "NOT isnan(score)"),
        best("default", "NOT isnan(score)"),
        best("default", "score <= 90.0"),
    ],
    ids=str,
)
def test_the_same_comes_back(store: Store, asked: Query) -> None:
    found = kept(store, asked)
    back = recall(store, asked)
    assert back is not None
    assert said(back) == said(found)
    assert (back.verified is None) == (found.verified is None)
    if found.verified is not None and back.verified is not None:
        assert back.verified.certificate == found.verified.certificate
        assert back.verified.may_erase_error == found.verified.may_erase_error
        assert back.solver_calls < found.solver_calls, "those of the check alone"


def test_another_question_has_another_answer(store: Store) -> None:
    kept(store, ask("m > 3"))
    others = [
        ask("m > 4"),
        replace(ask("m > 3"), policy="strict"),
        replace(ask("m > 3"), policy="assume"),
        Query(problem("m > 3", folds.MaximumPresent), "default", {}, 10.0, 10.0),
        Query(problem("m > 3", v="v int NOT NULL"), "default", {}, 10.0, 10.0),
        Query(problem("m > 3", v="v bigint"), "default", {}, 10.0, 10.0),
        replace(ask("m > 3"), known={Assumption("declared", "so", TRUE): "the caller"}),
    ]
    assert len({a.name for a in [ask("m > 3"), *others]}) == 8
    assert [recall(store, a) for a in others] == [None] * 7
    assert recall(store, ask("m > 3")) is not None


def test_another_version_asks_another_question(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    kept(store, ask("m > 3"))
    for name in ("presieve", "z3", "python"):
        other = {**recalling.versions(), name: "another"}
        with monkeypatch.context() as patch:
            patch.setattr(recalling, "versions", lambda other=other: other)
            assert recall(store, ask("m > 3")) is None
    assert recall(store, ask("m > 3")) is not None


# --- budgets ------------------------------------------------------------------------------------


def test_what_a_small_budget_found_is_no_answer_for_a_large_one(store: Store) -> None:
    found = solution(ask("m > 3"))
    keep(store, ask("m > 3", budget=2.0, left=1.0), replace(found, seconds=0.9))
    assert recall(store, ask("m > 3", budget=2.0, left=1.9)) is not None
    assert recall(store, ask("m > 3", budget=0.5)) is not None
    assert recall(store, ask("m > 3", budget=60.0)) is None
    assert store.measure_size()[0] == 1, "it is right all the same"
    keep(store, ask("m > 3", budget=2.0), replace(found, seconds=0.1))
    assert recall(store, ask("m > 3", budget=60.0)) is not None, "it did not need its budget"


def test_that_nothing_was_found_counts_for_what_was_left(store: Store) -> None:
    failed = solution(Query(problem("m >= 5", folds.Size), "default", {}, 10.0, 10.0))
    assert failed.verified is None
    keep(store, ask("m > 3", budget=9.0, left=2.0), replace(failed, seconds=1.9))
    again = recall(store, ask("m > 3", budget=9.0, left=2.1))
    assert again is not None
    assert again.verified is None
    assert again.kind == "none"
    assert again.problem == problem("m > 3")
    assert recall(store, ask("m > 3", budget=9.0, left=8.0)) is None
    keep(store, ask("m > 3", budget=9.0, left=2.0), replace(failed, seconds=0.1))
    assert recall(store, ask("m > 3", budget=99.0)) is not None


def test_reasons_come_back_with_the_place_of_the_function_as_it_stands_now(store: Store) -> None:
    asked = ask("m > 3")
    here = asked.problem.fold.span
    assert here is not None
    reasons = Declined("no-proof", "said before", here), Declined("space", "no place")
    failed = solution(Query(problem("m >= 5", folds.Size), "default", {}, 10.0, 10.0))
    keep(store, asked, replace(failed, declined=reasons))
    moved = replace(here, line=here.line + 7)
    later = replace(asked.problem, fold=replace(asked.problem.fold, span=moved))
    back = recall(store, replace(asked, problem=later))
    assert back is not None
    assert back.declined == (replace(reasons[0], span=moved), reasons[1])


# --- damage -------------------------------------------------------------------------------------


def assert_dropped(store: Store, asked: Query, caplog: pytest.LogCaptureFixture) -> None:
    """Not used, told once, gone; and then the search answers."""
    caplog.clear()
    with caplog.at_level(logging.WARNING, logger="presieve"):
        assert recall(store, asked) is None
    assert len(caplog.records) == 1
    assert "dropping a cache entry" in caplog.text
    assert not store.path(asked.name).exists()


def test_a_file_cut_off_anywhere(store: Store, caplog: pytest.LogCaptureFixture) -> None:
    asked = ask("m > 3")
    kept(store, asked)
    whole = store.path(asked.name).read_bytes()
    for end in [*range(0, len(whole) - 2, 97), len(whole) - 2]:
        store.path(asked.name).write_bytes(whole[:end])
        assert_dropped(store, asked, caplog)
    store.path(asked.name).write_bytes(whole)
    assert recall(store, asked) is not None


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"\x00" * 5000,
        b"\xff\xfe\x00",
        b"null",
        b"[]",
        b"{}",
        b'"text"',
        b"1e999",
        b"[" * 100_000,
        b'{"presieve_cache": 1}',
        b'{"presieve_cache": ' + b"9" * 5000 + b"}",
        b"x" * (2**20 + 5),
    ],
    ids=lambda b: repr(b[:12]),
)
def test_a_file_of_something_else(
    content: bytes, store: Store, caplog: pytest.LogCaptureFixture
) -> None:
    asked = ask("m > 3")
    store.path(asked.name).write_bytes(content)
    assert_dropped(store, asked, caplog)


JUNK: list[object] = [{}, [], "", "x", -1, 0, 1e999, float("nan"), [None], [[]], [["a", "b"]], True]


def test_any_part_missing_or_of_another_type(
    store: Store, caplog: pytest.LogCaptureFixture
) -> None:
    asked = ask("m > 3")
    found = kept(store, asked)
    good = entry(store, asked)
    assert good["declined"] == []
    for part in good:
        store.put(asked.name, json.dumps({n: v for n, v in good.items() if n != part}))
        assert_dropped(store, asked, caplog)
        for junk in JUNK:
            store.put(asked.name, json.dumps({**good, part: junk}))
            back = recall(store, asked)
            same = junk == good[part]  # 1 and True
            if part == "budget" or same:
                assert back is None or said(back) == said(found)
            else:
                assert back is None, (part, junk)
                assert not store.path(asked.name).exists()


def test_an_entry_of_another_version_under_this_name(
    store: Store, caplog: pytest.LogCaptureFixture
) -> None:
    asked = ask("m > 3")
    kept(store, asked)
    good = entry(store, asked)
    for part, value in [
        ("presieve_cache", 2),
        ("name", "0" * 64),
        ("versions", {**good["versions"], "presieve": "0.0"}),
        ("versions", {**good["versions"], "z3": "1.0"}),
    ]:
        store.put(asked.name, json.dumps({**good, part: value}))
        assert_dropped(store, asked, caplog)


def test_an_entry_under_the_name_of_another(store: Store, caplog: pytest.LogCaptureFixture) -> None:
    """Copied as it is, or with its name changed too: its certificate is of another problem."""
    kept(store, ask("m > 100"))
    other = entry(store, ask("m > 100"))
    asked = ask("m > 3")
    for copied in (other, {**other, "name": asked.name}):
        store.put(asked.name, json.dumps(copied))
        assert_dropped(store, asked, caplog)


# --- tampering ----------------------------------------------------------------------------------


def tampered(store: Store, asked: Query, change: Callable[[Data], Data]) -> None:
    good = entry(store, asked)
    store.put(asked.name, json.dumps({**good, "certificate": change(good["certificate"])}))


def always(claim: Certificate) -> Callable[[Data], Data]:
    return lambda _: claim.to_json()


@pytest.mark.parametrize(
    "changes",
    [
        {"prefilter": "(sql> row.v:Int 100:Int)"},
        {"prefilter": "false:Bool?"},
        {"prefilter": "(sql-not (sql> row.v:Int 3:Int))"},
        {"prefilter": "false:Bool?", "residual": "false:Bool?", "kind": "empty"},
        {"residual": "false:Bool?"},
        {"invariant": ["false:Bool"]},
        {"invariant": []},
        {"witnesses": []},
        {"kind": "split"},
        {"kind": "none"},
    ],
    ids=str,
)
def test_a_certificate_that_claims_something_wrong(
    changes: Data, store: Store, caplog: pytest.LogCaptureFixture
) -> None:
    asked = ask("m > 3")
    kept(store, asked)
    tampered(store, asked, lambda good: {**good, **changes})
    assert_dropped(store, asked, caplog)


def test_a_certificate_that_is_right_of_another_problem(
    store: Store, caplog: pytest.LogCaptureFixture
) -> None:
    """The checker accepts it as it stands there, but not of the problem that is asked."""
    asked = ask("m > 3")
    kept(store, asked)
    for other in (problem("m > 100"), problem("m < 100 AND m > 3"), problem("m > 3", folds.Total)):
        right = solve(other).verified
        if right is not None:
            tampered(store, asked, always(right.certificate))
            assert_dropped(store, asked, caplog)
            kept(store, asked)


def test_a_claim_that_holds_here_too_is_told_of_the_problem_that_is_asked(store: Store) -> None:
    asked = ask("m > 3")
    kept(store, asked)
    other = solve(problem("m > 3", v="v int NOT NULL")).verified
    assert other is not None
    tampered(store, asked, always(other.certificate))
    back = recall(store, asked)
    assert back is not None
    assert back.problem == asked.problem != other.certificate.problem


@pytest.mark.parametrize("code", ["no-nan", "declared", "pure", "anything"])
def test_an_assumption_that_makes_the_claim_right(
    code: str, store: Store, caplog: pytest.LogCaptureFixture
) -> None:
    """Under "every v is above 100" all rows may go that are not; nobody said that they are not."""
    asked = ask("m > 3")
    kept(store, asked)
    high = f'  (assume "{code}" "no v is NaN" (py> row.v:Int 100:Int)))'

    def change(good: Data) -> Data:
        lines = good["problem"]
        assert lines[-1].endswith("))")
        problem = [*lines[:-1], lines[-1][:-1], high]
        stronger = "(sql> row.v:Int 100:Int)"
        return {**good, "prefilter": stronger, "problem": problem, "strength": "universe"}

    tampered(store, asked, change)
    assert_dropped(store, asked, caplog)
    assert "assumes what is not to be assumed" in caplog.text


def test_what_the_meaning_rests_on_cannot_be_kept_silent(
    store: Store, caplog: pytest.LogCaptureFixture
) -> None:
    asked = ask("m > 3")
    told = SUM_IN_RANGE.of(what="m")
    asked = replace(asked, problem=replace(asked.problem, assumptions=(told,)))
    found = kept(store, asked)
    assert found.assumptions == ({"code": told.code, "text": told.text},)
    tampered(store, asked, lambda good: {**good, "problem": without_assumptions(good)})
    assert_dropped(store, asked, caplog)
    assert "does not tell" in caplog.text


def without_assumptions(good: Data) -> list[str]:
    lines = [line for line in good["problem"] if "(assume" not in line]
    assert len(lines) < len(good["problem"])
    return [*lines[:-1], lines[-1] + ")"]


def test_strict_stays_strict(store: Store, caplog: pytest.LogCaptureFixture) -> None:
    """What the default policy accepts, with the name of the strict question."""
    for loose, strict in (
        (best(), best("strict")),
        (
            Query(problem("m > 5", folds.MaximumOfPositive), "default", {}, 10.0, 10.0),
            Query(problem("m > 5", folds.MaximumOfPositive), "strict", {}, 10.0, 10.0),
        ),
    ):
        found = kept(store, loose)
        assert found.assumptions
        store.put(strict.name, json.dumps({**entry(store, loose), "name": strict.name}))
        assert_dropped(store, strict, caplog)


@pytest.mark.parametrize("asked", [ask("m > 3"), best()], ids=["bigint", "double"])
def test_no_tampering_gets_a_wrong_claim_used(asked: Query, store: Store) -> None:
    """Each place of the certificate changed: it is not used, or holds when both are run."""
    kept(store, asked)
    good = entry(store, asked)
    data = good["certificate"]
    every = chain(
        mutants.field_mutants(data),
        mutants.invariant_mutants(data),
        mutants.predicate_mutants(data),
        mutants.problem_mutants(data),
        mutants.witness_mutants(data),
    )
    used = dropped = 0
    seen: set[Certificate] = set()
    for _, changed in every:
        store.put(asked.name, json.dumps({**good, "certificate": changed}))
        back = recall(store, asked)
        if back is None:
            dropped += 1
            continue
        used += 1
        assert (back.problem.fold, back.problem.where) == (asked.problem.fold, asked.problem.where)
        assert set(back.problem.assumptions) <= set(asked.problem.assumptions)
        if back.verified is None:
            assert back.kind == "none"
        elif back.verified.certificate not in seen:
            seen.add(back.verified.certificate)
            assert is_true(back.verified.certificate)
    assert dropped > 60
    assert used > 5  # what the file says of the problem is not what is proved


# --- between processes --------------------------------------------------------------------------

JOB = """
import sys
from presieve.synthesis.invariant import minimal_assumptions
searched = []
real = minimal_assumptions.synthesize
def counting(problem, *args, **options):
    searched.append(problem)
    return real(problem, *args, **options)
minimal_assumptions.synthesize = counting
from tests.driver.test_recall import ask, best, said
from presieve.driver.cache.lookup import solution_of
for asked in (ask("m > 3"), ask("m < 3"), best(), best("strict")):
    found = solution_of(asked)
    print(found.kind, found.verified is not None, found.prefilter, found.assumptions)
print(len(searched), file=sys.stderr)
"""


def job(directory: object, seed: int = 0) -> subprocess.Popen[str]:
    root = Path(__file__).parents[2]
    env = {
        **os.environ,
        CACHE: str(directory),
        "PYTHONHASHSEED": str(seed),
        "PYTHONPATH": os.pathsep.join([str(root / "src"), str(root)]),
    }
    # What tests import switches the cache off for good measure.
    code = f"import os; import tests.conftest; os.environ[{CACHE!r}] = {str(directory)!r}\n{JOB}"
    return subprocess.Popen(
        [sys.executable, "-c", code],
        env=env,
        cwd=root,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def finished(started: subprocess.Popen[str]) -> tuple[str, int]:
    """What it found, and how often it searched."""
    out, err = started.communicate(timeout=300)
    assert started.returncode == 0, err
    return out, int(err.splitlines()[-1])


def test_the_second_process_does_not_search(tmp_path: Path) -> None:
    first, searches = finished(job(tmp_path, seed=1))
    assert searches >= 4
    assert first.count("True") >= 2
    again, none = finished(job(tmp_path, seed=2))
    assert (again, none) == (first, 0)
    unkept, searches_too = finished(job("off", seed=3))
    assert (unkept, searches_too) == (first, searches)
    assert Store(tmp_path).measure_size()[0] == 4
    assert Store(tmp_path).clear() == 4
    assert finished(job(tmp_path)) == (first, searches)


@pytest.mark.slow
def test_two_processes_at_once(tmp_path: Path) -> None:
    together = [job(tmp_path, seed) for seed in (1, 2)]
    told = [finished(one) for one in together]
    assert told[0][0] == told[1][0]
    assert Store(tmp_path).measure_size()[0] == 4
    assert finished(job(tmp_path)) == (told[0][0], 0)


# --- in one process -----------------------------------------------------------------------------


def answered(asked: Query) -> Solution:
    return solving.solution_of(asked)


def test_a_process_remembers_and_looks_into_the_cache_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setenv(CACHE, str(tmp_path))
    monkeypatch.setattr(solving, "_MEMORY", Memory())
    asked = ask("m > 3")
    found = answered(asked)
    assert found.verified is not None
    Store(tmp_path).path(asked.name).write_text("damaged")
    assert answered(asked) is found
    monkeypatch.setattr(solving, "_MEMORY", Memory())
    assert said(answered(asked)) == said(found)
    assert "dropping a cache entry" in caplog.text
    assert recall(Store(tmp_path), asked) is not None, "written anew"


def test_switched_off_nothing_is_read_or_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    monkeypatch.setenv(CACHE, "off")
    monkeypatch.setattr(solving, "_MEMORY", Memory())
    assert answered(ask("m > 3")).verified is not None
    assert list(tmp_path.iterdir()) == []
