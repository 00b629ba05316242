"""Spark is asked what the answers' SQL says: it agrees, and a condition read wrongly is found."""

from __future__ import annotations

from random import Random
from typing import TYPE_CHECKING

import pytest
from benchmarks.synth.run import search
from tests.bench.answers import BENCHMARKS
from tests.differential.on_spark import Compared, compare
from tests.differential.trial import Trial

from presieve.records import replace

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


def ran(name: str) -> Trial:
    benchmark = BENCHMARKS[name]
    trial = Trial(benchmark, "grouped", search(benchmark, "grouped", 60.0))
    trial.run(200, Random(name))
    return trial


@pytest.mark.parametrize("names", [("Top2_1", "Top2_4"), ("MinPooling_1", "MinPooling_4")])
def test_spark_agrees(spark: SparkSession, names: tuple[str, str]) -> None:
    told = Compared()
    compare(spark, [ran(name) for name in names], told, Random(1))
    assert told.failures == []
    assert told.conditions >= 6
    assert told.values > 300


def test_what_is_read_wrongly_is_found(spark: SparkSession) -> None:
    trial = ran("Top2_1")
    trial.answer = replace(trial.answer, prefilter="score > 90.0D")
    told = Compared()
    compare(spark, [trial], told, Random(1))
    assert any("Spark False on {'score': 90.0}" in failure for failure in told.failures)
