"""Checks of the data: asked once of the same files, and never of files that are others by then."""

from __future__ import annotations

import datetime as dt
import math
import os
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from tests.backend.classic.groups_that_break_assumptions import BAD, GOOD, SCHEMA, applied, report
from tests.support.running import plan_text, same_rows

from presieve.backend.classic.gateway import ClassicGateway
from presieve.backend.statistics import small_files
from presieve.driver.optimize import explain, optimize
from presieve.driver.session import enabled
from presieve.driver.stages import datachecks

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

pytestmark = pytest.mark.classic("data are not checked on Spark Connect")


@pytest.fixture
def counts(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """The jobs that checks run, by what they counted; nothing is known before, and small files are
    left to Spark as large ones are.
    """
    found: list[int] = []
    monkeypatch.setattr(small_files, "MOST_ROWS", -1)
    count: Callable[[ClassicGateway, object, int], int] = ClassicGateway.count

    def counted(self: ClassicGateway, plan: object, most: int) -> int:
        found.append(count(self, plan, most))
        return found[-1]

    monkeypatch.setattr(ClassicGateway, "count", counted)
    monkeypatch.setattr(datachecks, "_answers", {})
    return found


def written(spark: SparkSession, path: Path, *, bad: bool = False) -> DataFrame:
    rows = GOOD + (BAD if bad else [])
    spark.createDataFrame(rows, SCHEMA).coalesce(1).write.mode("overwrite").parquet(str(path))
    return spark.read.parquet(str(path))


def by(df: DataFrame) -> list[str]:
    return [d["by"] for d in report(df).discharged]


def test_asked_once(spark: SparkSession, by_value: None, tmp_path: Path, counts: list[int]) -> None:
    df = applied(written(spark, tmp_path / "t"))
    first = report(df)
    assert first.kind == "split"
    assert first.residual == "second IS NOT NULL"
    assert [d["by"][:21] for d in first.discharged] == ["a check of the data, "]
    assert first.discharged[0]["by"].endswith(" s")
    assert by(df) == ["a check of the data, made before"]
    assert "__presieve_class" not in plan_text(optimize(df, cost="always"))
    same_rows(df, optimize(df, cost="always"))
    assert counts == [0]


def test_asked_again_of_other_files(
    spark: SparkSession, by_value: None, tmp_path: Path, counts: list[int]
) -> None:
    df = applied(written(spark, tmp_path / "t"))
    assert by(df)[0].startswith("a check of the data")
    later = applied(written(spark, tmp_path / "t", bad=True))
    assert by(later) == ["the guarded plan"]
    same_rows(later, optimize(later, cost="always"))
    assert len(counts) == 2


def test_rows_that_a_filter_drops_do_not_count(
    spark: SparkSession, by_value: None, tmp_path: Path, counts: list[int]
) -> None:
    bad = written(spark, tmp_path / "t", bad=True)
    for dropping in ("team < 'e'", "day < 3 AND team IN ('a', 'b')"):
        df = applied(bad.filter(dropping))
        assert by(df)[0].startswith("a check of the data, ")
        same_rows(df, optimize(df, cost="always"))
    assert counts == [0, 0]


def test_filters_that_are_not_understood_are_left_out(
    spark: SparkSession, by_value: None, tmp_path: Path, counts: list[int]
) -> None:
    by(applied(written(spark, tmp_path / "t", bad=True).filter("soundex(team) < 'e'")))
    assert counts.pop() > 0


def test_filters_by_which_the_check_would_lose_rows_are_left_out(
    spark: SparkSession, by_value: None, tmp_path: Path, counts: list[int]
) -> None:
    """The file has 300 where Spark reads 44 as ``tinyint``. The plan's own filter does not reach
    the scan: handed to it, ``small = 44`` would skip the row group with NaN.
    """
    small = pa.array([300, 44], pa.int32())
    table = pa.table({"team": ["a", "a"], "score": [math.nan, 95.0], "small": small})
    pq.write_table(table, tmp_path / "t.parquet", row_group_size=1)
    stored = spark.read.schema("team string, score double, small tinyint").parquet(str(tmp_path))
    df = applied(stored.filter("array_contains(array(small = 44), true) >= true"))
    assert by(df) == ["the guarded plan"]
    same_rows(df, optimize(df, cost="always"))
    assert counts == [1]


@pytest.mark.parametrize(
    "condition",
    [
        "x > 0.5",
        "score > 3",
        "x = 0.0 OR v = 2",
        "x >= 0.5 AND score <> 7",
        "day < DATE'1500-01-01'",
    ],
)
@pytest.mark.parametrize("size", [1, 4])
def test_filters_of_the_job_stay_when_the_guard_reads_its_input_again(
    spark: SparkSession, tmp_path: Path, size: int, condition: str
) -> None:
    """Spark hands the condition to the scan of each copy as it does to that of the plan as written,
    so no copy loses a row that the plan as written has.
    """
    _write_hostile(tmp_path, size)
    df = applied(spark.read.parquet(str(tmp_path)).filter(condition))
    found = explain(df, cost="always")
    assert [d["by"] for d in found.boundaries[0].discharged] == ["the guarded plan"]
    assert found.data.taken_back == ()
    same_rows(df, optimize(df, cost="always"))


def test_the_parts_of_a_union_have_other_filters(spark: SparkSession, tmp_path: Path) -> None:
    _write_hostile(tmp_path, 1)
    table = spark.read.parquet(str(tmp_path))
    df = applied(table.filter("x > 0.5").union(table.filter("score > 3")))
    same_rows(df, optimize(df, cost="always"))


def _write_hostile(folder: Path, size: int) -> None:
    """Write rows with NaN where conditions and the function look, in groups of ``size`` rows."""
    scores = [95.0, math.nan, 92.0, -0.0, 99.0, math.nan, 91.0, 90.5, None, 97.0]
    count = len(scores)
    columns = {
        "team": pa.array(["ab"[i % 2] for i in range(count)]),
        "score": pa.array(scores),
        "v": pa.array([i % 4 for i in range(count)], pa.int64()),
        "x": pa.array([math.nan, 0.7, -0.0, 0.0, math.nan, 5.0, 0.9, math.nan, 2.0, 0.6]),
        "day": pa.array([dt.date(1400 + 100 * (i % 3), 1, 1) for i in range(count)]),
    }
    pq.write_table(pa.table(columns), folder / "t.parquet", row_group_size=size)


@pytest.mark.second
def test_many_rows_that_break_a_condition(
    spark: SparkSession, by_value: None, tmp_path: Path, counts: list[int]
) -> None:
    """Then most groups would keep all their rows."""
    path = str(tmp_path / "t")
    spark.range(5000).selectExpr(
        "cast(id % 700 AS string) AS team", "if(id % 3 = 0, double('nan'), 1.0D * id) AS score"
    ).write.parquet(path)
    df = applied(spark.read.parquet(path))
    assert "more than 1,000 rows break that" in report(df).declined[0].reason
    same_rows(df, optimize(df, cost="always"))


def test_kept_between_processes(
    spark: SparkSession,
    by_value: None,
    tmp_path: Path,
    counts: list[int],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("PRESIEVE_CACHE", str(tmp_path / "cache"))
    df = applied(written(spark, tmp_path / "t"))
    by(df)
    monkeypatch.setattr(datachecks, "_answers", {})  # another process
    assert by(df) == ["a check of the data, made before"]
    assert counts == [0]
    os.chmod(tmp_path / "cache", 0o777)
    assert by(df)[0].endswith(" s")
    assert counts == [0, 0]


@pytest.mark.parametrize("text", ["", "[]", "{}", '{"presieve_check": -1}', "x", "null"])
def test_what_is_no_answer(tmp_path: Path, text: str) -> None:
    from presieve.driver.cache.disk import Store

    store = Store(tmp_path)
    store.put("0" * 64, text)
    assert datachecks._read_check(store, "0" * 64) is None


def test_a_table_is_looked_at_where_the_plan_runs_at_once(
    spark: SparkSession, by_value: None, counts: list[int]
) -> None:
    spark.sql("DROP TABLE IF EXISTS checked_now")
    spark.createDataFrame(GOOD, SCHEMA).write.saveAsTable("checked_now", format="parquet")
    try:
        df = applied(spark.table("checked_now"))
        optimize(df, cost="always")
        assert counts == []
        with enabled(spark, cost="always"):
            df.collect()
            assert counts == [0]
            spark.createDataFrame(BAD, SCHEMA).write.insertInto("checked_now")
            now = sorted(map(str, df.select("*").collect()))
        assert len(counts) == 2
        assert now == sorted(map(str, applied(spark.table("checked_now")).collect()))
    finally:
        spark.sql("DROP TABLE checked_now")
