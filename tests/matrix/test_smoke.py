"""A corner of the matrix: some pipelines, files by pyarrow. ``make matrix`` runs all of it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from tests.matrix.cells import Files
from tests.matrix.compare import differences, pairs
from tests.matrix.conftest import Layout
from tests.matrix.harvest import Named, others, pipelines, sources

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

FILES = Files("pyarrow", many=True)


def test_every_pipeline_of_the_suite_is_found() -> None:
    names = [str(s) for s in sources()]
    assert len(names) > 50
    assert "backend.test_pipelines.test_split_below_apply_in_pandas" in names
    assert "traps.test_shipped_windows.test_spark_16994_below_a_limit" in names


@pytest.mark.parametrize("violating", [False, True], ids=["", "violating"])
def test_a_corner(spark: SparkSession, layout: Layout, violating: bool) -> None:
    given = layout(FILES, violating)
    found: list[Named] = []
    for source in sources()[::12]:
        found += pipelines(source, given)
    found += others(given)
    made = pairs(found, strict=violating)
    assert len(made) >= 3
    assert differences(spark, made, ("pushdown", "record by record")) == []
