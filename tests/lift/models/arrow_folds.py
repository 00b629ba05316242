"""Functions of groups as users write them for pyarrow."""

# mypy: ignore-errors

from __future__ import annotations

import pyarrow as pa
import pyarrow.compute as pc

LIMIT = 7


def highest(v):
    return pc.max(v)


def annotated(v: pa.Array) -> float:
    return pc.min(v)


def highest_python(v):
    best = pc.max(v).as_py()
    return best if best is not None else -1.0


def least_of_high(v):
    return pc.min(pc.filter(v, pc.greater(v, 1)))


def loop_of_scalars(v):
    best = None
    for x in v:
        value = x.as_py()
        if value is not None and (best is None or value > best):
            best = value
    return best


def loop_of_values(n):
    total = 0
    for x in n.to_pylist():
        if x is None:
            continue
        total += x if x > 0 else 0
    return total


def valid_only(n):
    count = 0
    for x in n:
        if x.is_valid:
            count += 1
    return count + n.null_count - len(n)


def two_columns(v, s):
    hits = 0
    for x, y in zip(v.to_pylist(), s.to_pylist(), strict=True):
        if y == "a" and x is not None and x > 1:
            hits += 1
    return hits


def count_of(v):
    return pc.count(v.drop_null())


def sum_of(n):
    return pc.sum(n)


def mean_of(n):
    return pc.mean(pc.drop_null(n))


def sum_plus(n):
    total = pc.sum(n).as_py()
    return 0 if total is None else total + LIMIT


def any_high(n):
    return pc.any(pc.greater_equal(n, LIMIT))


def all_high(n):
    return pc.all(pc.invert(pc.less(n, 0)))


def kleene(n, s):
    mask = pc.or_kleene(pc.greater(n, 0), pc.equal(s, "b"))
    return pc.any(pc.and_kleene(mask, pc.is_valid(s)))


def strict_logic(n, s):
    mask = pc.or_(pc.greater(n, 0), pc.not_equal(s, "b"))
    return pc.all(pc.and_(mask, pc.is_valid(n)))


def latest(d):
    return pc.max(d)


def longest(s):
    return pc.max(s)


# --- tables ---------------------------------------------------------------------------------------


def summary(table: pa.Table) -> pa.Table:
    high = table.filter(pc.greater(table["v"], 1.0))
    return pa.Table.from_pydict(
        {
            "rows": [table.num_rows],
            "high": [high.num_rows],
            "best": [pc.max(table.column("v"))],
            "total": [pc.sum(high["n"])],
            "word": [pc.min(table.column(2))],
        }
    )


def of_key(key, table):
    best = None
    for row in table.to_pylist():
        if row["v"] is not None and (best is None or row["v"] > best):
            best = row["v"]
    return pa.table({"k": [key[0].as_py()], "best": [best if best is not None else 0.0]})


def typed(table):
    """None has a type here, and integers are of 32 bits."""
    best, last = None, 0
    for row in table.to_pylist():
        if row["v"] is not None and row["v"] > 1:
            best = row["v"]
        if row["n"] is not None:
            last = row["n"]
    made = {"best": pa.array([best], pa.float64()), "last": pa.array([last], type=pa.int32())}
    return pa.table(made)


def of_rows(table: pa.Table):
    last = 0
    for x in table["n"]:
        found = x.as_py()
        if found is not None:
            last = found
    return pa.Table.from_pylist([{"last": last, "many": len(table) > 2}])


# --- iterators of batches -------------------------------------------------------------------------


def best_of_batches(batches):
    best = None
    for batch in batches:
        for x in batch:
            value = x.as_py()
            if value is not None and (best is None or value > best):
                best = value
    return best


def rows_of_batches(batches):
    n = 0
    for batch in batches:
        n += len(batch)
    return n


def share_of_batches(batches):
    """Two columns come as tuples."""
    hits, n = 0, 0
    for v, s in batches:
        n += len(v)
        for x, y in zip(v.to_pylist(), s.to_pylist(), strict=True):
            if y == "a" and x is not None and x > 1:
                hits += 1
    return hits if n > 1 else -1


def series_of_batches(batches):
    """Batches of pandas."""
    best = -1.0
    for s in batches:
        for x in s:
            if x > best:
                best = x
    return best
