"""Functions over results of functions: a pre-filter of the outer one is a filter of the inner."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from tests.support.games import udfs
from tests.support.games.pipelines import SCORE, TOP2, agg, pandas_udf
from tests.support.games.tables import Tables
from tests.support.running import same_rows, settled

from presieve.backend.classic.gateway import ClassicGateway
from presieve.driver.optimize import explain, optimize
from presieve.driver.solve import Policy
from presieve.driver.stages import prefilters

if TYPE_CHECKING:
    from pyspark.sql import DataFrame


def best_of(rows: DataFrame, times: int) -> DataFrame:
    """The best score of each team and level, then of each team, as often as is asked for."""
    found = rows.groupBy("team", "level").agg(pandas_udf("top", "double")("score").alias("m"))
    for _ in range(times):
        found = agg(found.withColumnRenamed("m", "score"), "top", "double", "score")
    return found


def finished(df: DataFrame, policy: Policy = "default") -> None:
    """It becomes something that gives the same rows and does not change any more."""
    better = optimize(df, policy=policy)
    assert better is not df
    same_rows(df, better)
    settled(better, policy=policy)


@pytest.mark.parametrize("times", [1, 2, 3])
def test_one_filter_goes_all_the_way(tables: Tables, times: int) -> None:
    df = best_of(tables.strange, times).filter("m >= 90")
    finished(df)
    report = explain(df)
    assert [b.prefilter for b in report.boundaries] == [SCORE] * (times + 1)
    assert all(any("score,90" in f for f in b.pushed_to_scan) for b in report.boundaries)


def test_filters_over_both(tables: Tables) -> None:
    inner = agg(tables.plain, "top", "double", "score").filter("m >= 90 OR team = 'c'")
    df = agg(inner.withColumnRenamed("m", "score"), "top", "double", "score").filter("m >= 91")
    finished(df)
    # What the outer function is sent comes of one that may raise: it is called as before.
    assert [b.kind for b in explain(df).boundaries] == ["partial", "exact"]


@pytest.mark.second
def test_filters_that_stay_above(tables: Tables) -> None:
    """What stays above calls for the same pre-filter again, and that is where it should be."""
    inner = best_of(tables.plain, 0)
    counted = agg(inner, "count_high", "bigint", "m", alias="n").filter("n >= 2")
    finished(counted)
    assert [b.kind for b in explain(counted).boundaries] == ["partial", "exact"]
    two = inner.withColumnRenamed("m", "score").groupBy("team").applyInPandas(udfs.top2, TOP2)
    pairs = two.filter("first >= 90 AND second >= 90")
    finished(pairs, policy="assume")
    report = explain(pairs, policy="assume")
    assert [b.kind for b in report.boundaries] == ["split", "exact"]


def test_no_more_rounds_than_are_allowed(tables: Tables, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(prefilters, "MAX_ROUNDS", 2)
    df = best_of(tables.plain, 3).filter("m >= 90")
    report = explain(df)
    assert [b.prefilter for b in report.boundaries] == [SCORE, SCORE]
    same_rows(df, optimize(df))


def test_what_was_made_of_it_is_cached(tables: Tables) -> None:
    """Two edits of which each can be made, and not both."""
    left = agg(tables.plain, "top", "double", "score").filter("m >= 90")
    other = agg(tables.plain, "count_high", "bigint", "v", alias="n").filter("n >= 1")
    df = left.join(other, "team")
    better = optimize(df).cache()
    try:
        same_rows(df, better)
        again = optimize(df)
        same_rows(df, again)
    finally:
        better.unpersist(blocking=True)


@pytest.mark.classic("what the JVM is asked for")
@pytest.mark.parametrize(("times", "reads"), [(0, 1), (1, 2)])
def test_what_is_decided_is_not_read_again(
    times: int, reads: int, tables: Tables, monkeypatch: pytest.MonkeyPatch
) -> None:
    loaded: list[object] = []
    load = ClassicGateway.load

    def watched(self: ClassicGateway, function: object) -> object:
        loaded.append(function)
        return load(self, function)

    df = best_of(tables.plain, times).filter("m >= 90")
    monkeypatch.setattr(ClassicGateway, "load", watched)
    better = optimize(df, budget=100.0)
    # The inner function only when a filter has come down to it, and each of them once.
    assert len(loaded) == reads
    monkeypatch.undo()
    assert better is not df
    same_rows(df, better)
