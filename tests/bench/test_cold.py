"""Jobs in processes of their own, as they are measured."""

from __future__ import annotations

from pathlib import Path

import pytest
from benchmarks.cold.pipelines import PIPELINES
from benchmarks.cold.run import Row, measure, stored, to_line


def test_what_counts_as_slower() -> None:
    assert not Row("a", 10, (1.0, 1.0), (5.0, 5.0), (1.09, 1.08)).slower
    assert Row("a", 10, (1.0, 1.0), (5.0, 5.0), (1.2, 1.2)).slower
    assert not Row("a", 10, (10.0,), (5.0,), (10.4,)).slower
    assert to_line([Row("a", 10, (1.0,), (3.0,), (2.0,))])["slower"] == ["a, 10"]


@pytest.mark.slow
@pytest.mark.classic("one kind of session is measured")
def test_all_processes_of_a_job_count(tmp_path: Path) -> None:
    assert len(PIPELINES) == 25
    folder = stored(1000, tmp_path)
    assert stored(1000, tmp_path) == folder
    (row,) = measure(["scalar UDF"], {1000: folder}, 1, tmp_path / "cache")
    assert min(*row.written, *row.new, *row.seen) > 1  # the JVM alone takes more
