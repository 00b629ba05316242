"""What Spark's own rules do to a plan before it is read: columns and constants."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from tests.support.games.pipelines import SCORE, agg
from tests.support.games.tables import Tables
from tests.support.running import code, plan_text, rewritten

from presieve.driver.optimize import optimize

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

pytestmark = pytest.mark.classic("there is no optimizer on the client's side")


def numbered(df: DataFrame) -> DataFrame:
    """With columns that are not deterministic."""
    from pyspark.sql import functions as F

    return df.withColumn("r", F.rand(7)).withColumn("id", F.monotonically_increasing_id())


def test_what_nobody_reads_is_no_obstacle(tables: Tables) -> None:
    top = agg(numbered(tables.strange), "top", "double", "score")
    assert rewritten(top.filter("m >= 90")).prefilter == SCORE


def test_what_somebody_reads_is_one(tables: Tables) -> None:
    rows = numbered(tables.plain)
    filtered = agg(rows.filter("r < 0.5"), "top", "double", "score")
    assert code(filtered.filter("m >= 90")) == "nondeterministic"
    above = agg(rows.filter("id % 2 = 0"), "top", "double", "score")
    assert code(above.filter("m >= 90")) == "nondeterministic"


def test_constants_are_computed(tables: Tables) -> None:
    top = agg(tables.strange, "top", "double", "score")
    assert rewritten(top.filter("m >= double(80 + 10)")).prefilter == SCORE
    assert rewritten(top.filter("m >= length('abc') * 30D")).prefilter == SCORE


@pytest.mark.parametrize("now", ["current_date()", "CAST(now() AS date)", "current_date() + 1"])
def test_what_depends_on_the_time_is_none(tables: Tables, now: str) -> None:
    """The plan is kept, and run on another day."""
    top = agg(tables.plain, "top", "double", "score")
    df = top.filter(f"m >= 90 AND {now} > DATE '2000-01-01'")
    analyzed, _, _ = plan_text(optimize(df)).partition("== Optimized Logical Plan ==")
    assert "current_date" in analyzed or "now()" in analyzed


@pytest.mark.parametrize(
    "value", ["CASE WHEN true THEN 1 END", "coalesce(NULL, 1)", "if(1 > 0, 'a', NULL)"]
)
def test_a_column_that_may_be_null_stays_one(tables: Tables, value: str) -> None:
    """A constant that is computed is not NULL, which the schema would say."""
    top = agg(tables.strange, "top", "double", "score").selectExpr("*", f"{value} AS c")
    assert rewritten(top.filter("m >= 90")).prefilter == SCORE
    assert optimize(top.filter("m >= 90"), cost="always").schema == top.schema
