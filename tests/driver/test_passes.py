"""The recipe of CONTRIBUTING.md for a pass: its decisions, its line in the list, and what becomes
of it where it makes something worse.
"""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING

import pytest

from presieve.driver.optimize import explain, optimize
from presieve.driver.stages import pipeline
from presieve.driver.stages.decisions import Decision
from presieve.driver.stages.passes import Pass, PassResult, PlanState
from presieve.records import replace

if TYPE_CHECKING:
    from collections.abc import Callable

    from pyspark.sql import DataFrame, SparkSession

pytestmark = [
    pytest.mark.classic("a client does not see what the optimizer makes of a plan"),
    pytest.mark.planted("a pass that makes something worse, or fails"),
]


class PlantedDecision(Decision[str], frozen=True):
    """A decision about a column."""


@pytest.fixture(scope="module")
def rows(spark: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> DataFrame:
    path = str(tmp_path_factory.mktemp("passes") / "rows")
    spark.range(100).selectExpr("id", "CAST(id AS DOUBLE) AS x").write.parquet(path)
    return spark.read.parquet(path)


def plant(
    monkeypatch: pytest.MonkeyPatch, change: Callable[[DataFrame], DataFrame]
) -> list[PlanState]:
    """Put a pass at the end of the list; the states that it was run on."""
    states: list[PlanState] = []

    def run(state: PlanState) -> PassResult:
        states.append(state)
        return PassResult(change(state.df), (PlantedDecision("x"),))

    planted = Pass("a planted pass", run)
    monkeypatch.setattr(pipeline, "PASSES", (*pipeline.PASSES, planted))
    return states


def test_a_pass_changes_the_plan(monkeypatch: pytest.MonkeyPatch, rows: DataFrame) -> None:
    written = rows.filter("id > 90")
    assert optimize(written) is written
    states = plant(monkeypatch, lambda df: df.filter("id > 80"))
    better = optimize(written)
    assert better is not written
    assert sorted(better.collect()) == sorted(written.collect())
    assert states[-1].select(PlantedDecision) == (PlantedDecision("x"),)


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        (lambda df: df.select("id"), "its columns are others"),
        (lambda df: df.filter("x > 91"), "a scan may lose rows by a comparison with x"),
        (lambda df: df.filter("id = 95 AND 1 / (id - 95) > 0"), "cannot optimize"),
    ],
)
def test_a_pass_that_makes_something_worse_is_left_out(
    monkeypatch: pytest.MonkeyPatch,
    rows: DataFrame,
    change: Callable[[DataFrame], DataFrame],
    reason: str,
) -> None:
    written = rows.filter("id > 90")
    plant(monkeypatch, change)
    assert optimize(written) is written
    (why,) = explain(written).data.taken_back
    assert why.code == pipeline.TAKEN_BACK
    assert reason in why.reason
    assert "a planted pass" in why.reason


class _Planted(Exception):
    pass


def _fail(state: PlanState) -> PassResult:
    raise _Planted("a term of the wrong sort")


@pytest.mark.parametrize("failing", dict.fromkeys(pipeline.PASSES), ids=lambda p: p.name)
def test_a_pass_that_fails_is_left_out(
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
    rows: DataFrame,
    failing: Pass,
) -> None:
    planted = replace(failing, run=_fail)
    passes = [planted if p is failing else p for p in pipeline.PASSES]
    best = rows.groupBy("id").agg({"x": "max"}).toDF("id", "best")
    written = best.filter("concat(CAST(id AS STRING), '') = '7' AND best > 3").orderBy("best")
    monkeypatch.setattr(pipeline, "PASSES", tuple(passes))
    better = optimize(written, cost="always", declare="x < 1000")
    assert better.collect() == written.collect()
    (message,) = {r.getMessage() for r in caplog.records if "please report it" in r.getMessage()}
    assert message.startswith(f"[internal] {failing.name} failed: a term of the wrong sort")
    (told,) = (r for r in caplog.records if r.levelno >= logging.WARNING)
    assert told.exc_info is not None
    data = explain(written).data
    whys = data.taken_back if data.declined is None else (data.declined,)
    assert [why.code for why in whys] == ["internal"]


def test_other_passes_change_the_plan_all_the_same(
    monkeypatch: pytest.MonkeyPatch, rows: DataFrame
) -> None:
    written = rows.filter("id > 90")
    plant(monkeypatch, lambda df: df.filter("id > 80"))
    first = Pass("a failing pass", _fail)
    monkeypatch.setattr(pipeline, "PASSES", (first, *pipeline.PASSES))
    better = optimize(written)
    assert better is not written
    assert sorted(better.collect()) == sorted(written.collect())


def test_the_check_of_the_result_may_fail(monkeypatch: pytest.MonkeyPatch, rows: DataFrame) -> None:
    def fail(*_: object) -> None:
        raise _Planted("no plan")

    plant(monkeypatch, lambda df: df.filter("id > 80"))
    monkeypatch.setattr(pipeline, "outcome_check", fail)
    written = rows.filter("id > 90")
    assert optimize(written) is written
    why = explain(written).data.declined
    assert why is not None
    assert why.code == "internal"
