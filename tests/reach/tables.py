"""Small random tables of a schema, as PySpark hands them over, with gaps and repetitions."""

from __future__ import annotations

import datetime as dt
from collections.abc import Mapping, Sequence
from functools import partial
from random import Random
from types import FunctionType
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
from tests.reach.entries import Entry
from tests.support.frame_runs import Group
from tests.support.lifting import arrow_type
from tests.support.pandas_batches import as_columns, as_struct

from presieve.semantics.types import SchemaColumn
from presieve.sql.ddl import parse_schema

_DAYS = [dt.date(2024, 1, d) for d in (1, 2, 3, 5, 9, 9)]
_TIMES = [
    dt.datetime(2024, 1, d, h, 15, tzinfo=dt.UTC) for d, h in ((1, 8), (1, 8), (2, 9), (4, 23))
]
POOLS: Mapping[str, Sequence[object]] = {
    "string": ["a", "b", "c", "", None],
    "bigint": [0, 1, 2, 3, 7, -1, 2**53 + 1, None],
    "int": [0, 1, 2, 3, 7, -1, None],
    "double": [1.5, 2.0, -0.0, 0.0, 99.0, 3.25, float("nan"), None],
    "boolean": [True, False, None],
    "date": [*_DAYS, None],
    "timestamp": [*_TIMES, None],
}
"""Values worth trying, by type."""


def pool(entry: Entry, column: SchemaColumn) -> Sequence[object]:
    """The values of a column that are tried."""
    return entry.pools.get(column.name, POOLS[column.type])


def frame(
    columns: Sequence[SchemaColumn], rows: Sequence[Sequence[object]], *, batch: bool = False
) -> pd.DataFrame:
    """Rows as a table, by Spark's own transport; ``batch``: as those of mapInPandas, which are
    structs.
    """
    arrays = [pa.array([r[at] for r in rows], arrow_type(c.type)) for at, c in enumerate(columns)]
    names = [c.name for c in columns]
    return as_struct(arrays, names) if batch else pd.concat(as_columns(arrays, names), axis=1)


def again(schema: str, part: pd.DataFrame) -> pd.DataFrame:
    """A part of a batch as Spark would hand it over by itself."""
    columns = [c for c in parse_schema(schema) if c.name in part.columns]
    rows = [
        [_stored(v, c.type) for v, c in zip(row, columns, strict=True)]
        for row in part[[c.name for c in columns]].itertuples(index=False)
    ]
    return frame(columns, rows, batch=True)


def _stored(value: Any, type_: str) -> object:
    if value is None or value is pd.NA or (value != value and type_ != "double"):
        return None
    return int(value) if type_ in ("int", "bigint") else value


def drawn(
    entry: Entry, random: Random, schema: str, size: int, fixed: Mapping[str, object] | None
) -> pd.DataFrame:
    """A random table of some columns; those that are ``fixed`` have one value in all rows. None:
    it is a batch.
    """
    columns, held = parse_schema(schema), fixed or {}
    whole = random.random() < 0.5  # half of the tables have no gaps

    def value(column: SchemaColumn) -> object:
        if column.name in held:
            return held[column.name]
        values = [v for v in pool(entry, column) if not whole or not (v is None or v != v)]
        return random.choice(values)

    rows = [[value(c) for c in columns] for _ in range(size)]
    return frame(columns, rows, batch=fixed is None)


def group(entry: Entry, random: Random) -> Group:
    """A random group. Its key is as Spark gives it: the first row's values."""
    columns = parse_schema(entry.schema)
    fixed = {c.name: random.choice(pool(entry, c)) for c in columns if c.name in entry.grouping}
    table = drawn(entry, random, entry.schema, random.choice((1, 2, 3, 5, 8)), fixed)
    first = {name: table[name].iloc[0] for name in entry.grouping}
    held = {n: _plain(v) for n, v in first.items()}
    given: list[Any] = []
    function = entry.function
    assert isinstance(function, FunctionType)
    if function.__code__.co_argcount == (3 if entry.beside else 2):
        given.append(tuple(first.values()))
    if not entry.beside:
        return Group(held, table, partial(function, *given))
    other = drawn(entry, random, entry.beside, random.choice((0, 1, 2, 5)), fixed)
    return Group(held, table, lambda left: function(*given, left, other.copy()))


def _plain(value: Any) -> object:
    if value is None or value != value:
        return None
    return value.item() if isinstance(value, np.generic) else value


def batches(entry: Entry, random: Random) -> list[pd.DataFrame]:
    """Random batches, some of them empty."""
    return [drawn(entry, random, entry.schema, random.choice((0, 1, 2, 4)), None) for _ in range(2)]
