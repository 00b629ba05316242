# SPDX-License-Identifier: Apache-2.0
"""All suites on one commit, whole, and a page of what came out.

    release.py [--minutes M] [--only NAME] [--list]

It may be ended at any time: the next call goes on with what has not passed on this commit, test by
test where pytest runs them. What is known stands in ``build/release``, in a folder for each commit.
The page is ``docs/verification.md``.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import sys
import time
from collections import Counter
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path

import suite_in_turn
from suite_in_turn import PYTEST, ROOT, STOPPING, SUITES

PAGE = ROOT / "docs" / "verification.md"
DAYS = 10.0
"""More than any suite takes."""

ALL_TESTS = (*PYTEST, "-n", "2", "--dist", "loadfile", "--no-loadscope-reorder", "-m", "not slow")
COUNTS = {
    "--compiled-plans": "2000",
    "--erring-conditions": "2000",
    "--pairs": "20000",
    "--spark": "400",
    "--compiled": "3000",
    "--lineage": "400",
}
"""How many random inputs of each kind a release takes."""


@dataclass(frozen=True)
class Result:
    """What a suite came to on this commit; ``seconds`` of all calls together."""

    passed: bool
    complete: bool
    figures: str
    seconds: float


def suites() -> dict[str, tuple[str, ...]]:
    """The arguments of Python for each suite, without an end by the clock."""
    return {"test": _whole(ALL_TESTS), **{n: _whole(arguments) for n, arguments in SUITES.items()}}


def _whole(arguments: tuple[str, ...]) -> tuple[str, ...]:
    """The arguments with the release's counts, and without those that stop a suite."""
    kept: list[str] = []
    left = list(arguments)
    while left:
        argument = left.pop(0)
        if argument in (STOPPING[0], "--seconds"):
            left.pop(0)
            continue
        kept.append(argument)
        if argument in COUNTS and left and left[0].isdigit():
            left.pop(0)
            kept.append(COUNTS[argument])
    if arguments[:2] == ("-m", "tests.fuzz"):
        kept += ["--seconds", str(int(DAYS * 86_400))]
    return tuple(kept)


def is_resumable(arguments: tuple[str, ...]) -> bool:
    """Whether pytest runs the suite, which then goes on where it was ended."""
    return "pytest" in arguments or arguments[0].endswith("versions.py")


class Release:
    """What is known of one commit."""

    def __init__(self, commit: str) -> None:
        self.commit = commit
        self.folder = ROOT / "build" / "release" / commit
        self.folder.mkdir(parents=True, exist_ok=True)
        self._file = self.folder / "results.json"
        known = json.loads(self._file.read_text("utf-8")) if self._file.exists() else {}
        self.results = {name: Result(**fields) for name, fields in known.items()}

    def run(self, name: str, arguments: tuple[str, ...], seconds: float) -> Result:
        """Run a suite, or the rest of it, and keep the result."""
        record = self.folder / f"{name.replace(': ', '-').replace(' ', '-')}.jsonl"
        if is_resumable(arguments):
            arguments = (*arguments, "--record", str(record))
        values = {"{seed}": str(suite_in_turn.commits() or 1)}
        command = [sys.executable, *(values.get(a, a) for a in arguments)]
        started = time.monotonic()
        outcome = suite_in_turn.run(command, seconds)
        before = self.results[name].seconds if name in self.results else 0.0
        figures = _count(record) if record.exists() else outcome.figures
        spent = before + time.monotonic() - started
        failed = outcome.failed or " failed" in figures
        result = Result(not failed, not outcome.cut, figures, spent)
        self.results[name] = result
        known = {n: asdict(r) for n, r in self.results.items()}
        self._file.write_text(json.dumps(known, indent=1), "utf-8")
        return result

    def page(self) -> str:
        """The page."""
        machine = f"{platform.system()} {platform.machine()}, Python {platform.python_version()}"
        today = time.strftime("%Y-%m-%d")
        where = f"{self.commit[:12]}, {today}, {machine}, {os.cpu_count()} cores"
        head = [
            "# What ran on one commit",
            "",
            f"`make release` on {where}.",
            "It runs all suites without leaving out parts; what is not in the table did not run.",
            "",
            "| suite | result | what it says | minutes |",
            "|---|---|---|---|",
        ]
        return "\n".join([*head, *self._rows()]) + "\n"

    def _rows(self) -> Iterator[str]:
        for name in suites():
            result = self.results.get(name)
            if result is None:
                continue
            word = "passed" if result.passed else "**failed**"
            end = word if result.complete else f"{word}, not at its end"
            yield f"| {name} | {end} | {result.figures} | {result.seconds / 60:.0f} |"


def _count(record: Path) -> str:
    """The numbers of tests by their last outcome."""
    last = dict(json.loads(line) for line in record.read_text("utf-8").splitlines())
    numbers = Counter(last.values())
    words = ("passed", "failed", "skipped")
    return ", ".join(f"{numbers[word]} {word}" for word in words if numbers[word])


def main() -> int:
    """0 where everything has run to its end and passed."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--minutes", type=float, default=DAYS * 1440, help="for this call")
    parser.add_argument("--only", choices=tuple(suites()))
    parser.add_argument("--list", action="store_true", help="say what has run on this commit")
    asked = parser.parse_args()
    commit = suite_in_turn.git("rev-parse", "HEAD")
    others = (".", f":!{PAGE.relative_to(ROOT)}")
    if suite_in_turn.git("status", "--porcelain", "--untracked-files=no", "--", *others):
        print("release: there are changes that no commit has")
        return 2
    release = Release(commit)
    end = time.monotonic() + 60 * asked.minutes
    for name, arguments in suites().items():
        known = release.results.get(name)
        if asked.list:
            print(f"{name}: {known or 'has not run'}")
            continue
        if asked.only not in (None, name) or (known and known.passed and known.complete):
            continue
        if time.monotonic() > end:
            break
        print(f"release: {name}", flush=True)
        result = release.run(name, arguments, end - time.monotonic())
        print(f"release: {name}: {result}", flush=True)
    if not asked.list:
        PAGE.write_text(release.page(), "utf-8")
    done = [release.results.get(name) for name in suites()]
    return int(not all(r is not None and r.passed and r.complete for r in done))


if __name__ == "__main__":
    sys.exit(main())
