"""The synthesis benchmark answers as it should, and its ledger grows by lines."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from presieve.bench import ledger
from presieve.bench.__main__ import main
from presieve.bench.synth import CASES, measure


@pytest.mark.parametrize("case", CASES, ids=lambda c: c.name)
def test_kinds(case: object) -> None:
    (measured,) = measure([c for c in CASES if c is case], repetitions=1)
    assert measured.kind == measured.case.kind
    assert len(measured.seconds) == 1
    assert measured.typical > 0


def test_a_ledger_keeps_its_lines(tmp_path: Path) -> None:
    path = tmp_path / "new" / "ledger.jsonl"
    ledger.append(path, "one", {"median": 0.5})
    ledger.append(path, "two", {"median": 0.25})
    lines = [json.loads(line) for line in path.read_text().splitlines()]
    assert [line["bench"] for line in lines] == ["one", "two"]
    assert [line["median"] for line in lines] == [0.5, 0.25]
    assert {"at", "cores", "python", "presieve", "z3"} <= set(lines[0])


def test_the_whole_run(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(tmp_path / "ledger.jsonl") == 0
    out = capsys.readouterr().out
    assert "top two, both" in out
    (line,) = (tmp_path / "ledger.jsonl").read_text().splitlines()
    assert set(json.loads(line)["cases"]) == {c.name for c in CASES}
