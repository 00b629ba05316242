"""Errors of conditions beside the one that a filter is derived from: strict keeps them, and by
default it is said that one may be gone.
"""

from __future__ import annotations

import datetime as dt
from typing import TYPE_CHECKING, Any

import pytest

import presieve

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

pytestmark = pytest.mark.classic("derived filters are for classic sessions")

ROWS = 200_000
BAD = 5
"""The row on which each condition raises, in the year 2015."""
LATE = "year(d) = 2024"
RAISING = {
    "LIKE of a column": "s LIKE p",
    "LIKE with another escape character": "s LIKE concat(p, '!b') ESCAPE '!'",
    "LIKE with a pattern that is wrong": "s LIKE concat('a!b', substring(s, 1, 0)) ESCAPE '!'",
    "NOT LIKE": "NOT (s LIKE p)",
    "ILIKE of a column": "s ILIKE p",
    "LIKE ANY": "s LIKE ANY ('zz', p)",
    "RLIKE of a column": "s RLIKE e",
    "regexp_extract": "regexp_extract(s, e, 0) <> 'x'",
    "regexp_replace": "regexp_replace(s, e, 'y') <> 'x'",
    "regexp_count": "regexp_count(s, e) >= 0",
    "split": "size(split(s, e)) > 0",
    "element_at": "element_at(array(1, 2), i) > 0",
    "an index": "array(1, 2)[i] < 9",
    "a cast of a text": "CAST(n AS int) < 9",
    "a date of a text": "CAST(n AS date) < DATE'2024-01-01'",
    "a cast beyond the type": "CAST(big AS int) > 0",
    "months beyond the type": "add_months(d, i * 20000000) > DATE'1900-01-01'",
    "a quotient": "10 / (7 - i) < 99",
    "an integral quotient": "10 div (7 - i) < 99",
    "a remainder": "10 % (7 - i) < 99",
    "a sum": "big + 9223372036854775000L > 0",
    "make_date": "make_date(2024, 2 * i, 1) > DATE'1900-01-01'",
    "to_number": "to_number(n, '9') < 9",
    "to_date with a format": "to_date(n, 'yyyy') < DATE'2024-01-01'",
    "to_timestamp": "to_timestamp(n) < TIMESTAMP'2024-01-01'",
    "assert_true": "assert_true(i <> 7) IS NULL",
    "raise_error": "if(i = 7, raise_error('x'), 1) = 1",
    "split_part": "split_part(s, 'a', 7 - i) <> 'x'",
    "unhex": "to_binary(n, 'hex') IS NOT NULL",
}


@pytest.fixture(scope="module")
def days(spark: SparkSession, tmp_path_factory: Any) -> DataFrame:
    """Four thousand days in their order, with one row on which the conditions raise."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    path = tmp_path_factory.mktemp("errors") / "days"
    path.mkdir()

    def column(usual: object, bad: object) -> list[object]:
        return [bad if n == BAD else usual for n in range(ROWS)]

    columns = {
        "d": [dt.date(2015, 1, 1) + dt.timedelta(days=n * 4000 // ROWS) for n in range(ROWS)],
        "s": [f"a{n % 7}" for n in range(ROWS)],
        "p": column("a%", "a\\b"),
        "e": column("a.*", "a("),
        "i": pa.array(column(1, 7), pa.int32()),
        "n": column("1", "?"),
        "big": pa.array(column(1, 2**62), pa.int64()),
    }
    pq.write_table(pa.table(columns), str(path / "t.parquet"), row_group_size=2000)
    return spark.read.parquet(str(path))


def raises(df: DataFrame) -> bool:
    try:
        df.count()
    except Exception:
        return True
    return False


@pytest.mark.parametrize("name", RAISING)
def test_strict_keeps_the_error(days: DataFrame, name: str) -> None:
    df = days.where(f"{RAISING[name]} AND {LATE}")
    assert raises(days.where(RAISING[name])), "the condition is to raise"
    assert presieve.optimize(df, policy="strict") is df
    found = presieve.explain(df, policy="strict", cost="always").derived
    assert not any(d.derived for d in found)


@pytest.mark.parametrize("name", RAISING)
def test_that_an_error_may_vanish_is_said(days: DataFrame, name: str) -> None:
    found = presieve.explain(days.where(f"{RAISING[name]} AND {LATE}"), cost="always").derived
    assert [[a["code"] for a in d.assumptions] for d in found] == [["may-erase-error"]]


KEPT = [
    *(r"s LIKE '%a\\_b%_'", "s LIKE '%a!_b%c' ESCAPE '!'", "s LIKE '_a%b'", "s RLIKE '^a[0-9]+$'"),
    *("i / 2D < 1D", "big div 10 < 9", "trunc(d, 'MM') > DATE'2015-01-01'", "month(d) > 1"),
    *("date_add(d, i) > DATE'2015-01-01'", "CAST(i AS string) = '1'", "big % 7 = 1"),
]


@pytest.mark.parametrize("condition", KEPT)
def test_strict_derives_beside_what_never_raises(days: DataFrame, condition: str) -> None:
    (found,) = presieve.explain(
        days.where(f"{condition} AND {LATE}"), policy="strict", cost="always"
    ).derived
    assert found.derived
    assert not found.assumptions
