"""What ``presieve explain`` says of a job with a chain of functions, a join and a view, on each
version of Spark, and what the job writes.
"""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pyarrow.parquet as pq
import pytest
from tests.support.spark_version import is_before

JOB = Path(__file__).with_name("orders_job.py")
SUBMIT = "--master local[2] --conf spark.ui.enabled=false pyspark-shell"

pytestmark = pytest.mark.spark


def run(folder: Path, *command: str) -> subprocess.CompletedProcess[str]:
    """A command of Python's with the job and its folder behind it."""
    done = subprocess.run(
        [sys.executable, *command, str(JOB), str(folder)],
        cwd=folder,
        env={**os.environ, "PYSPARK_PYTHON": sys.executable, "PYSPARK_SUBMIT_ARGS": SUBMIT},
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert done.returncode == 0, done.stderr
    return done


PREFILTER = "code IS NOT NULL AND NOT isnan(amount) AND amount >= 246.21848739495798D"
FULL = "gross IS NOT NULL AND level IS NOT NULL AND level = 'high' AND (gross >= 293.0D..."
BOUNDARY = f"""\
  filter        rewarded
  pre-filter    {PREFILTER}
  residual      rewarded
  may change    an error that a dropped row raises today may disappear [may-erase-error]
"""
WITHOUT_ARROW = (
    "  declined      [text-encoding] without Arrow Python sees code with U+FFFD for what is no"
    " UTF-8,...\n"
)


def explained(tmp_path: Path) -> None:
    """One boundary, once, with its reason; functions that run in Spark; nothing else."""
    first, level, tax, rest = run(tmp_path, "-m", "presieve", "explain").stdout.split("\n\n", 3)
    declined = WITHOUT_ARROW if is_before("4.2") else ""  # when functions are sent by Arrow
    heading, said = first.split("\n", 1)
    assert "Project rewarded (" in heading
    assert said == f"{BOUNDARY}{declined}  runs as       {FULL}"
    assert "Project level: runs as CASE WHEN gross IS NULL OR code IS NULL THEN 'none'" in level
    assert tax.endswith(
        "with_tax: runs as CASE WHEN amount IS NULL THEN NULL ELSE amount * 1.19D END"
    )
    assert [line.split(" (")[0] for line in rest.splitlines()[1:4]] == [
        f"not executed: parquet('{tmp_path}/{name}')" for name in ("orders", "customers", "best")
    ]


def explained_at_length(tmp_path: Path) -> None:
    """Functions that stay say why."""
    whole = run(tmp_path, "-m", "presieve", "explain", "-v").stdout
    for name, what in (("clean", "capitalize"), ("initials", "title")):
        place = whole.index(f"Project {name}\n")
        reason = f"[no-text] nothing in Spark SQL gives the same as Python's {what}()"
        assert reason in " ".join(whole[place : place + 400].split())


def written_by_it(tmp_path: Path) -> None:
    """The same as without; at the end a row for each function."""
    results = []
    for name, command in (("plain", ()), ("optimized", ("-m", "presieve", "run"))):
        folder = tmp_path / name
        folder.mkdir()
        done = run(folder, *command)
        assert done.stdout.split()[-1] == "56"
        results.append(sorted(map(repr, pq.read_table(folder / "best").to_pylist())))
    assert results[0] == results[1]
    table = [line for line in done.stderr.splitlines() if line.startswith("presieve: Project")]
    assert [row.split("  ")[0].split()[-1] for row in table] == ["rewarded", "level", "with_tax"]
    assert "  partial, the function  " in table[0]


@pytest.mark.second
@pytest.mark.parametrize("what", [explained, explained_at_length, written_by_it])
def test_job(tmp_path: Path, what: Callable[[Path], None]) -> None:
    what(tmp_path)
