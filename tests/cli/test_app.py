"""Exit codes and the one line of an error, whatever goes wrong."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import textwrap
import tomllib
from pathlib import Path

import pytest
from tests.support.commands import parse

from presieve.cli import app
from presieve.cli.app import main

COMMANDS = [c.name for c in app.app.registered_commands] + ["bench"]


def error_line(capsys: pytest.CaptureFixture[str]) -> str:
    """The one line on standard error; nothing is on standard output."""
    out, err = capsys.readouterr()
    assert out == ""
    lines = err.splitlines()
    assert len(lines) == 1, err
    assert lines[0].startswith("presieve: ")
    return lines[0]


@pytest.mark.parametrize(
    ("args", "text"),
    [
        (["synth", "f.py:f"], "Missing option '--schema'; see `presieve synth --help`"),
        (["nonsense"], "No such command 'nonsense'; see `presieve --help`"),
        (["check", "c.json", "--solver", "magic"], "'magic' is not one of"),
        (["demo", "--rows", "5"], "--rows"),
        (["run", "--cost", "sometimes", "job.py"], "--cost: cost is 'auto', 'always' or"),
        (["check", "nowhere.json"], "nowhere.json: No such file or directory"),
        (["synth", "nowhere.py:f", "--schema", "x int", "--where", "x > 1"], "no such file"),
    ],
)
def test_usage(args: list[str], text: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(args) == 2
    assert text in error_line(capsys)


@pytest.mark.parametrize("cost", ["auto", "always", "never"])
def test_a_run_takes_the_cost(cost: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from presieve.cli import job, run
    from presieve.driver.session import SessionSetting

    path = tmp_path / "job.py"
    path.write_text("pass\n")
    enabled: list[SessionSetting] = []
    monkeypatch.setattr(run, "enable_everywhere", enabled.append)
    monkeypatch.setattr(job, "end", lambda found, args: 0)
    assert main(["run", "--quiet", "--cost", cost, str(path)]) == 0
    assert [s.given["cost"] for s in enabled] == [cost]


def test_a_certificate_that_is_none(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "c.json"
    for text in ("{", "[]", '{"presieve": 1}', '{"presieve": 1, "kind": "exact"}'):
        path.write_text(text)
        assert main(["check", str(path)]) == 2
        assert str(path) in error_line(capsys)


def test_a_crash_is_one_line_and_no_answer(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def crash(_: object) -> object:
        raise ZeroDivisionError("in the\nmiddle")

    monkeypatch.setattr(app, "get_command", lambda _: lambda **_: crash(None))
    assert main([]) == 2
    line = error_line(capsys)
    assert "internal error, ZeroDivisionError: in the middle" in line
    monkeypatch.setenv(app.DEBUG, "1")
    assert main([]) == 2
    assert "Traceback" in capsys.readouterr().err


def test_help_lists_the_commands(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--help"]) == 0
    out = capsys.readouterr().out
    assert all(name in out for name in ("demo", "synth", "verify", "check"))


def test_the_version_is_that_of_the_project(capsys: pytest.CaptureFixture[str]) -> None:
    project = tomllib.loads((Path(__file__).parents[2] / "pyproject.toml").read_text())["project"]
    assert main(["--version"]) == 0
    assert capsys.readouterr().out == f"presieve {project['version']}\n"


@pytest.mark.parametrize("name", COMMANDS)
def test_each_command_shows_examples(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main([name, "--help"]) == 0
    out = textwrap.dedent(capsys.readouterr().out.partition("  Examples:\n")[2])
    lines = re.sub(r"\\\n\s*", " ", out).splitlines()
    assert 1 <= len(lines) <= 2
    for line in lines:
        assert line.startswith(f"presieve {name}")
        if "--help" not in line:
            parse(line)


@pytest.mark.parametrize(
    ("line", "found"), [("presieve ch", "check"), ("presieve run --po", "--policy")]
)
def test_a_shell_completes(line: str, found: str) -> None:
    asked = {"COMP_WORDS": line, "COMP_CWORD": str(line.count(" "))}
    done = subprocess.run(
        [str(Path(sys.executable).with_name("presieve"))],
        env={**os.environ, **asked, "_PRESIEVE_COMPLETE": "complete_bash"},
        capture_output=True,
        text=True,
    )
    assert done.stdout.split() == [found]


@pytest.mark.parametrize(
    "program",
    [[str(Path(sys.executable).with_name("presieve"))], [sys.executable, "-m", "presieve"]],
    ids=["script", "module"],
)
def test_the_installed_command(program: list[str]) -> None:
    done = subprocess.run([*program, "check", "nowhere.json"], capture_output=True, text=True)
    assert done.returncode == 2
    assert done.stdout == ""
    assert done.stderr == "presieve: nowhere.json: No such file or directory\n"
