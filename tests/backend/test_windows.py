"""Filters below windows and ORDER BY ... LIMIT, on Spark."""

from __future__ import annotations

import datetime as dt
import math
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, TypeAlias

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from pyspark.sql import functions as F
from tests.support.running import counted, named, plan_text, same_rows

from presieve.backend.classic.gateway import ClassicGateway
from presieve.driver.optimize import explain, optimize
from presieve.driver.options import Cost

if TYPE_CHECKING:
    from pathlib import Path

    from pyspark.sql import DataFrame, SparkSession

pytestmark = [
    pytest.mark.spark,
    pytest.mark.classic("what functions of windows read is known of plans of a classic session"),
]

SCHEMA = "k int, o int, d date, v double, s string, t timestamp, n bigint"


@pytest.fixture(scope="module")
def rows(spark: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> DataFrame:
    """NULL, NaN, zeros of both signs, infinities, extremes, empty texts, duplicates."""
    doubles = [None, math.nan, -0.0, 0.0, 1.0, 2.5, math.inf, -math.inf, 5e-324]
    texts = [None, "", "a", "ab", "é", "z"]
    start, noon = dt.date(2024, 1, 1), dt.datetime(2024, 3, 30, 12, tzinfo=dt.UTC)
    data = [
        (
            None if i % 11 == 0 else i % 3,
            None if i % 13 == 0 else i * 7 % 40,
            None if i % 7 == 0 else start + dt.timedelta(days=i * 5 % 30),
            doubles[i % len(doubles)],
            texts[i % len(texts)],
            None if i % 17 == 0 else noon + dt.timedelta(hours=i),
            i * 3 % 50,
        )
        for i in range(150)
    ]
    ends = [(1, x, None, None, None, None, 7) for x in (-(2**31), 2**31 - 1)]
    table = spark.createDataFrame([*data, *data[:20], *ends], SCHEMA)
    path = tmp_path_factory.mktemp("windows") / "rows"
    table.write.parquet(str(path))
    return spark.read.parquet(str(path))


Build: TypeAlias = Callable[["DataFrame"], "DataFrame"]


def over(function: str, order: str, where: str) -> Build:
    """The table with a function over a window by k, filtered."""
    return lambda df: windowed(df, function, order).filter(where)


def windowed(df: DataFrame, function: str, order: str, partition: str = "k") -> DataFrame:
    """The table with a function over a window as the column w."""
    return df.selectExpr("*", f"{function} OVER (PARTITION BY {partition} ORDER BY {order}) AS w")


NUMBER, RANK = "row_number()", "rank()"
LAST = "n NULLS LAST"
BETWEEN = "n BETWEEN 20 AND 24"
ROWS, RANGE = "ROWS BETWEEN", "RANGE BETWEEN"
HERE = "AND CURRENT ROW"
AND_TWO = "AND 2 FOLLOWING"
DAY = "d <= DATE'2024-01-09'"
LATE_DAY = "d >= DATE'2024-01-20'"
LATE, EARLY = (f"t {op} TIMESTAMP'2024-04-01 12:00:00.5'" for op in (">=", "<="))
LOW, HIGH = "n < -9223372036854775803L", "n > 9223372036854775802L"  # bounds may wrap around

MOVED = {
    "a row number": (NUMBER, "d", f"{DAY} AND w = 1", "d <= DATE '2024-01-09' OR d IS NULL"),
    "NULL first": (NUMBER, "n", "n < 20", "n < 20 OR n IS NULL"),
    "NULL last": (RANK, LAST, "n < 9", "n < 9"),
    "descending": (RANK, "v DESC", "v > 1 AND w <= 2", "v > 1.0D"),
    "equal to": (RANK, LAST, "n = 12", "n <= 12"),
    "one of": (RANK, LAST, "n IN (3, 12)", "n <= 12"),
    "texts": ("dense_rank()", "s DESC", "s >= 'b'", "s >= 'b'"),
    "two keys": (RANK, "n, v", "n < 9", "n < 9 OR n IS NULL"),
    "before": ("lag(v, 2)", LAST, "n < 20", "n < 20"),
    "after": ("lead(v)", "n", "n >= 20", "n >= 20"),
    "a running sum": ("sum(v)", LAST, "n < 20", "n < 20"),
    "a running list": ("collect_list(s)", LAST, "n < 20", "n < 20"),
    "rows before": ("max(v)", f"{LAST} {ROWS} 3 PRECEDING {HERE}", "n < 20", "n < 20"),
    "rows after": ("first(v)", f"n {ROWS} CURRENT ROW {AND_TWO}", "n > 20", "n > 20"),
    "from here": ("count(v)", f"n {RANGE} CURRENT ROW AND UNBOUNDED FOLLOWING", "n > 5", "n > 5"),
    "a range": (
        "sum(v)",
        f"n {RANGE} 5 PRECEDING {HERE}",
        BETWEEN,
        f"(n >= 15 OR {LOW}) AND n <= 24",
    ),
    "sides": (
        "avg(v)",
        f"n {RANGE} 5 PRECEDING {AND_TWO}",
        "n = 30",
        f"(n <= 32 OR {HIGH}) AND (n >= 25 OR {LOW})",
    ),
    "back": (
        "min(v)",
        f"n DESC {RANGE} 5 PRECEDING {HERE}",
        BETWEEN,
        f"n >= 20 AND (n <= 29 OR {HIGH})",
    ),
    "a sum of a range": (
        *("sum(o)", f"n {RANGE} 5 PRECEDING {HERE}", BETWEEN),
        f"(n >= 15 OR {LOW}) AND n <= 24",
    ),
    "a sum that may overflow": ("sum(n)", LAST, BETWEEN, "n <= 24"),
    "days": (
        *("max(v)", f"unix_date(d) {RANGE} 5 PRECEDING {HERE}", LATE_DAY),
        "d >= DATE '2024-01-15' OR d < DATE '1582-10-15'",
    ),
    "seconds": (
        *("max(v)", f"CAST(t AS BIGINT) {RANGE} 10800 PRECEDING {HERE}", LATE),
        "t >= TIMESTAMP '2024-04-01 08:59:58.500002Z'",
    ),
    "seconds after": (
        *("count(v)", f"unix_timestamp(t) {RANGE} CURRENT ROW AND 10800 FOLLOWING", EARLY),
        "t <= TIMESTAMP '2024-04-01 15:00:02.499998Z'",
    ),
    "seconds counted down": (
        *("min(v)", f"unix_seconds(t) DESC {RANGE} 10800 PRECEDING {HERE}", EARLY),
        "t <= TIMESTAMP '2024-04-01 15:00:02.499998Z'",
    ),
    "microseconds": (
        *("max(n)", f"unix_micros(t) {RANGE} 1 PRECEDING {HERE}", LATE),
        "t >= TIMESTAMP '2024-04-01 12:00:00.499999Z'",
    ),
    "seconds of a day": (
        *("max(v)", f"CAST(CAST(d AS TIMESTAMP) AS BIGINT) {RANGE} 259200 PRECEDING {HERE}"),
        *(LATE_DAY, "d >= DATE '2024-01-15'"),
    ),
    "rows in the order of seconds": (
        *(NUMBER, "CAST(t AS BIGINT), n", EARLY),
        "t <= TIMESTAMP '2024-04-01 12:00:02.499998Z' OR t IS NULL",
    ),
}


ALIKE = {
    "a column of the expression": (
        "to_date(t)",
        "day = DATE'2024-04-01'",
        "day = DATE '2024-04-01'",
    ),
    "beside what Spark moves": (
        "k, to_date(t)",
        "day > DATE'2024-04-01' AND k = 1",
        "day > DATE '2024-04-01'",
    ),
    "a text": ("upper(s)", "loud >= 'A' AND x > 0", "loud >= 'A'"),
    "one of two": ("to_date(t), upper(s)", "loud <= 'Y'", "loud <= 'Y'"),
}
"""The partition, the filter on a column that is computed like it, and what goes below."""

NOT_ALIKE = {
    "another expression": ("year(t)", "day = DATE'2024-04-01'"),
    "another column": ("to_date(u)", "day = DATE'2024-04-01'"),
    "another function": ("length(s)", "loud >= 'B'"),
    "another time zone": ("to_date(from_utc_timestamp(t, 'Asia/Tokyo'))", "day = DATE'2024-04-01'"),
}


def _by_expression(partition: str, where: str) -> Build:
    """The number of rows and a running sum for partitions by an expression. Both windows compute it
    anew, and the filter's columns are computed below both.
    """

    def build(df: DataFrame) -> DataFrame:
        return (
            df.selectExpr("*", "to_date(t) AS day", "upper(s) AS loud", "t + INTERVAL 9 HOURS AS u")
            .selectExpr("*", f"count(1) OVER (PARTITION BY {partition}) AS w")
            .selectExpr("*", f"sum(o) OVER (PARTITION BY {partition} ORDER BY n, o, v) AS x")
            .filter(where)
        )

    return build


@pytest.mark.parametrize("name", ALIKE)
def test_columns_that_are_computed_like_the_partition(rows: DataFrame, name: str) -> None:
    *built, expected = ALIKE[name]
    df = _by_expression(*built)(rows)
    better = optimize(df, cost="always")
    report = explain(df, cost="always")
    assert [b.prefilter for b in report.boundaries] == [expected, expected], report
    same_rows(df, better)


@pytest.mark.parametrize("name", NOT_ALIKE)
def test_columns_that_are_computed_otherwise(rows: DataFrame, name: str) -> None:
    *_, where = NOT_ALIKE[name]
    df = _by_expression(*NOT_ALIKE[name])(rows)
    same_rows(df, optimize(df, cost="always"))
    assert {b.kind for b in explain(df, cost="always").boundaries} == {"none"}
    below = where.replace("day", "to_date(t)").replace("loud", "upper(s)")
    assert counted(_by_expression(*NOT_ALIKE[name])(rows.filter(below))) != counted(df)


def test_expressions_that_only_look_alike(spark: SparkSession, tmp_path: Path) -> None:
    """Spark's JSON does not have the escape character of LIKE."""
    rows = [("a%", 1), ("a%", 2), ("a!x", 3), ("a!y", 4), ("b", 5), (None, 6)]
    spark.createDataFrame(rows, "s string, n int").write.parquet(str(tmp_path / "escaped"))
    flagged = spark.read.parquet(str(tmp_path / "escaped"))
    for own, others, moves in (("#", "!", False), ("!", "!", True)):
        alike = flagged.selectExpr("*", f"s LIKE 'a!%' ESCAPE '{own}' AS flag")
        partition = f"s LIKE 'a!%' ESCAPE '{others}'"
        df = alike.selectExpr("*", f"count(1) OVER (PARTITION BY {partition}) AS w").filter("flag")
        same_rows(df, optimize(df, cost="always"))
        kinds = {b.kind for b in explain(df, cost="always").boundaries}
        assert kinds == ({"partial"} if moves else {"none"})


def test_columns_whose_names_differ_in_case(rows: DataFrame) -> None:
    """A column that the filter does not read is none of the claim's."""
    df = rows.selectExpr("*", "to_date(t) AS day", "to_date(t) AS DAY")
    by_day = "row_number() OVER (PARTITION BY to_date(t) ORDER BY n, o, v, s) AS w"
    _check(df.selectExpr("*", by_day).filter("n < 20"), "n < 20 OR n IS NULL", "always")


@pytest.mark.parametrize("flag", ["v > 1", "v >= 0", "v = 0"])
def test_flags_that_scans_would_lose_rows_by(
    spark: SparkSession, tmp_path: Path, flag: str
) -> None:
    """In a file without statistics of NaN, and with zeros of both signs in a dictionary."""
    values = [math.nan, -0.0, 0.0, 2.0, None, 1.0, -0.0, math.nan]
    table = pa.table({"v": values * 4, "n": range(32)})
    pq.write_table(table, tmp_path / "flags.parquet", row_group_size=2)
    flagged = spark.read.parquet(str(tmp_path / "flags.parquet")).selectExpr("*", f"{flag} AS flag")
    total = f"count(1) OVER (PARTITION BY {flag}) AS w"
    for where in ("flag", "NOT flag", "flag IS NULL OR flag"):
        df = flagged.selectExpr("*", total).filter(where)
        same_rows(df, optimize(df, cost="always"))


def test_padded_columns(spark: SparkSession) -> None:
    """Spark pads CHAR above the files."""
    spark.sql("DROP TABLE IF EXISTS padded")
    spark.sql("CREATE TABLE padded (c CHAR(5), n INT) USING parquet")
    try:
        spark.sql("INSERT INTO padded VALUES ('a', 1), ('ab', 2), ('a', 3), (NULL, 4)")
        table = spark.table("padded").selectExpr("*", "upper(c) AS big")
        df = table.selectExpr("*", "sum(n) OVER (PARTITION BY upper(c)) AS w").filter("big > 'AA'")
        same_rows(df, optimize(df, cost="always"))
    finally:
        spark.sql("DROP TABLE padded")


WHOLE = {
    "the greatest": ("max(n)", "n = w AND n > 40", "n > 40"),
    "the latest day": ("max(d)", "d = w AND d > DATE'2024-01-20'", "d > DATE '2024-01-20'"),
    "the least": ("min(o)", "o = w AND o < 9", "o < 9"),
    "not the least": ("max(n)", "n < w AND n > 40", "n > 40"),
    "of a text": ("max(s)", "s = w AND s >= 'b'", "s >= 'b'"),
}


@pytest.mark.parametrize("name", WHOLE)
def test_below_functions_of_whole_partitions(rows: DataFrame, name: str) -> None:
    """The greatest value is the same without smaller ones than the row's own."""
    function, where, expected = WHOLE[name]
    df = rows.selectExpr("*", f"{function} OVER (PARTITION BY k) AS w").filter(where)
    _check(df, expected)


WHOLE_TWINS = {
    "the other end": ("min(n)", "w < 3 AND n > 40", "n > 40"),
    "a number": ("count(n)", "w > 5 AND n > 40", "n > 40"),
    "whether all are": ("bool_and(n > 40)", "w AND n > 40", "n > 40"),
    "a sum": ("sum(n)", "w > 500 AND n > 40", "n > 40"),
    "another column": ("max(o)", "o = w AND n > 40", "n > 40"),
}


@pytest.mark.parametrize("name", WHOLE_TWINS)
def test_whole_partitions_that_are_needed(rows: DataFrame, name: str) -> None:
    function, where, wrong = WHOLE_TWINS[name]

    def build(df: DataFrame) -> DataFrame:
        return df.selectExpr("*", f"{function} OVER (PARTITION BY k) AS w").filter(where)

    _check_twin(rows, build, wrong)


@pytest.mark.parametrize("name", MOVED)
def test_filters_go_below(rows: DataFrame, name: str) -> None:
    *built, expected = MOVED[name]
    _check(over(*built)(rows), expected)


def _check(df: DataFrame, expected: str, cost: Cost = "auto") -> None:
    better = optimize(df, cost=cost)
    assert better is not df, explain(df)
    (found,) = explain(df, cost=cost).boundaries
    assert (found.prefilter, found.kind) == (expected, "partial")
    same_rows(df, better)
    assert optimize(better, cost=cost) is better


def test_first_rows(rows: DataFrame, monkeypatch: pytest.MonkeyPatch) -> None:
    """By default where row groups are skipped."""
    first = rows.orderBy(F.desc("v"), "n").limit(40).filter("v > 1")
    monkeypatch.setattr("presieve.driver.stages.filter_placement.LEAST_SKIPPED", 2.0)
    assert optimize(first) is first
    assert [d.code for b in explain(first).boundaries for d in b.declined] == ["cost"]
    _check(first, "v > 1.0D", cost="always")
    _check(
        rows.orderBy("n", "v", "s", "o").limit(40).filter("n < 5"), "n < 5 OR n IS NULL", "always"
    )


@pytest.mark.classic("a client of Spark Connect does not see files")
def test_first_rows_where_pages_are_skipped(spark: SparkSession, tmp_path: Path) -> None:
    path = str(tmp_path / "sorted")
    spark.range(200_000, numPartitions=1).selectExpr("id", "id % 10 AS k").write.parquet(path)
    table = spark.read.parquet(path)
    _check(table.orderBy("id").limit(40).filter("id < 1000"), "id < 1000 OR id IS NULL")
    unsorted = table.orderBy("k", "id").limit(40).filter("k < 1")
    assert optimize(unsorted) is unsorted


@pytest.mark.parametrize("writer", ["Spark", "pyarrow"])
def test_peers_are_the_rows_of_a_second(spark: SparkSession, tmp_path: Path, writer: str) -> None:
    """Before 1970, too, where ``unix_timestamp`` cuts off towards the other side."""
    noon = dt.datetime(2024, 4, 1, 12, tzinfo=dt.UTC)
    start = dt.datetime(1970, 1, 1, tzinfo=dt.UTC)
    offsets = (-1_900_000, -1_000_000, -999_999, -1, 0, 200_000, 500_000, 999_999, 1_000_000)
    times = [at + dt.timedelta(microseconds=n) for at in (noon, start) for n in offsets]
    table = pa.table({"t": pa.array([*times, None], pa.timestamp("us", "UTC")), "n": range(19)})
    path = str(tmp_path / "times.parquet")
    pq.write_table(table, path, row_group_size=2)
    if writer == "Spark":
        spark.read.parquet(path).write.parquet(f"{path}.spark")
        path = f"{path}.spark"
    times_of_file = spark.read.parquet(path)
    for clock in ("CAST(t AS BIGINT)", "unix_timestamp(t)", "unix_seconds(t)"):
        for frame in (f"{RANGE} 1 PRECEDING {HERE}", f"DESC {RANGE} CURRENT ROW AND 1 FOLLOWING"):
            for at in (
                "2024-04-01 12:00:00.2",
                "1970-01-01 00:00:00",
                "1969-12-31 23:59:59.000001",
            ):
                for op in ("<=", ">=", "="):
                    over = f"sum(n) OVER (ORDER BY {clock} {frame}) AS w"
                    df = times_of_file.selectExpr("*", over).where(f"t {op} TIMESTAMP'{at}'")
                    same_rows(df, optimize(df, cost="always"))
    total = f"sum(n) OVER (ORDER BY CAST(t AS BIGINT) {RANGE} CURRENT ROW {HERE}) AS w"
    below = "t <= TIMESTAMP'2024-04-01 12:00:00.2'"
    early = times_of_file.where(below).selectExpr("*", total)
    assert counted(early) != counted(times_of_file.selectExpr("*", total).where(below))


def test_a_cast_keeps_the_zone_in_which_it_was_read(spark: SparkSession, tmp_path: Path) -> None:
    """The midnights of two days are 23 hours apart where clocks were put forward between them."""
    days = [dt.date(2024, 3, d) for d in (8, 9, 10, 11, 12)]
    pq.write_table(pa.table({"d": days, "n": range(5)}), tmp_path / "days.parquet")
    seconds = f"CAST(CAST(d AS TIMESTAMP) AS BIGINT) {RANGE} 82800 PRECEDING {HERE}"
    table = spark.read.parquet(str(tmp_path / "days.parquet"))
    key = "spark.sql.session.timeZone"
    spark.conf.set(key, "America/New_York")
    try:
        df = table.selectExpr("*", f"sum(n) OVER (ORDER BY {seconds}) AS w")
        df = df.where("d >= date_from_unix_date(19793)")
    finally:
        spark.conf.set(key, "UTC")
    same_rows(df, optimize(df, cost="always"))


TWINS = {
    "the other way": (NUMBER, "d", "d >= DATE'2024-01-09'"),
    "NULL first": (RANK, "o", "o < 9"),
    "ascending": (RANK, "v", "v > 1"),
    "another column": (NUMBER, "n", "v > 1"),
    "after": ("lead(v)", "n", "n < 20"),
    "as many": ("ntile(4)", "n", "n < 20"),
    "a share": ("cume_dist()", "n", "n < 20"),
    "a percentage": ("percent_rank()", "n", "n < 20"),
    "all rows": ("sum(n)", f"n {ROWS} UNBOUNDED PRECEDING AND UNBOUNDED FOLLOWING", "n < 20"),
    "rows after": ("sum(n)", f"n {ROWS} 1 PRECEDING AND 1 FOLLOWING", "n < 20"),
    "a range": ("sum(n)", f"n {RANGE} 5 PRECEDING {HERE}", "n > 20"),
    "the days before": ("sum(n)", f"unix_date(d) {RANGE} 5 PRECEDING {HERE}", LATE_DAY),
    "the seconds before": ("sum(n)", f"CAST(t AS BIGINT) {RANGE} 10800 PRECEDING {HERE}", LATE),
    "seconds as 32 bits": (
        "sum(n)",
        f"CAST(CAST(t AS BIGINT) AS INT) {RANGE} 10800 PRECEDING {HERE}",
        LATE,
    ),
    "a sum that may raise": ("sum(n)", f"n {RANGE} 5 PRECEDING {HERE}", BETWEEN),
}


@pytest.mark.parametrize("name", TWINS)
def test_wrong_twins_stay_and_do_differ(rows: DataFrame, name: str) -> None:
    *_, where = TWINS[name]
    build = over(*TWINS[name])
    _check_twin(rows, build, where)


def _check_twin(rows: DataFrame, build: Build, where: str) -> None:
    df = build(rows)
    same_rows(df, optimize(df, cost="always"))
    for found in explain(df, cost="always").boundaries:
        assert found.prefilter.replace(".0D", "").replace("DATE ", "DATE") != where
    assert counted(build(rows.filter(where))) != counted(df)


def test_first_rows_that_are_others(rows: DataFrame) -> None:
    _check_twin(rows, lambda df: df.orderBy("v", "n").limit(40).filter("v > 1"), "v > 1")
    _check_twin(rows, lambda df: df.orderBy("o", "n").limit(20).filter("o < 9"), "o < 9")


RANGES = [
    (
        "sum(v) OVER (PARTITION BY k ORDER BY d RANGE BETWEEN 5 PRECEDING AND CURRENT ROW)",
        "d BETWEEN DATE'2024-01-12' AND DATE'2024-01-14'",
        "d >= DATE '2024-01-07'",
    ),
    (
        "count(v) OVER (PARTITION BY k ORDER BY t RANGE BETWEEN INTERVAL 3 HOURS PRECEDING AND"
        " CURRENT ROW)",
        "t >= TIMESTAMP'2024-03-31 00:00:00'",
        "t >= TIMESTAMP '2024-03-30 21:00:00Z'",
    ),
    (
        "count(v) OVER (PARTITION BY k ORDER BY t RANGE BETWEEN INTERVAL 2 DAYS PRECEDING AND"
        " INTERVAL 1 DAY FOLLOWING)",
        "t >= TIMESTAMP'2024-03-31 00:00:00'",
        "t >= TIMESTAMP '2024-03-27 00:00:00Z'",
    ),
    (
        "count(v) OVER (PARTITION BY k ORDER BY o RANGE BETWEEN 5 PRECEDING AND CURRENT ROW)",
        "o BETWEEN 10 AND 12",
        "o >= 5",
    ),
]


TEN = "INTERVAL '10' DAY"
TEN_BEFORE = f"{RANGE} {TEN} PRECEDING {HERE}"
SOME_DAYS = "BETWEEN DATE'2024-01-11' AND DATE'2024-01-13'"
EARLY, LATE = "d < DATE '1582-10-15'", "d > DATE '9999-12-31'"  # bounds may wrap around
OF_DAYS = {
    "before": (
        *("d", TEN_BEFORE, f"d {SOME_DAYS}"),
        f"(d >= DATE '2024-01-01' OR {EARLY}) AND d <= DATE '2024-01-13'",
    ),
    "after": (
        *("d", f"{RANGE} CURRENT ROW AND {TEN} FOLLOWING", f"d {SOME_DAYS}"),
        f"d >= DATE '2024-01-11' AND (d <= DATE '2024-01-23' OR {LATE})",
    ),
    "descending": (
        *("d DESC", TEN_BEFORE, f"d {SOME_DAYS}"),
        f"d >= DATE '2024-01-11' AND (d <= DATE '2024-01-23' OR {LATE})",
    ),
    "on both sides": (
        "d",
        f"{RANGE} INTERVAL 5 DAYS PRECEDING AND INTERVAL '6' DAY FOLLOWING",
        f"d {SOME_DAYS}",
        f"(d >= DATE '2024-01-06' OR {EARLY}) AND (d <= DATE '2024-01-19' OR {LATE})",
    ),
    "no day": (
        *("d", f"{RANGE} INTERVAL '0' DAY PRECEDING {HERE}", f"d {SOME_DAYS}"),
        "d >= DATE '2024-01-11' AND d <= DATE '2024-01-13'",
    ),
    "days before": (
        *("d", f"{RANGE} {TEN} PRECEDING AND INTERVAL '5' DAY PRECEDING", f"d {SOME_DAYS}"),
        f"(d >= DATE '2024-01-01' OR {EARLY}) AND (d <= DATE '2024-01-13' OR {LATE})",
    ),
    "days after": (
        *("d", f"{RANGE} INTERVAL '5' DAY FOLLOWING AND {TEN} FOLLOWING", f"d {SOME_DAYS}"),
        f"d >= DATE '2024-01-11' AND (d <= DATE '2024-01-23' OR {LATE})",
    ),
    "days before, descending": (
        *("d DESC", f"{RANGE} {TEN} PRECEDING AND INTERVAL '5' DAY PRECEDING", f"d {SOME_DAYS}"),
        f"(d >= DATE '2024-01-11' OR {EARLY}) AND (d <= DATE '2024-01-23' OR {LATE})",
    ),
    "all days": (
        *("d", f"{RANGE} INTERVAL '100000000' DAY PRECEDING {HERE}", "d > DATE'2024-01-20'"),
        f"d > date_from_unix_date(-99980258) OR {EARLY}",
    ),
    "of a clock": (
        *("t", TEN_BEFORE, "t >= TIMESTAMP'2024-04-02 00:00:00'"),
        "t >= TIMESTAMP '2024-03-21 00:00:00Z'",
    ),
    "of a clock, after": (
        *("t", f"{RANGE} CURRENT ROW AND {TEN} FOLLOWING", "t <= TIMESTAMP'2024-04-01 00:00:00'"),
        "t <= TIMESTAMP '2024-04-13 00:00:00Z'",
    ),
}


def of_days(df: DataFrame, name: str) -> DataFrame:
    """The table with the rows of a frame, counted, in a session of UTC."""
    key, frame, where, _ = OF_DAYS[name]
    return windowed(df, "count(1)", f"{key} {frame}").filter(where)


@pytest.fixture
def utc(spark: SparkSession) -> Iterator[None]:
    before = spark.conf.get("spark.sql.session.timeZone")
    spark.conf.set("spark.sql.session.timeZone", "UTC")
    yield
    spark.conf.set("spark.sql.session.timeZone", before or "UTC")


@pytest.fixture(scope="module")
def ends(spark: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> DataFrame:
    """Days next to each other, NULL, and the first and the last that Spark has. Python has no dates
    for these, so that what is shown are numbers.
    """
    days = (
        "CASE WHEN id % 9 = 0 THEN NULL ELSE date_add(DATE'2024-01-01', CAST(id % 31 AS INT)) END"
    )
    data = spark.range(90).selectExpr("CAST(id % 2 AS INT) AS k", "id AS n", f"{days} AS d")
    for number in (*range(-(2**31), -(2**31) + 12), *range(2**31 - 12, 2**31)):
        data = data.union(spark.sql(f"SELECT 1, {number}L, date_from_unix_date({number})"))
    path = str(tmp_path_factory.mktemp("ends") / "rows")
    data.coalesce(1).write.parquet(path)
    return spark.read.parquet(path)


@pytest.mark.parametrize("name", OF_DAYS)
def test_intervals_of_days(utc: None, rows: DataFrame, ends: DataFrame, name: str) -> None:
    key, _, _, expected = OF_DAYS[name]
    df = of_days(rows, name)
    (found,) = explain(df, cost="always").boundaries
    assert expected in found.prefilter
    same_rows(df, optimize(df, cost="always"))
    if key.startswith("d"):
        far = of_days(ends, name).select("k", "n", "w")
        better = optimize(far, cost="always")
        assert better is not far
        same_rows(far, better)


def test_scans_are_handed_intervals_of_days(utc: None, ends: DataFrame) -> None:
    """Days that calendars count alike are the limit of what may wrap around."""
    better = optimize(of_days(ends, "before"), cost="always")
    handed = plan_text(better).split("PushedFilters: ")[1]
    assert "Or(GreaterThanOrEqual(d,2024-01-01),LessThan(d,1582-10-15))" in handed


@pytest.mark.parametrize("name", OF_DAYS)
def test_intervals_of_days_that_are_shorter(utc: None, rows: DataFrame, name: str) -> None:
    """The filter above loses what frames reach."""
    df = of_days(rows, name)
    if name == "no day":
        assert counted(of_days(rows.filter(OF_DAYS[name][2]), name)) == counted(df)
        return
    assert counted(of_days(rows.filter(OF_DAYS[name][2]), name)) != counted(df)


def test_days_at_the_ends_of_their_type_move_others(ends: DataFrame) -> None:
    """Without those, frames of other rows are others: a bound wraps around."""
    df = of_days(ends, "days before").select("k", "n", "w")
    kept = ends.filter("d >= DATE'2024-01-01'")
    assert counted(of_days(kept, "days before").select("k", "n", "w")) != counted(df)


@pytest.mark.parametrize(
    "frame",
    [f"{RANGE} UNBOUNDED PRECEDING AND 5 PRECEDING", f"{RANGE} 9 PRECEDING AND 5 PRECEDING"],
)
@pytest.mark.parametrize("key", ["d", "d DESC", "o", "o DESC"])
def test_a_bound_that_leaps_over_all_rows(
    spark: SparkSession, ends: DataFrame, key: str, frame: str
) -> None:
    """Of the first rows an upper bound before them wraps around to the last ones."""
    spark.conf.set("spark.sql.ansi.enabled", "false")
    try:
        numbered = ends.selectExpr("*", "unix_date(d) AS o")
        low, high = "DATE'2024-01-08'", "DATE'2024-01-10'"
        if key.startswith("o"):
            low, high = f"unix_date({low})", f"unix_date({high})"
        df = windowed(numbered, "count(1)", f"{key} {frame}")
        df = df.filter(f"{key[0]} BETWEEN {low} AND {high}").select("k", "n", "w")
        same_rows(df, optimize(df, cost="always"))
    finally:
        spark.conf.unset("spark.sql.ansi.enabled")


def test_a_bound_of_a_timestamp_may_raise(
    spark: SparkSession, utc: None, rows: DataFrame, tmp_path: Path
) -> None:
    """Of the last instant that there is, no day later is known. A filter below drops that row."""
    last = "SELECT 1 AS k, timestamp_micros(9223372036854775807L) AS t, 1L AS n"
    path = str(tmp_path / "last")
    rows.select("k", "t", "n").union(spark.sql(last)).coalesce(1).write.parquet(path)
    frame = f"t {RANGE} CURRENT ROW AND {TEN} FOLLOWING"
    made = windowed(spark.read.parquet(path), "count(1)", frame)
    df = made.filter("t <= TIMESTAMP'2024-04-01 00:00:00'").select("n", "w")
    with pytest.raises(Exception, match="overflow"):
        df.collect()
    (found,) = explain(df, cost="always").boundaries
    assert [a["code"] for a in found.assumptions] == ["may-erase-error"]
    assert optimize(df, cost="always", policy="strict") is df


@pytest.mark.parametrize("ansi", ["true", "false"])
@pytest.mark.parametrize(("function", "where", "part"), RANGES)
def test_dates_and_moments(
    spark: SparkSession, rows: DataFrame, function: str, where: str, part: str, ansi: str
) -> None:
    spark.conf.set("spark.sql.ansi.enabled", ansi)
    try:
        with named(rows.filter("o > -1000 OR o IS NULL") if "o >" in part else rows, "t"):
            df = spark.sql(f"SELECT *, {function} AS w FROM t").filter(where)
            (found,) = explain(df).boundaries
            assert part in found.prefilter
            assert ("o < -2147483643" in found.prefilter) == ("o >" in part)
            same_rows(df, optimize(df))
    finally:
        spark.conf.unset("spark.sql.ansi.enabled")


def test_months_are_no_days(spark: SparkSession, rows: DataFrame) -> None:
    """A frame of calendar months has no fixed length; nothing below its far end is dropped."""
    frame = "RANGE BETWEEN INTERVAL 2 MONTHS PRECEDING AND CURRENT ROW"
    for key, where in (
        ("d", "d >= DATE'2024-01-20'"),
        ("t", "t >= TIMESTAMP'2024-04-02 00:00:00'"),
    ):
        df = windowed(rows, "count(v)", f"{key} {frame}").filter(where)
        same_rows(df, optimize(df, cost="always"))
        assert not any(">=" in b.prefilter for b in explain(df, cost="always").boundaries)


def test_windows_on_windows_and_below_joins(rows: DataFrame) -> None:
    once = windowed(rows, "lag(v)", "n").withColumnRenamed("w", "before")
    twice = windowed(once, RANK, "n, v").withColumn("m", F.col("n") * 2)
    joined = twice.join(rows.select(F.col("n").alias("other")).distinct(), F.expr("n = other"))
    for df in (twice.filter("n < 9"), joined.filter("n < 9"), twice.filter("n < 9 AND w = 1")):
        same_rows(df, optimize(df))
        found = explain(df).boundaries
        assert [b.prefilter for b in found] == ["n < 9 OR n IS NULL"] * 2
        assert "LessThan(n,9)" in plan_text(optimize(df)).partition("Physical Plan")[2]


def test_definitions(spark: SparkSession, rows: DataFrame) -> None:
    """They are read once or more, and stand where they are read, or stay definitions."""
    inside = "SELECT *, row_number() OVER (PARTITION BY k ORDER BY n) AS w FROM t"
    with named(rows, "t"):
        once = spark.sql(f"WITH a AS ({inside}) SELECT * FROM a WHERE n < 9")
        assert [b.prefilter for b in explain(once).boundaries] == ["n < 9 OR n IS NULL"]
        twice = spark.sql(
            f"WITH a AS (SELECT * FROM ({inside}) WHERE n < 9) SELECT * FROM a x JOIN a y USING (w)"
        )
        fixed = spark.sql(
            f"WITH a AS (SELECT *, rand(1) r FROM ({inside}) WHERE n < 9)"
            " SELECT x.k, x.n FROM a x JOIN a y ON x.r = y.r WHERE x.n < 20"
        )
        for df in (once, twice, fixed):
            same_rows(df, optimize(df, cost="always"))


def test_below_a_function_of_groups(rows: DataFrame) -> None:
    groups = rows.groupBy("k").agg(F.max("n").alias("m"), F.max("v").alias("top"))
    df = windowed(groups, RANK, "m DESC", "top IS NULL").filter("m > 40")
    better = optimize(df, cost="always")
    same_rows(df, better)
    assert {b.operator for b in explain(df, cost="always").boundaries} == {"Window", "Aggregate"}


def test_nothing_moves(rows: DataFrame) -> None:
    df = windowed(rows, NUMBER, "n")
    assert optimize(df) is df
    asked = df.filter("n < 20")
    assert optimize(asked, cost="never") is asked
    random = windowed(rows.withColumn("x", F.rand(3)), NUMBER, "n").filter("n < 20")
    assert optimize(random) is random
    df.cache()
    try:
        assert optimize(asked) is asked
    finally:
        df.unpersist()


def test_a_plan_that_is_not_read(spark: SparkSession, rows: DataFrame) -> None:
    """Plans are read where a filter stands above a window or a limit."""
    gateway = ClassicGateway(spark)
    numbered = windowed(rows, NUMBER, "n")
    few = rows.orderBy("n").limit(3)
    for df, there in (
        (numbered.filter("n < 9"), True),
        (few.filter("n < 9"), True),
        (few.select("n").distinct().filter("n < 9").limit(2), True),
        (rows.filter("n < 9").limit(3), False),
        (windowed(rows.filter("n < 9"), NUMBER, "n"), False),
        (numbered, False),
        (rows.filter("n < 9"), False),
    ):
        assert gateway.has_filtered(gateway.analyze_plan(df)) is there


def test_a_filter_that_keeps_all_is_not_worth_it(rows: DataFrame) -> None:
    df = over(NUMBER, "n", "n < 1000")(rows)
    (found,) = explain(df).boundaries
    assert optimize(df) is df
    assert [d.code for d in found.declined] == ["cost"]


def test_exchanges_that_are_shared(rows: DataFrame) -> None:
    ranked = windowed(rows, NUMBER, "n")
    df = ranked.filter("n < 9").select("n").unionAll(ranked.filter("n < 20").select("n"))
    assert {d.code for b in explain(df).boundaries for d in b.declined} == {"cost"}
    same_rows(df, optimize(df, cost="always"))


def test_errors_are_not_added(spark: SparkSession, rows: DataFrame) -> None:
    """A column that may raise is not computed for rows that a join drops."""
    few = spark.range(3).select(F.col("id").alias("q"))
    made = rows.join(few, F.expr("n = q")).withColumn("x", F.expr("n div o"))
    df = windowed(made, NUMBER, "x").filter("x < 60")
    (found,) = explain(df, cost="always").boundaries
    assert [d.code for d in found.declined] == ["may-add-error"]
    raising = over("sum(n div o)", "n", "n < 9")(rows)
    (found,) = explain(raising).boundaries
    assert [a["code"] for a in found.assumptions] == ["may-erase-error"]
    assert optimize(raising, policy="strict") is raising


SUM = f"n {RANGE} 2 PRECEDING {HERE}"
RAISING: dict[str, Build] = {
    "first": lambda df: windowed(df, "sum(o)", SUM).filter("100 DIV w > 1 AND n >= 4"),
    "below": lambda df: windowed(df, "sum(o)", SUM).filter("100 DIV w > 1").filter("n >= 4"),
    "a column": lambda df: (
        windowed(df, "sum(o)", SUM).withColumn("x", F.expr("100 DIV w")).filter("x > 1 AND n >= 4")
    ),
}


@pytest.mark.parametrize("name", RAISING)
def test_what_raises_above_sees_no_other_values(spark: SparkSession, name: str) -> None:
    """Rows that only others need are kept, and have other values of the window's function."""
    pairs = [(7, 1), (-3, 2), (3, 3), (1, 4), (2, 5)]
    spark.createDataFrame([(1, *p) for p in pairs], "k int, o int, n bigint").write.mode(
        "overwrite"
    ).saveAsTable("of_pairs")
    df = RAISING[name](spark.table("of_pairs"))
    same_rows(df, optimize(df, cost="always"))
