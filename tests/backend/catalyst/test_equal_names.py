"""Functions of rows above a join, both of whose sides have columns of one name."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from pyspark.sql import functions as F
from tests.support.running import same_rows

from presieve.driver.optimize import explain, optimize

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

pytestmark = [
    pytest.mark.spark,
    pytest.mark.classic("plans of a client have columns by name"),
]

QUERIES = {
    "one function": "tier(c.segment) = 'A'",
    "two functions": "tier(c.segment) = 'A' AND half(o.amount) > 200",
    "beside a column": "tier(c.segment) = 'A' AND (half(o.amount) > 200 OR o.price < 5)",
    "beside a key": "o.k > 3 AND half(o.amount) > 200",
    "a chain": "tier(concat_ws('', c.segment, o.note)) = 'A' AND half(half(o.amount)) > 100",
}


@pytest.fixture(scope="module", params=["spark", "pyarrow"])
def tables(
    spark: SparkSession, tmp_path_factory: pytest.TempPathFactory, request: pytest.FixtureRequest
) -> DataFrame:
    """Views ``o`` and ``c``; both have ``k`` and ``note``."""
    folder: Path = tmp_path_factory.mktemp("names")
    orders = spark.range(600).selectExpr(
        "IF(id < 3, NULL, id % 40) AS k",
        "int(id) AS amount",
        "CASE id % 20 WHEN 0 THEN double('NaN') WHEN 1 THEN -0.0D ELSE id % 17D END AS price",
        "IF(id % 7 = 0, NULL, concat('n', id % 5)) AS note",
    )
    customers = spark.range(50).selectExpr(
        "IF(id = 4, NULL, id) AS k", "substr('ABBA', int(id % 5), 1) AS segment", "'x' AS note"
    )
    for name, table in (("orders", orders), ("customers", customers)):
        path = str(folder / name)
        if request.param == "spark":
            table.coalesce(1).write.option("parquet.block.size", 4096).parquet(path)
        else:
            import pyarrow.parquet as pq

            Path(path).mkdir()
            pq.write_table(table.toArrow(), f"{path}/part.parquet", row_group_size=64)
        spark.read.parquet(path).createOrReplaceTempView(name)
    tier: Any = F.udf(lambda s: None if s is None else s[:1], "string")
    half: Any = F.udf(lambda n: None if n is None else n // 2, "int")
    spark.udf.register("tier", tier)
    spark.udf.register("half", half)
    return spark.table("orders")


@pytest.mark.parametrize("name", QUERIES)
@pytest.mark.parametrize("how", ["JOIN", "LEFT JOIN", "FULL JOIN"])
@pytest.mark.parametrize(
    "columns", ["*", "o.k, o.amount", "c.k AS k, o.k AS other, tier(c.segment) AS t"]
)
def test_columns_of_both_sides(tables: DataFrame, name: str, how: str, columns: str) -> None:
    df = tables.sparkSession.sql(
        f"SELECT {columns} FROM orders o {how} customers c ON o.k = c.k WHERE {QUERIES[name]}"
    )
    for compile in ("never", "auto"):
        same_rows(df, optimize(df, cost="always", compile=compile))
    assert "ambiguous-name" not in str(explain(df, cost="always"))


@pytest.mark.usefixtures("tables")
def test_filters_go_below_the_functions(spark: SparkSession) -> None:
    df = spark.sql(
        "SELECT * FROM orders o JOIN customers c ON o.k = c.k WHERE half(o.amount) > 200"
    )
    assert explain(df, cost="always").boundaries[0].prefilter == "amount >= 402"


def test_a_result_with_the_name_of_another_column(tables: DataFrame) -> None:
    """Which of the two a filter reads is known, but not which one a proof would speak of."""
    half = F.udf(lambda n: None if n is None else n // 2, "int")
    named = tables.select("k", "price", half("amount").alias("price")).toDF("k", "p", "price")
    df = tables.select("k", "price", half("amount").alias("price"))
    same_rows(df, optimize(df, cost="always"))
    same_rows(named.filter("price > 100"), optimize(named.filter("price > 100"), cost="always"))


@pytest.mark.usefixtures("tables")
def test_a_condition_on_a_result_and_a_column_of_two_names(spark: SparkSession) -> None:
    df = spark.sql(
        "SELECT * FROM orders o JOIN customers c ON o.k = c.k"
        " WHERE half(o.amount) > 200 AND (half(o.amount) > 280 OR o.note = 'n1')"
    )
    (boundary,) = explain(df, cost="always").boundaries
    assert boundary.prefilter == "amount >= 402"
    assert {d.code for c in boundary.conjuncts for d in c.why} == {"ambiguous-name"}
    same_rows(df, optimize(df, cost="always"))
