"""``presieve lineage``: a job without its writes, and the rows behind its results."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

PRESIEVE = str(Path(sys.executable).with_name("presieve"))

JOB = """
import sys
from pyspark.sql import SparkSession

spark = SparkSession.builder.getOrCreate()
scores = spark.sql("SELECT * FROM VALUES ('a', 95), ('b', 99) AS t(team, score)")
best = scores.groupBy("team").agg({"score": "max"}).toDF("team", "best")
best.collect()
best.write.parquet(sys.argv[1] + "/out")
scores.count()
"""


def lineage(folder: Path, *args: str) -> subprocess.CompletedProcess[str]:
    (folder / "job.py").write_text(JOB)
    submit = "--master local[1] --conf spark.ui.enabled=false pyspark-shell"
    return subprocess.run(
        [PRESIEVE, "lineage", *args],
        capture_output=True,
        text=True,
        env={**os.environ, "PYSPARK_SUBMIT_ARGS": submit},
        cwd=folder,
        check=False,
    )


@pytest.mark.slow
def test_each_dataframe_that_has_the_columns(tmp_path: Path) -> None:
    where = ("--where", "team = 'a' AND best > 90", "--html", "x.html")
    done = lineage(tmp_path, *where, "job.py", str(tmp_path), "--json")
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)["lineages"]
    assert [one["at"] for one in found] == ["job.py:8"]
    assert found[0]["sources"][0]["exact"] is True
    assert "score > 90" in found[0]["sources"][0]["filter"]
    assert not (tmp_path / "out").exists()
    assert "score &gt; 90" in (tmp_path / "x.html").read_text()


@pytest.mark.slow
def test_a_filter_on_no_result_is_an_error(tmp_path: Path) -> None:
    done = lineage(tmp_path, "--where", "nope > 90", "job.py", str(tmp_path))
    assert done.returncode == 2
    assert "no DataFrame with the columns of --where" in done.stderr.splitlines()[-1]
    assert lineage(tmp_path, "job.py").returncode == 2
