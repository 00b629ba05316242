"""What scans evaluate of the filters at them: as reports say, and as Spark's metrics do."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from pyspark.sql import functions as F
from tests.support.running import handing_filters
from tests.support.spark_version import is_before

import presieve

if TYPE_CHECKING:
    from pathlib import Path

    from pyspark.sql import DataFrame, SparkSession

    from presieve.backend.statistics.scan_contracts import ScanContract

pytestmark = pytest.mark.classic("a client of Spark Connect does not see scans")

ROWS, GROUPS = 20_000, 20


@pytest.fixture(scope="module")
def sorted_(tmp_path_factory: pytest.TempPathFactory) -> str:
    """By ``id``, in directories by ``p``, with ``id % 7`` in no order, and texts."""
    base = tmp_path_factory.mktemp("contracts")
    for part in (0, 1):
        ids = list(range(part, ROWS, 2))
        table = pa.table(
            {
                "id": ids,
                "k": [i % 7 for i in ids],
                "s": [f"t{i:06}" for i in ids],
                "ntz": pa.array([i * 1_000_000 for i in ids], pa.timestamp("us")),
            }
        )
        (base / f"p={part}").mkdir()
        size = ROWS // GROUPS
        pq.write_table(table, base / f"p={part}" / "a.parquet", row_group_size=size)
    return str(base)


def only_scan(df: DataFrame, **options: Any) -> ScanContract:
    (scan,) = presieve.explain(df, **options).scans
    return scan


def offered(scan: ScanContract) -> dict[str, str]:
    return {o.text: o.contract for o in scan.offered}


def test_each_conjunct(spark: SparkSession, sorted_: str) -> None:
    df = spark.read.parquet(sorted_).where(
        "p = 1 AND id < 1500 AND k >= 3 AND k + 1 > 2 AND k < id"
    )
    scan = only_scan(df, cost="never")
    assert offered(scan) == {
        "p = 1": "exact",
        "id < 1500L": "inexact",
        "k >= 3L": "inexact",
        "(k + 1L) > 2L": "unsupported",
        "k < id": "unsupported",
    }
    reasons = {o.text: o.reason for o in scan.offered}
    assert "computes something" in reasons["(k + 1L) > 2L"]
    assert "compares columns" in reasons["k < id"]
    assert (scan.files, scan.files_read, scan.groups, scan.groups_read) == (2, 1, 10, 1)
    assert scan.notes == (
        "k >= 3L skips nothing: every row group may have such rows; sort by k when the files are "
        "written",
    )


def test_what_spark_cannot_plan_has_none(spark: SparkSession) -> None:
    """A stream runs otherwise."""
    stream = spark.readStream.format("rate").load().where("value > 3")
    assert presieve.explain(stream).scans == ()


def test_what_is_derived_is_offered(spark: SparkSession, sorted_: str) -> None:
    df = spark.read.parquet(sorted_).where("id + 1 < 100")
    assert set(offered(only_scan(df, cost="never")).values()) == {"unsupported"}
    after = only_scan(df, cost="always")
    assert sorted(offered(after).values()) == ["inexact", "unsupported"]
    assert (after.groups, after.groups_read) == (20, 2)


def test_the_groups_that_are_read_are_those(spark: SparkSession, sorted_: str) -> None:
    """By the rows that come out of the scan."""
    report = presieve.explain(spark.read.parquet(sorted_).where("id < 1500 AND k = 3"))
    (scan,) = report.scans
    rows = report.measure().optimized.scanned
    assert rows == scan.groups_read * ROWS // GROUPS  # type: ignore[operator]


def test_reports_have_them(spark: SparkSession, sorted_: str) -> None:
    report = presieve.explain(spark.read.parquet(sorted_).where("id < 1500 AND k + 1 > 2"))
    text = str(report)
    assert "  inexact       id < 1500L: Spark evaluates it again" in text
    assert "  row groups    2 of 20 are read" in text
    assert "2 of 20 are read" in report._repr_html_()
    (scan,) = report.to_json()["contract"]
    assert [o["contract"] for o in scan["offered"]] == ["inexact", "unsupported"]
    assert not presieve.explain(spark.read.parquet(sorted_)).scans[0].offered


def test_texts_and_timestamps(spark: SparkSession, sorted_: str) -> None:
    """Spark offers more than the reader of Parquet has a use for."""
    df = spark.read.parquet(sorted_)
    (note,) = only_scan(df.where("s LIKE '%7%'")).notes
    assert "what they contain" in note
    odd = presieve.explain(df.where("s LIKE '%77'"))  # by dictionaries
    assert odd.scans[0].groups_read == GROUPS // 2
    assert odd.measure().written.scanned == ROWS // 2
    assert only_scan(df.where("s >= 't019'")).groups_read == 2
    ntz = df.where("ntz < TIMESTAMP_NTZ '1970-01-01 00:01:00'")
    report = presieve.explain(ntz)
    assert "TIMESTAMP_NTZ" in report.scans[0].notes[0]
    assert report.measure().written.scanned == ROWS


def test_one_row_group_and_no_extremes(spark: SparkSession, tmp_path: Path) -> None:
    table = pa.table({"id": range(100), "t": pa.array(range(100), pa.timestamp("us", "UTC"))})
    pq.write_table(table, tmp_path / "one.parquet")
    one = spark.read.parquet(str(tmp_path / "one.parquet"))
    (note,) = only_scan(one.where("id IN (9, 90)")).notes
    assert "one row group" in note
    assert not only_scan(one.where("id > 900")).notes
    int96 = tmp_path / "int96.parquet"
    pq.write_table(table, int96, row_group_size=10, use_deprecated_int96_timestamps=True)
    times = spark.read.parquet(str(int96))
    scan = only_scan(times.where("t < TIMESTAMP '1970-01-01 00:00:00Z'"))
    assert (scan.groups, scan.groups_read) == (10, 10)
    assert "INT96" in scan.notes[0]
    bare = str(tmp_path / "bare.parquet")
    pq.write_table(table, bare, row_group_size=10, write_statistics=False)
    assert only_scan(spark.read.parquet(bare).where("id < 10")).groups_read == 1  # by dictionaries
    options = {"row_group_size": 10, "write_statistics": False, "use_dictionary": False}
    pq.write_table(table, tmp_path / "none.parquet", **options)
    scan = only_scan(spark.read.parquet(str(tmp_path / "none.parquet")).where("id < 10"))
    assert "no statistics of id" in scan.notes[0]


def test_pages_and_buckets(spark: SparkSession, tmp_path: Path) -> None:
    """One row group, as Spark writes it; the rows are those that come out of the scan."""
    path = str(tmp_path / "sorted")
    spark.range(200_000, numPartitions=1).write.parquet(path)
    report = presieve.explain(spark.read.parquet(path).where("id < 1000"))
    (scan,) = report.scans
    assert (scan.groups, scan.groups_read, scan.rows) == (1, 1, 200_000)
    assert scan.rows_read == report.measure().written.scanned == 20_000
    assert "10.0% of 200,000 are read" in str(report)
    numbers = spark.range(8000).selectExpr("id % 100 AS k", "id AS v")
    numbers.repartition(2).write.bucketBy(8, "k").saveAsTable("in_buckets")
    try:
        scan = only_scan(spark.table("in_buckets").where("k = 7 AND v >= 0"), cost="never")
        assert scan.files is not None
        assert scan.files_read == scan.files // 8
        derived = presieve.explain(spark.table("in_buckets").where("k + 1 = 8"))
        assert derived.derived[0].derived.startswith("k IN (7,")  # and a number that overflows
        assert (derived.derived[0].skipped or 0.0) > 0.4
        assert derived.scans[0].files_read in (scan.files // 8, scan.files // 4)
    finally:
        spark.sql("DROP TABLE in_buckets")


def test_a_filter_that_only_pages_skip_by(spark: SparkSession, tmp_path: Path) -> None:
    path = str(tmp_path / "sorted")
    spark.range(200_000, numPartitions=1).write.parquet(path)
    (found,) = presieve.explain(spark.read.parquet(path).where("id + 1 < 1000")).derived
    assert found.derived.startswith("id < 999")
    assert found.skipped == pytest.approx(0.9)
    shuffled = str(tmp_path / "shuffled")
    spark.range(200_000, numPartitions=1).orderBy(F.xxhash64("id")).write.parquet(shuffled)
    (left,) = presieve.explain(spark.read.parquet(shuffled).where("id + 1 < 1000")).derived
    assert left.derived == ""
    assert "row groups or pages" in left.declined[0].reason


@pytest.mark.skipif(is_before("4.1"), reason="Spark hands no filters to Python data sources")
def test_what_a_python_source_claims(spark: SparkSession) -> None:
    from pyspark.sql import datasource as ds

    class Reader(ds.DataSourceReader):
        def pushFilters(self, filters: Any) -> Any:
            for filter_ in filters:
                if type(filter_).__name__ != "EqualTo":
                    yield filter_

        def read(self, partition: Any) -> Any:
            yield (1, 2)

    class Claims(ds.DataSource):
        @classmethod
        def name(cls) -> str:
            return "claims_equality"

        def schema(self) -> str:
            return "a int, b int"

        def reader(self, schema: Any) -> Any:
            return Reader()

    with handing_filters(spark):
        spark.dataSource.register(Claims)
        scan = only_scan(spark.read.format("claims_equality").load().where("a = 1 AND b > 1"))
        assert [(o.text, o.contract) for o in scan.offered] == [
            ("EqualTo(a,1)", "exact"),
            ("b > 1", "unsupported"),
        ]
