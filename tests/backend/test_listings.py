"""What footers said is true of the files that were listed then: with it no other files are read."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

import pandas as pd
import pytest

import presieve

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

pytestmark = [
    pytest.mark.spark,
    pytest.mark.classic("a server lists files whenever it resolves a name"),
]

SCHEMA = "k string, v long, x double"
ROWS = [("a", 1, 1.0), ("a", 95, 3.0), ("b", 20, -1.0)]
MORE = [("c", None, 0.0), ("c", 7, 1.0), ("d", 3, float("nan")), ("d", 4, 5.0), ("a", 2**62, 0.0)]


def _not_low(pdf):  # type: ignore[no-untyped-def]
    n = 0
    for r in pdf.itertuples():
        if not (r.v <= 90):
            n += 1
    return pd.DataFrame({"k": [pdf.k.iloc[0]], "n": [n]})


def _best(pdf: pd.DataFrame) -> pd.DataFrame:
    best = None
    for x in pdf.x:
        if best is None or x > best:
            best = x
    return pd.DataFrame({"k": [pdf.k.iloc[0]], "m": [best]})


def _total(pdf: pd.DataFrame) -> pd.DataFrame:
    return pd.DataFrame({"k": [pdf.k.iloc[0]], "t": [int(pdf.v.sum())]})


FUNCTIONS = [
    (_not_low, "k string, n long", "n > 0"),
    (_not_low, "k string, n long", "true"),
    (_best, "k string, m double", "m > 2"),
    (_total, "k string, t long", "t > 90"),
]


def _insert(spark: SparkSession, view: str, path: str) -> None:
    spark.createDataFrame(MORE, SCHEMA).coalesce(1).write.insertInto(view)


def _insert_sql(spark: SparkSession, view: str, path: str) -> None:
    spark.sql(f"INSERT INTO {view} VALUES ('c', NULL, 0.0D), ('d', 3, double('nan')), ('d', 4, 5D)")


def _refresh(spark: SparkSession, view: str, path: str) -> None:
    spark.createDataFrame(MORE, SCHEMA).coalesce(1).write.mode("append").parquet(path)
    spark.sql(f"REFRESH TABLE {view}")


def _refresh_by_catalog(spark: SparkSession, view: str, path: str) -> None:
    spark.createDataFrame(MORE, SCHEMA).coalesce(1).write.mode("overwrite").parquet(path)
    spark.catalog.refreshTable(view)


CHANGES = [_insert, _insert_sql, _refresh, _refresh_by_catalog]


def _texts(df: DataFrame) -> list[str]:
    return sorted(map(repr, df.collect()))


def _written(spark: SparkSession, folder: Path) -> tuple[str, DataFrame]:
    path = str(folder / "landing")
    spark.createDataFrame(ROWS, SCHEMA).coalesce(1).write.parquet(path)
    return path, spark.read.parquet(path)


def _grouped(rows: DataFrame, number: int) -> DataFrame:
    function, schema, where = FUNCTIONS[number]
    return rows.groupBy("k").applyInPandas(function, schema).filter(where)


@pytest.mark.parametrize("number", range(len(FUNCTIONS)))
@pytest.mark.parametrize("change", CHANGES)
def test_files_of_a_view_are_those_of_the_run(
    spark: SparkSession,
    tmp_path: Path,
    change: Callable[[SparkSession, str, str], None],
    number: int,
) -> None:
    path, rows = _written(spark, tmp_path)
    rows.createOrReplaceTempView("landing")
    df = _grouped(spark.table("landing"), number)
    better = presieve.optimize(df, cost="always", compile="always")
    change(spark, "landing", path)
    assert _texts(better) == _texts(df)


def test_files_of_a_global_view(spark: SparkSession, tmp_path: Path) -> None:
    path, rows = _written(spark, tmp_path)
    rows.createOrReplaceGlobalTempView("landing")
    df = _grouped(spark.sql("SELECT * FROM global_temp.landing WHERE k <> 'b'"), 0)
    better = presieve.optimize(df, cost="always", compile="always")
    _refresh(spark, "global_temp.landing", path)
    assert _texts(better) == _texts(df)


def test_a_view_of_the_result(spark: SparkSession, tmp_path: Path) -> None:
    path, rows = _written(spark, tmp_path)
    _grouped(rows, 1).createOrReplaceTempView("counted")
    df = spark.table("counted").filter("n > 0")
    better = presieve.optimize(df, cost="always", compile="always")
    spark.createDataFrame(MORE, SCHEMA).coalesce(1).write.mode("append").parquet(path)
    spark.sql("REFRESH TABLE counted")
    assert _texts(better) == _texts(df)


@pytest.mark.parametrize("number", range(len(FUNCTIONS)))
@pytest.mark.parametrize("change", CHANGES[:3])
def test_a_view_that_is_made_later(
    spark: SparkSession,
    tmp_path: Path,
    change: Callable[[SparkSession, str, str], None],
    number: int,
) -> None:
    """The optimized DataFrame keeps reading the files that were looked at, or reads all."""
    path, rows = _written(spark, tmp_path)
    df = _grouped(rows, number)
    before = _texts(df)
    better = presieve.optimize(df, cost="always", compile="always")
    rows.createOrReplaceTempView("landing_later")
    change(spark, "landing_later", path)
    after = _texts(_grouped(rows, number))
    assert _texts(better) in (before, after)
    assert _texts(better.filter("k <> 'z'")) in (before, after)


def test_footers_are_used_of_files_that_are_listed_once(
    spark: SparkSession, tmp_path: Path
) -> None:
    _, rows = _written(spark, tmp_path)
    df = _grouped(rows, 0)
    better = presieve.optimize(df, cost="always")
    assert better is not df
    assert presieve.optimize(better, cost="always") is better
    assert presieve.explain(df, cost="always").boundaries[0].discharged
