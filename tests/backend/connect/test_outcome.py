"""On Spark Connect, what comes out is compared by what the server explains."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias, cast

import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from pyspark.sql.functions import pandas_udf  # type: ignore[attr-defined]

import presieve
from presieve.backend.connect.gateway import ConnectGateway
from presieve.backend.rewrite import predicate
from presieve.backend.statistics.pushed_filters import split_list
from presieve.driver.stages.explained import ExplainedCheck
from presieve.ir.ops import app
from presieve.ir.sorts import FLOAT, Option
from presieve.ir.terms import Op, Scope, Var, float_lit

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

pytestmark = [pytest.mark.spark, pytest.mark.usefixtures("only_connect")]

SCHEMA = "k long, m long"
Make: TypeAlias = Callable[["DataFrame", "DataFrame"], "DataFrame"]


def fit(pdf: pd.DataFrame) -> pd.DataFrame:
    n = 0
    for v in pdf.n:
        if v > 0:
            n += 1
    return pd.DataFrame({"k": [pdf.k.iloc[0]], "m": [n]})


def best(n: pd.Series) -> int:
    most = 0
    for v in n:
        if v > most:
            most = v
    return most


def table(spark: SparkSession, path: Path, count: int, name: str) -> DataFrame:
    """A file of small row groups in the order of its key."""
    keys, numbers = [i * 10 // count for i in range(count)], list(range(count))
    halves = [i / 2 for i in range(count)]
    columns = pa.table({"k": keys, name: numbers, f"{name}_half": halves})
    pq.write_table(columns, path, row_group_size=count // 20)
    return spark.read.parquet(str(path))


@pytest.fixture
def rows(spark: SparkSession, tmp_path: Path) -> DataFrame:
    return table(spark, tmp_path / "rows.parquet", 2000, "n")


@pytest.fixture
def others(spark: SparkSession, tmp_path: Path) -> DataFrame:
    return table(spark, tmp_path / "others.parquet", 4000, "w")


def fitted(rows: DataFrame) -> DataFrame:
    return rows.groupBy("k").applyInPandas(fit, SCHEMA)


def bests(rows: DataFrame) -> DataFrame:
    made: Any = pandas_udf(best, "long")
    return rows.groupBy("k").agg(made("n").alias("best"))


JOINS: dict[str, Make] = {
    "a filter, then the join": lambda t, o: fitted(t).filter("k = 3").join(o, "k"),
    "the join, then a filter": lambda t, o: fitted(t).join(o, "k").filter("k = 3"),
    "sides swapped": lambda t, o: o.join(fitted(t).filter("k = 3"), "k"),
    "a range": lambda t, o: fitted(t).filter("k > 7").join(o, "k"),
    "semi join": lambda t, o: o.join(fitted(t).filter("k = 3"), "k", "semi"),
    "left join": lambda t, o: fitted(t).filter("k = 3").join(o, "k", "left"),
    "HAVING with a key": lambda t, o: bests(t).filter("k = 4 AND best > 300").join(o, "k"),
    "below an aggregate": lambda t, o: (
        fitted(t).filter("k = 3").join(o, "k").select("k").distinct()
    ),
    "intersect": lambda t, o: fitted(t).filter("k = 3").select("k").intersect(o.select("k")),
    "two functions": lambda t, o: (
        fitted(t).filter("k = 3").join(fitted(t.filter("n > 5")).select("k"), "k").join(o, "k")
    ),
}


def handed(df: DataFrame) -> Iterator[tuple[str, frozenset[str]]]:
    """What the scans of the server are handed, each with its files."""
    text = str(cast("Any", df)._explain_string(mode="formatted"))
    for section in text.split("\n\n"):
        facts = dict(line.split(": ", 1) for line in section.splitlines() if ": " in line)
        if "Location" in facts:
            yield facts["Location"], frozenset(split_list(facts.get("PushedFilters", "[]")))


FACTS = ["k IS NOT NULL", "n IS NOT NULL"]
"""With them nothing has to be left to check above the functions."""


@pytest.mark.parametrize("name", JOINS)
def test_no_scan_loses_a_filter(rows: DataFrame, others: DataFrame, name: str) -> None:
    df = JOINS[name](rows, others)
    better = presieve.optimize(df, cost="always", declare=FACTS)
    assert better is not df
    assert sorted(map(repr, better.collect())) == sorted(map(repr, df.collect()))
    now = list(handed(better))
    for place, filters in handed(df):
        assert any(p == place and filters <= found for p, found in now), place


def test_a_filter_that_nobody_else_needs_goes(rows: DataFrame) -> None:
    report = presieve.explain(fitted(rows).filter("k = 3"), cost="always", declare=FACTS)
    assert [b.kind for b in report.boundaries] == ["exact"]


@pytest.fixture
def check(rows: DataFrame, others: DataFrame) -> tuple[ExplainedCheck, DataFrame]:
    written = rows.filter("k > 3").join(others.filter("w > 5"), "k")
    return ExplainedCheck(ConnectGateway(rows.sparkSession), written), written


def test_what_the_server_explains(
    check: tuple[ExplainedCheck, DataFrame], rows: DataFrame, others: DataFrame
) -> None:
    judge, written = check
    less = rows.join(others.filter("w > 5"), "k")
    kinds = {
        "": [written, written.filter("n > 3"), written.filter("w_half < 9 OR n IS NULL")],
        "scan": [written.filter("n_half > 3"), written.filter("w_half = 0")],
        "read": [less, rows.filter("k > 3").crossJoin(others.filter("w > 5"))],
        "error": [written.filter("n = 5 AND 10 / (n - 5) > 1")],
    }
    for kind, frames in kinds.items():
        for df in frames:
            objection = judge.objection(df, ())
            assert (objection.kind if objection else "") == kind, df


def test_a_source_that_the_server_drops(rows: DataFrame, others: DataFrame) -> None:
    written = rows.filter("1 > 2").join(others.filter("w > 5"), "k", "right")
    judge = ExplainedCheck(ConnectGateway(rows.sparkSession), written)
    left = judge.objection(rows.filter("n > 3").join(others.filter("w > 5"), "k", "right"), ())
    assert left is not None
    assert left.kind == "read"


@pytest.mark.parametrize(
    ("column", "excused"), [("n_half", True), ("w_half", False), ("renamed", True)]
)
def test_a_proof_excuses_the_columns_that_it_reads(
    check: tuple[ExplainedCheck, DataFrame], column: str, excused: bool
) -> None:
    judge, written = check
    v = Var(Scope.ROW, column, Option(FLOAT))
    proved = predicate(app(Op.SQL_GT, v, float_lit(900.0)), {1: v}, "UTC")
    objection = judge.objection(written.filter("n_half > 3"), [proved])
    assert (objection is None) == excused


def test_partitions_are_no_other_source(spark: SparkSession, tmp_path: Path) -> None:
    spark.range(9).selectExpr("id", "id % 3 AS p").write.partitionBy("p").parquet(f"{tmp_path}/t")
    df = spark.read.parquet(f"{tmp_path}/t")
    one = df.filter("p = 1")
    judge = ExplainedCheck(ConnectGateway(spark), df)
    assert judge.objection(one.filter("id > 2"), ()) is None


def test_directories_are_still_selected_by_keys(rows: DataFrame, tmp_path: Path) -> None:
    spark = rows.sparkSession
    spark.range(1000).selectExpr("id AS w", "id % 10 AS k").write.partitionBy("k").parquet(
        f"{tmp_path}/days"
    )
    days = spark.read.parquet(f"{tmp_path}/days")
    df = bests(rows).filter("best > 300").join(days, "k")
    lost = ExplainedCheck(ConnectGateway(spark), df).objection(bests(rows).join(days, "k"), ())
    assert lost is not None
    assert "by the keys of a join" in lost.reason
    better = presieve.optimize(df, cost="always")
    assert sorted(map(repr, better.collect())) == sorted(map(repr, df.collect()))
    assert "dynamicpruning" in str(cast("Any", better)._explain_string(mode="formatted"))
