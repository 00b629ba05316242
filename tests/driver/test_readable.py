"""What follows from conditions that proofs do not read goes below functions, too."""

from __future__ import annotations

import random
import re
from typing import TYPE_CHECKING, Any

import pytest
from tests.driver.conditions import ATOMS, keep_their_rows, random_condition, rows
from tests.support.amount import amount

import presieve

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame, SparkSession

pytestmark = pytest.mark.classic("what follows is derived from classic plans")


def greatest(column: str, returns: str) -> Column:
    """A fold in Python."""
    from pyspark.sql import functions

    def largest(v):  # type: ignore[no-untyped-def]
        best = None
        for x in v:
            if best is None or x > best:
                best = x
        return best

    made: Any = functions
    function: Column = made.pandas_udf(largest, returns, made.PandasUDFType.GROUPED_AGG)(column)
    return function.alias(column)


def last(column: str, returns: str) -> Column:
    from pyspark.sql import functions as F

    return F.max(column).alias(column)


def grouped(table: DataFrame, column: str, made: Any = last) -> DataFrame:
    """By group, of values that no condition makes overflow."""
    returns = dict(table.dtypes)[column]
    small = f"{column} BETWEEN -10000 AND 10000" if column in "in" else f"{column} IS NOT NULL"
    return table.where(small).groupBy("s").agg(made(column, returns))


def prefilters(df: DataFrame) -> list[str]:
    """Those of the rewritten plan, whose rows are the same."""
    better = presieve.optimize(df, cost="always")
    report = presieve.explain(df, cost="always")
    assert better is not df, report
    assert rows(better) == rows(df)
    return [b.prefilter for b in report.boundaries if b.kind != "none"]


@pytest.mark.parametrize("made", [last, greatest])
@pytest.mark.parametrize(
    ("column", "where", "below"),
    [
        ("i", "i + 1 > 5", "i >= 5"),
        ("d", "year(d) = 2024", "d >= DATE '2024-01-01'"),
        ("d", "date_add(d, 3) > DATE '2024-01-03'", "d >= DATE '2024-01-01'"),
        ("ts", "year(ts) = 2024", "ts >= TIMESTAMP '2024-01-01 00:00:00Z'"),
        ("ts", "date_format(ts, 'yyyy-MM') = '2024-06'", "ts >= TIMESTAMP '2024-06-01 00:00:00Z'"),
    ],
)
def test_below_folds(
    settings: SparkSession, table: DataFrame, column: str, where: str, below: str, made: Any
) -> None:
    settings.conf.set("spark.sql.session.timeZone", "UTC")
    assert prefilters(grouped(table, column, made).where(where)) == [below]


def test_having(settings: SparkSession, table: DataFrame) -> None:
    settings.conf.set("spark.sql.session.timeZone", "UTC")
    table.where("i < 10000").createOrReplaceTempView("readable")
    df = settings.sql("SELECT s FROM readable GROUP BY s HAVING year(max(d)) = 2024")
    assert prefilters(df) == ["d >= DATE '2024-01-01'"]
    df = settings.sql("SELECT s, max(i) m FROM readable GROUP BY s HAVING max(i) + 1 > 7")
    assert prefilters(df) == ["i >= 7"]


def test_through_projections_and_joins(table: DataFrame) -> None:
    best = grouped(table, "i", greatest)
    more = best.selectExpr("s", "i + 2 AS z").where("z > 10")
    assert prefilters(more) == ["i >= 9"]
    others = table.selectExpr("n AS w").where("w BETWEEN 4 AND 9")
    assert prefilters(best.join(others, best["i"] >= others["w"])) == ["i >= 4"]


@pytest.mark.parametrize("pattern", ["LIKE 'ab!%' ESCAPE '!'", "LIKE 'ab%'"])
def test_what_two_parts_of_a_condition_share(table: DataFrame, pattern: str) -> None:
    """``nullif`` and BETWEEN refer twice to what they compare."""
    best = grouped(table.withColumn("t", table["s"]), "t")
    df = best.where(f"nullif(t {pattern}, false) AND left(t, 1) BETWEEN 'a' AND 'b'")
    assert rows(presieve.optimize(df, cost="always")) == rows(df)


def test_twice(table: DataFrame) -> None:
    """There is nothing more to gain."""
    once = presieve.optimize(grouped(table, "d").where("year(d) = 2024"), cost="always")
    assert presieve.optimize(once, cost="always") is once


def test_below_a_window(table: DataFrame) -> None:
    """The first in each partition: a prefix of the order passes."""
    from pyspark.sql import Window
    from pyspark.sql import functions as F

    first = F.row_number().over(Window.partitionBy("i").orderBy("d"))
    df = table.where("d IS NOT NULL").withColumn("r", first).where("year(d) < 2024")
    (below,) = prefilters(df)
    assert below.startswith("(d < DATE '2024-01-01' OR d IS NULL)")


def test_of_a_function_of_rows(table: DataFrame) -> None:
    from pyspark.sql.functions import udf

    twice: Any = udf(lambda n: n * 2, "bigint", useArrow=False)
    df = table.where("i BETWEEN 0 AND 1000").withColumn("c", twice("i")).where("c + 1 > 9")
    assert prefilters(df) == ["i > 4 OR i IS NULL"] or prefilters(df) == ["i >= 5"]


def test_reports_tell_of_it(table: DataFrame) -> None:
    report = presieve.explain(grouped(table, "d").where("year(d) = 2024"), cost="always")
    (found,) = [d for d in report.derived if d.operator]
    assert (found.operator, found.source) == ("Aggregate", "max")
    assert found.derived == "d >= DATE '2024-01-01' AND d < DATE '2025-01-01'"
    assert "Aggregate max\n  filter        year(d) = 2024\n  derived       d >= " in str(report)


@pytest.mark.parametrize(
    ("where", "naive"),
    [
        ("i % 2 = 1", "i % 2 = 1"),  # nothing follows
        ("year(d) <> 2024", "year(d) <> 2024"),
        ("i + 1 < 5", "i < 4"),  # a maximum below is no row's
    ],
)
def test_wrong_twins(table: DataFrame, where: str, naive: str) -> None:
    column = "d" if "d" in where else "i"
    df = grouped(table, column).where(where)
    assert rows(presieve.optimize(df, cost="always")) == rows(df)
    assert rows(grouped(table.where(naive), column).where(where)) != rows(df)


def test_what_is_below_a_limit_stays(table: DataFrame) -> None:
    df = grouped(table, "d").orderBy("s").limit(5).where("year(d) = 2024")
    assert presieve.optimize(df, cost="always") is df
    twin = grouped(table.where("year(d) = 2024"), "d").orderBy("s").limit(5).where("year(d) = 2024")
    assert rows(twin) != rows(df)


def test_the_other_side_of_an_outer_join_stays(table: DataFrame) -> None:
    best = grouped(table, "d")
    names = table.select("s").distinct().withColumnRenamed("s", "k")
    df = names.join(best, names["k"].eqNullSafe(best["s"]), "left").where(
        "year(d) = 2024 OR d IS NULL"
    )
    assert rows(presieve.optimize(df, cost="always")) == rows(df)
    late = grouped(table, "d").where("year(d) = 2024")
    twin = names.join(late, names["k"].eqNullSafe(late["s"]), "left").where(
        "year(d) = 2024 OR d IS NULL"
    )
    assert rows(twin) != rows(df)


def test_what_a_cache_holds_is_left_alone(table: DataFrame) -> None:
    best = grouped(table, "d").cache()
    try:
        df = best.where("year(d) = 2024")
        assert presieve.optimize(df, cost="always") is df
    finally:
        best.unpersist()


def test_strict_keeps_errors(table: DataFrame) -> None:
    df = grouped(table, "i").where("i + 1 > 5")
    assert presieve.optimize(df, cost="always", policy="strict") is df


ARGUMENTS = {
    "SELECT s, max(i + 1) m FROM few GROUP BY s HAVING m > 8": "`i + 1` > 8",
    "SELECT s, max(year(d)) m FROM few GROUP BY s HAVING m >= 2024": "`year(d)` >= 2024",
    "SELECT s FROM few GROUP BY s HAVING min(abs(i) - i) < 3": "`abs(i) - i` < 3",
    "SELECT s, count_if(i + 1 > 8) m FROM few GROUP BY s HAVING m > 0": "`(i + 1) > 8`",
    "SELECT i % 3 q, max(i % 3 + 1) m FROM few GROUP BY i % 3 HAVING m > 2": "`(i % 3) + 1` > 2",
    "SELECT s, max_by(i, n * 2) m FROM few GROUP BY s HAVING m > 3": "true",
    # What is read as it is stays where it is.
    "SELECT s, max(CASE WHEN i > 3 THEN 1 ELSE 0 END) m FROM few GROUP BY s HAVING m > 0": "i > 3",
}


@pytest.mark.parametrize("query", ARGUMENTS)
@pytest.mark.parametrize("ansi", ["true", "false"])
def test_arguments_of_aggregate_functions(
    settings: SparkSession, table: DataFrame, query: str, ansi: str
) -> None:
    settings.conf.set("spark.sql.ansi.enabled", ansi)
    few = table.where("i BETWEEN -10000 AND 10000 AND (n BETWEEN -10000 AND 10000 OR n IS NULL)")
    few.createOrReplaceTempView("few")
    df = settings.sql(query)
    better = presieve.optimize(df, cost="always", compile="never")
    assert rows(better) == rows(df)
    (boundary,) = presieve.explain(df, cost="always").boundaries
    assert boundary.prefilter == ARGUMENTS[query]
    assert (better is df) == (boundary.prefilter == "true")


@pytest.mark.parametrize(
    ("query", "below"),
    [
        ("SELECT s, max(i + 1) m, count(*) c FROM few{} GROUP BY s HAVING m > 8", "i + 1 > 8"),
        ("SELECT s, max(i + 1) m FROM few{} GROUP BY s HAVING m < 8", "i + 1 < 8"),
        ("SELECT s, max(i + 1) FILTER (WHERE i = 1000 AND n = 5) m FROM few{} GROUP BY s"
         " HAVING m IS NULL", "i = 1000 AND n = 5"),
    ],
)  # fmt: skip
def test_wrong_twins_of_arguments(
    settings: SparkSession, table: DataFrame, query: str, below: str
) -> None:
    table.where("i BETWEEN -10000 AND 10000 AND s > 'a'").createOrReplaceTempView("few")
    df = settings.sql(query.format(""))
    assert rows(presieve.optimize(df, cost="always")) == rows(df)
    assert rows(settings.sql(query.format(f" WHERE {below}"))) != rows(df)


@pytest.mark.parametrize("outputs", ["max_by(1 DIV x, v) m", "max_by(1 DIV x, v) m, max(v) w"])
def test_what_a_function_does_not_compute_of_each_row(
    settings: SparkSession, tmp_path: Any, outputs: str
) -> None:
    """The value that belongs to a lower key is not needed, and would raise."""
    settings.conf.set("spark.sql.ansi.enabled", "true")
    lines = [(1, 2, 9), (1, 0, 3), (2, 4, 7)]
    settings.createDataFrame(lines, "k int, x int, v int").coalesce(1).write.parquet(
        f"{tmp_path}/t"
    )
    settings.read.parquet(f"{tmp_path}/t").createOrReplaceTempView("ordered")
    df = settings.sql(f"SELECT k, {outputs} FROM ordered GROUP BY k HAVING m >= 0")
    assert rows(presieve.optimize(df, cost="always")) == rows(df)


def test_arguments_that_overflow(settings: SparkSession, table: DataFrame) -> None:
    """The error is there, or the sum is less than nothing."""
    from py4j.protocol import Py4JError
    from pyspark.errors import PySparkException

    table.createOrReplaceTempView("few")
    settings.conf.set("spark.sql.ansi.enabled", "true")
    df = settings.sql("SELECT s, max(i + 1) m FROM few GROUP BY s HAVING m > 8")
    with pytest.raises((PySparkException, Py4JError)):  # of which Spark 3.5 makes no other
        presieve.optimize(df, cost="always").collect()
    settings.conf.set("spark.sql.ansi.enabled", "false")
    df = settings.sql("SELECT s, max(i + 1) m FROM few GROUP BY s HAVING m > 8")
    assert rows(presieve.optimize(df, cost="always")) == rows(df)


@pytest.mark.random
def test_random_conditions_keep_their_rows(settings: SparkSession, table: DataFrame) -> None:
    rng = random.Random(12)
    atoms = {c: [a for a in ATOMS if _columns(a) == {c}] for c in ("i", "n", "d", "ts", "x")}

    def made() -> DataFrame:
        column = rng.choice(list(atoms))
        df = grouped(table, column, rng.choice((last, greatest)))
        return df.where(random_condition(rng, atoms[column]))

    keep_their_rows(settings, rng, amount(300, 12), made)


def _columns(atom: str) -> set[str]:
    plain = re.sub(r"'[^']*'", "", atom)
    return set(re.findall(r"\b(?:i|n|x|s|d|ts)\b", plain))


def of_the_last_day(table: DataFrame, where: str) -> DataFrame:
    return table.selectExpr("d", "i", "s", "max(d) OVER (PARTITION BY s) last").where(where)


def test_a_column_that_equals_what_a_window_computes(table: DataFrame) -> None:
    """Rows of a group's last day: what is said of that day holds for the row's own."""
    df = of_the_last_day(table, "d = last AND last >= DATE '2024-02-01'")
    assert prefilters(df) == ["d >= DATE '2024-02-01'"]
    assert rows(presieve.optimize(df, cost="always")) == rows(df)


@pytest.mark.parametrize("joint", ["<> last AND", "= last OR", "<= last AND"])
def test_a_column_that_may_differ_from_it(table: DataFrame, joint: str) -> None:
    df = of_the_last_day(table, f"d {joint} last >= DATE '2024-02-01'")
    assert presieve.optimize(df, cost="always") is df


def test_a_range_below_a_window_without_the_equality_loses_rows(table: DataFrame) -> None:
    where = "d <> last AND last >= DATE '2024-02-01'"
    window = ("d", "s", "max(d) OVER (PARTITION BY s) last")
    df = table.selectExpr(*window).where(where)
    naive = table.where("d >= DATE '2024-02-01'").selectExpr(*window).where(where)
    assert rows(naive) != rows(df)
