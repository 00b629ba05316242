"""Filters on the results of scalar UDFs."""

from __future__ import annotations

from datetime import date, datetime
from decimal import Decimal
from random import Random
from typing import TYPE_CHECKING, Any

import pytest
from tests.backend.problems import row_udfs
from tests.support.amount import some
from tests.support.games.tables import Tables
from tests.support.pickling import pickled_by_value
from tests.support.running import by_footers, plan_text, rewritten, safe, same_rows, untouched

from presieve.backend.classic.jvm_plans import JvmPlans
from presieve.driver.optimize import explain, optimize
from presieve.driver.synthesize import synthesize
from presieve.errors import Declined
from presieve.semantics.types import sort_of
from presieve.semantics.values import from_python

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

ARROW = pytest.mark.parametrize("arrow", [False, True], ids=["pickled", "arrow"])


by_value_too = pickled_by_value(row_udfs)


def with_c(df: DataFrame, name: str, returns: str, *columns: str, arrow: bool = False) -> DataFrame:
    from pyspark.sql.functions import udf

    make: Any = udf
    return df.withColumn("c", make(getattr(row_udfs, name), returns, useArrow=arrow)(*columns))


CASES = [
    ("grade", "string", "score", "c = 'top'", "GreaterThanOrEqual(score,95.0)"),
    ("grade", "string", "score", "c IS NULL", "IsNull(score)"),
    ("twice", "bigint", "v", "c > 10", "GreaterThan(v,4)"),
    ("twice", "bigint", "v", "c <= 10 AND v > 1", "LessThanOrEqual(v,4)"),
    ("alarming", "boolean", "level, v", "c", "EqualTo(level,error)"),
    ("severity", "int", "level", "c >= 3", "EqualTo(level,error)"),
    ("severity", "int", "level", "c = 7", ""),
    ("half", "double", "score", "c > 45", ""),
    ("half", "double", "score", "c < 0", ""),
    ("positive", "bigint", "v", "c > 10", "GreaterThan(v,10)"),
    ("over", "boolean", "v", "c", "GreaterThan(v,10)"),
    ("over", "boolean", "v", "c = true", "GreaterThan(v,10)"),
    ("over", "boolean", "v", "NOT c", "LessThanOrEqual(v,10)"),
    ("over", "boolean", "v", "c IS NULL", "IsNull(v)"),
    ("band", "string", "score", "c = 'top'", "GreaterThanOrEqual(score,95.0)"),
    ("named", "string", "level", "c = 'bad'", "EqualTo(level,error)"),
    ("far", "boolean", "score", "c", ""),
]


@ARROW
@some("name, returns, columns, where, scan", CASES, of=3)
def test_native_predicates_below(
    tables: Tables,
    name: str,
    returns: str,
    columns: str,
    where: str,
    scan: str,
    arrow: bool,
) -> None:
    table = tables.plain.filter("v > 0") if name == "positive" else tables.strange
    df = with_c(table, name, returns, *columns.split(", "), arrow=arrow).filter(where)
    boundary = rewritten(df)
    assert boundary.operator == "Project"
    stays = arrow and "level" in columns and where != "c = 7"  # some text may be no UTF-8
    assert boundary.kind in (("partial",) if stays else ("exact", "empty"))
    assert not scan or any(scan in p for p in boundary.pushed_to_scan)
    codes = [a["code"] for a in boundary.assumptions]
    # Without Arrow, an integer beyond 64 bits is NULL, and a text may come as another one.
    assert ("may-erase-error" in codes) == (
        name in ("positive", "alarming") or (arrow and name in ("twice", "severity", "named"))
    )


def test_the_function_is_called_once_for_a_row(tables: Tables) -> None:
    df = with_c(tables.plain, "grade", "string", "score").filter("c = 'top'")
    plan = plan_text(optimize(df)).partition("== Physical Plan ==")[2]
    assert plan.count("grade(score") == 1
    assert "PushedFilters: [IsNotNull(score), GreaterThanOrEqual(score,95.0)]" in plan


def test_what_spark_moves_is_not_spoken_of(tables: Tables) -> None:
    """``v`` and ``level`` are no results of the function."""
    df = with_c(tables.plain, "grade", "string", "score")
    boundary = rewritten(df.filter("c = 'top' AND v > 3 AND level <> 'warn'"))
    assert boundary.kind == "exact"
    assert not boundary.declined


def test_a_filter_with_another_function_says_so(tables: Tables) -> None:
    df = with_c(tables.strange, "opaque", "string", "level").withColumnRenamed("c", "other")
    df = with_c(df, "grade", "string", "score").filter("c = 'top' AND other = 'x'")
    by_function = {b.function: b for b in explain(df).boundaries}
    assert by_function["grade"].kind == "exact"
    codes = [d.code for d in by_function["opaque"].declined]
    assert len(codes) == len(set(codes))
    assert "column-type" not in codes


def test_where_something_stays(tables: Tables) -> None:
    """The sorted letters have no twin; the other filter goes below."""
    df = with_c(tables.strange, "grade", "string", "score").withColumnRenamed("c", "g")
    df = with_c(df, "opaque", "string", "level").filter("g = 'top' AND c <> 'x'")
    better = safe(df)
    assert better is not df
    assert "opaque" in plan_text(better)


@pytest.mark.classic("functions that are registered are on the server")
def test_functions_registered_for_sql(tables: Tables) -> None:
    spark = tables.plain.sparkSession
    spark.udf.register("grade_of", row_udfs.grade, "string")
    tables.strange.createOrReplaceTempView("games")
    df = spark.sql("SELECT * FROM (SELECT *, grade_of(score) AS c FROM games) WHERE c = 'good'")
    assert rewritten(df).kind == "exact"


@pytest.mark.parametrize(
    ("name", "returns", "column"),
    [
        ("numbered", "bigint", "v"),
        ("opaque", "string", "level"),
    ],
)
def test_what_is_not_understood_is_left_alone(
    tables: Tables, name: str, returns: str, column: str
) -> None:
    df = with_c(tables.strange, name, returns, column).filter("c IS NOT NULL")
    assert untouched(df).declined


@pytest.mark.parametrize(
    ("name", "returns", "column", "kind"),
    [
        ("whole_or_half", "double", "score", "exact"),
        ("grade", "bigint", "score", "empty"),
        ("wrong_type", "bigint", "v", "empty"),
    ],
)
def test_values_of_another_class_are_null_without_arrow(
    tables: Tables, name: str, returns: str, column: str, kind: str
) -> None:
    df = with_c(tables.strange, name, returns, column)
    assert rewritten(df.filter("c IS NOT NULL")).kind == kind
    same_rows(df.filter("c IS NULL"), optimize(df.filter("c IS NULL"), cost="always"))
    with_arrow = with_c(tables.strange, "grade", "bigint", "score", arrow=True)
    assert untouched(with_arrow.filter("c IS NOT NULL")).declined


def test_integers_for_doubles_are_null_without_arrow(tables: Tables) -> None:
    """Which is what Spark does; with Arrow they are doubles."""
    with_arrow = with_c(tables.strange, "whole_or_half", "double", "score", arrow=True)
    rewritten(with_arrow.filter("c > 45"))
    rewritten(with_arrow.filter("c = 0"))


TYPED = [
    ("is_recent", "boolean", "d", "c", "GreaterThanOrEqual(d,2024-01-02)"),
    ("not_before", "date", "d", "c > DATE '2024-01-02'", "GreaterThan(d,2024-01-02)"),
    ("not_before", "date", "d", "c = DATE '2024-01-02'", ""),
    ("in_the_morning", "boolean", "t", "c", "LessThan(t,2024-01-01T12:00)"),
    ("in_the_morning", "boolean", "t", "NOT c", ""),
    ("is_large", "boolean", "m", "c", ""),
    ("level_of", "string", "m", "c = 'none'", "IsNull(m)"),
    ("level_of", "string", "m", "c <> 'low'", ""),
]


@ARROW
@some("name, returns, column, where, scan", TYPED, of=3)
def test_dates_times_and_decimals(
    typed: DataFrame, name: str, returns: str, column: str, where: str, scan: str, arrow: bool
) -> None:
    boundary = rewritten(with_c(typed, name, returns, column, arrow=arrow).filter(where))
    # Nothing shows that Python has all days. Footers show it of times, and with Arrow of decimals.
    kind = "partial" if column == "d" else "exact"
    shown = column == "t" or arrow
    assert boundary.kind == (by_footers(typed, kind) if shown else kind)
    assert not scan or any(scan in p for p in boundary.pushed_to_scan)


@pytest.fixture(scope="module")
def typed(spark: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> DataFrame:
    days = [None, date(2024, 1, 1), date(2024, 1, 2), date(2024, 1, 3), date(1, 1, 1)]
    times = [None, *(datetime(2024, 1, 1, h) for h in (5, 6, 11, 12))]
    amounts = [None, *map(Decimal, ("2.50", "2.51", "0.00", "-99.99"))]
    rows: Any = list(zip(days, times, amounts, strict=True))
    path = str(tmp_path_factory.mktemp("typed") / "t")
    schema = "d date, t timestamp_ntz, m decimal(10,2)"
    spark.createDataFrame(rows, schema).write.parquet(path)
    return spark.read.parquet(path)


def test_a_square_of_more_than_64_bits_is_null_without_arrow(tables: Tables) -> None:
    numbers = tables.plain.filter("v IS NOT NULL")
    df = with_c(numbers, "squared", "int", "v").filter("c IS NOT NULL")
    square = "CAST(v AS DECIMAL(20,0)) * CAST(v AS DECIMAL(20,0))"
    assert rewritten(df).prefilter == f"{square} <= 9223372036854775807BD"


def test_instants_are_known_to_a_day(typed: DataFrame, monkeypatch: pytest.MonkeyPatch) -> None:
    """Their local time is that of the worker's machine, without Arrow, as of a cluster."""
    monkeypatch.setattr(JvmPlans, "workers_show_utc", lambda _: False)
    table = typed.selectExpr("CAST(t AS timestamp) AS t")
    df = with_c(table, "in_the_morning", "boolean", "t").filter("c")
    boundary = rewritten(df)
    assert boundary.kind == "partial"
    assert boundary.prefilter == (
        "t >= TIMESTAMP '2023-12-31 06:00:00Z' AND t <= TIMESTAMP '2024-01-02 12:00:00Z'"
    )


def test_nondeterministic_functions(tables: Tables) -> None:
    from pyspark.sql.functions import udf

    make: Any = udf
    random = make(row_udfs.grade, "string").asNondeterministic()
    df = tables.plain.withColumn("c", random("score")).filter("c = 'top'")
    assert untouched(df).declined[0].code == "nondeterministic"


def test_strict_keeps_errors(tables: Tables) -> None:
    df = with_c(tables.plain.filter("v > 0"), "positive", "bigint", "v").filter("c > 10")
    strict = explain(df, policy="strict")
    assert [d.code for d in strict.boundaries[0].declined] == ["may-erase-error"]
    assert not strict.changed


ROWS = [
    ("grade", "score double", "c string", ["c = 'top'", "c <> 'good'", "c IS NULL"]),
    ("twice", "v int", "c bigint", ["c > 10", "c = 4", "c = 5", "NOT (c < 7)"]),
    ("half", "score double", "c double", ["c > 4", "c < 0", "c = -1 OR c >= 50"]),
    ("alarming", "level string, v int NOT NULL", "c boolean", ["c", "NOT c"]),
    ("severity", "level string", "c int", ["c >= 2", "c = 0", "c <> 3"]),
    ("not_before", "d date", "c date", ["c > DATE '2024-01-02'", "c <= DATE '2024-01-02'"]),
    ("in_the_morning", "t timestamp_ntz", "c boolean", ["c", "NOT c"]),
    ("is_large", "m decimal(10,2)", "c boolean", ["c", "NOT c"]),
    ("level_of", "m decimal(10,2)", "c string", ["c = 'high'", "c <> 'low'", "c = 'none'"]),
]


def stored(value: Any, type_: str) -> Any:
    """As the interpreter has values of a type."""
    sort = sort_of(type_)
    assert sort is not None
    return None if value is None else from_python(value, sort)


@pytest.mark.costly
@pytest.mark.parametrize(("name", "schema", "returns", "wheres"), ROWS)
def test_lemma_on_random_rows(name: str, schema: str, returns: str, wheres: list[str]) -> None:
    """On 10,000 rows and more: what passes the filter passes the pre-filter; exact: and no more."""
    from presieve.driver.fold_inputs import Inputs, read_filter, read_inputs
    from presieve.ir.terms import Scope
    from presieve.semantics.interpret import evaluate
    from presieve.sql.ddl import parse_returns, parse_schema

    function = getattr(row_udfs, name)
    random = Random(11)
    pools: dict[str, list[Any]] = {
        "double": [None, float("nan"), -0.0, 0.0, 5.0, 8.0, 90.0, 91.0, 95.0, 1e300, -1.0],
        "int": [None, *range(-3, 9), 2**31 - 1],
        "string": [None, "", "error", "warn", "é"],
        "date": [None, *(date(2024, 1, d) for d in (1, 2, 3)), date(1, 1, 1)],
        "timestamp_ntz": [None, *(datetime(2024, 1, 1, h) for h in (5, 6, 9, 12))],
        "decimal(10,2)": [None, *map(Decimal, ("2.50", "2.51", "0.00", "-0.01", "99.99"))],
    }
    columns = parse_schema(schema)
    inputs = read_inputs(function, schema, returns, (), "row")
    assert isinstance(inputs, Inputs)
    for where in wheres:
        found = synthesize(function, where, schema=schema, returns=returns, mode="row")
        assert found.kind == ("empty" if where == "c = 4" else "exact")
        before = read_filter("where", where, inputs.output_names())
        below = read_filter("prefilter", found.prefilter, inputs.input_names())
        assert not isinstance(before, Declined)
        assert not isinstance(below, Declined)
        kept = 0
        for _ in range(800):
            row = [random.choice(pools[c.type][not c.nullable :]) for c in columns]
            value = function(*row)
            (made,) = parse_returns(returns, name)
            after = evaluate(before, {(Scope.OUT, "c"): stored(value, made.type)})
            names = {
                (Scope.KEY, c.name): stored(x, c.type) for c, x in zip(columns, row, strict=True)
            }
            assert (evaluate(below, names) is True) == (after is True), (row, value, where)
            kept += after is True
        assert kept or where == "c = 4"
