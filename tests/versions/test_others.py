"""A part of the tests on two other versions of Spark, where ``make versions`` has built them."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
TESTS = ("backend/test_pipelines.py", "backend/test_declined.py", "backend/test_versions.py")


@pytest.mark.slow
@pytest.mark.parametrize("version", ["3.5", "4.1"])
def test_pipelines_on_another_version(version: str) -> None:
    home = ROOT / "build" / "versions" / version
    if not (home / ".ready").exists():
        pytest.skip(f"no environment of Spark {version}: make versions ARGS=--build makes it")
    python = home / "bin" / "python"
    path = os.pathsep.join([str(python.parent), os.environ["PATH"]])
    done = subprocess.run(
        [python, "-m", "pytest", "-q", "-p", "no:cacheprovider", *(f"tests/{t}" for t in TESTS)],
        cwd=ROOT,
        env={**os.environ, "PATH": path, "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stdout[-3000:]
    assert " passed" in done.stdout
