"""What surrounds an action of an enabled session: Spark's UI shows it, and it may be recorded."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from tests.support.games.pipelines import top_two
from tests.support.games.tables import Tables

import presieve
from presieve.backend.statistics import small_files
from presieve.demo.data import generate
from presieve.demo.pipelines import PIPELINES
from presieve.driver.ledger import Recorder
from presieve.driver.running import ActionRun, is_of_job
from presieve.driver.session import SessionSetting, enabled_as
from presieve.driver.stages import datachecks

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

pytestmark = pytest.mark.classic("Spark Connect shows and tells nothing of this")

DESCRIPTION = "spark.job.description"


@pytest.fixture(autouse=True)
def checks_are_jobs(monkeypatch: pytest.MonkeyPatch) -> None:
    """Small files are left to Spark as large ones are."""
    monkeypatch.setattr(small_files, "MOST_ROWS", -1)


@pytest.fixture(autouse=True)
def nothing_remains(spark: SparkSession) -> Iterator[None]:
    context = spark.sparkContext
    from pyspark.sql.readwriter import DataFrameWriter

    before = dict(vars(DataFrameWriter))
    yield
    assert all(vars(DataFrameWriter)[name] is member for name, member in before.items())
    assert context.getLocalProperty(DESCRIPTION) is None
    assert context.getLocalProperty("callSite.short") is None
    assert not context.getJobTags()


def queries(spark: SparkSession) -> dict[int, str]:
    """The descriptions of the queries that the UI's table of them still shows, by number. It keeps
    the last thousand.
    """
    context: Any = spark.sparkContext._jsc.sc()
    context.listenerBus().waitUntilEmpty(10_000)
    listed: Any = spark._jsparkSession.sharedState().statusStore().executionsList()
    shown = [listed.apply(i) for i in range(listed.size())]
    return {int(q.executionId()): str(q.description()) for q in shown}


def last_query(spark: SparkSession) -> int:
    """The number of the latest query; -1 if there is none."""
    return max(queries(spark), default=-1)


def since(spark: SparkSession, before: int) -> list[str]:
    """The descriptions of the queries after the one with the number ``before``, without those of
    PySpark itself.
    """
    return [text for number, text in sorted(queries(spark).items()) if number > before]


def test_the_ui_shows_what_was_rewritten_and_the_line_that_runs(
    spark: SparkSession, tables: Tables, tmp_path: Path
) -> None:
    pipeline, plain = top_two(tables.plain), spark.range(5)
    datachecks._answers.clear()
    before = last_query(spark)
    with presieve.enabled(spark, cost="always"):
        pipeline.count()
        pipeline.write.parquet(str(tmp_path / "out"))
        plain.collect()
    check, count, write, collect = since(spark, before)
    assert check == "presieve: a check of the data"
    assert count.startswith(f"count at {Path(__file__).name}:")
    assert "(presieve: 1 pre-filter" in count
    assert write.startswith(f"parquet at {Path(__file__).name}:")
    assert "(presieve: 1 pre-filter" in write
    assert collect.startswith(f"collect at {__file__}:")  # as without presieve
    assert "presieve:" not in collect


def test_a_description_of_the_user_stays(spark: SparkSession, tables: Tables) -> None:
    pipeline = top_two(tables.plain)
    datachecks._answers.clear()
    before = last_query(spark)
    spark.sparkContext.setJobDescription("mine")
    try:
        with presieve.enabled(spark, cost="always"):
            pipeline.count()
        assert spark.sparkContext.getLocalProperty(DESCRIPTION) == "mine"
    finally:
        spark.sparkContext.setLocalProperty(DESCRIPTION, None)  # type: ignore[arg-type]
    assert since(spark, before) == ["presieve: a check of the data", "mine"]


def test_descriptions_are_those_of_each_thread(spark: SparkSession, tables: Tables) -> None:
    from pyspark import InheritableThread

    pipeline = top_two(tables.plain)
    before = last_query(spark)
    own: list[str | None] = []
    barrier = threading.Barrier(2, timeout=60)

    def named(df: DataFrame) -> None:
        spark.sparkContext.setJobDescription("of a thread")
        barrier.wait()
        df.count()
        own.append(spark.sparkContext.getLocalProperty(DESCRIPTION))

    def unnamed(df: DataFrame) -> None:
        barrier.wait()
        df.count()
        own.append(spark.sparkContext.getLocalProperty(DESCRIPTION))

    with presieve.enabled(spark):
        pipeline.count()
        threads = [InheritableThread(target=f, args=(pipeline,)) for f in (named, unnamed)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    texts = since(spark, before)[-2:]
    assert sorted(t.partition(" at ")[0] for t in texts) == ["count", "of a thread"]
    assert sorted(map(str, own)) == ["None", "of a thread"]


def test_an_action_that_fails_leaves_everything_as_it_was(
    spark: SparkSession, tables: Tables
) -> None:
    failing = top_two(tables.plain).selectExpr("raise_error('as asked')")
    actions: list[ActionRun] = []
    setting = SessionSetting({}, watcher=actions.append)
    with enabled_as(spark, setting), pytest.raises(Exception, match="as asked"):
        failing.collect()
    (action,) = actions
    assert (action.name, action.failed) == ("collect", True)
    assert action.seconds > 0


def test_a_watcher_that_fails_does_not_stop_the_job(
    spark: SparkSession, caplog: pytest.LogCaptureFixture
) -> None:
    def fail(_: ActionRun) -> None:
        raise OSError("the disk is full")

    with enabled_as(spark, SessionSetting({}, watcher=fail)):
        assert spark.range(3).count() == 3
    assert "an action could not be recorded" in caplog.text


def test_actions_are_recorded_with_what_spark_counted(
    spark: SparkSession, by_value: None, tmp_path: Path
) -> None:
    total = 2000
    scores = spark.read.parquet(str(generate(tmp_path, total)["scores"]))
    recorder = Recorder(lambda file: "here.py" if is_of_job(file) else None, both_ways=True)
    options = {"cost": "always", "compile": "auto"}
    setting = SessionSetting(options, recorder.collect, watcher=recorder.watch)
    compiled = PIPELINES[0].build(scores)
    with enabled_as(spark, setting):
        compiled.collect()
        compiled.write.parquet(str(tmp_path / "out"))
        compiled.head(1)
        scores.select("team").collect()
    record = json.loads(json.dumps(recorder.record("here.py")))
    assert record["seconds"]["optimize"] > 0
    actions = [a for d in record["dataframes"] for a in d["actions"]]
    assert [a["action"] for a in actions] == ["collect", "parquet", "head", "collect"]
    assert all(a["at"].startswith("here.py:") and not a["failed"] for a in actions)
    assert actions[-1]["work"]["scanned"] == total
    first = record["dataframes"][0]
    (boundary,) = first["boundaries"]
    assert boundary["rows"] == total
    assert boundary["runs_as"] == "list"
    assert boundary["run"] is None
    assert boundary["written"]["rows_in"] == total
    assert boundary["spared"]["not_to_python"] == total * boundary["spared"]["runs"]
    assert first["measured"]["written"]["rows"] == first["measured"]["optimized"]["rows"]
    assert first["measured"]["optimize"] == first["seconds"]["optimize"]
    assert record["dataframes"][-1]["measured"] is None  # nothing was rewritten


def test_rows_into_python_are_those_that_the_pre_filter_keeps(
    spark: SparkSession, tables: Tables
) -> None:
    scores = tables.plain
    kept = scores.filter("score >= 90").count()
    recorder = Recorder(lambda _: None)
    with enabled_as(
        spark,
        SessionSetting(
            {"compile": "never", "policy": "assume"}, recorder.collect, watcher=recorder.watch
        ),
    ):
        top_two(scores).collect()
    (dataframe,) = recorder.record("here.py")["dataframes"]
    (boundary,) = dataframe["boundaries"]
    assert boundary["kind"] == "split"
    assert boundary["run"]["rows_in"] == kept
    assert boundary["run"]["sent_bytes"] > 0
    assert boundary["spared"]["not_to_python"] == scores.count() - kept


@pytest.mark.parametrize(
    ("where", "change"),
    [
        ("a filter below", lambda scores: scores.filter("score > 1")),
        ("a join below", lambda scores: scores.join(scores.select("team").distinct(), "team")),
        ("a limit below", lambda scores: scores.limit(5)),
    ],
)
def test_rows_as_written_are_counted_only_where_that_is_certain(
    tables: Tables, where: str, change: Any
) -> None:
    scores = tables.plain
    assert presieve.explain(top_two(scores)).boundaries[0].rows == scores.count()
    for boundary in presieve.explain(top_two(change(scores))).boundaries:
        assert boundary.rows is None, where
    for boundary in presieve.explain(top_two(scores).limit(3)).boundaries:
        assert boundary.rows is None
    for boundary in presieve.explain(top_two(scores).union(top_two(scores))).boundaries:
        assert boundary.rows is None


def test_a_session_adds_to_its_ledger(spark: SparkSession, tables: Tables, tmp_path: Path) -> None:
    path = tmp_path / "session.jsonl"
    pipeline = top_two(tables.plain)
    spark.conf.set("spark.presieve.ledger", str(path))
    try:
        with presieve.enabled(spark):
            pipeline.count()
            pipeline.count()
    finally:
        spark.conf.unset("spark.presieve.ledger")
    pipeline.count()
    lines = [json.loads(line) for line in path.read_text().splitlines()]
    assert len(lines) == 2
    for line in lines:
        (dataframe,) = line["dataframes"]
        assert [a["action"] for a in dataframe["actions"]] == ["count"]
        assert dataframe["at"].startswith(f"{Path(__file__).name}:")
        assert line["seconds"]["total"] >= line["seconds"]["actions"] > 0
