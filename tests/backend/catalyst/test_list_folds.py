"""Folds of ``collect_list`` by lambdas of SQL: results as written and as optimized."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from tests.support.games.tables import Tables
from tests.support.running import rewritten, same_rows, untouched

from presieve.driver.optimize import optimize

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

pytestmark = pytest.mark.classic("Spark Connect's client does not analyze lambdas")


def kept(rows: DataFrame, fold: str, where: str) -> DataFrame:
    """``SELECT team, fold AS n FROM rows GROUP BY team`` and a filter above."""
    rows.createOrReplaceTempView("lists")
    query = f"SELECT team, {fold} AS n FROM lists GROUP BY team"
    return rows.sparkSession.sql(query).filter(where)


FOLDS = [
    ("aggregate(collect_list(v), 0L, (acc, x) -> IF(x > 3, acc + 1L, acc))", "n > 0"),
    ("reduce(collect_list(v), -5L, (acc, x) -> greatest(acc, x))", "n > 3"),
    ("aggregate(collect_list(v), 50L, (acc, x) -> least(acc, x), acc -> acc < 2)", "n"),
    ("aggregate(collect_list(v), CAST(NULL AS BIGINT), (acc, x) -> greatest(acc, x))", "n > 3"),
    ("aggregate(collect_list(v), 0L, (a, x) -> CASE WHEN x > 4 THEN x ELSE a END)", "n > 4"),
    ("aggregate(collect_list(score), 0D, (acc, x) -> greatest(acc, x))", "n > 90"),
    ("aggregate(collect_list(v), false, (acc, x) -> acc OR x > 4)", "n"),
    ("aggregate(collect_list(v) FILTER (WHERE score > 1), 0L, (a, x) -> greatest(a, x))", "n > 3"),
]


@pytest.mark.parametrize(("fold", "where"), FOLDS)
def test_filters_go_below(tables: Tables, fold: str, where: str) -> None:
    found = rewritten(kept(tables.strange, fold, where))
    assert found.function == "aggregate"
    # What may overflow is computed as before, and the filter stays.
    assert found.kind == ("partial" if "+" in fold else "exact")
    assert optimize(kept(tables.empty, fold, where)).collect() == []


def test_columns_of_a_dataframe(tables: Tables) -> None:
    from pyspark.sql import functions as F

    best = F.aggregate(F.collect_list("score"), F.lit(0.0), lambda acc, x: F.greatest(acc, x))
    df = tables.strange.groupBy("team").agg(best.alias("best"), F.max("v").alias("m"))
    assert rewritten(df.filter("best > 90").select("team", "best")).kind == "exact"
    total = F.reduce(F.collect_list("v"), F.lit(0).cast("long"), lambda acc, x: acc + x)
    df = tables.strange.groupBy("team").agg(total.alias("n")).filter("n > 20")
    assert rewritten(df).prefilter == "v <> 0"


def test_without_groups(tables: Tables) -> None:
    """Of no rows the list is empty, and the fold its zero."""
    from pyspark.sql import functions as F

    best = F.expr("aggregate(collect_list(v), 7L, (acc, x) -> greatest(acc, x))").alias("n")
    for rows in (tables.plain, tables.empty):
        df = rows.agg(best).filter("n > 6")
        better = optimize(df)
        same_rows(df, better)
        assert df.count() == 1


def test_a_sum_is_not_that_of_the_large_values(tables: Tables) -> None:
    """The pre-filter of a maximum is wrong for a sum, and is not the one that is found."""
    fold = "aggregate(collect_list(v), 0L, (acc, x) -> acc + x)"
    found = rewritten(kept(tables.plain, fold, "n > 14"))
    assert found.prefilter == "v <> 0"
    wrong = kept(tables.plain.filter("v > 14"), fold, "n > 14")
    right = kept(tables.plain, fold, "n > 14")
    assert wrong.count() < right.count()


REFUSED = [
    ("aggregate(collect_set(v), 0L, (acc, x) -> greatest(acc, x))", "collect_list returns"),
    ("aggregate(collect_list(DISTINCT v), 0L, (a, x) -> greatest(a, x))", "without duplicates"),
    ("aggregate(collect_list(v), max(v), (acc, x) -> greatest(acc, x))", "another aggregate"),
    ("aggregate(collect_list(v), 0L, (acc, x) -> try_add(acc, x))", "overflow"),
    ("aggregate(collect_list(v), 0L, (acc, x) -> acc + ascii(team))", "ascii()"),
    ("aggregate(collect_list(v), 0L, (acc, x) -> IF(acc + x > 3, x, acc))", "can raise"),
    (
        "aggregate(collect_list(v), named_struct('n', 0L), (a, x) -> named_struct('n', a.n + x), "
        "a -> a.n)",
        "fold of a list",
    ),
]


@pytest.mark.parametrize(("fold", "why"), REFUSED)
def test_declined_with_a_reason(tables: Tables, fold: str, why: str) -> None:
    found = untouched(kept(tables.plain, fold, "n > 1"))
    assert why in found.declined[0].reason


def test_a_list_with_a_name_of_its_own_is_declined(tables: Tables) -> None:
    from pyspark.sql import functions as F

    lists = tables.strange.groupBy("team").agg(F.collect_list("v").alias("xs"))
    best = F.aggregate("xs", F.lit(0).cast("long"), lambda acc, x: F.greatest(acc, x))
    found = untouched(lists.select("team", best.alias("n")).filter("n > 3"))
    assert "function collect_list" in found.declined[0].reason
