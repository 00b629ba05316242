"""Untrusted. The operators that are measured, each with a filter above it, and their table.

The table is one of events: ``n`` counts them, ``day`` grows with them, so that row groups hold few
days. Values and keys lie in no order.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from benchmarks.on_spark.parquet import write

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

DAYS = 1000
LAYOUT = 1
"""Part of the file's name: raise it when what is generated changes."""


@dataclass(frozen=True, slots=True)
class Case:
    """``build`` puts the operator above a table; ``where`` is the filter above it, and ``by_hand``
    what a careful user types below as well. Of a join both sides are the table.
    """

    name: str
    build: Callable[[DataFrame], DataFrame]
    where: str
    by_hand: str

    def written(self, table: DataFrame) -> DataFrame:
        """As somebody writes it."""
        return self.build(table).filter(self.where)

    def typed(self, table: DataFrame) -> DataFrame:
        """With the filter below, too."""
        return self.written(table.filter(self.by_hand))


def _window(function: str, over: str) -> Callable[[DataFrame], DataFrame]:
    return lambda df: df.selectExpr("*", f"{function} OVER (PARTITION BY k ORDER BY {over}) AS w")


def _first(rows: int, *order: str) -> Callable[[DataFrame], DataFrame]:
    def build(df: DataFrame) -> DataFrame:
        from pyspark.sql.functions import desc

        keys = [desc(name[1:]) if name.startswith("-") else name for name in order]
        return df.orderBy(*keys).limit(rows)

    return build


def _joined(kind: str) -> Callable[[DataFrame], DataFrame]:
    """Each event with the next one, by its number."""

    def build(df: DataFrame) -> DataFrame:
        after = df.selectExpr("n + 1 AS n", "day", "v AS before")
        return df.join(after, ["n", "day"], kind)

    return build


def _without(df: DataFrame) -> DataFrame:
    """The keys and days without those of high values."""
    return df.select("k", "day").subtract(df.filter("v > 500").select("k", "day"))


def _pivot(df: DataFrame) -> DataFrame:
    """The highest values of each key on two of the days."""
    return df.groupBy("k").pivot("day", [7, 8]).max("v")


def _generated(generator: str) -> Callable[[DataFrame], DataFrame]:
    return lambda df: df.selectExpr("k", "v", generator)


EARLY = "day <= 20"
EARLY_OR_NONE = "day <= 20 OR day IS NULL"
LATE = "day >= 980"
RANGE = "day RANGE BETWEEN 30 PRECEDING AND CURRENT ROW"

CASES = (
    Case("first of each", _window("row_number()", "day, n"), f"{EARLY} AND w = 1", EARLY_OR_NONE),
    Case("running sum", _window("sum(v)", "day, n"), EARLY, EARLY_OR_NONE),
    Case("lag", _window("lag(v)", "day NULLS LAST, n"), EARLY, EARLY),
    Case("lead", _window("lead(v)", "day, n"), LATE, LATE),
    Case("best three", _window("rank()", "v DESC"), "v > 950 AND w <= 3", "v > 950"),
    Case("thirty days", _window("avg(v)", RANGE), LATE, "day >= 950"),
    Case(
        "nothing to drop", _window("row_number()", "day NULLS LAST"), "day <= 999 AND w = 1", "true"
    ),
    Case("one day", _window("ntile(4)", "day"), "day = 7", "true"),
    Case("first days", _first(1000, "-day", "n"), "day >= 999", "day >= 999"),
    Case("full outer join", _joined("full"), EARLY, EARLY),
    Case("pivot", _pivot, "`7` > 500 AND `8` > 500", "day IN (7, 8) AND v > 500"),
    Case("except", _without, EARLY, EARLY),
    Case(
        "unpivot",
        _generated("stack(2, 'here', day, 'next', day + 1) AS (name, d)"),
        "d >= 990",
        "day >= 989",
    ),
    Case(
        "three days", _generated("explode(sequence(day, day + 2)) AS d"), "d >= 990", "day >= 988"
    ),
    Case("best rows", _first(1000, "-v", "n"), "v > 999.9", "true"),
)


def stored(rows: int, directory: Path) -> Path:
    """The path of the table, which is written where it is missing."""
    path = directory / f"operators-{rows}-v{LAYOUT}.parquet"
    if not path.exists():
        import numpy as np
        import pyarrow as pa

        rng = np.random.default_rng(20)
        number = np.arange(rows, dtype=np.int64)
        columns = {
            "k": rng.integers(0, max(1, rows // 200), rows),
            "day": (number * DAYS // rows).astype(np.int64),
            "n": number,
            "v": rng.uniform(0, 1000, rows),
            "s": pa.array(rng.integers(0, 10**6, rows)).cast(pa.string()),
        }
        write(pa.table(columns), path, max(1, min(100_000, rows // 20)))
    return path
