"""Assumptions that the plan or the files discharge, so that strict may push."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from tests.support.games.pipelines import agg
from tests.support.games.tables import Tables, without_footers
from tests.support.running import rewritten, same_rows

from presieve.driver.optimize import explain, optimize
from presieve.driver.session import enabled

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession


def codes(df: DataFrame) -> set[str]:
    """What a proof rests on and neither plan nor files show."""
    rewritten(df)
    (boundary,) = explain(df, cost="always", policy="assume").boundaries
    return {a["code"] for a in boundary.assumptions}


@pytest.mark.classic("files of a server are not read")
def test_parquet_footers(tables: Tables) -> None:
    df = agg(tables.plain, "count_high", "bigint", "v").filter("m >= 1")
    boundary = rewritten(df)
    assert "no-null" not in {a["code"] for a in boundary.assumptions}
    assert [(d["code"], d["by"]) for d in boundary.discharged] == [("no-null", "Parquet footers")]
    same_rows(df, optimize(df, policy="strict"))
    assert optimize(df, policy="strict") is not df


def test_footers_that_count_a_null(spark: SparkSession, tables: Tables, tmp_path: Path) -> None:
    rows = "('a', 20L), ('a', NULL), ('b', 3L)"
    spark.sql(f"SELECT * FROM VALUES {rows} AS t(team, v)").write.parquet(str(tmp_path / "t"))
    df = agg(spark.read.parquet(str(tmp_path / "t")), "count_high", "bigint", "v")
    assert "no-null" in codes(df.filter("m >= 1"))
    strict = df.filter("m >= 1")
    assert optimize(strict, policy="strict") is strict


@pytest.mark.classic("files of a server are not read")
@pytest.mark.parametrize(
    ("below", "enough"),
    [
        ("v IS NOT NULL", True),
        ("v > 0 AND team <> 'x'", True),
        ("0 < v", True),
        ("v <=> 20", True),
        ("v > 0 OR team = 'a'", False),
        ("NOT (v > 0)", True),
        ("team IS NOT NULL", False),
        ("v + 1 > 0", False),
    ],
)
def test_filters_below(
    spark: SparkSession, tables: Tables, tmp_path: Path, below: str, enough: bool
) -> None:
    table = without_footers(spark, tmp_path / "t", "('a', 20L), ('b', 3L), (NULL, 15L)")
    named = table.filter(below).selectExpr("team", "v AS w").filter("team <> 'y'")
    df = agg(named.selectExpr("w AS v", "team"), "count_high", "bigint", "v").filter("m >= 1")
    assert ("no-null" not in codes(df)) == enough


def test_a_declared_fact(
    spark: SparkSession, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    data = without_footers(spark, tmp_path / "t", "('a', 20L), ('a', 30L), ('b', 3L)")
    df = agg(data, "count_high", "bigint", "v").filter("m >= 1")
    assert optimize(df, policy="strict") is df
    assert optimize(df, policy="strict", declare="somewhere_else IS NOT NULL") is df
    unmet = "declare 'somewhere_else IS NOT NULL' applies to no filter here: there is no column"
    assert unmet in caplog.text
    caplog.clear()
    fast = optimize(df, policy="strict", declare=["somewhere_else > 1", "v IS NOT NULL"])
    assert fast is not df
    assert "declare 'somewhere_else > 1'" in caplog.text
    assert "declare 'v" not in caplog.text
    same_rows(df, fast)


@pytest.mark.classic("files of a server are not read")
def test_footers_that_bound_integers(spark: SparkSession, by_value: None, tmp_path: Path) -> None:
    """Beside a NULL pandas makes doubles of integers, which is exact for small ones."""
    for name, largest in (("small", 2**53 - 1), ("large", 2**53)):
        rows = f"('a', {largest}L), ('a', NULL), ('b', -3L)"
        path = str(tmp_path / name)
        spark.sql(f"SELECT * FROM VALUES {rows} AS t(team, v)").write.parquet(path)
        df = agg(spark.read.parquet(path), "largest", "bigint", "v").filter("m > 7")
        boundary = rewritten(df)
        by = {d["code"]: d["by"] for d in boundary.discharged}
        assert by["exact-int"] == ("Parquet footers" if name == "small" else "the guarded plan")


@pytest.mark.classic("files of a server are not read")
def test_footers_of_a_table_are_facts_of_now(spark: SparkSession, by_value: None) -> None:
    """The listing of a table is made again whenever something is written to it: as soon as the plan
    is not executed at once, its footers discharge nothing.
    """
    rows = "('a', 20L), ('a', 3L), ('b', 3L)"
    spark.sql("DROP TABLE IF EXISTS facts_of_now")
    spark.sql(f"CREATE TABLE facts_of_now USING parquet AS SELECT * FROM VALUES {rows} t(team, v)")
    try:
        df = agg(spark.table("facts_of_now"), "count_high", "bigint", "v").filter("m >= 1")
        assert optimize(df, policy="strict") is df
        fast = optimize(df, cost="always")
        same_rows(df, fast)
        spark.sql("INSERT INTO facts_of_now VALUES ('b', NULL), ('b', 30L), ('c', NULL)")
        same_rows(df.select("*"), fast.select("*"))
        with enabled(spark, policy="strict", cost="always"):
            changed = df.select("*")
            assert (
                changed.collect()
                == agg(spark.table("facts_of_now"), "count_high", "bigint", "v")
                .filter("m >= 1")
                .collect()
            )
    finally:
        spark.sql("DROP TABLE facts_of_now")
