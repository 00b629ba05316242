"""Filters that are derived wherever a condition stands, and for every part of it that files can
skip by: rows out of scans, and that results are the same.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import pandas as pd
import pytest
from pyspark.sql import functions as F
from pyspark.sql.types import BooleanType
from tests.support.traps.checks import pandas_udf

import presieve

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame, SparkSession

pytestmark = pytest.mark.classic("filters are derived from the plan of Spark's optimizer")

DAYS = 4_000
"""From 1980-01-01 on; a file holds 1,000 of them."""


@pytest.fixture(scope="module")
def tables(spark: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> SparkSession:
    """Views ``days`` of four sorted files, and ``few`` of 40 rows."""
    folder = tmp_path_factory.mktemp("everywhere")
    before = str(spark.conf.get("spark.sql.files.maxRecordsPerFile"))
    spark.conf.set("spark.sql.files.maxRecordsPerFile", "1000")
    spark.range(0, DAYS, 1, 1).selectExpr(
        "int(id) i",
        "id % 7 m",
        "date_add(DATE '1980-01-01', int(id)) d",
        "timestamp(date_add(DATE '1980-01-01', int(id))) + INTERVAL 90 MINUTES ts",
        "CAST(id AS DECIMAL(12, 2)) p",
        "lpad(string(id), 6, '0') s",
    ).write.parquet(str(folder / "days"))
    spark.conf.set("spark.sql.files.maxRecordsPerFile", before)
    spark.range(0, 40, 1, 1).selectExpr(
        "IF(id % 13 = 0, NULL, int(id * 100)) i", "id k"
    ).write.parquet(str(folder / "few"))
    for name in ("days", "few"):
        spark.read.parquet(str(folder / name)).createOrReplaceTempView(name)
    return spark


def rows_read(df: DataFrame) -> tuple[list[str], int]:
    """The rows, and how many rows came out of all scans of files."""
    rows = sorted(map(str, df.collect()))
    read, pending = 0, [df._jdf.queryExecution().executedPlan()]
    while pending:
        node = pending.pop()
        name = node.getClass().getSimpleName()
        if name == "AdaptiveSparkPlanExec":
            pending.append(node.executedPlan())
        elif name.endswith("QueryStageExec"):
            pending.append(node.plan())
        elif "FileSourceScan" in name:
            read += int(node.metrics().apply("numOutputRows").value())
        for inner in (node.children(), node.subqueries()):
            pending.extend(inner.apply(number) for number in range(inner.size()))
    return rows, read


YEAR = "year(d) = 1981"
"""Days that one of the four files holds."""

PLACES = {
    "a definition": f"WITH c AS (SELECT * FROM days WHERE {YEAR}) SELECT * FROM c",
    "a definition that is used twice": (
        f"WITH c AS (SELECT * FROM days WHERE {YEAR}) SELECT a.i FROM c a JOIN c b ON a.i = b.i + 1"
    ),
    "above groups that are used twice": (
        "WITH c AS (SELECT d, count(*) n FROM days GROUP BY d)"
        f" SELECT * FROM c a JOIN c b USING (d) WHERE {YEAR}"
    ),
    "IN": f"SELECT * FROM few WHERE i IN (SELECT i FROM days WHERE {YEAR})",
    "NOT IN": f"SELECT * FROM few WHERE k NOT IN (SELECT i FROM days WHERE {YEAR})",
    "EXISTS": f"SELECT * FROM few b WHERE EXISTS (SELECT 1 FROM days a WHERE a.i = b.i AND {YEAR})",
    "NOT EXISTS": (
        f"SELECT * FROM few b WHERE NOT EXISTS (SELECT 1 FROM days a WHERE a.i = b.i AND {YEAR})"
    ),
    "a grouping expression": "SELECT year(d) y, count(*) FROM days GROUP BY 1 HAVING y = 1981",
    "ROLLUP": (
        "SELECT * FROM (SELECT year(d) y, count(*) FROM days GROUP BY ROLLUP(year(d)))"
        " WHERE y = 1981"
    ),
    "CUBE": (
        "SELECT * FROM (SELECT year(d) y, m, count(*) FROM days GROUP BY CUBE(year(d), m))"
        " WHERE y = 1981 AND m > 2"
    ),
    "the expression of a window's partition": (
        "SELECT * FROM (SELECT *, row_number() OVER (PARTITION BY year(d) ORDER BY i) r FROM days)"
        f" WHERE {YEAR} AND r < 3"
    ),
    "a partition by more": (
        "SELECT * FROM (SELECT *, sum(i) OVER (PARTITION BY m, year(d)) r FROM days)"
        f" WHERE {YEAR} AND r > 3 AND m = 2"
    ),
    "a union": (
        f"SELECT * FROM (SELECT d, i FROM days UNION ALL SELECT d, -i FROM days) WHERE {YEAR}"
    ),
    "distinct aggregates": (
        f"SELECT d, count(DISTINCT i), count(DISTINCT m) FROM days WHERE {YEAR} GROUP BY d"
    ),
    "UNPIVOT": "SELECT * FROM (SELECT i, m, d FROM days) UNPIVOT (v FOR n IN (i, m)) WHERE v = 500",
    "UNPIVOT with NULL": (
        "SELECT * FROM (SELECT i, m, d FROM days) UNPIVOT INCLUDE NULLS (v FOR n IN (i, m))"
        " WHERE v > 10 AND v < 20 AND n IN ('i', 'm')"
    ),
    "UNPIVOT, one of the columns": (
        "SELECT * FROM (SELECT i, m, d FROM days) UNPIVOT INCLUDE NULLS (v FOR n IN (i, m))"
        " WHERE v < 3 AND n = 'i'"
    ),
    "UNPIVOT, none of the columns": (
        "SELECT * FROM (SELECT i, m, d FROM days) UNPIVOT (v FOR n IN (i, m)) WHERE n = 'd'"
    ),
}  # fmt: skip


def is_marked(s: str | None) -> bool:
    """A function that presieve does not read."""
    return s is not None and hash(float(s)) % 2 == 0


def are_marked(s: pd.Series) -> pd.Series:
    return s.map(is_marked)


def masked(name: str) -> Column:
    """A condition that Spark does not split, beside the function."""
    by_row = F.udf(is_marked, BooleanType())
    in_batches = pandas_udf(are_marked, "boolean")
    beside = F.expr(YEAR)
    match name:
        case "rows":
            return F.coalesce(beside & by_row("s"), F.lit(False))
        case "batches":
            return F.coalesce(beside & in_batches("s"), F.lit(False))
        case "a choice":
            return F.when(F.expr("i < 500"), by_row("s")).otherwise(False)
        case "either":
            return F.coalesce(beside | by_row("s"), F.lit(False))
        case "NULL too":
            return F.coalesce(F.expr("nullif(m, 3) < 0") & by_row("s"), F.lit(True))
        case "not deterministic":
            return F.coalesce(beside & by_row.asNondeterministic()("s"), F.lit(False))
    raise AssertionError(name)


@pytest.mark.parametrize("mask", ["rows", "batches", "a choice"])
def test_conditions_beside_functions_that_are_not_read(tables: SparkSession, mask: str) -> None:
    df = tables.table("days").where(masked(mask))
    rows, read = rows_read(df)
    better_rows, better_read = rows_read(presieve.optimize(df, cost="always"))
    assert better_rows == rows
    assert better_read < read / 2
    assert presieve.optimize(df, policy="strict", cost="always") is df


@pytest.mark.parametrize("mask", ["either", "NULL too", "not deterministic"])
def test_functions_that_may_pass_any_row(tables: SparkSession, mask: str) -> None:
    df = tables.table("days").where(masked(mask))
    better_rows, better_read = rows_read(presieve.optimize(df, cost="always"))
    assert (better_rows, better_read) == rows_read(df)


@pytest.mark.parametrize("place", PLACES)
def test_places(tables: SparkSession, place: str) -> None:
    df = tables.sql(PLACES[place])
    rows, read = rows_read(df)
    better_rows, better_read = rows_read(presieve.optimize(df, cost="always"))
    assert better_rows == rows
    assert better_read < read / 2


NOT_THERE = {
    "rows of a partition that the condition divides": (
        "SELECT * FROM (SELECT *, sum(i) OVER (PARTITION BY year(d)) r FROM days)"
        " WHERE year(d) = 1985 AND month(d) = 5",
        "d >= DATE '1985-01-01' AND d < DATE '1986-01-01'",
    ),
    "a partition by something else": (
        "SELECT * FROM (SELECT *, row_number() OVER (PARTITION BY m ORDER BY i) r FROM days)"
        " WHERE year(d) = 1985",
        None,
    ),
    "rows of totals": (
        "SELECT * FROM (SELECT year(d) y, count(*) FROM days GROUP BY ROLLUP(year(d)))"
        " WHERE y = 1985 OR y IS NULL",
        None,
    ),
}


@pytest.mark.parametrize("case", NOT_THERE)
def test_rows_that_are_needed(tables: SparkSession, case: str) -> None:
    """The most that may be derived; a condition on the single row would lose rows here."""
    query, derived = NOT_THERE[case]
    df = tables.sql(query)
    better = presieve.optimize(df, cost="always")
    assert rows_read(better)[0] == rows_read(df)[0]
    assert [d.derived for d in presieve.explain(df, cost="always").derived if d.derived] == (
        [derived] if derived else []
    )


@pytest.mark.parametrize("key", ["array(m)", "named_struct('a', m)", "decimal(m)", "d"])
def test_a_partition_by_any_type(tables: SparkSession, key: str) -> None:
    window = f"count(*) OVER (PARTITION BY {key} ORDER BY i) r"
    df = tables.sql(f"SELECT * FROM (SELECT *, {window} FROM days) WHERE year(d) = 1985 AND r < 3")
    assert rows_read(presieve.optimize(df, cost="always"))[0] == rows_read(df)[0]


def test_a_partition_by_zeros_of_both_signs(
    tables: SparkSession, tmp_path_factory: pytest.TempPathFactory
) -> None:
    """Both zeros are one partition, and differ as texts."""
    path = str(tmp_path_factory.mktemp("zeros") / "t")
    tables.sql("SELECT explode(array(0D, double('-0.0'), 1D)) x").coalesce(1).write.parquet(path)
    counted = tables.read.parquet(path).selectExpr("string(x) t", "x")
    counted = counted.selectExpr("*", "count(*) OVER (PARTITION BY x) n")
    df = counted.where("t = '-0.0'")
    assert rows_read(presieve.optimize(df, cost="always"))[0] == rows_read(df)[0]
    assert [row.n for row in df.collect()] == [2]


CONDITIONS = {
    "year(d) = 1985 AND month(d) = 5": "d >= DATE '1985-05-01' AND d < DATE '1985-06-01'",
    "year(d) = 1985 AND quarter(d) = 4": "d >= DATE '1985-10-01' AND d < DATE '1986-01-01'",
    "year(d) IN (1981, 1985) AND month(d) = 5 AND day(d) < 10": (
        "(d >= DATE '1981-05-01' AND d < DATE '1981-05-10')"
        " OR (d >= DATE '1985-05-01' AND d < DATE '1985-05-10')"
    ),
    "year(d) = 1985 AND dayofyear(d) > 360": "d >= DATE '1985-12-27' AND d < DATE '1986-01-01'",
    "d BETWEEN '1985-01-01' AND '1985-01-10' AND dayofweek(d) = 1": "d = DATE '1985-01-06'",
    "d BETWEEN '1985-01-01' AND '1985-01-10' AND weekday(d) = 0": "d = DATE '1985-01-07'",
    "year(d) = 1985 AND month(d) > 12": "false",
    "date(ts) = DATE '1985-05-01' AND hour(ts) = 1": (
        "ts >= TIMESTAMP '1985-05-01 01:00:00Z' AND ts < TIMESTAMP '1985-05-01 02:00:00Z'"
    ),
    "month(d) = 5": None,
    "hour(ts) = 1": None,
    "p + 1 < 10": "p < 9.00",
    "2.5 * p - 0.5 < 10": "p < 4.20",
    "-p > -10.5 AND abs(p) > 3": "p < -3.00 OR (p >= 3.01 AND p < 10.50)",
    "CAST(p AS DOUBLE) < 10": "p <= 9.99",
    "CAST(p AS DECIMAL(20, 4)) + 1 < 10.9951": "p <= 9.99",
    "CAST(i AS STRING) = '500'": "i = 500",
    "CAST(i AS STRING) IN ('500', '07', '-1')": "i IN (-1, 500)",
    "CAST(i AS STRING) LIKE '39%'": None,
    "substring(CAST(i AS STRING), 1, 9) = '123456789'": (
        "i = 123456789 OR (i >= 1234567890 AND i < 1234567900)"
    ),
    "array_contains(array(1, 2, NULL), i)": "i >= 1 AND i < 3",
    "array_contains(array(DATE '1985-05-01'), d)": "d = DATE '1985-05-01'",
    "i > 500 AND i < 300": "false",
}  # fmt: skip


@pytest.mark.parametrize("condition", CONDITIONS)
def test_conditions(tables: SparkSession, condition: str) -> None:
    tables.conf.set("spark.sql.session.timeZone", "UTC")
    df = tables.table("days").where(condition)
    report = presieve.explain(df, cost="always")
    derived = [d.derived for d in report.derived if d.derived]
    expected = CONDITIONS[condition]
    if expected is not None or not condition.startswith("CAST(i AS STRING) LIKE"):
        assert derived == ([expected] if expected else [])
    assert rows_read(presieve.optimize(df, cost="always"))[0] == rows_read(df)[0]


@pytest.mark.parametrize("zone", ["UTC", "Europe/Berlin", "Asia/Kolkata", "America/New_York"])
@pytest.mark.parametrize(
    "condition",
    [
        "date_format(ts, 'yyyy-MM') = '1985-05'",
        "CAST(ts AS STRING) LIKE '1985-05%'",
        "date_trunc('MONTH', ts) = TIMESTAMP '1985-05-01 00:00:00'",
        "year(ts) = 1985 AND month(ts) = 5",
        "year(ts) >= 2050",
        "date_format(ts, 'yyyy') < '1960'",
    ],
)
def test_zones_east_and_west(tables: SparkSession, zone: str, condition: str) -> None:
    """Constants of years in which a zone's rules are not known are not written."""
    tables.conf.set("spark.sql.session.timeZone", zone)
    try:
        df = tables.table("days").where(condition)
        (found,) = presieve.explain(df, cost="always").derived
        assert found.derived
        assert rows_read(presieve.optimize(df, cost="always"))[0] == rows_read(df)[0]
    finally:
        tables.conf.set("spark.sql.session.timeZone", "UTC")


@pytest.fixture(scope="module")
def numbers(spark: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> DataFrame:
    """Days as numbers, some that are none, and as milliseconds, in order and in four files."""
    path = str(tmp_path_factory.mktemp("numbers") / "t")
    days = "date_add(DATE '1999-12-01', int(id))"
    raw = spark.range(0, 4000, 1, 4).selectExpr(
        f"int(date_format({days}, 'yyyyMMdd')) n", f"unix_date({days}) * 86400000L + id ms"
    )
    others = "VALUES (20000230, 0L), (20001301, -1L), (20000000, 5L), (0, 7L), (-20000101, NULL)"
    odd = spark.sql(f"SELECT col1 n, col2 ms FROM {others}").coalesce(1)
    odd.union(spark.sql("SELECT int(200001011), 1L")).coalesce(1).write.parquet(path)
    raw.write.mode("append").parquet(path)
    return spark.read.parquet(path)


WRITTEN_DAYS = {
    "to_date(CAST(n AS STRING), 'yyyyMMdd') = DATE '2001-05-01'": True,
    "to_date(CAST(n AS STRING), 'yyyyMMdd') BETWEEN DATE '2000-02-25' AND DATE '2000-03-02'": True,
    "to_timestamp(CAST(n AS STRING), 'yyyyMMdd') < TIMESTAMP '1999-12-05 00:00:00'": True,
    "substring(CAST(n AS STRING), 1, 6) = '200105'": True,
    "to_date(from_unixtime(ms / 1000)) = DATE '2001-05-01'": True,
    "from_unixtime(ms DIV 1000, 'yyyy-MM-dd') = '2001-05-01'": True,
    "to_date(CAST(n AS STRING), 'yyyyMMdd') IS NULL": False,
    "to_date(CAST(n AS STRING), 'yyyyddMM') = DATE '2001-05-01'": False,
}


@pytest.mark.parametrize("zone", ["UTC", "Europe/Berlin", "America/St_Johns"])
@pytest.mark.parametrize("condition", WRITTEN_DAYS)
def test_days_that_are_written_as_numbers(
    numbers: DataFrame, spark: SparkSession, condition: str, zone: str
) -> None:
    policy = "spark.sql.legacy.timeParserPolicy"
    names = ("spark.sql.session.timeZone", "spark.sql.ansi.enabled", policy)
    before = {name: str(spark.conf.get(name)) for name in names}
    try:
        for name, value in zip(names, (zone, "false", "CORRECTED"), strict=True):
            spark.conf.set(name, value)
        df = numbers.where(condition)
        rows, read = rows_read(df)
        better_rows, better_read = rows_read(presieve.optimize(df, cost="always"))
        assert better_rows == rows
        assert rows
        assert (better_read < read) == WRITTEN_DAYS[condition]
    finally:
        for name, value in before.items():
            spark.conf.set(name, value)
