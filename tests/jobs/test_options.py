"""Options of a project, of the command line and of a job's own session, on a job that runs."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from tests.jobs.submit import SUBMIT

JOB = """
import sys

import pandas as pd
from pyspark.sql import SparkSession

spark = SparkSession.builder.getOrCreate()
for option in sys.argv[1:]:
    spark.conf.set(*option.split("="))


def shout(s: str | None) -> str | None:
    return s.upper() if s is not None else None


def best(pdf):
    best = None
    for row in pdf.itertuples():
        if shout(row.name) == "X":
            if best is None or row.score > best:
                best = row.score
    return pd.DataFrame({"team": [pdf.team.iloc[0]], "best": [best]})


rows = [("a", "x", 95.0), ("a", "y", 20.0), ("b", "x", 3.0)]
data = spark.createDataFrame(rows, "team string, name string, score double")
groups = data.groupBy("team").applyInPandas(best, "team string, best double")
print(sorted(map(tuple, groups.filter("best > 90").collect())))
"""
PROJECT = """
[tool.presieve]
policy = "assume"
cost = "always"
declare = ["NOT isnan(score)", "score IS NOT NULL"]
"""


@pytest.mark.second
@pytest.mark.parametrize(
    ("options", "args", "told"),
    [
        (["--pure", "shout"], [], "presieve: FlatMapGroupsInPandas best  split   score"),
        # What the command line does to a session, a session's own options do, too; and what it says
        # of a name is what any caller is told.
        pytest.param(
            [],
            ["spark.presieve.pure=shout"],
            "presieve: FlatMapGroupsInPandas best  split   score",
        ),
        pytest.param(
            ["--pure", "shuot"],
            [],
            "presieve: left alone: $: there is no 'shuot' in it; did you",
        ),
    ],
    ids=["command line", "session", "a name that is not there"],
)
def test_a_job_goes_by_them(options: list[str], args: list[str], told: str, tmp_path: Path) -> None:
    job = tmp_path / "job.py"
    job.write_text(JOB)
    (tmp_path / "pyproject.toml").write_text(PROJECT)
    done = subprocess.run(
        [sys.executable, "-m", "presieve", "run", *options, str(job), *args],
        env={**os.environ, "PYSPARK_PYTHON": sys.executable, "PYSPARK_SUBMIT_ARGS": SUBMIT},
        capture_output=True,
        text=True,
        timeout=500,
    )
    assert (done.returncode, done.stdout) == (0, "[('a', 95.0)]\n"), done.stderr
    said = " ".join(told.replace("$", str(job)).split())
    lines = [" ".join(line.split()) for line in done.stderr.splitlines()]
    (line,) = [line for line in lines if line.startswith(said)]
    assert "[no-nan]" not in line, "the project declares that there is none"
