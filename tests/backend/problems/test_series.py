"""Filters on the results of scalar pandas UDFs."""

from __future__ import annotations

import linecache
from typing import TYPE_CHECKING, Any

import pytest
from pyspark.errors import PythonException
from tests.backend.problems import series_udfs
from tests.support.games.tables import Tables
from tests.support.pickling import pickled_by_value
from tests.support.running import counted, is_connect, rewritten, safe, same_rows, untouched

from presieve import verify
from presieve.driver.optimize import explain, optimize
from presieve.driver.synthesize import synthesize

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

by_value_too = pickled_by_value(series_udfs)


def with_c(df: DataFrame, name: str, returns: str, *columns: str, to: str = "c") -> DataFrame:
    from pyspark.sql.functions import pandas_udf  # type: ignore[attr-defined]

    make: Any = pandas_udf
    return df.withColumn(to, make(getattr(series_udfs, name), returns)(*columns))


SLOW = pytest.mark.slow
CASES = [
    ("taxed", "double", ("score",), "c > 100"),
    pytest.param("taxed", "double", ("score",), "c IS NULL", marks=SLOW),
    ("filled", "double", ("score",), "c > 10"),
    pytest.param("filled", "double", ("score",), "c = 0", marks=SLOW),
    ("clipped", "double", ("score",), "c >= 90"),
    ("high", "boolean", ("score",), "c"),
    ("high", "boolean", ("score",), "NOT c"),
    pytest.param("labelled", "boolean", ("score",), "c", marks=SLOW),
    ("both", "boolean", ("score", "v"), "c"),
    ("errors", "boolean", ("level",), "c"),
    pytest.param("equal", "boolean", ("level",), "NOT c", marks=SLOW),
    ("batches", "double", ("score",), "c > 90"),
    ("pairs", "boolean", ("score", "v"), "c"),
    ("by_lambda", "string", ("score",), "c = 'high'"),
    pytest.param("by_lambda", "string", ("score",), "c <> 'middle'", marks=SLOW),
    ("by_lambda_of_computed", "string", ("score",), "c = 'high'"),
    pytest.param("by_lambda_of_lower", "string", ("level",), "c = 'N'", marks=SLOW),
    ("by_function", "string", ("score",), "c = 'top'"),
    pytest.param("by_function", "string", ("score",), "c IS NULL", marks=SLOW),
    ("with_none", "double", ("score",), "c > 40"),
    pytest.param("with_none", "double", ("score",), "c IS NULL", marks=SLOW),
    ("of_text", "boolean", ("level",), "c"),
    ("spelled", "string", ("level",), "c = 'ERROR'"),
]


@pytest.mark.parametrize(("name", "returns", "columns", "where"), CASES)
def test_filters_go_below(
    tables: Tables, name: str, returns: str, columns: tuple[str, ...], where: str
) -> None:
    for table in (tables.strange, tables.plain):
        df = with_c(table, name, returns, *columns).filter(where)
        same_rows(df, optimize(df, cost="always"))
    boundary = rewritten(df)
    assert boundary.operator == "Project"
    assert boundary.prefilter != "true"


def test_a_function_for_each_integer(tables: Tables) -> None:
    """Beside a NULL it would get a double, whose text is another."""
    beside_null = tables.plain.selectExpr("team", "score", "nullif(v, 3) AS v", "level")
    assert untouched(with_c(beside_null, "rated", "string", "v").filter("c = '1'")).declined
    present = with_c(beside_null.filter("v IS NOT NULL"), "rated", "string", "v")
    assert rewritten(present.filter("c = 'high'")).prefilter == "v >= 4"
    assert rewritten(present.filter("c = '1'")).prefilter == "v = 1"


def test_integers_that_pandas_may_round(tables: Tables) -> None:
    """Beside a NULL of the same batch, which a filter might drop or bring there."""
    beside_null = tables.plain.selectExpr("team", "score", "nullif(v, 3) AS v", "level")
    large = with_c(beside_null, "itself", "bigint", "v").filter("c > 5")
    assert untouched(large).declined[0].code == "assumption"
    without_null = with_c(tables.plain, "itself", "bigint", "v")
    if not is_connect(without_null):  # the files of a server are not read
        assert rewritten(without_null.filter("c > 5")).prefilter == "v > 5"
    small = with_c(tables.plain.filter("v BETWEEN 0 AND 100"), "itself", "bigint", "v")
    assert rewritten(small.filter("c > 5")).prefilter != "true"


@pytest.mark.parametrize(
    ("name", "returns", "code"),
    [
        ("centred", "double", "two-passes"),
        ("ranked", "double", None),
        ("ordered", "double", None),
        ("chosen", "double", "return-shape"),
        ("shifted", "double", None),
        ("changed", "double", "mutation"),
        ("running", "double", None),
        ("high", "string", "return-type"),
    ],
)
def test_what_is_no_function_of_single_rows(
    tables: Tables, name: str, returns: str, code: str | None
) -> None:
    df = with_c(tables.plain, name, returns, "score").filter("c IS NOT NULL")
    (boundary,) = explain(df, cost="always").boundaries
    assert boundary.declined
    assert code is None or code in {d.code for d in boundary.declined}
    assert optimize(df, cost="always") is df


def test_an_array_as_result(tables: Tables) -> None:
    """Spark raises; what the reason advises is read."""
    df = with_c(tables.plain, "array_of_grades", "string", "score").filter("c = 'top'")
    with pytest.raises(PythonException, match="has no attribute 'array'"):
        df.collect()
    assert "return pd.Series(...) of it" in str(untouched(df).declined)
    advised = with_c(tables.plain, "graded", "string", "score").filter("c = 'top'")
    assert rewritten(advised).prefilter == "score >= 90.0D AND NOT isnan(score)"


def test_one_that_changes_the_series_of_another(tables: Tables) -> None:
    """Spark passes both of them the same one, in whatever order it calls them."""
    df = tables.strange.filter("score IS NULL OR score > -1000")
    for first, second in (("plus_ten", "high"), ("high", "plus_ten")):
        returns = {"plus_ten": "double", "high": "boolean"}
        both = with_c(df, first, returns[first], "score", to=first)
        both = with_c(both, second, returns[second], "score", to=second)
        for where in ("high", "NOT high", "high OR plus_ten < 0"):
            safe(both.filter(where))
        boundaries = explain(both.filter("high"), cost="always").boundaries
        (why,) = (d for b in boundaries for d in b.declined if d.code == "mutation")
        assert why.reason.startswith("plus_ten takes score, too, and may change it in place: ")


def test_why_the_function_below_is_not_followed(tables: Tables) -> None:
    """Two functions that share no column: the obstacle is in the one whose result is taken."""
    ranks = with_c(tables.plain, "ranked", "double", "score", to="y")
    for df in (
        with_c(ranks, "above_two", "boolean", "y"),
        with_c(ranks, "both", "boolean", "y", "v"),
    ):
        (boundary,) = explain(df.filter("c"), cost="always").boundaries
        (why,) = boundary.declined
        assert why.code != "mutation"
        assert why.reason.startswith("ranked, whose result is taken, is not followed: ")
        assert why.span is not None
        assert linecache.getline(why.span.file, why.span.line) == "    return score.rank()\n"


def test_others_beside(tables: Tables) -> None:
    """One that lifts, and one of another column."""
    df = with_c(tables.plain, "taxed", "double", "score", to="t")
    df = with_c(df, "high", "boolean", "score").filter("c AND t > 100")
    better = optimize(df, cost="always")
    same_rows(df, better)
    assert better is not df
    df = with_c(tables.plain, "halves", "double", "v", to="t")
    df = with_c(df, "high", "boolean", "score").filter("c")
    better = optimize(df, cost="always")
    same_rows(df, better)
    assert better is not df


def test_chains(tables: Tables) -> None:
    """What one returns is handed to the next as it is."""
    df = with_c(tables.plain, "halves", "double", "v", to="y")
    df = with_c(df, "above_two", "boolean", "y").filter("c")
    safe(df)
    df = with_c(tables.plain, "taxed", "double", "score", to="y")
    df = with_c(df, "high", "boolean", "y").filter("c AND v > 3")
    safe(df)


def test_a_lambda_that_raises(tables: Tables) -> None:
    """A row that is dropped may take its error along, but not under the strict policy."""
    df = with_c(tables.plain.filter("score <> 0"), "one_over", "double", "score").filter("c > 0.5")
    safe(df)
    df = with_c(tables.strange, "one_over", "double", "score").filter("c > 0.5")
    with pytest.raises(Exception, match="ZeroDivisionError"):
        df.collect()
    with pytest.raises(Exception, match="ZeroDivisionError"):
        optimize(df, cost="always", policy="strict").collect()


def test_integers_of_a_lambda(tables: Tables) -> None:
    """Beside a NULL in the batch they are doubles."""
    for name, returns, where in (
        ("of_numbers", "bigint", "c > 10"),
        ("of_digits", "string", "c = '5'"),
        ("of_digits", "string", "c = '5.0'"),
    ):
        for table in (tables.strange, tables.plain):
            df = with_c(table.filter("v IS NULL OR abs(v) < 1000"), name, returns, "v")
            safe(df.filter(where))
        beside_null = tables.plain.selectExpr("nullif(v, 3) AS v").filter(
            "abs(v) < 1000 OR v IS NULL"
        )
        df = with_c(beside_null, name, returns, "v").filter(where)
        declined = [d for b in explain(df).boundaries for d in b.declined]
        assert {"assumption", "numpy-scalar"} & {d.code for d in declined}
    there = tables.strange.selectExpr("coalesce(v, 0) % 1000 AS v")
    df = with_c(there, "of_digits", "string", "v").filter("c = '5'")
    better = optimize(df, cost="always")
    same_rows(df, better)


def test_in_filters_and_conditions(tables: Tables) -> None:
    from pyspark.sql.functions import pandas_udf  # type: ignore[attr-defined]

    high: Any = pandas_udf(series_udfs.high, "boolean")
    df = tables.strange.filter(high("score"))
    better = optimize(df, cost="always")
    same_rows(df, better)
    assert better is not df


def test_wrong_twins_are_refuted(tables: Tables) -> None:
    for name, returns, where, wrong in (
        ("taxed", "double", "c > 100", "score > 95"),
        ("filled", "double", "c < 10", "score < 10"),
        ("clipped", "double", "c <= 10", "score < 0"),
        ("high", "boolean", "NOT c", "score < 80"),
        ("both", "boolean", "NOT c", "score <= 50"),
    ):
        columns = ("score", "v") if name == "both" else ("score",)
        from pyspark.sql.functions import pandas_udf  # type: ignore[attr-defined]

        found = verify(
            pandas_udf(getattr(series_udfs, name), returns),
            where,
            schema="score double, v bigint" if name == "both" else "score double",
            returns=f"c {returns}",
            mode="row",
            prefilter=wrong,
        )
        assert found.certificate is None
        df = with_c(tables.strange, name, returns, *columns)
        kept = with_c(tables.strange.filter(wrong), name, returns, *columns)
        assert counted(df.filter(where)) != counted(kept.filter(where))


def test_without_spark() -> None:
    from pyspark.sql.functions import pandas_udf  # type: ignore[attr-defined]
    from pyspark.sql.types import DoubleType

    found = synthesize(
        pandas_udf(series_udfs.taxed, DoubleType()),
        "price > 100",
        schema="v double",
        returns="price double",
        mode="row",
    )
    assert found.kind == "exact"
    assert "v > 80.0D" in found.prefilter
