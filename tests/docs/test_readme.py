"""The commands of the README as people paste them, on its own example as ``JOB.py``."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from tests.support.pages import ROOT, page

README = page(ROOT / "README.md")
LINES = sorted(
    {
        re.sub(r"\[args\.\.\.\]|#.*", "", line).strip()
        for block in README.blocks
        if block.language == "" and block.role == "run"
        for line in block.text.splitlines()
        if line.strip().startswith("presieve ")
    }
)
"""The commands, without what stands for arguments of the job."""

SCORES = {
    "team": ["a", "a", "a", "b", "b", "c"],
    "score": [95.0, 20.0, 91.0, 99.0, 50.0, 3.0],
}


def write_job(folder: Path) -> None:
    """Write the blocks that the README shows as a job that finds its data and has an action."""
    shown = [b.text for b in README.blocks if b.language == "python" and "assert" not in b.text]
    lines = [line for text in shown for line in text.splitlines() if "createDataFrame" not in line]
    (folder / "JOB.py").write_text("\n".join([*lines, "df.show()\n"]))
    pq.write_table(pa.table(SCORES), folder / "scores")


def test_there_are_commands() -> None:
    assert LINES == ["presieve explain JOB.py", "presieve run JOB.py"]


@pytest.mark.slow
@pytest.mark.parametrize("line", LINES)
def test_a_command(line: str, tmp_path: Path) -> None:
    write_job(tmp_path)
    submit = "--master local[1] --conf spark.ui.enabled=false --conf spark.presieve.budget=120"
    done = subprocess.run(
        line,
        shell=True,
        cwd=tmp_path,
        env={
            **os.environ,
            "PATH": os.pathsep.join((str(Path(sys.executable).parent), os.environ["PATH"])),
            "PYSPARK_PYTHON": sys.executable,
            "PYSPARK_SUBMIT_ARGS": f"{submit} pyspark-shell",
        },
        capture_output=True,
        text=True,
        timeout=500,
    )
    assert done.returncode == 0, done.stderr
    (expected,) = (b.text for b in README.blocks if b.role == "output")
    lines = [text.strip() for text in expected.splitlines()]
    own = done.stdout if "run" in line else done.stderr  # explain prints its report there
    assert [
        text.strip() for text in own.splitlines() if text.startswith(("below", "above"))
    ] == lines
    report = done.stderr if "run" in line else done.stdout
    assert "FlatMapGroupsInPandas top_two" in report
    assert ("split" if "run" in line else "residual      second IS NOT NULL") in report
