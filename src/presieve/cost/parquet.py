# SPDX-License-Identifier: Apache-2.0
"""Untrusted. Row groups of local Parquet files: their footers, and a few of their rows.

Footers are cached by path, modification time and size. Nothing here raises for a file that cannot
be read; such a file is treated as missing.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache
from math import isnan
from typing import TYPE_CHECKING, Any

from msgspec import Struct

from presieve.ir.sorts import TIMESTAMP_NTZ, Sort
from presieve.semantics.values import Value, from_python

if TYPE_CHECKING:
    from pyarrow.parquet import FileMetaData


class Range(Struct, frozen=True):
    """The values of a column in a row group, by its footer: extremes (None: unknown) and NULLs."""

    low: Value = None
    high: Value = None
    nulls: bool = True
    values: bool = True


class RowGroup(Struct, frozen=True):
    """A row group. ``size`` is the uncompressed size of the requested columns in bytes."""

    path: str
    index: int
    rows: int
    size: int
    ranges: Mapping[str, Range]


def available() -> bool:
    """Whether files can be read at all. Loads PyArrow, which takes a while the first time."""
    try:
        import pyarrow.parquet  # noqa: F401
    except ImportError:
        return False
    return True


def row_groups(path: str, columns: Mapping[str, Sort]) -> list[RowGroup] | None:
    """Return the row groups of a file; None if it cannot be read or lacks a column."""
    footer = _footer_of(path)
    if footer is None:
        return None
    places = {footer.schema.column(i).path: i for i in range(len(footer.schema))}
    if not places.keys() >= columns.keys():
        return None
    groups = []
    for index in range(footer.num_row_groups):
        group = footer.row_group(index)
        chunks = {name: group.column(places[name]) for name in columns}
        size = sum(c.total_uncompressed_size for c in chunks.values())
        ranges = {n: _range(c.statistics, group.num_rows, columns[n]) for n, c in chunks.items()}
        groups.append(RowGroup(path, index, group.num_rows, size, ranges))
    return groups


def rows_and_bytes(path: str) -> tuple[int, int] | None:
    """Return the rows and bytes of a file; None if it cannot be read."""
    footer = _footer_of(path)
    try:
        return None if footer is None else (footer.num_rows, os.path.getsize(path))
    except OSError:
        return None


def without_extremes(paths: Sequence[str], names: Iterable[str]) -> list[str]:
    """Return the columns that have values in these files but extremes in no row group."""
    silent, with_extremes = dict.fromkeys(names, False), set()
    for footer in filter(None, map(_footer_of, paths)):
        for chunk in _chunks(footer):
            name, statistics = chunk.path_in_schema, chunk.statistics
            if name in silent and (statistics is None or not statistics.has_min_max):
                nulls = statistics is not None and statistics.null_count == chunk.num_values
                silent[name] |= not nulls
            elif name in silent:
                with_extremes.add(name)
    return [name for name, values in silent.items() if values and name not in with_extremes]


def _chunks(footer: FileMetaData) -> Iterable[Any]:
    for index in range(footer.num_row_groups):
        group = footer.row_group(index)
        yield from (group.column(i) for i in range(group.num_columns))


def _footer_of(path: str) -> FileMetaData | None:
    """Return the footer of a file as it is now; None if it cannot be read."""
    try:
        stat = os.stat(path)
    except OSError:
        return None
    return _footer(path, stat.st_mtime_ns, stat.st_size) if available() else None


@lru_cache(maxsize=256)
def _footer(path: str, mtime: int, size: int) -> FileMetaData | None:
    """Return the footer of the file as it was at that time and with that size."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    try:
        return pq.read_metadata(path)
    except (OSError, pa.ArrowException):
        return None


def _range(statistics: Any, rows: int, sort: Sort) -> Range:
    if statistics is None:
        return Range()
    nulls = values = True
    if statistics.has_null_count:
        nulls, values = statistics.null_count > 0, statistics.null_count < rows
    if not statistics.has_min_max or sort == TIMESTAMP_NTZ:  # Spark's reader does not use these
        return Range(nulls=nulls, values=values)
    try:
        low, high = _value(statistics.min, sort), _value(statistics.max, sort)
    except (ValueError, OverflowError):  # a day outside of Python's calendar
        return Range(nulls=nulls, values=values)
    return Range(low, high, nulls, values)


def _value(value: object, sort: Sort) -> Value:
    """Convert a value to the sort; None if it does not fit, because the file has another type.

    Some writers give NaN as an extreme, which bounds nothing.
    """
    try:
        converted = from_python(value, sort)
    except (TypeError, ValueError, OverflowError, AttributeError):
        return None
    return None if isinstance(converted, float) and isnan(converted) else converted


WHOLE = 500_000
"""Maximum bytes of a row group that is read as a whole, so that the sample covers all of it. From a
larger row group, the first rows are read.
"""


def some_rows(
    group: RowGroup,
    columns: Sequence[str],
    sorts: Sequence[Sort],
    most: int,
    *,
    whole: bool = False,
) -> list[tuple[Value, ...]]:
    """Return at most ``most`` rows of a row group, as values; none if they cannot be read.

    If ``whole`` is true, a large row group is also read as a whole.
    """
    import pyarrow as pa
    import pyarrow.parquet as pq

    try:
        with pq.ParquetFile(group.path, buffer_size=1 << 16, pre_buffer=False) as file:
            whole = whole or group.size <= WHOLE or group.rows <= most
            batches = file.iter_batches(
                batch_size=group.rows if whole else most,
                row_groups=[group.index],
                columns=list(columns),
                use_threads=False,
            )
            batch = next(batches)
            if batch.num_rows > most:
                step = batch.num_rows / most
                batch = batch.take(pa.array([int(i * step) for i in range(most)]))
            read = [batch.column(name).to_pylist() for name in columns]
        return list(_rows(read, sorts))
    except (OSError, pa.ArrowException, StopIteration, KeyError):
        return []
    except (TypeError, ValueError, OverflowError, AttributeError):
        return []  # values of another type than Spark reads them as


def _rows(
    columns: Sequence[Sequence[object]], sorts: Sequence[Sort]
) -> Iterable[tuple[Value, ...]]:
    typed = [
        [from_python(v, sort) if v is not None else None for v in values]
        for values, sort in zip(columns, sorts, strict=True)
    ]
    return zip(*typed, strict=True)
