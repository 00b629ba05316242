"""The published algorithms on a few benchmarks: right answers, accepted by the checker."""

from __future__ import annotations

from itertools import product
from pathlib import Path
from typing import get_args

import pytest
from benchmarks.engines.compare import read
from benchmarks.published.bounds import repair
from benchmarks.published.clauses import clause_term, clauses
from benchmarks.published.conditions import Row, Universes
from benchmarks.published.engine import Options, enlarged, search
from benchmarks.published.flow import Flow, trends
from benchmarks.published.outputs import OutputAtom
from benchmarks.published.rows import base_conditions, row_atoms
from benchmarks.published.search import Ablation
from benchmarks.published.states import state_atoms
from benchmarks.suite import Mode, benchmarks, load

from presieve.certificate import Certificate, Rejected, Verified, check
from presieve.ir.fold import Mode as FoldMode
from presieve.ir.fold import Problem
from presieve.ir.ops import app, sql_conjunction
from presieve.ir.pushdown import Kind, Pushdown
from presieve.ir.sorts import BOOL, Option
from presieve.ir.terms import SQL_TRUE, Op, Scope, Term, Var
from presieve.records import replace
from presieve.semantics.infix import words
from presieve.semantics.interpret import evaluate
from presieve.smt.solver import Effort
from presieve.smt.z3_solver import Z3Solver

SUITE = {b.name: b for b in benchmarks(load(Path(__file__).parents[2] / "benchmarks" / "families"))}


def problem(name: str, mode: Mode) -> Problem:
    found = read(SUITE[name], mode)
    assert found is not None
    return found


def solved(name: str, mode: Mode, ablation: Ablation = "none") -> Pushdown | None:
    found = search(problem(name, mode), Options(ablation, timeout=20))
    assert found.declined == ()
    assert found.solver_calls > 20
    if found.pushdown is not None:
        certificate = Certificate.of(found.problem, found.pushdown)
        assert isinstance(check(certificate), Verified)
    return found.pushdown


@pytest.mark.costly
@pytest.mark.parametrize(
    ("name", "mode", "kind", "prefilter", "residual"),
    [
        ("Top2_1", "grouped", "split", "score >= 90.0", "not (second is none)"),
        ("Top2_1", "global", "split", "score >= 90.0", "not (second is none)"),
        ("Jdata_1", "grouped", "exact", "type = 4", "True"),
        ("Jdata_1", "global", "split", "type = 4", "not (bought = 0)"),
        ("Chicago_1", "grouped", "partial", 'gender = "M" OR gender = "F"', "men AND women"),
        ("Chicago_3", "global", "partial", 'gender = "M" OR gender = "F"', "not (men) OR women"),
        ("Top2_2", "grouped", "split", "score >= 100.0", "best = 100.0 AND second = 100.0"),
        ("Ada3_1", "grouped", "split", "score1 < 50 OR score2 < 50", "low1 < 50 AND low2 < 50"),
        ("UDAF_2", "grouped", "split", "amount > 500.0", None),
    ],
)
def test_answers(name: str, mode: Mode, kind: Kind, prefilter: str, residual: str | None) -> None:
    found = solved(name, mode)
    assert found is not None
    assert (found.kind, words(found.prefilter)) == (kind, prefilter)
    assert residual is None or words(found.residual) == residual


def test_nothing_to_push() -> None:
    """Groups without a man would vanish."""
    assert solved("Chicago_3", "grouped") is None


def test_what_is_right_of_one_group_of_all_rows_loses_groups() -> None:
    """The twin of the test before: the published answer, under GROUP BY, is refuted."""
    found = solved("Chicago_3", "global")
    assert found is not None
    grouped = replace(problem("Chicago_3", "global"), mode=FoldMode.GROUPED)
    refuted = check(Certificate.of(grouped, found))
    assert isinstance(refuted, Rejected)
    assert refuted.reason == "it does not hold"


@pytest.mark.costly
@pytest.mark.parametrize("ablation", [a for a in get_args(Ablation) if a != "none"])
@pytest.mark.parametrize("name", ["Jdata_1", "Basket_3"])
def test_ablations_lose_time_only(name: str, ablation: Ablation) -> None:
    whole, part = solved(name, "grouped"), solved(name, "grouped", ablation)
    assert whole is not None
    assert part is not None
    assert (part.kind, part.prefilter) == (whole.kind, whole.prefilter)


def test_out_of_time() -> None:
    found = search(problem("Top2_1", "grouped"), Options(timeout=0.05))
    assert found.pushdown is None
    assert [d.code for d in found.declined] == ["timeout"]


def test_more_atoms_change_nothing_but_time() -> None:
    plain = search(problem("Jdata_1", "grouped"), Options())
    more = search(problem("Jdata_1", "grouped"), Options(enlarge=30))
    assert plain.pushdown is not None
    assert more.pushdown is not None
    assert more.pushdown.prefilter == plain.pushdown.prefilter
    assert more.solver_calls > plain.solver_calls


def universes(name: str) -> Universes:
    flow = Flow(problem(name, "grouped"))
    effort = Effort()
    known = trends(flow.problem, Z3Solver(), effort)
    rows = row_atoms(flow, known, Z3Solver(), effort)
    return Universes(rows, [OutputAtom(SQL_TRUE, 1)], state_atoms(flow, known))


def test_enlarged_universes() -> None:
    plain = universes("Top2_4")
    more, again = enlarged(plain, 20), enlarged(plain, 20)
    assert more == again
    assert len(plain.states) < len(more.states) <= len(plain.states) * 1.2 + 1
    assert list(more.states[: len(plain.states)]) == list(plain.states)
    assert len(plain.rows) <= len(more.rows) <= len(plain.rows) * 1.2 + 1
    assert enlarged(plain, 0) == plain


def test_data_flow() -> None:
    """The first instant only shrinks, the last only grows, and both are fed by one column."""
    flow = Flow(problem("EventAggregationUdf_9", "grouped"))
    known = trends(flow.problem, Z3Solver(), Effort())
    assert known == {"times": "grows", "prices": "grows", "first": "shrinks", "last": "grows"}
    assert {n: [words(t) for t in found] for n, found in flow.feeders.items()} == {
        "times": [],
        "prices": [],
        "first": ["at"],
        "last": ["at"],
    }
    said = {words(t) for t in base_conditions(flow, known)}
    assert {'action = "time"', 'action = "price"', "at <= 7 OR at <= 5", "at >= 9"} <= said
    assert "at = 7" not in said


def test_the_strongest_prefilter_keeps_some_row() -> None:
    found = universes("EventAggregationUdf_1")
    everything = sql_conjunction(a.term for a in found.rows)
    rows = [
        {(Scope.ROW, "action"): action, (Scope.ROW, "at"): at}
        for action in ("time", "price", "other")
        for at in range(20)
    ]
    assert any(evaluate(everything, env) is True for env in rows)


def test_repair() -> None:
    prefilter = frozenset({1, 2, 3, 4})
    assert repair(prefilter, Row("stutter", frozenset({1, 3, 9}))) == {1, 3}
    assert repair(prefilter, Row("sync", frozenset({1, 3, 9}))) == {2, 4}


def test_clauses_mean_the_same() -> None:
    """In three-valued logic, for every truth value of three conditions."""
    a, b, c = (Var(Scope.OUT, x, Option(BOOL)) for x in "abc")
    both, either = app(Op.SQL_AND, a, b), app(Op.SQL_OR, b, c)
    terms: list[Term] = [
        app(Op.SQL_OR, both, app(Op.SQL_NOT, app(Op.SQL_AND, either, a))),
        app(Op.SQL_NOT, app(Op.SQL_OR, both, app(Op.SQL_AND, c, app(Op.SQL_NOT, b)))),
        app(Op.SQL_AND, either, app(Op.SQL_NOT, both)),
        a,
    ]
    for term in terms:
        rebuilt = sql_conjunction(clause_term(x) for x in clauses(term))
        for values in product((True, False, None), repeat=3):
            env = {(Scope.OUT, n): v for n, v in zip("abc", values, strict=True)}
            assert evaluate(term, env) is evaluate(rebuilt, env)


def test_no_zero_that_a_scan_loses() -> None:
    """``closing >= 0`` is asked of a double: a scan would lose -0.0 to ``price >= 0.0``."""
    flow = Flow(problem("ReturnPriceAggregator_9", "grouped"))
    said = {words(t) for t in base_conditions(flow, trends(flow.problem, Z3Solver(), Effort()))}
    assert any("price >= -0.0" in text for text in said)
    assert not any("price >= 0.0" in text for text in said)


def test_a_double_that_may_be_nan_grows() -> None:
    known = trends(problem("Top2_2", "grouped"), Z3Solver(), Effort())
    assert known["best"] == "grows"
