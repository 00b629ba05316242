"""PySpark's own tests, as they are and with all sessions enabled: none may fail only then.

    python -m tests.harmless SPARK [MODULE ...]

``SPARK`` is a checkout of Spark's sources of the version that is installed: packages of PySpark
come without its tests. The results go into ``docs/harmless.md`` and
``benchmarks/results/harmless.md``, unless modules are named.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from xml.etree import ElementTree

import pyspark
from tests.harmless import document, plugin

ROOT = Path(__file__).parents[2]
FOLDER = ROOT / "build" / "harmless"

TESTS = ("testing", "tests", "sql/tests", "pandas/tests")
"""The folders of tests, and of what they use, below ``pyspark``."""

SECONDS = 1800
"""What one module may take."""


@dataclass(frozen=True, slots=True)
class Run:
    """The tests of one module by name with what became of them, and the counts of the plugin."""

    outcomes: dict[str, str]
    counts: dict[str, int]


def overlay(sources: Path) -> Path:
    """A folder with the installed package and, in it, the tests of these sources: links."""
    shutil.rmtree(FOLDER, ignore_errors=True)
    installed, package = Path(pyspark.__file__).parent, FOLDER / "pyspark"
    nested = {Path(t).parts[0] for t in TESTS if "/" in t}
    package.mkdir(parents=True)
    for name in nested:
        (package / name).mkdir()
    for entry in installed.iterdir():
        if entry.name not in (*nested, *TESTS):
            (package / entry.name).symlink_to(entry)
    for name in nested:
        for entry in (installed / name).iterdir():
            (package / name / entry.name).symlink_to(entry)
    for tests in TESTS:
        (package / tests).symlink_to(sources / "python" / "pyspark" / tests)
    return FOLDER


def run(module: str, *, enabled: bool) -> Run:
    """All tests of a module, in a process and a folder of their own."""
    folder = FOLDER / "runs" / f"{module}{'.enabled' if enabled else ''}"
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    results, counts = folder / "tests.xml", folder / "counts.json"
    path = os.pathsep.join(map(str, (FOLDER, ROOT / "src", ROOT)))
    env = {**os.environ, "PYTHONPATH": path, plugin.COUNTS: str(counts), "PRESIEVE_CACHE": "off"}
    env |= {"PYSPARK_PYTHON": sys.executable, "PYSPARK_DRIVER_PYTHON": sys.executable}
    env |= {"SPARK_TESTING": "1", "PYTHONHASHSEED": "0", "TZ": "UTC"}
    ours = ["-p", plugin.__name__] if enabled else []
    command = [sys.executable, "-m", "pytest", "-q", "-c", os.devnull, "--rootdir", str(FOLDER)]
    command += ["-p", "no:cacheprovider", f"--junitxml={results}", *ours, "--pyargs", module]
    try:
        with (folder / "log").open("w") as log:
            subprocess.run(command, cwd=folder, env=env, timeout=SECONDS, stdout=log, stderr=log)
    except subprocess.TimeoutExpired:
        return Run({}, {})
    found = dict(_outcomes(results)) if results.exists() else {}
    return Run(found, json.loads(counts.read_text()) if counts.exists() else {})


def _outcomes(results: Path) -> Iterator[tuple[str, str]]:
    for case in ElementTree.parse(results).getroot().iter("testcase"):
        kinds = [k for k in ("failure", "error", "skipped") if case.find(k) is not None]
        yield f"{case.get('classname')}.{case.get('name')}", kinds[0] if kinds else "passed"


def compared(module: str) -> document.Row:
    """The module as it is and enabled. A test that fails only enabled is tried once more."""
    plain, ours = run(module, enabled=False), run(module, enabled=True)
    passed = {name for name, outcome in plain.outcomes.items() if outcome == "passed"}
    lost = sorted(name for name in passed if ours.outcomes.get(name) != "passed")
    if lost:
        again = run(module, enabled=True)
        lost = [name for name in lost if again.outcomes.get(name) != "passed"]
    return document.Row(module, len(plain.outcomes), len(passed), tuple(lost), ours.counts)


def main() -> int:
    """0 where no test fails only with sessions enabled."""
    parser = argparse.ArgumentParser(prog="tests.harmless")
    parser.add_argument("spark", type=Path)
    parser.add_argument("modules", nargs="*")
    parser.add_argument("--jobs", type=int, default=2, help="modules at the same time")
    given = parser.parse_args()
    overlay(given.spark.resolve())
    rows = []
    with ThreadPoolExecutor(given.jobs) as pool:
        for row in pool.map(compared, given.modules or document.MODULES):
            rows.append(row)
            print(row.line(), *row.lost, sep="\n    ", flush=True)
    if not given.modules:
        document.write(rows)
    return int(any(row.lost or not row.passed for row in rows))


if __name__ == "__main__":
    sys.exit(main())
