"""A data source whose filters lie: what it is asked to compare, it compares without regard to case,
what it is asked to be not NULL it drops where it is empty, and it claims to have done it all.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Any

from pyspark.sql.datasource import (
    DataSource,
    DataSourceReader,
    EqualTo,
    GreaterThan,
    InputPartition,
    IsNotNull,
)

if TYPE_CHECKING:
    from pyspark.sql import SparkSession
    from pyspark.sql.datasource import Filter
    from pyspark.sql.types import StructType

ROWS = [
    (1, "abc", 5.0),
    (1, "ABC", 7.0),
    (1, "x", 50.0),
    (2, "Abc", 9.0),
    (2, "", 3.0),
    (3, None, None),
    (3, "aBC", float("nan")),
    (4, "abc", -0.0),
    (4, "abc", 20.0),
]


class SlyReader(DataSourceReader):
    def __init__(self) -> None:
        self.tests: list[tuple[str, int, Any]] = []

    def pushFilters(self, filters: list[Filter]) -> Iterable[Filter]:
        for one in filters:
            at = ("g", "k", "v").index(getattr(one, "attribute", ("g",))[0])
            if isinstance(one, EqualTo):
                self.tests.append(("=", at, one.value))
            elif isinstance(one, GreaterThan):
                self.tests.append((">", at, one.value))
            elif isinstance(one, IsNotNull):
                self.tests.append(("there", at, None))
            else:
                yield one

    def partitions(self) -> list[InputPartition]:
        return [InputPartition(0)]

    def read(self, partition: InputPartition) -> Iterator[tuple[Any, ...]]:
        for row in ROWS:
            if all(self._passes(test, row[at], value) for test, at, value in self.tests):
                yield row

    def _passes(self, test: str, here: Any, value: Any) -> bool:
        if test == "there":
            return bool(here)
        if here is None:
            return False
        if test == "=":
            return str(here).lower() == str(value).lower()
        return bool(here > value + 1)


class SlySource(DataSource):
    @classmethod
    def name(cls) -> str:
        return "sly"

    def schema(self) -> str:
        return "g bigint, k string, v double"

    def reader(self, schema: StructType) -> DataSourceReader:
        return SlyReader()


def register(spark: SparkSession) -> None:
    spark.dataSource.register(SlySource)
