"""Tables of Iceberg, read by its own runtime. It is run by ``make iceberg``; its name keeps it out
of ``make test``.
"""

from __future__ import annotations

import random
import re
from collections.abc import Callable, Iterator
from datetime import date, datetime, timedelta
from decimal import Decimal
from typing import TYPE_CHECKING, Any, TypeAlias

import pytest
from pyspark.sql import functions as F
from tests.support.running import plan_text, same_rows

import presieve
from presieve.backend.classic.gateway import ClassicGateway
from presieve.backend.classic.scans import iceberg

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

    from presieve.backend.statistics.scan_contracts import ScanContract

Make: TypeAlias = Callable[[random.Random], Any]

DAY = date(1970, 1, 1)
INSTANT = datetime(1970, 1, 1)
SECOND = 1_000_000


def _integers(low: int, high: int) -> Make:
    ends = (low, low + 1, high - 1, high, -100, -7, -1, 0, 1, 2, 7, 100)
    return lambda rnd: rnd.choice(ends) if rnd.random() < 0.5 else rnd.randint(-30, 30)


def _date(rnd: random.Random) -> date:
    days = (-719_162, -366, -365, -1, 0, 1, 31, 59, 365, 2_932_896, rnd.randint(-800, 800))
    return DAY + timedelta(days=rnd.choice(days))


def _instant(rnd: random.Random) -> datetime:
    hour, day = 3600 * SECOND, 86_400 * SECOND
    near = (0, -1, 1, hour - 1, -hour, -hour - 1, -day, 1 - day, rnd.randint(-(10**14), 10**14))
    ends = (-62_135_596_800 * SECOND, 253_402_300_799 * SECOND + 999_999)
    return INSTANT + timedelta(microseconds=rnd.choice((*near, *ends)))


def _text(rnd: random.Random) -> str:
    parts = ("", "a", "ab", "z" * 15, "\uffff", "\ufffd", "\U0001f600", "\U0010ffff", "\x00")
    return "".join(rnd.choices(parts, k=3))


def _double(rnd: random.Random) -> float:
    return rnd.choice((0.0, -0.0, float("nan"), -1.5, 1.5, 5e-324))


def _instant_text(value: datetime) -> str:
    return f"{value.year:04}-{value:%m-%d %H:%M:%S.%f}"


COMPARED: dict[str, tuple[Make, Callable[[Any], str], tuple[str, ...]]] = {
    "int": (
        _integers(-(2**31), 2**31 - 1),
        lambda v: f"CAST('{v}' AS int)",
        ("", "c", "bucket(3, c)"),
    ),
    "bigint": (
        _integers(-(2**63), 2**63 - 1),
        lambda v: f"CAST('{v}' AS bigint)",
        ("", "c", "bucket(3, c)"),
    ),
    "date": (
        _date,
        lambda v: f"DATE '{v.year:04}-{v:%m-%d}'",
        ("", "c", "bucket(3, c)", "years(c)", "months(c)", "days(c)"),
    ),
    "timestamp": (
        _instant,
        lambda v: f"TIMESTAMP '{_instant_text(v)}Z'",
        ("", "c", "bucket(3, c)", "years(c)", "months(c)", "days(c)", "hours(c)"),
    ),
    "timestamp_ntz": (
        _instant,
        lambda v: f"TIMESTAMP_NTZ '{_instant_text(v)}'",
        ("", "c", "bucket(3, c)", "years(c)", "months(c)", "days(c)", "hours(c)"),
    ),
    "decimal(10,2)": (
        lambda rnd: Decimal(rnd.choice((-(10**10) + 1, -1, 0, 1, 10**10 - 1, 77))).scaleb(-2),
        lambda v: f"CAST('{v}' AS decimal(10,2))",
        ("", "c", "bucket(3, c)"),
    ),
    "boolean": (lambda rnd: rnd.random() < 0.5, str, ("", "c")),
}
"""The types of which a scan is handed filters: values, how they are written, and partitions."""

NOT_COMPARED: dict[str, tuple[Make, Callable[[Any], str], tuple[str, ...]]] = {
    "double": (_double, lambda v: f"CAST('{v!r}' AS double)", ("", "c")),
    "string": (
        _text,
        lambda v: f"decode(unhex('{v.encode().hex()}'), 'UTF-8')",
        ("", "c", "truncate(2, c)"),
    ),
    "int": (*COMPARED["int"][:2], ("truncate(10, c)",)),
}
Case: TypeAlias = tuple[str, str, bool]

CASES: list[Case] = [
    *((t, p, True) for t, (_, _, parts) in COMPARED.items() for p in parts),
    *((t, p, False) for t, (_, _, parts) in NOT_COMPARED.items() for p in parts),
]


@pytest.fixture(autouse=True)
def settings(spark: SparkSession) -> Iterator[None]:
    keys = ("datetimeRebaseModeInWrite", "datetimeRebaseModeInRead")
    names = [f"spark.sql.parquet.{k}" for k in keys]
    before = {name: spark.conf.get(name) for name in names}
    for name in names:
        spark.conf.set(name, "CORRECTED")
    spark.conf.set("spark.sql.parquet.outputTimestampType", "TIMESTAMP_MICROS")
    yield
    for name, value in before.items():
        spark.conf.set(name, value or "")


def _written(spark: SparkSession, columns: str, partition: str, rows: DataFrame) -> DataFrame:
    """A table of four files or more."""
    spark.sql("DROP TABLE IF EXISTS ice.db.t")
    by = f"PARTITIONED BY ({partition})" if partition else ""
    spark.sql(
        f"CREATE TABLE ice.db.t ({columns}) USING iceberg {by} "
        "TBLPROPERTIES ('write.spark.fanout.enabled' = 'true')"
    )
    for part in range(4):
        rows.where(f"id % 4 = {part}").coalesce(1).writeTo("ice.db.t").append()
    return spark.table("ice.db.t")


@pytest.mark.parametrize(("type_", "partition", "compared"), CASES)
def test_what_a_scan_does_with_filters(
    spark: SparkSession, type_: str, partition: str, compared: bool, tmp_path: Any
) -> None:
    """It loses no row of a column that it is handed filters of."""
    rnd = random.Random(f"{type_} {partition}")
    make, write, _ = (COMPARED if compared else NOT_COMPARED)[type_]
    values = [make(rnd) if rnd.random() > 0.1 else None for _ in range(60)]
    texts = (f"CAST({'NULL' if v is None else write(v)} AS {type_})" for v in values)
    chosen = " UNION ALL ".join(f"SELECT {i} AS id, {t} AS c" for i, t in enumerate(texts))
    spark.sql(chosen).write.parquet(str(tmp_path / "rows"))
    rows = spark.read.parquet(str(tmp_path / "rows"))
    table = _written(spark, f"id int, c {type_}", partition, rows)
    constants = [write(make(rnd)) for _ in range(6)]
    filters = [f"c {op} {c}" for c in constants for op in ("=", "<", "<=", ">", ">=", "<=>")]
    for _ in range(4):
        low, high = rnd.sample(constants, 2)
        filters += [f"c >= {low} AND c < {high}", f"c < {low} OR c > {high}"]
        filters += [f"c IN ({low}, {high})", f"c IS NULL OR c <= {low}"]
    # As columns, the conditions are no filters.
    held = rows.select("id", *(F.expr(f).alias(str(i)) for i, f in enumerate(filters))).collect()
    lost = [
        f
        for i, f in enumerate(filters)
        if {r.id for r in held if r[str(i)]} - {r.id for r in table.where(f).select("id").collect()}
    ]
    gateway = ClassicGateway(spark)
    aside = gateway.source(gateway.analyze_plan(table).collectLeaves().head()).aside
    assert ("c" not in aside) == compared
    assert not (compared and lost)
    if type_ in ("double", "int") and not compared:  # the reason why it is not handed any
        assert lost


@pytest.fixture(scope="module")
def table(spark: SparkSession) -> DataFrame:
    rows = spark.range(20_000).selectExpr(
        "CAST(id AS int) AS id",
        "timestamp_micros(1700000000000000 + id * 500000000) AS ts",
        "concat('t', lpad(id, 6, '0')) AS s",
        "CAST(IF(id % 100 = 0, 'NaN', id) AS double) AS x",
        "CAST(id % 7 AS int) AS k",
    )
    spark.sql("DROP TABLE IF EXISTS ice.db.events")
    spark.sql(
        "CREATE TABLE ice.db.events (id int, ts timestamp, s string, x double, k int) "
        "USING iceberg PARTITIONED BY (months(ts))"
    )
    rows.sortWithinPartitions("ts").writeTo("ice.db.events").append()
    return spark.table("ice.db.events")


def _scan(df: DataFrame, **options: Any) -> ScanContract:
    (scan,) = presieve.explain(df, **options).scans
    return scan


@pytest.mark.parametrize(
    ("where", "share"),
    [
        ("year(ts) = 2023", 0.5),
        ("date_format(ts, 'yyyy-MM') = '2024-01'", 0.4),
        ("trunc(ts, 'MM') = DATE '2024-01-01'", 0.4),
        ("datediff(ts, DATE '2023-11-15') BETWEEN 0 AND 5", 0.2),
        ("id * 2 < 2000", 0.2),
    ],
)
def test_filters_are_derived(table: DataFrame, where: str, share: float) -> None:
    df = table.where(where)
    assert _scan(df, cost="never").rows_read == 20_000
    better = presieve.optimize(df)
    assert better is not df
    same_rows(df, better)
    scan = _scan(df)
    assert scan.rows_read is not None
    assert scan.rows_read <= 20_000 * share
    assert {o.contract for o in scan.offered} >= {"unsupported"}
    assert {o.contract for o in scan.offered} & {"exact", "inexact"}


@pytest.mark.parametrize(
    "where", ["substring(s, 1, 4) = 't001'", "x + 1 > 10000", "id % 2 = 0", "k + 1 = 3"]
)
def test_filters_that_are_not_derived(table: DataFrame, where: str) -> None:
    """Of texts and floating-point numbers scans are handed none, and others skip nothing."""
    df = table.where(where)
    assert presieve.optimize(df) is df


def test_below_python(spark: SparkSession, table: DataFrame) -> None:
    """A filter on a function reaches the scan as a range of an integer; of a double it does not."""
    large = F.udf(lambda v: v is not None and v > 15_000, "boolean")
    half = F.udf(lambda v: None if v is None else v / 2, "double")
    df = table.withColumn("d", large("id")).where("d").select("id", "d")
    better = presieve.optimize(df)
    same_rows(df, better)
    assert re.search(r"filters=[^\]]*\bid > 15000\b", plan_text(better))
    assert presieve.explain(df, compile="never").boundaries[0].pushed_to_scan
    other = table.withColumn("d", half("x")).where("d > 5000").select("id", "x", "d")
    same_rows(other, presieve.optimize(other))


def test_tables_about_tables(spark: SparkSession, table: DataFrame) -> None:
    """They evaluate filters by rules of their own."""
    files = spark.table("ice.db.events.files").where("record_count + 1 > 2")
    assert presieve.optimize(files, cost="always") is files


@pytest.mark.parametrize(
    "text",
    [
        "WITH t AS (SELECT * FROM ice.db.events) "
        "SELECT a.id, b.k FROM t a JOIN t b ON a.id = b.id + 1 WHERE year(a.ts) = 2023",
        "WITH t AS (SELECT * FROM ice.db.events) "
        "SELECT id FROM t WHERE year(ts) = 2023 UNION ALL SELECT id FROM t WHERE id + 1 > 19000",
        "WITH t AS (SELECT * FROM ice.db.events) "
        "SELECT id, (SELECT max(k) FROM t) AS m FROM t WHERE year(ts) = 2023",
        "WITH t AS (SELECT * FROM ice.db.events) "
        "SELECT id FROM t WHERE year(ts) = 2023 AND id + 40 IN (SELECT id FROM t WHERE k = 1)",
        "WITH t AS (SELECT * FROM ice.db.events) SELECT a.id, b.m FROM t a "
        "JOIN (SELECT max(id) AS m, min(ts) AS n FROM t) b ON a.id < b.m WHERE year(a.ts) = 2023",
    ],
)
def test_definitions_that_are_read_twice(spark: SparkSession, table: DataFrame, text: str) -> None:
    """One of them needs rows that the other does not."""
    df = spark.sql(text)
    assert df.count() > 0
    same_rows(df, presieve.optimize(df, cost="always"))


def test_words(table: DataFrame) -> None:
    scan = _scan(table.where("ts >= '2024-01-01' AND id < 7000 AND id + k > 3"))
    assert [(o.contract, o.text.partition(" ")[0]) for o in scan.offered] == [
        ("exact", "ts"),
        ("inexact", "id"),
        ("unsupported", "(id"),
    ]
    assert iceberg.NOT_NULL not in " ".join(o.text for o in scan.offered)
