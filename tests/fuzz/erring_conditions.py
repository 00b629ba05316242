"""Random conditions that would raise an error on rows that the table does not have: division by
zero, overflow, casts that do not fit. presieve must add no error and change no row, in ANSI mode.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable
from dataclasses import dataclass, field
from decimal import Decimal
from pathlib import Path
from random import Random
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.parquet as pq
from tests.fuzz.comparing import Tally, compare, run_plans

import presieve

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

ROWS = 1000
HOLES = (5, 77, 640)
"""Numbers that no row has."""
ENDS = {"i": (-(2**31), 2**31 - 1), "n": (-(2**63), 2**63 - 1)}
"""The columns of whole numbers, and the ends of their types."""
FIRST = dt.date(2022, 1, 1)


def table() -> pa.Table:
    """Each column counts, and leaves the holes out."""
    numbers = [i for i in range(ROWS + len(HOLES)) if i not in HOLES]
    columns: dict[str, Any] = {
        "k": pa.array([i // 100 for i in numbers], pa.int32()),
        "i": pa.array(numbers, pa.int32()),
        "n": pa.array(numbers, pa.int64()),
        "x": pa.array(list(map(float, numbers))),
        "d": pa.array([FIRST + dt.timedelta(days=i) for i in numbers]),
        "p": pa.array([Decimal(i) for i in numbers], pa.decimal128(10, 2)),
        "s": pa.array([str(i) for i in numbers]),
    }
    return pa.table(columns)


@dataclass(frozen=True, slots=True)
class Maker:
    """Makes conditions of the columns of a table."""

    random: Random

    def _one(self, *texts: str) -> str:
        return self.random.choice(texts)

    def pair(self) -> str:
        """A condition that holds for a hole alone, and one that cannot be computed there; or one
        by itself that holds or raises only beyond the end of a type.
        """
        hole = self.random.choice(HOLES)
        forms: tuple[Callable[[int], str], ...] = (
            *(self._divided, self._divided, self._days, self._decimals, self._texts),
            *(self._beyond, self._beyond, self._large),
        )
        return self.random.choice(forms)(hole)

    def condition(self) -> str:
        """A pair, often beside another condition."""
        pair, roll = self.pair(), self.random.random()
        more = self._one("i > 500", "x < 300D", "s <> 'a'", "d IS NOT NULL", "k IN (1, 2)")
        if roll < 0.2:
            return f"{more} AND {pair}"
        if roll < 0.3:
            return f"({pair}) OR ({self.pair()})"
        return pair

    def _is(self, column: str, value: int) -> str:
        """A condition that says that a column is equal to a value, in other words."""
        return self._one(
            f"coalesce({column}, 0) = {value}",
            f"{column} + 1 = {value + 1}",
            f"{column} - 1 = {value - 1}",
            f"{column} * 2 = {2 * value}",
            f"abs({column}) = {value}",
            f"-{column} = -{value}",
            f"{column} BETWEEN {value} AND {value}",
            f"{column} IN ({value})",
            f"{column} >= {value} AND {column} < {value + 1}",
            f"CAST({column} AS string) = '{value}'",
            f"CASE WHEN {column} = {value} THEN true ELSE false END",
            f"nullif({column}, -1) = {value}",
            f"greatest({column}, 0) = {value}",
            f"{column} = {value}",
        )

    def _divides(self, by: str) -> str:
        return self._one(
            f"10 / ({by}) > 1", f"10 % ({by}) = 1", f"10 div ({by}) < 3", f"1 / ({by}) > 0"
        )

    def _divided(self, hole: int) -> str:
        column = self._one("i", "n")
        difference = self._one(
            f"{column} - {hole}", f"{hole} - {column}", f"2 * {column} - {2 * hole}"
        )
        return f"{self._is(column, hole)} AND {self._divides(difference)}"

    def _days(self, hole: int) -> str:
        day = FIRST + dt.timedelta(days=hole)
        number = (day - dt.date(1970, 1, 1)).days
        narrow = self._one(
            f"unix_date(d) = {number}",
            f"date_add(d, 1) = DATE'{day + dt.timedelta(days=1)}'",
            f"datediff(d, DATE'{FIRST}') = {hole}",
            f"coalesce(d, DATE'1970-01-01') = DATE'{day}'",
            f"CAST(d AS string) = '{day}'",
            f"year(d) = {day.year} AND month(d) = {day.month} AND day(d) = {day.day}",
        )
        by = self._one(
            f"unix_date(d) - {number}", f"dayofmonth(d) - {day.day}", f"datediff(d, DATE'{day}')"
        )
        return f"{narrow} AND {self._divides(by)}"

    def _decimals(self, hole: int) -> str:
        narrow = self._one(
            f"coalesce(p, 0) = {hole}", f"CAST(p AS int) = {hole}", f"p BETWEEN {hole} AND {hole}"
        )
        risky = self._one(
            f"10 / (p - {hole}) > 1", f"CAST(p * 1000 AS decimal(5, 2)) > {100 * hole}"
        )
        return f"{narrow} AND {risky}"

    def _texts(self, hole: int) -> str:
        narrow = self._one(f"coalesce(s, '') = '{hole}'", f"CAST(s AS int) = {hole}")
        return f"{narrow} AND {self._divides(f'CAST(s AS int) - {hole}')}"

    def _beyond(self, _: int) -> str:
        """What only a value at the end of the type could satisfy, and there it overflows."""
        column = self.random.choice(list(ENDS))
        low, high = ENDS[column]
        step = self.random.choice((1, 2, 3))
        suffix = "L" if column == "n" else ""
        return self._one(
            f"{column} + {step} > {high}{suffix}",
            f"{column} - {step} < {low + 1}{suffix}",
            f"-{column} > {high}{suffix}",
            f"abs({column}) > {high - 1}{suffix}",
            f"{column} * {step + 1} > {high - 1}{suffix}",
            f"{column} + {step} >= {high}{suffix}",
            "CAST(n AS int) > 2147483646",
            "CAST(i AS tinyint) > 126 AND i < 100",
            f"date_add(d, {step}) > DATE'9999-12-31'",
            f"p * {step} > 99999999.98",
        )

    def _large(self, hole: int) -> str:
        column = self._one("i", "n")
        high = ENDS[column][1]
        return self._one(
            f"{column} > {10 * ROWS} AND {column} + 1 < 3",
            f"{column} >= {high} AND {column} + 1 > {hole}",
            f"{column} > {high - 1} AND -{column} - 2 < 0",
            f"abs({column}) > {10 * ROWS} AND {column} * {high} > 0",
        )


def _from_files(df: DataFrame) -> DataFrame:
    return df


def _passed(df: DataFrame) -> DataFrame:
    """Every column that conditions read comes out of a function of rows."""
    from pyspark.sql.functions import udf

    def same(v):  # type: ignore[no-untyped-def]
        return v

    kinds = dict(df.dtypes)
    names = ("i", "n")
    return df.select(
        *(n for n in df.columns if n not in names),
        *(udf(same, kinds[n])(n).alias(n) for n in names),
    )


def _aggregated(df: DataFrame) -> DataFrame:
    """The greatest of each column by group."""
    names = [n for n in df.columns if n != "k"]
    return df.groupBy("k").agg(*(_greatest(n) for n in names))


def _greatest(name: str) -> Any:
    from pyspark.sql import functions as F

    return F.max(name).alias(name)


def _by_number(df: DataFrame) -> DataFrame:
    """Groups of one row each, whose key is a column of the conditions."""
    names = [n for n in df.columns if n != "n"]
    return df.groupBy("n").agg(*(_greatest(n) for n in names))


BELOW: tuple[Callable[[DataFrame], DataFrame], ...] = (
    *(_from_files, _from_files, _from_files, _passed, _aggregated, _by_number),
)


@dataclass
class Fuzz:
    """Runs conditions on a session, over one file."""

    spark: SparkSession
    folder: Path
    seed: int
    tally: Tally = field(default_factory=lambda: Tally("erring conditions"))

    def __post_init__(self) -> None:
        path = self.folder / "counted.parquet"
        pq.write_table(table(), path, row_group_size=100)
        self.table = self.spark.read.parquet(str(path))

    def one(self, index: int) -> None:
        """The condition of an index, above a file, a function or an aggregate."""
        random = Random(f"conditions/{self.seed}/{index}")
        condition, below = Maker(random).condition(), random.choice(BELOW)
        written = below(self.table).where(condition)
        told = f"seed {self.seed} index {index}: {condition}, {below.__name__.strip('_')}"
        forms: dict[str, Callable[[], DataFrame]] = {
            "default options": lambda: presieve.optimize(written, compile="auto"),
            "cost=always": lambda: presieve.optimize(written, cost="always", compile="never"),
        }
        chosen = random.choices(tuple(forms), (3, 1))[0]
        self.tally.add(compare(written, {chosen: forms[chosen]}), told)


def run(conditions: int, seed: int, seconds: float, start: int = 0) -> int:
    """So many conditions, or as many as fit; exit code 0 where nothing was wrong, else 1."""
    return run_plans(
        lambda spark, folder: Fuzz(spark, folder, seed),
        range(start, start + conditions),
        seconds,
        {"spark.sql.ansi.enabled": "true"},
    )
