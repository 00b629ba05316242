"""Filters on the results of functions of tables: mapInPandas, mapInArrow and their like."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from tests.backend.catalyst import table_udfs
from tests.support.games.tables import SCHEMA, Tables
from tests.support.pickling import pickled_by_value
from tests.support.running import (
    by_footers,
    is_connect,
    rewritings,
    rewritten,
    safe,
    same_rows,
    untouched,
)

from presieve.driver.optimize import explain, optimize

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

BATCH = "spark.sql.execution.arrow.maxRecordsPerBatch"


by_value_too = pickled_by_value(table_udfs)


@pytest.mark.parametrize(
    ("name", "schema", "where", "scan"),
    [
        ("same", SCHEMA, "score > 90", "GreaterThan(score,90.0)"),
        ("same", SCHEMA, "level IS NULL", "IsNull(level)"),
        ("same", SCHEMA, "team = 'a' AND v < 10", "EqualTo(team,a)"),
        ("doubled", f"{SCHEMA}, w double", "w IS NULL", ""),
        ("doubled", f"{SCHEMA}, w double", "level = 'info'", "EqualTo(level,info)"),
        ("errors_only", f"{SCHEMA}, high boolean", "high", "EqualTo(level,error)"),
        ("renamed_level", SCHEMA, "level = 'error' AND v > 3", "GreaterThan(v,3)"),
    ],
)
def test_map_in_pandas(tables: Tables, name: str, schema: str, where: str, scan: str) -> None:
    df = tables.strange.mapInPandas(getattr(table_udfs, name), schema).filter(where)
    boundary = rewritten(df)
    assert boundary.operator == "MapInPandas"
    assert boundary.kind == "exact", boundary
    assert not scan or any(scan in p for p in boundary.pushed_to_scan), boundary


def test_however_rows_are_cut_into_batches(tables: Tables) -> None:
    df = tables.strange.mapInPandas(table_udfs.errors_only, f"{SCHEMA}, high boolean")
    df = df.filter("NOT high OR v < 4")
    spark = df.sparkSession
    spark.conf.set(BATCH, "2")
    try:
        better = optimize(df)
        assert better is not df
        same_rows(df, better)
    finally:
        spark.conf.unset(BATCH)


def test_integers_beside_null_are_assumed_to_be_exact(tables: Tables) -> None:
    """Whether 2^53 + 1 comes back hangs on whether a NULL is in the batch, unless a text is."""

    def assumed(df: DataFrame) -> bool:
        (boundary,) = explain(df.filter("score > 90"), policy="assume").boundaries
        return "exact-int" in [a["code"] for a in boundary.assumptions]

    numbers = tables.strange.selectExpr("score", "nullif(v, 3) AS v")
    same = numbers.mapInPandas(table_udfs.same, numbers.schema)
    assert assumed(same)
    without_null = tables.strange.select("score", "v")
    without_null = without_null.mapInPandas(table_udfs.same, numbers.schema)
    assert assumed(without_null) == is_connect(without_null)  # the files of a server are not read
    assert not assumed(same.select("score"))
    assert not assumed(tables.strange.mapInPandas(table_udfs.same, SCHEMA))


def test_map_in_arrow(tables: Tables) -> None:
    """NaN stays NaN, and integers are what they are."""
    df = tables.strange.mapInArrow(table_udfs.arrow_filter, SCHEMA).filter("score > 90")
    boundary = rewritten(df)
    assert boundary.operator == "MapInArrow"
    assert boundary.kind == "exact"
    assert any("GreaterThan(v,1)" in p for p in boundary.pushed_to_scan)
    assert "exact-int" not in [a["code"] for a in boundary.assumptions]


AT = "CASE WHEN v <> 4 THEN timestamp_seconds(1704067200 + pmod(v, 10) * 86400) END AS at"


@pytest.mark.parametrize("where", ["team = 'a'", "at > TIMESTAMP '2024-01-05 00:00:00'"])
def test_times_in_arrow_batches_are_passed_on(tables: Tables, where: str) -> None:
    table = tables.strange.selectExpr("team", AT, "score")
    df = table.mapInArrow(table_udfs.arrow_times, "team string, at timestamp, score double")
    assert "score > 2.0D" in rewritten(df.filter(where)).prefilter
    same_rows(df.filter(where), optimize(df.filter(where)))
    later = table.mapInArrow(table_udfs.arrow_later_times, table.schema).filter(where)
    assert untouched(later).declined


def test_a_table_without_rows_may_be_an_error(tables: Tables) -> None:
    """The pre-filter may leave a batch of rows that the function leaves out."""
    spark = tables.plain.sparkSession
    table = spark.createDataFrame([("b", 1.0), ("A", 20.0)], "team string, score double")
    df = table.coalesce(1).mapInPandas(table_udfs.lists_of_some, "team string, score double")
    df = df.filter("score > 10")
    assert df.collect() == []
    assert optimize(df, cost="always").collect() == []


def test_columns_of_arrow_tables(tables: Tables) -> None:
    schema = "team string, v bigint, product double"
    df = tables.strange.mapInArrow(table_udfs.arrow_columns, schema)
    boundary = rewritten(df.filter("product > 90 AND team = 'a'"))
    assert (boundary.kind, boundary.residual) == ("split", "product > 90.0D")
    assert boundary.prefilter.startswith("(score * CAST(v AS DOUBLE) > 90.0D OR isnan(score))")
    assert any("EqualTo(team,a)" in p for p in boundary.pushed_to_scan)
    schema = "team string, less double, kind string"
    df = tables.strange.mapInArrow(table_udfs.arrow_arrays, schema)
    boundary = rewritten(df.filter("less < 8 AND kind = 'info'"))
    assert boundary.kind == "exact"
    assert "EqualTo(level,info)" in boundary.pushed_to_scan


def test_rows_of_groups(tables: Tables) -> None:
    df = tables.strange.groupBy("team").applyInPandas(table_udfs.high_rows, SCHEMA)
    by_default, boundary = rewritings(df.filter("level = 'info'"))
    assert (by_default.kind, boundary.kind) == (by_footers(df, "exact"), "exact")
    assert any("EqualTo(level,info)" in p for p in boundary.pushed_to_scan)


def test_rows_of_groups_in_batches(tables: Tables) -> None:
    def written(table: DataFrame) -> DataFrame:
        groups = table.groupBy("v")
        high = groups.applyInPandas(table_udfs.high_rows_in_batches, table.schema)
        return high.filter("score > 90")

    numbers = written(tables.strange.select("score", "v"))
    safe(numbers)
    assert rewritten(numbers, policy="assume").kind == "exact"
    assert rewritten(written(tables.strange)).kind == "exact"
    # Beside a text, integers with NULL are of another type.
    safe(written(tables.strange.selectExpr("team", "score", "nullif(v, 3) AS v", "level")))


def test_rows_of_arrow_groups(tables: Tables) -> None:
    df = tables.strange.groupBy("team").applyInArrow(table_udfs.arrow_rows, SCHEMA)
    boundary = rewritten(df.filter("score > 90 AND team IS NOT NULL"))
    assert boundary.kind == "exact"
    assert any("GreaterThan(v,1)" in p for p in boundary.pushed_to_scan)


def test_apply_in_arrow(tables: Tables) -> None:
    df = tables.strange.groupBy("team").applyInArrow(table_udfs.best, "best double, rows bigint")
    boundary = rewritten(df.filter("best > 90").select("best"))
    assert boundary.operator == "FlatMapGroupsInArrow"
    assert boundary.prefilter == "score > 90.0D"
    keyed = tables.plain.filter("team IS NOT NULL").groupBy("team")
    df = keyed.applyInArrow(table_udfs.best_of_key, "team string, best double")
    assert rewritten(df.filter("best > 90 AND team <> 'b'")).kind == "exact"


@pytest.mark.parametrize(
    ("name", "kind", "code"),
    [
        ("above_mean", "map", "two-passes"),
        ("less_mean", "apply", ""),
        ("two_rows", "arrow", "row-count"),
    ],
)
def test_declined(tables: Tables, name: str, kind: str, code: str) -> None:
    function = getattr(table_udfs, name)
    groups = tables.plain.groupBy("team")
    if kind == "map":
        df = tables.plain.mapInPandas(function, SCHEMA).filter("v > 1")
    elif kind == "apply":
        df = groups.applyInPandas(function, SCHEMA).filter("v > 1")
    else:
        df = groups.applyInArrow(function, "best double, rows bigint").filter("rows > 1")
    (why,) = untouched(df).declined
    assert why.code == code or not code, why
    assert why.reason
    assert why.span is not None


def test_a_mean_over_fewer_rows_differs(tables: Tables) -> None:
    """What would happen to a function that looks at the whole table."""

    def run(df: object) -> object:
        made = df.coalesce(1).mapInPandas(table_udfs.above_mean, SCHEMA)  # type: ignore[attr-defined]
        return sorted(r["v"] for r in made.filter("level = 'error'").collect())

    assert run(tables.plain) != run(tables.plain.filter("level = 'error'"))
