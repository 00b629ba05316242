# SPDX-License-Identifier: Apache-2.0
"""One of the long suites, each commit another: the number of commits chooses.

    suite_in_turn.py [--minutes M] [--only NAME] [--list]

A suite that takes longer than M minutes is ended, which is no failure; a test that failed before is
one. Where the history is not whole, as in a shallow clone, it is the first suite.
"""

from __future__ import annotations

import argparse
import os
import re
import signal
import subprocess
import sys
import threading
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
MINUTES = 45.0
GRACE = 120.0
"""Seconds for a suite to end, once it is told to."""

CLOSING = 60.0
"""Seconds before the end at which pytest and generators stop, and say what they found."""

STOPPING = ("--stop-after", "{seconds}")
PYTEST = ("-m", "pytest", "-q", "-p", "no:cacheprovider", *STOPPING)
SLOW = (*PYTEST, "--thorough", "-m", "slow or random")
FUZZ = ("-m", "tests.fuzz", "--seed", "{seed}", "--seconds", "{seconds}")
ON_SPARK = (*STOPPING, "-m", "spark and not slow", "tests/backend", "tests/traps")
"""With arguments of their own, versions.py writes no page."""
SCAN_FILTERS = """\
import sys
from pathlib import Path
from benchmarks.scan_filters import page
page.PAGE, page.RECORD = Path("build/scan-filters.md"), Path("build/scan-filters-record.md")
page.PAGE.parent.mkdir(exist_ok=True)
sys.exit(page.main())
"""
"""What ``make scan-filters`` does, with its pages written elsewhere."""

SUITES: dict[str, tuple[str, ...]] = {
    "fuzz: compiled plans": (*FUZZ, "--compiled-plans", "100000"),
    "matrix": (*PYTEST, "tests/matrix/all_cells.py"),
    "slow: backend": (*SLOW, "tests/backend"),
    "versions 3.5": ("scripts/versions.py", "--only", "3.5", *ON_SPARK),
    "fuzz: erring conditions": (*FUZZ, "--erring-conditions", "100000"),
    "connect": (*PYTEST, "--connect", "--thorough", "tests/backend"),
    "slow: driver, traps, benchmarks": (*SLOW, "tests/driver", "tests/traps", "tests/bench"),
    "versions 4.0": ("scripts/versions.py", "--only", "4.0", *ON_SPARK),
    "fuzz: folds": (*FUZZ, "--pairs", "1000000", "--jobs", "2", "--facts"),
    "differential": (
        "-m",
        "tests.differential",
        "--jobs",
        "2",
        "--log",
        "build/differential.jsonl",
    ),
    "compiled": (*PYTEST, "--compiled", "-m", "spark and not slow", "tests/backend"),
    "versions 4.1": ("scripts/versions.py", "--only", "4.1", *ON_SPARK),
    "fuzz: folds on Spark": (*FUZZ, "--spark", "100000", "--facts"),
    "scan filters": ("-c", SCAN_FILTERS),
    "slow: all else": (
        *SLOW,
        "tests",
        *(f"--ignore=tests/{folder}" for folder in ("backend", "driver", "traps", "bench")),
    ),
    "versions 4.2": ("scripts/versions.py", "--only", "4.2", *ON_SPARK),
    "fuzz: functions of rows": (*FUZZ, "--compiled", "100000"),
    "fuzz: lineage": (*FUZZ, "--lineage", "100000"),
}
"""Arguments of Python by the name of the suite. ``{seed}`` is the number of commits."""

FIGURES = re.compile(r"\b\d+ (?:wrong|other rows)\b|\b\d+ (?:passed|failed|errors?)\b.* in [\d.]+s")
"""How generators and pytest close."""
FAILURES = re.compile(r"\b[1-9]\d* (?:wrong|other rows|error added|crash|reads more|failed|error)")
"""What tells of a suite that is cut that something was found before."""


@dataclass(frozen=True, slots=True)
class Outcome:
    """What a suite came to. ``figures`` is the line with which it closes."""

    failed: bool
    cut: bool
    figures: str


def commits() -> int | None:
    """The number of commits, or None where the history is not whole."""
    if git("rev-parse", "--is-shallow-repository") != "false":
        return None
    count = git("rev-list", "--count", "HEAD")
    return int(count) if count.isdigit() else None


def git(*arguments: str) -> str:
    """What git says, or nothing where there is no git or no repository."""
    try:
        answer = subprocess.run(("git", *arguments), cwd=ROOT, capture_output=True, text=True)
    except FileNotFoundError:
        return ""
    return answer.stdout.strip() if answer.returncode == 0 else ""


def chosen(count: int | None) -> str:
    """The name of the suite whose turn it is after so many commits."""
    return list(SUITES)[(count or 0) % len(SUITES)]


def run(command: Sequence[str], seconds: float) -> Outcome:
    """Run a command and show its output; after so many seconds it is interrupted as by a user. What
    it started ends with it.
    """
    process = subprocess.Popen(
        command,
        cwd=ROOT,
        env={**os.environ, "PRESIEVE_CACHE": "off", "PYTHONUNBUFFERED": "1"},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        errors="replace",
        start_new_session=True,
    )
    cut = threading.Event()

    def interrupt() -> None:
        cut.set()
        os.killpg(process.pid, signal.SIGINT)

    timers = [threading.Timer(seconds, interrupt)]
    timers.append(threading.Timer(seconds + GRACE, os.killpg, (process.pid, signal.SIGKILL)))
    for timer in timers:
        timer.start()
    assert process.stdout is not None
    figures = ""
    for line in process.stdout:
        print(line, end="", flush=True)
        figures = line.strip(" =\n") if FIGURES.search(line) else figures
    code = process.wait()
    for timer in timers:
        timer.cancel()
    with suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)
    failed = bool(FAILURES.search(figures)) if cut.is_set() else code != 0
    return Outcome(failed, cut.is_set(), figures)


def main() -> int:
    """0 where no test failed, whether the suite came to its end or not."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--minutes", type=float, default=MINUTES)
    parser.add_argument("--only", choices=tuple(SUITES), help="this suite, whatever the turn")
    parser.add_argument("--list", action="store_true", help="say which suites there are")
    asked = parser.parse_args()
    count = commits()
    name = asked.only or chosen(count)
    if asked.list:
        print(*(f"{'*' if suite == name else ' '} {suite}" for suite in SUITES), sep="\n")
        return 0
    (ROOT / "build").mkdir(exist_ok=True)
    seconds = 60 * asked.minutes
    values = {"seed": str(count or 1), "seconds": str(int(max(seconds - CLOSING, seconds / 2)))}
    arguments = [a.format(**values) if a in ("{seed}", "{seconds}") else a for a in SUITES[name]]
    print(f"in turn: {name}, for {asked.minutes:g} minutes at most", flush=True)
    outcome = run((sys.executable, *arguments), seconds)
    end = "cut" if outcome.cut else "complete"
    word = "failed" if outcome.failed else "passed"
    print(f"in turn: {name} {word}, {end}; {outcome.figures or 'no figures'}")
    return int(outcome.failed)


if __name__ == "__main__":
    sys.exit(main())
