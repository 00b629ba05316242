"""Columns that are declared to be computed of others: directories are chosen by them."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from tests.driver.conditions import rows
from tests.support.spark_version import is_before

import presieve

if TYPE_CHECKING:
    from pathlib import Path

    from pyspark.sql import DataFrame, SparkSession

pytestmark = pytest.mark.classic("a client of Spark Connect does not see files")

DECLARED = "day = to_date(ts)"


def written(spark: SparkSession, path: Path, day: str) -> DataFrame:
    """Six hours apart for forty days, in directories by what ``day`` says, and rows without."""
    times = "timestamp_seconds(1704067200 + id * 21600)"
    table = spark.range(160).selectExpr("id", f"IF(id % 40 = 0, NULL, {times}) AS ts")
    table.selectExpr("*", f"{day} AS day").coalesce(1).write.partitionBy("day").parquet(str(path))
    return spark.read.parquet(str(path))


@pytest.fixture(scope="module")
def by_day(spark: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> DataFrame:
    before = spark.conf.get("spark.sql.session.timeZone")
    spark.conf.set("spark.sql.session.timeZone", "UTC")
    try:
        return written(spark, tmp_path_factory.mktemp("computed") / "t", "to_date(ts)")
    finally:
        spark.conf.set("spark.sql.session.timeZone", before or "UTC")


@pytest.fixture(autouse=True)
def utc(settings: SparkSession) -> None:
    settings.conf.set("spark.sql.session.timeZone", "UTC")


CASES = [
    ("ts >= TIMESTAMP '2024-01-10 12:00:00' AND ts < TIMESTAMP '2024-01-12 00:00:00'", 3),
    ("ts < TIMESTAMP '2024-01-02 00:00:00'", 2),
    ("year(ts) = 2024 AND ts > TIMESTAMP '2024-02-08 00:00:00'", 2),
    ("ts IN (TIMESTAMP '2024-01-05 06:00:00', TIMESTAMP '2024-01-20 06:00:00')", 16),
]


@pytest.mark.parametrize(("where", "most"), CASES)
def test_directories_are_chosen(by_day: DataFrame, where: str, most: int) -> None:
    df = by_day.where(where)
    assert presieve.explain(df).scans[0].files_read == 41
    report = presieve.explain(df, declare=DECLARED)
    (scan,) = report.scans
    assert scan.files_read is not None
    assert scan.files_read <= most
    assert ("day", "exact") in {(o.text.partition(" ")[0], o.contract) for o in scan.offered}
    better = presieve.optimize(df, declare=DECLARED)
    assert better is not df
    assert rows(better) == rows(df)
    ((assumption,),) = [d.assumptions for d in report.derived]
    assert assumption == {"code": "declared", "text": DECLARED}


def test_what_follows_by_itself_rests_on_nothing(by_day: DataFrame) -> None:
    report = presieve.explain(by_day.where("year(ts) = 2023"), declare=DECLARED, cost="always")
    assert {"ts", "day"} <= set(report.derived[0].derived.split())
    alone = presieve.explain(by_day.where("date_add(day, 1) = DATE '2024-01-05'"), cost="always")
    assert alone.derived[0].derived
    assert not alone.derived[0].assumptions
    both = presieve.explain(
        by_day.where("date_add(day, 1) = DATE '2024-01-05' AND id > 3"),
        declare="id = dayofyear(day)",
        cost="always",
    )
    assert both.derived[0].derived
    assert not both.derived[0].assumptions


def test_other_zones_are_wider(by_day: DataFrame, settings: SparkSession) -> None:
    """The days of files are those of UTC: in another zone the declaration is not true."""
    settings.conf.set("spark.sql.session.timeZone", "America/St_Johns")
    df = by_day.where("ts < TIMESTAMP '2024-01-02 00:00:00Z'")
    found = presieve.explain(df, declare=DECLARED, cost="always").derived
    assert all(
        not d.derived or rows(df) == rows(presieve.optimize(df, declare=DECLARED)) for d in found
    )


@pytest.mark.parametrize("stored", ["INT96", "TIMESTAMP_MICROS"])
def test_files_refute_what_is_not_true(
    spark: SparkSession, tmp_path: Path, caplog: pytest.LogCaptureFixture, stored: str
) -> None:
    """A wrong declaration would lose rows: the day after is not the day. INT96 has no extremes."""
    spark.conf.set("spark.sql.parquet.outputTimestampType", stored)
    df = written(spark, tmp_path / "late", "date_add(to_date(ts), 1)")
    spark.conf.unset("spark.sql.parquet.outputTimestampType")
    chosen = df.where(CASES[0][0])
    with caplog.at_level("WARNING", "presieve"):
        assert presieve.optimize(chosen, declare=DECLARED) is chosen
    assert "is not used: it is not true of" in caplog.text
    right = presieve.optimize(chosen, declare="day = date_add(to_date(ts), 1)")
    assert right is not chosen
    assert rows(right) == rows(chosen)
    assert chosen.where("day = to_date(ts)").count() == 0 < chosen.count()


@pytest.mark.parametrize(
    ("column", "declared"),
    [
        ("date_format(ts, 'yyyy-MM')", "day = date_format(ts, 'yyyy-MM')"),
        ("year(ts) * 100 + month(ts)", "day = year(ts) * 100 + month(ts)"),
        ("int(id div 10)", "day = id div 10"),
    ],
)
def test_other_ways_to_divide(
    spark: SparkSession, tmp_path: Path, column: str, declared: str
) -> None:
    """Of a sum of two functions nothing is known."""
    df = written(spark, tmp_path / "t", column)
    chosen = df.where("ts < TIMESTAMP '2024-01-09 00:00:00' AND id < 40")
    better = presieve.optimize(chosen, declare=declared, cost="always")
    assert (better is chosen) == ("month(ts)" in declared)
    assert rows(better) == rows(chosen)


def test_declarations_about_other_places(by_day: DataFrame) -> None:
    df = by_day.where("ts < TIMESTAMP '2024-01-02 00:00:00'")
    for declared in ("other = to_date(ts)", "day = to_date(other)", "day = nonsense(ts)"):
        assert presieve.optimize(df, declare=declared) is df


def test_what_is_not_understood_changes_nothing(
    by_day: DataFrame, caplog: pytest.LogCaptureFixture
) -> None:
    deep = "abs(" * 120 + "id" + ")" * 120
    strange = f"{DECLARED} AND {deep} = id"
    df = by_day.where("year(ts) = 2023")
    (alone,) = presieve.explain(df, cost="always").derived
    assert alone.derived
    (with_it,) = presieve.explain(df, cost="always", declare=strange).derived
    assert with_it.derived == alone.derived
    assert is_before("4.0") or "not understood" in caplog.text  # 3.5 does not analyze it
    (other,) = presieve.explain(df, cost="always", declare=(strange, DECLARED)).derived
    assert "day" in other.derived
