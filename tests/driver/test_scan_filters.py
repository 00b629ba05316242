"""Filters derived for files: what is pushed, that results are the same, and what is refused."""

from __future__ import annotations

import datetime as dt
import json
import math
import random
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from tests.driver.conditions import SOLVERS, keep_their_rows, random_condition, rows
from tests.support.amount import amount
from typer.testing import CliRunner

import presieve
from presieve.certificate.checker import (
    Rejected,
    SolverName,
    Verified,
    check,
    decide_conditions,
    make_solver,
)
from presieve.certificate.scan_filter_script import write_script
from presieve.certificate.scan_filters import (
    DerivedCertificate,
    parse,
)
from presieve.certificate.stored import check_claim
from presieve.cli.app import app
from presieve.errors import PresieveError
from presieve.semantics.intervals import ValueSet, values
from presieve.smt.solver import Effort
from presieve.sql.catalyst_tree import build
from presieve.sql.piecewise import Zones
from presieve.synthesis.scan_filters import beyond, necessary

if TYPE_CHECKING:
    from pathlib import Path

    from pyspark.sql import DataFrame, SparkSession

pytestmark = pytest.mark.classic("filters are derived from the plan of Spark's optimizer")

UTC = Zones("UTC", {"UTC": (0, 0), "Etc/UTC": (0, 0)})


def derived(df: DataFrame, **options: Any) -> tuple[DataFrame, str]:
    """The DataFrame, and what is derived for its files."""
    report = presieve.explain(df, cost="always", **options)
    found = report.derived
    better = presieve.optimize(df, cost="always", **options)
    return better, (found[0].derived or "declined" if found else "nothing")


def test_the_table_of_preimages(settings: SparkSession, table: DataFrame) -> None:
    """Each is right for all rows, and says what somebody would write by hand."""
    settings.conf.set("spark.sql.session.timeZone", "UTC")
    settings.conf.set("spark.sql.ansi.enabled", "false")
    for condition, expected in PREIMAGES.items():
        df = table.where(condition)
        better, text = derived(df)
        assert text == expected, condition
        assert rows(better) == rows(df), condition


PREIMAGES = {
    "year(d) = 2024": "d >= DATE '2024-01-01' AND d < DATE '2025-01-01'",
    "year(ts) = 2024": "ts >= TIMESTAMP '2024-01-01 00:00:00Z'"
    " AND ts < TIMESTAMP '2025-01-01 00:00:00Z'",
    "trunc(d, 'MM') = DATE '2024-02-01'": "d >= DATE '2024-02-01' AND d < DATE '2024-03-01'",
    "date_format(ts, 'yyyy-MM') = '2024-01'": "ts >= TIMESTAMP '2024-01-01 00:00:00Z'"
    " AND ts < TIMESTAMP '2024-02-01 00:00:00Z'",
    "last_day(d) = DATE '2024-02-29'": "d >= DATE '2024-02-01' AND d < DATE '2024-03-01'",
    "date_add(d, 3) > DATE '2024-01-03'": "d >= DATE '2024-01-01'",
    "substring(s, 1, 3) = 'abc'": "s >= 'abc' AND s < 'abd'",
    "substring(s, 1, 3) = 'ab'": "s = 'ab'",
    "s LIKE 'ab_d%'": "s >= 'ab' AND s < 'ac'",
    "s RLIKE '^ab[cd]'": "s >= 'ab' AND s < 'ac'",
    "coalesce(s, 'b') = 'b'": "s = 'b' OR s IS NULL",
    "coalesce(s, 'a') = 'b'": "s = 'b'",
    "i + 1 > 5": "i >= 5",
    "n div 10 = 3": "n >= 30 AND n < 40",
    "x / 2 > 4": "nothing",  # NaN is above, and statistics may omit it
    "x / 2 < 4": "x < 8.0D",
    "x * -2 < 10": "x > -5.0D AND x <= double('Infinity')",
    "abs(x) < 3": "x > -3.0D AND x < 3.0D",
    "greatest(i, 3) > 5": "i >= 6",
    "CASE WHEN i > 3 THEN 'a' ELSE 'b' END = 'a'": "i >= 4",
    "CASE WHEN isnull(x < 3) THEN false ELSE x < 3 END": "x < 3.0D",
    "NOT coalesce(i = 3, false)": "nothing",  # one value less skips nothing
    "nullif(i, 3) < 10": "i <= 9",
    "NOT coalesce(i BETWEEN 3 AND 4, false)": "i < 3 OR i >= 5 OR i IS NULL",
    "CASE WHEN isnan(x) OR x IS NULL THEN 0D ELSE x END > 5D": (
        "x > 5.0D AND x <= double('Infinity')"
    ),
    "CASE WHEN i IN (1, 2) THEN 'a' ELSE 'b' END = 'a'": "i >= 1 AND i < 3",
    "CASE WHEN i IN (1, 2) THEN s ELSE 'b' END = 'a'": "i >= 1 AND i < 3 AND s = 'a'",
    "i > 3 AND year(d) = 2024": "d >= DATE '2024-01-01' AND d < DATE '2025-01-01'",
    "i > 3": "nothing",
    "s = 'a' OR i IN (1, 2)": "nothing",
    "hour(ts) = 3": "nothing",
    "i - 1 < 2147483647": "nothing",  # all but the least, or the last, integer
    "-n > -9223372036854775807": "nothing",
    "i + 1 > -2147483646": "i >= -2147483646",
    "i % 10 = 3": "nothing",
    "upper(s) = 'A'": "nothing",
}


def test_reports_tell_of_it(table: DataFrame, tmp_path: Any) -> None:
    report = presieve.explain(table.where("year(d) = 2024"), cost="always")
    assert "1 filter derived for files. The plan is rewritten." in str(report)
    assert "derived       d >= DATE '2024-01-01' AND d < DATE '2025-01-01'" in str(report)
    assert report.to_json()["derived"][0]["where"] == "year(d) = 2024 AND d IS NOT NULL"
    assert "DATE &#39;2024-01-01&#39;" in report._repr_html_()


def test_certificates_of_reports_are_checked_again(table: DataFrame, tmp_path: Path) -> None:
    report = presieve.explain(table.where("year(d) = 2024"), cost="always")
    stored = tmp_path / "certificate.json"
    (certificate,) = report.derived[0].certificates
    stored.write_text(json.dumps(certificate))
    assert "certificates" not in report.to_json()["derived"][0]
    for solver in SOLVERS:
        answer = CliRunner().invoke(app, ["check", str(stored), "--solver", solver])
        assert answer.exit_code == 0
        assert f"intervals and {solver}" in answer.output
    narrower = json.loads(json.dumps(certificate))
    narrower["clauses"][0][0][1][0][0] += 1  # a day less
    stored.write_text(json.dumps(narrower))
    assert CliRunner().invoke(app, ["check", str(stored)]).exit_code == 1


def test_contradictions_leave_no_row(table: DataFrame) -> None:
    better, text = derived(table.where("year(d) = 2024 AND d < DATE '2020-01-01'"))
    assert text == "false"
    assert rows(better) == []


def test_columns_that_are_computed_below(table: DataFrame) -> None:
    df = table.selectExpr("year(d) AS y", "i").where("y = 2024").groupBy("i").count()
    better, text = derived(df)
    assert text == "d >= DATE '2024-01-01' AND d < DATE '2025-01-01'"
    assert rows(better) == rows(df)


def test_below_joins_and_what_each_side_needs(table: DataFrame) -> None:
    left, right = table.selectExpr("i", "year(d) AS y"), table.selectExpr("n", "s")
    df = left.join(right, left.i == right.n, "left").where("y = 2024 AND substring(s, 1, 1) = 'a'")
    better, _ = derived(df)
    assert rows(better) == rows(df)
    found = {d.derived for d in presieve.explain(df, cost="always").derived}
    assert "s >= 'a' AND s < 'b'" in found


def test_a_table_that_is_needed_twice(spark: SparkSession, table: DataFrame) -> None:
    table.createOrReplaceTempView("derived_t")
    text = "WITH c AS (SELECT i, year(d) y FROM derived_t) SELECT * FROM c WHERE y = 2024"
    twice = spark.sql(f"{text} UNION ALL SELECT * FROM c WHERE y = 1970")
    better, _ = derived(twice)
    assert rows(better) == rows(twice)


GENERATED = {
    "explode(array(i, i + 1)) AS e": {
        "e > 5": "i >= 5 AND i < 3001",
        "e IN (3, 4)": "i >= 2 AND i < 5",
        "e IS NULL": "i IS NULL",
    },
    "explode_outer(array(i, 7)) AS e": {"e > 8": "i >= 9 AND i < 3001", "e > 6": "nothing"},
    "posexplode(array(s, 'b')) AS (p, e)": {"e = 'a'": "s = 'a'", "p = 1": "nothing"},
    "stack(2, 'x', i, 'y', 3) AS (k, e)": {
        "e > 5": "i >= 6 AND i < 3001",
        "k = 'x' AND e > 4": "i >= 5 AND i < 3001",
        "k = 'y' AND e > 2": "nothing",
    },
    "stack(3, 'x', i, 'y', 3) AS (k, e)": {"e > 5": "nothing"},  # the third row is NULL
    "explode(array(struct('x' AS k, i AS e), struct('y' AS k, i + 1 AS e))) AS r": {
        "r.e > 5": "i >= 5 AND i < 3001"
    },
    "explode(sequence(i, 7)) AS e": {
        "e > 9": "i > 9 AND i < 3001",
        "e < -3": "i >= -50 AND i < -3",
        "e = 8": "i >= 8 AND i < 3001",
        "e = 3": "i >= -50 AND i < 4",
    },
    "explode_outer(sequence(i, 7)) AS e": {"e IS NULL": "nothing", "e > 9": "i > 9 AND i < 3001"},
    "explode(array(d, DATE'2020-01-01')) AS e": {
        "year(e) = 2024": "d >= DATE '2024-01-01' AND d < DATE '2025-01-01'"
    },
}
"""Generators, and conditions on what they make, with what follows for the row."""


@pytest.mark.parametrize("generator", GENERATED)
def test_generators(settings: SparkSession, table: DataFrame, generator: str) -> None:
    settings.conf.set("spark.sql.session.timeZone", "UTC")
    settings.conf.set("spark.sql.ansi.enabled", "false")
    few = table.where("i BETWEEN -50 AND 3000 OR i IS NULL")
    for condition, expected in GENERATED[generator].items():
        df = few.selectExpr("i", "s", generator).where(condition)
        better, text = derived(df)
        assert rows(better) == rows(df), condition
        assert text == expected, condition


def test_rows_without_missing_values(table: DataFrame) -> None:
    df = table.dropna(subset=["x", "i"]).where("x * 2 < 3")
    better, text = derived(df)
    assert text == "x < 1.5D"
    assert rows(better) == rows(df)
    assert derived(table.dropna(subset=["x", "s"]))[1] == "x <= double('Infinity')"
    assert derived(table.dropna(how="all", subset=["x", "i"]))[1] == "nothing"


def test_a_cache_beside_them(table: DataFrame) -> None:
    cached = table.where("i > 0").cache()
    try:
        cached.count()
        assert derived(table.where("year(d) = 2024"))[1].startswith("d >= ")
    finally:
        cached.unpersist()


def test_rows_of_a_cache_are_left_alone(table: DataFrame) -> None:
    cached = table.where("i > 0").cache()
    try:
        df = cached.where("year(d) = 2024")
        assert derived(df)[1] == "nothing"
    finally:
        cached.unpersist()


def test_what_prunes_nothing_stays_out(table: DataFrame) -> None:
    df = table.where("year(d) = 2024")
    assert presieve.optimize(df) is df
    (found,) = presieve.explain(df).derived
    assert found.declined[0].code == "cost"


def test_row_groups_are_skipped(spark: SparkSession, tmp_path_factory: Any) -> None:
    path = str(tmp_path_factory.mktemp("derived") / "sorted")
    days = spark.range(0, 200_000, 1, 1).selectExpr("id", "date_from_unix_date(int(id div 10)) d")
    days.write.option("parquet.block.size", 100_000).parquet(path)
    df = spark.read.parquet(path).where("year(d) = 1980")
    assert presieve.optimize(df) is not df
    measured = presieve.explain(df).measure()
    assert measured.optimized.rows == measured.written.rows == 3660
    assert measured.optimized.scanned < measured.written.scanned / 2


def test_strict_keeps_errors(table: DataFrame) -> None:
    total = table.where("year(d) = 2024")
    assert derived(total, policy="strict")[1] != "nothing"
    raising = table.where("CAST(s AS int) = 3 AND year(d) = 2024")
    assert derived(raising, policy="strict")[1] == "declined"
    (found,) = presieve.explain(raising, cost="always").derived
    assert [a["code"] for a in found.assumptions] == ["may-erase-error"]


def test_an_extreme_that_is_no_number_skips_nothing(spark: SparkSession, tmp_path: Path) -> None:
    """Spark writes NaN as the greatest value of a row group."""
    values = [(float(n),) for n in range(1000)] + [(float("nan"),)]
    spark.createDataFrame(values, "x double").coalesce(1).write.parquet(str(tmp_path / "t"))
    df = spark.read.parquet(str(tmp_path / "t")).where("x * -2 < -190")
    (derived,) = presieve.explain(df).derived
    assert not derived.skipped
    assert rows(presieve.optimize(df)) == rows(df)
    assert df.count() == 904


@pytest.mark.random
def test_random_conditions_keep_their_rows(settings: SparkSession, table: DataFrame) -> None:
    rng = random.Random(11)
    keep_their_rows(settings, rng, amount(600, 25), lambda: table.where(random_condition(rng)))


def _tree(df: DataFrame) -> list[dict[str, Any]]:
    plan = df._jdf.queryExecution().optimizedPlan()
    tree: list[dict[str, Any]] = json.loads(plan.toJSON())[0]["condition"]
    return tree


def _narrower(found: ValueSet) -> Iterator[ValueSet]:
    """Without a value at an end of an interval."""
    for k, (low, high) in enumerate(found.intervals):
        rest = [i for j, i in enumerate(found.intervals) if j != k]
        if isinstance(low, int):
            yield values([*rest, (low + 1, high)], null=found.null)
        if isinstance(high, int):
            yield values([*rest, (low, high - 1)], null=found.null)
    if found.null:
        yield values(found.intervals)


EXACT = [
    *("year(d) = 2024", "year(ts) = 2024", "trunc(d, 'MM') = DATE '2024-02-01'", "n div 10 = 3"),
    *("coalesce(i, 3) = 3", "abs(i) < 4", "x / 2 = 3", "i * 3 > 10", "year(d) IN (2020, 2024)"),
    *("date_format(ts, 'yyyy-MM') = '2024-01'", "add_months(d, 1) >= DATE '2024-03-29'"),
    *("CASE WHEN i > 3 THEN 1 ELSE 2 END = 1", "greatest(i, 3) > 5", "NOT (year(d) = 2024)"),
    *("p + 1 < 3", "p * -2 > 3.25", "CAST(p AS double) >= 0.5D"),
]


def by_solver(claim: DerivedCertificate, name: SolverName) -> bool:
    """What a solver says by itself."""
    scripts = ((str(clause), write_script(claim, clause)) for clause in claim.clauses)
    return not isinstance(decide_conditions("", scripts, make_solver(name), Effort()), Rejected)


@pytest.mark.parametrize("condition", EXACT)
def test_the_checker_refuses_anything_narrower(table: DataFrame, condition: str) -> None:
    tree = _tree(table.where(condition))
    node, _ = build(tree, 0, 0)
    (clause,) = necessary(node, UTC)
    proved = check(DerivedCertificate(tree, [clause], UTC))
    assert isinstance(proved, Verified)
    again = parse(json.loads(json.dumps(proved.certificate.to_json())))
    assert all(isinstance(check_claim(again, solver), Verified) for solver in SOLVERS)
    ((number, allowed),) = clause.items()
    twins = list(_narrower(allowed))
    assert twins
    domain_ends = 0
    for twin in twins:
        refused = check(DerivedCertificate(tree, [{number: twin}], UTC))
        domain_ends += not isinstance(refused, Rejected)
        if isinstance(refused, Rejected):
            claim = DerivedCertificate(tree, [{number: twin}], UTC)
            assert not any(by_solver(claim, solver) for solver in SOLVERS)
    # The outermost ends are those of the type, or where years are not written with four digits.
    assert domain_ends <= 2, (allowed, domain_ends)
    inner = [t for t in twins if t.intervals and t.intervals[0][0] != allowed.intervals[0][0]]
    assert domain_ends < len(twins) or not inner


def test_only_the_checker_makes_a_proof(table: DataFrame) -> None:
    tree = _tree(table.where("year(d) = 2024"))
    with pytest.raises(PresieveError):
        Verified(DerivedCertificate(tree, [], UTC), "z3", {}, None, object())
    node, _ = build(tree, 0, 0)
    assert beyond([node], UTC)
    wrong = DerivedCertificate(tree[:-1], necessary(node, UTC), UTC)
    assert isinstance(check(wrong), Rejected)


TRAPS: dict[str, tuple[str, str]] = {
    "an escape of another kind": ("SELECT 'a_b' AS s", "s LIKE 'a!_b%' ESCAPE '!'"),
    "the other zero is in no range": ("SELECT -0.0D AS x", "x * 2 >= 0D"),
    "the other zero is no constant": ("SELECT -0.0D AS x", "coalesce(x, 1D) = 0D"),
    "infinities that give NaN": (
        "SELECT double('-Infinity') AS x",
        "x + double('Infinity') > double('Infinity')",
    ),
    "infinities that are subtracted": (
        "SELECT double('Infinity') AS x",
        "x - double('Infinity') > double('Infinity')",
    ),
}


@pytest.mark.parametrize("name", TRAPS)
def test_rows_that_a_filter_would_lose(spark: SparkSession, tmp_path: Any, name: str) -> None:
    """The row passes as written. It is twice there, so that files have a dictionary."""
    query, condition = TRAPS[name]
    twice = spark.sql(f"{query} UNION ALL {query}").coalesce(1)
    twice.write.parquet(str(tmp_path / "t"))
    df = spark.read.parquet(str(tmp_path / "t")).where(condition)
    assert len(rows(df)) == 2
    assert rows(derived(df)[0]) == rows(df)


def test_dates_that_are_written_by_another_calendar(spark: SparkSession, table: DataFrame) -> None:
    key = "spark.sql.legacy.timeParserPolicy"
    spark.conf.set(key, "LEGACY")
    try:
        assert derived(table.where("date_format(ts, 'yyyy-MM') = '2024-01'"))[1] == "nothing"
    finally:
        spark.conf.unset(key)


def test_what_other_writers_leave_out_of_files(spark: SparkSession, tmp_path: Any) -> None:
    """PyArrow's statistics omit NaN, and a column of 32 bits may be read as one of 8."""
    pq.write_table(pa.table({"x": [math.nan, 1.0]}), tmp_path / "nan.parquet")
    missing = spark.read.parquet(str(tmp_path / "nan.parquet")).where("x / 2 > 4")
    assert len(rows(missing)) == 1
    assert rows(derived(missing)[0]) == rows(missing)
    pq.write_table(pa.table({"b": pa.array([300, 301], pa.int32())}), tmp_path / "b.parquet")
    narrow = spark.read.schema("b tinyint").parquet(str(tmp_path / "b.parquet"))
    assert rows(derived(narrow.where("abs(b) < 50"))[0]) == rows(narrow.where("abs(b) < 50")) != []


LISTS = {
    "int": ("year(d) IN ({})", [str(y) for y in range(2001, 2024, 2)]),
    "string": ("left(s, 1) IN ({})", [f"'{c}'" for c in "abcdefghijkm"]),
    "double": ("x + 0.5D IN ({})", [f"{i}.25D" for i in range(12)]),
    "bigint": ("n * 2 IN ({})", [f"{i}L" for i in range(0, 60, 5)]),
    "decimal(10,1)": ("CAST(n AS decimal(10,1)) IN ({})", [f"{i}.0BD" for i in range(0, 60, 5)]),
    "date": ("last_day(d) IN ({})", [f"DATE'2001-{m:02d}-28'" for m in range(1, 13)]),
    "NULL": ("n * 2 IN ({}, NULL)", [f"{i}L" for i in range(0, 60, 5)]),
}


WITHOUT_GAIN = ("double", "bigint", "date", "NULL")


@pytest.mark.parametrize("type_", LISTS)
def test_a_long_list_is_read_as_a_short_one(
    spark: SparkSession, tmp_path: Path, type_: str
) -> None:
    """Spark makes a set of more than ten constants (``OptimizeIn``)."""
    days = [dt.date(1995, 1, 31) + dt.timedelta(days=28 * i) for i in range(400)]
    columns = {"n": [i % 40 for i in range(400)], "x": [i / 4 for i in range(400)], "d": days}
    columns |= {"s": [f"{chr(97 + i % 26)}{i}" for i in range(400)]}
    pq.write_table(pa.table(columns), tmp_path / "t.parquet", row_group_size=50)
    condition, members = LISTS[type_]
    rows = spark.read.parquet(str(tmp_path))
    df = rows.filter(condition.format(", ".join(members)))
    better, of_set = derived(df)
    assert sorted(better.collect()) == sorted(df.collect())
    key = "spark.sql.optimizer.inSetConversionThreshold"
    before = spark.conf.get(key)
    spark.conf.set(key, "100")
    _, of_list = derived(rows.filter(condition.format(", ".join(members))))
    spark.conf.set(key, str(before))
    assert of_set == of_list
    assert of_set not in ("nothing", "declined") or type_ in WITHOUT_GAIN


@pytest.mark.parametrize(
    "condition",
    [
        "last_day(d) < DATE'1970-01-01'",
        "trunc(d, 'YEAR') >= DATE'2020-01-01'",
        "trunc(d, 'MM') >= DATE'2020-01-01'",
        "trunc(d, 'week') > DATE'2020-01-01'",
        "last_day(d) BETWEEN DATE'1600-01-01' AND DATE'2020-01-31'",
    ],
)
def test_days_at_the_ends_of_their_type(
    spark: SparkSession, tmp_path: Path, condition: str
) -> None:
    """The last day of the last month is before all others: Spark's days are of 32 bits."""
    for days in (0, 20_000, 2**31 - 1, -(2**31), 2**31 - 20, 20 - 2**31):
        date = pa.array([days] * 4, pa.int32()).cast(pa.date32())
        path = tmp_path / f"{days}.parquet"
        pq.write_table(pa.table({"d": date}), path, row_group_size=2)
    df = spark.read.parquet(str(tmp_path)).filter(condition).selectExpr("unix_date(d) AS day")
    better = presieve.optimize(df, cost="always")
    assert better is not df
    assert sorted(better.collect()) == sorted(df.collect())


def test_a_long_list_of_days_that_python_does_not_have(spark: SparkSession, tmp_path: Path) -> None:
    """Spark's set of them stays as it is: nothing is derived, and nothing fails."""
    days = pa.array([0, 20_000, 2**31 - 1, 2**31 - 1], pa.int32()).cast(pa.date32())
    pq.write_table(pa.table({"d": days}), tmp_path / "t.parquet", row_group_size=1)
    listed = ", ".join(f"date_from_unix_date({n})" for n in (20_000, *range(2**31 - 20, 2**31)))
    df = spark.read.parquet(str(tmp_path)).filter(f"last_day(d) IN ({listed})")
    better = presieve.optimize(df, cost="always")
    assert better.count() == df.count()
