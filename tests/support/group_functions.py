"""Functions of groups, as users write them, and rows on which they are tried."""

from __future__ import annotations

import datetime as dt
import math
from collections.abc import Callable
from decimal import Decimal
from typing import Any

import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc
from pyspark.sql.pandas.functions import PandasUDFType, pandas_udf

NAN, INF = math.nan, math.inf
DAY, TIME = dt.date(2024, 2, 29), dt.datetime(2024, 2, 29, 12, 30, 0, 1)
TOP, LOW = 2**63 - 1, -(2**63)
ROWS = [
    ("a", 3, 7, 1.5, "x", DAY, TIME, b"a", Decimal("1.50")),
    ("a", -7, -7, -2.0, "y", dt.date(1, 1, 1), TIME, b"", Decimal("-1.50")),
    ("a", -7, -7, -2.0, "y", dt.date(1, 1, 1), TIME, b"", Decimal("-1.50")),
    ("a", TOP, 2**31 - 1, INF, "", dt.date(9999, 12, 31), TIME, b"\xff", Decimal("99999999.99")),
    ("b", None, None, NAN, None, None, None, None, None),
    ("b", 5, 5, 0.5, "x", DAY, TIME, b"b", Decimal("0.00")),
    ("b", 5, 5, 0.5, "z", DAY, TIME, b"b\x00", Decimal("0.00")),
    ("c", LOW, -(2**31), -INF, "x", DAY, TIME, b"c", Decimal("2.00")),
    (None, 1, 1, None, "q", DAY, TIME, b"d", Decimal("3.00")),
    (None, 2, 2, 4.0, "q", DAY, TIME, b"d", Decimal("3.00")),
    ("none", None, None, None, None, None, None, None, None),
    ("none", None, None, None, None, None, None, None, None),
    ("all", 4, 4, 0.0, "x", DAY, TIME, b"e", Decimal("4.00")),
    ("all", -4, -4, -0.0, "x", DAY, TIME, b"f", Decimal("4.00")),
    ("nan", 0, 0, NAN, "é", DAY, TIME, b"g", Decimal("5.00")),
    ("", 0, 0, 1e308, "\U0001f600", DAY, TIME, b"h", Decimal("6.00")),
]
SCHEMA = (
    "k string, v bigint, i int, x double, s string, d date, t timestamp, b binary, n decimal(10,2)"
)


def udaf(of: Callable[..., Any], type_: str) -> Any:
    """A grouped-aggregate pandas UDF."""
    return pandas_udf(of, type_, PandasUDFType.GROUPED_AGG)


# --- of one column --------------------------------------------------------------------------------


def above_one(x):  # type: ignore[no-untyped-def]
    n = 0
    for v in x:
        if v > 1:
            n += 1
    return n


def at_least_one(x):  # type: ignore[no-untyped-def]
    n = 0
    for v in x:
        if v >= 1:
            n += 1
    return n


def not_below(x):  # type: ignore[no-untyped-def]
    n = 0
    for v in x:
        if not v < 1:
            n += 1
    return n


def itself(x):  # type: ignore[no-untyped-def]
    n = 0
    for v in x:
        if v == v:
            n += 1
    return n


def any_none(x):  # type: ignore[no-untyped-def]
    found = False
    for v in x:
        if v is None:
            found = True
    return found


def has_x(c):  # type: ignore[no-untyped-def]
    found = False
    for v in c:
        if v == "x":
            found = True
    return found


def all_x(c):  # type: ignore[no-untyped-def]
    found = True
    for v in c:
        if v != "x":
            found = False
    return found


def greatest(x):  # type: ignore[no-untyped-def]
    best = None
    for v in x:
        if best is None or v > best:
            best = v
    return best


def least(x):  # type: ignore[no-untyped-def]
    best = None
    for v in x:
        if best is None or v < best:
            best = v
    return best


def total(x):  # type: ignore[no-untyped-def]
    n = 0
    for v in x:
        n += v
    return int(n)


def total_double(x):  # type: ignore[no-untyped-def]
    n = 0.0
    for v in x:
        n += v
    return n


def remainders(x):  # type: ignore[no-untyped-def]
    n = 0
    for v in x:
        n += int(v) % 5
    return n


def quotients(x):  # type: ignore[no-untyped-def]
    n = 0
    for v in x:
        if v // 3 < -2:
            n += 1
    return n


def mean_down(x):  # type: ignore[no-untyped-def]
    n, m = 0, 0
    for v in x:
        n += v
        m += 1
    return int(n) // m


def last(x):  # type: ignore[no-untyped-def]
    found = None
    for v in x:
        found = v
    return found


def joined(c):  # type: ignore[no-untyped-def]
    found = ""
    for v in c:
        found = found + v
    return found


def refuses(x):  # type: ignore[no-untyped-def]
    n = 0
    for v in x:
        if v > 4:
            raise ValueError("no")
        n += 1
    return n


def size(x):  # type: ignore[no-untyped-def]
    return len(x)


def pandas_max(x):  # type: ignore[no-untyped-def]
    return x.max()


def pandas_min(x):  # type: ignore[no-untyped-def]
    return x.min()


def pandas_sum(x):  # type: ignore[no-untyped-def]
    return x.sum()


def spread(x):  # type: ignore[no-untyped-def]
    return x.max() - x.min()


def any_x(c):  # type: ignore[no-untyped-def]
    return bool((c == "x").any())


def there(x):  # type: ignore[no-untyped-def]
    return int(x.count())


def missing(x):  # type: ignore[no-untyped-def]
    return int(x.isna().sum())


# --- of tables ------------------------------------------------------------------------------------


def counted(key, pdf):  # type: ignore[no-untyped-def]
    return pd.DataFrame({"k": [key[0]], "n": [int((pdf.v > 2).sum())]})


def by_two_keys(key, pdf):  # type: ignore[no-untyped-def]
    return pd.DataFrame({"s": [key[1]], "k": [key[0]], "n": [len(pdf)]})


def extremes(pdf):  # type: ignore[no-untyped-def]
    return pd.DataFrame({"k": [pdf.k.iloc[0]], "hi": [pdf.x.max()], "n": [len(pdf)]})


def sized(pdf):  # type: ignore[no-untyped-def]
    return pd.DataFrame({"n": [len(pdf)]})


def arrow_table(key, table):  # type: ignore[no-untyped-def]
    return pa.table(
        {
            "k": pa.array([key[0].as_py()], pa.string()),
            "n": pa.array([table.num_rows], pa.int64()),
            "m": pa.array([pc.max(table["v"]).as_py()], pa.int64()),
        }
    )


def arrow_max(a):  # type: ignore[no-untyped-def]
    return pc.max(a)


def arrow_count(a):  # type: ignore[no-untyped-def]
    return pc.count(a)


def arrow_size(a):  # type: ignore[no-untyped-def]
    return len(a)


def bytes_max(key, pdf):  # type: ignore[no-untyped-def]
    return pd.DataFrame({"j": [key[0]], "m": [pdf.b.max()]})


# --- classes --------------------------------------------------------------------------------------


class Greatest:
    def zero(self):  # type: ignore[no-untyped-def]
        return None

    def reduce(self, acc, row):  # type: ignore[no-untyped-def]
        return row.v if acc is None or (row.v is not None and row.v >= acc) else acc

    def finish(self, acc):  # type: ignore[no-untyped-def]
        return acc


class Marked(Greatest):
    """The least text, of more than one row."""

    def zero(self):  # type: ignore[no-untyped-def]
        return (None, 0)

    def reduce(self, acc, row):  # type: ignore[no-untyped-def]
        less = acc[0] is None or (row.s is not None and row.s < acc[0])
        return (row.s if less else acc[0], acc[1] + 1)

    def finish(self, acc):  # type: ignore[no-untyped-def]
        return (acc[0] or "") + "!" if acc[1] > 1 else None


class Pair(Greatest):
    """How many there are, of two columns."""

    def zero(self):  # type: ignore[no-untyped-def]
        return (0, None)

    def reduce(self, acc, row):  # type: ignore[no-untyped-def]
        more = acc[1] is None or (row.s is not None and row.s > acc[1])
        number = acc[0] + 1 if row.v is not None and row.v > 2 else acc[0]
        return (number, row.s if more else acc[1])

    def finish(self, acc):  # type: ignore[no-untyped-def]
        return acc[0]


class BestRow(Greatest):
    def zero(self):  # type: ignore[no-untyped-def]
        return (None, None)

    def reduce(self, acc, row):  # type: ignore[no-untyped-def]
        if row.v is None:
            return acc
        return (row.v, row.s) if acc[0] is None or row.v > acc[0] else acc

    def finish(self, acc):  # type: ignore[no-untyped-def]
        return acc[1]


class LastBestRow(BestRow):
    def reduce(self, acc, row):  # type: ignore[no-untyped-def]
        if row.v is None:
            return acc
        return (row.v, row.s) if acc[0] is None or row.v >= acc[0] else acc


class Last(Greatest):
    def reduce(self, acc, row):  # type: ignore[no-untyped-def]
        return row.v


# --- folds that are no aggregates of Spark's ------------------------------------------------------


def second(x):  # type: ignore[no-untyped-def]
    best = None
    other = None
    for v in x:
        if best is None:
            best = v
        elif v > best:
            best, other = v, best
        elif other is None or v > other:
            other = v
    return other


def second_text(c):  # type: ignore[no-untyped-def]
    best = ""
    other = ""
    for s in c:
        if s > best:
            best, other = s, best
        elif s > other:
            other = s
    return other


def second_number(v):  # type: ignore[no-untyped-def]
    best = -1
    other = -1
    for n in v:
        if n > best:
            best, other = n, best
        elif n > other:
            other = n
    return int(other)


def second_wrong(v):  # type: ignore[no-untyped-def]
    """As above, but a new best one forgets the one before."""
    best = -1
    other = -1
    for n in v:
        if n > best:
            best = n
        elif n > other:
            other = n
    return int(other)


def average(x):  # type: ignore[no-untyped-def]
    total = 0.0
    count = 0
    for v in x:
        total += v
        count += 1
    return total / count


def total_from_first(x):  # type: ignore[no-untyped-def]
    total = None
    for v in x:
        total = v if total is None else v + total
    return total


def pandas_mean(x):  # type: ignore[no-untyped-def]
    return x.mean()
