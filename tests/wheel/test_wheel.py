"""The wheel installs and works in an environment where nothing else is."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


@pytest.mark.slow
@pytest.mark.timeout(3600)
def test_a_wheel_works_by_itself(tmp_path: Path) -> None:
    """Needs a package registry, as ``make setup`` does."""
    done = subprocess.run(
        [ROOT / "scripts" / "wheel.sh"],
        env={**os.environ, "PYTHON": sys.executable, "KEEP": str(tmp_path)},
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    assert {p.suffix for p in tmp_path.iterdir()} == {".whl", ".gz"}
