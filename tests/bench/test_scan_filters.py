"""Filters on computed columns of files, as they are measured."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from benchmarks.operators.run import measure
from benchmarks.scan_filters.cases import CASES, stored, views
from benchmarks.scan_filters.page import measured, page, record
from tests.support.amount import amount

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

ROWS = 20_000


@pytest.mark.slow
@pytest.mark.random
@pytest.mark.classic("one kind of session is measured")
def test_the_range_by_hand_keeps_the_rows(spark: SparkSession, tmp_path: Path) -> None:
    before = spark.conf.get("spark.sql.session.timeZone") or "UTC"
    spark.conf.set("spark.sql.session.timeZone", "UTC")
    try:
        views(spark, stored(ROWS, tmp_path))
        chosen = CASES[:: len(CASES) // amount(len(CASES), 12)]
        rows = measure(spark, ROWS, chosen, turns=1)
        assert [r.name for r in rows if not r.equal] == []
        assert sum(r.results > 0 for r in rows) > len(rows) * 0.8
        lines = [measured(spark, case, ROWS) for case in chosen[:3]]
    finally:
        spark.conf.set("spark.sql.session.timeZone", before)
    assert all(line.optimized < line.written == ROWS for line in lines)
    assert all(str(line) in record(lines, ROWS, "Measured.") for line in lines)
    assert page(lines, ROWS).count(f" {lines[0].optimized:,} |") == 1
