"""Functions over a wide table: equal results, without the columns that nobody reads."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from benchmarks.wide import functions
from benchmarks.wide.run import measure, stored, to_line
from tests.support.pickling import pickled_by_value

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

by_value = pickled_by_value(functions)


@pytest.mark.slow
@pytest.mark.classic("one kind of session is measured")
def test_three_of_sixty_columns(spark: SparkSession, tmp_path: Path) -> None:
    path = stored(spark, 2_000, tmp_path)
    assert stored(spark, 2_000, tmp_path) == path
    rows = measure(spark.read.parquet(str(path)), 1)
    assert [r.name for r in rows] == [f.__name__ for f in functions.FUNCTIONS]
    assert all(r.equal and (r.read, r.columns) == (3, 60) for r in rows)
    line = to_line(rows)
    assert line["equal"]
    assert isinstance(line["times"], float)
