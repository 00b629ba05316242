"""Spark's own aggregates against their folds, on thousands of groups of random rows.

One file and one partition, so that the rows of a group come in the order in which they were written
(which matters to ties and to the sign of zeros).
"""

from __future__ import annotations

import datetime as dt
import decimal
import math
from collections.abc import Iterator, Mapping
from pathlib import Path
from random import Random
from typing import TYPE_CHECKING, Any

import pytest
from tests.support.amount import amount

from presieve.backend.open_plan import Reading, open_gateway, open_plan
from presieve.driver.optimize import optimize
from presieve.errors import Declined
from presieve.ir.fold import Fold, Problem
from presieve.semantics.interpret import Raised, run_fold
from presieve.semantics.values import Value, from_python, same

pytestmark = pytest.mark.classic("an RDD is read")

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

GROUPS = amount(10_000, 20)
VALUES: dict[str, tuple[str, tuple[object, ...]]] = {
    "i": ("int", (None, 0, 1, -1, 3, 2**31 - 1, -(2**31))),
    "w": ("long", (None, 0, 1, -7, 2**63 - 1, -(2**63), 2**62, 2**53 + 1)),
    "x": ("double", (None, 0.0, -0.0, 1.5, -2.0, math.nan, math.inf, -math.inf, 1e308, 5e-324)),
    "b": ("boolean", (None, True, False)),
    "n": ("string", (None, "", "a", "Z", "é", "\U0001f600", "\uffff")),
    "d": ("decimal", tuple(decimal.Decimal(x) for x in ("0", "1.50", "-99999999.99", "7.25"))),
    "t": ("date", (None, dt.date(1970, 1, 1), dt.date(2024, 2, 29), dt.date(1, 1, 1))),
}
HASHED = (
    *("max(i)", "min(i)", "max(x)", "min(x)", "max(b)", "min(b)", "max(t)", "min(t)"),
    *("count(*)", "count(i)", "count(i, x)", "count(1)", "max(DISTINCT i)"),
    *("count_if(b)", "count_if(x > 1)", "count_if(i IS NULL)", "bool_or(b)", "bool_and(i > 0)"),
    *("sum(i)", "sum(CASE WHEN x > 1 THEN 1 WHEN b THEN i END)", "sum(IF(b, 1, 0))"),
    *("sum(int(b))", "max(CASE WHEN b THEN x END)"),
    *("max_by(i, x)", "min_by(i, x)", "max_by(x, i)", "min_by(x, b)"),
    *("max(x) FILTER (WHERE b)", "count(*) FILTER (WHERE i > 0)", "sum(i) FILTER (WHERE x > 1)"),
    *("count(x) FILTER (WHERE b)", "max_by(x, i) FILTER (WHERE NOT b)", "every(b)", "any(x > 1)"),
)
"""Aggregates whose states Spark keeps in a hash map: it does not sort the rows."""
SORTED = ("max(n)", "min(n)", "max(d)", "min(d)", "max(w)", "min(w)", "count(n)", "max_by(n, w)")
"""Of these ties cannot be told apart."""


@pytest.fixture(scope="module")
def rows() -> list[dict[str, object]]:
    random = Random(7)
    found: list[dict[str, object]] = []
    for group in range(GROUPS):
        few = {name: random.sample(pool, min(3, len(pool))) for name, (_, pool) in VALUES.items()}
        for _ in range(random.randrange(1, 6)):
            found.append({"k": group, **{name: random.choice(few[name]) for name in VALUES}})
    return found


@pytest.fixture(scope="module")
def table(
    spark: SparkSession, rows: list[dict[str, object]], tmp_path_factory: pytest.TempPathFactory
) -> DataFrame:
    import pyarrow as pa
    import pyarrow.parquet as pq

    types: dict[str, Any] = {
        "int": pa.int32(),
        "long": pa.int64(),
        "double": pa.float64(),
        "boolean": pa.bool_(),
        "string": pa.string(),
        "decimal": pa.decimal128(10, 2),
        "date": pa.date32(),
    }
    columns = {"k": pa.array([r["k"] for r in rows], pa.int32())}
    for name, (type_, _) in VALUES.items():
        columns[name] = pa.array([r[name] for r in rows], types[type_])
    path = Path(tmp_path_factory.mktemp("native")) / "t.parquet"
    pq.write_table(pa.table(columns), path)
    read = spark.read.parquet(str(path))
    assert read.rdd.getNumPartitions() == 1
    return read


@pytest.fixture
def wrapping(spark: SparkSession) -> Iterator[None]:
    spark.conf.set("spark.sql.ansi.enabled", "false")
    yield
    spark.conf.unset("spark.sql.ansi.enabled")


def grouped(table: DataFrame, calls: tuple[str, ...]) -> DataFrame:
    from pyspark.sql import functions as F

    outputs = [F.expr(call).alias(f"o{i}") for i, call in enumerate(calls)]
    return table.groupBy("k").agg(*outputs)


def problem_of(df: DataFrame) -> Problem:
    """The problem of a filter that reads an output, with all of them live."""
    gateway = open_gateway(df)
    assert not isinstance(gateway, Declined)
    opened = open_plan(gateway, df.filter("o0 IS NOT NULL OR o0 IS NULL"), Reading())
    assert not isinstance(opened, Declined)
    (site,) = opened.sites
    assert not isinstance(site.problem, Declined), site.problem
    return site.problem.problem


def row_of(fold: Fold, row: Mapping[str, object]) -> dict[str, Value]:
    return {c.name: from_python(row[c.name], c.sort) for c in fold.columns}


def compare(df: DataFrame, calls: tuple[str, ...], rows: list[dict[str, object]]) -> None:
    fold = problem_of(df).fold
    assert len(fold.outputs) == len(calls)
    groups: dict[object, list[dict[str, Value]]] = {}
    for row in rows:
        groups.setdefault(row["k"], []).append(row_of(fold, row))
    spark = {r["k"]: tuple(r)[1:] for r in df.collect()}
    assert spark.keys() == groups.keys()
    for key, group in groups.items():
        ours = run_fold(fold, group, {"k": key})  # type: ignore[dict-item]
        assert not isinstance(ours, Raised)
        for call, output, mine, theirs in zip(calls, fold.outputs, ours, spark[key], strict=True):
            assert same(mine, from_python(theirs, output.sort)), (call, group, mine, theirs)


@pytest.mark.slow
def test_without_sorting(table: DataFrame, rows: list[dict[str, object]]) -> None:
    df = grouped(table, HASHED)
    assert "SortAggregate" not in df._jdf.queryExecution().executedPlan().toString()
    compare(df, HASHED, rows)


@pytest.mark.random
def test_with_sorting(table: DataFrame, rows: list[dict[str, object]]) -> None:
    compare(grouped(table, SORTED), SORTED, rows)


@pytest.mark.random
def test_sums_that_wrap(table: DataFrame, rows: list[dict[str, object]], wrapping: None) -> None:
    calls = ("sum(w)", "sum(i)", "sum(w) FILTER (WHERE b)")
    compare(grouped(table, calls), calls, rows)


@pytest.mark.second
def test_sums_that_raise(table: DataFrame, rows: list[dict[str, object]]) -> None:
    """Group by group, since one that raises takes all others with it."""
    from pyspark.errors import ArithmeticException

    calls = ("sum(w)",)
    fold = problem_of(grouped(table, calls)).fold
    seen: dict[bool, int] = {True: 0, False: 0}
    for key in range(40):
        group = [r for r in rows if r["k"] == key]
        ours = run_fold(fold, [row_of(fold, r) for r in group], {"k": key})
        raises = isinstance(ours, Raised)
        seen[raises] += 1
        one = grouped(table.filter(f"k = {key}"), calls)
        if raises:
            with pytest.raises(ArithmeticException):
                one.collect()
        else:
            assert ours == (one.collect()[0]["o0"],)
    assert seen[True] >= 3
    assert seen[False] >= 3


def test_no_rows(table: DataFrame) -> None:
    """Without GROUP BY there is a result all the same."""
    from pyspark.sql import functions as F

    calls = (*HASHED, *SORTED)
    outputs = [F.expr(call).alias(f"o{i}") for i, call in enumerate(calls)]
    df = table.filter("k < 0").agg(*outputs)
    fold = problem_of(df).fold
    assert not fold.keys
    ours = run_fold(fold, [], {})
    assert not isinstance(ours, Raised)
    assert ours == tuple(df.collect()[0])


HAVING = (
    *("max(i) > 2", "min(i) < 0", "max(x) > 1.5", "min(x) < 0", "max(x) = 0", "min(x) >= 0"),
    *("max(n) > 'a'", "min(t) < '1990-01-01'", "max(d) > 2", "max(d) > 2 AND min(d) < 0"),
    *("count_if(x > 1) >= 2", "count(x) = 1", "sum(i) > 5", "sum(IF(b, 1, 0)) >= 1"),
    *("bool_or(b) AND max(i) > 0", "every(b)", "NOT any(x > 1)", "max(i) FILTER (WHERE b) > 0"),
    *("max(i) IS NULL", "max(i) <=> 3", "count(*) > 2 AND max(x) > 1", "max(w) > 5 OR min(x) < -1"),
    *("count(*) FILTER (WHERE isnan(x)) > 0", "max(CASE WHEN b THEN x END) > 1", "max(b)"),
)


LIVE = ("", ", max(i) AS o", ", min_by(i, x) AS o", ", count(x) AS o")


@pytest.mark.random
def test_every_group_of_every_filter(table: DataFrame) -> None:
    """As written and as optimized, over all groups, to the last bit and sign of zero."""
    table.createOrReplaceTempView("groups")
    changed = 0
    for number, where in enumerate(HAVING if amount(1) else HAVING[::3]):
        live = LIVE[number % 3] if number % 6 else LIVE[3]
        df = table.sparkSession.sql(f"SELECT k{live} FROM groups GROUP BY k HAVING {where}")
        better = optimize(df, cost="always")
        if better is not df:
            changed += 1
            assert sorted(map(repr, better.collect())) == sorted(map(repr, df.collect())), where
    assert changed >= amount(10, 3)


LISTS = (
    "aggregate(collect_list(i), 0, (a, y) -> IF(y > 0, y, a))",
    "aggregate(collect_list(i), CAST(NULL AS INT), (a, y) -> greatest(a, y))",
    "aggregate(collect_list(x), 0D, (a, y) -> greatest(y, a))",
    "aggregate(collect_list(x), 1.5D, (a, y) -> least(a, y), a -> a < 0)",
    "aggregate(collect_list(x), CAST(NULL AS DOUBLE), (a, y) -> least(a, y, 0D))",
    "aggregate(collect_list(x), 0D, (a, y) -> a * 0.5D + y - 1D)",
    "aggregate(collect_list(i), 0D, (a, y) -> CASE WHEN y > 1 THEN a + 1D WHEN y < 0 THEN 2D - a "
    "END)",
    "aggregate(collect_list(b), false, (a, y) -> a OR y)",
    "aggregate(collect_list(b), true, (a, y) -> NOT a AND y)",
    "aggregate(collect_list(b), CAST(NULL AS BOOLEAN), (a, y) -> a OR y, a -> coalesce(a, false))",
    "aggregate(collect_list(i), CAST(NULL AS INT), (a, y) -> CASE WHEN y > 0 THEN coalesce(a, y) "
    "END, a -> a IS NULL)",
    "aggregate(collect_list(i) FILTER (WHERE b), -1, (a, y) -> greatest(a, y, 1))",
    "aggregate(collect_list(CASE WHEN b THEN x END), 0D, (a, y) -> IF(isnan(y), a, y))",
    "aggregate(collect_list(n), '', (a, y) -> IF(y = 'a', y, a))",
    "aggregate(collect_list(i), 0L, (a, y) -> IF(y IN (1, 3), a + 1L, a), a -> a >= 2)",
)
WRAPPED = (
    "aggregate(collect_list(i), 1, (a, y) -> a * y + 7)",
    "aggregate(collect_list(w), 1L, (a, y) -> IF(y > 3, a - y, a * y))",
    "aggregate(collect_list(w), 0L, (a, y) -> a + y, a -> a + 9223372036854775807L > 0)",
    "aggregate(collect_list(i), 0L, (a, y) -> a + y)",
)
"""Folds of lists by lambdas; those whose arithmetic wraps, or raises in ANSI mode."""


@pytest.fixture
def in_order(spark: SparkSession) -> Iterator[None]:
    """Lists of many groups are gathered without sorting."""
    name = "spark.sql.objectHashAggregate.sortBased.fallbackThreshold"
    spark.conf.set(name, str(10 * GROUPS))
    yield
    spark.conf.unset(name)


@pytest.mark.random
def test_folds_of_lists(table: DataFrame, rows: list[dict[str, object]], in_order: None) -> None:
    compare(grouped(table, LISTS), LISTS, rows)


@pytest.mark.random
def test_folds_of_lists_that_wrap(
    table: DataFrame, rows: list[dict[str, object]], in_order: None, wrapping: None
) -> None:
    compare(grouped(table, WRAPPED), WRAPPED, rows)


@pytest.mark.parametrize("call", WRAPPED)
def test_folds_of_lists_that_raise(
    table: DataFrame, rows: list[dict[str, object]], in_order: None, call: str
) -> None:
    """All groups at once that do not, and a few that do one by one."""
    from pyspark.errors import ArithmeticException

    few = table.filter("k < 500")
    fold = problem_of(grouped(few, (call,))).fold
    given: dict[object, object] = {}
    raising: list[object] = []
    for key in range(500):
        group = [row_of(fold, r) for r in rows if r["k"] == key]
        ours = run_fold(fold, group, {"k": key})
        if isinstance(ours, Raised):
            raising.append(key)
        else:
            given[key] = ours[0]
    fine = grouped(few.filter(few["k"].isin(list(given))), (call,))
    assert {r["k"]: r["o0"] for r in fine.collect()} == given
    assert len(raising) > 3 or call == WRAPPED[-1]
    for raised in raising[:4]:
        with pytest.raises(ArithmeticException):
            grouped(table.filter(f"k = {raised}"), (call,)).collect()


@pytest.mark.slow
def test_every_group_of_every_filter_on_folds_of_lists(table: DataFrame, in_order: None) -> None:
    """As written and as optimized, over all groups."""
    conditions = ("l > 1", "l > 0", "l", "NOT l", "l IS NULL", "l = 1", "l < 0")
    changed = 0
    table.createOrReplaceTempView("groups")
    for call in LISTS:
        df = table.sparkSession.sql(f"SELECT k, {call} AS l FROM groups GROUP BY k")
        of_booleans = df.schema["l"].dataType.typeName() == "boolean"
        fit = [c for c in conditions if of_booleans == (c in ("l", "NOT l")) or "NULL" in c]
        for where in fit:
            kept = df.filter(where)
            better = optimize(kept)
            if better is not kept:
                changed += 1
                assert sorted(map(repr, better.collect())) == sorted(map(repr, kept.collect()))
    assert changed >= 10
