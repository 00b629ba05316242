"""The range of the keys on a join's small side is a filter on the large side's files."""

from __future__ import annotations

import random
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from tests.driver.conditions import SOLVERS, rows
from tests.support.scans import largest_scan
from tests.support.spark_version import is_before

import presieve
from presieve.backend.classic.query_bounds import join_key_ranges, nth_value, plans
from presieve.certificate.checker import Rejected, SolverName, Verified, check
from presieve.certificate.joins import JoinCertificate, parse
from presieve.cost.top_rows import TopRange
from presieve.ir.terms import SQL_TRUE
from presieve.plan.algebra import Attribute
from presieve.records import replace

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = [
    pytest.mark.classic("ranges of keys are read from the plan in the JVM"),
    pytest.mark.skipif(is_before("4.0"), reason="scans are not handed values of subqueries"),
]

FACTS = 60_000
GROUPS = 60
TYPES = {
    "k": "n",
    "i": "CAST(n AS int)",
    "d": "date_add(DATE '1970-01-01', CAST(n DIV 10 AS int))",
    "ts": "timestamp_seconds(n * 600)",
}


@pytest.fixture(scope="module", autouse=True)
def tables(spark: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> None:
    import numpy as np
    import pyarrow as pa
    import pyarrow.parquet as pq

    folder = tmp_path_factory.mktemp("ranges")
    n = np.arange(FACTS, dtype=np.int64)
    columns = {
        "k": pa.array(n),
        "i": pa.array(n.astype(np.int32)),
        "d": pa.array((n // 10).astype(np.int32)).cast(pa.date32()),
        "ts": pa.array(n * 600_000_000).cast(pa.timestamp("us", "UTC")),
        "x": pa.array(n / 2.0),
        "u": pa.array((n * 7919) % FACTS),
    }
    pq.write_table(pa.table(columns), folder / "facts.parquet", row_group_size=FACTS // GROUPS)
    made = [f"{sql} AS {name}" for name, sql in TYPES.items()]
    few = spark.range(0, FACTS, 50).selectExpr("IF(id % 700 = 0, NULL, id) AS n", "id AS x")
    twice = few.union(few.where("x % 100 = 0"))
    twice.selectExpr("n", "x", *made).coalesce(1).write.parquet(str(folder / "few"))
    spark.read.parquet(str(folder / "facts.parquet")).createOrReplaceTempView("facts")
    spark.read.parquet(str(folder / "few")).createOrReplaceTempView("few")


@pytest.fixture(autouse=True)
def least(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(join_key_ranges, "MIN_ROWS", FACTS // 2)
    monkeypatch.setattr(plans, "MIN_BYTES", 0)


ON_FEW = {
    "inner": "SELECT f.k, f.u, s.x FROM facts f JOIN few s ON f.{0} = s.{0} WHERE {1}",
    "turned": "SELECT f.k, f.u, s.x FROM few s JOIN facts f ON s.{0} = f.{0} AND {1}",
    "semi": "SELECT k FROM facts f LEFT SEMI JOIN (SELECT * FROM few s WHERE {1}) s"
    " ON f.{0} = s.{0}",
    "asked": "SELECT x FROM (SELECT * FROM few s WHERE {1}) s LEFT SEMI JOIN facts f"
    " ON f.{0} = s.{0}",
    "hinted": "SELECT /*+ BROADCAST(s) */ f.k, s.x FROM facts f JOIN few s ON f.{0} = s.{0}"
    " WHERE {1}",
    "projected": "SELECT k, y FROM facts f JOIN (SELECT x AS y, {0} AS o FROM few s WHERE {1}) s"
    " ON f.{0} = s.o",
}


@pytest.mark.parametrize(
    ("form", "key"),
    [*((form, "k") for form in ON_FEW), *(("inner", key) for key in TYPES if key != "k")],
)
def test_row_groups_are_skipped(spark: SparkSession, form: str, key: str) -> None:
    df = spark.sql(ON_FEW[form].format(key, "s.x BETWEEN 10000 AND 12000"))
    better = presieve.optimize(df)
    assert better is not df
    assert rows(better) == rows(df)
    assert len(rows(df)) > 10
    assert largest_scan(df) == FACTS
    assert largest_scan(better) < FACTS / 10
    assert presieve.optimize(better) is better
    assert presieve.optimize(df, policy="strict") is not df
    (found,) = presieve.explain(df).derived
    assert found.derived.startswith(f"{key} BETWEEN min(")
    assert found.skipped is not None
    assert found.skipped > 0.9
    assert not found.assumptions
    (claim,) = found.certificates
    assert all(isinstance(check(parse(claim), s), Verified) for s in SOLVERS)


LATEST = {
    "greatest": "SELECT f.k, f.u FROM facts f JOIN (SELECT max({0}) AS m FROM facts) s"
    " ON f.{0} = s.m",
    "least": "SELECT f.k, f.u FROM (SELECT min({0}) AS m FROM facts) s JOIN facts f ON f.{0} = s.m",
    "of some": "SELECT f.k, f.u FROM facts f JOIN (SELECT max({0}) AS m FROM facts WHERE u < 30000)"
    " s ON f.{0} = s.m",
    "semi": "SELECT k, u FROM facts f LEFT SEMI JOIN (SELECT max({0}) AS m, max(x) AS y FROM facts)"
    " s ON f.{0} = s.m",
    "renamed": "SELECT k, u FROM facts f JOIN (SELECT m AS n FROM (SELECT max(o) AS m FROM"
    " (SELECT {0} AS o FROM facts))) s ON f.{0} = s.n",
}


@pytest.mark.parametrize(
    ("form", "key"),
    [*((form, "k") for form in LATEST), *(("greatest", key) for key in TYPES if key != "k")],
)
def test_rows_of_the_latest_key(spark: SparkSession, form: str, key: str) -> None:
    df = spark.sql(LATEST[form].format(key))
    better = presieve.optimize(df)
    assert better is not df
    assert rows(better) == rows(df) != []
    assert largest_scan(df) >= 2 * FACTS
    assert largest_scan(better) < 1.5 * FACTS
    (found,) = presieve.explain(df).derived
    assert found.derived.startswith(f"{key} {'<=' if form == 'least' else '>='} ")
    (claim,) = found.certificates
    assert all(isinstance(check(parse(claim), s), Verified) for s in SOLVERS)


@pytest.mark.parametrize(
    "side",
    [
        "(SELECT count(k) AS m FROM facts)",
        "(SELECT max(k) FILTER (WHERE u < 9) AS m FROM facts)",
        "(SELECT max(k) AS m FROM facts GROUP BY d)",
        "(SELECT max(k) AS m FROM facts HAVING max(u) > 9)",
        "(SELECT max(k) + 1 AS m FROM facts)",
        "(SELECT max(m) AS m FROM (SELECT max(k) AS m FROM facts GROUP BY d))",
    ],
)
def test_other_sides_of_one_row(spark: SparkSession, side: str) -> None:
    df = spark.sql(f"SELECT f.k FROM facts f JOIN {side} s ON f.k = s.m")
    for cost in ("auto", "always"):
        better = presieve.optimize(df, cost=cost)
        assert "scalar-subquery" not in better._jdf.queryExecution().analyzed().toString()
        assert rows(better) == rows(df)


def test_an_outer_join_keeps_other_rows_than_the_latest(spark: SparkSession) -> None:
    df = spark.sql(
        "SELECT f.k, s.m FROM facts f LEFT JOIN (SELECT max(k) AS m FROM facts) s ON k=m"
    )
    assert rows(presieve.optimize(df, cost="always")) == rows(df)
    narrow = df.filter(f"k >= {FACTS - 5}")
    assert rows(narrow) != rows(df)


@pytest.mark.parametrize("extreme", ["max", "min"])
def test_whatever_footers_suggest_of_the_latest_key(
    spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, extreme: str
) -> None:
    rng = random.Random(extreme)
    values = [rng.choice([None, 0, 1, 2, 9, -5, 2**31 - 1, -(2**31)]) for _ in range(20)]
    suggested = [(a, b) for a in (0, 3, 9, 10**6, -(10**6)) for b in (0, 9, 10**6, -(10**6))]
    tables: list[list[int | None]] = [values, [None] * 3, []]
    for turn, some in enumerate(tables):
        path = str(tmp_path / f"{turn}")
        frame = spark.createDataFrame([(v, n) for n, v in enumerate(some)], "i int, n int")
        frame.coalesce(1).write.parquet(path)
        df = spark.sql(
            f"SELECT * FROM parquet.`{path}` a JOIN"
            f" (SELECT {extreme}(i) AS m FROM parquet.`{path}` WHERE n % 3 > 0) b ON a.i = b.m"
        )
        for start, end in rng.sample(suggested, 5):
            monkeypatch.setattr(
                nth_value, "guess_range", lambda *_, s=start, e=end, **__: TopRange(s, e, 1.0, s)
            )
            better = presieve.optimize(df, cost="always")
            assert better is not df
            assert rows(better) == rows(df)


def test_columns_keep_the_names_of_their_tables(spark: SparkSession) -> None:
    few = spark.table("few").where("x BETWEEN 10000 AND 12000").alias("b")
    df = spark.table("facts").alias("a").join(few, on=spark.table("facts").k == few.k)
    better = presieve.optimize(df)
    assert better is not df
    assert rows(better.select("a.k", "b.x")) == rows(df.select("a.k", "b.x"))
    assert better.columns == df.columns
    assert better.schema == df.schema


def test_of_several_joins_each_side_has_its_own(spark: SparkSession) -> None:
    df = spark.sql(
        "SELECT f.k, a.x, b.x AS y FROM facts f"
        " JOIN few a ON f.k = a.k AND a.x < 2000"
        " JOIN few b ON f.d = b.d AND b.x BETWEEN 500 AND 900"
    )
    better = presieve.optimize(df)
    assert better is not df
    assert rows(better) == rows(df) != []
    assert largest_scan(better) < FACTS / 10
    assert len([d for d in presieve.explain(df).derived if d.derived]) == 2


@pytest.mark.parametrize("where", ["x < 0", "n IS NULL"])
def test_without_keys_there_are_no_rows(spark: SparkSession, where: str) -> None:
    """What keys there are is only known when the plan runs."""
    df = spark.sql(f"SELECT f.k FROM facts f JOIN (SELECT * FROM few WHERE {where}) s ON f.k = s.k")
    assert presieve.optimize(df) is df
    better = presieve.optimize(df, cost="always")
    assert better is not df
    assert rows(better) == rows(df) == []


REFUSED = {
    "rows without a partner come out": "facts f LEFT JOIN few s ON f.k = s.k AND {}",
    "of both sides": "facts f FULL JOIN few s ON f.k = s.k AND {}",
    "only those without a partner do": "facts f LEFT ANTI JOIN few s ON f.k = s.k AND {}",
    "less than a key": "facts f JOIN few s ON f.k <= s.k AND f.k > s.k - 3 AND {}",
    "NULL is NULL": "facts f JOIN few s ON f.k <=> s.k AND {}",
    "of another type": "facts f JOIN few s ON f.x = s.n AND {}",
    "computed": "facts f JOIN few s ON f.k + 1 = s.k AND {}",
    "in no order": "facts f JOIN few s ON f.u = s.k AND {}",
    "everywhere": "facts f JOIN few s ON f.k = s.k AND s.x >= 0 OR {} AND f.k = s.k",
    "some rows": "facts f JOIN (SELECT * FROM few s WHERE {} LIMIT 20) s ON f.k = s.k",
    "random ones": "facts f JOIN (SELECT * FROM few s WHERE {} AND rand(1) < 2) s ON f.k = s.k",
    "that raise": "facts f JOIN (SELECT * FROM few s WHERE {} AND 1 DIV (x + 1) < 2) s"
    " ON f.k = s.k",
    "of a subquery": "facts f JOIN few s ON f.k = s.k AND s.x IN (SELECT x FROM few) AND {}",
    "grouped": "facts f JOIN (SELECT k, max(x) AS x FROM few s WHERE {} GROUP BY k) s ON f.k = s.k",
}


@pytest.mark.parametrize("name", REFUSED)
def test_where_a_range_would_say_too_much_or_cost_too_much(spark: SparkSession, name: str) -> None:
    source = REFUSED[name].format("s.x BETWEEN 10000 AND 12000")
    df = spark.sql(f"SELECT * FROM {source}")
    better = presieve.optimize(df)
    assert "scalar-subquery" not in better._jdf.queryExecution().analyzed().toString()


@pytest.mark.parametrize("name", list(REFUSED)[:5])
def test_there_it_would_change_the_rows(spark: SparkSession, name: str) -> None:
    """The twins that a range by hand refutes."""
    source = REFUSED[name].format("s.x BETWEEN 10000 AND 12000")
    ends = "(SELECT {}(k) FROM few WHERE x BETWEEN 10000 AND 12000)"
    narrow = f"(SELECT * FROM facts WHERE k > {ends.format('min')} AND k <= {ends.format('max')})"
    if "<=>" in source:
        null = "(SELECT * FROM facts UNION ALL SELECT NULL, 1, NULL, NULL, 0, 0)"
        df = spark.sql(f"SELECT count(*) FROM {source.replace('facts', null, 1)}")
        narrow = narrow.replace("facts", null, 1)
    else:
        df = spark.sql(f"SELECT count(*) FROM {source}")
    assert rows(spark.sql(f"SELECT count(*) FROM {source.replace('facts', narrow, 1)}")) != rows(df)


def test_what_is_cached_is_found(spark: SparkSession) -> None:
    df = spark.sql(ON_FEW["inner"].format("k", "s.x < 900"))
    few = spark.table("few").cache()
    try:
        assert presieve.optimize(df) is df
    finally:
        few.unpersist(blocking=True)
    assert presieve.optimize(df) is not df


def test_errors_that_may_be_gone_are_told(spark: SparkSession) -> None:
    df = spark.sql(ON_FEW["inner"].format("k", "s.x < 900 AND 10 DIV (f.u + 1) >= 0"))
    (found,) = presieve.explain(df).derived
    assert found.assumptions[0]["code"] == "may-erase-error"
    assert presieve.optimize(df, policy="strict") is df


def test_small_tables_are_left_alone(spark: SparkSession, monkeypatch: pytest.MonkeyPatch) -> None:
    df = spark.sql(ON_FEW["inner"].format("k", "s.x < 900"))
    monkeypatch.setattr(join_key_ranges, "MIN_ROWS", FACTS + 1)
    assert presieve.optimize(df, cost="always") is df
    monkeypatch.setattr(join_key_ranges, "MIN_ROWS", FACTS)
    assert presieve.optimize(df) is df
    assert presieve.optimize(df, cost="always") is not df
    monkeypatch.setattr(join_key_ranges, "MAX_ROWS", 10)
    assert presieve.optimize(df, cost="always") is df


@pytest.mark.second
def test_random_tables(
    spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With NULL, duplicates and extremes on both sides, whatever it costs."""
    monkeypatch.setattr(join_key_ranges, "MIN_ROWS", 0)
    rng = random.Random(2611)
    types: dict[str, tuple[str, list[Any]]] = {
        "k": ("long", [None, 0, 1, 2, 3, -1, 2**63 - 1, -(2**63)]),
        "i": ("int", [None, 0, 1, 2, 3, -1, 2**31 - 1, -(2**31)]),
        "d": ("string", [None, "0001-01-01", "9999-12-31", "1970-01-01", "2024-02-29"]),
    }
    changed = 0
    for turn in range(4):
        names = []
        for side in ("left", "right"):
            data = [
                (*(rng.choice(values) for _, values in types.values()), rng.randrange(9))
                for _ in range(rng.choice((0, 1, 5, 40)))
            ]
            schema = ", ".join(f"{n} {t}" for n, (t, _) in types.items()) + ", v int"
            path = str(tmp_path / f"{side}{turn}")
            made = spark.createDataFrame(data, schema).selectExpr(
                "k", "i", "CAST(d AS date) d", "v"
            )
            made.coalesce(1).write.parquet(path)
            spark.read.parquet(path).createOrReplaceTempView(side + "_side")
            names.append(side + "_side")
        one, other = names
        for key in types:
            for kind in ("", "LEFT SEMI"):
                columns = "*" if not kind else "l.*"
                df = spark.sql(
                    f"SELECT {columns} FROM {one} l {kind} JOIN {other} r ON l.{key} = r.{key}"
                    f" AND r.v < {rng.randrange(10)}"
                )
                better = presieve.optimize(df, cost="always")
                changed += better is not df
                assert rows(better) == rows(df)
    assert changed > 15


def site(type_: str = "bigint") -> JoinCertificate:
    column = Attribute(1, "k", type_, True)
    return join_key_ranges.KeyRange((0,), column, other=(1,), key=replace(column, id=2)).certificate


@pytest.mark.parametrize("type_", ["int", "bigint", "date", "timestamp"])
@pytest.mark.parametrize("solver", SOLVERS)
def test_both_solvers_prove_it(type_: str, solver: SolverName) -> None:
    assert isinstance(check(site(type_), solver), Verified)
    assert parse(site(type_).to_json()) == site(type_)


@pytest.mark.parametrize("solver", SOLVERS)
def test_without_its_premises_it_is_refuted(solver: SolverName) -> None:
    claim = site()
    assert isinstance(check(replace(claim, where=SQL_TRUE), solver), Rejected)
    preserved = replace(claim, join=replace(claim.join, left=True))
    assert isinstance(check(preserved, solver), Rejected)
    all_match = replace(claim, join=replace(claim.join, on=SQL_TRUE))
    assert isinstance(check(all_match, solver), Rejected)


@pytest.mark.parametrize("solver", SOLVERS)
@pytest.mark.parametrize("greatest", [True, False])
def test_the_bound_of_the_latest_key(solver: SolverName, greatest: bool) -> None:
    column = Attribute(1, "k", "bigint", True)
    nth = nth_value.NthValue((1, 0), column, greatest, 1, TopRange(7, 3, 0.9))
    key = replace(column, id=2)
    of = join_key_ranges.KeyRange((0,), column, other=(1,), key=key, extreme=nth)
    assert isinstance(check(of.certificate, solver), Verified)
    assert isinstance(check(replace(of.certificate, where=SQL_TRUE), solver), Rejected)
    turned = replace(of, extreme=replace(nth, descending=not greatest)).certificate
    assert isinstance(check(replace(of.certificate, left=turned.left), solver), Rejected)


@pytest.mark.parametrize("writer", ["pyarrow", "spark"])
@pytest.mark.parametrize("key", ["d", "ts"])
def test_days_of_another_calendar(
    spark: SparkSession, tmp_path: Path, key: str, writer: str
) -> None:
    """Of days that the other calendar has not a scan loses rows: they get no range."""
    import datetime as dt

    import pyarrow as pa
    import pyarrow.parquet as pq

    days = [dt.date(1582, 9, 25) + dt.timedelta(days=i) for i in range(30)] * (FACTS // 60)
    columns = {
        "d": pa.array(days),
        "ts": pa.array(
            [dt.datetime(d.year, d.month, d.day) for d in days], pa.timestamp("us", "UTC")
        ),
    }
    pq.write_table(pa.table(columns), tmp_path / "old.parquet", row_group_size=1000)
    large = spark.read.parquet(str(tmp_path / "old.parquet"))
    if writer == "spark":
        large.write.parquet(str(tmp_path / "old"))
        large = spark.read.parquet(str(tmp_path / "old"))
    few = large.filter(f"{key} = '1582-10-10'").limit(1)
    few.coalesce(1).write.parquet(str(tmp_path / "few"))
    df = large.join(spark.read.parquet(str(tmp_path / "few")).select(key), key)
    for cost in ("auto", "always"):
        assert presieve.optimize(df, cost=cost).count() == df.count() == FACTS // 60
