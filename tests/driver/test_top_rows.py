"""The n-th value of what rows are sorted by is a filter on the files below ORDER BY ... LIMIT n."""

from __future__ import annotations

import json
import random
from itertools import product
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from tests.driver.conditions import SOLVERS, rows
from tests.support.scans import largest_scan
from tests.support.spark_version import is_before

import presieve
from presieve.backend.classic.query_bounds import nth_value, plans, top_rows
from presieve.backend.classic.query_bounds.nth_value import NthValue
from presieve.certificate.checker import Rejected, SolverName, Verified, check
from presieve.certificate.stored import parse
from presieve.certificate.top_rows import TopRowsCertificate
from presieve.cli.app import main
from presieve.cost.top_rows import TopRange
from presieve.driver.session import SessionSetting, enabled_as
from presieve.ir.ops import app
from presieve.ir.terms import SQL_TRUE, Lit, Op, Scope, Var
from presieve.plan.algebra import Attribute
from presieve.records import replace
from presieve.report.report_data import ReportData

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

pytestmark = [
    pytest.mark.classic("bounds are read from the plan in the JVM"),
    pytest.mark.skipif(is_before("4.0"), reason="scans are not handed values of subqueries"),
]

ROWS = 60_000
GROUPS = 60


@pytest.fixture(scope="module", autouse=True)
def tables(spark: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> None:
    import numpy as np
    import pyarrow as pa
    import pyarrow.parquet as pq

    folder = tmp_path_factory.mktemp("top")
    n = np.arange(ROWS, dtype=np.int64)
    columns = {
        "k": pa.array(n),
        "i": pa.array((n // 2).astype(np.int32)),
        "d": pa.array((n // 10).astype(np.int32)).cast(pa.date32()),
        "ts": pa.array(n * 600_000_000).cast(pa.timestamp("us", "UTC")),
        "x": pa.array(n / 2.0),
        "u": pa.array((n * 7919) % ROWS),
        "h": pa.array([None if v % 7 == 0 else int(v) for v in n]),
        "late": pa.array([None if v < 3_000 else int(v) for v in n]),
    }
    pq.write_table(pa.table(columns), folder / "events.parquet", row_group_size=ROWS // GROUPS)
    events = spark.read.parquet(str(folder / "events.parquet"))
    events.createOrReplaceTempView("events")
    spark.conf.set("spark.sql.parquet.outputTimestampType", "TIMESTAMP_MICROS")
    block = events.repartitionByRange(12, "k").sortWithinPartitions("k").write
    block.option("parquet.block.size", 1000).parquet(str(folder / "written"))
    spark.conf.unset("spark.sql.parquet.outputTimestampType")
    spark.read.parquet(str(folder / "written")).createOrReplaceTempView("written")
    few = spark.range(0, ROWS, 70).selectExpr("id AS n", "id * 2 AS y")
    few.union(few).coalesce(1).write.parquet(str(folder / "few"))
    spark.read.parquet(str(folder / "few")).createOrReplaceTempView("few")


@pytest.fixture(autouse=True)
def least(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(top_rows, "MIN_ROWS", ROWS // 2)
    monkeypatch.setattr(plans, "MIN_BYTES", 0)


FORMS = {
    "descending": "SELECT * FROM events ORDER BY {0} DESC, k LIMIT 10",
    "ascending": "SELECT * FROM events ORDER BY {0}, k LIMIT 10",
    "NULL first": "SELECT * FROM events ORDER BY {0} DESC NULLS FIRST, k LIMIT 10",
    "NULL last": "SELECT * FROM events ORDER BY {0} NULLS LAST, k LIMIT 10",
    "filtered": "SELECT * FROM events WHERE x > 20000 ORDER BY {0}, k LIMIT 10",
    "rarely": "SELECT * FROM events WHERE u < 6000 ORDER BY {0} DESC, k LIMIT 5",
    "renamed": "SELECT s, k FROM (SELECT {0} AS s, k FROM events) ORDER BY s DESC, k LIMIT 10",
    "dropped": "SELECT x FROM events ORDER BY {0} DESC, k LIMIT 10",
    "the first": "SELECT {0}, x FROM events ORDER BY {0} DESC, k LIMIT 1",
    "after others": "SELECT {0}, x FROM events ORDER BY {0} DESC, k LIMIT 10 OFFSET 1500",
    "without partners": "SELECT e.*, f.y FROM events e LEFT JOIN few f ON e.k = f.n"
    " ORDER BY {0} DESC, k LIMIT 10",
    "on the right": "SELECT e.*, f.y FROM few f RIGHT JOIN events e ON e.k = f.n"
    " ORDER BY {0} DESC, k LIMIT 10",
    "twice": "SELECT * FROM (SELECT * FROM events ORDER BY {0} DESC, k LIMIT 10) AS a"
    " JOIN (SELECT {0} AS t, u AS v FROM events ORDER BY {0}, k LIMIT 9) AS b",
}


@pytest.mark.parametrize(
    ("form", "key", "table"),
    [
        *((form, "ts", "events") for form in FORMS),
        *product(list(FORMS)[:2], ("k", "i", "d"), ["events"]),
        *product(list(FORMS)[:2], ("i", "ts"), ["written"]),
    ],
)
def test_row_groups_are_skipped(spark: SparkSession, form: str, key: str, table: str) -> None:
    df = spark.sql(FORMS[form].format(key).replace("events", table))
    better = presieve.optimize(df)
    assert better is not df
    assert rows(better) == rows(df) != []
    assert largest_scan(df) >= ROWS / 3
    assert largest_scan(better) < ROWS / 7
    assert presieve.optimize(better) is better
    reported = presieve.explain(df).derived
    assert len(reported) == 1 + (form == "twice")
    for derived in reported:
        assert derived.derived
        assert derived.skipped is not None
        assert derived.skipped > 0.6
        (claim,) = derived.certificates
        assert all(isinstance(check(parse(claim), s), Verified) for s in SOLVERS)


def test_the_report_tells_how_scans_take_it(spark: SparkSession) -> None:
    df = spark.table("events").orderBy("ts").limit(3)
    (scan, *_) = presieve.explain(df).scans
    (offered,) = scan.offered
    assert offered.contract == "inexact"
    assert offered.reason.startswith("its value is known when the plan runs")


def test_rows_without_a_key_come_first(spark: SparkSession) -> None:
    """NULL is in the first row groups alone, so that the others are skipped all the same."""
    for direction in ("", "DESC", "NULLS LAST", "DESC NULLS FIRST"):
        df = spark.sql(f"SELECT late, k FROM events ORDER BY late {direction}, k LIMIT 2000")
        better = presieve.optimize(df)
        assert better is not df
        assert rows(better) == rows(df)
        assert largest_scan(better) < ROWS / 5


def test_a_python_function_runs_on_few_rows(spark: SparkSession) -> None:
    from pyspark.sql import functions as F

    doubled = F.udf(lambda x: x * 2 if x > 1 else float(str(x)), "double")
    events = spark.table("events").withColumn("y", doubled("x"))
    df = events.orderBy(F.desc("ts")).limit(7)
    better = presieve.optimize(df)
    assert rows(better) == rows(df)
    assert largest_scan(better) < ROWS / 10
    (reported,) = presieve.explain(df).derived
    assert reported.assumptions[0]["code"] == "may-erase-error"
    strict = presieve.explain(df, policy="strict").derived
    assert [d.code for r in strict for d in r.declined] == ["may-erase-error"]


REFUSED = {
    "inner": "SELECT * FROM events e JOIN few f ON e.k = f.n AND f.y < 9 ORDER BY k DESC LIMIT 5",
    "nullable side": "SELECT * FROM few f LEFT JOIN events e ON e.k = f.n ORDER BY k DESC LIMIT 5",
    "semi": "SELECT * FROM events LEFT SEMI JOIN few ON k = n AND y < 9 ORDER BY k DESC LIMIT 5",
    "above a join": "SELECT * FROM events e LEFT JOIN few f ON e.k = f.n WHERE f.y % 9 = 5"
    " ORDER BY k DESC LIMIT 5",
    "grouped": "SELECT k DIV 9000 AS g, max(k) AS k FROM events GROUP BY g ORDER BY k LIMIT 2",
    "distinct": "SELECT DISTINCT i FROM events ORDER BY i DESC LIMIT 5",
    "limited": "SELECT * FROM (SELECT * FROM events LIMIT 50000) ORDER BY k DESC LIMIT 5",
    "computed": "SELECT * FROM events ORDER BY k % 10 DESC, k LIMIT 5",
    "doubles": "SELECT * FROM events ORDER BY x DESC LIMIT 5",
    "in no order": "SELECT * FROM events ORDER BY u DESC LIMIT 5",
    "NULL everywhere": "SELECT * FROM events ORDER BY h DESC, k LIMIT 5",
    "too many": "SELECT * FROM events ORDER BY k DESC LIMIT 50000",
    "no limit": "SELECT * FROM events ORDER BY k DESC",
    "random": "SELECT * FROM events WHERE rand() < 2 ORDER BY k DESC LIMIT 5",
    "of a subquery": "SELECT * FROM events WHERE k < (SELECT max(n) FROM few) ORDER BY k LIMIT 5",
    "no number": "SELECT * FROM events ORDER BY k DESC LIMIT 0",
}


@pytest.mark.parametrize("name", REFUSED)
def test_where_a_bound_would_say_too_much_or_cost_too_much(spark: SparkSession, name: str) -> None:
    df = spark.sql(REFUSED[name])
    for cost in ("auto", "always"):
        better = presieve.optimize(df, cost=cost)
        if name != "random":
            assert sorted(map(str, rows(better))) == sorted(map(str, rows(df)))
        if cost == "auto" and name != "of a subquery":
            assert "scalar-subquery" not in better._jdf.queryExecution().analyzed().toString()


TWINS = {
    "of another side": (REFUSED["inner"], "k >= 59995"),
    "of rows that a join drops": (REFUSED["semi"], "k >= 59995"),
    "of rows that a filter drops": (REFUSED["above a join"], "k >= 59995"),
    "of rows that are dropped before": (REFUSED["limited"], "k >= 59995"),
    "of equal rows": ("SELECT d FROM events ORDER BY d DESC LIMIT 12", "d > DATE '1986-06-04'"),
    "of rows without a key": ("SELECT late FROM events ORDER BY late LIMIT 5", "late <= 3005"),
    "of too few": ("SELECT k FROM events ORDER BY k DESC LIMIT 7", "k >= 59995"),
    "skipped": ("SELECT k FROM events ORDER BY k DESC LIMIT 5 OFFSET 3", "k >= 59995"),
    "turned": ("SELECT k FROM events ORDER BY k LIMIT 5", "k >= 59995"),
}


@pytest.mark.parametrize("name", TWINS)
def test_there_it_would_change_the_rows(spark: SparkSession, name: str) -> None:
    """The twins that a bound by hand refutes."""
    source, bound = TWINS[name]
    narrow = source.replace("events", f"(SELECT * FROM events WHERE {bound})", 1)
    assert rows(spark.sql(narrow)) != rows(spark.sql(source))


SUGGESTED = [*product((0, 3, 9, 10**6, -(10**6)), repeat=2)]


@pytest.mark.parametrize("count", [1, 3, 40])
@pytest.mark.parametrize("direction", ["", "DESC", "NULLS LAST", "DESC NULLS FIRST"])
def test_whatever_footers_suggest(
    spark: SparkSession, monkeypatch: pytest.MonkeyPatch, direction: str, count: int
) -> None:
    """A wrong suggestion, as of files that were replaced, costs time and no row."""
    monkeypatch.setattr(top_rows, "MIN_ROWS", 0)
    rng = random.Random(f"{direction} {count}")
    values = [rng.choice([None, 0, 1, 2, 3, 9, -5, 2**31 - 1, -(2**31)]) for _ in range(30)]
    path = _write(spark, values)
    df = spark.sql(f"SELECT * FROM parquet.`{path}` ORDER BY i {direction}, n LIMIT {count}")
    expected = rows(df)
    for start, end in rng.sample(SUGGESTED, 9):
        monkeypatch.setattr(
            nth_value, "guess_range", lambda *_, s=start, e=end, **__: TopRange(s, e, 1.0)
        )
        better = presieve.optimize(df, cost="always")
        assert better is not df
        assert rows(better) == expected


def _write(spark: SparkSession, values: list[Any]) -> str:
    import tempfile

    path = tempfile.mkdtemp() + "/t"
    data = [(v, n) for n, v in enumerate(values)]
    spark.createDataFrame(data, "i int, n int").coalesce(1).write.parquet(path)
    return path


@pytest.mark.parametrize("action", ["take", "head", "first"])
def test_actions_that_take_first_rows(spark: SparkSession, action: str) -> None:
    df = spark.table("events").orderBy("ts")
    seen: list[ReportData] = []
    setting = SessionSetting({}, lambda _, report: seen.append(report), for_report=True)
    with enabled_as(spark, setting):
        call = getattr(df, action)
        first = call() if action == "first" else call(1)[0]
    assert first == df.limit(1).collect()[0]
    (report,) = seen
    assert report.derived[0].where == "ORDER BY ts ASC LIMIT 1"
    assert report.changed


BOUNDED = {
    "first rows": "SELECT k FROM {0} ORDER BY k DESC LIMIT 3",
    "latest key": "SELECT a.k FROM {0} a JOIN (SELECT max(k) AS m FROM {0}) b ON a.k = b.m",
}


@pytest.mark.parametrize("name", BOUNDED)
def test_an_enabled_session_computes_the_bound_again(
    spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    """Spark keeps the values of a DataFrame's subqueries, and a file may have been overwritten."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    monkeypatch.setattr(top_rows, "MIN_ROWS", 0)
    path = tmp_path / "t.parquet"
    pq.write_table(pa.table({"k": list(range(5000, 6000))}), path, row_group_size=100)
    with presieve.enabled(spark, cost="always"):
        df = spark.sql(BOUNDED[name].format(f"parquet.`{path}`"))
        assert df.collect()[0].k == 5999
        pq.write_table(pa.table({"k": list(range(5001, 5501)) * 2}), path, row_group_size=100)
        assert df.collect()[0].k == 5500


@pytest.mark.skipif(is_before("4.3"), reason="functions of a session never come first")
@pytest.mark.parametrize("function", ["count", "min", "max"])
@pytest.mark.parametrize("name", BOUNDED)
def test_functions_of_the_session_with_names_of_spark(
    spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str, function: str
) -> None:
    """Two names may mean one function: what the query computes is read again."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    monkeypatch.setattr(top_rows, "MIN_ROWS", 0)
    path = tmp_path / "t.parquet"
    pq.write_table(pa.table({"k": list(range(5000, 6000))}), path, row_group_size=100)
    df = spark.sql(BOUNDED[name].format(f"parquet.`{path}`"))
    expected = rows(df)
    spark.conf.set("spark.sql.functionResolution.sessionOrder", "first")
    spark.udf.register(function, lambda _: 10**6, "long")
    try:
        better = presieve.optimize(df, cost="always")
        assert rows(better) == expected
    finally:
        spark.sql(f"DROP TEMPORARY FUNCTION IF EXISTS {function}")
        spark.conf.unset("spark.sql.functionResolution.sessionOrder")


@pytest.mark.parametrize("name", BOUNDED)
def test_files_that_cannot_be_read_are_ignored(
    spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    """Which rows there are depends on the columns that are read, and a subquery reads fewer."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    monkeypatch.setattr(top_rows, "MIN_ROWS", 0)
    path = tmp_path / "t.parquet"
    numbers = list(range(200))
    table = pa.table({"k": numbers, "y": numbers})
    pq.write_table(table, path, row_group_size=10, compression="NONE", use_dictionary=False)
    broken = pq.ParquetFile(path).metadata.row_group(19).column(1).data_page_offset
    data = bytearray(path.read_bytes())
    data[broken : broken + 20] = b"\xff" * 20
    path.write_bytes(bytes(data))
    spark.conf.set("spark.sql.files.ignoreCorruptFiles", "true")
    try:
        source = BOUNDED[name].replace("SELECT k", "SELECT k, y").replace("a.k FROM", "a.k, y FROM")
        df = spark.sql(source.format(f"parquet.`{path}`"))
        assert rows(presieve.optimize(df, cost="always")) == rows(df)
    finally:
        spark.conf.unset("spark.sql.files.ignoreCorruptFiles")


@pytest.mark.second
def test_random_tables(
    spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With NULL, duplicates and extremes, whatever it costs."""
    monkeypatch.setattr(top_rows, "MIN_ROWS", 0)
    rng = random.Random(4903)
    types: dict[str, tuple[str, list[Any]]] = {
        "k": ("long", [None, 0, 1, 2, 3, -1, 2**63 - 1, -(2**63)]),
        "i": ("int", [None, 0, 1, 2, 3, -1, 2**31 - 1, -(2**31)]),
        "d": ("string", [None, "0001-01-01", "9999-12-31", "1970-01-01", "2024-02-29"]),
        "ts": ("string", [None, "0002-01-01", "9999-12-30 23:59:59.999999", "1970-01-01"]),
    }
    spark.conf.set("spark.sql.parquet.outputTimestampType", "TIMESTAMP_MICROS")
    changed = 0
    for turn in range(6):
        data = [
            (*(rng.choice(values) for _, values in types.values()), rng.randrange(9), n)
            for n in range(rng.choice((0, 3, 40, 200)))
        ]
        schema = ", ".join(f"{n} {t}" for n, (t, _) in types.items()) + ", v int, n int"
        cast = ("k", "i", "CAST(d AS date) d", "CAST(ts AS timestamp) ts", "v", "n")
        path = str(tmp_path / f"t{turn}")
        frame = spark.createDataFrame(data, schema).selectExpr(*cast)
        frame.repartition(3).write.option("parquet.block.size", 1).parquet(path)
        for key in types:
            where = rng.choice(["", "WHERE v < 5", "WHERE v < 5 OR n > 30", "WHERE k IS NOT NULL"])
            order = rng.choice(["", "DESC", "NULLS LAST", "DESC NULLS FIRST"])
            df = spark.sql(
                f"SELECT * FROM parquet.`{path}` {where} ORDER BY {key} {order}, n"
                f" LIMIT {rng.choice((1, 2, 5, 30))}"
            )
            better = presieve.optimize(df, cost="always")
            changed += better is not df
            assert rows(better) == rows(df)
    spark.conf.unset("spark.sql.parquet.outputTimestampType")
    assert changed > 5


def claim(type_: str = "bigint", *, descending: bool = True) -> TopRowsCertificate:
    column = Attribute(1, "k", type_, True)
    nth = NthValue((0,), column, descending, 5, TopRange(7, 3, 0.9))
    return top_rows.TopRows((0,), column, nth=nth).certificate


@pytest.mark.parametrize("type_", ["int", "bigint", "date", "timestamp"])
@pytest.mark.parametrize("descending", [True, False])
@pytest.mark.parametrize("solver", SOLVERS)
def test_both_solvers_prove_it(type_: str, descending: bool, solver: SolverName) -> None:
    certificate = claim(type_, descending=descending)
    assert isinstance(check(certificate, solver), Verified)
    assert parse(certificate.to_json()) == certificate
    other_place = replace(certificate.key, nulls_first=not certificate.key.nulls_first)
    assert isinstance(check(replace(certificate, key=other_place), solver), Verified)


@pytest.mark.parametrize("solver", SOLVERS)
def test_columns_with_one_name_are_refused(solver: SolverName) -> None:
    """They would be one column, of which everything is true."""
    certificate = claim()
    key, _ = certificate.columns
    same = replace(key, name="bound")
    value, limit = (Var(s, "bound", key.sort) for s in (Scope.ROW, Scope.KEY))
    less = app(Op.SQL_INT_SUB, value, Lit(certificate.end.sort, 1))
    below = app(Op.SQL_EQ, limit, certificate.end)
    order = replace(certificate.key, value=less)
    false = replace(certificate, columns=(same, same), key=order, below=below)
    assert isinstance(check(false, solver), Rejected)


@pytest.mark.parametrize("solver", SOLVERS)
def test_with_less_it_is_refuted(solver: SolverName) -> None:
    certificate = claim()
    key, bound = certificate.columns
    value, limit = Var(Scope.ROW, key.name, key.sort), Var(Scope.KEY, bound.name, bound.sort)
    end = Lit(certificate.end.sort, 3)
    no_null = app(Op.SQL_OR, app(Op.SQL_GE, value, limit), app(Op.SQL_LT, value, end))
    null = app(Op.SQL_IS_NULL, value)
    no_tie = app(Op.SQL_OR, app(Op.SQL_GT, value, limit), app(Op.SQL_LT, value, end), null)
    no_end = app(Op.SQL_OR, app(Op.SQL_GE, value, limit), null)
    for below in (no_null, no_tie, no_end, null):
        assert isinstance(check(replace(certificate, below=below), solver), Rejected)
    turned = replace(certificate, key=replace(certificate.key, descending=False))
    assert isinstance(check(turned, solver), Rejected)
    other_end = replace(certificate, end=Lit(certificate.end.sort, 4))
    assert isinstance(check(other_end, solver), Rejected)
    assert isinstance(check(replace(certificate, below=SQL_TRUE), solver), Verified)


def test_the_command_shows_what_it_has_checked(tmp_path: Path, capsys: Any) -> None:
    claim().save(tmp_path / "claim.json")
    assert main(["check", str(tmp_path / "claim.json"), "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert told["kind"] == "top-rows"
    assert told["prefilter"] == "key >= bound OR key < 3 OR key IS NULL"


@pytest.mark.parametrize("key", ["d", "ts"])
def test_days_of_another_calendar(spark: SparkSession, tmp_path: Path, key: str) -> None:
    """Of days that the other calendar has not a scan loses rows: they get no bound."""
    import datetime as dt

    import pyarrow as pa
    import pyarrow.parquet as pq

    days = [dt.date(1582, 9, 25) + dt.timedelta(days=i) for i in range(30)] * (ROWS // 60)
    times = [dt.datetime(d.year, d.month, d.day) for d in days]
    columns = {"d": pa.array(days), "ts": pa.array(times, pa.timestamp("us", "UTC"))}
    pq.write_table(pa.table(columns), tmp_path / "old.parquet", row_group_size=1000)
    old = spark.read.parquet(str(tmp_path / "old.parquet"))
    frame: DataFrame = old.orderBy(key).limit(3000)
    for cost in ("auto", "always"):
        assert rows(presieve.optimize(frame, cost=cost)) == rows(frame)
