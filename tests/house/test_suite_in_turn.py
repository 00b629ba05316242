"""Which suite has its turn, and what becomes of one that fails or takes too long."""

from __future__ import annotations

import subprocess
import sys
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="module")
def script() -> Any:
    """``scripts/suite_in_turn.py``."""
    spec = spec_from_file_location("suite_in_turn", ROOT / "scripts" / "suite_in_turn.py")
    assert spec is not None
    assert spec.loader is not None
    module = module_from_spec(spec)
    sys.modules[spec.name] = module  # dataclasses look there for the types of fields
    spec.loader.exec_module(module)
    return module


@pytest.fixture
def repository(script: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """One with three commits."""
    monkeypatch.setattr(script, "ROOT", tmp_path)
    git(tmp_path, "init", "-q")
    for number in range(3):
        git(tmp_path, "commit", "-q", "--allow-empty", "-m", str(number))
    return tmp_path


def git(folder: Path, *arguments: str) -> None:
    who = ("-c", "user.name=a", "-c", "user.email=a@example.com")
    subprocess.run(("git", *who, *arguments), cwd=folder, check=True, capture_output=True)


def test_each_suite_has_its_turn(script: Any) -> None:
    names = list(script.SUITES)
    assert [script.chosen(count) for count in range(len(names))] == names
    assert script.chosen(len(names) + 2) == names[2]
    assert script.chosen(None) == names[0]


def test_commits_are_counted(script: Any, repository: Path) -> None:
    assert script.commits() == 3


def test_a_shallow_clone_counts_none(
    script: Any, repository: Path, tmp_path_factory: pytest.TempPathFactory, monkeypatch: Any
) -> None:
    clone = tmp_path_factory.mktemp("clone") / "shallow"
    git(repository, "clone", "-q", "--depth", "1", f"file://{repository}", str(clone))
    monkeypatch.setattr(script, "ROOT", clone)
    assert script.commits() is None


def test_without_a_repository_none_are_counted(
    script: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(script, "ROOT", tmp_path)
    monkeypatch.setenv("GIT_CEILING_DIRECTORIES", str(tmp_path.parent))
    assert script.commits() is None


def test_suites_name_files_that_are_there(script: Any) -> None:
    for arguments in script.SUITES.values():
        paths = [a.removeprefix("--ignore=") for a in arguments]
        named = [p for p in paths if p.startswith(("--ignore=", "tests/", "scripts/"))]
        assert all((ROOT / path).exists() for path in named), named


def test_the_pages_of_scan_filters_are_written_elsewhere(script: Any) -> None:
    from benchmarks.scan_filters import page

    assert hasattr(page, "PAGE")
    assert hasattr(page, "RECORD")
    compile(script.SCAN_FILTERS, "<scan filters>", "exec")


CLOSES = """
import time
try:
    time.sleep({})
except KeyboardInterrupt:
    pass
print("{}")
raise SystemExit({})
"""


@pytest.mark.parametrize(
    ("sleeps", "line", "code", "failed"),
    [
        (0, "3 passed in 1.0s", 0, False),
        (0, "1 failed, 3 passed in 1.0s", 1, True),
        (0, "fuzz: 3 pairs in 1 s, 0 wrong", 0, False),
        (60, "3 passed in 1.0s", 2, False),
        (60, "1 failed, 3 passed in 1.0s", 2, True),
        (60, "3 passed, 2 errors in 1.0s", 2, True),
        (60, "fuzz: 3 in 9 s; 0 other rows, 0 error added, 0 crash, 0 reads more", 1, False),
        (60, "fuzz: 3 in 9 s; 0 other rows, 10 error added, 0 crash, 0 reads more", 1, True),
    ],
)
def test_being_cut_is_no_failure_and_a_failing_test_is_one(
    script: Any, sleeps: int, line: str, code: int, failed: bool
) -> None:
    command = (sys.executable, "-c", CLOSES.format(sleeps, line, code))
    outcome = script.run(command, 2.0 if sleeps else 30.0)
    assert outcome == script.Outcome(failed, bool(sleeps), line)


def test_what_does_not_end_is_ended(script: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(script, "GRACE", 1.0)
    stubborn = "import signal, time; signal.signal(signal.SIGINT, signal.SIG_IGN); time.sleep(60)"
    outcome = script.run((sys.executable, "-c", stubborn), 2.0)
    assert outcome == script.Outcome(False, True, "")


@pytest.mark.parametrize(("first", "code"), [("pass", 0), ("assert False", 1)])
def test_pytest_stops_in_time_and_tells_whether_a_test_has_failed(
    tmp_path: Path, first: str, code: int
) -> None:
    file = tmp_path / "test_two.py"
    file.write_text(f"def test_one():\n    {first}\n\n\ndef test_two():\n    assert False\n")
    options = ("-q", "-p", "tests.conftest", "-p", "no:cacheprovider", "--stop-after", "0")
    command = (sys.executable, "-m", "pytest", *options, f"--rootdir={tmp_path}", str(file))
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == code, done.stdout
    assert "stopped after 0 seconds" in done.stdout
    assert ("1 failed" if code else "1 passed") in done.stdout
