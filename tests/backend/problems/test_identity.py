"""Functions that change tables and columns in place, on a Spark session: the rows are the same."""

from __future__ import annotations

import importlib
import math
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import pandas as pd
import pytest
from tests.support import shared_tables
from tests.support.amount import some
from tests.support.running import rewritten, safe, untouched

from presieve.driver.optimize import explain, optimize
from presieve.driver.solve import Policy

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

ROWS: list[tuple[str | None, float | None, int]] = [
    ("a", 1.0, 1),
    ("a", 2.5, 2),
    ("a", 2.5, 2),
    ("a", 12.5, 3),
    ("a", None, 3),
    ("b", math.nan, 2),
    ("b", -95.0, 0),
    ("b", 5.0, 5),
    ("c", -0.0, 1),
    ("c", 0.0, 2),
    ("d", math.inf, 7),
    ("d", -math.inf, -(2**53)),
    (None, 13.0, 2**53),
    (None, None, 4),
]
FILTERS = ("x > 12", "x < 3 AND y > 1", "x IS NULL")


@pytest.fixture(scope="module")
def table(spark: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> Iterator[DataFrame]:
    from pyspark import cloudpickle

    cloudpickle.register_pickle_by_value(shared_tables)  # type: ignore[no-untyped-call]
    path = str(tmp_path_factory.mktemp("identity") / "t")
    spark.createDataFrame(ROWS, "k string, x double, y bigint").coalesce(1).write.parquet(path)
    yield spark.read.parquet(path)
    cloudpickle.unregister_pickle_by_value(shared_tables)  # type: ignore[no-untyped-call]


def mapped(table: DataFrame, function: Any) -> DataFrame:
    return table.select("x", "y").mapInPandas(function, "x double, y bigint")


def grouped(table: DataFrame, function: Any) -> DataFrame:
    return table.groupBy("k").applyInPandas(function, "o double")


def pandas_udf(function: Any, *columns: str) -> Any:
    function.__annotations__ = {**dict.fromkeys(columns, pd.Series), "return": float}
    make: Any = importlib.import_module("pyspark.sql.functions").pandas_udf
    return make(function, "double")


def _name(function: Any) -> str:
    return str(function.__name__)


# --- functions of tables --------------------------------------------------------------------------


@some("function", shared_tables.MAPS, of=2, ids=_name)
def test_what_nothing_else_sees(table: DataFrame, function: Any) -> None:
    found = [safe(mapped(table, function).filter(where)) for where in FILTERS]
    for better, where in zip(found, FILTERS, strict=True):
        assert better is not mapped(table, function).filter(where)


def test_it_is_moved(table: DataFrame) -> None:
    for function in (shared_tables.map_own_mask, shared_tables.map_part, shared_tables.map_copy):
        assert rewritten(mapped(table, function).filter("x > 12"), policy="assume").kind == "exact"


@some("function", shared_tables.MAPS_SEEN, of=3, ids=_name)
def test_what_something_else_sees(table: DataFrame, function: Any) -> None:
    """Nothing is said below of the column that is changed."""
    policies: tuple[Policy, ...] = ("default", "strict")
    for policy in policies:
        for where in FILTERS:
            df = mapped(table, function).filter(where)
            safe(df, policy=policy)
            (boundary,) = explain(df, cost="always", policy=policy).boundaries
            assert boundary.prefilter in ("true", "y > 1")


@pytest.mark.parametrize("function", shared_tables.GROUPS_SEEN)
def test_groups_that_something_else_sees(table: DataFrame, function: Any) -> None:
    untouched(grouped(table, function).filter("o > 12"))


def test_groups(table: DataFrame) -> None:
    df = grouped(table.filter("x IS NOT NULL AND NOT isnan(x)"), shared_tables.group_own_column)
    assert safe(df.filter("o > 12")) is not df
    safe(grouped(table, shared_tables.group_after_loop).filter("o > 12"))


# --- functions that get one Series ----------------------------------------------------------------


def more(x: Any) -> float:
    x += 100
    return float(x.max())


def highest(x: Any) -> float:
    return x.max()  # type: ignore[no-any-return]


def lowest(x: Any) -> float:
    twice = x * 2
    twice += 1
    return twice.min()  # type: ignore[no-any-return]


def of_two(x: Any, y: Any) -> float:
    x -= 1000
    return y.max()  # type: ignore[no-any-return]


def test_two_functions_of_one_column(table: DataFrame) -> None:
    """What the first one does to the Series the second one sees, in Spark 4.3."""
    first, second = pandas_udf(more, "x"), pandas_udf(highest, "x")
    both = table.groupBy("k").agg(first("x").alias("a"), second("x").alias("b"))
    alone = table.groupBy("k").agg(second("x").alias("b"))
    assert {r.k: r.b for r in both.collect()}["a"] == 112.5
    assert {r.k: r.b for r in alone.collect()}["a"] == 12.5
    for where in ("b > 12", "b > 108", "a > 12", "b IS NULL"):
        df = both.filter(where)
        assert optimize(df, cost="always") is df
    safe(both.filter("k = 'a'"))
    safe(both.select("k", "b").filter("b > 12"))
    safe(alone.filter("b > 12"))


def test_two_functions_that_change_nothing_of_it(table: DataFrame) -> None:
    first, second = pandas_udf(lowest, "x"), pandas_udf(highest, "x")
    both = table.groupBy("k").agg(first("x").alias("a"), second("x").alias("b"))
    for where in ("b > 12", "a > 12 AND b > 12"):
        safe(both.filter(where))


def test_one_column_twice(table: DataFrame) -> None:
    udf = pandas_udf(of_two, "x", "y")
    df = table.groupBy("k").agg(udf("x", "x").alias("b"))
    assert {r.k: r.b for r in df.collect()}["a"] == -987.5
    filtered = df.filter("b > 12")
    assert optimize(filtered, cost="always") is filtered


@pytest.mark.parametrize("function", shared_tables.KEYED, ids=_name)
def test_columns_that_hold_the_key(table: DataFrame, function: Any) -> None:
    groups = table.selectExpr("y", "y - 3 AS w", "x").filter("y < 10").groupBy("y")
    made = groups.applyInPandas(function, "y bigint, w bigint, x double")
    for where in ("y = 2", "w = 2", "y > 1"):
        safe(made.filter(where))


# --- copy-on-write --------------------------------------------------------------------------------


@pytest.mark.classic("workers get the environment of the driver's context")
@pytest.mark.parametrize(
    ("mode", "seen"), [("1", "True"), pytest.param("warn", "warn", marks=pytest.mark.slow)]
)
def test_copy_on_write_in_workers(table: DataFrame, mode: str, seen: str) -> None:
    environment = table.sparkSession.sparkContext.environment
    before = environment.get("PANDAS_COPY_ON_WRITE")
    environment["PANDAS_COPY_ON_WRITE"] = mode
    try:
        assert _mode(table) == seen
        for function in shared_tables.MAPS:
            # Columns that Spark makes cannot be written to with copy-on-write: pandas raises.
            if function is not shared_tables.map_marked:
                safe(mapped(table, function).filter("x > 1"))
    finally:
        del environment["PANDAS_COPY_ON_WRITE"]
        if before is not None:
            environment["PANDAS_COPY_ON_WRITE"] = before


def _mode(table: DataFrame) -> str:
    def mode(batches: Any) -> Any:
        for _ in batches:
            yield pd.DataFrame({"mode": [str(pd.get_option("mode.copy_on_write"))]})

    return str(table.mapInPandas(mode, "mode string").first()["mode"])  # type: ignore[index]
