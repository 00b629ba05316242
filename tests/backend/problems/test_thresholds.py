"""Filters that compute with the output of a function: as written and as optimized."""

from __future__ import annotations

import math
from itertools import product
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pandas as pd
import pytest
from tests.support.amount import some
from tests.support.running import named, rewritten, safe

from presieve.driver.optimize import explain

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

SCHEMA = "k string, level double, n bigint, i int"
SOME: list[float | None] = [
    *(None, math.nan, math.inf, -math.inf, 0.0, -0.0, 5e-324, -5e-324, 1.7976931348623157e308),
    *(42.5, math.nextafter(42.5, 43), math.nextafter(42.5, 42), 5.0, 5.000000000000001, -5.0),
    *(37.77777777777778, 37.777777777777786, 37.77777777777777, 6.0, 5.999999999999999, -1e300),
]
WHOLE = [
    None,
    0,
    1,
    2,
    3,
    5,
    6,
    42,
    43,
    -5,
    -6,
    2**53,
    2**53 + 1,
    2**63 - 1,
    -(2**63),
    -(2**63) + 39,
]


@pytest.fixture(scope="module")
def levels(spark: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> DataFrame:
    """Each value by itself, each with each of a few, duplicates, and a group of NULLs."""
    rows: list[tuple[str, float | None, int | None, int | None]] = []
    for a, x in enumerate(SOME):
        rows.append((f"one {a}", x, None, None))
        rows += [
            (f"two {a} {b}", y, None, None) for b in range(0, len(SOME), 3) for y in (x, SOME[b])
        ]
    for a, n in enumerate(WHOLE):
        small = n if n is not None and abs(n) < 2**31 else None
        rows += [(f"int {a}", None, n, small)] * 2
        rows += [(f"pair {a}", 1.0, m, small) for m in (n, 4)]
    path = str(tmp_path_factory.mktemp("levels") / "t")
    spark.createDataFrame(rows, SCHEMA).coalesce(1).write.parquet(path)
    return spark.read.parquet(path)


def highest(pdf: Any) -> Any:
    best = None
    for row in pdf.itertuples(index=False):
        if best is None or row.level > best:
            best = row.level
    return pd.DataFrame({"k": [pdf["k"].iloc[0]], "c": [best]})


FILTERS = {
    "c - 40 > 2.5": "level > 42.5D",
    "c - 40 >= 2.5": "level >= 42.5D",
    "40 - c < -2.5": "level > 42.5D",
    "c * 1.8 + 32 > 100": "level > 37.77777777777778D",
    "-c < -5": "level > 5.0D",
    "c / 2 >= 3": "level >= 6.0D",
    "c * 2 > 10": "level > 5.0D",
    "(c - 1) / -2 <= -2": "level >= 5.0D",
    "NOT (c - 40 <= 2.5)": "level > 42.5D",
    "c - 40 BETWEEN 2.5 AND 1000.0": "level >= 42.5D",
}


@pytest.mark.parametrize("where", FILTERS)
def test_a_function_of_groups(by_value: None, levels: DataFrame, where: str) -> None:
    """NaN is left out of the data that is compared with a pre-filter that assumes none."""
    rows = levels.filter("NOT isnan(level) AND level IS NOT NULL")
    groups = rows.groupBy("k").applyInPandas(highest, "k string, c double")
    boundary = rewritten(groups.filter(where))
    assert FILTERS[where] in boundary.prefilter
    assert boundary.strength == "optimal"
    # A key that is no UTF-8 raises on its way to Python.
    assert all(a["code"] == "may-erase-error" for a in boundary.assumptions)


OF_AGGREGATES = [
    *FILTERS,
    *("c + c > 3", "c * 0 > 1", "c - 40 = 2.5", "c - 40 <> 2.5", "c - 40 IN (2.5, 60)"),
    *(
        "c - 40 <=> 2.5",
        "c - 40 IS NULL",
        "c * 2 < 9",
        "-c > 7",
        "c / -4 > 1e308",
        "c * 1e300 > 1e308",
    ),
    *("c - double('infinity') < 0", "abs(c) > 3", "round(c) > 3", "c / 0.5 > -3 OR c * -1 > 100"),
    *("c * 2 > double('nan')", "c - 40 < double('nan')", "c * -1 = double('nan')"),
]


@some("where, call", product(OF_AGGREGATES, ["max", "min"]), of=3)
def test_sparks_own_aggregates(levels: DataFrame, where: str, call: str) -> None:
    """With NaN, infinities, the two zeros and groups of NULL in the data."""
    safe(levels.groupBy("k").agg({"level": call}).toDF("k", "c").filter(where))


OF_INTEGERS = [
    *("c / 2 >= 3", "cast(c as double) * 3 > 7", "c / 2 < 3", "cast(c as double) - 40 > 2.5"),
    *("cast(c as double) > 9007199254740992", "c / 3 = 1", "cast(c as double) = 9007199254740992"),
    *("c * 1.5D > 3", "c > 2.5D", "-cast(c as double) < -5", "c / 2 >= 9223372036854775807"),
]


@some("where, call, column", product(OF_INTEGERS, ["max", "min"], ["n", "i"]), of=3)
def test_of_integers(levels: DataFrame, where: str, call: str, column: str) -> None:
    df = levels.groupBy("k").agg({column: call}).toDF("k", "c").filter(where)
    safe(df)
    (boundary,) = explain(df).boundaries
    assert boundary.declined == (), where


def test_having(spark: SparkSession, levels: DataFrame) -> None:
    with named(levels, "levels"):
        df = spark.sql("SELECT k FROM levels GROUP BY k HAVING max(level) * 1.8 + 32 > 100")
        boundary = rewritten(df)
        assert boundary.prefilter == "level > 37.77777777777778D OR isnan(level)"
        assert (boundary.kind, boundary.strength) == ("exact", "optimal")
        df = spark.sql("SELECT k FROM levels GROUP BY k HAVING max(n) / 2 >= 3")
        assert rewritten(df).prefilter == "n >= 6"


def test_a_computed_column_in_between(spark: SparkSession, levels: DataFrame) -> None:
    top = levels.groupBy("k").agg({"level": "max"}).toDF("k", "c")
    warm = top.selectExpr("k", "c * 1.8 + 32 AS f").selectExpr("k", "-f AS below")
    assert "level > 37.77777777777778D" in rewritten(warm.filter("below < -100")).prefilter


def test_the_filter_stays_where_it_must(levels: DataFrame, tmp_path: Path) -> None:
    """Two outputs: rows that matter to the other one stay, and so does the filter."""
    from pyspark.sql import functions as F

    both = levels.groupBy("k").agg(F.max("level").alias("c"), F.min("level").alias("least"))
    safe(both.filter("c - 40 > 2.5"))
    safe(both.filter("c - 40 > 2.5 AND least / 2 < 3"))
