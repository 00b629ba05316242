"""Functions that read broadcast variables."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import pandas as pd
import pytest
from tests.support.games.tables import Tables
from tests.support.running import counted, rewritten, same_rows, untouched

from presieve.driver.optimize import explain, optimize

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

pytestmark = pytest.mark.classic("Spark Connect has no broadcast variables")


def with_c(tables: Tables, function: Callable[..., Any], returns: str, column: str) -> DataFrame:
    from pyspark.sql.functions import udf

    return tables.strange.withColumn("c", udf(function, returns)(column))


def broadcast(tables: Tables, value: object) -> Any:
    return tables.plain.sparkSession.sparkContext.broadcast(value)


def test_values_of_all_kinds(tables: Tables) -> None:
    ranks = broadcast(tables, {"error": 3, "warn": 2})
    bad = broadcast(tables, {"error", "fatal"})
    limit = broadcast(tables, 5)

    def rank(level: Any) -> Any:
        return ranks.value.get(level, 0)

    def is_bad(level: Any) -> Any:
        return level in bad.value

    def over(v: Any) -> Any:
        return None if v is None else v > limit.value

    for function, returns, column, where, expected in (
        (rank, "bigint", "level", "c >= 2", "level IN ('error', 'warn')"),
        (is_bad, "boolean", "level", "c", "level IN ('error', 'fatal')"),
        (over, "boolean", "v", "c", "v > 5"),
    ):
        boundary = rewritten(with_c(tables, function, returns, column).filter(where))
        assert boundary.prefilter == expected


def test_a_fold(tables: Tables) -> None:
    from pyspark.sql.functions import pandas_udf  # type: ignore[attr-defined]

    limit = broadcast(tables, 90.0)

    def high(score: pd.Series) -> int:
        n = 0
        for x in score:
            if x > limit.value:
                n += 1
        return n

    make: Any = pandas_udf
    df = tables.plain.groupBy("team").agg(make(high, "int")("score").alias("n")).filter("n >= 1")
    boundary = rewritten(df)
    assert "90" in boundary.prefilter


def test_what_the_driver_makes_of_it_is_not_seen(tables: Tables) -> None:
    """Workers get what was broadcast."""
    bad = broadcast(tables, {"error"})

    def is_bad(level: Any) -> Any:
        return level in bad.value

    df = with_c(tables, is_bad, "boolean", "level").filter("c")
    bad.value.add("info")
    assert rewritten(df).prefilter == "level = 'error'"
    wrong = with_c(tables, is_bad, "boolean", "level").filter("level = 'info'").filter("c")
    assert counted(wrong) == counted(wrong.limit(0))


def test_one_that_is_changed_in_the_workers(tables: Tables) -> None:
    seen = broadcast(tables, {"none"})

    def first(level: Any) -> Any:
        if level in seen.value:
            return False
        seen.value.add(level)
        return True

    assert untouched(with_c(tables, first, "boolean", "level").filter("c")).declined


def test_one_that_is_destroyed(tables: Tables) -> None:
    """The job fails with and without us, and nothing is raised before."""
    limit = broadcast(tables, 5)

    def over(v: Any) -> Any:
        return None if v is None else v > limit.value

    df = with_c(tables, over, "boolean", "v").filter("c")
    same_rows(df, optimize(df, cost="always"))
    limit.destroy(blocking=True)
    assert explain(df, cost="always") is not None
    for found in (df, optimize(df, cost="always")):
        with pytest.raises(Exception, match=r"[Bb]roadcast"):
            found.collect()
