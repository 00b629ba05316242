"""The harness itself: right answers pass, wrong ones are found, and the figures say so."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest
from benchmarks.suite import MODES, Mode
from benchmarks.synth.run import search
from tests.bench.answers import ANSWERS, BENCHMARKS, Answer
from tests.differential import __main__ as program
from tests.differential import figures
from tests.differential.figures import Line
from tests.differential.pool import FAR, Pool
from tests.differential.python import Python
from tests.differential.replay import Replayed, replay
from tests.differential.trial import Tried, tried
from tests.support.lifting import columns

from presieve.driver.fold_inputs import read_inputs
from presieve.errors import Declined
from presieve.ir.terms import SQL_FALSE, SQL_TRUE
from presieve.records import replace

GROUPS = 600


def run(name: str, mode: Mode = "grouped", **wrong: str) -> Tried:
    answer = search(BENCHMARKS[name], mode)
    return tried(BENCHMARKS[name], mode, replace(answer, **wrong), GROUPS)


@pytest.mark.costly
@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("name", ["Chicago_1", "Top2_1", "EventAggregationUdf_6", "MyAvg_3"])
def test_right_answers(name: str, mode: Mode) -> None:
    found = run(name, mode)
    assert found.failures == []
    assert found.groups >= GROUPS
    assert min(found.passed, found.told, found.vanished, found.dropped) > 10
    assert (found.twins, found.missed) == (found.caught, [])
    assert found.twins > 0


def test_groups_that_break_an_assumption_are_counted_apart() -> None:
    assert run("Top2_1").unlawful > 0  # NaN
    assert run("PointAttributionScalaUdaf_1").raised > 0  # a sum beyond bigint


@pytest.mark.costly
@pytest.mark.parametrize(
    ("name", "wrong"),
    [
        ("Top2_1", {"residual": "true"}),
        ("Top2_1", {"prefilter": "score > 90"}),
        ("EventAggregationUdf_6", {"residual": "times > 7"}),
        ("Jdata_2", {"prefilter": "false"}),
        ("KeepRowWithMaxAge_4", {"prefilter": "number > 25 AND age >= 21"}),
        ("Jdata_3", {"prefilter": "true", "residual": "true"}),
        ("ReturnPriceAggregator_1", {"residual": "opening IS NULL"}),
    ],
)
def test_wrong_answers_are_found(name: str, wrong: dict[str, str]) -> None:
    found = run(name, "grouped", **wrong)
    assert found.failures
    assert " became " in found.failures[0]
    assert not figures.is_good([Line(found, None)])
    assert f"DIFFERS {name} grouped: " in figures.text([Line(found, None)])


@pytest.mark.costly
@pytest.mark.parametrize("answer", ANSWERS, ids=str)
def test_groups_that_vanish_are_found(answer: Answer) -> None:
    """The published answers that are wrong under GROUP BY."""
    pushed = {"prefilter": answer.prefilter, "residual": answer.residual or answer.where}
    assert run(str(answer), "grouped", **pushed).failures
    assert not run(str(answer), "global", **pushed).failures


def test_far_runs_are_those_of_the_loop() -> None:
    benchmark = BENCHMARKS["MyAvg_1"]
    inputs = read_inputs(benchmark.family.fold, benchmark.schema, benchmark.returns, (), "grouped")
    assert not isinstance(inputs, Declined)
    pool = Pool(inputs.problem(SQL_TRUE), inputs, SQL_TRUE)
    python = Python(benchmark.family.fold, pool, columns(benchmark.returns))
    number, other = pool.number({"reading": 0.1}), pool.number({"reading": 7.0})
    short = [((number, 1),) * times for times in (FAR + 5, FAR + 1, FAR + 9)]
    for group in short:
        far = ((number, len(group)), (other, 2))
        assert python.run(far) == python.run((*group, (other, 1), (other, 1)))


def test_replayed() -> None:
    certificate = search(BENCHMARKS["Top2_1"], "grouped").certificate
    assert certificate is not None
    assert replay(certificate).why == ""
    wrong = replay(replace(certificate, prefilter=SQL_FALSE))
    assert wrong.why
    assert not figures.is_good([Line(run("Top2_1"), wrong)])


def test_what_is_told() -> None:
    one = Tried("A_1", "grouped", "split", groups=9, passed=4, twins=2, caught=1, missed=["x"])
    two = Tried("A_1", "global", "empty", groups=9)
    lines = [Line(one, Replayed(0.25)), Line(two, Replayed(0.5, "final: timeout"))]
    assert figures.totals(lines, "grouped")["accepted"] == 1
    assert figures.totals(lines, "global")["accepted"] == 0
    text = figures.text(lines)
    assert "few groups pass: A_1 grouped: 4" in text
    assert "few groups pass: A_1 global" not in text
    assert "twin not caught: A_1 grouped: x" in text
    assert "NOT REPLAYED A_1 global: final: timeout" in text
    assert figures.is_good(lines[:1])
    assert not figures.is_good(lines)


def test_a_run(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    log, book = tmp_path / "log.jsonl", tmp_path / "ledger.jsonl"
    args = ["--only", "Chicago_3", "--groups", "50", "--jobs", "1"]
    args += ["--log", str(log), "--ledger", str(book)]
    monkeypatch.setattr(sys, "argv", ["differential", *args])
    assert program.main() == 0
    assert "differences" in capsys.readouterr().out
    modes = [json.loads(line)["mode"] for line in log.read_text().splitlines()]
    assert modes == ["grouped", "global"]
    (line,) = map(json.loads, book.read_text().splitlines())
    assert (line["bench"], line["grouped"]["groups"]) == ("differential", 50)
    assert (line["grouped"]["certificates"], line["global"]["accepted"]) == (0, 1)
    monkeypatch.setattr(sys, "argv", ["differential", "--only", "Nobody", "--log", str(log)])
    assert program.main() == 2
