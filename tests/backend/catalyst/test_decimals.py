"""Pipelines over decimal columns, with and without rewriting."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from decimal import Decimal
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from tests.backend.catalyst import decimal_udfs
from tests.support.running import by_footers, is_connect, rewritten, safe, untouched

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

MOST = Decimal("99999999.99")
WIDE = Decimal("9999999999999999999999999999.9999999999")
SCHEMA = "team string, price decimal(10,2), weight decimal(38,10), name string"
ROWS = [
    ("a", Decimal("90.50"), Decimal("0.0000000001"), "x"),
    ("a", Decimal("90.51"), Decimal("-0.0000000001"), "y"),
    ("a", None, None, "z"),
    ("b", Decimal("90.49"), WIDE, "x"),
    ("b", -MOST, WIDE.copy_negate(), None),
    ("c", MOST, None, "x"),
    ("c", Decimal("0.00"), Decimal(0), ""),
    ("d", None, None, None),
    (None, Decimal("90.50"), Decimal("9999999999999999999999999999.9999999998"), "x"),
    ("e", Decimal("-0.01"), Decimal(1), "x"),
    ("e", Decimal("-90.50"), Decimal("9007199254740993"), "y"),
]


@dataclass(frozen=True)
class Decimals:
    """The rows as Parquet; ``legacy`` in Spark's older encoding of decimals, as byte arrays."""

    plain: DataFrame
    legacy: DataFrame


@pytest.fixture(scope="module")
def decimals(spark: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Decimals]:
    from pyspark import cloudpickle

    cloudpickle.register_pickle_by_value(decimal_udfs)  # type: ignore[no-untyped-call]
    option = "spark.sql.parquet.writeLegacyFormat"
    found = []
    for legacy in ("false", "true"):
        spark.conf.set(option, legacy)
        path = str(Path(tmp_path_factory.mktemp("decimals")) / "t")
        spark.createDataFrame(ROWS, SCHEMA).coalesce(1).write.parquet(path)
        found.append(spark.read.parquet(path))
    spark.conf.unset(option)
    yield Decimals(*found)
    cloudpickle.unregister_pickle_by_value(decimal_udfs)  # type: ignore[no-untyped-call]


def agg(df: DataFrame, name: str, returns: str, *columns: str) -> DataFrame:
    from pyspark.sql.pandas import functions

    make: Any = functions.pandas_udf
    udf = make(getattr(decimal_udfs, name), returns)
    return df.groupBy("team").agg(udf(*columns).alias("m"))


@pytest.mark.parametrize("written", ["plain", "legacy"])
def test_a_maximum_reaches_the_scan(decimals: Decimals, written: str) -> None:
    df = agg(getattr(decimals, written), "highest", "decimal(10,2)", "price")
    boundary = rewritten(df.filter("m >= 90.5"))
    assert boundary.kind == by_footers(df, "exact")
    assert boundary.prefilter == "price >= 90.50"
    assert any("GreaterThanOrEqual(price,90.50)" in p for p in boundary.pushed_to_scan)
    # Footers show that all prices have the digits of their type: others raise on their way.
    erased = ["may-erase-error"] if is_connect(df) else []
    assert [a["code"] for a in boundary.assumptions] == erased


@pytest.mark.parametrize(
    "where",
    [
        "m > 90.5",
        "m = -0.01",
        "m > -99999999.99",
        "m >= 99999999.99",
        "m IN (90.51, 99999999.99)",
        "m > 90",
        "m BETWEEN -90.50 AND 90.50",
        "m > 12345678901",
        "m <> 90.51",
        "m IS NULL",
        "m <= 90.505",
    ],
)
def test_filters_keep_their_rows(decimals: Decimals, where: str) -> None:
    safe(agg(decimals.plain, "highest", "decimal(10,2)", "price").filter(where))


def test_thirty_eight_digits(decimals: Decimals) -> None:
    df = agg(decimals.plain, "highest", "decimal(38,10)", "weight")
    boundary = rewritten(df.filter("m >= 9999999999999999999999999999.9999999998"))
    assert boundary.prefilter == "weight >= 9999999999999999999999999999.9999999998"
    assert boundary.pushed_to_scan
    rewritten(df.filter("m > 9007199254740992"))


def test_a_wider_result(decimals: Decimals) -> None:
    df = agg(decimals.plain, "at_least_zero", "decimal(14,4)", "price")
    safe(df.filter("m >= 90.5"))


def test_counting_against_a_constant_between_two_decimals(decimals: Decimals) -> None:
    df = agg(decimals.plain, "expensive", "bigint", "price").filter("m >= 1")
    boundary = rewritten(df)
    assert boundary.prefilter == "price >= 90.51"
    assert any("GreaterThanOrEqual(price,90.51)" in p for p in boundary.pushed_to_scan)


def test_the_row_of_the_minimum(decimals: Decimals) -> None:
    returns = "team string, best decimal(10,2), name string"
    df = decimals.plain.groupBy("team").applyInPandas(decimal_udfs.cheapest, returns)
    boundary = rewritten(df.filter("best < 0"))
    assert boundary.prefilter == "price < 0.00"


def test_a_decimal_key(decimals: Decimals) -> None:
    returns = "price decimal(10,2), most decimal(38,10)"
    df = decimals.plain.groupBy("price").applyInPandas(decimal_udfs.by_price, returns)
    boundary = rewritten(df.filter("price >= 0 AND most > 0"))
    assert "weight > 0.0000000000" in boundary.prefilter
    safe(df.filter("most IS NULL"))


def test_a_decimal_key_of_an_aggregate(decimals: Decimals) -> None:
    from pyspark.sql.pandas import functions

    make: Any = functions.pandas_udf
    udf = make(decimal_udfs.highest, "decimal(38,10)")
    df = decimals.plain.groupBy("price").agg(udf("weight").alias("m"))
    assert rewritten(df.filter("m > 0.5 AND price > 0")).prefilter == "weight > 0.5000000000"
    safe(df.filter("m > 0.5 OR price = 90.50"))


def test_sums_are_left_alone(decimals: Decimals) -> None:
    df = agg(decimals.plain.filter("price IS NOT NULL"), "total", "decimal(10,2)", "price").filter(
        "m > 90.5"
    )
    assert untouched(df).declined[0].code == "unsupported-operation"


@pytest.mark.classic("filters are derived from the plan of Spark's optimizer")
def test_comparisons_as_doubles_bound_the_decimal(decimals: Decimals) -> None:
    """A proof does not read them; what follows for the decimal goes below."""
    df = agg(decimals.plain, "highest", "decimal(10,2)", "price").filter("m > 90.5D")
    assert rewritten(df).prefilter == "price >= 90.51"
