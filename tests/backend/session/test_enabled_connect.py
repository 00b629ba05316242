"""Sessions of Spark Connect are enabled by the same mechanism."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[3]


@pytest.mark.slow
def test_in_a_process_of_its_own() -> None:
    done = subprocess.run(
        [sys.executable, "-m", "tests.backend.session.on_connect"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert done.returncode == 0, done.stderr
    assert "equal" in done.stdout.splitlines()
