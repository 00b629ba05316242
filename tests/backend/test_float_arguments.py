"""Scalar UDFs of FLOAT columns: a worker gets the double of the same value, so the call is read
with the column cast to it. Files of two writers, with what their statistics leave out.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from pyspark.sql import functions as F
from pyspark.sql.pandas import functions
from tests.support.running import same_rows

from presieve.driver.optimize import explain, optimize

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

pytestmark = [pytest.mark.spark, pytest.mark.classic("a client does not see types of plans")]

VALUES = (
    *(None, math.nan, -0.0, 0.0, 0.1, -1.5, 74.99999, 75.0, 89.99999, 90.0, 100.0, 16777216.0),
    *(3.4028234663852886e38, -3.4028234663852886e38, 1e-45, math.inf, -math.inf),
)
LETTERS = [(90.0, "A"), (75.0, "B")]


@pytest.fixture(scope="module", params=["spark", "pyarrow"])
def scores(
    request: pytest.FixtureRequest, spark: SparkSession, tmp_path_factory: pytest.TempPathFactory
) -> DataFrame:
    """Each value in a row group of its own, and all of them in one."""
    folder = tmp_path_factory.mktemp("scores")
    rows = [(i, v) for i, v in enumerate((*VALUES, *VALUES))]
    if request.param == "spark":
        table = spark.createDataFrame(rows, "id int, score float")
        table.repartition(6, "id").write.parquet(str(folder / "t"))
        return spark.read.parquet(str(folder / "t"))
    path: Path = folder / "t.parquet"
    schema = pa.schema([("id", pa.int32()), ("score", pa.float32())])
    columns = [list(c) for c in zip(*rows, strict=True)]
    with pq.ParquetWriter(path, schema) as writer:
        for at in range(len(VALUES)):
            writer.write_table(pa.table([c[at : at + 1] for c in columns], schema=schema))
        writer.write_table(pa.table([c[len(VALUES) :] for c in columns], schema=schema))
    return spark.read.parquet(str(path))


def grade(score: Any) -> Any:
    if score is None or score != score:
        return None
    for least, letter in LETTERS:
        if score >= least:
            return letter
    return "F"


def with_tax(score: Any) -> Any:
    return score * 1.19 + score if score is not None else None


CASES: dict[str, tuple[Callable[[Any], Any], str, str, str]] = {
    "letters": (grade, "string", "r IN ('A', 'B')", "score > 75"),
    "no letter": (grade, "string", "r IS NULL", "score IS NULL"),
    "arithmetic": (with_tax, "double", "r > 180", "score > 90"),
    "zero": (lambda x: x == 0, "boolean", "r", "score = 0 AND id > 3"),
    "a member": (lambda x: x in (0.0, 90.0, 0.1), "boolean", "r", "score > 0"),
    "no double of it": (lambda x: x == 0.1, "boolean", "NOT r", "score <> 0"),
    "a number": (lambda x: x is not None and not math.isnan(x), "boolean", "r", "score > 0"),
    "below all": (lambda x: x is not None and x < 1e39, "boolean", "r", "score < 1e38"),
    "above the greatest": (lambda x: x is not None and x > 3.5e38, "boolean", "r", "score < 0"),
}


@pytest.mark.parametrize("arrow", [False, True])
@pytest.mark.parametrize("name", CASES)
def test_the_rows_are_the_same(scores: DataFrame, name: str, arrow: bool) -> None:
    function, returns, where, wrong = CASES[name]
    udf = F.udf(function, returns, useArrow=arrow)
    df = scores.withColumn("r", udf("score")).filter(where)
    report = explain(df, cost="always")
    assert any(b.prefilter != "true" or b.compiled for b in report.boundaries), report
    assert same_rows(df, optimize(df, cost="always")) > 0
    assert df.filter(wrong).count() < df.count(), "the twin must lose a row"
    inside = scores.filter(udf("score").isNotNull() & (udf("score") == scores.id.cast(returns)))
    same_rows(inside, optimize(inside, cost="always"))


def test_a_range_reaches_the_scan(scores: DataFrame) -> None:
    df = scores.withColumn("r", F.udf(grade)("score")).filter("r = 'A'")
    (boundary,) = explain(df, cost="always").boundaries
    assert boundary.prefilter == "NOT isnan(`double(score)`) AND `double(score)` >= 90.0D"
    plan = str(optimize(df, cost="always")._jdf.queryExecution().executedPlan().toString())
    assert "GreaterThanOrEqual(score,90.0)" in plan


def test_without_gain_nothing_is_cast(scores: DataFrame) -> None:
    df = scores.withColumn("r", F.udf(lambda x: hash(x), "bigint")("score")).filter("r > 5")
    assert optimize(df) is df


def raised(scores: pd.Series) -> pd.Series:
    return scores * 1.1


def test_columns_of_pandas_stay_floats(scores: DataFrame) -> None:
    """There, arithmetic is that of 32 bits."""
    make: Any = functions.pandas_udf  # its overloads do not know such a function
    df = scores.withColumn("r", make(raised, "double")("score")).filter("r > 99")
    (boundary,) = explain(df, cost="always").boundaries
    assert boundary.kind == "none"
    assert optimize(df, cost="always") is df
