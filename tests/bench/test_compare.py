"""Engines side by side: the checker judges, and the table counts what it says."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from benchmarks.engines import compare, table
from benchmarks.engines.compare import OURS, SPACER, Engine, answers, engines, implies, read
from benchmarks.engines.magicpush import preconditions
from benchmarks.published import spacer
from benchmarks.published.engine import Options
from benchmarks.published.engine import search as published_search
from benchmarks.suite import Benchmark, benchmarks, load

from presieve.certificate import Certificate
from presieve.cli.app import main
from presieve.ir.fold import Problem
from presieve.ir.ops import app, sql_conjunction
from presieve.ir.terms import SQL_TRUE, Op, Term, int_lit
from presieve.records import replace
from presieve.synthesis.result import SearchResult

SUITE = Path(__file__).parents[2] / "benchmarks" / "families"
PUBLISHED = SUITE.parent / "published.csv"


def benchmark(name: str) -> Benchmark:
    return next(b for b in benchmarks(load(SUITE)) if b.name == name)


def test_both_engines() -> None:
    found = answers(engines(Options(), both=True), [benchmark("Jdata_1")], 20.0, ["grouped"])
    assert [a.engine for a in found] == [OURS, "published algorithms"]
    assert [(a.kind, a.verdict) for a in found] == [("exact", "solved")] * 2
    ours, theirs = table.rows(found, OURS)
    assert (ours.looser, theirs.looser) == (None, 0)
    assert (theirs.of, theirs.solved, theirs.weaker, theirs.wrong, theirs.unanswered) == (
        1,
        1,
        0,
        0,
        0,
    )


def test_a_wrong_answer_counts_as_wrong(monkeypatch: pytest.MonkeyPatch) -> None:
    def stronger(problem: Problem, options: Options) -> SearchResult:
        found = published_search(problem, options)
        assert found.pushdown is not None
        column = problem.fold.column("type")
        more = sql_conjunction([found.pushdown.prefilter, app(Op.SQL_GT, column, int_lit(4))])
        return replace(found, pushdown=replace(found.pushdown, prefilter=more))

    monkeypatch.setattr(compare, "search", stronger)
    (found,) = answers([Engine("x", Options())], [benchmark("Jdata_1")], 20.0, ["grouped"])
    assert found.verdict == "wrong"


def test_timeouts_and_weaker_answers() -> None:
    hasty = Engine("hasty", Options(timeout=0.01))
    (late,) = answers([hasty], [benchmark("Jdata_1")], 20.0, ["grouped"])
    assert (late.verdict, late.kind) == ("unanswered", "none")
    (weaker,) = answers(engines(Options(), both=False), [benchmark("Jdata_3")], 20.0, ["grouped"])
    assert (weaker.verdict, weaker.kind) == ("weaker", "split")


def test_only_the_start_is_rejected() -> None:
    """``bought <> 0`` says no more than that there was a row; ``men AND women`` does."""
    names = ("Jdata_1", "Chicago_2", "Chicago_1")
    found = answers(engines(Options(), both=True), [benchmark(n) for n in names], 20.0, ["global"])
    assert {a.benchmark.name: a.verdict for a in found if a.engine != OURS} == dict.fromkeys(
        names, "solved"
    )
    assert all(a.kind != "exact" for a in found)
    assert [compare.rejects_only_the_start(c) for c in _certificates(found)] == [
        True,
        True,
        False,
    ] * 2


def _certificates(found: list[compare.Answer]) -> list[Certificate]:
    certificates = []
    for a in found:
        assert a.problem is not None
        certificates.append(Certificate(a.problem, a.kind, "universe", a.prefilter, a.residual, ()))
    return certificates


def test_stronger_prefilters() -> None:
    problem = read(benchmark("Jdata_1"), "grouped")
    assert problem is not None
    column = problem.fold.column("type")
    four, more = (app(op, column, int_lit(4)) for op in (Op.SQL_EQ, Op.SQL_GE))
    terms: list[Term] = [four, more, SQL_TRUE]
    implied = [[implies(problem, a, b) for b in terms] for a in terms]
    assert implied == [[True, True, True], [False, True, True], [False, False, True]]


def test_what_was_published() -> None:
    rows = {r.engine: r for r in table.published(PUBLISHED)}
    whole, spacer = rows["published"], rows["published, Spacer"]
    assert (whole.solved, whole.of, whole.median) == (150, 150, 1.605)
    assert (spacer.solved, spacer.unanswered) == (92, 58)


def test_the_command(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    book = tmp_path / "ledger.jsonl"
    args = ["--only", "Jdata_1,Chicago_3", "--mode", "grouped", "--timeout", "20"]
    args += ["--suite", str(SUITE), "--ledger", str(book), "--ablation", "no-repair"]
    assert main(["bench", "synth", "--engine", "published", *args]) == 0
    out = capsys.readouterr().out
    assert "published algorithms, no-repair" in out
    assert "2 of 2" in out
    assert "116.50" in out
    (line,) = map(json.loads, book.read_text().splitlines())
    assert line["bench"] == "engines"
    told = line["benchmarks"]["published algorithms, no-repair, grouped"]
    assert {name: kind for name, (kind, _, _) in told.items()} == {
        "Jdata_1": "exact",
        "Chicago_3": "none",
    }


def test_room_for_magicpush() -> None:
    """Whether anything was bought: exactly. Least scores: with the filter kept. Two best scores
    need two rows, and a number of events depends on how many rows there are.
    """
    names = ("Jdata_1", "Ada3_1", "Top2_1", "EventAggregationUdf_2", "Chicago_3")
    found = answers([Engine(OURS, None)], [benchmark(n) for n in names], 20.0, ["grouped"])
    kinds = [preconditions(a.problem, a.prefilter).kind for a in found if a.problem is not None]
    assert kinds == ["exact", "partial", "none", "none", "none"]
    assert table.magicpush_applies(found, OURS) == {"grouped": {"exact": 1, "partial": 1}}


def test_a_filter_on_order_refutes_magicpush() -> None:
    """The last price within a window depends on the order of rows."""
    problem = read(benchmark("HighLowAggregator_1"), "grouped")
    assert problem is not None
    assert not preconditions(problem, SQL_TRUE).order


def test_a_prefilter_that_matters_refutes_magicpush() -> None:
    problem = read(benchmark("Jdata_1"), "grouped")
    assert problem is not None
    column = problem.fold.column("type")
    met = preconditions(problem, app(Op.SQL_EQ, column, int_lit(4)))
    assert (met.kind, met.insensitive) == ("exact", True)
    wrong = preconditions(problem, app(Op.SQL_GT, column, int_lit(4)))
    assert not wrong.partial or not wrong.insensitive


def test_spacer() -> None:
    """It knows a weakest residual for the least scores, a stronger one for the two best scores,
    and nothing of sums of doubles.
    """
    names = ("Ada3_1", "Top2_1", "UDAF_2", "Chicago_3")
    found = answers([SPACER], [benchmark(n) for n in names], 20.0, ["grouped"])
    assert [(a.kind, a.verdict) for a in found] == [
        ("split", "solved"),
        ("partial", "weaker"),
        ("none", "unanswered"),
        ("none", "unanswered"),
    ]


def test_what_spacer_says_is_checked(monkeypatch: pytest.MonkeyPatch) -> None:
    """Two predicates that are always true break the end of every group."""

    def anything(script: str, seconds: float) -> str:
        declared = [x.split(" ", 1)[1] for x in script.splitlines() if x.startswith("(declare-fun")]
        found = []
        for text in declared:
            name, rest = text.split(" ", 1)
            sorts = rest[1 : rest.index(")")].split()
            parameters = " ".join(f"(x{i} {s})" for i, s in enumerate(sorts))
            found.append(f"(define-fun {name} ({parameters}) Bool true)")
        return "\n".join(found)

    problem = read(benchmark("Jdata_1"), "grouped")
    assert problem is not None
    pushdown = published_search(problem, Options()).pushdown
    assert pushdown is not None
    honest = spacer.infer(problem, pushdown.prefilter, pushdown.residual, 20.0)
    assert honest.residual in ("weakest", "stronger")
    monkeypatch.setattr(spacer, "solve_horn", anything)
    told = spacer.infer(problem, pushdown.prefilter, pushdown.residual, 20.0)
    assert told.residual == "unchecked"
