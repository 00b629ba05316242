"""Twenty pipelines of which some are better off with their pre-filter, and some are not."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from tests.cost.udfs import best, last_time, top_two

if TYPE_CHECKING:
    from pyspark.sql import DataFrame


@dataclass(frozen=True, slots=True)
class Tables:
    """The same rows, more of them where no Python runs. Read anew each time it is asked for."""

    large: Callable[[], DataFrame]
    small: Callable[[], DataFrame]


@dataclass(frozen=True, slots=True)
class Pipeline:
    """``python``: a Python function is the boundary."""

    name: str
    python: bool
    build: Callable[[Tables], DataFrame]


def _max(table: DataFrame, column: str, where: str, key: str = "g") -> DataFrame:
    import pyspark.sql.functions as F

    return table.groupBy(key).agg(F.max(column).alias("m")).filter(where)


def _count(table: DataFrame, condition: str) -> DataFrame:
    import pyspark.sql.functions as F

    return table.groupBy("g").agg(F.count_if(F.expr(condition)).alias("m")).filter("m >= 1")


def _top_two(table: DataFrame, where: str) -> DataFrame:
    groups = table.select("g", "v").groupBy("g")
    return groups.applyInPandas(top_two, "g bigint, first double, second double").filter(where)


def _best(table: DataFrame, where: str) -> DataFrame:
    from pyspark.sql.pandas import functions

    pandas_udf: Any = functions.pandas_udf  # its overloads do not know the text of a type
    return table.groupBy("g").agg(pandas_udf(best, "double")("v").alias("m")).filter(where)


def _last(table: DataFrame, where: str) -> DataFrame:
    groups = table.select("g", "t").groupBy("g")
    return groups.applyInPandas(last_time, "g bigint, last bigint").filter(where)


def _beside(left: DataFrame, right: DataFrame) -> DataFrame:
    import pyspark.sql.functions as F

    return left.join(right.selectExpr("g AS h", "m AS top"), F.expr("g = h"))


def _filtered_by_function(table: DataFrame, column: str, low: int) -> DataFrame:
    import pyspark.sql.functions as F

    high = F.udf(lambda v: v is not None and v >= low, "boolean")
    return table.filter(high(column)).agg(F.max("n").alias("n"), F.count("v").alias("rows"))


def _shown_function(table: DataFrame, low: float) -> DataFrame:
    import pyspark.sql.functions as F

    double = F.udf(lambda v: None if v is None else v * 2.0, "double")
    shown = table.select("g", double("v").alias("m")).filter(f"m >= {low}")
    return shown.agg(F.max("m").alias("m"), F.count("g").alias("rows"))


def _bands(column: str, number: int, quote: str = "") -> str:
    """Bands that are five wide, at the upper end of each of so many equal parts."""
    step = 1000 // number
    ends = [(i * step + step - 5, i * step + step) for i in range(number)]
    sides = [(f"'v{a:03d}'", f"'v{b:03d}'") if quote else (f"{a}", f"{b}") for a, b in ends]
    return " OR ".join(f"({column} >= {a} AND {column} < {b})" for a, b in sides)


PIPELINES = (
    Pipeline("max, 0.1 %", False, lambda t: _max(t.large(), "v", "m > 999")),
    Pipeline("max, half", False, lambda t: _max(t.large(), "v", "m > 500")),
    Pipeline("max, 99.9 %", False, lambda t: _max(t.large(), "v", "m > 1")),
    Pipeline("max, text key, 99.9 %", False, lambda t: _max(t.large(), "v", "m > 1", "k")),
    Pipeline("max, scan skips 95 %", False, lambda t: _max(t.large(), "t", "m >= 950000")),
    Pipeline("max, scan skips nothing", False, lambda t: _max(t.large(), "t", "m >= 0")),
    Pipeline("max of texts, 1 %", False, lambda t: _max(t.large(), "s", "m >= 'v990'")),
    Pipeline("max of texts, 99.9 %", False, lambda t: _max(t.large(), "s", "m >= 'v001'")),
    Pipeline("max of decimals, 1 %", False, lambda t: _max(t.large(), "c", "m >= 990")),
    Pipeline("count, 10 bands of numbers", False, lambda t: _count(t.large(), _bands("n", 10))),
    Pipeline("count, 50 bands of texts", False, lambda t: _count(t.large(), _bands("s", 50, "'"))),
    Pipeline(
        "self-join, one side filtered",
        False,
        lambda t: _beside(_max(t.large(), "v", "true"), _max(t.large(), "v", "m > 999")),
    ),
    Pipeline(
        "self-join, both sides filtered alike",
        False,
        lambda t: _beside(_max(t.large(), "v", "m > 999"), _max(t.large(), "v", "m > 999")),
    ),
    Pipeline("function of groups, 1 %", True, lambda t: _top_two(t.small(), "second >= 990")),
    Pipeline("function of groups, 99.9 %", True, lambda t: _top_two(t.small(), "second >= 1")),
    Pipeline("function of groups, scan skips", True, lambda t: _last(t.small(), "last > 900000")),
    Pipeline("aggregate function, 10 %", True, lambda t: _best(t.small(), "m > 900")),
    Pipeline(
        "aggregate function, self-join, one side filtered",
        True,
        lambda t: _beside(_best(t.small(), "m > -1"), _best(t.small(), "m > 999")),
    ),
    Pipeline(
        "function in a filter, all rows", True, lambda t: _filtered_by_function(t.small(), "n", 0)
    ),
    Pipeline("function shown, 1 %", True, lambda t: _shown_function(t.small(), 1980.0)),
)
