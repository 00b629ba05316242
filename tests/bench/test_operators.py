"""Filters above Spark's operators, as they are measured."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from benchmarks.operators.cases import CASES, stored
from benchmarks.operators.run import measure, to_line

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


@pytest.mark.slow
@pytest.mark.classic("one kind of session is measured")
def test_all_forms_give_the_same(spark: SparkSession, tmp_path: Path) -> None:
    path = stored(20_000, tmp_path)
    assert stored(20_000, tmp_path) == path
    rows = measure(spark.read.parquet(str(path)), 20_000, CASES, turns=1)
    line = to_line(rows)
    assert line["equal"] == line["of"] == len(CASES)
    # Of so few rows the best stand in few row groups.
    changed = {r.name for r in rows if r.changed} - {"best rows"}
    assert changed == {c.name for c in CASES if c.by_hand != "true"}
