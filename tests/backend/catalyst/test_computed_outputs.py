"""Aggregates whose outputs compute with results of their functions."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from tests.support.games.pipelines import SCORE, pandas_udf
from tests.support.games.tables import Tables
from tests.support.running import code, rewritten, safe, untouched

from presieve.driver.optimize import optimize

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

pytestmark = pytest.mark.classic("what calls give is known to the server")


def totals(rows: DataFrame, *outputs: str) -> DataFrame:
    """One row for a team."""
    from pyspark.sql import functions as F

    moments = rows.withColumn("at", F.expr("timestamp_seconds(v % 100 * 86400 * 365)"))
    return moments.localCheckpoint().groupBy("team").agg(*map(F.expr, outputs))


CASES = [
    # outputs, filter, kind, pre-filter, and one that is too strong
    (("coalesce(max(v), 0) AS m",), "m > 10", "exact", "v > 10", "v > 11"),
    (
        ("CASE WHEN max(v) > 10 THEN 'high' ELSE 'low' END AS m",),
        "m = 'high'",
        "exact",
        "v > 10",
        "v > 11",
    ),
    (("max(v) > 10 AS high",), "high", "exact", "v > 10", "v > 11"),
    (("max(v) AS m", "concat(team, '!') AS name"), "m > 10", "exact", "v > 10", "v > 11"),
    (("max(v) AS m", "max(v) <= 20 AS low"), "m > 10", "exact", "v > 10", "v > 11"),
    (
        ("max(v) AS m", "upper(min(level)) AS u"),
        "m > 10",
        "partial",
        "v > 10 OR level IS NOT NULL",
        "v > 10",
    ),
    (("max(score) * 2D AS m",), "m > 180", "exact", "score > 90.0D OR isnan(score)", "score > 94"),
    (
        ("year(max(at)) AS y",),
        "y >= 2000",
        "exact",
        "at >= TIMESTAMP '2000-01-01 00:00:00Z'",
        "v > 40",
    ),
]


@pytest.mark.parametrize(("outputs", "where", "kind", "prefilter", "wrong"), CASES)
def test_filters_go_below(
    tables: Tables, outputs: tuple[str, ...], where: str, kind: str, prefilter: str, wrong: str
) -> None:
    boundary = rewritten(totals(tables.strange, *outputs).filter(where))
    assert (boundary.kind, boundary.prefilter) == (kind, prefilter)
    found, others = (
        totals(rows, *outputs).filter(where).collect()
        for rows in (tables.strange, tables.strange.filter(wrong))
    )
    assert sorted(map(str, found)) != sorted(map(str, others))


def test_the_schema_is_the_same(tables: Tables) -> None:
    df = totals(tables.plain, "coalesce(max(v), 0) AS m", "count(*) + 0D AS n").filter("m > 10")
    assert safe(df).schema == df.schema
    assert optimize(df, cost="always") is not df or untouched(df)


def test_without_keys(tables: Tables) -> None:
    from pyspark.sql import functions as F

    for rows in (tables.strange, tables.empty):
        df = rows.agg(F.coalesce(F.max("v"), F.lit(0)).alias("m"))
        rewritten(df.filter("m > 10"))
        safe(df.filter("m = 0"))


def test_functions_of_python(tables: Tables) -> None:
    top = pandas_udf("top", "double")("score")
    df = tables.strange.groupBy("team").agg((top * 2).alias("m"))
    assert rewritten(df.filter("m >= 180")).prefilter == SCORE


@pytest.mark.parametrize(
    "output",
    [
        "max(v) - min(v) AS d",  # it may overflow: its error would be gone with its group
        "10 div count(score) AS d",
        "rand() + max(v) AS d",
        "aggregate(collect_list(v), 0L, (a, x) -> a + x) + 1 AS d",
    ],
)
def test_what_stays(tables: Tables, output: str) -> None:
    untouched(totals(tables.plain, "max(v) AS m", output).filter("m > 10"))


def test_keys_that_are_computed_stay(tables: Tables) -> None:
    from pyspark.sql import functions as F

    groups = tables.plain.groupBy(F.upper("team")).agg(F.coalesce(F.max("v"), F.lit(0)).alias("m"))
    assert code(groups.filter("m > 10")) == "native-aggregate"
