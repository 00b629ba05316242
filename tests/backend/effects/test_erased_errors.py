"""An error of a row that is dropped may be gone, one of a row that is kept never.

What the optimized pipeline gives must be what the pipeline as written gives of the rows that the
pre-filter keeps: an error where one of these raises, and the same rows where none does.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import product
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from tests.backend.effects import erring_udfs
from tests.support.amount import some
from tests.support.pickling import pickled_by_value

from presieve.driver.optimize import explain, optimize
from presieve.driver.stages import column_pruning

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

ARROW = pytest.mark.parametrize("arrow", [False, True], ids=["pickled", "arrow"])
TRANSPORT = pytest.mark.parametrize(
    "arrow", [False, pytest.param(True, marks=pytest.mark.slow)], ids=["pickled", "arrow"]
)
"""Where the functions are not told apart by how values come to them."""
RAISED = "raised"
AS_IT_IS: Callable[[Any], Any] = lambda df: df  # noqa: E731
LATER: dict[str, Callable[[Any], Any]] = {
    "all": AS_IT_IS,
    "one": lambda df: df.select("d"),
    "count": lambda df: df.groupBy().count(),
}
"""What is done with a DataFrame once it is optimized: Spark calls what is read then."""


by_value_too = pickled_by_value(erring_udfs)


@pytest.fixture(autouse=True)
def table_functions_are_read(spark: SparkSession) -> Iterator[None]:
    spark.conf.set(CACHED, "true")
    yield
    spark.conf.unset(CACHED)


CACHED = "spark.sql.optimizer.canChangeCachedPlanOutputPartitioning"


@pytest.fixture(scope="module")
def days(spark: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> DataFrame:
    values = [None, -(2**31), -1, 0, 1, 59, 60, 60, 99, 100, 150, 199, 200, 300, 301, 2**31 - 1]
    names = ["jan", "feb", None, "zzz", "abc", "", "n", "é"]
    rows = [(d, names[i % 8], i % 3) for i, d in enumerate(values)]
    path = str(tmp_path_factory.mktemp("days") / "t")
    spark.createDataFrame(rows, "d int, name string, k int").write.parquet(path)
    return spark.read.parquet(path)


def made(name: str, returns: str, arrow: bool = False) -> Any:
    from pyspark.sql.functions import udf

    make: Any = udf
    return make(getattr(erring_udfs, name), returns, useArrow=arrow)


def outcome(df: DataFrame) -> object:
    """The rows in some order, or that the job fails."""
    from pyspark.errors import PySparkException

    try:
        return sorted(map(str, df.collect()))
    except PySparkException:
        return RAISED


def agrees(
    build: Callable[[DataFrame], DataFrame],
    table: DataFrame,
    later: Callable[[Any], Any] = AS_IT_IS,
) -> str:
    """The kind of what is done, after the pipeline was compared with itself on the rows that the
    pre-filter keeps, and with itself on all rows where none of these raises.
    """
    df = build(table)
    (boundary,) = explain(df, cost="always").boundaries
    found = outcome(later(optimize(df, cost="always")))
    assert found == outcome(later(build(table.filter(boundary.prefilter)))), boundary
    as_written = outcome(later(df))
    assert as_written in (found, RAISED), boundary
    return boundary.kind


ROWWISE = [
    ("season", "int", "d", "c >= 0"),
    ("season", "int", "d", "c = 1"),
    ("season", "int", "d", "c <> 5"),
    ("month_number", "int", "name", "c >= 10"),
    ("month_number", "int", "name", "c >= 1"),
    ("month_number", "int", "name", "c = 2"),
    ("share", "double", "d", "c < 2 OR c >= 2"),
    ("share", "double", "d", "c > 2"),
    ("checked", "int", "d", "c > 50"),
    ("checked", "int", "d", "c < 0 OR c > 250"),
    ("positive", "boolean", "d", "c"),
    ("raising_last", "int", "d", "c >= 60"),
    ("raising_last", "int", "d", "c = 0"),
]


@TRANSPORT
@some("row, later", product(ROWWISE, LATER), of=4)
def test_a_column_that_is_filtered(
    days: DataFrame, row: tuple[str, str, str, str], later: str, arrow: bool
) -> None:
    name, returns, column, where = row

    def build(table: DataFrame) -> DataFrame:
        return table.withColumn("c", made(name, returns, arrow)(column)).filter(where)

    agrees(build, days, LATER[later])


@pytest.mark.parametrize(("name", "returns", "column", "where"), ROWWISE)
def test_a_call_in_the_filter(
    days: DataFrame, name: str, returns: str, column: str, where: str
) -> None:
    from pyspark.sql import functions as F

    def build(table: DataFrame) -> DataFrame:
        function = made(name, returns)
        if where == "c":
            return table.filter(function(column))
        if where == "c >= 0":
            return table.filter(function(column) >= 0)
        return table.withColumn("c", function(column)).filter(F.expr(where)).select("d", "k")

    agrees(build, days)


SEVERAL = [
    # Which of the two are read by the filter; and what is shown.
    ("a = 1", ("d",)),
    ("a = 1", ("d", "b")),
    ("a = 0", ("d",)),
    ("b >= 0", ("d", "a")),
    ("a = 1 AND b >= 0", ("d",)),
    ("a = 0 AND b >= 0", ("d",)),
    ("a = 1 OR b >= 0", ("d", "a")),
    # Spark finds these true, or true where the rest is, and calls nothing.
    ("b >= 0 OR 1 = 1", ("d",)),
    ("b <=> b", ("d",)),
    ("b IS NULL OR b IS NOT NULL", ("d",)),
    ("a = 1 AND (a > 0 OR b >= 0)", ("d",)),
    ("k = 0 AND (k = 0 OR b >= 0)", ("d",)),
]


@TRANSPORT
@pytest.mark.parametrize(("where", "shown"), SEVERAL)
def test_one_of_several_columns(
    days: DataFrame, where: str, shown: tuple[str, ...], arrow: bool
) -> None:
    """The second raises where the day is missing, if somebody reads it."""

    def build(table: DataFrame) -> DataFrame:
        calls = (made("missing", "int")("d"), made("season", "int", arrow)("d"))
        columns = ("d", "k", calls[0].alias("a"), calls[1].alias("b"))
        return table.select(*columns).filter(where).select(*shown)

    agrees(build, days)


@pytest.fixture(scope="module")
def games(spark: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> DataFrame:
    """Of ``b`` one row raises that pushdowns keep; of ``c`` nothing is high, of ``d`` one is 0."""
    rows = [("a", 91.0), ("a", 40.0), ("b", 2000.0), ("b", 1.0), ("c", 3.0), ("d", -0.0)]
    path = str(tmp_path_factory.mktemp("games") / "t")
    spark.createDataFrame(rows, "team string, score double").write.parquet(path)
    return spark.read.parquet(path)


def aggregated(table: DataFrame, *calls: tuple[str, str, str]) -> DataFrame:
    from pyspark.sql.pandas.functions import pandas_udf

    make: Any = pandas_udf
    columns = [make(getattr(erring_udfs, f), t)("score").alias(o) for f, t, o in calls]
    return table.groupBy("team").agg(*columns)


def loaded(name: str) -> Any:
    return getattr(erring_udfs, name)


def table_function(table: DataFrame) -> DataFrame:
    from pyspark.sql.functions import udtf

    made: Any = udtf(loaded("BestOf"), returnType="team string, best double", useArrow=True)
    found: DataFrame = made.asDeterministic()(table.asTable().partitionBy("team"))
    return found


BEST = "team string, best double"
GROUPS: dict[str, Callable[[DataFrame], DataFrame]] = {
    "pandas_udf": lambda t: aggregated(t, ("top_of", "double", "best")),
    "at the end": lambda t: aggregated(t, ("at_the_end", "double", "best")),
    "two": lambda t: aggregated(t, ("high", "double", "best"), ("fair", "bigint", "n")),
    "two, and it reads both": lambda t: aggregated(
        t, ("high", "double", "best"), ("fair", "bigint", "n")
    ).filter("n >= 0"),
    "applyInPandas": lambda t: t.groupBy("team").applyInPandas(loaded("best_of"), BEST),
    "applyInArrow": lambda t: t.groupBy("team").applyInArrow(loaded("arrow_best"), "best double"),
    "table function": table_function,
}
FORMS = pytest.mark.parametrize(
    "form",
    [
        *(form for form in GROUPS if form != "table function"),
        pytest.param("table function", marks=pytest.mark.classic("table functions are not read")),
    ],
)


@some("where, shown", product(["best >= 20", "best > 0"], ["*", "1 AS one", "count(*)"]), of=5)
@FORMS
def test_functions_of_groups(games: DataFrame, form: str, where: str, shown: str) -> None:
    def build(table: DataFrame) -> DataFrame:
        return GROUPS[form](table).filter(where)

    def later(df: DataFrame) -> DataFrame:
        return df if shown == "*" else df.selectExpr(shown)

    for table in (games, games.filter("score < 1000")):
        df = build(table)
        (boundary,) = explain(df, cost="always").boundaries
        found = outcome(later(optimize(df, cost="always")))
        assert found == outcome(later(build(table.filter(boundary.prefilter)))), boundary
        assert outcome(later(df)) in (found, RAISED), boundary


HAVING = [
    "sum(CASE WHEN v > 10 THEN v ELSE 0 END) > 0",
    "sum(CASE WHEN v > 10 THEN v ELSE 0 END) > 0 AND max(v) > 10",
    "max(v) > 10",
    "sum(int(v > 10)) > 0",
    "sum(v) > 10",
    "count_if(v > 10) > 0 AND sum(CASE WHEN v > 10 THEN v END) IS NOT NULL",
]


@some("having, shown", product(HAVING, ["k", "k, sum(v) AS s", "count(*) AS n"]), of=4)
def test_sums_that_overflow(spark: SparkSession, having: str, shown: str) -> None:
    """Spark's own aggregates raise, too, and are not evaluated where nobody reads them."""
    top = 2**63 - 1
    rows = [(1, top), (1, top), (1, 3), (2, 11), (2, -5), (3, 4), (4, None)]
    made = spark.createDataFrame(rows, "k int, v bigint")
    made.createOrReplaceTempView("erased_sums")
    text = "SELECT {} FROM erased_sums {} GROUP BY k HAVING {}"
    df = spark.sql(text.format(shown, "", having))
    for b in explain(df, cost="always").boundaries:
        found = outcome(optimize(df, cost="always"))
        by_hand = spark.sql(text.format(shown, f"WHERE {b.prefilter}", having))
        assert found == outcome(by_hand), b
        assert outcome(df) in (found, RAISED), b


@pytest.fixture
def arguments_as_written(monkeypatch: pytest.MonkeyPatch) -> None:
    """Errors of an argument that is not read are another matter: it is not handed over, as Spark
    leaves out a column that nobody reads (:mod:`tests.backend.problems.test_unread_arguments`).
    """
    monkeypatch.setattr(column_pruning, "open_arguments", lambda *_, **__: None)


UNREAD = pytest.mark.usefixtures("arguments_as_written")
ON_THE_WAY = {
    # What the function is sent besides, and how it is written into the file.
    "division": "10 div (k - 1) AS x",
    "cast": "int(name) AS x",
    "index": "array(1, 2)[k * 2] AS x",
}


@UNREAD
@some("below, inside, arrow", product(ON_THE_WAY, [False, True], [False, True]), of=3)
def test_arguments_that_raise(days: DataFrame, below: str, inside: bool, arrow: bool) -> None:
    """The function does not look at what raises, nor does the pre-filter."""

    def build(table: DataFrame) -> DataFrame:
        computed = table.selectExpr("d", "k", ON_THE_WAY[below])
        call = made("second", "int", arrow)("x", "d")
        if inside:
            return computed.filter(call >= 60).select("d")
        return computed.withColumn("c", call).filter("c >= 60").select("d", "k")

    agrees(build, days)


def test_arguments_of_aggregates_that_raise(games: DataFrame) -> None:
    computed = games.selectExpr("team", "score", "10 div int(score - 91) AS x")

    def build(table: DataFrame) -> DataFrame:
        groups = table.groupBy("team").agg({"x": "count", "score": "max"})
        return groups.filter("`max(score)` > 20 AND `count(x)` > 0").select("team")

    agrees(build, computed)


@UNREAD
@ARROW
def test_values_that_python_has_not(spark: SparkSession, tmp_path: Path, arrow: bool) -> None:
    """Days after the year 9999 fail on their way to Python."""
    path = str(tmp_path / "t")
    text = "SELECT id AS d, make_date(9998 + int(id), 1, 1) AS x FROM range(4)"
    spark.sql(text).write.parquet(path)

    def build(table: DataFrame) -> DataFrame:
        call = made("second", "bigint", arrow)("x", "d")
        return table.withColumn("c", call).filter("c >= 2").select("d")

    agrees(build, spark.read.parquet(path))


@UNREAD
def test_texts_that_are_none(spark: SparkSession, tmp_path: Path) -> None:
    """A text that is no UTF-8 fails on its way to Arrow."""
    path = str(tmp_path / "t")
    text = "SELECT id AS d, CAST(IF(id = 3, X'E9', X'41') AS STRING) AS x FROM range(4)"
    spark.sql(text).write.parquet(path)

    def build(table: DataFrame) -> DataFrame:
        call = made("second", "bigint", arrow=True)("x", "d")
        return table.withColumn("c", call).filter("c >= 2").select("d")

    agrees(build, spark.read.parquet(path))


def test_a_function_of_a_function(days: DataFrame) -> None:
    """The inner one raises where the outer one is not needed any more."""

    def build(table: DataFrame) -> DataFrame:
        inner = table.withColumn("x", made("season", "int")("d"))
        outer = inner.withColumn("c", made("total", "int")("x"))
        return outer.filter("c >= 0").select("d")

    df = build(days)
    assert outcome(df) == RAISED
    found = outcome(optimize(df, cost="always"))
    assert found == RAISED or "None" not in str(found)


def test_they_are_pushed(days: DataFrame) -> None:
    """Where no error is in the way the filter goes, and where one is it stays. Nothing goes where
    all rows that could go raise.
    """
    for where, kind in (("c = 1", "exact"), ("c >= 0", "none"), ("c > 5", "empty")):
        df = days.withColumn("c", made("season", "int")("d")).filter(where)
        assert explain(df, cost="always").boundaries[0].kind == kind


@FORMS
def test_they_are_pushed_below_functions_of_groups(games: DataFrame, form: str) -> None:
    df = GROUPS[form](games).filter("best >= 20")
    kind = {"two": "none", "at the end": "partial"}.get(form, "exact")
    assert explain(df, cost="always").boundaries[0].kind == kind
