"""Texts of which none is left when a filter goes below: pandas makes doubles of a column of parts
of texts where each is missing, and Spark does not convert these to texts.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
import pytest
from pyspark.errors import PythonException
from pyspark.sql.pandas.functions import pandas_udf
from tests.support.running import counted, rewritten, untouched
from tests.support.spark_version import RUNNING

from presieve.driver.optimize import optimize

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

ROWS = [("g", 1, "abcd,ef"), ("g", 2, "a"), ("g", 3, "b"), ("h", 5, "x,yz"), ("h", 1, None)]
RESULT = "k string, n int, w string, r double"


@pytest.fixture(scope="module")
def texts(spark: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> DataFrame:
    path = str(tmp_path_factory.mktemp("texts") / "table")
    spark.createDataFrame(ROWS, "k string, n int, s string").coalesce(1).write.parquet(path)
    return spark.read.parquet(path)


def fourth_letter(key: Any, pdf: Any) -> Any:
    pdf["w"] = pdf["s"].str[3]
    pdf["r"] = np.arctan(pdf["n"])
    pdf["k"] = key[0]
    return pdf[["k", "n", "w", "r"]]


def second_part(key: Any, pdf: Any) -> Any:
    pdf["w"] = pdf["s"].str.split(",").str.get(1)
    pdf["r"] = np.arctan(pdf["n"])
    return pdf[["k", "n", "w", "r"]]


def fourth_letter_alone(pdf: Any) -> Any:
    """Lifts, unlike the others."""
    pdf["w"] = pdf["s"].str[3]
    pdf["r"] = pdf["n"] * 2.0
    return pdf[["k", "n", "w", "r"]]


def second_part_of_batches(batches: Iterator[Any]) -> Iterator[Any]:
    for pdf in batches:
        pdf["w"] = pdf["s"].str.split(",").str[1]
        pdf["r"] = np.arctan(pdf["n"])
        yield pdf[["k", "n", "w", "r"]]


def filled_part_of_batches(batches: Iterator[Any]) -> Iterator[Any]:
    for pdf in batches:
        pdf["w"] = pdf["s"].str.split(",").str[1].fillna("none")
        pdf["r"] = np.arctan(pdf["n"])
        yield pdf[["k", "n", "w", "r"]]


def fourth_letter_of(s: pd.Series) -> pd.Series:
    return s.str[3]


GROUPED = (fourth_letter, second_part, fourth_letter_alone)


def check(df: DataFrame) -> None:
    """No error is added, and rows are the same."""
    optimized = optimize(df, compile="never", cost="always")
    assert counted(optimized) == counted(df)


@pytest.mark.parametrize("where", ["n > 1 AND k = 'g'", "n > 1 AND n < 4", "w IS NULL AND n > 1"])
@pytest.mark.parametrize("function", GROUPED, ids=lambda f: f.__name__)
def test_groups_without_a_text(texts: DataFrame, function: Callable[..., Any], where: str) -> None:
    check(texts.groupBy("k").applyInPandas(function, RESULT).filter(where))


@pytest.mark.skipif(RUNNING < (4, 0), reason="an older Spark stores NULL")
def test_the_filter_below_really_raises(texts: DataFrame) -> None:
    below = texts.filter("n > 1 AND k = 'g'").groupBy("k").applyInPandas(fourth_letter, RESULT)
    with pytest.raises(PythonException):
        below.collect()


@pytest.mark.parametrize("where", ["n > 1 AND k = 'g'", "w IS NULL"])
def test_batches_without_a_text(texts: DataFrame, where: str) -> None:
    check(texts.mapInPandas(second_part_of_batches, RESULT).filter(where))


def test_scalar_functions(texts: DataFrame) -> None:
    decorate: Any = pandas_udf
    fourth = decorate(fourth_letter_of, "string")
    check(texts.withColumn("w", fourth("s")).filter("w >= 'd' OR n = 2"))


def test_texts_in_place_of_missing_ones(texts: DataFrame) -> None:
    df = texts.mapInPandas(filled_part_of_batches, RESULT).filter("n > 1 AND k = 'g'")
    assert rewritten(df.filter("w <> 'x'")).prefilter == "n > 1 AND k = 'g'"


def filled_letter_alone(pdf: Any) -> Any:
    """What the advice leads to."""
    pdf["w"] = pdf["s"].str[3].fillna("none")
    pdf["r"] = pdf["n"] * 2.0
    return pdf[["k", "n", "w", "r"]]


def test_the_reason_says_what_helps(texts: DataFrame) -> None:
    groups, where = texts.groupBy("k"), "n > 1 AND k = 'g'"
    df = groups.applyInPandas(fourth_letter_alone, RESULT).filter(where)
    assert "fill missing values with fillna()" in str(untouched(df).declined)
    advised = groups.applyInPandas(filled_letter_alone, RESULT).filter(where)
    assert rewritten(advised).prefilter == where


def looked_up(pdf: Any) -> Any:
    """A column that a dict gives is one of objects, also if all of them are missing."""
    pdf["w"] = pdf["s"].map({"a": "first", "x,yz": "last"})
    pdf["r"] = pdf["n"] * 2.0
    return pdf[["k", "n", "w", "r"]]


def test_texts_that_a_dict_gives_may_all_be_missing(texts: DataFrame) -> None:
    df = texts.groupBy("k").applyInPandas(looked_up, RESULT)
    assert rewritten(df.filter("n = 3 AND k = 'g'")).prefilter == "n = 3 AND k = 'g'"


def test_a_filter_that_asks_for_the_text_goes_below(texts: DataFrame) -> None:
    df = texts.groupBy("k").applyInPandas(fourth_letter_alone, RESULT).filter("w = 'd'")
    check(df)
