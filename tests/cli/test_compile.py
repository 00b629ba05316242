"""``presieve compile``: the expression, its certificate, and what stays a function."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from presieve.cli.app import main

JOBS = Path(__file__).with_name("jobs.py")
GRADE = ["compile", f"{JOBS}:grade", "--schema", "score double", "--returns", "string"]


def run(*args: str) -> tuple[int, str, str]:
    """In a process of its own, whose session is its own, too."""
    done = subprocess.run(
        [sys.executable, "-m", "presieve", *args],
        capture_output=True,
        text=True,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
    )
    return done.returncode, done.stdout, done.stderr


@pytest.fixture(scope="module")
def saved(tmp_path_factory: pytest.TempPathFactory) -> tuple[dict[str, Any], Path]:
    path = tmp_path_factory.mktemp("certificates") / "grade.json"
    code, out, err = run(*GRADE, "--json", "--save", str(path))
    assert code == 0, err
    return json.loads(out), path


@pytest.mark.classic("it starts a local session of its own")
def test_the_expression_and_its_proof(saved: tuple[dict[str, Any], Path]) -> None:
    answer, _ = saved
    assert answer["compiled"] is True
    assert answer["sql"].startswith("CASE WHEN score IS NULL THEN 'none'")
    assert answer["dataframe"] == f"F.expr({answer['sql']!r})"
    assert set(answer["conditions"]) == {"safe value", "raises value", "equal value"}


@pytest.mark.classic("it starts a local session of its own")
@pytest.mark.parametrize("solver", ["z3", "cvc5"])
def test_check_knows_the_certificate(
    saved: tuple[dict[str, Any], Path], solver: str, capsys: pytest.CaptureFixture[str]
) -> None:
    answer, path = saved
    assert main(["check", str(path), "--solver", solver, "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["kind"] == "compiled"
    assert found["solver"] == solver
    assert found["expressions"] == [f"value: {answer['sql']}"]
    assert main(["check", str(path)]) == 0
    assert "compiled" in capsys.readouterr().out


@pytest.mark.classic("it starts a local session of its own")
def test_a_certificate_that_was_changed_is_rejected(
    saved: tuple[dict[str, Any], Path], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    data = json.loads(saved[1].read_text())
    (expression,) = data["expressions"]
    other = tmp_path / "other.json"
    changed = {**expression, "value": expression["value"].replace("low", "loww")}
    assert changed != expression
    other.write_text(json.dumps({**data, "expressions": [changed]}))
    assert main(["check", str(other), "--json"]) == 1
    assert json.loads(capsys.readouterr().out)["condition"] == "equal value"


BROKEN: dict[str, dict[str, Any]] = {
    "nothing else": {"presieve": 2, "kind": "compiled"},
    "no list": {"presieve": 2, "kind": "compiled", "expressions": 5, "problem": []},
    "another format": {"presieve": 1, "kind": "compiled", "expressions": [], "problem": []},
    "no problem": {"presieve": 2, "kind": "compiled", "expressions": [], "problem": ["x"]},
}


@pytest.mark.parametrize("name", BROKEN)
def test_what_is_no_certificate(
    name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "c.json"
    path.write_text(json.dumps(BROKEN[name]))
    assert main(["check", str(path)]) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert err.startswith(f"presieve: {path}: ")


@pytest.mark.classic("it starts a local session of its own")
def test_what_stays_a_function() -> None:
    schema = ("--schema", "x bigint", "--returns", "bigint")
    code, out, _ = run("compile", f"{JOBS}:hashed", *schema)
    assert code == 1
    assert "declined" in out
    assert "[unknown-call]" in out


@pytest.mark.parametrize(
    ("args", "said"),
    [
        (["--schema", "score dubble", "--returns", "string"], "dubble"),
        (["--schema", "score double", "--returns", "strung"], "strung"),
    ],
)
def test_usage(args: list[str], said: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["compile", f"{JOBS}:grade", *args]) == 2
    assert said in capsys.readouterr().err
