"""``presieve bench`` finds its commands in the source tree, and says where they are elsewhere."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from presieve.cli import bench
from presieve.cli.app import main

SOURCES = Path(__file__).parents[2] / "src"


def presieve(*args: str, folder: Path) -> str:
    done = subprocess.run(
        [sys.executable, "-m", "presieve", *args],
        cwd=folder,
        env={**os.environ, "PYTHONPATH": str(SOURCES)},
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_in_any_folder(tmp_path: Path) -> None:
    (tmp_path / "benchmarks").mkdir()  # somebody else's
    args = ["--only", "Top2_1", "--mode", "grouped", "--runs", "1", "--json"]
    line = json.loads(presieve("bench", "synth", *args, folder=tmp_path))
    assert line["grouped"]["benchmarks"]["Top2_1"]["kind"] == "split"


def test_workers_find_the_functions_of_benchmarks(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Spark's workers inherit the variable, and may start in any folder."""
    elsewhere = [p for p in sys.path if Path(p).resolve() != bench.ROOT]
    monkeypatch.setattr(sys, "path", elsewhere)
    monkeypatch.setenv("PYTHONPATH", str(SOURCES))
    monkeypatch.setenv("PRESIEVE_CACHE", "off")
    assert main(["bench", "synth", "--suite", str(tmp_path)]) == 2
    assert os.environ["PYTHONPATH"] == f"{bench.ROOT}{os.pathsep}{SOURCES}"


@pytest.mark.parametrize("args", [[], ["--help"], ["synth", "--json", "--runs", "1"]])
def test_a_wheel_has_no_benchmarks(
    args: list[str],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setattr(bench, "ROOT", tmp_path)
    assert main(["bench", *args]) == 2
    out, err = capsys.readouterr()
    assert out == ""
    (line,) = err.splitlines()
    assert "the benchmarks are in the source tree" in line


def test_other_commands_do_not_load_them() -> None:
    code = "import sys, presieve.cli; print(any('benchmarks' in m for m in sys.modules))"
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=120
    )
    assert done.stdout == "False\n"
