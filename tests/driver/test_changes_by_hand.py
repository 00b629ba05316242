"""The changes that a report shows to paste: each is applied to the job's file with ``patch``. The
job gives the same rows, and what stood in the way is gone.
"""

from __future__ import annotations

import runpy
import subprocess
from collections import Counter
from pathlib import Path
from textwrap import dedent

import pytest
from pyspark.sql import DataFrame, SparkSession

import presieve
from presieve.report import html
from presieve.report.source.changes import SourceChange

pytestmark = pytest.mark.spark

HEAD = """\
import pandas as pd

SCHEMA = "k string, region string, x double, w float"
ROWS = [
    ("a", "n", 1.0, 1.5), ("a", "n", 95.0, -0.0), ("a", "n", None, None), ("a", "n", 95.0, 2.5),
    ("b", "s", -0.0, 0.0), ("b", "s", float("nan"), 4.0), ("c", "s", 1.7e308, 7.5),
    ("d", "n", None, None), (None, "n", 91.0, 3.25), ("e", None, 3.0, 100.0), ("f", "n", 5.0, 0.5),
]
# Without NULL and NaN in x, on which the proofs for best() rest.
CLEAN = [row for row in ROWS if row[2] is not None and row[2] == row[2]]


def best(pdf):
    highest = None
    for row in pdf.itertuples():
        if highest is None or row.x > highest:
            highest = row.x
    return pd.DataFrame({"k": [pdf.k.iloc[0]], "a": [highest]})


"""
CHAIN = """\
def build(spark):
    return (
        spark.createDataFrame(CLEAN, SCHEMA)
        .groupBy("k")
        .applyInPandas(best, "k string, a double")
        .filter("a > 90")
    )
"""


def built(path: Path, spark: SparkSession) -> DataFrame:
    df = runpy.run_path(str(path), run_name="__main__")["build"](spark)
    assert isinstance(df, DataFrame)
    return df


def written(tmp_path: Path, text: str, head: str = HEAD) -> Path:
    path = tmp_path / "job.py"
    path.write_text(head + dedent(text))
    return path


def changes(df: DataFrame) -> tuple[SourceChange, ...]:
    (boundary,) = presieve.explain(df, cost="always").boundaries
    return boundary.changes


def apply(change: SourceChange, path: Path) -> None:
    assert change.file == str(path)
    result = subprocess.run(
        ["patch", "--fuzz=0", str(path)], input=change.diff, text=True, capture_output=True
    )
    assert result.returncode == 0, result.stdout + result.stderr


def rows(df: DataFrame) -> Counter[str]:
    return Counter(map(str, df.collect()))


def only(found: tuple[SourceChange, ...], what: str) -> SourceChange:
    (change,) = [c for c in found if what in c.what]
    return change


def changed_lines(change: SourceChange) -> list[str]:
    lines = change.diff.splitlines()[2:]
    return [line for line in lines if line.startswith(("+", "-")) and line[1:].strip()]


# --- filters --------------------------------------------------------------------------------------


def test_a_derived_filter_is_typed_before_the_group(spark: SparkSession, tmp_path: Path) -> None:
    path = written(tmp_path, CHAIN)
    before = built(path, spark)
    report = presieve.explain(before, cost="always")
    (boundary,) = report.boundaries
    change = only(boundary.changes, "filter")
    assert changed_lines(change) == [f'+        .filter("{boundary.prefilter}")']
    assert boundary.where in change.holds
    holds = "Right as long as the function stays as it is, and every use of its result is filtered"
    for text in (str(report), html.notebook_fragment(report.data)):
        assert holds in " ".join(text.split())
    assert "to paste" in str(report)
    assert report.to_json()["boundaries"][0]["changes"][0]["diff"] == change.diff
    expected = rows(before)
    apply(change, path)
    after = built(path, spark)
    assert rows(after) == expected
    # Nothing is left to gain: the filter is there already.
    assert not any("filter" in c.what for c in changes(after))


def test_a_typed_filter_names_what_it_rests_on(spark: SparkSession, tmp_path: Path) -> None:
    unclean = '[*CLEAN, ("h", "n", None, None), ("h", "n", 95.0, None)]'
    path = written(tmp_path, CHAIN.replace("CLEAN", unclean))
    before = built(path, spark)
    change = only(changes(before), "filter")
    assert "column x holds no NaN, and no NULL" in change.holds
    expected = rows(before)
    apply(change, path)
    assert rows(built(path, spark)) != expected  # x holds NULL


def test_a_filter_in_the_middle_of_a_line(spark: SparkSession, tmp_path: Path) -> None:
    text = """\
    def build(spark):
        rows = spark.createDataFrame(CLEAN, SCHEMA)  # ä
        groups = rows.groupBy("k").applyInPandas(best, schema="k string, a double")
        return groups.where("a > 90 AND k <> 'ö'")
    """
    path = written(tmp_path, text)
    before = built(path, spark)
    change = only(changes(before), "filter")
    (old, new) = changed_lines(change)
    assert old.endswith('rows.groupBy("k").applyInPandas(best, schema="k string, a double")')
    assert "= rows.filter(" in new
    expected = rows(before)
    apply(change, path)
    assert rows(built(path, spark)) == expected


BATCHES = """\
def doubled(batches):
    for pdf in batches:
        pdf = pdf[pdf["x"] > 0]
        pdf["x"] = pdf["x"] * 2.0
        yield pdf[["k", "x"]]


def build(spark):
    rows = spark.createDataFrame(ROWS, SCHEMA)
    return rows.select("k", "x").mapInPandas(doubled, "k string, x double").filter("x > 180")
"""


def test_a_filter_before_a_function_of_batches(spark: SparkSession, tmp_path: Path) -> None:
    path = written(tmp_path, BATCHES)
    before = built(path, spark)
    change = only(changes(before), "filter")
    assert 'rows.select("k", "x").filter(' in changed_lines(change)[1]
    expected = rows(before)
    apply(change, path)
    assert rows(built(path, spark)) == expected


# --- where the place is not certain ---------------------------------------------------------------

TWICE = CHAIN + "\n\nother = best\n"
TWO_CALLS = CHAIN.replace(
    "    return (",
    "    rows = spark.createDataFrame(CLEAN, SCHEMA)\n"
    '    rows.groupBy("x").applyInPandas(best, "k string, a double")\n'
    "    return (",
)
APART = """\
def build(spark):
    groups = spark.createDataFrame(ROWS, SCHEMA).groupBy("k")
    return groups.applyInPandas(best, "k string, a double").filter("a > 90")
"""
PASSED = """\
def on_groups(rows, function):
    return rows.groupBy("k").applyInPandas(function, "k string, a double")


def build(spark):
    return on_groups(spark.createDataFrame(ROWS, SCHEMA), best).filter("a > 90")
"""


@pytest.mark.parametrize("text", [TWICE, TWO_CALLS, APART, PASSED])
def test_no_change_is_shown_if_its_place_is_not_certain(
    spark: SparkSession, tmp_path: Path, text: str
) -> None:
    report = presieve.explain(built(written(tmp_path, text), spark), cost="always")
    assert report.boundaries[0].kind != "none"
    assert report.boundaries[0].changes == ()
    assert "to paste" not in str(report)


TWO_FILTERS = """\
def build(spark):
    rows = spark.createDataFrame(CLEAN, SCHEMA)
    groups = rows.groupBy("k").applyInPandas(best, "k string, a double")
    return groups.filter("a > 90").union(groups.filter("a > 95"))
"""
CONDITIONAL = """\
def build(spark):
    rows = spark.createDataFrame(CLEAN, SCHEMA)
    other = rows.limit(3)
    groups = (rows if rows is not None else other).groupBy("k")\\
        .applyInPandas(best, "k string, a double")
    return groups.filter("a > 90")
"""


def test_no_filter_is_typed_below_two_different_ones(spark: SparkSession, tmp_path: Path) -> None:
    report = presieve.explain(built(written(tmp_path, TWO_FILTERS), spark), cost="always")
    assert [b.kind != "none" for b in report.boundaries] == [True, True]
    assert [b.changes for b in report.boundaries] == [(), ()]


def test_no_method_is_called_on_a_part_of_an_expression(
    spark: SparkSession, tmp_path: Path
) -> None:
    report = presieve.explain(built(written(tmp_path, CONDITIONAL), spark), cost="always")
    assert report.boundaries[0].kind != "none"
    assert report.boundaries[0].changes == ()


# --- keys -----------------------------------------------------------------------------------------

KEYS = """\
def fitted(pdf):
    middle = pdf["x"].quantile(0.25)
    return pd.DataFrame({"k": [pdf.k.iloc[0]], "region": [pdf.region.iloc[0]], "a": [middle]})


def build(spark):
    rows = spark.createDataFrame(ROWS, SCHEMA)
    results = rows.groupBy("k").applyInPandas(fitted, "k string, region string, a double")
    return results.filter("region = 'n'")
"""


def test_a_column_is_grouped_by_too(spark: SparkSession, tmp_path: Path) -> None:
    path = written(tmp_path, KEYS)
    before = built(path, spark)
    change = only(changes(before), "group by region")
    assert changed_lines(change)[1].count('groupBy("k", "region")') == 1
    assert change.holds == "all rows of a group have the same region"
    expected = rows(before)
    apply(change, path)
    after = built(path, spark)
    assert rows(after) == expected
    (boundary,) = presieve.explain(after, cost="always").boundaries
    assert boundary.prefilter == "region = 'n'"


def test_a_function_that_takes_the_key_is_not_given_a_longer_one(
    spark: SparkSession, tmp_path: Path
) -> None:
    text = KEYS.replace("def fitted(pdf)", "def fitted(key, pdf)")
    df = built(written(tmp_path, text), spark)
    report = presieve.explain(df, cost="always")
    assert "not-grouped" in str(report)
    assert not any("group by" in c.what for c in report.boundaries[0].changes)


# --- constants ------------------------------------------------------------------------------------

CONSTANT = """\
class Conf:
    limit = 3.0

    def __getattr__(self, name):
        return 0.0


conf = Conf()


def counted(pdf):
    highest = None
    for row in pdf.itertuples():
        if row.x > conf.limit and (highest is None or row.x > highest):
            highest = row.x - conf.limit
    return pd.DataFrame({"k": [pdf.k.iloc[0]], "a": [highest]})


"""


def test_a_constant_by_value(spark: SparkSession, tmp_path: Path) -> None:
    path = written(tmp_path, CONSTANT + CHAIN.replace("best", "counted"))
    before = built(path, spark)
    change = only(changes(before), "constant")
    assert changed_lines(change) == [
        "+LIMIT = 3.0",
        "-        if row.x > conf.limit and (highest is None or row.x > highest):",
        "-            highest = row.x - conf.limit",
        "+        if row.x > LIMIT and (highest is None or row.x > highest):",
        "+            highest = row.x - LIMIT",
    ]
    assert change.holds == "conf.limit has the value 3.0 in every run"
    expected = rows(before)
    apply(change, path)
    after = built(path, spark)
    assert rows(after) == expected
    (boundary,) = presieve.explain(after, cost="always").boundaries
    assert boundary.kind != "none"
    assert not any("constant" in c.what for c in boundary.changes)


def test_a_name_that_is_taken_is_not_bound_again(spark: SparkSession, tmp_path: Path) -> None:
    text = CONSTANT + CHAIN.replace("best", "counted") + "\n\nLIMIT = 7\n"
    report = presieve.explain(built(written(tmp_path, text), spark))
    assert "LIMIT = 3.0" in str(report)
    assert report.boundaries[0].changes == ()


# --- types ----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("schema", "doubled", "imported"),
    [
        ('"k string, a float"', '"k string, a double"', ""),
        (
            'T.StructType().add("k", T.StringType()).add("a", T.FloatType())',
            'T.StructType().add("k", T.StringType()).add("a", T.DoubleType())',
            "from pyspark.sql import types as T\n",
        ),
    ],
)
def test_a_result_is_declared_as_double(
    spark: SparkSession, tmp_path: Path, schema: str, doubled: str, imported: str
) -> None:
    text = CHAIN.replace('"k string, a double"', schema)
    path = written(tmp_path, text, imported + HEAD.replace("1.7e308", "2.0**100"))
    before = built(path, spark)
    change = only(changes(before), "declare a as double")
    assert doubled in changed_lines(change)[1]
    assert "32-bit" in change.holds
    expected = {(r.k, r.a) for r in before.collect()}
    apply(change, path)
    after = built(path, spark)
    assert {(r.k, r.a) for r in after.collect()} == expected  # no value has more digits
    assert presieve.explain(after, cost="always").boundaries[0].kind != "none"


NO_DOUBLE = """\
from pyspark.sql.types import FloatType, StringType, StructField, StructType
"""


def test_a_type_that_is_not_imported_is_not_written(spark: SparkSession, tmp_path: Path) -> None:
    schema = 'StructType([StructField("k", StringType()), StructField("a", FloatType())])'
    text = CHAIN.replace('"k string, a double"', schema)
    df = built(written(tmp_path, text, NO_DOUBLE + HEAD.replace("1.7e308", "2.0**100")), spark)
    report = presieve.explain(df)
    assert "float" in str(report)
    assert report.boundaries[0].changes == ()


@pytest.mark.parametrize(
    ("imported", "written_as"),
    [
        ("", 'F.col("w").cast("double")'),
        ("from pyspark.sql import functions as fn\n", 'fn.col("w").cast("double")'),
        ("from pyspark.sql.functions import col as c\n", 'c("w").cast("double")'),
    ],
)
def test_a_column_is_cast_before_the_function(
    spark: SparkSession, tmp_path: Path, imported: str, written_as: str
) -> None:
    head = imported + HEAD.replace("row.x", "row.w")
    path = written(tmp_path, CHAIN.replace("a > 90", "a > 3"), head)
    before = built(path, spark)
    change = only(changes(before), "cast w")
    assert f'+        .withColumn("w", {written_as})' in changed_lines(change)
    assert ("+from pyspark.sql import functions as F" in changed_lines(change)) == (not imported)
    expected = rows(before)
    apply(change, path)
    after = built(path, spark)
    assert rows(after) == expected
    (boundary,) = presieve.explain(after, cost="always").boundaries
    assert boundary.kind != "none"
