"""Executors need nothing of this package: their Python cannot import it.

On ``local-cluster`` executors are processes of their own, as on a cluster, and so are their
workers. It needs ``bin`` and ``jars`` of PySpark's package, and writes next to them.
"""

from __future__ import annotations

import os
import subprocess
import sys
import venv
from pathlib import Path

import pytest

import presieve

JOB = """
import sys

sys.path.insert(0, sys.argv[1])  # for the driver alone; nobody else is told

import pandas as pd
from pyspark.sql import SparkSession
from pyspark.sql.functions import col, pandas_udf, udf

import presieve
from presieve.spark import group_fold

spark = SparkSession.builder.getOrCreate()


def of_the_worker(_):
    import importlib.util
    import os
    import sys

    for name in ("presieve", "presieve.cli", "z3"):
        try:
            importlib.import_module(name)
        except ModuleNotFoundError:
            continue
        raise AssertionError(f"a worker has {name}")
    return sys.prefix


@pandas_udf("double")
def best(score: pd.Series) -> float:
    found = None
    for s in score:
        if found is None or s > found:
            found = s
    return found


@udf("string")
def grade(score):
    if score is None:
        return None
    return "high" if score > 90 else "low"


def best_row(pdf):
    top = None
    for row in pdf.itertuples(index=False):
        if top is None or row.score > top:
            top = row.score
    return pd.DataFrame({"team": [pdf["team"].iloc[0]], "best": [top]})


class Best:
    def zero(self):
        return None

    def reduce(self, acc, row):
        return row.score if acc is None or row.score > acc else acc


def compare(name, df):
    fast = presieve.optimize(df, cost="always", budget=120.0)
    assert fast is not df, presieve.explain(df)
    as_written, optimized = (sorted(map(tuple, d.collect())) for d in (df, fast))
    assert optimized == as_written, (optimized, as_written)
    print(name, "same" if optimized else "empty")


probe = spark.range(0, 16, 1, 8).select(udf(of_the_worker)("id").alias("at")).distinct().collect()
print(*(row.at for row in probe))
rows = [(f"t{i % 7}", float(i * 37 % 101)) for i in range(200)]
spark.createDataFrame(rows, "team string, score double").write.parquet(sys.argv[2])
scores = spark.read.parquet(sys.argv[2])
teams = scores.groupBy("team")
compare("aggregate", teams.agg(best("score").alias("best")).filter("best > 95"))
compare("scalar", scores.withColumn("grade", grade("score")).filter("grade = 'high'"))
compare("apply", teams.applyInPandas(best_row, "team string, best double").filter("best > 95"))
high = group_fold(Best, "double")
compare("class", teams.agg(high("score").alias("best")).filter("best > 95"))
print("executors", len(spark.sparkContext._jsc.sc().statusTracker().getExecutorInfos()) - 1)
spark.stop()
"""
OPTIONS = "--master local-cluster[2,1,1024] --driver-memory 1g --conf spark.executor.memory=1g"
OPTIONS += " --conf spark.ui.enabled=false --conf spark.sql.shuffle.partitions=2 pyspark-shell"
OURS = {"presieve", "z3", "cvc5"}


def without_ours(folder: Path) -> Path:
    """The Python of an environment that has all packages of this one but those of ``OURS``."""
    venv.create(folder, symlinks=True)
    (inside,) = folder.glob("lib/python*/site-packages")
    for path in map(Path, sys.path):
        for package in path.iterdir() if path.name == "site-packages" else ():
            if package.name.split(".")[0] not in OURS and package.suffix != ".pth":
                if not (inside / package.name).exists():
                    (inside / package.name).symlink_to(package)
    return folder / "bin" / "python"


def home(folder: Path) -> Path:
    """A ``SPARK_HOME`` that is not within an installed package."""
    import pyspark

    folder.mkdir()
    for name in ("bin", "jars"):
        (folder / name).symlink_to(Path(pyspark.__file__).with_name(name))
    return folder


@pytest.mark.slow  # starts three JVMs
def test_workers_without_presieve(tmp_path: Path) -> None:
    python = without_ours(tmp_path / "workers")
    (tmp_path / "job.py").write_text(JOB)
    source = Path(presieve.__file__).parents[1]
    others = {k: v for k, v in os.environ.items() if k != "PYTHONPATH"}
    done = subprocess.run(
        [sys.executable, "job.py", str(source), "scores"],
        cwd=tmp_path,
        env={
            **others,
            "SPARK_HOME": str(home(tmp_path / "spark")),
            "PYSPARK_PYTHON": str(python),
            "PYSPARK_DRIVER_PYTHON": sys.executable,
            "PYSPARK_SUBMIT_ARGS": OPTIONS,
        },
        capture_output=True,
        text=True,
        timeout=500,
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines() == [
        str(tmp_path / "workers"),
        "aggregate same",
        "scalar same",
        "apply same",
        "class same",
        "executors 2",
    ]
