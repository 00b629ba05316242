"""Enabled sessions: what runs a DataFrame runs the optimized one, and nothing else is changed."""

from __future__ import annotations

import contextlib
import gc
import io
import threading
import weakref
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from tests.support.games import udfs
from tests.support.games.pipelines import top_two
from tests.support.games.tables import Tables
from tests.support.running import by_footers, counted, same_rows

import presieve
from presieve.driver import session as driver
from presieve.driver.optimize import optimize, optimize_and_report
from presieve.driver.running import Answer
from presieve.errors import UsageError
from presieve.report.report_data import ReportData

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

HIGH = "GreaterThanOrEqual(score,90.0)"
TOP2 = "team string, first double, second double"


def explained(df: DataFrame) -> str:
    """What ``df.explain()`` prints."""
    out = io.StringIO()
    with contextlib.redirect_stdout(out):
        df.explain()
    return out.getvalue()


def members(df: DataFrame) -> dict[str, Any]:
    return dict(vars(type(df)))


@pytest.fixture(autouse=True)
def disabled_again(spark: SparkSession) -> Iterator[None]:
    before = members(spark.range(1))
    yield
    presieve.disable(spark)
    after = members(spark.range(1))
    assert after.keys() == before.keys()
    assert not [name for name in before if after[name] is not before[name]]


@pytest.fixture
def looked_at(monkeypatch: pytest.MonkeyPatch) -> list[DataFrame]:
    """The DataFrames that were optimized, in order."""
    seen: list[DataFrame] = []

    def watched(df: DataFrame, *args: Any, **kwargs: Any) -> Any:
        seen.append(df)
        return optimize_and_report(df, *args, **kwargs)

    monkeypatch.setattr(driver, "optimize_and_report", watched)
    return seen


RUNS: dict[str, Callable[[DataFrame, str], object]] = {
    "collect": lambda df, _: df.collect(),
    "count": lambda df, _: df.count(),
    "isEmpty": lambda df, _: df.isEmpty(),
    "show": lambda df, _: df.show(),
    "take": lambda df, _: df.take(5),
    "head": lambda df, _: df.head(5),
    "first": lambda df, _: df.first(),
    "tail": lambda df, _: df.tail(1),
    "toPandas": lambda df, _: df.toPandas().to_dict("records"),
    "toArrow": lambda df, _: df.toArrow().to_pylist(),
    "toLocalIterator": lambda df, _: list(df.toLocalIterator()),
    "approxQuantile": lambda df, _: df.approxQuantile("id", [0.5], 0.0),
    "corr": lambda df, _: df.stat.corr("id", "w"),
    "cov": lambda df, _: df.cov("id", "w"),
    "localCheckpoint": lambda df, _: df.localCheckpoint().collect(),
    "explain": lambda df, _: df.explain(),
    "write": lambda df, path: df.write.mode("overwrite").parquet(path),
}


@pytest.mark.parametrize("name", RUNS)
def test_what_runs_a_dataframe_runs_the_other_one(
    name: str,
    spark: SparkSession,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    tmp_path: Path,
) -> None:
    """Another DataFrame, whose rows can be told apart, stands in for an optimized one."""
    written = spark.range(1, 4).selectExpr("id", "id * 2 AS w")
    other = spark.range(11, 15).selectExpr("id", "id * id AS w")
    path = str(tmp_path / "out")

    def outcome(df: DataFrame) -> tuple[object, str, object]:
        capsys.readouterr()
        result = RUNS[name](df, path)
        stored = sorted(spark.read.parquet(path).collect()) if name == "write" else None
        return result, capsys.readouterr().out, stored

    as_written, expected = outcome(written), outcome(other)
    if name != "isEmpty":
        assert expected != as_written
    asked: list[object] = []

    def instead(df: DataFrame, *_: Any, **__: Any) -> tuple[DataFrame, object]:
        asked.append(df)
        return other, None

    with presieve.enabled(spark), monkeypatch.context() as patch:
        patch.setattr(driver, "optimize_and_report", instead)
        found = outcome(written)
    assert asked[0] is written  # and what is called in turn is not asked about
    assert len([df for df in asked if df is written]) == 1
    assert found == expected
    assert outcome(written) == as_written


def test_writes_and_rows_of_real_pipelines(
    spark: SparkSession, tables: Tables, tmp_path: Path
) -> None:
    """NULL and NaN only where they have no influence: the other function assumes that there are
    none, and its report says so.
    """
    from pyspark.sql.pandas import functions

    make: Any = functions.pandas_udf
    top = make(udfs.top, "double")
    for build, table in (
        (top_two, tables.plain),
        (
            lambda t: t.groupBy("team").agg(top("score").alias("m")).filter("m >= 90"),
            tables.strange,
        ),
        (top_two, tables.empty),
    ):
        df = build(table)
        expected = build(table).collect()
        with presieve.enabled(spark):
            assert sorted(df.collect(), key=str) == sorted(expected, key=str)
            assert df.count() == len(expected)
            df.write.mode("overwrite").parquet(str(tmp_path / "out"))
            assert HIGH in explained(df)
        assert HIGH not in explained(df)
        stored = spark.read.parquet(str(tmp_path / "out"))
        assert stored.schema == df.schema
        assert counted(stored) == counted(df)


@pytest.mark.classic("nothing decided stands for later")
def test_a_dataframe_is_looked_at_once(
    spark: SparkSession, tables: Tables, looked_at: list[DataFrame]
) -> None:
    """What rests on facts of files is decided anew, for they change."""
    plain = tables.strange.filter("score > 1")
    with presieve.enabled(spark, policy="assume"):
        for df in (top_two(tables.strange), plain):
            df.count()
            df.collect()
            df.show()
            assert len(looked_at) == 1
            looked_at.clear()


def test_it_is_looked_at_again_when_the_surroundings_change(
    spark: SparkSession, tables: Tables, looked_at: list[DataFrame]
) -> None:
    df = top_two(tables.strange)
    with presieve.enabled(spark):
        df.count()
        spark.conf.set("spark.presieve.somebody", "else")
        df.count()
        assert len(looked_at) == 2
        spark.conf.unset("spark.presieve.somebody")
        df.cache()
        try:
            df.count()
            df.count()
        finally:
            df.unpersist(blocking=True)
        assert len(looked_at) == 4
    with presieve.enabled(spark, policy="strict"):
        df.count()
    assert len(looked_at) == 5


@pytest.mark.classic("nothing decided stands for later")
def test_what_was_read_in_footers_does_not_stand(
    spark: SparkSession, looked_at: list[DataFrame], tmp_path: Path
) -> None:
    """A file without NULL today may have one tomorrow."""
    from pyspark.sql.pandas import functions

    make: Any = functions.pandas_udf
    path = str(tmp_path / "t")
    spark.createDataFrame([("a", 95), ("a", 3), ("b", 4)], "team string, v bigint").coalesce(
        1
    ).write.parquet(path)
    most = make(udfs.count_high, "bigint")
    df = spark.read.parquet(path).groupBy("team").agg(most("v").alias("m")).filter("m >= 1")
    with presieve.enabled(spark):
        assert [r.team for r in df.collect()] == ["a"]
        df.count()
    data = presieve.explain(df)
    assert data.changed
    by = {d["by"] for b in data.boundaries for d in b.discharged}
    assert by == {"Parquet footers"}
    assert len(looked_at) == 2


def test_what_is_cached_is_found(spark: SparkSession, tables: Tables) -> None:
    """The cache holds the plan as it was written, and what reads it goes on doing so."""
    df = top_two(tables.plain)
    with presieve.enabled(spark):
        df.cache()
        try:
            assert df.storageLevel.useMemory
            expected = df.count()
            assert "InMemoryTableScan" in explained(df)
            assert "InMemoryTableScan" in explained(df.select("team"))
            assert df.count() == expected
        finally:
            df.unpersist(blocking=True)
        assert "InMemoryTableScan" not in explained(df)
        assert HIGH in explained(df)


@pytest.mark.classic("views and the JVM")
def test_views_and_sql_see_the_plan_as_it_was_written(spark: SparkSession, tables: Tables) -> None:
    with presieve.enabled(spark):
        tables.plain.groupBy("team").applyInPandas(udfs.top2, TOP2).createOrReplaceTempView("tops")
        df = spark.sql("SELECT team FROM tops WHERE first >= 90 AND second >= 90")
        assert HIGH in explained(df)
        assert sorted(r.team for r in df.collect() if r.team) == ["a", "d"]
    spark.catalog.dropTempView("tops")


@pytest.mark.classic("views and the JVM")
def test_a_checkpoint_has_the_columns_of_before(spark: SparkSession, tables: Tables) -> None:
    df = top_two(tables.plain)
    with presieve.enabled(spark):
        fixed = df.localCheckpoint()
        found = fixed.filter(df["first"] > 0).select(df["team"])
        assert sorted(r.team or "" for r in found.collect()) == ["", "a", "d"]


def test_nested_and_put_back_after_an_error(spark: SparkSession) -> None:
    plain = members(spark.range(1))
    with presieve.enabled(spark):
        once = members(spark.range(1))
        assert once["collect"] is not plain["collect"]
        with presieve.enabled(spark, cost="never"):
            assert members(spark.range(1))["collect"] is once["collect"]
        with pytest.raises(ZeroDivisionError), presieve.enabled(spark, policy="strict"):
            raise ZeroDivisionError
        assert members(spark.range(1))["collect"] is once["collect"]
    assert members(spark.range(1))["collect"] is plain["collect"]
    presieve.disable(spark)
    presieve.enable(spark)
    presieve.enable(spark)
    presieve.disable(spark)
    assert members(spark.range(1))["collect"] is plain["collect"]


def test_nested_options(spark: SparkSession, tables: Tables, looked_at: list[DataFrame]) -> None:
    df = top_two(tables.plain)
    with presieve.enabled(spark):
        with presieve.enabled(spark, cost="never"):
            assert HIGH not in explained(df)
        assert HIGH in explained(df)


def test_who_listens_everywhere_hears_of_sessions_that_a_job_enables(
    spark: SparkSession, tables: Tables, monkeypatch: pytest.MonkeyPatch
) -> None:
    """``presieve explain`` and ``run`` report jobs that enable their own sessions."""
    heard: list[ReportData] = []
    setting = driver.SessionSetting(
        {"cost": "never"}, lambda _, data: heard.append(data), for_report=True
    )
    monkeypatch.setattr(driver._state, "everywhere", setting)
    with presieve.enabled(spark, cost="always", policy="strict"):
        top_two(tables.plain).count()
    presieve.enable(spark, cost="always")
    top_two(tables.plain).count()
    presieve.disable(spark)
    strict, default = heard
    # The files of a server are not looked at, so the plan is guarded against NaN.
    expected = by_footers(tables.plain, "split")
    assert [b.kind for b in default.boundaries] == [expected]
    assert [b.kind for b in strict.boundaries] == ["none"]
    assert default.plan_before  # what only a report for people has


def test_only_the_session_that_is_enabled(
    spark: SparkSession, tables: Tables, looked_at: list[DataFrame]
) -> None:
    other = spark.newSession()
    with presieve.enabled(other):
        top_two(tables.plain).count()
        assert looked_at == []
        other.range(3).count()
        assert len(looked_at) == 1
        presieve.disable(spark)
        other.range(3).count()
        assert len(looked_at) == 2


def test_another_object_of_the_same_session(
    spark: SparkSession, looked_at: list[DataFrame]
) -> None:
    same = type(spark).getActiveSession()
    assert same is not None
    with presieve.enabled(spark):
        same.range(3).count()
    assert len(looked_at) == 1


def test_switched_off(
    spark: SparkSession, monkeypatch: pytest.MonkeyPatch, looked_at: list[DataFrame], tables: Tables
) -> None:
    df = top_two(tables.plain)
    with presieve.enabled(spark):
        df.count()
        monkeypatch.setenv("PRESIEVE_DISABLE", "1")
        assert HIGH not in explained(df)
        monkeypatch.delenv("PRESIEVE_DISABLE")
        spark.conf.set("spark.presieve.enabled", "false")
        try:
            assert HIGH not in explained(df)
        finally:
            spark.conf.unset("spark.presieve.enabled")
        assert HIGH in explained(df)


def test_a_members_replacement_by_somebody_else_survives(
    spark: SparkSession, monkeypatch: pytest.MonkeyPatch, looked_at: list[DataFrame]
) -> None:
    owner = type(spark.range(1))
    called: list[str] = []

    def replaced(name: str) -> Any:
        before: Any = getattr(owner, name)

        def theirs(self: Any, *args: Any, **kwargs: Any) -> Any:
            called.append(name)
            return before(self, *args, **kwargs)

        return theirs

    first = replaced("count")
    monkeypatch.setattr(owner, "count", first)
    original = vars(owner)["collect"]
    presieve.enable(spark)
    second = replaced("collect")
    try:
        type.__setattr__(owner, "collect", second)
        spark.range(3).count()
        assert spark.range(2).collect()
        assert called == ["count", "collect"]
        assert len(looked_at) == 2
        presieve.disable(spark)
        assert vars(owner)["count"] is first
        assert vars(owner)["collect"] is second
        assert spark.range(2).collect()
        assert len(looked_at) == 2
        presieve.enable(spark)
        assert spark.range(2).collect()
        assert len(looked_at) == 3
        presieve.disable(spark)
        assert vars(owner)["collect"] is second
    finally:
        type.__setattr__(owner, "collect", original)


def test_classes_derived_from_pysparks_are_passed_through(
    spark: SparkSession, looked_at: list[DataFrame]
) -> None:
    df = spark.range(3)

    class Ours(type(df)):  # type: ignore[misc]
        def __init__(self, df: Any) -> None:
            self.__dict__.update(df.__dict__)

        def count(self) -> int:
            return 100 + int(super().count())

    ours = Ours(df)
    with presieve.enabled(spark):
        assert ours.count() == 103
        assert len(ours.collect()) == 3
        assert all(type(seen) is type(df) for seen in looked_at)


def test_a_bug_of_ours_stops_nobody(
    spark: SparkSession, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def broken(*_: Any, **__: Any) -> Any:
        raise KeyError("a bug")

    monkeypatch.setattr(driver, "optimize_and_report", broken)
    with presieve.enabled(spark):
        assert spark.range(3).count() == 3
    assert "please report it" in caplog.text


def test_errors_of_the_pipeline_are_its_own(spark: SparkSession) -> None:
    from pyspark.errors import AnalysisException, PySparkException

    with presieve.enabled(spark):
        with pytest.raises(AnalysisException):
            spark.range(3).filter("nowhere > 1").count()
        with pytest.raises(PySparkException, match="here it is"):
            spark.range(3).selectExpr("raise_error('here it is')").collect()
        assert spark.range(3).count() == 3


def test_misuse_is_told_at_once(spark: SparkSession) -> None:
    nothing: Any = None
    with pytest.raises(UsageError, match="a SparkSession is needed"):
        presieve.enable(nothing)
    with pytest.raises(UsageError, match="budget"):
        presieve.enable(spark, budget=0)
    with pytest.raises(UsageError, match="pure is a list"):
        presieve.enable(spark, pure=len)  # type: ignore[arg-type]


def test_nothing_is_kept_of_a_dataframe_that_is_gone(spark: SparkSession, tables: Tables) -> None:
    with presieve.enabled(spark):
        for make in (top_two, lambda table: table.select("v")):
            df = make(tables.plain)
            df.count()
            gone = weakref.ref(df)
            del df
            gc.collect()
            assert gone() is None


def test_threads_do_not_hide_each_others_actions(
    spark: SparkSession, looked_at: list[DataFrame]
) -> None:
    """A member that is inside of another one is not hooked, in its own thread only."""
    inside, done = threading.Event(), threading.Event()

    def hold(df: DataFrame) -> Answer:
        inside.set()
        assert done.wait(60)
        return Answer(df, df)

    really = driver._answering
    held = spark.range(5)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(driver, "_answering", lambda df: hold(df) if df is held else really(df))
        with presieve.enabled(spark):
            thread = threading.Thread(target=held.count)
            thread.start()
            assert inside.wait(60)
            other = spark.range(4)
            assert other.count() == 4
            assert looked_at == [other]
            done.set()
            thread.join()


def test_an_optimized_dataframe_is_not_changed_again(spark: SparkSession, tables: Tables) -> None:
    with presieve.enabled(spark):
        df = top_two(tables.plain)
        better = optimize(df)
        assert better is not df
        same_rows(df, better)
        assert optimize(better) is better
