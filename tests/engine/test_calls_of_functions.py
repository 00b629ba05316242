"""Spark leaves out and repeats calls of Python functions, as its documentation says: record 58."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

ROWS = 10


@pytest.fixture
def numbers(spark: SparkSession, tmp_path: Path) -> DataFrame:
    """A table of files: a function over literals would be computed with the plan."""
    path = str(tmp_path / "numbers")
    spark.range(ROWS).selectExpr("cast(id AS int) v").coalesce(1).write.parquet(path)
    return spark.read.parquet(path)


def _calls(numbers: DataFrame, build: Callable[[DataFrame], DataFrame]) -> int:
    """How often a function is called for the column ``r`` of a table."""
    count = numbers.sparkSession.sparkContext.accumulator(0)

    @F.udf("int")
    def counted(v: int) -> int:
        count.add(1)
        return v

    build(numbers.withColumn("r", counted("v"))).collect()
    return int(count.value)


def test_each_row_is_a_call(numbers: DataFrame) -> None:
    assert _calls(numbers, lambda df: df) == ROWS


def test_a_column_that_nobody_reads_is_not_computed(numbers: DataFrame) -> None:
    assert _calls(numbers, lambda df: df.select("v")) == 0


def test_rows_that_another_filter_drops_are_not_handed_over(numbers: DataFrame) -> None:
    assert _calls(numbers, lambda df: df.filter("v > 7")) == 2


def test_a_function_in_a_filter_is_called_again(numbers: DataFrame) -> None:
    """For each row in the filter, and for the rows that stay."""
    assert _calls(numbers, lambda df: df.filter("r > 3")) == ROWS + 6


_RETRIED = """
import sys, tempfile
from pathlib import Path
from pyspark.sql import SparkSession, functions as F

spark = SparkSession.builder.master("local[1,2]").config("spark.ui.enabled", "false").getOrCreate()
folder = Path(tempfile.mkdtemp())

@F.udf("int")
def logged(v):
    tried = len(list(folder.glob(f"{v}-*")))
    (folder / f"{v}-{tried}").touch()
    if v == 2 and not tried:
        raise ValueError("once")
    return v

spark.range(3).coalesce(1).select(logged(F.col("id").cast("int"))).collect()
print(sorted(p.name for p in folder.iterdir()))
"""


@pytest.mark.costly
def test_a_task_that_fails_runs_again_with_all_its_calls() -> None:
    run = subprocess.run(
        [sys.executable, "-c", _RETRIED], capture_output=True, text=True, check=True
    )
    assert run.stdout.splitlines()[-1] == "['0-0', '0-1', '1-0', '1-1', '2-0', '2-1']"
