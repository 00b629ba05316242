"""The suite is the published one, the benchmark judges rightly, and its ledger grows by lines."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from benchmarks import ledger
from benchmarks.synth.run import measure
from tests.bench.counting import counting

from presieve.cli.app import main

SUITE = Path(__file__).parents[2] / "benchmarks" / "families"


@pytest.mark.parametrize(
    ("where", "published", "kind", "right"),
    [
        ("n >= 1", "exact", "exact", True),
        ("n >= 1", "partial", "exact", True),
        ("n >= 3", "partial", "partial", True),
        ("n >= 3", "split", "partial", False),
        ("n <= 3", "partial", "none", False),
    ],
)
def test_judged(where: str, published: str, kind: str, right: bool) -> None:
    (found,) = measure([counting(where, published)], ["grouped"], runs=1)
    assert (found.answer.kind, found.right) == (kind, right)
    assert found.typical == found.seconds[0] > 0


@pytest.mark.parametrize(
    ("where", "published", "kind", "counted", "right"),
    [
        ("n >= 1", "exact", "split", True, True),
        ("n > 0 OR n < -3 AND n <> -5", "exact", "split", True, True),
        ("n >= 2", "exact", "partial", False, False),
        ("n >= 1 AND n <> 5", "exact", "split", False, False),
        ("n >= 1", "split", "split", False, True),
        ("true", "exact", "exact", True, True),
    ],
)
def test_a_residual_that_only_looks_for_the_start_counts_as_exact(
    where: str, published: str, kind: str, counted: bool, right: bool
) -> None:
    (found,) = measure([counting(where, published)], ["global"], runs=1)
    assert (found.answer.kind, found.counts_as_exact, found.right) == (kind, counted, right)


def test_a_ledger_keeps_its_lines(tmp_path: Path) -> None:
    path = tmp_path / "new" / "ledger.jsonl"
    ledger.append(path, "one", {"median": 0.5})
    ledger.append(path, "two", {"median": 0.25})
    lines = [json.loads(line) for line in path.read_text().splitlines()]
    assert [line["bench"] for line in lines] == ["one", "two"]
    assert [line["median"] for line in lines] == [0.5, 0.25]
    assert {"at", "cores", "python", "presieve", "z3"} <= set(lines[0])


def test_a_run(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    book, curve = tmp_path / "ledger.jsonl", tmp_path / "curve.svg"
    args = ["--suite", str(SUITE), "--only", "Chicago", "--runs", "2"]
    args += ["--mode", "grouped", "--ledger", str(book), "--svg", str(curve), "--detail"]
    assert main(["bench", "synth", *args]) == 0
    out = capsys.readouterr().out
    assert "Chicago_1" in out
    assert "1 exact 1 partial 1 none" in out
    (line,) = book.read_text().splitlines()
    told = json.loads(line)["grouped"]
    assert (told["right"], told["of"]) == (3, 3)
    found = told["benchmarks"].values()
    assert [b["kind"] for b in found] == ["partial", "exact", "none"]
    assert [len(b["seconds"]) for b in found] == [2, 2, 2]
    assert "share of benchmarks answered" in curve.read_text()
    again = tmp_path / "again.svg"
    args = ["--suite", str(SUITE), "--again", "--ledger", str(book), "--svg", str(again)]
    assert main(["bench", "synth", *args]) == 0
    assert capsys.readouterr().out in out  # but for the lines of each benchmark
    assert again.read_text() == curve.read_text()
    assert len(book.read_text().splitlines()) == 1


def test_no_run_to_show(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    book = tmp_path / "ledger.jsonl"
    args = ["bench", "synth", "--suite", str(SUITE), "--again", "--ledger", str(book)]
    assert main(args[:-2]) == 2
    assert main(args) == 2
    ledger.append(book, "engines", {})
    assert main(args) == 2
    assert "no run of synth" in capsys.readouterr().err
    ledger.append(book, "synth", {"grouped": {"benchmarks": {"Chicago_1": ["partial", 0.1]}}})
    assert main(args) == 2
    assert "not one of this benchmark" in capsys.readouterr().err


def test_no_such_benchmark(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["bench", "synth", "--suite", str(SUITE), "--only", "Nobody"]) == 2
    assert "called Nobody" in capsys.readouterr().err
    assert main(["bench", "synth", "--suite", str(tmp_path)]) == 2
    assert "no benchmark families" in capsys.readouterr().err
