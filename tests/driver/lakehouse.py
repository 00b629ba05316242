"""A data source that keeps files by their metadata, as table formats do: by the month of a day, a
bucket of a key, and the extremes of all columns. It applies no filter to rows.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

from pyspark.sql import datasource as ds

MONTHS, BUCKETS, ROWS = 12, 4, 50
SCHEMA = "id int, day date, k int"


@dataclass(frozen=True)
class File(ds.InputPartition):
    """A file, with the least and the greatest of what is in it."""

    month: dt.date
    bucket: int

    @property
    def rows(self) -> list[tuple[int, dt.date, int]]:
        first = (self.month.month - 1) * BUCKETS * ROWS
        numbers = (first + self.bucket + BUCKETS * i for i in range(ROWS))
        return [(n, self.month + dt.timedelta(days=n % 28), n % BUCKETS) for n in numbers]

    def ends(self, column: str) -> tuple[Any, Any]:
        place = ["id", "day", "k"].index(column)
        values = [row[place] for row in self.rows]
        return min(values), max(values)


FILES = [File(dt.date(2024, m, 1), b) for m in range(1, MONTHS + 1) for b in range(BUCKETS)]


def month(value: dt.date) -> dt.date:
    return value.replace(day=1)


_KEEPS: dict[str, Callable[[Any, Any, Any], bool]] = {
    "EqualTo": lambda low, high, v: low <= v <= high,
    "GreaterThan": lambda low, high, v: high > v,
    "GreaterThanOrEqual": lambda low, high, v: high >= v,
    "LessThan": lambda low, high, v: low < v,
    "LessThanOrEqual": lambda low, high, v: low <= v,
    "In": lambda low, high, v: any(low <= one <= high for one in v),
}


def projected(file: File, name: str, column: str, value: Any) -> bool:
    """Whether a file may have such rows, by the values of its partitions alone: a comparison of a
    day is one of months that includes the month of the bound.
    """
    if column == "day" and name in ("LessThan", "LessThanOrEqual"):
        return file.month <= month(value)
    if column == "day" and name in ("GreaterThan", "GreaterThanOrEqual"):
        return file.month >= month(value)
    if column == "k" and name in ("EqualTo", "In"):
        return file.bucket in {v % BUCKETS for v in ([value] if name == "EqualTo" else value)}
    return True


class Reader(ds.DataSourceReader):
    def __init__(self) -> None:
        self.files = FILES

    def pushFilters(self, filters: list[Any]) -> Iterator[Any]:
        for filter_ in filters:
            name = type(filter_).__name__
            if name in _KEEPS:
                (column,), value = filter_.attribute, filter_.value
                self.files = [
                    file
                    for file in self.files
                    if projected(file, name, column, value)
                    and _KEEPS[name](*file.ends(column), value)
                ]
            yield filter_  # Spark is to evaluate all of them again

    def partitions(self) -> list[File]:
        return self.files

    def read(self, partition: Any) -> Iterator[tuple[Any, ...]]:
        if isinstance(partition, File):  # where there is none, Spark asks for rows all the same
            yield from partition.rows


class Lakehouse(ds.DataSource):
    """As ``spark.read.format("lakehouse")``."""

    @classmethod
    def name(cls) -> str:
        return "lakehouse"

    def schema(self) -> str:
        return SCHEMA

    def reader(self, schema: Any) -> Reader:
        return Reader()


class WrongReader(Reader):
    """It takes bounds as excluded, and says that it applied them."""

    def pushFilters(self, filters: list[Any]) -> Iterator[Any]:
        for filter_ in filters:
            if type(filter_).__name__ != "GreaterThanOrEqual":
                yield filter_
                continue
            (column,), value = filter_.attribute, filter_.value
            self.files = [file for file in self.files if file.ends(column)[0] > value]


class Wrong(Lakehouse):
    @classmethod
    def name(cls) -> str:
        return "wrong_lakehouse"

    def reader(self, schema: Any) -> Reader:
        return WrongReader()
