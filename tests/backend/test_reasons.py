"""Each conjunct of a filter has one outcome, and the reason that keeps it where it is."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
import pytest
from pyspark.sql import Window
from pyspark.sql import functions as F
from tests.support.running import same_rows
from tests.support.spark_version import is_before

from presieve.driver.optimize import explain, optimize

if TYPE_CHECKING:
    from pathlib import Path

    from pyspark.sql import DataFrame, SparkSession

    from presieve.report.report import Report

pytestmark = pytest.mark.spark

RESULT = "k int, country string, n bigint, middle double"


@pytest.fixture(scope="module")
def rows(spark: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> DataFrame:
    path: Path = tmp_path_factory.mktemp("reasons") / "rows"
    data: list[tuple[object, ...]] = [(None, None, None, None), (1, "a", "", float("nan"))]
    data += [(i % 4, "abc"[i % 3], f"text {i}", float(i)) for i in range(40)]
    spark.createDataFrame(data, "k int, country string, s string, x double").write.parquet(
        str(path)
    )
    return spark.read.parquet(str(path))


def summary(pdf: pd.DataFrame) -> pd.DataFrame:
    ordered = pdf.sort_values("x", kind="stable")
    return pd.DataFrame(
        {
            "k": [pdf["k"].iloc[0]],
            "country": [pdf["country"].iloc[0]],
            "n": [len(pdf)],
            "middle": [ordered["x"].diff().max()],
        }
    )


def open_summary(pdf: pd.DataFrame) -> pd.DataFrame:
    with open("/dev/null", "w") as log:
        log.write(str(len(pdf)))
    return summary(pdf)


def outcomes(report: Report) -> dict[str, tuple[str, list[str]]]:
    """The fate of each conjunct, and the codes of its reasons. Connect writes numbers without their
    types.
    """
    (boundary,) = report.boundaries
    texts = (re.sub(r"\b(\d+)(L|\.0D)", r"\1", c.text.strip("()")) for c in boundary.conjuncts)
    return {
        t: (c.fate, [d.code for d in c.why]) for t, c in zip(texts, boundary.conjuncts, strict=True)
    }


def test_a_column_that_is_no_grouping_column(rows: DataFrame) -> None:
    df = rows.groupBy("k").applyInPandas(summary, RESULT).filter("country = 'a' AND middle > 3")
    report = explain(df)
    assert outcomes(report) == {
        "country = 'a'": ("stays", ["not-grouped"]),
        "middle > 3": ("stays", ["not-a-fold"]),
    }
    assert "country is no grouping column" in str(report)
    assert [d.code for d in report.boundaries[0].declined] == ["not-grouped", "not-a-fold"]


def test_the_advice_moves_it(rows: DataFrame) -> None:
    df = rows.groupBy("k", "country").applyInPandas(summary, RESULT)
    df = df.filter("country = 'a' AND middle > 3")
    report = explain(df)
    assert outcomes(report) == {
        "country = 'a'": ("below", []),
        "middle > 3": ("stays", ["not-a-fold"]),
    }
    assert report.boundaries[0].prefilter == "country = 'a'"
    text = str(report)
    assert "the others remain above" in " ".join(text.split())
    assert "nothing is left to check above" not in text
    same_rows(df, optimize(df, cost="always"))


def test_an_effect_that_keeps_a_key_above(rows: DataFrame) -> None:
    """The search for values is not what decides about a key."""
    df = rows.groupBy("k").applyInPandas(open_summary, RESULT).filter("k = 1 AND middle > 3")
    report = explain(df)
    fates = outcomes(report)
    assert fates["k = 1"] == ("stays", ["impure-io"])
    (boundary,) = report.boundaries
    (why,) = (c.why[0] for c in boundary.conjuncts if c.text.strip("()") == "k = 1")
    assert why.span is not None
    assert "calls of the function must stay" in why.reason


def test_what_spark_moves_itself(rows: DataFrame) -> None:
    shout = F.udf(lambda s: None if s is None else s.expandtabs(), "string")
    df = rows.withColumn("loud", shout("s")).filter("country = 'a' AND loud = 'Text 3'")
    fates = outcomes(explain(df))
    assert fates["country = 'a'"] == ("spark", [])
    assert fates["loud = 'Text 3'"][0] == "part"
    assert fates["loud = 'Text 3'"][1]


def _draw(column: str) -> Any:
    function: Any = F.udf(lambda x: x > 3, "boolean")
    return function.asNondeterministic()(column)


def test_a_chain_is_no_obstacle_for_other_conjuncts(rows: DataFrame) -> None:
    """Spark moves what reads neither function, whatever stands in the way of theirs."""
    clean = F.udf(lambda s: None if s is None else s.lower(), "string")
    ends = F.udf(lambda s: s is not None and s.endswith("3"), "boolean")
    cleaned = rows.withColumn("c", clean("s")).join(rows.select("k").distinct(), "k")
    fates = outcomes(explain(cleaned.withColumn("e", ends("c")).filter("x > 3 AND e")))
    assert fates["x > 3"] == ("spark", [])
    assert fates["e"] == ("stays", ["argument-expression"])


ALONE: dict[str, tuple[Callable[[DataFrame], DataFrame], str, str]] = {
    "a nondeterministic function": (
        lambda df: df.filter(_draw("x")),
        "nondeterministic-udf",
        "asNondeterministic()",
    ),
    "the result of a window": (
        lambda df: df.withColumn(
            "r", F.row_number().over(Window.partitionBy("k").orderBy("x"))
        ).filter("r = 1"),
        "window-frame",
        "Window row_number",
    ),
}


@pytest.mark.classic("a client does not see what Spark separates")
@pytest.mark.parametrize("name", ALONE)
def test_what_is_left_alone_is_told(rows: DataFrame, name: str) -> None:
    build, code, words = ALONE[name]
    report = explain(build(rows))
    assert [d.code for d in report.data.left_alone] == [code]
    assert words in str(report)
    assert "left alone" in str(report)
    assert "No filter" not in str(report)
    assert report.to_json()["left_alone"][0]["code"] == code


def _beside(rows: DataFrame) -> DataFrame:
    """The results of a function, beside a table of their keys."""
    keys = rows.sparkSession.range(3).selectExpr("CAST(id AS int) AS k", "id AS least")
    return keys.join(rows.groupBy("k").applyInPandas(summary, RESULT), "k")


@pytest.mark.classic("a client does not see what Spark separates")
@pytest.mark.parametrize(
    ("where", "words"),
    [
        ("n > least", "reads columns of both sides of the join"),
        ("rand() < 2", "is not deterministic, reads none of its results"),
        ("least > 0", None),
    ],
)
def test_a_filter_above_a_join_is_told(rows: DataFrame, where: str, words: str | None) -> None:
    """A filter on the other side alone is Spark's, and nothing is said of it."""
    df = rows.groupBy("k").applyInPandas(summary, RESULT) if "rand" in where else _beside(rows)
    reasons = [why.reason for why in explain(df.filter(where)).data.left_alone]
    assert len(reasons) == (words is not None)
    assert all(words in reason for reason in reasons if words is not None)


class _Words:
    def eval(self, text: str) -> Iterator[tuple[str]]:
        for word in (text or "").split():
            yield (word,)


@pytest.mark.classic("a client does not see what Spark separates")
@pytest.mark.skipif(is_before("4.1"), reason="lateral joins of table functions are newer")
def test_table_functions_for_each_row(rows: DataFrame) -> None:
    """The advice: Spark moves the filter below a function that is said to be deterministic."""
    make: Any = F.udtf
    words = make(_Words, returnType="word string")
    joined = rows.lateralJoin(words(F.col("s").outer()))
    (alone,) = explain(joined.filter("k = 1")).data.left_alone
    assert alone.code == "nondeterministic-udf"
    assert "call asDeterministic() on it" in alone.reason
    followed = rows.lateralJoin(words.asDeterministic()(F.col("s").outer()))
    df = followed.filter("k = 1")
    assert explain(df).data.left_alone == ()
    plan = str(df._jdf.queryExecution().optimizedPlan().toString())
    assert plan.index("Words") < plan.index("Filter")
    (alone,) = explain(followed.filter("k = 1 AND word = 'Text'")).data.left_alone
    assert "filters on what _Words returns for a row stay above it" in alone.reason


@pytest.mark.classic("plans of Spark Connect do not name the fields of a result")
def test_a_field_that_is_taken_out_at_once(rows: DataFrame) -> None:
    parts = F.udf(lambda s: (s, 1), "struct<a string, n int>")
    df = rows.select("k", parts("s")["n"].alias("n")).filter("n > 1")
    assert explain(df).boundaries[0].prefilter == "false"
    same_rows(df, optimize(df, cost="always"))


@pytest.mark.classic("plans of Spark Connect do not name the fields of a result")
def test_a_field_that_is_declared_not_null_is_told(rows: DataFrame) -> None:
    parts = F.udf(lambda s: (s, 1), "struct<a: string, n: int NOT NULL>")
    df = rows.withColumn("p", parts("s")).select("k", "p.*").filter("n > 1")
    (boundary,) = explain(df).boundaries
    assert [d.code for d in boundary.declined] == ["return-type"]
    assert "return each field that a filter reads by a function of its own" in str(explain(df))


def test_the_advice_on_structs_works(rows: DataFrame) -> None:
    size = F.udf(lambda s: None if s is None else len(s), "int")
    df = rows.withColumn("n", size("s")).filter("n > 6")
    assert explain(df).boundaries[0].prefilter != "true"
    same_rows(df, optimize(df, cost="always"))


def test_nothing_is_held_up(rows: DataFrame) -> None:
    """Spark moves a filter on the partition of a window."""
    total = F.sum("x").over(Window.partitionBy("k"))
    for df in (rows.filter("x > 3"), rows.withColumn("t", total).filter("k = 1")):
        report = explain(df)
        assert str(report).startswith("No filter of this plan is held up by a Python function")
        assert report.data.left_alone == ()


def test_nothing_follows_for_the_rows(rows: DataFrame) -> None:
    """From a number of rows nothing follows for one; the reason is not one of another conjunct."""
    df = rows.groupBy("k").agg(F.count("*").alias("n")).filter("n > 3 AND k = 1")
    assert outcomes(explain(df)) == {"n > 3": ("nothing", []), "k = 1": ("spark", [])}


def test_aggregates_of_spark_are_no_udfs(rows: DataFrame) -> None:
    df = rows.groupBy("k").agg(F.max("x").alias("m")).filter("m > 30")
    assert "\n\n1 place where a filter meets an aggregate, " in str(explain(df))


def _with_logarithm(batches: Any) -> Any:
    for pdf in batches:
        pdf["y"] = np.log1p(pdf["x"])
        yield pdf


@pytest.fixture
def clocks_are_put_back(spark: SparkSession) -> Iterator[None]:
    zone = spark.conf.get("spark.sql.session.timeZone") or "UTC"
    spark.conf.set("spark.sql.session.timeZone", "Europe/Berlin")
    yield
    spark.conf.set("spark.sql.session.timeZone", zone)


@pytest.mark.usefixtures("clocks_are_put_back")
def test_a_time_that_may_come_back_as_another_is_replaced_by_its_day(spark: SparkSession) -> None:
    """The advice: pass on a column of another type, and filter that."""
    table = spark.range(60).selectExpr(
        "CASE WHEN id > 0 THEN TIMESTAMP '2026-10-01' + id * INTERVAL '5' HOUR END AS ts",
        "CASE id % 7 WHEN 0 THEN double('NaN') ELSE double(id % 7) END AS x",
    )
    times = table.mapInPandas(_with_logarithm, "ts timestamp, x double, y double")
    df = times.filter("ts >= '2026-10-05'")
    (boundary,) = explain(df, cost="always", compile="never").boundaries
    assert boundary.prefilter == "true"
    assert "pass on a column of another type, such as date" in str(boundary.declined)
    by_day = table.selectExpr("*", "to_date(ts) AS day").mapInPandas(
        _with_logarithm, "ts timestamp, x double, day date, y double"
    )
    followed = by_day.filter("day >= '2026-10-05'")
    (boundary,) = explain(followed, cost="always", compile="never").boundaries
    assert boundary.prefilter == "day >= DATE '2026-10-05'"
    better = optimize(followed, cost="always", compile="never")
    same_rows(followed, better)


def first_of_sorted(pdf: pd.DataFrame) -> pd.DataFrame:
    return pdf.sort_values("x", ascending=False).head(1)


def first_of_stable(pdf: pd.DataFrame) -> pd.DataFrame:
    return pdf.sort_values("x", ascending=False, kind="stable").head(1)


def three_largest(pdf: pd.DataFrame) -> pd.DataFrame:
    return pdf.nlargest(3, "x")


@pytest.mark.parametrize(
    ("function", "code", "words"),
    [
        (first_of_sorted, "row-order", "rows that tie have no fixed order"),
        (three_largest, "return-shape", "several rows of a group are returned"),
    ],
)
def test_rows_that_are_chosen_by_a_column_are_not_grouped_by_it(
    rows: DataFrame, function: Callable[[pd.DataFrame], pd.DataFrame], code: str, words: str
) -> None:
    df = rows.groupBy("k").applyInPandas(function, rows.schema).filter("x > 30")
    report = explain(df, cost="always")
    (declined,) = report.boundaries[0].declined
    assert declined.code == code
    assert words in declined.reason
    assert "group by it" not in str(report)


def test_the_advice_on_the_best_row_works(rows: DataFrame) -> None:
    df = rows.groupBy("k").applyInPandas(first_of_stable, rows.schema).filter("x > 30")
    assert explain(df, cost="always").boundaries[0].prefilter == "x > 30.0D AND NOT isnan(x)"
    same_rows(df, optimize(df, cost="always"))


def test_the_advice_on_several_rows_works(rows: DataFrame) -> None:
    order = Window.partitionBy("k").orderBy(F.desc("x"))
    df = rows.withColumn("n", F.row_number().over(order)).filter("n <= 3 AND x > 30")
    better = optimize(df, cost="always")
    assert better is not df
    same_rows(df, better)
