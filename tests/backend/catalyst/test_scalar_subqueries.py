"""Filters on correlated scalar subqueries go below the aggregates in them, on Spark."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import pyarrow.parquet as pq
import pytest
from tests.support.running import counted, plan_text, same_rows

from presieve.driver.optimize import explain, optimize

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = [pytest.mark.spark, pytest.mark.classic("plans of subqueries are not sent")]

DOUBLES = """element_at(array(NULL, double('NaN'), -0.0D, 0.0D, 1.0D, 2.5D, double('Infinity')),
    CAST(id * 3 % 7 + 1 AS INT))"""
TABLES: dict[str, tuple[int, list[str]]] = {
    "inside": (
        80,
        [
            "CASE WHEN id % 11 = 0 THEN NULL ELSE CAST(id % 9 AS INT) END AS k",
            "CASE WHEN id % 13 = 0 THEN NULL WHEN id = 20 THEN 2147483647 ELSE INT(id) END AS q",
            f"{DOUBLES} AS x",
        ],
    ),
    "outside": (
        12,
        [
            "CASE WHEN id = 7 THEN NULL WHEN id > 9 THEN 20 ELSE CAST(id % 7 AS INT) END AS k",
            "CAST(id AS STRING) AS name",
        ],
    ),
}


@pytest.fixture(scope="module", params=["spark", "pyarrow"], autouse=True)
def views(
    spark: SparkSession, tmp_path_factory: pytest.TempPathFactory, request: pytest.FixtureRequest
) -> Iterator[None]:
    """Keys of one table only, NULL as key, duplicates, NaN, -0.0 and the greatest integer; files of
    two writers, those of one with small row groups.
    """
    for name, (rows, columns) in TABLES.items():
        folder = tmp_path_factory.mktemp(name)
        spark.range(rows).selectExpr(*columns).coalesce(1).write.parquet(f"{folder}/spark")
        table = pq.read_table(f"{folder}/spark")
        (folder / "pyarrow").mkdir()
        pq.write_table(table, folder / "pyarrow" / "t.parquet", row_group_size=4)
        spark.read.parquet(f"{folder}/{request.param}").createOrReplaceTempView(name)
    spark.sql("SELECT * FROM inside WHERE k IS NOT NULL").createOrReplaceTempView("keyed")
    spark.sql("SELECT k, max(q) AS m FROM inside GROUP BY k").createOrReplaceTempView("best")
    yield
    for name in (*TABLES, "keyed", "best"):
        spark.catalog.dropTempView(name)


def inner(value: str, table: str = "inside", extra: str = "") -> str:
    return f"(SELECT {value} FROM {table} i WHERE i.k = o.k {extra})"


PUSHED = {
    "max": (f"SELECT * FROM outside o WHERE {inner('max(i.q)')} > 75", "GreaterThan(q,75)"),
    "min": (f"SELECT * FROM outside o WHERE {inner('min(i.q)')} < 3", "LessThan(q,3)"),
    "count": (
        f"SELECT * FROM outside o WHERE {inner('count(CASE WHEN i.q > 70 THEN 1 END)')} > 1",
        "GreaterThan(q,70)",
    ),
    "as a column": (
        f"SELECT * FROM (SELECT o.*, {inner('max(i.q)')} AS m FROM outside o) WHERE m > 75",
        "GreaterThan(q,75)",
    ),
    "of a view": (f"SELECT * FROM outside o WHERE {inner('max(i.q)', 'keyed')} > 75", "n(q,75)"),
    "of an aggregate": (
        f"SELECT * FROM outside o WHERE {inner('max(i.m)', 'best')} > 75",
        "n(q,75",
    ),
    "two": (
        f"SELECT * FROM outside o WHERE {inner('max(i.q)')} > 75 AND {inner('min(i.q)')} < 3",
        "GreaterThan(q,75)",
    ),
    "beside EXISTS": (
        f"""SELECT * FROM outside o WHERE {inner("max(i.q)")} > 75
            AND EXISTS (SELECT 1 FROM keyed e WHERE e.k = o.k)""",
        "GreaterThan(q,75)",
    ),
    "with a condition": (
        f"SELECT * FROM outside o WHERE {inner('max(i.q)', extra='AND i.x < 2')} > 60",
        "GreaterThan(q,60)",
    ),
}
STAY = {
    "NULL too": (f"SELECT * FROM outside o WHERE coalesce({inner('max(i.q)')}, 99) > 75", "q > 75"),
    "other side": (f"SELECT * FROM outside o WHERE {inner('max(i.q)')} < 75", "q < 75"),
    "none": (f"SELECT * FROM outside o WHERE {inner('count(i.q)')} = 0", "q < 3"),
    "none, in a mask": (
        f"SELECT * FROM outside o WHERE coalesce({inner('count(i.q)')} = 0 AND name > '0', false)",
        "q < 3",
    ),
    "no row, in a mask": (
        f"""SELECT * FROM (SELECT o.*, {inner("count(i.q)")} AS n FROM outside o)
            WHERE coalesce(n < 1 AND name > '0', false)""",
        "q < 3",
    ),
    "mean": (f"SELECT * FROM outside o WHERE {inner('avg(i.q)')} > 40", "q > 40"),
}


@pytest.mark.parametrize("name", PUSHED)
def test_filters_on_a_subquery_go_below_its_aggregate(spark: SparkSession, name: str) -> None:
    query, scanned = PUSHED[name]
    df = spark.sql(query)
    better = optimize(df, cost="always")
    assert scanned not in plan_text(df)
    assert scanned in plan_text(better), explain(df, cost="always")
    same_rows(df, better)
    assert optimize(better, cost="always") is better


@pytest.mark.parametrize("name", STAY)
def test_subqueries_that_need_all_rows_do(spark: SparkSession, name: str) -> None:
    query, filter_ = STAY[name]
    df = spark.sql(query)
    better = optimize(df, cost="always")
    same_rows(df, better)
    assert f"Than(q,{filter_.split()[-1]})" not in plan_text(better)
    fewer = f"FROM (SELECT * FROM inside WHERE {filter_}) i"
    filtered = spark.sql(query.replace("FROM inside i", fewer))
    assert counted(filtered) != counted(df)


def test_a_subquery_of_several_rows_still_raises(spark: SparkSession) -> None:
    """Spark 4 checks that there is at most one row."""
    df = spark.sql("SELECT * FROM outside o WHERE (SELECT q FROM inside i WHERE i.k = o.k) > 75")
    with pytest.raises(Exception, match=r"(?i)scalar.subquery"):
        df.collect()
    with pytest.raises(Exception, match=r"(?i)scalar.subquery"):
        optimize(df, cost="always").collect()
