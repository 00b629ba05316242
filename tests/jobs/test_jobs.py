"""Jobs that know nothing of this package: what they write is the same under ``presieve run``."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from tests.jobs.submit import SUBMIT

JOBS = Path(__file__).parents[2] / "examples" / "jobs"


@dataclass(frozen=True)
class Case:
    """A job: its arguments and variables, in which ``{}`` is a folder, what it writes, how many
    rows at least, and which of its boundaries are improved.
    """

    job: str
    args: tuple[str, ...]
    variables: tuple[tuple[str, str], ...]
    tables: tuple[str, ...]
    improved: tuple[str, ...]


CASES = (
    Case(
        "sessionize.py",
        ("--out", "{}", "--country", "DE"),
        (),
        ("sessions", "struggling", "patience", "idlers"),
        ("server_errors: exact", "slowest_page: exact", "max: exact"),
    ),
    Case(
        "market.py",
        ("{}/tape", "{}/report", "50000"),
        (),
        tuple(f"report/{t}" for t in ("blocks", "spikes", "by_bucket", "busy", "last_prints")),
        ("find: exact", "high: exact", "bucket: exact", "max: exact"),
    ),
    Case(
        "grades.py",
        ("2026S",),
        (("GRADES_HOME", "{}"),),
        ("honours", "retakes", "deans_list", "improved", "straight_a"),
        ("best_score: exact", "max: exact", "letter: exact"),
    ),
)


def run(command: list[str], case: Case, folder: Path) -> subprocess.CompletedProcess[str]:
    """The job in a process of its own, with everything it writes below ``folder``."""
    places = {name: value.format(folder) for name, value in case.variables}
    done = subprocess.run(
        [*command, str(JOBS / case.job), *(a.format(folder) for a in case.args)],
        env={
            **os.environ,
            **places,
            "PYSPARK_PYTHON": sys.executable,
            "PYSPARK_SUBMIT_ARGS": SUBMIT,
        },
        capture_output=True,
        text=True,
        timeout=500,
    )
    assert done.returncode == 0, done.stderr
    return done


def rows(table: Path) -> list[tuple[Any, ...]]:
    """The rows of a Parquet table in some order; NaN is a value like others."""
    import pyarrow.parquet as pq

    found = pq.read_table(table).to_pylist()
    return sorted((tuple(repr(v) for v in row.values()) for row in found), key=str)


@pytest.mark.slow  # each takes half a minute, since it starts Spark twice
@pytest.mark.parametrize("case", CASES, ids=lambda c: c.job)
def test_a_job_writes_the_same(case: Case, tmp_path: Path) -> None:
    plain, fast = tmp_path / "plain", tmp_path / "fast"
    as_written = run([sys.executable], case, plain)
    presieve = str(Path(sys.executable).with_name("presieve"))
    optimized = run([presieve, "run"], case, fast)
    assert optimized.stdout == as_written.stdout
    for table in case.tables:
        expected = rows(plain / table)
        assert expected, table
        assert rows(fast / table) == expected, table
    lines = [n for n in optimized.stderr.splitlines() if n.startswith("presieve: ")]
    for improved in case.improved:
        function, kind = improved.split(": ")
        row = re.compile(rf" {function}( \(\d+ times\))? +{kind}(, the function)? ")
        assert any(row.search(line) for line in lines), optimized.stderr
    assert max(map(len, lines)) < 250
