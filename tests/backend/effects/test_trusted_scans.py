"""Scans that are not known to do what a filter says are given no filters of ours."""

from __future__ import annotations

import importlib
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pandas as pd
import pytest
from tests.support.running import (
    handing_filters,
    is_connect,
    plan_text,
    safe,
    same_rows,
    settled,
    untouched,
)

from presieve.driver.optimize import explain, optimize
from presieve.driver.solve import Policy
from presieve.report.report_data import BoundaryReport

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession


def count_abc(k: pd.Series) -> int:
    n = 0
    for s in k:
        if s == "abc":
            n += 1
    return n


def largest(v: pd.Series) -> float:
    best = -1.0
    for x in v:
        if x > best:
            best = x
    return best


def abc_rows(pdf: pd.DataFrame) -> pd.DataFrame:
    n = 0
    for s in pdf["k"]:
        if s == "abc":
            n += 1
    return pd.DataFrame({"g": [pdf["g"].iloc[0]], "m": [n]})


def double_large(batches: Iterator[pd.DataFrame]) -> Iterator[pd.DataFrame]:
    for pdf in batches:
        yield pdf.assign(w=pdf["v"] * 2)[["g", "k", "w"]]


def is_abc(k: str | None) -> bool:
    return k == "abc"


@pytest.fixture
def sly(spark: SparkSession) -> Iterator[DataFrame]:
    from pyspark import cloudpickle
    from tests.backend.effects import source_of_false_claims

    cloudpickle.register_pickle_by_value(source_of_false_claims)  # type: ignore[no-untyped-call]
    with handing_filters(spark):
        source_of_false_claims.register(spark)
        yield spark.read.format("sly").load()
    cloudpickle.unregister_pickle_by_value(source_of_false_claims)  # type: ignore[no-untyped-call]


def functions() -> Any:
    return importlib.import_module("pyspark.sql.functions")


def counted(df: DataFrame) -> DataFrame:
    udf = functions().pandas_udf(count_abc, "bigint")
    return df.groupBy("g").agg(udf("k").alias("m"))


def aside(df: DataFrame, policy: Policy = "default") -> BoundaryReport:
    """The pipeline is rewritten, its rows are the same, and the source gets no filter of ours."""
    better = optimize(df, cost="always", policy=policy)
    assert better is not df, explain(df, cost="always", policy=policy)
    same_rows(df, better)
    assert "array_contains(array(" in plan_text(better)
    settled(better, cost="always", policy=policy)
    (boundary,) = explain(df, cost="always", policy=policy).boundaries
    assert boundary.kind == "partial"
    return boundary


def claimed(df: DataFrame) -> bool:
    """Whether the source gets a filter under the policy that assumes it to do what it claims."""
    boundary = explain(df, cost="always", policy="assume").boundaries[0]
    text = plan_text(optimize(df, cost="always", policy="assume"))
    listed = "source-claims" in {a["code"] for a in boundary.assumptions}
    assert listed != ("array_contains(array(" in text)
    return listed


def test_claims_are_assumed_under_one_policy_alone(sly: DataFrame) -> None:
    df = counted(sly).filter("m >= 1")
    assert "array_contains(array(" in plan_text(optimize(df, cost="always"))
    assert claimed(df)
    assert not any(
        a["code"] == "source-claims"
        for policy in ("default", "strict")
        for b in explain(df, cost="always", policy=policy).boundaries
        for a in b.assumptions
    )


def test_it_lies(sly: DataFrame) -> None:
    assert {r.k for r in sly.filter("k = 'abc'").collect()} == {"abc", "ABC", "Abc", "aBC"}


@pytest.mark.second
def test_a_grouped_aggregate(sly: DataFrame) -> None:
    boundary = aside(counted(sly).filter("m >= 1"))
    assert boundary.prefilter == "k = 'abc'"


@pytest.mark.second
def test_tables_of_groups(sly: DataFrame) -> None:
    df = sly.groupBy("g").applyInPandas(abc_rows, "g bigint, m bigint").filter("m > 1")
    untouched(df)  # it may give other rows when it is read again
    assert claimed(df)


def test_rows_of_tables(sly: DataFrame) -> None:
    df = sly.mapInPandas(double_large, "g bigint, k string, w double")
    aside(df.filter("k = 'abc'"))


@pytest.mark.parametrize("arrow", [False, True])
def test_a_scalar_function(sly: DataFrame, arrow: bool) -> None:
    call = functions().udf(is_abc, "boolean", useArrow=arrow)
    aside(sly.withColumn("r", call("k")).filter("r"))


def test_an_aggregate_of_sparks_own(sly: DataFrame) -> None:
    df = sly.groupBy("g").agg(functions().max("v").alias("m")).filter("m > 8")
    if is_connect(df):  # from here it is not seen whether the source computes aggregates itself
        assert optimize(df, cost="always") is df
    else:
        aside(df)


def test_below_what_passes_rows_on(sly: DataFrame) -> None:
    below = sly.filter("v IS NULL OR v < 100").selectExpr("g + 0 AS g", "k").repartition(2)
    aside(counted(below.alias("t").filter("g > 0")).filter("m >= 1"))


def test_below_a_union(sly: DataFrame, spark: SparkSession) -> None:
    other = spark.createDataFrame([(1, "abc", 1.0), (7, "abc", 1.0)], sly.schema)
    aside(counted(sly.unionByName(other)).filter("m >= 1"))


def test_filters_of_the_user_still_reach_it(sly: DataFrame) -> None:
    """What the source made of them it makes of them again."""
    safe(counted(sly.filter("k = 'abc'")).filter("m >= 1"))
    aside(counted(sly.filter("v > 4")).filter("m >= 1"))
    df = sly.groupBy("k").agg(functions().pandas_udf(largest, "double")("v").alias("m"))
    safe(df.filter("k = 'abc' AND m > 6"))


def test_filters_that_a_source_claims_show_nothing(sly: DataFrame) -> None:
    """It drops what is not above 5 and one more; it need not drop NULL."""

    def high(v: pd.Series) -> int:
        n = 0
        for x in v:
            if not x <= 5:
                n += 1
        return n

    udf = functions().pandas_udf(high, "bigint")
    df = sly.filter("v > 0").groupBy("g").agg(udf("v").alias("m")).filter("m >= 1")
    (boundary,) = explain(df, cost="always").boundaries
    assert not boundary.discharged


@pytest.mark.parametrize("how", ["inner", "left", "right", "leftsemi"])
def test_a_join_may_hand_it_more(sly: DataFrame, spark: SparkSession, how: str) -> None:
    other = spark.createDataFrame([(1, 3.0), (2, 4.0)], "g bigint, w double")
    df = counted(sly.join(other, "g", how)).filter("m >= 1")
    assert optimize(df, cost="always") is df
    (boundary,) = explain(df, cost="always").boundaries
    assert [d.code for d in boundary.declined] == ["source"]


def test_a_definition_of_both(sly: DataFrame, spark: SparkSession) -> None:
    sly.createOrReplaceTempView("sly_rows")
    spark.udf.register("count_abc", functions().pandas_udf(count_abc, "bigint"))
    text = "WITH t AS (SELECT * FROM sly_rows WHERE v IS NULL OR v < 30 OR rand() < 2) SELECT * "
    text += "FROM (SELECT g, count_abc(k) AS m FROM t GROUP BY g) WHERE m >= 1 UNION ALL "
    safe(spark.sql(text + "SELECT g, 0L FROM t WHERE k = 'x'"))


def test_files_are_given_their_filters(spark: SparkSession, tmp_path: Path) -> None:
    for number, kind in enumerate(("parquet", "orc", "json", "csv")):
        path = str(tmp_path / str(number))
        rows = [(1, "abc", 5.0), (1, "ABC", 7.0), (2, "x", 1.0)]
        spark.createDataFrame(rows, "g bigint, k string, v double").write.format(kind).save(path)
        table = spark.read.schema("g bigint, k string, v double").format(kind).load(path)
        better = safe(counted(table).filter("m >= 1"))
        assert "array_contains" not in plan_text(better)
        assert "EqualTo(k,abc)" in plan_text(better)


@pytest.mark.second
@pytest.mark.classic("where files are read is a matter of the server")
def test_files_of_the_other_readers(spark: SparkSession, tmp_path: Path) -> None:
    before = spark.conf.get("spark.sql.sources.useV1SourceList")
    try:
        spark.conf.set("spark.sql.sources.useV1SourceList", "")
        test_files_are_given_their_filters(spark, tmp_path)
    finally:
        spark.conf.set("spark.sql.sources.useV1SourceList", str(before))


@pytest.mark.parametrize("partitioned", [False, True])
def test_tables_of_the_catalog(spark: SparkSession, partitioned: bool) -> None:
    by = "PARTITIONED BY (g)" if partitioned else ""
    spark.sql(f"CREATE TABLE sources_t (k STRING, v DOUBLE, g BIGINT) USING parquet {by}")
    try:
        spark.sql("INSERT INTO sources_t VALUES ('abc', 1, 1), ('ABC', 2, 2)")
        better = safe(counted(spark.table("sources_t")).filter("m >= 1"))
        assert "EqualTo(k,abc)" in plan_text(better)
    finally:
        spark.sql("DROP TABLE sources_t")


@pytest.mark.parametrize("type_", ["tinyint", "smallint"])
@pytest.mark.parametrize("computed", ["c", "CAST(c AS BIGINT)", "c + 0L"])
def test_numbers_that_files_hold_and_columns_do_not(
    spark: SparkSession, tmp_path: Path, type_: str, computed: str
) -> None:
    """Of a 32-bit integer Spark takes the last 8 or 16; what the file says of it is about all."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    def high(c: pd.Series) -> int:
        n = 0
        for x in c:
            if x > 40 and x < 50:
                n += 1
        return n

    rows = {"g": pa.array([1, 1, 2], pa.int64()), "c": pa.array([65536 + 44] * 3, pa.int32())}
    pq.write_table(pa.table(rows), tmp_path / "t.parquet")
    table = spark.read.schema(f"g bigint, c {type_}").parquet(str(tmp_path))
    assert table.filter("c = 44").count() == 0  # though it is
    table = table.selectExpr("g", f"{computed} AS c")
    udf = functions().pandas_udf(high, "bigint")
    df = table.groupBy("g").agg(udf("c").alias("m")).filter("m >= 1")
    better = optimize(df, cost="always", declare="c IS NOT NULL")
    assert better is not df
    same_rows(df, better)
    assert better.count() == 2


@pytest.mark.classic("a server need not have this driver")
def test_a_table_of_another_database(spark: SparkSession) -> None:
    """What a database means by = is its own matter."""
    url = "jdbc:derby:memory:presieve;create=true"
    rows = [(1, "abc", 5.0), (1, "ABC", 7.0), (2, "x", 1.0)]
    made = spark.createDataFrame(rows, "g bigint, k string, v double")
    made.write.jdbc(url, "t", mode="overwrite")
    table = spark.read.jdbc(url, "t").toDF("g", "k", "v")
    df = counted(table).filter("m >= 1")
    better = safe(df)
    assert better is not df
    assert "array_contains(array(" in plan_text(better)
    assert "EqualTo" not in plan_text(better)
