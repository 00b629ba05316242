"""Columns of rarer types on a Spark session: pipelines as written and as optimized."""

# mypy: ignore-errors
# Users write such functions without thinking of stubs; their text is what is lifted.

from __future__ import annotations

import datetime as dt
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pandas as pd
import pytest
from tests.support.running import is_connect, rewritings, rewritten, safe, untouched

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession


@pytest.fixture(scope="module", autouse=True)
def functions_by_value() -> Iterator[None]:
    from pyspark import cloudpickle

    cloudpickle.register_pickle_by_value(sys.modules[__name__])
    yield
    cloudpickle.unregister_pickle_by_value(sys.modules[__name__])


def stored(spark: SparkSession, path: Path, schema: str, rows: list[tuple]) -> DataFrame:
    """The rows as a Parquet file."""
    spark.createDataFrame(rows, schema).coalesce(1).write.parquet(str(path / "t"))
    return spark.read.parquet(str(path / "t"))


def agg(df: DataFrame, function: object, returns: str, *columns: str) -> DataFrame:
    """``m``: what a pandas UDF makes of each team."""
    from pyspark.sql.functions import pandas_udf

    return df.groupBy("team").agg(pandas_udf(function, returns)(*columns).alias("m"))


# --- timestamps without time zone ---------------------------------------------------------------


def latest_after(ts: pd.Series) -> dt.datetime:
    best = dt.datetime(2020, 1, 1)
    for t in ts:
        if t > best:
            best = t
    return best


def first_and_last(pdf: pd.DataFrame) -> pd.DataFrame:
    first, last = None, None
    for row in pdf.itertuples(index=False):
        if first is None or row.ts < first:
            first = row.ts
        if last is None or row.ts > last:
            last = row.ts
    return pd.DataFrame({"team": [pdf["team"].iloc[0]], "first": [first], "last": [last]})


TIMES = [
    ("a", dt.datetime(2021, 3, 28, 2, 30)),  # an hour that clocks in Berlin skip
    ("a", dt.datetime(2021, 3, 28, 2, 30, 0, 1)),
    ("a", dt.datetime(1677, 9, 21, 0, 12, 43, 145225)),  # the ends of pandas' nanoseconds
    ("b", dt.datetime(2262, 4, 11, 23, 47, 16, 854775)),
    ("b", dt.datetime(2019, 12, 31)),
    ("c", dt.datetime(2020, 10, 25, 2, 30)),  # an hour that happens twice there
    ("c", dt.datetime(2020, 1, 1)),
    ("d", dt.datetime(2019, 1, 1)),
    (None, dt.datetime(2021, 3, 28, 2, 0)),
]


@pytest.fixture(params=["UTC", "Europe/Berlin"])
def zone(spark: SparkSession, request: pytest.FixtureRequest) -> Iterator[str]:
    before = spark.conf.get("spark.sql.session.timeZone")
    spark.conf.set("spark.sql.session.timeZone", request.param)
    yield request.param
    spark.conf.set("spark.sql.session.timeZone", before)


def test_times_without_zone(spark: SparkSession, zone: str, tmp_path: Path) -> None:
    """In any session: no zone matters to them."""
    table = stored(spark, tmp_path, "team string, ts timestamp_ntz", TIMES)
    best = agg(table, latest_after, "timestamp_ntz", "ts")
    boundary = rewritten(best.filter("m >= TIMESTAMP_NTZ '2021-03-28 02:30:00'"))
    # A moment that pandas cannot hold raises on its way to the function, which is called as before.
    assert (boundary.kind, boundary.prefilter) == (
        "partial",
        "ts >= TIMESTAMP_NTZ '2021-03-28 02:30:00'",
    )
    assert any("2021-03-28T02:30" in p for p in boundary.pushed_to_scan)
    rewritten(best.filter("m > DATE '2020-12-31'"))
    rewritten(best.filter("m = '2021-03-28 02:30:00.000001' AND team = 'a'"))
    ends = table.groupBy("team").applyInPandas(
        first_and_last, "team string, first timestamp_ntz, last timestamp_ntz"
    )
    boundary = rewritten(ends.filter("last > DATE '2021-03-28'").select("team", "last"))
    assert boundary.prefilter == "ts > TIMESTAMP_NTZ '2021-03-28 00:00:00'"
    safe(ends.filter("first < last"))


def test_instants_and_times_without_zone(spark: SparkSession, zone: str, tmp_path: Path) -> None:
    """A filter that compares the two is read where clocks are never changed."""
    table = stored(spark, tmp_path, "team string, ts timestamp_ntz", TIMES)
    df = agg(table, latest_after, "timestamp_ntz", "ts").filter(
        "m > TIMESTAMP '2021-01-01 00:00:00'"
    )
    if zone == "UTC":
        assert rewritten(df).prefilter == "ts > TIMESTAMP_NTZ '2021-01-01 00:00:00'"
    else:
        assert untouched(df).declined[-1].code == "timezone"


def test_a_null_among_times_without_zone(spark: SparkSession, tmp_path: Path) -> None:
    """It arrives as NaT, of which every comparison is false."""
    rows = [*TIMES, ("a", None), ("e", None)]
    table = stored(spark, tmp_path, "team string, ts timestamp_ntz", rows)
    best = agg(table, latest_after, "timestamp_ntz", "ts").filter("m > DATE '2021-01-01'")
    assert rewritten(best).prefilter == "ts > TIMESTAMP_NTZ '2021-01-01 00:00:00'"


def test_keys_without_zone(spark: SparkSession, zone: str, tmp_path: Path) -> None:
    table = stored(
        spark, tmp_path, "team timestamp_ntz, ts timestamp_ntz", [(t, t) for _, t in TIMES]
    )
    best = agg(table, latest_after, "timestamp_ntz", "ts")
    rewritten(best.filter("m > DATE '2021-01-01' AND team < TIMESTAMP_NTZ '2100-01-01'"))
    safe(best.filter("m > DATE '2021-01-01' OR team = m"))


# --- bytes --------------------------------------------------------------------------------------


def most_bytes(b: pd.Series) -> bytes:
    best = b""
    for x in b:
        if x is not None and x > best:
            best = x
    return best


def count_magic(b: pd.Series) -> int:
    n = 0
    for x in b:
        if x == b"\x80" or x in (b"PK", b""):
            n += 1
    return n


def widest_row(pdf: pd.DataFrame) -> pd.DataFrame:
    best, n = None, 0
    for row in pdf.itertuples(index=False):
        if row.b and row.b >= b"\x7f\xff":
            n += 1
            best = row.b if best is None else max(best, row.b)
    return pd.DataFrame({"team": [pdf["team"].iloc[0]], "best": [best], "n": [n]})


BYTES = [
    ("a", b"\x7f\xff"),
    ("a", b"\x80"),
    ("a", None),
    ("b", b""),
    ("b", b"\x7f\xff\x00"),
    ("b", b"\xff" * 70),
    ("c", b"PK"),
    ("c", b"\x00"),
    ("d", None),
    (None, b"\x80\x00"),
]


@pytest.mark.second
def test_bytes(spark: SparkSession, tmp_path: Path) -> None:
    """Compared as unsigned numbers, in Python, in Spark and in the scan."""
    table = stored(spark, tmp_path, "team string, b binary", BYTES)
    boundary = rewritten(agg(table, most_bytes, "binary", "b").filter("m >= unhex('80')"))
    assert (boundary.kind, boundary.prefilter) == ("exact", "b >= unhex('80')")
    assert any("GreaterThanOrEqual(b" in p for p in boundary.pushed_to_scan)
    rewritten(agg(table, most_bytes, "binary", "b").filter("m = 'PK'"))
    boundary = rewritten(agg(table, count_magic, "bigint", "b").filter("m >= 1"))
    assert boundary.prefilter == "b IN (unhex(''), unhex('504B'), unhex('80'))"
    wide = table.groupBy("team").applyInPandas(widest_row, "team string, best binary, n bigint")
    boundary = rewritten(wide.filter("n >= 1"))
    assert boundary.prefilter == "b >= unhex('7FFF')"
    assert {a["code"] for a in boundary.assumptions} == {"may-erase-error"}  # team may be no UTF-8
    safe(wide.filter("best < unhex('FF') OR best IS NULL"))


@pytest.mark.parametrize("literal", ["X'80'", "unhex('80')", "X''", "X'00504B'"])
def test_literals_of_bytes(spark: SparkSession, tmp_path: Path, literal: str) -> None:
    """Spark's tree does not show their bytes."""
    table = stored(spark, tmp_path, "team string, b binary", BYTES)
    df = agg(table, most_bytes, "binary", "b").filter(f"m > {literal} AND m <> X'504B'")
    assert rewritten(df).kind in ("exact", "split")


def test_keys_of_bytes(spark: SparkSession, tmp_path: Path) -> None:
    rows = [(b, n) for n, (_, b) in enumerate(BYTES * 2)]
    table = stored(spark, tmp_path, "team binary, v bigint", rows)
    rewritten(agg(table, most, "bigint", "v").filter("m > 12 AND team > 'P'"))
    safe(agg(table, most, "bigint", "v").filter("m > 12 OR team = 'PK'"))


def most(v: pd.Series) -> int:
    best = -1
    for x in v:
        if x > best:
            best = x
    return best


# --- columns that nobody reads ------------------------------------------------------------------


def top_by_attribute(pdf: pd.DataFrame) -> pd.DataFrame:
    best = None
    for row in pdf.itertuples():
        if best is None or row.v > best:
            best = row.v
    return pd.DataFrame({"team": [pdf["team"].iloc[0]], "best": [best]})


def top_by_position(pdf: pd.DataFrame) -> pd.DataFrame:
    best = None
    for row in pdf.itertuples(index=False):
        if best is None or row[1] > best:
            best = row[1]
    return pd.DataFrame({"team": [pdf["team"].iloc[0]], "best": [best]})


def top_by_zip(pdf: pd.DataFrame) -> pd.DataFrame:
    best = None
    for _team, v in zip(pdf["team"], pdf["v"], strict=True):
        if best is None or v > best:
            best = v
    return pd.DataFrame({"team": [pdf["team"].iloc[0]], "best": [best]})


def top_by_iterrows(pdf: pd.DataFrame) -> pd.DataFrame:
    best = None
    for _, row in pdf.iterrows():
        if best is None or row["v"] > best:
            best = row["v"]
    return pd.DataFrame({"team": [pdf["team"].iloc[0]], "best": [best]})


def top_by_key(key: tuple, pdf: pd.DataFrame) -> pd.DataFrame:
    best = None
    for v in pdf["v"]:
        if best is None or v > best:
            best = v
    return pd.DataFrame({"team": [key[0]], "best": [best]})


ODD = {
    "array": "array(v, 1L)",
    "map": "map(team, v)",
    "struct": "named_struct('f', v, 'g', team)",
    "decimal": "CAST(v AS decimal(30,4))",
    "float": "CAST(v AS float)",
    "interval": "make_dt_interval(0, 0, 0, v)",
    "char": "CAST(team AS varchar(9))",
    "collated": "collate(team, 'UTF8_LCASE')",
}


@pytest.fixture(scope="module")
def odd(spark: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> DataFrame:
    """Columns of types of which nothing is known, some of them NULL."""
    path = str(tmp_path_factory.mktemp("odd") / "t")
    rows = "('a', 1L), ('a', 12L), ('b', 11L), ('b', 10L), ('c', 3L), ('d', 40L)"
    names = ", ".join(f"IF(v = 40, NULL, {text}) AS {n}" for n, text in ODD.items())
    spark.sql(f"SELECT *, {names} FROM VALUES {rows} AS t(team, v)").write.parquet(path)
    return spark.read.parquet(path)


@pytest.mark.parametrize(
    "function", [top_by_attribute, top_by_position, top_by_zip, top_by_iterrows, top_by_key]
)
def test_columns_that_nobody_reads(odd: DataFrame, function: object) -> None:
    sent = odd.drop("interval") if function is top_by_iterrows else odd
    best = sent.groupBy("team").applyInPandas(function, "team string, best bigint")
    assert rewritten(best.filter("best > 10")).prefilter == "v > 10"


def test_intervals_change_what_iterrows_gives(odd: DataFrame) -> None:
    """A row of an interval and missing values becomes an array of durations."""
    best = odd.groupBy("team").applyInPandas(top_by_iterrows, "team string, best bigint")
    assert untouched(best.filter("best > 10")).declined[-1].code == "iterrows-types"


def test_columns_that_are_read(odd: DataFrame) -> None:
    def written(column: str) -> DataFrame:
        return agg(odd, most, "bigint", column).filter("m > 10")

    reason = untouched(written("array")).declined[-1].reason
    assert "array" in reason
    assert "unsupported:" not in reason
    assert "below the function" in reason


def test_a_key_that_is_read(odd: DataFrame) -> None:
    """As a column it has no one value in a group."""
    best = odd.groupBy("collated").applyInPandas(top_by_key, "team string, best bigint")
    declined = untouched(best.filter("best > 10")).declined[-1]
    assert declined.code == "key-type"
    assert "collated" in declined.reason


@pytest.mark.parametrize("key", ["decimal", "float", "char", "collated", "struct", "array"])
def test_keys_that_nobody_reads(odd: DataFrame, key: str) -> None:
    returns = "team string, best bigint"
    for function in (top_by_attribute, top_by_key):
        best = odd.groupBy("team", key).applyInPandas(function, returns).filter("best > 10")
        assert rewritten(best).prefilter == "v > 10"


# --- what messages advise -----------------------------------------------------------------------


def test_fields_of_a_struct_as_columns(odd: DataFrame) -> None:
    """Spark pushes the pre-filter into the struct, and on to the scan."""
    declined = untouched(agg(odd, most, "bigint", "struct").filter("m > 10")).declined[-1]
    assert "select the fields" in declined.reason
    flat = odd.selectExpr("team", "struct.f AS f")
    df = agg(flat, most, "bigint", "f").filter("m > 10")
    for boundary, assumed in zip(rewritings(df), ([], ["no-null"]), strict=True):
        assert boundary.prefilter == "f > 10"
        assert [a["code"] for a in boundary.assumptions] == assumed
    assert any("struct.f" in p for p in boundary.pushed_to_scan)


def test_timestamps_where_clocks_are_changed(
    spark: SparkSession, zone: str, tmp_path: Path
) -> None:
    """As times without zone they are to Python what they were, and the proof may speak of them."""
    rows = [(team, t.replace(tzinfo=dt.UTC)) for team, t in TIMES if 1700 < t.year < 2200]
    table = stored(spark, tmp_path, "team string, ts timestamp", rows)
    df = agg(table, latest_after, "timestamp", "ts").filter("m > TIMESTAMP '2020-10-25 01:00:00Z'")
    if zone == "UTC":
        rewritten(df)
        return
    of_function, *of_filter = untouched(df).declined
    codes = [] if is_connect(df) else ["timezone"]  # a server tells no types of what it is sent
    assert (of_function.code, [d.code for d in of_filter]) == ("timestamp-zone", codes)
    assert "cast it to timestamp_ntz" in of_function.reason
    local = table.selectExpr("team", "CAST(ts AS TIMESTAMP_NTZ) AS ts")
    best = agg(local, latest_after, "timestamp_ntz", "ts")
    boundary = rewritten(best.filter("m >= TIMESTAMP_NTZ '2020-10-25 02:30:00'"))
    assert boundary.prefilter == "ts >= TIMESTAMP_NTZ '2020-10-25 02:30:00'"
