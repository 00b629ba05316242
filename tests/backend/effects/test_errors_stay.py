"""A pre-filter that would drop nothing but rows on which the function raises is not pushed: the job
fails as it did.
"""

from __future__ import annotations

import datetime as dt
from typing import TYPE_CHECKING, Any

import pytest
from tests.backend.effects import erring_udfs
from tests.support.running import rewritten, untouched

from presieve.driver.optimize import optimize

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

COLUMNS = "n int, d int, text string, x double, day date"
ROWS = [
    (0, 1, "a", 1.0, dt.date(2024, 1, 1)),
    (1, 0, "", 9.0, dt.date(2023, 1, 1)),
    (2, 3, "7", -1.0, dt.date(2022, 1, 1)),
    (None, None, None, None, None),
]
"""On each column some row raises."""


@pytest.fixture(scope="module")
def rows(spark: SparkSession) -> DataFrame:
    return spark.createDataFrame(ROWS, COLUMNS)


def called(rows: DataFrame, name: str, returns: str, columns: str) -> DataFrame:
    from pyspark.sql.functions import udf

    make: Any = udf
    function = make(getattr(erring_udfs, name), returns, useArrow=False)
    return rows.withColumn("y", function(*columns.split(", ")))


def fails(df: DataFrame) -> bool:
    from pyspark.errors import PySparkException

    try:
        df.collect()
    except PySparkException:
        return True
    return False


NEEDLESS = [
    ("inverse", "double", "n", "y > 0.4"),
    ("inverse", "double", "n", "y < 0.1 OR y > 0.4"),
    ("inverse", "double", "x", "y IS NOT NULL"),
    ("rest", "bigint", "n", "y = 1"),
    ("quotient", "bigint", "n, d", "y > 1"),
    ("number", "bigint", "text", "y > 5"),
    ("initial", "string", "text", "y = 'a'"),
    ("logarithm", "double", "x", "y IS NOT NULL"),
    ("root", "double", "x", "y >= 0"),
    ("code", "bigint", "text", "y IS NOT NULL"),
    ("refused", "bigint", "n", "y >= 0"),
    ("above_zero", "double", "n", "y > 20"),
    ("above_zero", "double", "n", "y IS NOT NULL"),
    ("size", "bigint", "text", "y > 3"),
    ("later", "bigint", "day", "y IS NOT NULL"),
]


@pytest.mark.parametrize(("name", "returns", "columns", "where"), NEEDLESS)
def test_the_error_stays(
    rows: DataFrame, name: str, returns: str, columns: str, where: str
) -> None:
    df = called(rows, name, returns, columns).filter(where)
    assert fails(df)
    untouched(df)
    assert fails(optimize(df, cost="always", policy="assume"))


def test_it_is_told_why(rows: DataFrame) -> None:
    report = untouched(called(rows, "inverse", "double", "n").filter("y > 0.4"))
    assert report.declined[-1].code == "may-erase-error"
    assert not report.assumptions


WANTED = [
    ("root", "double", "x", "y > 2", "4.0"),
    ("logarithm", "double", "x", "y > 1", "x >= 2.7"),
    ("code", "bigint", "text", "y = 1", "text = 'a'"),
    ("later", "bigint", "day", "y = 2024", "day >= DATE '2024-01-01'"),
    ("tagged", "bigint", "text, d", "y > 1", "d = 1"),
    ("nth", "string", "n", "y = 'a'", "n IN (-3, 0)"),
]


@pytest.mark.parametrize(("name", "returns", "columns", "where", "part"), WANTED)
def test_what_drops_other_rows_is_pushed(
    rows: DataFrame, name: str, returns: str, columns: str, where: str, part: str
) -> None:
    """An error may be gone with them, which is said."""
    good = rows.filter("n > 0 AND text > '' AND x > 0")
    report = rewritten(called(good, name, returns, columns).filter(where))
    assert part in report.prefilter
    assert "IS NOT NULL" not in report.prefilter
    assert [a["code"] for a in report.assumptions] == ["may-erase-error"]
