"""Explains a job after several edits, in one process: ``test_baseline.py`` looks at the answers."""

from __future__ import annotations

import contextlib
import io
import json
import sys
from pathlib import Path

import pandas as pd

import presieve
from presieve.cli.app import main

JOB = '''\
"""A job."""

import pandas as pd
from pyspark.sql import SparkSession, functions as F

spark = SparkSession.builder.getOrCreate()


def best(pdf):
    top = None
    for row in pdf.itertuples(index=False):
        if row.status == "RUN" and (top is None or row.score > top):
            top = row.score
    return pd.DataFrame({"team": [pdf["team"].iloc[0]], "best": [top]})


@F.udf("string")
def grade(score):
    if score is None:
        return None
    return "high" if score > 90 else "low"


scores = spark.read.parquet("scores")
teams = scores.groupBy("team").applyInPandas(best, "team string, best double")
teams.filter("best >= 90").show()
scores.withColumn("g", grade("score")).filter("g = 'high'").write.parquet("out")
'''
CALLED = ('row.status == "RUN"', 'row.status.expandtabs() == "RUN"')
EDITS = {
    "first": ("", ""),
    "lines move": ("import pandas", "# More\n\nimport pandas"),
    "constants": ("90", "80"),
    "renamed": ("grade", "mark"),
    "one more conjunct": ("best >= 90", "best >= 90 AND team <> 'q'"),
    "enabled by the job": (
        "scores = ",
        "import presieve\n\npresieve.enable(spark, cost='always')\nscores = ",
    ),
    "unknown call in a group": CALLED,
    "unknown call in a row": ("score > 90", "hash(score) > 90"),
    "cached": ('.filter("best', '.cache().filter("best'),
    "deleted": ('.filter("best >= 90")', ""),
    "strict": ("", ""),
    "fails": ("teams.filter", "1 / 0\nteams.filter"),
}


def explain(*args: str) -> tuple[int, str]:
    from pyspark.sql import SparkSession

    with contextlib.redirect_stdout(io.StringIO()) as out:
        code = main(["explain", "--cost", "always", *args, "job.py", "--baseline", "presieve.json"])
    if spark := SparkSession.getActiveSession():
        presieve.disable(spark)
        spark.catalog.clearCache()
    return code, out.getvalue().partition("\nbaseline presieve.json")[2]


def run() -> None:
    columns = {
        "team": ["a", "a", "b", "c"],
        "score": [95.0, 12.0, 50.0, 99.0],
        "status": ["RUN", "IDLE", None, "RUN"],
    }
    pd.DataFrame(columns).to_parquet("scores")
    codes, texts = {}, {}
    for name, (old, new) in EDITS.items():
        Path("job.py").write_text(JOB.replace(old, new) if old else JOB)
        codes[name], texts[name] = explain(*(["--policy", "strict"] if name == "strict" else []))
    Path("steps.json").write_text(json.dumps([codes, texts]))


if __name__ == "__main__":
    run()
    sys.stdout.flush()
