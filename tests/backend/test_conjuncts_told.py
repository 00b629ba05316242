"""What is told of the conjuncts of a filter, beside those that a pushdown is about."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pandas as pd
import pytest
from pyspark.sql import functions as F
from tests.support.running import same_rows

from presieve.driver.optimize import explain, optimize

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

    from presieve.report.report import Report

pytestmark = [
    pytest.mark.spark,
    pytest.mark.classic("a client prints conditions in another way"),
]


@pytest.fixture(scope="module")
def rows(spark: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> DataFrame:
    path = str(tmp_path_factory.mktemp("told") / "rows")
    spark.range(1000).selectExpr(
        "CASE WHEN id > 2 THEN id % 9 END AS k",
        "date_add(DATE '2022-01-01', int(id)) AS day",
        "CASE id % 50 WHEN 0 THEN double('NaN') ELSE double(id) END AS x",
        "int(id) AS n",
    ).repartitionByRange(4, "day").write.parquet(path)
    return spark.read.parquet(path)


def fates(report: Report, at: int = 0) -> dict[str, str]:
    texts = (
        (re.sub(r"\b(\d+)(L|\.0D)\b", r"\1", c.text), c) for c in report.boundaries[at].conjuncts
    )
    return {text.strip("()"): c.fate for text, c in texts}


def text(report: Report) -> str:
    return " ".join(str(report).split())


MONTH = "mon = DATE '2022-05-01'"
AGGREGATED: dict[str, tuple[Callable[[], Any], str, dict[str, str]]] = {
    "a maximum": (lambda: F.max("x"), f"{MONTH} AND m > 500", {"m > 500": "below", MONTH: "spark"}),
    "a mean": (lambda: F.avg("x"), f"{MONTH} AND m > 500", {"m > 500": "stays", MONTH: "spark"}),
}


@pytest.mark.parametrize("name", AGGREGATED)
def test_spark_moves_filters_on_grouping_expressions(rows: DataFrame, name: str) -> None:
    column, where, expected = AGGREGATED[name]
    months = rows.groupBy(F.trunc("day", "MM").alias("mon")).agg(column().alias("m"))
    report = explain(months.filter(where), cost="always")
    assert fates(report) == expected
    assert "column-type" not in text(report)
    same_rows(months.filter(where), optimize(months.filter(where), cost="always"))


@pytest.mark.parametrize("column", ["max(x)", "avg(x)", "percentile_approx(x, 0.5)"])
@pytest.mark.parametrize("grouped", ["k", "expression"])
def test_filters_on_keys_alone_are_sparks(rows: DataFrame, column: str, grouped: str) -> None:
    by = F.col("k") if grouped == "k" else (F.col("n") % 5).alias("k")
    df = rows.groupBy(by).agg(F.expr(column).alias("m")).filter("k = 3")
    assert [d.code for d in explain(df).boundaries[0].declined] == ["keys-only"]
    written = df._jdf.queryExecution().optimizedPlan().toString()
    assert str(written).index("Aggregate") < str(written).index("Filter")


def stop(pdf: Any) -> pd.DataFrame:
    total = 0.0
    for row in pdf.itertuples(index=False):
        total += row.x
        if total > 100:
            break
    return pd.DataFrame({"k": [pdf["k"].iloc[0]], "total": [total]})


def _line(function: Callable[..., Any]) -> int:
    return function.__code__.co_firstlineno


def test_what_stays_beside_a_filter_that_moves(rows: DataFrame) -> None:
    written = rows.filter("k IS NOT NULL").groupBy("k")
    df = written.applyInPandas(stop, "k bigint, total double").filter("total > 50 AND k <> 4")
    report = explain(df, cost="always")
    assert fates(report) == {"k <> 4": "below", "total > 50": "stays"}
    assert "Nothing is left to check above" not in text(report)
    assert "(total > 50.0D) stays above." in text(report)
    (boundary,) = report.boundaries
    assert boundary.remaining == "(total > 50.0D)"
    assert re.search(r"filter +k <> 4 AND \(total > 50.0D\)", text(report))
    assert re.search(r"residual +\(total > 50.0D\)", text(report))
    same_rows(df, optimize(df, cost="always"))


def test_the_order_of_rows_is_open_for_functions_that_are_not_read(rows: DataFrame) -> None:
    """The function gives another total for the same rows in another order."""
    df = rows.groupBy("k").applyInPandas(stop, "k bigint, total double").filter("k <> 4")
    (boundary,) = explain(df, cost="always").boundaries
    assert boundary.prefilter == "k <> 4"
    assert boundary.order is not None
    assert boundary.order.status == "unknown"
    two = pd.DataFrame({"k": [1, 1], "x": [1.0, 1000.0]})
    assert stop(two)["total"].tolist() != stop(two[::-1])["total"].tolist()


def test_listings_begin_where_functions_do(rows: DataFrame) -> None:
    df = rows.groupBy("k").applyInPandas(stop, "k bigint, total double")
    report = explain(df.filter("total > 50 AND k <> 4"), cost="always")
    (listing,) = report.boundaries[0].listings
    assert listing.lines[0].number == _line(stop)
    (noted,) = (line for line in listing.lines if line.note)
    source = Path(__file__).read_text().splitlines()
    assert source[noted.number - 1].strip() == noted.text.strip() == "break"


def test_conjuncts_of_several_functions_are_told_once(rows: DataFrame) -> None:
    """Neither Spark nor the other function moves them, nor was a pre-filter written by anybody."""
    twice = F.udf(lambda v: None if v is None else v * 2, "double")
    plus = F.udf(lambda v: None if v is None else v + 1, "double")
    computed = rows.withColumn("a", twice("x")).withColumn("b", plus("x"))
    report = explain(computed.filter("a > 100 AND b < 700 AND n > 3"), cost="always")
    told = [fates(report, at) for at in range(len(report.boundaries))]
    every = [text for each in told for text in each]
    assert sorted(t for t in every if t[0] in "ab") == ["a > 100", "b < 700"]
    assert {t for each in told for t, fate in each.items() if fate == "spark"} <= {"n > 3"}


def cleaned(text: str | None) -> str | None:
    if text is None:
        return None
    return unicodedata.normalize("NFKD", text).lower()


def test_a_function_that_is_read_in_part(rows: DataFrame) -> None:
    """The filter is told once, and stays for this reason."""
    texts = rows.selectExpr("n", "IF(n > 2, string(n), NULL) AS s")
    df = texts.withColumn("c", F.udf(cleaned)("s")).filter("c = '7' AND n > 3")
    report = explain(df, cost="always")
    (boundary,) = report.boundaries
    assert (boundary.kind, boundary.prefilter) == ("partial", "s IS NOT NULL")
    assert boundary.written == boundary.remaining == boundary.where == "((c = '7') AND (n > 3))"
    assert fates(report) == {"c = '7'": "part", "n > 3": "spark"}
    assert boundary.conjuncts[0].why[0].code == "unknown-call"
    assert boundary.stays.endswith("the function is understood for some rows alone")
    text = " ".join(str(report).split())
    assert "a part of the function is read, and rows that fail there are dropped" in text
    same_rows(df, optimize(df, cost="always"))


def test_what_is_moved_is_not_left_alone(rows: DataFrame) -> None:
    half = F.udf(lambda n: None if n is None else n // 2, "int")
    report = explain(rows.filter(half("n").between(400, 450)), cost="always")
    assert report.boundaries[0].kind == "exact"
    assert report.data.left_alone == ()


WORDS: dict[str, list[Any]] = {"small": ["a", "b"], "large": [None]}


def split_words(batches: Any) -> Any:
    for pdf in batches:
        found = []
        for row in pdf.itertuples(index=False):
            for word in WORDS.get(row.size, [None]):
                found.append((row.day, row.size, word))
        yield pd.DataFrame(found, columns=["day", "size", "word"])


def test_types_that_depend_on_other_rows(rows: DataFrame) -> None:
    """Without a word among other rows, pandas makes the column of another type."""
    sized = rows.selectExpr("day", "CASE WHEN n < 500 THEN 'small' ELSE 'large' END AS size")
    schema = "day date, size string, word string"
    df = sized.mapInPandas(split_words, schema).filter("day < '2022-02-01'")
    (boundary,) = explain(df, cost="always").boundaries
    assert boundary.prefilter == "true"
    told = str(boundary.declined)
    assert "the type of word in pandas depends on which other rows are there" in told


def test_conditions_of_files_are_in_parentheses(rows: DataFrame) -> None:
    df = rows.filter("x > 500 OR n < 3").filter("year(day) = 2022")
    (derived,) = explain(df).data.derived
    assert "((x > 500.0D) OR (n < 3))" in derived.where or "(n < 3))" in derived.where
    assert derived.where.count("(") == derived.where.count(")")
    assert " AND (" in derived.where or derived.where.startswith("((")


def test_a_filter_of_a_join_that_has_moved_on_is_not_added_again(
    spark: SparkSession, rows: DataFrame
) -> None:
    sizes = spark.createDataFrame([(0, "a"), (990, "b"), (None, "c")], "size bigint, word string")
    best = rows.groupBy("k").agg(F.max("n").cast("bigint").alias("m"))
    df = best.join(sizes, F.col("m") == F.col("size"), "full").filter("size >= 990")
    better = optimize(df, cost="always")
    plan = str(better._jdf.queryExecution().analyzed().toString())
    assert "Filter (n#" in plan
    assert "Filter (m#" not in plan
    same_rows(df, better)


def test_results_are_named_by_their_function_and_texts_stay_on_their_line(rows: DataFrame) -> None:
    loud = F.udf(lambda n: f"{n}!" if n % 7 else str(n).swapcase(), "string")
    df = rows.withColumn("l", loud("n")).filter(
        "trim(concat(l, '\n\t')) > '3\n' AND year(day) = 2022"
    )
    report = explain(df)
    shown = " ".join(d.where for d in report.data.derived)
    assert "<lambda>(..)" in shown
    assert "pythonUDF" not in shown
    assert "\n" not in shown


def _first_letter(text: str | None) -> str | None:
    return None if text is None else text[:1].upper()


@pytest.mark.parametrize("compile", ["never", "always"])
def test_why_a_filter_on_texts_stays(rows: DataFrame, compile: Any) -> None:
    """Texts that may not be UTF-8 must be sent to Python, as long as the function runs there."""
    letter = F.udf(_first_letter, "string")
    texts = rows.selectExpr("n", "concat(CHAR(n % 26 + 97), day) AS s").localCheckpoint()
    df = texts.withColumn("l", letter("s")).filter("l = 'C' AND n > 5")
    report = explain(df, cost="always", compile=compile)
    sent = "it makes Spark send s to Python" in text(report)
    replaced = report.boundaries[0].compiled is not None
    assert replaced == (compile == "always")
    assert not (sent and replaced)
    same_rows(df, optimize(df, cost="always", compile=compile))


def test_the_advice_on_texts_is_given_where_it_helps(rows: DataFrame) -> None:
    """What the proof leaves above in any case does not stay because of the texts."""
    size = F.udf(lambda s: None if s is None else s.count("-") + s.count("x"), "int")
    texts = rows.selectExpr("concat('x-', n) AS s").localCheckpoint()
    df = texts.withColumn("c", size("s")).filter("c > 3")
    (boundary,) = explain(df, cost="always", compile="never").boundaries
    declared = explain(df, cost="always", compile="never", declare="is_valid_utf8(s)")
    if declared.boundaries[0].residual != "true":
        assert "it makes Spark send s" not in " ".join(map(str, boundary.conjuncts))
