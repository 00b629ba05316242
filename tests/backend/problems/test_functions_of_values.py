"""Filters on the results of scalar UDFs that call functions of texts, dates and numbers."""

from __future__ import annotations

import datetime as dt
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from tests.backend.problems import value_udfs
from tests.support.amount import some
from tests.support.pickling import pickled_by_value
from tests.support.running import rewritten

from presieve import verify

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

by_value_too = pickled_by_value(value_udfs)

TEXTS = [
    *(
        None,
        "",
        " ",
        "a",
        "A",
        "b",
        "de",
        "De",
        "DE",
        "De\t",
        " de",
        "\u2003fr",
        "FR ",
        "é",
        "É",
        "e\u0301",
    ),
    *("ERR", "ERR7", "err", "Error", "\u017fERR", "stra\xdfe", "STRASSE", "\ufb01", "FI", "fi"),
    *("x.log", "x.txt", "log", "a-b", "bab", "a.b", "aab", "b-a", "00-7", "-7", "id-7", "7-", "ab"),
    *(
        "\u212a",
        "k",
        "K",
        "\u0130",
        "i\u0307",
        "\u03a3",
        "\u03c3",
        "\u03c2",
        "A\u03a3",
        "\U0001f600ab",
    ),
    *("\ufffd", "a\x00", "\x1fa", "\u3000", "abcd", "xabcd", "None", "completed", "COMPLETED"),
    *("Completed", "success", "SUCCE\xdf", "succe\u017fs", "ﬀ", "ff"),
]
NUMBERS = [None, 0, 1, 7, -7, 70, 71, 79, 2024, 2**53, 2**53 + 1, 2**63 - 1, -(2**63)]
DOUBLES = [
    *(None, 0.0, -0.0, 0.5, 1.5, 2.5, -0.5, 2.05, 2.0499999999999998, 3.9999999999999996, 4.0),
    *(4.000000000000001, 5.999999999999999, 6.0, 1e15, float("nan"), float("inf"), -1.0),
    *(float("-inf"), 5e-324, 2.0**53 + 2),
]
DATES = [None, *(dt.date(*d) for d in ((2024, 1, 1), (2023, 12, 31), (2023, 12, 2), (1, 1, 1)))]
DATES += [dt.date(9999, 12, 31), dt.date(1969, 12, 31), dt.date(2024, 2, 29), dt.date(1582, 10, 4)]
CLOCKS = [None, *(dt.datetime(2024, 3, 31, h, 59, 59, 999_999) for h in (0, 2, 5, 23))]
CLOCKS += [dt.datetime(1969, 12, 31, 23), dt.datetime(1, 1, 1), dt.datetime(9999, 12, 31, 5, 0)]


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
    twin: str = ""


CASES = [
    Case("stripped", "string", "s", "c = 'de'", "trim(BOTH", "s = 'de'"),
    Case("upper", "string", "s", "c = 'DE'", "s IN ('DE', 'De', 'dE', 'de')", "s IN ('DE', 'de')"),
    Case("upper", "string", "s", "c = 'FI'", "'ﬁ'", "s IN ('FI', 'Fi', 'fI', 'fi')"),
    Case(
        "upper", "string", "s", "c = 'COMPLETED'", "translate(", "s IN ('COMPLETED', 'completed')"
    ),
    Case("upper", "string", "s", "c = 'SUCCESS'", "translate(", "s IN ('SUCCESS', 'success')"),
    Case("upper", "string", "s", "c <> 'DE'", "s <> 'De'", "s <> 'DE' AND s <> 'de' AND s <> 'a'"),
    Case("upper", "string", "s", "c LIKE 'ERR%'", "translate(", "s >= 'ERR' AND s < 'ERS'"),
    Case("upper", "string", "s", "contains(c, 'ERR')", "contains(translate(", "contains(s, 'ERR')"),
    Case("upper", "string", "s", "c LIKE '%.LOG'", "endswith(translate(", "endswith(s, '.LOG')"),
    Case("upper", "string", "s", "left(c, 2) = 'CO'", "translate(", "s >= 'co' AND s < 'cp'"),
    Case(
        "plain_text", "string", "s", "c LIKE '%err%'", "contains(translate(s", "contains(s, 'err')"
    ),
    Case("plain_text", "string", "s", "c LIKE 'err%'", "s IS NOT NULL", "contains(s, 'err')"),
    Case("plain_text", "string", "s", "c = 'abcd'", "contains(s, 'abcd')", "s = 'xabcd'"),
    Case("filled_in", "string", "s, v", "c = 'a/007'", "s = 'a' AND v = 7", "s = 'a' AND v = 71"),
    Case("years_old", "int", "d", "c >= 55", "d < DATE '1969-01-01'", "d < DATE '1500-01-01'"),
    Case("years_old", "int", "d", "c BETWEEN 0 AND 1", "month(d) <= 6", "year(d) = 2023"),
    Case("due", "date", "d", "c > DATE '2024-01-15'", "d >= DATE", "d > DATE '2024-01-01'"),
    Case("due", "date", "d", "c = DATE '2024-02-01'", "DATE '2024-01-01'", "d < DATE '2024-01-01'"),
    Case("is_recent", "boolean", "d", "c", "d >= DATE '2024-02-17'", "d < DATE '2024-03-01'"),
    Case("is_over", "boolean", "n, d", "c", "unix_date(d)", "d > DATE '1999-01-01'"),
    Case("area_code", "string", "s", "c = '7'", "7", "s = '7'"),
    Case("filled_up", "string", "v", "c = '00007'", "pmod(v, 1000) = 7", "v = 71"),
    Case("inner", "string", "s", "c = 'bc'", "= 'cb'", "s = 'xabcd'"),
    Case("written_out", "string", "s", "c = 'Germany'", "s = 'de'", "s = 'DE'"),
    Case("country", "string", "s", "c = 'Germany'", "trim(BOTH", "trim(BOTH ' ' FROM s) = 'de'"),
    Case("country", "string", "s", "c = 'unknown'", "s IS NULL", "s IS NOT NULL"),
    Case("has_error", "boolean", "s", "c", "contains(translate(s", "contains(s, 'err')"),
    Case("says_err", "boolean", "s", "c", "contains(replace(translate(", "contains(s, 'err')"),
    Case("contains", "boolean", "s", "c", "contains(s, 'é')", "endswith(s, 'é') AND s <> 'é'"),
    Case("contains", "boolean", "s", "NOT c", "contains(s, 'é')", "NOT contains(s, 'é')"),
    Case("is_log", "boolean", "s", "c", "endswith(s, 'log')", "endswith(s, 'log')"),
    Case("long", "boolean", "s", "c", "length(s) > 3", "length(s) > 4"),
    Case("initial", "string", "s", "c = 'A'", "s >= 'a' AND s < 'b'", "s >= 'A' AND s < 'B'"),
    Case("code", "string", "s", "c = 'ab'", "substring(s, -2) = 'ab'", "s = 'ab'"),
    Case("head", "string", "s", "c = 'ab'", "s >= 'ab' AND s < 'ac'", "s = 'ab'"),
    Case("head", "string", "s", "c >= 'co'", "s >= 'co'", "s > 'cp'"),
    Case("middle", "string", "s", "c = 'bc'", "'bc'", "s = 'abc'"),
    Case("label", "string", "v", "c = 'id-7'", "v = 7", "v = 71"),
    Case("joined", "string", "s, v", "c = 'a-7'", "s = 'a' AND v = 7", "s = 'a' AND v = 71"),
    Case("domain", "string", "s", "c = 'b'", "split_part(s, 'a', 2) = 'b'", "s = 'aab'"),
    Case("last_part", "string", "s", "c = '7'", "split_part(s, '-', -1) = '7'", "s = '7'"),
    Case("cleaned", "string", "s", "c = '7'", "trim(LEADING '0'", "s = '00-7'"),
    Case("prefixed", "string", "s", "c = 'xa'", "s = 'a'", "s = 'xa'"),
    Case("is_failure", "boolean", "s", "c", "s >= 'ERR' AND s < 'ERS'", "s = 'ERR'"),
    Case("searched", "string", "s", "c = 'yes'", "contains(s, 'a')", "contains(s, 'ab')"),
    Case("place", "int", "s", "c >= 0", "contains(s, 'a')", "endswith(s, 'a')"),
    Case("place", "int", "s", "c = 0", "s >= 'a' AND s < 'b'", "s = 'a'"),
    Case("year", "int", "d", "c = 2023", "DATE '2023-01-01'", "d > DATE '2023-12-02'"),
    Case("year", "int", "d", "c > 2023", "d >= DATE '2024-01-01'", "d > DATE '2024-01-01'"),
    Case("quarter", "int", "d", "c = 1", "month(d) < 4", "month(d) = 1"),
    Case("is_weekend", "boolean", "d", "c", "weekday(d) >= 5", "weekday(d) > 5"),
    Case("age", "int", "d", "c > 29", "d < DATE '2023-12-03'", "d < DATE '2023-12-02'"),
    Case("hour", "int", "n", "c = 5", "hour(n) = 5", "hour(n) = 6"),
    Case("day_of", "date", "n", "c = DATE '2024-03-31'", "TIMESTAMP_NTZ", "hour(n) > 0"),
    Case("rounded", "bigint", "x", "c = 2", "x >= 1.5D", "x > 1.5D"),
    Case("rounded_to_one", "double", "x", "c = 2.0", "x <", "x = 2.0D"),
    Case("floor", "bigint", "x", "c >= 2", "x >= 4.0D", "x > 4.0D"),
    Case("whole", "bigint", "x", "c <= 0", "x <", "x <= 0.0D"),
    Case("above", "boolean", "x", "c", "x > 1.5D", "x > 2.5D"),
    Case("root", "double", "x", "c > 2", "x >= 4.000000000000002D", "x > 6.0D"),
    Case("bucket", "int", "v", "c = 0", "pmod(v, 7) = 0", "v = 0"),
    Case("decade", "bigint", "v", "c = 7", "v >= 70 AND v < 80", "v > 70"),
]
SCHEMA = "s string, v bigint, x double, d date, n timestamp_ntz"


@pytest.fixture(scope="module")
def values(spark: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> DataFrame:
    pools: list[list[Any]] = [TEXTS, NUMBERS, DOUBLES, DATES, CLOCKS]
    size = max(len(p) for p in pools)
    rows = list(zip(*(p * (size // len(p) + 1) for p in pools), strict=False))
    path = str(tmp_path_factory.mktemp("values") / "table")
    spark.createDataFrame(rows, SCHEMA).coalesce(1).write.parquet(path)
    return spark.read.parquet(path)


def with_c(df: DataFrame, case: Case, *, arrow: bool) -> DataFrame:
    from pyspark.sql.functions import udf

    make: Any = udf
    function = make(getattr(value_udfs, case.name), case.returns, useArrow=arrow)
    return df.withColumn("c", function(*case.columns.split(", ")))


def ids(case: Case) -> str:
    return f"{case.name}: {case.where}"


@some("case", CASES, of=2, ids=ids)
def test_filters_go_below(values: DataFrame, case: Case) -> None:
    """By default, with all that a column can hold: the same rows."""
    boundary = rewritten(with_c(values, case, arrow=True).filter(case.where))
    assert case.below in boundary.prefilter
    assert 0 < with_c(values, case, arrow=True).filter(case.where).count() < values.count()


@pytest.mark.slow
@pytest.mark.parametrize("case", CASES, ids=ids)
def test_without_arrow(values: DataFrame, case: Case) -> None:
    """Of texts Python may see others than Spark: comparisons by = with constants are left."""
    from tests.support.running import same_rows

    from presieve.driver.optimize import optimize

    df = with_c(values, case, arrow=False).filter(case.where)
    same_rows(df, optimize(df, cost="always"))


@pytest.mark.slow
@pytest.mark.parametrize("case", CASES, ids=ids)
def test_a_filter_that_loses_a_row_is_refuted(values: DataFrame, case: Case) -> None:
    """It makes a difference on this table, and the checker says so."""
    given = dict(c.split() for c in SCHEMA.split(", "))
    columns = case.columns.split(", ")
    found = verify(
        getattr(value_udfs, case.name),
        case.where,
        schema=", ".join(f"{c} {given[c]}" for c in columns),
        returns=f"c {case.returns}",
        mode="row",
        prefilter=case.twin,
    )
    assert found.certificate is None
    df = with_c(values, case, arrow=False)
    assert df.filter(case.twin).filter(case.where).count() < df.filter(case.where).count()


def test_what_has_no_preimage_stays(values: DataFrame) -> None:
    case = Case("titled", "string", "s", "c = 'De'", "")
    boundary = rewritten(with_c(values, case, arrow=True).filter(case.where))
    assert boundary.prefilter == "s <> ''"
    assert boundary.kind == "partial"


@pytest.mark.slow
def test_a_table_of_invalid_texts(spark: SparkSession, tmp_path: Path) -> None:
    """Bytes that are no UTF-8: without Arrow Python sees other texts than Spark does."""
    from tests.support.running import same_rows

    from presieve.driver.optimize import optimize

    lines = [b"a-7", b"\xe9a", b"a\xe9", b"\xc3", b"de", b"DE", b"\xe9-7", b"ERR\xff", b"xab\xc3b"]
    (tmp_path / "latin.txt").write_bytes(b"\n".join(lines))
    df = spark.read.text(str(tmp_path)).selectExpr("value AS s", "7L AS v")
    for case in CASES:
        if set(case.columns.split(", ")) <= {"s", "v"}:
            written = with_c(df, case, arrow=False).filter(case.where)
            written = written.selectExpr("hex(s) AS bytes", "v", "c")
            same_rows(written, optimize(written, cost="always"))
