"""Untrusted. Tables for the suite's pipelines: Parquet, generated once and kept.

Every table has a column ``key``, which follows Zipf's law: a few groups have most of the rows, and
there is a group for every 500 rows. The other columns are drawn as the family says, each by
itself. Rows lie in no order: a filter that reaches the scan skips no row group, so that what is
measured is what is saved above the scan.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Any
from zlib import crc32

from benchmarks.values import Contents
from presieve.errors import UsageError
from presieve.sql.ddl import parse_schema

if TYPE_CHECKING:
    import pyarrow as pa

KEY = "key"
ROWS_PER_GROUP = 500
LAYOUT = 1
"""Part of every file's name: raise it when what is generated changes."""


def default_directory() -> Path:
    """Where the tables are kept between runs."""
    cache = os.environ.get("XDG_CACHE_HOME") or str(Path.home() / ".cache")
    return Path(cache) / "presieve" / "bench"


def stored(contents: Contents, rows: int, directory: Path) -> Path:
    """The path of a table with ``rows`` rows, which is written where it is missing."""
    described = f"{contents.schema} {dict(contents.data)}"
    digest = f"{crc32(described.encode()):08x}"
    path = directory / f"{contents.name}-{rows}-{digest}-v{LAYOUT}.parquet"
    if not path.exists():
        write(_table(contents, rows), path, max(1, min(100_000, rows // 4)))
    return path


def write(table: pa.Table, path: Path, rows_per_group: int) -> None:
    """Write a table whole: a run that is cut off leaves no half of it."""
    import pyarrow.parquet as pq

    path.parent.mkdir(parents=True, exist_ok=True)
    partial = path.with_name(f".{path.name}.{os.getpid()}")
    pq.write_table(table, partial, row_group_size=rows_per_group)
    partial.replace(path)


def _table(contents: Contents, rows: int) -> pa.Table:
    import numpy as np
    import pyarrow as pa

    rng = np.random.default_rng(crc32(contents.name.encode()))
    groups = max(1, rows // ROWS_PER_GROUP)
    weights = 1.0 / np.arange(1, groups + 1)
    drawn = rng.choice(groups, size=rows, p=weights / weights.sum()).astype(np.int32)
    names = pa.array([f"k{i:06d}" for i in range(groups)])
    cells = {KEY: pa.DictionaryArray.from_arrays(pa.array(drawn), names)}
    for column in parse_schema(contents.schema):
        law = contents.data.get(column.name)
        if law is None:
            raise UsageError(f"{contents.name} does not say what {column.name} holds")
        values = law.draw(rng, rows)
        absent = rng.random(rows) < law.null if law.null else None
        cells[column.name] = as_arrow(values, absent, column.type)
    return pa.table(cells)


def as_arrow(values: Any, absent: Any, type_: str) -> pa.Array:
    """Drawn values as a column. Dates are drawn as days since 1970."""
    import pyarrow as pa

    made = pa.array(values, mask=absent)
    return (made.cast("int32") if type_ == "date" else made).cast(_ARROW[type_])


_ARROW = {
    "bigint": "int64",
    "double": "float64",
    "string": "string",
    "boolean": "bool",
    "date": "date32",
}
