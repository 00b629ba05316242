"""A corner of the matrix: some pipelines, files by pyarrow. ``make matrix`` runs all of it."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import pytest
from tests.matrix.cells import DATA, MISSING, NASTY, Data, Files
from tests.matrix.compare import differences, pairs
from tests.matrix.harvest import Named, others, pipelines, sources
from tests.matrix.layouts import Layout
from tests.support.games.tables import ROWS, STRANGE

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

FILES = Files("pyarrow", many=True)


def test_the_data_hold_what_they_should() -> None:
    """Written out, because data that lose something say so nowhere else."""
    plain = [*ROWS, *NASTY]
    missing = [*plain, *STRANGE, *MISSING]
    scores, numbers, levels = ({row[i] for row in plain} for i in (1, 2, 3))
    signs = {math.copysign(1.0, row[1]) for row in plain if row[1] == 0}
    assert signs == {1.0, -1.0}
    assert {math.inf, -math.inf} <= scores
    assert {2**53 - 1, 2**53 + 1, 2**63 - 1} <= numbers
    assert {"", "error", "ERROR", None} <= levels
    assert {None, "", "a", "A"} <= {row[0] for row in plain}
    assert None not in scores | numbers
    assert not any(row[1] is not None and math.isnan(row[1]) for row in plain)
    assert any(row[1] is not None and math.isnan(row[1]) for row in missing)
    assert all(any(row[i] is None for row in missing) for i in range(4))
    assert -(2**63) in {row[2] for row in missing}


def test_every_pipeline_of_the_suite_is_found() -> None:
    names = [str(s) for s in sources()]
    assert len(names) > 50
    assert "backend.test_pipelines.test_split_below_apply_in_pandas" in names
    assert "traps.test_shipped_windows.test_spark_16994_below_a_limit" in names


@pytest.mark.slow
@pytest.mark.parametrize("data", DATA)
def test_a_corner(spark: SparkSession, layout: Layout, data: Data) -> None:
    given = layout(FILES, data)
    found: list[Named] = []
    # All of them in all layouts: all_cells.py.
    for source in sources()[12 * DATA.index(data) :: 24]:
        found += pipelines(source, given)
    found += others(given)
    made = pairs(found)
    assert len(made) >= 3
    assert differences(spark, made, ("pushdown", "record by record")) == []
