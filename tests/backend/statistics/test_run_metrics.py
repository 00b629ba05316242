"""What a report measures: rows that come out of scans, by Spark's metrics, as written and not."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from presieve.backend.statistics.run_metrics import run
from presieve.driver.optimize import explain

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

ROWS = 20_000
GROUP = 2_000


@pytest.fixture(scope="module")
def grown(spark: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> DataFrame:
    """Ten row groups, of which ``n`` is greater from one to the next."""
    path = tmp_path_factory.mktemp("grown") / "table.parquet"
    columns = {"k": [i % 100 for i in range(ROWS)], "n": pa.array(range(ROWS), pa.int64())}
    pq.write_table(pa.table(columns), path, row_group_size=GROUP)
    return spark.read.parquet(str(path))


def late(table: DataFrame) -> DataFrame:
    from pyspark.sql import functions as sf

    return table.groupBy("k").agg(sf.max("n").alias("m")).filter(f"m >= {ROWS - 50}")


def test_the_scan_skips_what_the_pre_filter_rules_out(grown: DataFrame) -> None:
    report = explain(late(grown), cost="always")
    assert "measured" not in str(report)
    found = report.measure()
    assert (found.written.rows, found.optimized.rows) == (50, 50)
    assert found.written.scanned == ROWS
    assert 50 <= found.optimized.scanned <= GROUP
    assert found.written.seconds > 0
    shown = " ".join(str(report).split())
    assert f"{ROWS:,} and {found.optimized.scanned:,} rows out of scans" in shown
    assert "the result has 50 rows" in shown
    assert report.to_json()["measured"]["optimized"]["scanned"] == found.optimized.scanned


def test_what_is_left_alone_reads_the_same_twice(grown: DataFrame) -> None:
    found = explain(late(grown), cost="never").measure()
    assert found.written.scanned == found.optimized.scanned == ROWS


def test_each_scan_counts_once(grown: DataFrame) -> None:
    counted = grown.groupBy("k").count()
    assert run(grown.join(counted, "k")).scanned == 2 * ROWS
    assert run(counted.union(counted)).scanned in (ROWS, 2 * ROWS)  # Spark may exchange rows once
    nothing = run(grown.filter("n < 0"))
    assert (nothing.rows, nothing.scanned) == (0, 0)


def test_what_goes_into_shuffles_and_into_python(grown: DataFrame) -> None:
    apart = grown.repartition(3, "k")
    plain = run(apart)
    assert plain.shuffled == ROWS
    assert plain.shuffled_bytes > 1_000
    assert plain.python_bytes == 0
    pandas = run(apart.groupBy("k").applyInPandas(lambda pdf: pdf[:1], "k bigint, n bigint"))
    assert (pandas.rows, pandas.shuffled) == (100, ROWS)
    assert pandas.python_bytes > 8 * ROWS
    fewer = run(apart.filter("n < 200"))
    assert fewer.shuffled == 200
    assert fewer.shuffled_bytes < plain.shuffled_bytes


def test_a_job_that_raises_does_so_here(grown: DataFrame) -> None:
    with pytest.raises(Exception, match=r"(?i)divi"):
        explain(grown.selectExpr("k", "1 / (n - n) AS x")).measure()
