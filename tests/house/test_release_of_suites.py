"""A release runs each suite whole, and goes on where it was ended."""

from __future__ import annotations

import json
import subprocess
import sys
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parents[2]


@pytest.fixture
def release(monkeypatch: pytest.MonkeyPatch) -> Any:
    """``scripts/release.py``."""
    monkeypatch.syspath_prepend(str(ROOT / "scripts"))
    return import_module("release")


def test_no_suite_ends_by_the_clock(release: Any) -> None:
    suites = release.suites()
    assert set(suites) == {"test", *release.SUITES}
    for name, arguments in suites.items():
        assert "--stop-after" not in arguments, name
        assert "{seconds}" not in arguments, name
        assert "--part" not in arguments, name


def test_generators_have_the_counts_of_a_release(release: Any) -> None:
    suites = release.suites()
    plans = suites["fuzz: compiled plans"]
    assert plans[plans.index("--compiled-plans") + 1] == "2000"
    folds = suites["fuzz: folds"]
    assert folds[folds.index("--pairs") + 1] == "20000"
    assert "--thorough" in suites["connect"]


TESTS = """
from pathlib import Path
import pytest

@pytest.mark.parametrize("number", range(3))
def test_passes(number):
    with Path("ran").open("a") as file:
        file.write(str(number))

def test_fails_once():
    done = Path("once").exists()
    Path("once").touch()
    assert done
"""


def test_what_has_passed_is_not_run_again(tmp_path: Path) -> None:
    (tmp_path / "test_some.py").write_text(TESTS, "utf-8")
    record = tmp_path / "record.jsonl"
    command = [sys.executable, "-m", "pytest", "-q", "-p", "tests.conftest", "--rootdir", "."]
    command += ["--record", str(record), "test_some.py"]
    codes = [
        subprocess.run(command, cwd=tmp_path, env=_env(), capture_output=True).returncode
        for _ in range(3)
    ]
    assert codes == [1, 0, 0]
    assert (tmp_path / "ran").read_text("utf-8") == "012"
    last = dict(json.loads(line) for line in record.read_text("utf-8").splitlines())
    assert set(last.values()) == {"passed"}
    assert len(last) == 4


def _env() -> dict[str, str]:
    import os

    return {**os.environ, "PYTHONPATH": f"{ROOT / 'src'}:{ROOT}"}


def test_the_page_tells_of_each_suite(
    release: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(release, "ROOT", tmp_path)
    known = release.Release("0123456789abcdef")
    known.results["connect"] = release.Result(True, True, "12 passed", 600.0)
    known.results["matrix"] = release.Result(False, False, "3 passed, 1 failed", 90.0)
    page = known.page()
    assert "`make release` on 0123456789ab" in page
    assert "| connect | passed | 12 passed | 10 |" in page
    assert "| matrix | **failed**, not at its end | 3 passed, 1 failed | 2 |" in page
    assert "slow" not in page.partition("| suite")[2]
