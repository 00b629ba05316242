"""``contract``: readers of Python data sources that keep what they claim, and such that do not."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import pytest
from tests.support.running import handing_filters
from tests.support.spark_version import is_before

import presieve
from presieve.contract import assert_kept, check, guarded

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

if is_before("4.1"):
    pytest.skip("Spark hands no filters to Python data sources", allow_module_level=True)

from pyspark.sql import datasource as ds

SCHEMA = "k string, x double, n long"
ROWS = [
    *(("a", 1.0, 1), ("A", -0.0, 2), ("a ", math.nan, None), (None, None, 3), ("", math.inf, -1)),
    *(("ab", 0.0, 2**53 + 1), ("b", 5e-324, 2**53)),
]


class Reader(ds.DataSourceReader):
    """Applies what ``claims`` names, by ``test``, and gives the rest back."""

    claims: tuple[str, ...] = ()

    def __init__(self, rows: Any) -> None:
        self.rows = rows
        self.pushed: list[Any] = []

    def test(self, filter_: Any, row: Any) -> bool:
        return presieve.contract.holds(filter_, row, ["k", "x", "n"]) is True

    def pushFilters(self, filters: Any) -> Any:
        for filter_ in filters:
            if type(filter_).__name__ in self.claims:
                self.pushed.append(filter_)
            else:
                yield filter_

    def partitions(self) -> Any:
        return [ds.InputPartition(0), ds.InputPartition(1)]

    def read(self, partition: Any) -> Any:
        for row in self.rows[partition.value :: 2]:
            if all(self.test(f, row) for f in self.pushed):
                yield row


class Right(Reader):
    claims = ("EqualTo", "EqualNullSafe", "LessThan", "In", "IsNull", "Not", "StringStartsWith")


class Nothing(Reader):
    pass


def _value(filter_: Any, row: Any) -> Any:
    return row[["k", "x", "n"].index(filter_.attribute[0])]


class PythonsComparison(Reader):
    """NaN is below nothing, and equal to nothing."""

    claims = ("LessThan", "GreaterThan", "EqualTo")

    def test(self, filter_: Any, row: Any) -> bool:
        value = _value(filter_, row)
        if value is None:
            return False
        kind = type(filter_).__name__
        if kind == "LessThan":
            return bool(value < filter_.value)
        return bool(value > filter_.value if kind == "GreaterThan" else value == filter_.value)


class NoCase(Reader):
    claims = ("EqualTo",)

    def test(self, filter_: Any, row: Any) -> bool:
        value = _value(filter_, row)
        if isinstance(value, str):
            return value.lower() == str(filter_.value).lower()
        return super().test(filter_, row)


class Trimming(NoCase):
    def test(self, filter_: Any, row: Any) -> bool:
        value = _value(filter_, row)
        if isinstance(value, str):
            return value.rstrip() == str(filter_.value).rstrip()
        return super().test(filter_, row)


class NotOfNull(Reader):
    """NOT NULL is taken to be true."""

    claims = ("Not",)

    def test(self, filter_: Any, row: Any) -> bool:
        return not super().test(filter_.child, row)


class AsDoubles(Reader):
    claims = ("EqualTo",)

    def test(self, filter_: Any, row: Any) -> bool:
        value = _value(filter_, row)
        if isinstance(value, int):
            return float(value) == float(filter_.value)
        return super().test(filter_, row)


class Loses(Reader):
    """Gives all back, and drops a row that passes."""

    def pushFilters(self, filters: Any) -> Any:
        self.pushed = list(filters)
        return filters

    def test(self, filter_: Any, row: Any) -> bool:
        return bool(row[0] != "ab")


class Copies(Reader):
    def pushFilters(self, filters: Any) -> Any:
        return [ds.Not(f) for f in filters]


class Part(Reader):
    """Drops some rows that do not pass, and claims nothing."""

    def pushFilters(self, filters: Any) -> Any:
        self.pushed = list(filters)
        return filters

    def test(self, filter_: Any, row: Any) -> bool:
        return bool(row[0] == "a") or super().test(filter_, row)


def test_a_right_reader() -> None:
    report = check(Right, ROWS, schema=SCHEMA)
    assert report.kept, str(report)
    assert {r.status for r in report.results} >= {"exact", "unsupported"}
    assert len(report.results) > 100
    assert "exact" in str(report).splitlines()[0]


def test_a_reader_that_takes_no_filters() -> None:
    report = check(Nothing, ROWS, schema=SCHEMA)
    assert {r.status for r in report.results} == {"unsupported"}


def test_a_reader_that_filters_in_part() -> None:
    report = check(Part, ROWS, schema=SCHEMA)
    assert report.kept
    assert "inexact" in {r.status for r in report.results}


@pytest.mark.parametrize(
    "reader", [PythonsComparison, NoCase, Trimming, NotOfNull, AsDoubles, Loses, Copies]
)
def test_wrong_readers_are_found(reader: type[Reader]) -> None:
    report = check(reader, ROWS, schema=SCHEMA)
    assert not report.kept
    first = report.broken[0]
    assert first.reason
    assert str(first) in str(report)
    assert report.to_json()["kept"] is False
    with pytest.raises(AssertionError, match="broken"):
        assert_kept(reader, ROWS, schema=SCHEMA)


def test_a_guarded_reader_claims_nothing() -> None:
    for reader in (PythonsComparison, NoCase, Trimming, NotOfNull, AsDoubles):
        found = check(guarded(reader), ROWS, schema=SCHEMA)
        broken = [r for r in found.results if r.status == "broken"]
        # What such a reader drops though it passes, nobody can bring back.
        assert all("missing" in r.reason for r in broken), reader
    assert check(guarded(NotOfNull), ROWS, schema=SCHEMA).kept
    assert not check(guarded(Loses), ROWS, schema=SCHEMA).kept
    assert guarded(ds.DataSourceReader) is ds.DataSourceReader


class Source(ds.DataSource):
    @classmethod
    def name(cls) -> str:
        return "contract_test"

    def schema(self) -> str:
        return SCHEMA

    def reader(self, schema: Any) -> Any:
        return NoCase(ROWS)


def test_a_data_source_by_itself() -> None:
    assert not check(Source({})).kept
    safe = guarded(Source)
    assert safe.name() == "contract_test"
    assert check(safe({})).kept


@pytest.mark.second
@pytest.mark.classic("one kind of session is enough")
def test_a_guarded_source_on_spark(spark: SparkSession) -> None:
    condition = "k = 'A'"
    with handing_filters(spark):
        spark.dataSource.register(Source)
        wrong = spark.read.format("contract_test").load().where(condition).count()
        spark.dataSource.register(guarded(Source))
        right = spark.read.format("contract_test").load().where(condition).count()
    assert (wrong, right) == (2, 1)


def test_mistakes_are_one_line() -> None:
    with pytest.raises(presieve.UsageError, match="schema is missing"):
        check(Right, ROWS)
    with pytest.raises(presieve.UsageError, match="no rows"):
        check(Right, [], schema=SCHEMA)
    with pytest.raises(presieve.UsageError, match="other than 2 columns"):
        check(Right, ROWS, schema="k string, x double")
    with pytest.raises(presieve.UsageError):
        check(Right, ROWS, schema="k nonsense(")
    with pytest.raises(presieve.UsageError):
        guarded(5)
