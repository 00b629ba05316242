# SPDX-License-Identifier: Apache-2.0
"""An environment for each version of Spark that is served, and the tests of Spark in each.

    versions.py [--only 3.5,4.0] [--build] [pytest's arguments]

Environments stand in ``build/versions``; ``--build`` stops when they do. The results go into
``docs/versions.md`` and ``benchmarks/results/versions.md``, unless pytest is given arguments: then
only these tests are run.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import venv
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
FOLDER = ROOT / "build" / "versions"

PACKAGES = {
    # Its copies of pandas' and NumPy's interfaces are older than NumPy 2.
    "3.5": ("pyspark[connect]==3.5.*", "numpy<2", "pandas<2.3", "pyarrow<20", "setuptools<80"),
    "4.0": ("pyspark[connect]==4.0.*",),
    "4.1": ("pyspark[connect]==4.1.*",),
    "4.2": ("pyspark[connect]==4.2.*",),
}
"""What is installed besides the project with its extra ``test``."""

NEWEST = "newest"
"""The version that the environment of this process has."""

PROCESSES = ("-n", "2", "--dist", "loadfile", "--no-loadscope-reorder")
TESTS = (*PROCESSES, "-m", "spark and not slow", "tests/backend", "tests/traps", "tests/versions")


def built(version: str) -> Path:
    """The Python of an environment, which is made where it is not there."""
    if version == NEWEST:
        return Path(sys.executable)
    home = FOLDER / version
    python = home / "bin" / "python"
    ready = home / ".ready"
    if not ready.exists():
        print(f"versions: building {home.relative_to(ROOT)}", flush=True)
        venv.create(home, clear=True, with_pip=True)
        pip = [str(python), "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
        subprocess.run([*pip, "--editable", ".[test]", *PACKAGES[version]], cwd=ROOT, check=True)
        ready.touch()
    return python


def run(python: Path, *args: str) -> int:
    """A module in an environment; what it gives back."""
    path = os.pathsep.join([str(python.parent), os.environ.get("PATH", "")])
    code = os.pathsep.join(map(str, (ROOT / "src", ROOT)))
    env = {**os.environ, "PATH": path, "PYTHONPATH": code, "PRESIEVE_CACHE": "off"}
    return subprocess.run([str(python), "-m", *args], cwd=ROOT, env=env).returncode


def main() -> int:
    """All of it; 0 where all tests passed."""
    parser = argparse.ArgumentParser()
    parser.add_argument(
        "--only", default=",".join((*PACKAGES, NEWEST)), help="versions, with commas"
    )
    parser.add_argument("--build", action="store_true", help="only make the environments")
    known, tests = parser.parse_known_args()
    chosen = known.only.split(",")
    pythons = {version: built(version) for version in chosen}
    if known.build:
        return 0
    failed = 0
    for version, python in pythons.items():
        print(f"versions: Spark {version}", flush=True)
        found = FOLDER / version
        found.mkdir(parents=True, exist_ok=True)
        if not tests:
            failed |= run(python, "tests.versions.features", str(found / "features.json"))
        about = [] if tests else [f"--junitxml={found / 'tests.xml'}"]
        failed |= run(python, "pytest", "-q", "-p", "no:cacheprovider", *about, *(tests or TESTS))
    if not tests:
        failed |= run(Path(sys.executable), "tests.versions.document")
    return failed


if __name__ == "__main__":
    sys.exit(main())
