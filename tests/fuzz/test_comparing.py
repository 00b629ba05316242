"""What generators of plans compare: rows, errors, rows out of scans. Planted faults are found."""

from __future__ import annotations

from pathlib import Path
from random import Random
from typing import TYPE_CHECKING

import pyarrow.parquet as pq
import pytest
from tests.fuzz import comparing, hostile_tables
from tests.fuzz.comparing import (
    CRASH,
    ERROR_ADDED,
    OTHER_ROWS,
    READS_MORE,
    Comparison,
    Tally,
    compare,
    unless_guarded,
)
from tests.support import scans

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

pytestmark = pytest.mark.classic("there, a client has no plan with metrics")


@pytest.fixture(scope="module")
def numbers(spark: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> DataFrame:
    """A hundred rows in row groups of ten, each with -0.0."""
    path = tmp_path_factory.mktemp("numbers") / "t.parquet"
    spark.range(100).selectExpr("id", "-0.0D AS x").toPandas().to_parquet(path, row_group_size=10)
    return spark.read.parquet(str(path))


def kinds(found: Comparison) -> list[str]:
    return [kind for kind, _, _ in found.findings]


def test_nothing_is_wrong(numbers: DataFrame) -> None:
    found = compare(numbers.where("id < 5"), {"again": lambda: numbers.where("id <= 4")})
    assert found == Comparison(rewritten=True)


def test_planted_faults_are_found(numbers: DataFrame) -> None:
    written = numbers.where("id < 5")

    def crash() -> DataFrame:
        raise ValueError

    found = compare(
        written,
        {
            "a row is lost": lambda: numbers.where("id < 4"),
            "a row comes twice": lambda: written.union(numbers.where("id = 4")),
            "another zero": lambda: written.selectExpr("id", "0.0D AS x"),
            "an error": lambda: numbers.where("id < 5 AND 1 / (id - 3) > -9"),
            "a crash": crash,
            "all is read": lambda: numbers.where("id % 100 < 5"),
        },
    )
    assert kinds(found) == [*[OTHER_ROWS] * 3, ERROR_ADDED, CRASH, READS_MORE]


def test_of_what_raises_as_written_nothing_is_asked(numbers: DataFrame) -> None:
    found = compare(numbers.where("1 / (id - 3) > -9"), {"none": lambda: numbers.limit(0)})
    assert found == Comparison(raises=True)


def test_what_a_guard_reads_again_is_no_fault(
    numbers: DataFrame, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Other rows are one, guarded or not."""
    written = numbers.where("id < 5")
    forms = {"more": lambda: numbers.where("id % 100 < 5"), "fewer": lambda: numbers.limit(0)}
    found = compare(written, forms)
    assert kinds(unless_guarded(found, written)) == [READS_MORE, OTHER_ROWS]
    monkeypatch.setattr(comparing, "is_guarded", lambda _: True)
    assert kinds(unless_guarded(found, written)) == [OTHER_ROWS]


STEPS = {
    "TIMESTAMP": "INTERVAL '0.000001' SECOND",
    "TIMESTAMP_NTZ": "INTERVAL '0.000001' SECOND",
    "DATE": "INTERVAL '1' DAY",
}
"""The least by which moments of a type differ."""


@pytest.mark.parametrize(
    "moment", ["0000-06-01 00:00:00", "-0044-03-15 12:00:00", "10000-01-01 00:00:00"]
)
@pytest.mark.parametrize("kind", STEPS)
def test_moments_that_python_does_not_have_are_compared_as_texts(
    numbers: DataFrame, moment: str, kind: str
) -> None:
    some = f"CAST(replace('{moment}', ' 00:00:00', '') AS {kind})"
    written = numbers.where("id < 3").selectExpr("id", "x", f"array(struct({some} AS m)) AS ms")
    assert compare(written, {"same": lambda: written.where("id < 3")}) == Comparison(rewritten=True)
    later = written.selectExpr("id", "x", f"array(struct({some} + {STEPS[kind]} AS m)) AS ms")
    forms = {"row lost": lambda: written.where("id < 2"), "another moment": lambda: later}
    assert kinds(compare(written, forms)) == [OTHER_ROWS] * 2


def test_rows_out_of_scans_are_counted_by_source(
    numbers: DataFrame, spark: SparkSession, tmp_path: Path
) -> None:
    """Behind adaptive stages, and again for a DataFrame that has run."""
    spark.range(7).coalesce(1).write.parquet(str(tmp_path / "few"))
    few = spark.read.parquet(str(tmp_path / "few"))
    partners = few.selectExpr("id + 90 AS id").hint("merge")
    joined = numbers.where("id >= 90").join(partners, "id", "left")
    for _ in range(2):
        found = scans.run(joined)
        assert len(found.rows) == 10
        assert found.scanned is not None
        assert sorted(found.scanned.values()) == [7, 10]


def test_a_source_of_which_more_is_read_is_named(numbers: DataFrame) -> None:
    part, whole = (scans.run(numbers.where(w)) for w in ("id < 10", "id % 100 < 10"))
    assert scans.reading_more(whole, part) == ""
    assert scans.reading_more(part, whole).startswith("100 rows of file:")
    scans.reads_no_more(whole, part)
    with pytest.raises(AssertionError, match="in place of 10"):
        scans.reads_no_more(part, whole)


def test_counts_are_of_plans(numbers: DataFrame) -> None:
    """A plan with two wrong forms is one wrong plan, and so is one that goes on wrong."""
    forms = {name: lambda: numbers.limit(0) for name in ("first", "second")}
    tally = Tally("plans")
    tally.add(compare(numbers, forms), "the plan")
    tally.add(compare(numbers, forms), "the plan", again=True)
    assert tally.is_bad
    assert tally.text(2.0) == (
        "fuzz, plans: 1 in 2 s, 0 raise as written, 1 rewritten; "
        "1 other rows, 0 error added, 0 crash, 0 reads more"
    )
    assert all(text.endswith("the plan") for text in tally.of(OTHER_ROWS))


@pytest.mark.parametrize("seed", range(4))
def test_files_of_both_writers_have_small_row_groups(
    spark: SparkSession, tmp_path: Path, seed: int
) -> None:
    random = Random(seed)
    data = hostile_tables.rows(random)
    df = hostile_tables.write(spark, data, tmp_path / "t", random)
    assert {row.id for row in df.collect()} == {row["id"] for row in data}
    for path in (tmp_path / "t").glob("*.parquet"):
        metadata = pq.ParquetFile(path).metadata
        groups = range(metadata.num_row_groups)
        assert all(metadata.row_group(i).num_rows <= hostile_tables.STRETCH for i in groups)
