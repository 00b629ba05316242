"""Functions for pyarrow that must be declined, each with a reason."""

# mypy: ignore-errors

from __future__ import annotations

from decimal import Decimal

import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc


def sum_of_doubles(v):
    return pc.sum(v)


def spread(v):
    return pc.stddev(v)


def scalar_order(v):
    """pyarrow's scalars have no order: this raises."""
    best = None
    for x in v:
        if best is None or x > best:
            best = x
    return best


def scalar_equal(s):
    """A scalar of pyarrow equals no text: always false."""
    count = 0
    for x in s:
        if x == "a":
            count += 1
    return count


def scalar_is_none(v):
    """A null scalar is not None: never true."""
    count = 0
    for x in v:
        if x is None:
            count += 1
    return count


def scalar_truth(f):
    count = 0
    for x in f:
        if x:
            count += 1
    return count


def above_mean(n):
    return pc.count(pc.filter(n, pc.greater(n, pc.mean(n).as_py())))


def options(v):
    return pc.count(v, mode="all")


def other_mask(v, n):
    high = pc.filter(v, pc.greater(v, 1))
    return pc.max(pc.filter(high, pc.greater(n, 1)))


def times(t):
    return pc.max(t).is_valid


def median(v):
    return pc.quantile(v, 0.5)


def to_pandas(v):
    return v.to_pandas().max()


def wrong_type(n):
    return pc.max(n)


CODES = [
    ("sum_of_doubles", "v", "double", "not-a-fold"),
    ("above_a_decimal", "v", "bigint", "unsupported-operation"),
    ("spread", "v", "double", "unknown-call"),
    ("scalar_order", "v", "double", "row-in-state"),
    ("scalar_equal", "s", "bigint", "unsupported-operation"),
    ("scalar_is_none", "v", "bigint", "unsupported-operation"),
    ("scalar_truth", "f", "bigint", "unsupported-expression"),
    ("above_mean", "n", "bigint", "two-passes"),
    ("options", "v", "bigint", "unknown-call"),
    ("other_mask", "v,n", "double", "unsupported-operation"),
    ("times", "t", "boolean", "column-type"),
    ("median", "v", "double", "unknown-call"),
    ("to_pandas", "v", "double", "unknown-call"),
    ("wrong_type", "n", "string", "return-type"),
]


def two_rows(table):
    return pa.table({"o": [1, 2]})


def untyped(table):
    """A Python integer is of 64 bits, and the column of 32: Spark refuses it."""
    return pa.table({"o": [3]})


def of_pandas(table):
    return pd.DataFrame({"o": [3]})


def kept_rows(table):
    return table.filter(pc.greater(table["v"], 1))


def dict_of_scalars(table):
    return pa.table({"o": 3})


def list_for_pydict(table):
    return pa.Table.from_pydict([{"o": 3}])


def with_schema(table):
    return pa.table({"o": [3]}, schema=pa.schema([("o", pa.int32())]))


def other_type(table):
    return pa.table({"o": pa.array([1.5], pa.int32())})


def two_in_array(table):
    return pa.table({"o": pa.array([1, 2], pa.int32())})


TABLE_CODES = [
    ("with_schema", "unknown-call"),
    ("other_type", "unsupported-operation"),
    ("two_in_array", "row-count"),
    ("two_rows", "row-count"),
    ("untyped", "return-type"),
    ("of_pandas", "return-shape"),
    ("kept_rows", "return-shape"),
    ("dict_of_scalars", "row-count"),
    ("list_for_pydict", "row-count"),
]


def number_of_batches(batches):
    n = 0
    for _batch in batches:
        n += 1
    return n


def last_of_each(batches):
    total = 0
    for batch in batches:
        last = 0
        for x in batch.to_pylist():
            last = x
        total += last
    return total


def longest_batch(batches):
    n = 0
    for batch in batches:
        n = max(n, len(batch))
    return n


def counted_twice(batches):
    n = 0
    for batch in batches:
        n += len(batch)
        for x in batch.to_pylist():
            n = n * 2 if x == n else n
    return n


def length_of_a_tuple(batches):
    """The length of a tuple of columns is the number of columns."""
    n = 0
    for columns in batches:
        n += len(columns)
    return n


def length_in_the_loop(batches):
    n = 0
    for batch in batches:
        for x in batch.to_pylist():
            if x is not None and len(batch) > 1:
                n += 1
    return n


def batch_after_the_loop(batches):
    batch = None
    for batch in batches:
        for _x in batch:
            pass
    return len(batch)


BATCH_CODES = [
    ("number_of_batches", "n", "nested-loop"),
    ("last_of_each", "n", "nested-loop"),
    ("longest_batch", "n", "nested-loop"),
    ("counted_twice", "n", "nested-loop"),
    ("length_of_a_tuple", "n,v", "nested-loop"),
    ("length_in_the_loop", "n", "group-size"),
    ("batch_after_the_loop", "n", "maybe-unbound"),
]


def above_a_decimal(v):
    return pc.count(pc.filter(v, pc.greater(v, Decimal("1.5"))))
