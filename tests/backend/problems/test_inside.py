"""Scalar UDFs inside filters, and inside of larger expressions."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from tests.backend.problems import row_udfs
from tests.support.games.tables import Tables
from tests.support.pickling import pickled_by_value
from tests.support.running import rewritten, safe, same_rows

from presieve import verify
from presieve.driver.optimize import explain, optimize

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

ARROW = pytest.mark.parametrize("arrow", [False, True], ids=["pickled", "arrow"])


by_value_too = pickled_by_value(row_udfs)


@pytest.fixture(scope="module", autouse=True)
def nothing_cached(spark: SparkSession) -> None:
    """Where something is, calls stay inside."""
    spark.catalog.clearCache()


def made(name: str, returns: str, arrow: bool = False) -> Any:
    from pyspark.sql.functions import udf

    make: Any = udf
    return make(getattr(row_udfs, name), returns, useArrow=arrow)


def without_python(df: DataFrame) -> None:
    """Nothing is left to call."""
    better = optimize(df)
    same_rows(df, better)
    assert not has_python(better)
    assert has_python(df)


def has_python(df: DataFrame) -> bool:
    import contextlib
    import io

    out = io.StringIO()
    with contextlib.redirect_stdout(out):
        df.explain(True)
    return "EvalPython" in out.getvalue()


@ARROW
def test_a_condition(tables: Tables, arrow: bool) -> None:
    alarming = made("alarming", "boolean", arrow)
    df = tables.strange.filter(alarming("level", "v"))
    boundary = rewritten(df)
    assert boundary.where == "`alarming(level, v)`"
    assert any("EqualTo(level,error)" in p for p in boundary.pushed_to_scan)
    # A text that is no UTF-8 fails on its way to Arrow: the function is called for what is kept.
    assert boundary.kind == ("partial" if arrow else "exact")
    assert has_python(optimize(df)) == arrow


@ARROW
def test_part_of_a_condition(tables: Tables, arrow: bool) -> None:
    twice, grade = made("twice", "bigint", arrow), made("grade", "string", arrow)
    without_python(tables.strange.filter(grade("score") == "top"))
    without_python(tables.plain.filter((twice("v") > 10) & (tables.plain.team != "b")))
    without_python(tables.plain.filter((twice("v") > 10) & (twice("v") <= 40)))
    either = tables.strange.filter("v < 100").filter((twice("v") > 10) | grade("score").isNull())
    assert rewritten(either).kind == "exact"


def test_what_has_no_twin_stays(tables: Tables) -> None:
    df = tables.plain.filter(
        (made("opaque", "string")("level") != "x") & tables.plain.team.isNull()
    )
    assert optimize(df) is df
    df = df.filter(made("grade", "string")("score") == "top")
    assert has_python(safe(df))
    both = made("grade", "string")("score") == made("opaque", "string")("level")
    same = tables.plain.filter(both)
    assert optimize(same) is same


def test_functions_of_functions(tables: Tables) -> None:
    """The chain is one function of ``level``."""
    severity, twice = made("severity", "int"), made("twice", "bigint")
    boundary = rewritten(tables.strange.filter(twice(severity("level")) >= 6))
    assert boundary.prefilter == "level = 'error'"


def test_a_function_of_one_that_is_not_read(tables: Tables) -> None:
    """It may return objects of any class, and Spark hands them on as they are: the reason is why
    it is not read.
    """
    severity, opaque = made("severity", "int"), made("opaque", "string")
    df = tables.strange.filter(severity(opaque("level")) >= 3)
    assert optimize(df) is df
    declined = [d for b in explain(df).boundaries for d in b.declined]
    assert {d.code for d in declined} == {"unknown-call"}


def test_larger_columns(tables: Tables) -> None:
    twice = made("twice", "bigint")
    df = tables.plain.filter("v < 100").withColumn("high", twice("v") > 20)
    boundary = rewritten(df.filter("high"))
    assert any("GreaterThan(v,9)" in p for p in boundary.pushed_to_scan)
    assert rewritten(df.withColumn("no", ~df.high).filter("no")).kind == "exact"


def test_arguments_that_are_computed(tables: Tables) -> None:
    from pyspark.sql import functions as F

    grade, severity = made("grade", "string"), made("severity", "int")
    without_python(tables.strange.filter(grade(F.col("score") * 2.0) == "top"))
    without_python(tables.strange.filter(severity(F.lower("level")) >= 2))


def test_arguments_that_can_raise_are_left_alone(tables: Tables) -> None:
    """Spark divides only where ``v`` is not 0, and would divide for a pre-filter first."""
    from pyspark.sql import functions as F

    grade = made("grade", "string")
    df = tables.plain.filter((F.col("v") != 0) & (grade(F.col("score") / F.col("v")) == "top"))
    assert df.count() > 0
    assert optimize(df) is df


def test_lambdas(tables: Tables) -> None:
    from pyspark.sql.functions import udf

    high = udf(lambda v: v > 10, "boolean")
    without_python(tables.plain.filter(high("v")))


@pytest.mark.classic("functions that are registered are on the server")
def test_sql_text(tables: Tables) -> None:
    spark = tables.plain.sparkSession
    spark.udf.register("grade_of", row_udfs.grade, "string")
    tables.strange.createOrReplaceTempView("inside_games")
    text = "SELECT team FROM inside_games WHERE grade_of(score) = 'good' AND v > 1"
    without_python(spark.sql(text))


def test_below_an_aggregate(tables: Tables) -> None:
    grade = made("grade", "string")
    df = tables.strange.filter(grade("score") == "top").groupBy("team").count()
    without_python(df)


def test_errors_of_rows_that_are_kept(tables: Tables) -> None:
    """Nobody calls the function then, so that its errors are gone: that is told, or refused."""
    df = tables.plain.filter("v > 0").filter(made("positive", "bigint")("v") > 10)
    codes = [a["code"] for a in explain(df).boundaries[0].assumptions]
    assert "may-erase-error" in codes
    assert optimize(df, policy="strict") is df


def test_columns_of_one_name(tables: Tables) -> None:
    """Names do not tell the columns of the two sides apart."""
    joined = tables.plain.alias("l").crossJoin(tables.plain.alias("r"))
    df = joined.filter(made("twice", "bigint")("l.v") > 40)
    assert optimize(df) is df
    assert explain(df).boundaries[0].declined[0].code == "ambiguous-name"


def test_nondeterministic_functions(tables: Tables) -> None:
    random = made("grade", "string").asNondeterministic()
    df = tables.plain.filter(random("score") == "top")
    assert optimize(df) is df


def test_where_something_is_cached(tables: Tables) -> None:
    df = tables.plain.filter(made("alarming", "boolean")("level", "v")).cache()
    try:
        assert optimize(df) is df
    finally:
        df.unpersist()


def test_a_wrong_twin_is_refuted() -> None:
    """A stronger predicate than that of the function, and a row that it loses."""
    given: dict[str, Any] = {"schema": "score double", "returns": "c string", "mode": "row"}
    wrong = verify(row_udfs.grade, "c = 'top'", prefilter="score > 95", **given)
    assert wrong.status == "refuted"
    assert wrong.counterexample is not None
    scores: list[Any] = [row["score"] for row in wrong.counterexample.rows]
    lost = [s for s in scores if not (s is not None and s > 95)]
    grade: Any = row_udfs.grade
    assert "top" in [grade(s) for s in lost]
    right = verify(
        row_udfs.grade, "c = 'top'", prefilter="score >= 95 AND NOT isnan(score)", **given
    )
    assert right.status == "proved"
