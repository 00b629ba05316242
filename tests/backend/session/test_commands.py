"""How often one optimization asks the JVM: each question costs time, and so does each object that
it returns.
"""

from __future__ import annotations

import gc
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import pytest
from benchmarks.cold.pipelines import top_two
from py4j.clientserver import ClientServerConnection

from presieve import optimize

if TYPE_CHECKING:
    from pathlib import Path

    from pyspark.sql import DataFrame, SparkSession

pytestmark = pytest.mark.classic("Spark Connect has no JVM next to it")


@pytest.fixture(scope="module")
def scores(spark: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("commands") / "scores"
    rows = [("a", 95.0), ("a", 20.0), ("a", 91.0), ("b", 99.0), ("b", 50.0), ("c", 3.0)]
    spark.createDataFrame(rows, "team string, score double").write.parquet(str(path))
    return path


def pipeline(spark: SparkSession, scores: Path) -> DataFrame:
    """The pipeline of the README."""
    return (
        spark.read.parquet(str(scores))
        .groupBy("team")
        .applyInPandas(top_two, "team string, first double, second double")
        .filter("first >= 90 AND second >= 90")
    )


@contextmanager
def counted(monkeypatch: pytest.MonkeyPatch) -> Iterator[Counter[str]]:
    """Count the commands by the method that they call, and the objects that they return."""
    commands: Counter[str] = Counter()
    right = ClientServerConnection.send_command

    def send(self: Any, command: str) -> str:
        answer: str = right(self, command)
        if not command.startswith("m\nd"):  # objects that are freed, from before or by now
            commands[command.split("\n")[2]] += 1
            commands["objects"] += answer.startswith(("yr", "yl", "ym", "yt"))
        return answer

    with monkeypatch.context() as patch:
        patch.setattr(ClientServerConnection, "send_command", send)
        yield commands


def test_a_known_pipeline(
    spark: SparkSession, scores: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for _ in range(2):
        optimize(pipeline(spark, scores))
    df = pipeline(spark, scores)
    gc.collect()
    with counted(monkeypatch) as commands:
        better = optimize(df)
    assert better is not df
    objects = commands.pop("objects")
    assert commands.total() <= MOST_COMMANDS, commands
    assert objects <= MOST_OBJECTS, commands


MOST_COMMANDS = 265
MOST_OBJECTS = 155


def test_each_plan_is_read_once(
    spark: SparkSession, scores: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Once as written, once after each of the two passes that change it, once with its own list of
    files, and the optimized form; the others are two filters that are read back, and the columns
    that take the place of the function's.
    """
    optimize(pipeline(spark, scores))
    df = pipeline(spark, scores)
    with counted(monkeypatch) as commands:
        assert optimize(df) is not df
    assert commands["toJSON"] <= 8
    assert commands["getAll"] == 1


def test_nothing_to_gain(
    spark: SparkSession, scores: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    df = spark.read.parquet(str(scores)).filter("score > 3").groupBy("team").count()
    optimize(df.limit(3))
    with counted(monkeypatch) as commands:
        assert optimize(df) is df
    assert commands.total() <= 40, commands
