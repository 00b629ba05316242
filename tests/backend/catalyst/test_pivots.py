"""Filters on the columns of a pivot: as written and as optimized."""

from __future__ import annotations

import random
from typing import TYPE_CHECKING, Any

import pytest
from tests.support.games.tables import Tables
from tests.support.running import code, rewritten, safe, same_rows, untouched
from tests.support.spark_version import is_before

from presieve.driver.optimize import explain, optimize

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

LEVELS = ("error", "info")


def pivot(
    rows: DataFrame, *calls: str, by: str = "level", values: tuple[Any, ...] | None = LEVELS
) -> DataFrame:
    """One row for a team, with columns ``error`` and ``info``, or ``error_m`` and so on."""
    from pyspark.sql import functions as F

    chosen = None if values is None else list(values)
    parts = [call.partition(" AS ") for call in calls]
    made = [F.expr(call).alias(name) if name else F.expr(call) for call, _, name in parts]
    return rows.groupBy("team").pivot(by, chosen).agg(*made)


CASES = [
    # functions, columns, filter, kind, pre-filter, and one that is too strong
    (
        ("max(v)",),
        "*",
        "error > 3 AND info > 2",
        "partial",
        "(v > 3 OR level = 'info') AND v >= 3 AND level IN ('error', 'info')",
        "v > 20",
    ),
    (
        ("max(v)",),
        "*",
        "error > 3",
        "partial",
        "(v > 3 OR level = 'info') AND level IN ('error', 'info')",
        "v > 3 AND level = 'error'",
    ),
    (("max(v)",), "team, error", "error > 3", "exact", "v > 3 AND level = 'error'", "v > 4"),
    (
        ("min(score)",),
        "team, info",
        "info < 95",
        "exact",
        "level = 'info' AND score < 95.0D",
        "score > 91",
    ),
    (("count(1)",), "*", "info >= 1", "partial", "level IN ('error', 'info')", "level = 'info'"),
    (("count(1)",), "team", "info >= 1", "exact", "level = 'info'", "level = 'error'"),
    (("count(score)",), "team, error", "error = 0", "partial", "level = 'error'", "score > 0"),
    (
        ("max(v) AS m", "count(score) AS c", "sum(score) AS s"),
        "team, error_m, info_c",
        "error_m > 3",
        "partial",
        "(v > 3 OR level = 'info') AND level IN ('error', 'info')",
        "level = 'error'",
    ),
    (
        ("max(score) AS m", "avg(score) AS a"),
        "*",
        "info_m > 90",
        "partial",
        "level IN ('error', 'info')",
        "score > 93",
    ),
]


@pytest.mark.parametrize(("calls", "columns", "where", "kind", "prefilter", "wrong"), CASES)
def test_every_function(
    tables: Tables,
    calls: tuple[str, ...],
    columns: str,
    where: str,
    kind: str,
    prefilter: str,
    wrong: str,
) -> None:
    def written(rows: DataFrame) -> DataFrame:
        return pivot(rows, *calls).filter(where).selectExpr(*columns.split(", "))

    for rows in (tables.plain, tables.strange, tables.empty):
        boundary = rewritten(written(rows))
        assert (boundary.kind, boundary.prefilter) == (kind, prefilter)
    rows = tables.strange
    twin = written(rows.filter(wrong))
    assert sorted(map(str, twin.collect())) != sorted(map(str, written(rows).collect()))


def test_the_scan_gets_it_and_the_report_names_values(tables: Tables) -> None:
    boundary = rewritten(pivot(tables.strange, "max(v)").filter("error > 3 AND info > 2"))
    assert "In(level, [error,info])" in boundary.pushed_to_scan
    assert boundary.function == "max"
    assert boundary.where == "`max(v) of error` > 3 AND `max(v) of info` > 2"


def test_how_strong_it_is(tables: Tables) -> None:
    """Of columns that are counted, rows are kept that do not matter: those without a score."""
    df = pivot(tables.strange, "count(score)").filter("error > 0")
    assert rewritten(df).strength == "universe"
    assert rewritten(df).prefilter.endswith("OR level = 'info')")
    assert rewritten(df.select("team", "error")).strength == "optimal"


def test_other_values_make_a_group(tables: Tables) -> None:
    """Team g has neither level, and a row of NULL."""
    df = pivot(tables.strange, "count(1)").filter("error IS NULL")
    assert untouched(df).kind == "none"
    assert {r["team"] for r in df.collect()} >= {"g"}
    kept = tables.strange.filter("level IN ('error', 'info')")
    assert "g" not in {r["team"] for r in pivot(kept, "count(1)").collect()}


def test_counts_of_nothing_are_null_and_not_zero(tables: Tables) -> None:
    """Of no row with the value NULL, of rows without a score zero."""
    counts = pivot(tables.strange, "count(score)")
    assert {r["error"] for r in counts.collect()} == {None, 0, 1, 2}
    rewritten(counts.filter("error = 0"))
    rewritten(counts.filter("error >= 0"))
    safe(counts.filter("error IS NULL OR error = 0"))
    safe(counts.filter("coalesce(error, 0) = 0"))


CHOSEN = pytest.mark.classic("values are given there, and are not NULL")
IN_TEXT = pytest.mark.classic("the server reads PIVOT in text")


@pytest.mark.parametrize(
    ("by", "values"),
    [
        pytest.param("level", None, marks=CHOSEN),
        pytest.param("level", (None, "error"), marks=CHOSEN),
        ("level", ("it's", "é", "", "100%")),
        ("flag", (True, False)),
        pytest.param("day", None, marks=CHOSEN),
        ("small", (0, 2)),
        ("v", (1, 2**53)),
    ],
)
def test_values_of_every_type(tables: Tables, by: str, values: tuple[Any, ...] | None) -> None:
    rows = tables.strange.selectExpr(
        *("*", "v % 2 = 0 AS flag", "date_add(DATE '1969-12-30', int(v % 5)) AS day"),
        "CAST(v % 3 AS SMALLINT) AS small",
    )
    table = pivot(rows, "max(score)", by=by, values=values)
    for column in table.columns[1:3]:
        boundary = rewritten(table.filter(f"`{column}` > 3").select("team", f"`{column}`"))
        assert boundary.kind in ("exact", "partial")


@pytest.mark.classic("what the analyzer makes of them is not read there")
def test_texts_and_dates_are_laid_side_by_side_without_an_array(tables: Tables) -> None:
    """Spark makes ``max(IF(level <=> 'error', ...))`` of them."""
    df = pivot(tables.strange.withColumn("name", tables.strange.level), "max(name)")
    assert rewritten(df.filter("error >= 'a'")).kind == "split"


def test_without_keys(tables: Tables) -> None:
    from pyspark.sql import functions as F

    for rows in (tables.strange, tables.empty):
        one = rows.groupBy().pivot("level", list(LEVELS)).agg(F.max("v"))
        assert rewritten(one.filter("error > 3").select("error")).kind == "partial"
        safe(one.filter("error IS NULL"))


def test_many_values(spark: SparkSession) -> None:
    """Columns that no filter reads are one function, which counts rows."""
    from pyspark.sql import functions as F

    rows = spark.range(600).selectExpr("id % 20 AS k", "int(id % 50) AS month", "id AS x")
    wide = rows.groupBy("k").pivot("month", list(range(1, 41))).agg(F.max("x"), F.avg("x"))
    boundary = rewritten(wide.filter("`3_max(x)` > 250 AND `4_max(x)` < 300"))
    assert "month >= 1 AND month <= 40" in boundary.prefilter
    some = " AND ".join(f"`{month}_max(x)` > 2" for month in range(1, 10))
    assert code(wide.filter(some)) == "filter-size"


def test_filters_come_from_further_above_and_go_further_below(tables: Tables) -> None:
    from pyspark.sql import functions as F

    best = tables.strange.groupBy("team", "level").agg(F.max("v").alias("v"))
    df = pivot(best, "max(v)").withColumnRenamed("error", "e").select("e", "team")
    better = optimize(df.filter("e > 3"), cost="always")
    same_rows(df.filter("e > 3"), better)
    found = [b.prefilter for b in explain(df.filter("e > 3"), cost="always").boundaries]
    assert found == ["v > 3 AND level = 'error'", "v > 3"]
    joined = df.join(tables.plain.select("team").distinct(), "team").filter("e > 3")
    assert safe(joined) is not joined


@IN_TEXT
def test_in_sql(tables: Tables) -> None:
    tables.strange.createOrReplaceTempView("pivoted")
    rows = "(SELECT team, level, v FROM pivoted)"
    calls = "max(v) AS m, count(v) AS n"
    text = f"SELECT * FROM {rows} PIVOT ({calls} FOR level IN ('error' AS e, 'info'))"
    df = tables.strange.sparkSession.sql(f"SELECT team, e_m FROM ({text}) WHERE e_m > 3")
    assert rewritten(df).prefilter == "v > 3 AND level = 'error'"


@IN_TEXT
@pytest.mark.parametrize("column", ["a", "b"])
def test_a_value_that_is_given_twice(tables: Tables, column: str) -> None:
    """Which place of the array gets its result is Spark's affair: it is declined."""
    tables.strange.createOrReplaceTempView("pivoted")
    rows = "(SELECT team, level, v FROM pivoted)"
    text = f"SELECT * FROM {rows} PIVOT (max(v) FOR level IN ('info' AS a, 'info' AS b))"
    df = tables.strange.sparkSession.sql(f"SELECT team, {column} FROM ({text})")
    assert code(df.filter(f"{column} > 3")) == "plan-shape"
    untouched(df.filter(f"{column} IS NULL"))


def test_what_is_declined(tables: Tables, spark: SparkSession) -> None:
    rows = tables.strange
    assert code(pivot(rows, "sum(v)").filter("error > 3")) == "native-aggregate"
    assert (
        code(pivot(rows, "max(v) AS m", "sum(v) AS s").filter("error_m > 3")) == "native-aggregate"
    )
    by_double = pivot(rows, "max(v)", by="score", values=(0.0, 4.0))
    assert code(by_double.filter("`0.0` > 3")) == "column-type"
    if not is_before("4.0"):
        collated = rows.selectExpr("team", "v", "level COLLATE UTF8_LCASE AS level")
        assert code(pivot(collated, "max(v)").filter("error > 3")) == "column-type"


@IN_TEXT
def test_what_is_declined_in_sql(tables: Tables, spark: SparkSession) -> None:
    tables.strange.createOrReplaceTempView("pivoted")
    source = "(SELECT team, level, v, score FROM pivoted)"
    pairs = "(('info', 20L) AS a, ('error', 3L) AS b)"
    two = f"SELECT * FROM {source} PIVOT (max(v) FOR (level, v) IN {pairs})"
    assert code(spark.sql(f"SELECT * FROM ({two}) WHERE a > 3")) == "plan-shape"
    text = "max(v) FILTER (WHERE score > 3)"
    filtered = f"SELECT * FROM {source} PIVOT ({text} FOR level IN ('error' AS e, 'info'))"
    safe(spark.sql(f"SELECT * FROM ({filtered}) WHERE e > 3"))


def test_a_sum_that_overflows_for_a_value_that_is_not_shown(spark: SparkSession) -> None:
    """The error of a row that would be dropped: so sums stay."""
    from py4j.protocol import Py4JJavaError
    from pyspark.errors import PySparkException

    values = "(1, 'a', 5L), (1, 'z', 9223372036854775807L), (1, 'z', 1L)"
    rows = spark.sql(f"SELECT * FROM VALUES {values} AS t(team, y, v)")
    spark.conf.set("spark.sql.ansi.enabled", "true")
    try:
        df = pivot(rows, "sum(v)", by="y", values=("a", "b")).filter("a > 3")
        for one in (df, optimize(df, cost="always")):
            with pytest.raises((PySparkException, Py4JJavaError), match=r"(?i)overflow"):
                one.collect()
        kept = pivot(rows.filter("y = 'a'"), "sum(v)", by="y", values=("a", "b")).filter("a > 3")
        assert kept.count() == 1
    finally:
        spark.conf.unset("spark.sql.ansi.enabled")


@pytest.mark.parametrize(
    "seed", [pytest.param(n, marks=[pytest.mark.random] if n > 1 else []) for n in range(12)]
)
def test_random_pivots(tables: Tables, connect: bool, seed: int) -> None:
    rng = random.Random(seed)
    functions = ("max", "min", "count", "avg")
    for _ in range(3):
        every = ["error", "info", "warn", "", "zebra", *([] if connect else [None])]
        values = rng.sample(every, rng.randint(1, 4))
        calls = [
            f"{f}({rng.choice(('v', 'score'))}) AS c{i}"
            for i, f in enumerate(rng.sample(functions, rng.randint(2, 3)))
        ]
        table = pivot(rng.choice((tables.strange, tables.plain)), *calls, values=tuple(values))
        parts = []
        for column in rng.sample(table.columns[1:], min(2, len(table.columns) - 1)):
            test = rng.choice(("> 3", "<= 10", "= 0", ">= 1", "IS NULL", "<> 2"))
            parts.append(f"`{column}` {test}")
        where = rng.choice((" AND ", " OR ")).join(parts)
        kept = ["team", *(f"`{c}`" for c in rng.sample(table.columns[1:], 1))]
        safe(table.filter(where))
        safe(table.filter(where).select(*kept))
