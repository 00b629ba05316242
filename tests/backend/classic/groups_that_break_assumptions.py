"""Groups with and without what breaks an assumption, and the reports of pipelines over them."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import pandas as pd

from presieve.driver.optimize import explain

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

    from presieve.report.report_data import BoundaryReport

SCHEMA = "team string, day int, score double, v bigint, level string"

NAN, INF = math.nan, math.inf

Rows = list[tuple[str | None, int, float | None, int | None, str]]

GOOD: Rows = [
    *(("a", 1, x, 1, "info") for x in (95.0, 92.0, -3.0)),
    *(("b", 1, x, 20, "warn") for x in (91.0, 5.0)),
    *(("c", 2, x, 3, "error") for x in (4.0, -0.0, 0.0)),
    *(("d", 2, x, 11, "") for x in (INF, -INF, 0.0, INF)),
    *((None, 3, x, 12, "info") for x in (99.0, 98.0, 98.0)),
]

BAD: Rows = [
    # NaN first: no comparison holds afterwards, and what dropping the NaN would show is wrong.
    *(("e", 1, x, 30, "info") for x in (NAN, 97.0, 96.0)),
    *(("f", 2, x, None, "error") for x in (97.0, None, 98.0, NAN)),
    *(("g", 3, None, None, "") for _ in range(2)),
    *((None, 3, x, 2**53 + 1, "info") for x in (NAN, 97.5)),
    *(("h", 1, 1.0, x, "warn") for x in (2**53 + 1, None, 2**53 + 3, -(2**63))),
]


def two_best(pdf: Any) -> pd.DataFrame:
    first = None
    second = None
    for row in pdf.itertuples():
        if first is None or row.score > first:
            second = first
            first = row.score
        elif second is None or row.score > second:
            second = row.score
    return pd.DataFrame({"team": [pdf["team"].iloc[0]], "first": [first], "second": [second]})


TWO = "team string, first double, second double"


def applied(df: DataFrame) -> DataFrame:
    return df.groupBy("team").applyInPandas(two_best, TWO).filter("first >= 90 AND second >= 90")


def report(df: DataFrame, **options: Any) -> BoundaryReport:
    (found,) = explain(df, cost="always", **options).boundaries
    return found
