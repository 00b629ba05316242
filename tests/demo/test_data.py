"""The demo's tables lie as its documentation says."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pyarrow.compute as pc
import pyarrow.parquet as pq
import pytest

from presieve.demo.data import TABLES, generate

ROWS = 20_000


@pytest.fixture(scope="module")
def paths(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    return generate(tmp_path_factory.mktemp("data"), ROWS)


@pytest.mark.parametrize("name", TABLES)
def test_size_row_groups_and_no_null(paths: dict[str, Path], name: str) -> None:
    file = pq.ParquetFile(paths[name])
    assert file.metadata.num_rows == ROWS
    assert file.metadata.num_row_groups >= 8
    for column in file.read().columns:
        assert column.null_count == 0


@pytest.mark.parametrize(
    ("name", "key"), [("scores", "team"), ("events", "ticker"), ("trades", "symbol")]
)
def test_keys_are_skewed(paths: dict[str, Path], name: str, key: str) -> None:
    counts = pc.value_counts(pq.read_table(paths[name])[key].combine_chunks()).field("counts")
    largest = np.sort(counts.to_numpy())[::-1]
    assert len(largest) > 100
    assert largest[0] > 20 * np.median(largest)


def test_no_two_trades_have_one_epoch(paths: dict[str, Path]) -> None:
    """Ties would make the opening trade depend on the order of rows, which Spark does not keep."""
    assert pc.count_distinct(pq.read_table(paths["trades"])["epoch"]).as_py() == ROWS


@pytest.mark.parametrize(("name", "column"), [("events", 2), ("trades", 2)])
def test_row_groups_follow_time(paths: dict[str, Path], name: str, column: int) -> None:
    meta = pq.ParquetFile(paths[name]).metadata
    stats = [meta.row_group(i).column(column).statistics for i in range(meta.num_row_groups)]
    for early, late in zip(stats, stats[2:], strict=False):
        assert early.max < late.min


def test_the_same_again_and_not_written_twice(paths: dict[str, Path], tmp_path: Path) -> None:
    again = generate(tmp_path, ROWS)
    for name, path in again.items():
        assert pq.read_table(path).equals(pq.read_table(paths[name]))
        before = path.stat().st_mtime_ns
        generate(tmp_path, ROWS)
        assert path.stat().st_mtime_ns == before
    assert len(list(tmp_path.iterdir())) == len(TABLES)
