"""``presieve saved`` and what ``presieve run`` records, without Spark."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from presieve.cli.app import main
from presieve.driver.ledger import append

PRESIEVE = str(Path(sys.executable).with_name("presieve"))


def line(job: str, day: int) -> dict[str, object]:
    boundary = {"operator": "FlatMapGroupsInPandas", "function": "f[bold]", "where": "x > 1"}
    rest = {"kind": "split", "runs_as": "list", "run": None}
    spared = {"spared": {"runs": 1, "not_read": 600, "not_to_python": 1000}}
    return {
        "format": 1,
        "job": job,
        "started": f"2026-11-0{day}T02:00:00+00:00",
        "seconds": {"total": 60.0, "optimize": 2.0, "checking": 1.0, "compiling": 0.5},
        "dataframes": [{"changed": True, "boundaries": [{**boundary, **rest, **spared}]}],
    }


@pytest.fixture
def ledgers(tmp_path: Path) -> list[str]:
    paths = [tmp_path / "a.jsonl", tmp_path / "b.jsonl"]
    for path, job in zip(paths, ("nightly.py", "hourly.py"), strict=True):
        for day in (1, 2):
            append(path, line(job, day))
    return list(map(str, paths))


def test_sums_for_people(ledgers: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["saved", *ledgers]) == 0
    shown = capsys.readouterr()
    assert shown.err == ""
    assert "nightly.py: 2 runs, 2026-11-01 to 2026-11-02" in shown.out
    assert "hourly.py: 2 runs" in shown.out
    assert "optimize took 4.0 s of 120.0 s in all" in shown.out
    assert "f[bold]" in shown.out  # no markup
    assert "1,200" in shown.out
    assert "2,000" in shown.out
    assert "(count)" in shown.out
    assert "(measured)" in shown.out


def test_sums_for_programs(ledgers: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    with Path(ledgers[0]).open("ab") as file:
        file.write(b'{"format": 1, "jo')
    assert main(["saved", "--json", "--since", "2026-11-02T00:00:00+00:00", *ledgers]) == 0
    shown = capsys.readouterr()
    assert shown.err == "presieve: 1 line is no record, and left out\n"
    answer = json.loads(shown.out)
    assert (answer["format"], answer["broken_lines"]) == (1, 1)
    assert [(j["job"], j["runs"]) for j in answer["jobs"]] == [("nightly.py", 1), ("hourly.py", 1)]
    (boundary,) = answer["jobs"][0]["boundaries"]
    assert boundary["counted"]["rows_not_read"] == {"sum": 600, "runs": 1}


def test_no_run_is_an_answer(ledgers: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["saved", "--since", "2027-01-01", ledgers[0]]) == 1
    assert capsys.readouterr().out == "no run is recorded since 2027-01-01\n"


@pytest.mark.parametrize("since", ["yesterday", "2026-13-01", ""])
def test_no_date(since: str, ledgers: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["saved", "--since", since, ledgers[0]]) == 2
    assert "it is no date; write it as 2026-11-01" in capsys.readouterr().err


def run(folder: Path, code: str, *options: str) -> subprocess.CompletedProcess[str]:
    (folder / "job.py").write_text(code)
    return subprocess.run(
        [PRESIEVE, "run", *options, "job.py"],
        cwd=folder,
        capture_output=True,
        text=True,
        timeout=120,
    )


def test_json_is_all_of_standard_output(tmp_path: Path) -> None:
    job = "import os\nprint('from Python')\nos.system('echo from a child')\nraise SystemExit(3)\n"
    done = run(tmp_path, job, "--json", "--quiet", "--ledger", "runs.jsonl")
    assert done.returncode == 3
    record = json.loads(done.stdout)
    assert (record["format"], record["job"], record["dataframes"]) == (1, "job.py", [])
    assert record["seconds"]["total"] > 0
    assert sorted(done.stderr.split("\n")) == ["", "from Python", "from a child"]
    (stored,) = (tmp_path / "runs.jsonl").read_text().splitlines()
    assert json.loads(stored) == record


def test_a_job_keeps_its_output_while_a_ledger_is_written(tmp_path: Path) -> None:
    for _ in range(2):
        done = run(tmp_path, "print('mine')\n", "--quiet", "--ledger", "runs.jsonl")
        assert (done.returncode, done.stdout, done.stderr) == (0, "mine\n", "")
    assert len((tmp_path / "runs.jsonl").read_text().splitlines()) == 2
    refused = run(tmp_path, "print('mine')\n", "--ledger", "no/folder/runs.jsonl")
    assert (refused.returncode, refused.stdout) == (2, "")
    assert "no folder" in refused.stderr
