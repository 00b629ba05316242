"""What comes out, after Spark's optimizer: no error is added while it plans, no scan loses a filter
that it has as written, and what a pass did wrong is taken back.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias

import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
import pytest
from pyspark.sql import functions as F
from pyspark.sql.functions import udf
from pyspark.sql.types import BooleanType, LongType
from tests.support.spark_version import is_before

import presieve
from presieve.backend.classic.gateway import ClassicGateway
from presieve.backend.rewrite import predicate
from presieve.driver.stages.outcome import OptimizedCheck
from presieve.ir.ops import app
from presieve.ir.sorts import FLOAT, Option
from presieve.ir.terms import Op, Scope, Var, float_lit

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

pytestmark = [
    pytest.mark.spark,
    pytest.mark.classic("a client does not see what the optimizer makes of a plan"),
]

COUNT = 1000
FIRST = dt.date(2022, 1, 1)

CONDITIONS = (
    "n > 990 AND n + 1 < 3",
    "n + 1 > 2147483647",
    "n + 1 = -2147483648",
    "l + 1 > 9223372036854775807",
    "-n > 2147483647",
    "abs(n) > 2147483647",
    "coalesce(n, 0) = 1005 AND 10 / (n - 1005) > 1",
    "coalesce(l, 0) = 5 AND 10 / (l - 5) > 1",
    "unix_date(day) = 30000 AND 1 / (unix_date(day) - 30000) > 0",
    "unix_date(day) = 18633 AND 1 / (dayofmonth(day) - 6) > 0",
    "n * 2 = 4010 AND n % (n - 2005) = 1",
    "coalesce(s, '') = 'no' AND CAST(s AS INT) > 1",
    "greatest(n, 5) = 5000 AND 1 / (n - 5000) < 1",
    "CASE WHEN n = 2500 THEN true ELSE false END AND 1 / (n - 2500) < 1",
)


def _write(path: Path, columns: dict[str, object]) -> str:
    path.mkdir()
    pq.write_table(pa.table(columns), path / "t.parquet", row_group_size=100)
    return str(path)


@pytest.fixture(scope="module")
def rows(spark: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> DataFrame:
    count = range(COUNT)
    columns = {
        "n": pa.array(count, pa.int32()),
        "l": pa.array([i + 6 for i in count], pa.int64()),
        "k": pa.array([i // 100 for i in count], pa.int64()),
        "v": pa.array([float(i) for i in count]),
        "small": pa.array([i % 100 for i in count], pa.int8()),
        "s": pa.array([str(i) for i in count]),
        "day": pa.array([FIRST + dt.timedelta(days=i) for i in count]),
    }
    return spark.read.parquet(_write(tmp_path_factory.mktemp("rows") / "t", columns))


@pytest.fixture(scope="module")
def others(spark: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> DataFrame:
    columns = {
        "k": pa.array([i // 500 for i in range(5000)], pa.int64()),
        "w": pa.array([float(i) for i in range(5000)]),
        "u": pa.array([i // 50 for i in range(5000)], pa.int8()),
    }
    return spark.read.parquet(_write(tmp_path_factory.mktemp("others") / "t", columns))


def _texts(df: DataFrame) -> list[str]:
    return sorted(map(repr, df.collect()))


# --- errors while planning ------------------------------------------------------------------------


def _above_files(t: DataFrame, condition: str) -> DataFrame:
    return t.filter(condition)


def _below_a_function(t: DataFrame, condition: str) -> DataFrame:
    def first(pdf: pd.DataFrame) -> pd.DataFrame:
        return pdf.head(1)

    return t.filter(condition).groupBy("k").applyInPandas(first, t.schema).filter("k = 3")


def _below_an_aggregate(t: DataFrame, condition: str) -> DataFrame:
    return t.filter(condition).groupBy("k").agg(F.max("n").alias("m")).filter("m = 1005")


@pytest.mark.parametrize("place", [_above_files, _below_a_function, _below_an_aggregate])
@pytest.mark.parametrize("condition", CONDITIONS)
def test_no_error_is_added(
    rows: DataFrame, condition: str, place: Callable[[DataFrame, str], DataFrame]
) -> None:
    df = place(rows, condition)
    expected = _texts(df)
    for cost in ("auto", "always"):
        assert _texts(presieve.optimize(df, cost=cost)) == expected


def test_a_key_at_which_a_condition_raises(rows: DataFrame) -> None:
    def total(pdf: pd.DataFrame) -> pd.DataFrame:
        return pd.DataFrame({"n": [pdf.n.iloc[0]], "m": [float(pdf.v.sum())]})

    groups = rows.filter("10 / (n - 2000) < 1").groupBy("n").applyInPandas(total, "n int, m double")
    df = groups.filter("n = 2000")
    better = presieve.optimize(df, cost="always")
    assert better is not df
    assert _texts(better) == _texts(df) == []


def test_a_condition_of_the_other_side_raises(rows: DataFrame) -> None:
    side = rows.filter("10 / (n - 2000) < 1").select("n", "v")
    other = rows.select(F.col("n").alias("m"), "s").filter("coalesce(m, 0) = 2000")
    df = side.join(other, F.col("n") == F.col("m"))
    better = presieve.optimize(df, cost="always")
    assert _texts(better) == _texts(df) == []


# --- filters that scans have as written -----------------------------------------------------------


def _rows_of_scans(df: DataFrame) -> list[int]:
    """How many rows came out of each scan, after the DataFrame has run."""
    df.collect()
    counts: list[int] = []
    pending = [df._jdf.queryExecution().executedPlan()]
    while pending:
        node = pending.pop()
        name = str(node.getClass().getSimpleName())
        if name == "AdaptiveSparkPlanExec":
            pending.append(node.executedPlan())
        elif name.endswith("QueryStageExec"):
            pending.append(node.plan())
        else:
            if "FileSourceScan" in name:
                counts.append(int(node.metrics().apply("numOutputRows").value()))
            pending += [node.children().apply(i) for i in range(node.children().size())]
    return counts


def _fitted(t: DataFrame) -> DataFrame:
    def fit(pdf: pd.DataFrame) -> pd.DataFrame:
        return pd.DataFrame({"k": [pdf["k"].iloc[0]], "m": [float(pdf["v"].mean())]})

    return t.groupBy("k").applyInPandas(fit, "k long, m double")


next_key = udf(lambda k: None if k is None else k + 1, LongType())


def _with_next(t: DataFrame) -> DataFrame:
    return t.select("v", next_key("k").alias("k"))


def _best(t: DataFrame) -> DataFrame:
    return t.groupBy("k").agg(F.max("v").alias("best"))


def _fives(t: DataFrame) -> DataFrame:
    def keep(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for batch in batches:
            yield batch.filter(pc.equal(batch.column("small"), 5))

    return t.select("k", "small").mapInArrow(keep, "k long, small tinyint")


Make: TypeAlias = "Callable[[DataFrame, DataFrame], DataFrame]"

JOINS: dict[str, Make] = {
    "a filter, then the join": lambda t, o: _fitted(t).filter("k = 3").join(o, "k"),
    "the join, then a filter": lambda t, o: _fitted(t).join(o, "k").filter("k = 3"),
    "a filter on the other side": lambda t, o: o.filter("k = 3").join(_fitted(t), "k"),
    "sides swapped": lambda t, o: o.join(_fitted(t).filter("k = 3"), "k"),
    "a range": lambda t, o: _fitted(t).filter("k > 7").join(o, "k"),
    "semi join": lambda t, o: o.join(_fitted(t).filter("k = 3"), "k", "semi"),
    "left join": lambda t, o: _fitted(t).filter("k = 3").join(o, "k", "left"),
    "right join": lambda t, o: o.join(_fitted(t).filter("k = 3"), "k", "right"),
    "a key with another name": lambda t, o: (
        _fitted(t).withColumnRenamed("k", "g").filter("g = 3").join(o, F.col("g") == F.col("k"))
    ),
    "above a projection": lambda t, o: (
        _fitted(t).filter("k = 3").selectExpr("k AS g", "m").join(o, F.col("g") == F.col("k"))
    ),
    "a UDF's result": lambda t, o: _with_next(t).filter("k = 4").join(o, "k"),
    "HAVING with a key": lambda t, o: _best(t).filter("k = 4 AND best > 300").join(o, "k"),
    "a maximum as the key": lambda t, o: (
        _best(t).filter("best >= 900").select("best").join(o, F.col("best") == F.col("w"))
    ),
    "below an aggregate": lambda t, o: (
        _fitted(t).filter("k = 3").join(o, "k").groupBy("k").agg(F.max("w"))
    ),
    "below a union": lambda t, o: (
        _fitted(t)
        .filter("k = 3")
        .join(o, "k")
        .select("k", "w")
        .unionAll(o.filter("w < 0").select("k", "w"))
    ),
    "intersect": lambda t, o: _fitted(t).filter("k = 3").select("k").intersect(o.select("k")),
    "except": lambda t, o: _fitted(t).filter("k = 3").select("k").exceptAll(o.select("k")),
    "a condition that compiles": lambda t, o: (
        _fives(t)
        .filter("CAST(small AS INT) > 3 OR CAST(small AS INT) = -128")
        .join(o, F.expr("small = u"), "semi")
    ),
    "a computed condition on a double": lambda t, o: (
        _passed_on(t).filter("abs(v) > 950").join(o, F.expr("v = w"), "semi")
    ),
    "two functions": lambda t, o: (
        _fitted(t).filter("k = 3").join(_fitted(t.filter("v > 5")).select("k"), "k").join(o, "k")
    ),
}


@pytest.mark.parametrize("name", JOINS)
def test_no_scan_reads_more(rows: DataFrame, others: DataFrame, name: str) -> None:
    df = JOINS[name](rows, others)
    expected, before = _texts(df), sum(_rows_of_scans(df))
    for cost in ("auto", "always"):
        for compiles in ("never", "always"):
            better = presieve.optimize(df, cost=cost, compile=compiles)
            assert _texts(better) == expected
            assert sum(_rows_of_scans(better)) <= before, (cost, compiles)


@pytest.mark.parametrize("name", ["a filter, then the join", "a UDF's result"])
def test_a_filter_on_a_key_goes_below_and_stays(
    rows: DataFrame, others: DataFrame, name: str
) -> None:
    df = JOINS[name](rows, others)
    better = presieve.optimize(df)
    assert sum(_rows_of_scans(better)) < sum(_rows_of_scans(df))
    assert not presieve.explain(df).data.taken_back


def _passed_on(t: DataFrame) -> DataFrame:
    def pass_on(batches: Iterator[pd.DataFrame]) -> Iterator[pd.DataFrame]:
        yield from batches

    return t.select("k", "v", "small").mapInPandas(pass_on, "k long, v double, small tinyint")


EMPTY: dict[str, Make] = {
    "a filter": lambda t, o: _passed_on(t).filter("CAST(small AS INT) > 127"),
    "another type": lambda t, o: _passed_on(t).filter("CAST(small AS BIGINT) = 128"),
    "a union": lambda t, o: (
        _passed_on(t).filter("CAST(small AS INT) > 127").select("k").union(o.select("k"))
    ),
    "a join": lambda t, o: _passed_on(t).filter("CAST(small AS INT) < -128").join(o, "k"),
    "a left join": lambda t, o: o.join(
        _passed_on(t).filter("CAST(small AS INT) > 127"), "k", "left"
    ).filter("w > 4990"),
    "an anti join": lambda t, o: o.filter("w > 4990").join(
        _passed_on(t).filter("CAST(small AS INT) > 127"), "k", "anti"
    ),
}
"""Plans of which Spark finds a part to be empty, and does not read what is below it."""


@pytest.mark.parametrize("name", EMPTY)
def test_what_spark_does_not_read_is_not_read(
    rows: DataFrame, others: DataFrame, name: str
) -> None:
    df = EMPTY[name](rows, others)
    expected, before = _texts(df), len(_rows_of_scans(df))
    for cost in ("auto", "always"):
        better = presieve.optimize(df, cost=cost)
        assert _texts(better) == expected
        assert len(_rows_of_scans(better)) <= before, cost


@pytest.fixture(scope="module")
def days(spark: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> DataFrame:
    """A table with a directory for each of ten keys."""
    path = str(tmp_path_factory.mktemp("days") / "t")
    rows = spark.range(1000).selectExpr("id", "CAST(id AS DOUBLE) AS w", "id % 10 AS k")
    rows.write.partitionBy("k").parquet(path)
    return spark.read.parquet(path)


is_half = udf(lambda v: v == 300.0, BooleanType())

PRUNED: dict[str, Make] = {
    "HAVING": lambda t, o: _best(t).filter("best > 850").join(o, "k"),
    "HAVING, swapped": lambda t, o: o.join(_best(t).filter("best > 850"), "k"),
    "HAVING, semi": lambda t, o: o.join(_best(t).filter("best > 850"), "k", "semi"),
    "HAVING, a view": lambda t, o: (
        _best(t).filter("best > 850").selectExpr("k + 0 AS g").join(o, F.col("g") == F.col("k"))
    ),
    "a passed column": lambda t, o: _passed_on(t).filter("CAST(small AS INT) = 7").join(o, "k"),
    "a passed key": lambda t, o: _passed_on(t).filter("k = 7").join(o, "k"),
    "a function of groups": lambda t, o: _fitted(t).filter("k = 7 AND m > 3").join(o, "k"),
    "a UDF's result": lambda t, o: _with_next(t).filter("k = 7").join(o, "k"),
    "a UDF": lambda t, o: t.select("k", "v").filter(is_half("v")).join(o, "k"),
    "a window": lambda t, o: (
        t.selectExpr("k", "max(v) OVER (PARTITION BY k) AS most").filter("k = 7").join(o, "k")
    ),
    "below an aggregate": lambda t, o: (
        _best(t).filter("best > 850").join(o, "k").groupBy("k").agg(F.max("w"))
    ),
}
"""Joins at which Spark selects directories of one side by the keys of the other side while it runs.
"""


@pytest.mark.parametrize("name", PRUNED)
def test_directories_are_still_selected_by_keys(
    rows: DataFrame, days: DataFrame, name: str
) -> None:
    df = PRUNED[name](rows, days)
    expected, before = _texts(df), sum(_rows_of_scans(df))
    for cost in ("auto", "always"):
        for compiles in ("never", "auto"):
            better = presieve.optimize(df, cost=cost, compile=compiles)
            assert _texts(better) == expected
            assert sum(_rows_of_scans(better)) <= before, (cost, compiles)


# --- the check itself -----------------------------------------------------------------------------


@pytest.fixture(scope="module")
def check(rows: DataFrame, others: DataFrame) -> tuple[OptimizedCheck, DataFrame]:
    written = rows.filter("k > 3").join(others.filter("w > 5"), "k")
    return OptimizedCheck(ClassicGateway(rows.sparkSession), written, "UTC"), written


def _objection(check: OptimizedCheck, df: DataFrame) -> str:
    objection = check.objection(df, ())
    return "" if objection is None else objection.kind


def test_what_is_written_may_come_out(check: tuple[OptimizedCheck, DataFrame]) -> None:
    judge, written = check
    assert _objection(judge, written) == ""
    assert _objection(judge, written.filter("n > 3")) == ""


@pytest.mark.parametrize(
    "condition",
    ["v > 900", "v <> 3", "v = 0", "v >= 0", "day < DATE'1500-01-01'", "v > 2 OR n > 2"],
)
def test_a_comparison_that_loses_rows(
    check: tuple[OptimizedCheck, DataFrame], condition: str
) -> None:
    judge, written = check
    assert _objection(judge, written.filter(condition)) == "scan"
    hidden = written.filter(f"array_contains(array({condition}), true)")
    assert _objection(judge, hidden) == ""


@pytest.mark.parametrize("condition", ["v < 900", "v > 2 AND v < 5", "v <= 0", "n > 5", "s = 'a'"])
def test_a_comparison_that_loses_none(
    check: tuple[OptimizedCheck, DataFrame], condition: str
) -> None:
    judge, written = check
    assert _objection(judge, written.filter(condition)) == ""


def test_what_a_proof_covers_may_be_lost(
    check: tuple[OptimizedCheck, DataFrame], rows: DataFrame
) -> None:
    judge, written = check
    number = next(
        a.id
        for a in ClassicGateway(rows.sparkSession).attributes(rows._jdf.queryExecution().analyzed())
        if a.name == "v"
    )
    v = Var(Scope.ROW, "v", Option(FLOAT))
    proved = predicate(app(Op.SQL_GT, v, float_lit(900.0)), {number: v}, "UTC")
    assert judge.objection(written.filter("v > 900"), [proved]) is None
    assert judge.objection(written.filter("v > 901"), [proved]) is not None


def _reading_again(written: DataFrame, copy: DataFrame) -> DataFrame:
    """A rewritten plan that compares its rows with those of a copy of one of its sources."""
    again = copy.selectExpr("k AS again")
    return written.join(again, written["k"] == again["again"], "left_semi")


def test_a_source_that_is_read_again(rows: DataFrame, others: DataFrame) -> None:
    """A copy of a source has other columns. Its filters are compared with those of the source."""
    written = rows.filter("v > 900").join(others.filter("w > 5"), "k")
    judge = OptimizedCheck(ClassicGateway(rows.sparkSession), written, "UTC")
    for condition, kind in (
        ("v > 900", ""),
        ("v > 900 AND n > 3", ""),
        ("v > 901", "scan"),
        ("v > 900 AND v > 950", "scan"),
        ("l > 900", ""),
        ("v <> 900", "scan"),
    ):
        better = _reading_again(written, rows.filter(condition))
        assert _objection(judge, better) == kind, condition


def test_a_copy_has_the_conditions_of_what_it_is_a_copy_of(rows: DataFrame) -> None:
    parts = [rows.filter(c).select("k") for c in ("v > 900", "v <> 3 AND n > 3", "n > 3")]
    written = parts[0].union(parts[1]).union(parts[2])
    judge = OptimizedCheck(ClassicGateway(rows.sparkSession), written, "UTC")
    for condition, kind in (
        ("v > 900", ""),
        ("v <> 3 AND n > 3", "scan"),
        ("v > 900 AND n > 3", "scan"),
        ("v <> 3", "scan"),
        ("v > 900 AND n > 4", ""),
    ):
        better = _reading_again(written, rows.filter(condition))
        assert _objection(judge, better) == kind, condition


# --- moments that Python does not have, or not in every time zone ---------------------------------

ZONES = ("UTC", "America/New_York")


@pytest.fixture(params=ZONES)
def zone(request: pytest.FixtureRequest, spark: SparkSession) -> Iterator[str]:
    name = "spark.sql.session.timeZone"
    before = str(spark.conf.get(name))
    spark.conf.set(name, request.param)
    yield str(request.param)
    spark.conf.set(name, before)


@pytest.fixture(scope="module")
def moments(spark: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> DataFrame:
    first = dt.datetime(1969, 12, 1, tzinfo=dt.UTC)
    columns = {
        "ts": pa.array([first + dt.timedelta(days=i) for i in range(COUNT)]),
        "day": pa.array([FIRST + dt.timedelta(days=i) for i in range(COUNT)]),
        "v": pa.array([float(i) for i in range(COUNT)]),
    }
    return spark.read.parquet(_write(tmp_path_factory.mktemp("moments") / "t", columns))


KEPT = (
    "ts < TIMESTAMP'1970-01-31' OR ts >= TIMESTAMP'+10000-01-01'",
    "ts > TIMESTAMP'+12000-01-01 00:00:00.5'",
    "ts >= TIMESTAMP'+10000-02-29 00:00:00'",
    "day >= DATE'+10000-02-29'",
    "ts >= TIMESTAMP'2200-07-01'",
    "ts < TIMESTAMP'1930-07-01 12:00:00.123'",
    "day < DATE'2000-01-01' OR day >= DATE'+10000-01-01'",
    "day < DATE'2000-01-01' OR ts >= TIMESTAMP'+10000-01-01' AND day > DATE'2001-01-01'",
)
SHIFTED = (
    "ts < TIMESTAMP'1800-01-01' OR ts >= TIMESTAMP'+10000-01-01'",
    "ts < TIMESTAMP'2200-01-01 00:00:00.000001'",
    "ts < TIMESTAMP'+10000-01-01 00:00:00.000001'",
    "ts < TIMESTAMP'-0100-01-01'",
    "day < DATE'1500-01-01' OR ts >= TIMESTAMP'+10000-01-01'",
    "day >= DATE'+10000-01-01' OR v > 3",
)


@pytest.mark.parametrize("condition", [*KEPT, *SHIFTED])
def test_moments_that_python_lacks(moments: DataFrame, zone: str, condition: str) -> None:
    judge = OptimizedCheck(ClassicGateway(moments.sparkSession), moments, zone)
    assert _objection(judge, moments.filter(condition)) == ("scan" if condition in SHIFTED else "")


@pytest.mark.parametrize(
    "condition",
    [
        "ts + INTERVAL '1' DAY < TIMESTAMP'1970-02-01 00:00:00'",
        "date_format(ts, 'yyyyMMdd') < '19700301'",
        "year(ts) < 1970",
        "to_date(ts) < DATE'1970-03-05' AND date_format(ts, 'yyyyMMdd') > '19700105'",
        "date_format(day, 'yyyyMMdd') < '20220301'",
        "v < 100 AND CAST(ts AS STRING) < '1970-01-05'",
        "date_format(ts, 'yyyyMMdd') < '19700301' OR year(day) = 2023",
        "unix_timestamp(ts) < 1000000",
    ],
)
def test_derived_ranges_end_where_python_does(
    moments: DataFrame, zone: str, condition: str
) -> None:
    job = moments.filter(condition)
    report = presieve.explain(job, cost="always")
    assert report.data.taken_back == ()
    assert report.derived
    assert sorted(presieve.optimize(job, cost="always").collect()) == sorted(job.collect())


def test_an_error_while_planning(check: tuple[OptimizedCheck, DataFrame]) -> None:
    judge, written = check
    assert _objection(judge, written.filter("n = 5 AND 10 / (n - 5) > 1")) == "error"


def test_a_filter_that_is_lost(
    check: tuple[OptimizedCheck, DataFrame], rows: DataFrame, others: DataFrame
) -> None:
    judge, _ = check
    assert _objection(judge, rows.filter("k > 3").join(others, "k")) == "read"
    assert (
        _objection(judge, rows.filter("k > 3").join(others.filter("w > 6 AND w < 9e9"), "k")) == ""
    )
    assert (
        _objection(judge, rows.filter("k > 3").join(others.filter("w > 4 AND w < 9e9"), "k"))
        == "read"
    )


def test_a_source_that_is_not_read_as_written(rows: DataFrame, others: DataFrame) -> None:
    written = rows.filter("CAST(small AS INT) > 127").join(others, "k", "right")
    judge = OptimizedCheck(ClassicGateway(rows.sparkSession), written, "UTC")
    hidden = rows.filter("array_contains(array(n > 120), true) >= true")
    assert _objection(judge, hidden.join(others, "k", "right")) == "read"
    assert _objection(judge, rows.filter("1 > 2").join(others, "k", "right")) == ""


def test_other_columns(check: tuple[OptimizedCheck, DataFrame]) -> None:
    judge, written = check
    assert _objection(judge, written.select("k")) == "output"


# --- facts of now ---------------------------------------------------------------------------------


def test_directories_are_listed_when_a_table_is_read(spark: SparkSession) -> None:
    """Optimizing a plan lists the directories of a table, which must not be kept."""
    spark.sql("DROP TABLE IF EXISTS outcome_days")
    days = spark.range(10).selectExpr("id", "timestamp_seconds(id * 86400) AS ts", "id % 2 AS k")
    days.write.partitionBy("k").saveAsTable("outcome_days")
    try:
        df = spark.table("outcome_days").filter("year(ts) = 1970 AND k >= 0")
        better = presieve.optimize(df, cost="always")
        spark.sql("INSERT INTO outcome_days PARTITION (k = 5) VALUES (7, TIMESTAMP'1970-02-01')")
        assert df.count() == 11
        assert len(df.collect()) == len(better.collect()) == 11
    finally:
        spark.sql("DROP TABLE outcome_days")


@pytest.mark.skipif(is_before("4.0"), reason="a DataFrame that is planned keeps its plan there")
def test_what_is_optimized_can_be_cached(rows: DataFrame) -> None:
    better = presieve.optimize(_best(rows).filter("best > 900"), cost="always")
    better.cache()
    try:
        better.count()
        assert "InMemory" in str(better._jdf.queryExecution().executedPlan().toString())
    finally:
        better.unpersist()
