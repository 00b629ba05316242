"""``spark-submit`` and the command in one: PySpark's own script starts ours with a job."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

JOB = """
import sys

import pandas as pd
from pyspark.sql import SparkSession


def best(pdf):
    top = None
    for row in pdf.itertuples(index=False):
        if top is None or row.score > top:
            top = row.score
    return pd.DataFrame({"team": [pdf["team"].iloc[0]], "best": [top]})


scores, out = sys.argv[1:]
spark = SparkSession.builder.getOrCreate()
rows = [("a", 95.0), ("a", 12.0), ("b", 50.0), ("c", 99.0)]
spark.createDataFrame(rows, "team string, score double").write.parquet(scores)
teams = spark.read.parquet(scores).groupBy("team").applyInPandas(best, "team string, best double")
found = teams.filter("best >= 90")
found.explain()
found.write.parquet(out)
sys.exit(spark.conf.get("spark.of.the.test") == "7" and 7)
"""
OPTIONS = "--master local[2] --driver-memory 1g --conf spark.ui.enabled=false --conf"
OPTIONS += " spark.sql.shuffle.partitions=2 --conf spark.of.the.test=7"


def where() -> str:
    """What ``$(python -m presieve.submit)`` stands for."""
    command = [sys.executable, "-m", "presieve.submit"]
    done = subprocess.run(command, capture_output=True, text=True, check=True, timeout=100)
    return done.stdout.strip()


def test_it_is_the_command(tmp_path: Path) -> None:
    """A copy is, too: of some platforms it must be in a bucket."""
    (tmp_path / "other.py").write_bytes(Path(where()).read_bytes())
    (tmp_path / "job.py").write_text("import sys; print(sys.argv[1:]); sys.exit(5)")
    command = [sys.executable, "other.py", "run", "--quiet", "job.py", "--policy", "x"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=100)
    assert (done.returncode, done.stdout) == (5, "['--policy', 'x']\n"), done.stderr


@pytest.mark.slow  # starts Spark
def test_a_job_that_spark_submit_starts(tmp_path: Path) -> None:
    import pyarrow.parquet as pq
    import pyspark

    (tmp_path / "job.py").write_text(JOB)
    submit = str(Path(pyspark.__file__).with_name("bin") / "spark-submit")
    done = subprocess.run(
        [submit, *OPTIONS.split(), where(), "run", "--cost", "always", "job.py", "scores", "out"],
        cwd=tmp_path,
        env={**os.environ, "PYSPARK_PYTHON": sys.executable},
        capture_output=True,
        text=True,
        timeout=500,
    )
    assert done.returncode == 7, done.stderr  # it is the job's, and the session has the options
    assert "GreaterThanOrEqual(score,90.0)" in done.stdout, done.stdout
    # Spark sends what Python writes to either stream to its own standard output.
    (line,) = (x for x in done.stdout.splitlines() if "FlatMapGroupsInPandas best" in x)
    assert line.startswith("presieve: ")
    assert "exact" in line
    assert "score >= 90.0D" in line
    rows = pq.read_table(tmp_path / "out").to_pylist()
    assert sorted((r["team"], r["best"]) for r in rows) == [("a", 95.0), ("c", 99.0)]
