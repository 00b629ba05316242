"""Filters on the results of functions that catch errors, and that read numbers from texts."""

from __future__ import annotations

import math
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from tests.backend.problems import try_udfs
from tests.support.pickling import pickled_by_value
from tests.support.running import rewritten, safe, untouched

from presieve import verify

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

by_value_too = pickled_by_value(try_udfs)

NAN, INFINITE = math.nan, math.inf
TEXTS = [
    *(None, "", " ", "7", " 8 ", "\t9", "1_000", "-0", "+3", "5.", "1e5", "1e400", "inf", "-inf"),
    *("nan", "NaN", "0x10", "12abc", "a", "B", "a-b", "a-", "-b", "\u0663", "\uff11\uff12", "\xb2"),
    *("\u20035", "\x1c6", "\U0001d7d8", "1__0", "9" * 30, "\x00", "\u00e9", "\u2167", "7\x00"),
]
DOUBLES = [
    *(None, 0.0, -0.0, 1.0, 1.5, -2.0, 5e-324, 1e308, -1e308, NAN, INFINITE, -INFINITE),
    *(2.0**53 + 2, 1.0000000000000002, 0.5),
]
SCHEMA = {"s": "string", "x": "double", "y": "double"}


@dataclass(frozen=True)
class Case:
    """A function of columns with a filter on its result ``c``; ``below``: what is in the
    pre-filter. ``twin``: a pre-filter that loses a row.
    """

    name: str
    returns: str
    columns: str
    where: str
    below: str
    twin: str


CASES = [
    Case("ratio", "double", "x y", "c >= 0", "y <> 0.0D", "y > 0"),
    Case("which", "string", "x y", "c = 'zero'", "y = 0.0D", "y = 0 AND x > 0"),
    Case("which", "string", "x y", "c = 'none'", "IS NULL", "y IS NULL"),
    Case("so_far", "double", "x y", "c = 3", "x <= 1.0D", "y <> 0"),
    Case("so_far", "double", "x y", "c = -4", "x = -2.0D", "y IS NOT NULL"),
    Case("nested", "double", "x y", "c = -1", "IS NULL", "x IS NULL OR y IS NULL"),
    Case("nested", "double", "x y", "c = -2", "x IS NOT NULL AND y IS NOT NULL", "y = 0 AND x > 0"),
    Case("helped", "double", "x y", "c = -1", "x IS NULL", "y <> 0 AND x IS NULL"),
    Case("whole", "bigint", "x", "c = -1", "'Infinity'", "x > 0"),
    Case("whole", "bigint", "x", "c = 1", "x >= 6.0D", "x > 1e300"),
    Case("looked_up", "bigint", "s", "c = 0", "s IS NULL", "s IS NOT NULL"),
    Case("noted", "bigint", "s", "c = 0", "s IS NULL", "s IS NOT NULL"),
    Case("looked_up", "bigint", "s", "c > 1", "s = '7'", "s = 'a'"),
    Case("second", "string", "s", "c = 'alone'", "contains(s, '-')", "length(s) > 1"),
    Case("again", "double", "x y", "c IS NULL", "IS NULL", "x IS NULL"),
    Case("to_amount", "double", "s x", "c > 1", "x > 1.0D", "s < '7'"),
    Case("to_number", "string", "s x", "c = 'big'", "x > 1.0D", "x > 1 AND s < '7'"),
    Case("to_number", "string", "s x", "c = 'other'", "x <= 1.0D", "x <= 1"),
    Case("of_digits", "bigint", "s", "c >= 0", "s >= '0'", "s >= '0' AND s <= '99'"),
    Case("of_digits", "bigint", "s", "c = -2", "s >= '0'", "s < 'a'"),
    Case("of_letters", "boolean", "s", "c", "s >= 'A'", "s = 'B'"),
]


def ids(case: Case) -> str:
    return f"{case.name}: {case.where}"


@pytest.fixture(scope="module")
def values(spark: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> DataFrame:
    """Each text beside two numbers, and each number beside each other one."""
    rows: list[tuple[Any, ...]] = [(t, x, 1.0) for t in TEXTS for x in (2.0, 0.5, None)]
    rows += [("7", x, y) for x in DOUBLES for y in DOUBLES]
    path = str(tmp_path_factory.mktemp("tries") / "table")
    made = spark.createDataFrame(rows, "s string, x double, y double")
    made.selectExpr("*", "coalesce(length(s) % 3, 0) AS k").coalesce(1).write.parquet(path)
    return spark.read.parquet(path)


def with_c(df: DataFrame, name: str, returns: str, *columns: str, arrow: bool) -> DataFrame:
    from pyspark.sql.functions import udf

    make: Any = udf
    return df.withColumn("c", make(getattr(try_udfs, name), returns, useArrow=arrow)(*columns))


def filtered(df: DataFrame, case: Case, *, arrow: bool) -> DataFrame:
    if case.name == "again":  # it fails where it divides by zero
        df = df.filter("y <> 0 OR y IS NULL OR x IS NULL")
    return with_c(df, case.name, case.returns, *case.columns.split(), arrow=arrow)


@pytest.mark.parametrize("case", CASES, ids=ids)
def test_filters_go_below(values: DataFrame, case: Case) -> None:
    """By default, with all that a column can hold: the same rows."""
    df = filtered(values, case, arrow=True)
    boundary = rewritten(df.filter(case.where))
    assert case.below in boundary.prefilter
    assert 0 < df.filter(case.where).count() < df.count()


@pytest.mark.slow
@pytest.mark.parametrize("case", CASES, ids=ids)
def test_without_arrow(values: DataFrame, case: Case) -> None:
    """Of texts Python may see others than Spark."""
    safe(filtered(values, case, arrow=False).filter(case.where))


@pytest.mark.parametrize("case", CASES, ids=ids)
def test_a_filter_that_loses_a_row_is_refuted(values: DataFrame, case: Case) -> None:
    """It makes a difference on this table, and the checker says so."""
    found = verify(
        getattr(try_udfs, case.name),
        case.where,
        schema=", ".join(f"{c} {SCHEMA[c]}" for c in case.columns.split()),
        returns=f"c {case.returns}",
        mode="row",
        prefilter=case.twin,
    )
    assert found.certificate is None
    df = filtered(values, case, arrow=True)
    assert df.filter(case.twin).filter(case.where).count() < df.filter(case.where).count()


@pytest.mark.parametrize(
    ("name", "column", "code"),
    [
        ("looks_at_the_error", "x", "unsupported-statement"),
        ("with_finally", "x", "unsupported-statement"),
        ("of_unknown_errors", "x", "unknown-call"),
        ("of_another_class", "x", "unknown-name"),
        ("with_a_message", "s", "unsupported-statement"),
    ],
)
def test_what_is_not_read(values: DataFrame, name: str, column: str, code: str) -> None:
    df = with_c(values, name, "double", column, arrow=True).filter("c > 0.5")
    assert untouched(df).declined[0].code == code


@pytest.mark.parametrize(
    ("name", "prefilter", "code"),
    [
        ("raises_a_subclass", "x > 0.0D AND NOT isnan(x)", "may-erase-error"),
        ("wants_arguments", "x IS NULL OR (x > 0.0D AND NOT isnan(x))", "unsupported-statement"),
    ],
)
def test_an_error_of_unknown_class_ends_what_is_known(
    values: DataFrame, name: str, prefilter: str, code: str
) -> None:
    """What the handler gives for positive numbers is not known, and 0 elsewhere."""
    df = with_c(values, name, "double", "x", arrow=True).filter("x IS NOT NULL")
    boundary = rewritten(df.filter("c > 0.5"))
    assert boundary.prefilter == prefilter
    assert boundary.declined[0].code == "unsupported-statement"
    assert untouched(df.filter("c >= 0")).declined[0].code == code


@pytest.mark.parametrize("where", ["bad = 1", "bad = 0", "most > 100", "most < 0 AND bad = 1"])
def test_errors_that_a_loop_catches(values: DataFrame, where: str) -> None:
    df = values.select("k", "s")
    df = df.groupBy("k").applyInPandas(try_udfs.counted, "k int, most double, bad int")
    safe(df.filter(where))


def test_rows_that_a_handler_skips(values: DataFrame) -> None:
    df = values.select("k", "s")
    df = df.groupBy("k").applyInPandas(try_udfs.best_code, "k int, best bigint")
    boundary = rewritten(df.filter("best > 1"))
    assert boundary.prefilter == "s = '7'"


@pytest.mark.second
def test_bytes_that_are_no_text(spark: SparkSession, tmp_path: Path) -> None:
    """Without Arrow Python sees other texts than Spark does."""
    lines = [b"7", b"7\xff", b"\xe97", b"\xc3", b"a\xe9", b"\xff-b", b"\xe9", b" 8\xff", b"a-\xc3b"]
    (tmp_path / "latin.txt").write_bytes(b"\n".join(lines))
    df = spark.read.text(str(tmp_path)).selectExpr("value AS s", "2.0D AS x")
    for case in CASES:
        if "s" in case.columns.split():
            written = filtered(df, case, arrow=False).filter(case.where)
            safe(written.selectExpr("hex(s) AS bytes", "x", "c"))
