"""The cells of the matrix: who wrote the files, in how many, and what the scan is told to do."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from tests.support.games.tables import ROWS, SCHEMA, STRANGE, Tables

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

Row = tuple[str | None, float | None, int | None, str | None]
Writer = Literal["spark", "pyarrow"]
Data = Literal["numbers", "missing"]
"""Whether there is a number in every row, or NULL and NaN besides."""
DATA: tuple[Data, ...] = ("numbers", "missing")

NASTY: tuple[Row, ...] = (
    # around a threshold, to the last bit
    ("g", 90.0, 10, "error"),
    ("g", math.nextafter(90.0, math.inf), 11, "ERROR"),
    ("g", math.nextafter(90.0, -math.inf), 9, "errör"),
    # the ends of what fits, and where doubles stop telling integers apart
    ("h", 1.7976931348623157e308, 2**63 - 1, "error"),
    ("h", -math.inf, 2**53 + 1, ""),
    ("i", 5e-324, 2**53 - 1, "\U0001f600"),
    ("i", -0.0, 0, " error"),
    ("i", 0.0, 1, None),
    # an empty key, and groups of one row each
    ("", 95.0, 12, "info"),
    ("A", -math.inf, 0, None),
    ("ä", 91.0, 4, "error"),
    # groups, and row groups, of one zero and nothing else
    *[("z", -0.0, 0, "")] * 12,
    *[("y", 0.0, 0, "")] * 3,
)
"""Rows without NULL and NaN in their numbers: no assumption speaks against them."""

MISSING: tuple[Row, ...] = (
    ("a", math.nan, None, None),
    ("b", None, 100, "error"),
    ("g", math.nan, 20, "error"),
    ("h", 99.0, None, "info"),
    ("l", 99.5, -(2**63), "error"),
    # nothing but NaN, nothing but NULL, and both, in groups of one row and of several
    ("j", math.nan, None, None),
    ("k", None, None, ""),
    *[("n", math.nan, 12, "error")] * 2,
    *[("o", None, None, None)] * 3,
    ("p", math.nan, 2, "info"),
    ("p", None, None, "error"),
    # beside zeros of both signs, and beside both infinities
    *[("q", x, 0, "warn") for x in (-0.0, math.nan, 0.0, None)],
    *[("r", x, 40, "error") for x in (math.inf, None, -math.inf, math.nan)],
    # integers that a NULL beside them makes doubles, and which these round
    ("s", 94.0, 2**53 + 1, "error"),
    ("s", 93.0, None, "error"),
    ("t", 94.0, 2**63 - 1, "info"),
    ("t", 95.0, 2**63 - 2, "info"),
    ("t", 96.0, None, "info"),
    # rows twice, and a tie of all that can be selected
    *[("u", 99.0, 30, "error")] * 2,
    *[("u", None, 30, "error")] * 2,
    # without a key
    (None, math.nan, None, "error"),
    ("", None, 50, None),
)
"""NULL, NaN and numbers as assumptions may rule them out, in groups with and without others."""


@dataclass(frozen=True)
class Files:
    """How a table lies on disk: in one file of one row group, or in several with several."""

    writer: Writer
    many: bool

    def __str__(self) -> str:
        """For the names of tests."""
        return f"{self.writer}-{'many' if self.many else 'one'}"


ALL_FILES = tuple(Files(writer, many) for writer in ("spark", "pyarrow") for many in (False, True))

SCANS: dict[str, dict[str, str]] = {
    "pushdown": {"spark.sql.parquet.filterPushdown": "true"},
    "no pushdown": {"spark.sql.parquet.filterPushdown": "false"},
    "record by record": {
        "spark.sql.parquet.filterPushdown": "true",
        "spark.sql.parquet.recordLevelFilter.enabled": "true",
        "spark.sql.parquet.enableVectorizedReader": "false",
    },
}
"""What the scan does with filters: row groups, nothing, or, in parquet-mr's own code, records."""


@contextmanager
def conf(spark: SparkSession, settings: dict[str, str]) -> Iterator[None]:
    """The session with these settings."""
    for key, value in settings.items():
        spark.conf.set(key, value)
    try:
        yield
    finally:
        for key in settings:
            spark.conf.unset(key)


def write(spark: SparkSession, rows: Sequence[Row], path: Path, files: Files) -> DataFrame:
    """The rows as Parquet, read back."""
    if files.writer == "spark":
        frame = spark.createDataFrame(list(rows), SCHEMA)
        frame.repartition(4 if files.many else 1).write.parquet(str(path))
    else:
        _write_with_pyarrow(rows, path, files)
    return spark.read.schema(SCHEMA).parquet(str(path))


def _write_with_pyarrow(rows: Sequence[Row], path: Path, files: Files) -> None:
    import pyarrow as pa
    import pyarrow.parquet as pq

    types = pa.schema(
        [("team", pa.string()), ("score", pa.float64()), ("v", pa.int64()), ("level", pa.string())]
    )
    path.mkdir(parents=True)
    for number in range(4 if files.many else 1):
        part = rows[number::4] if files.many else rows
        columns = [pa.array([row[i] for row in part], types[i].type) for i in range(len(types))]
        table = pa.Table.from_arrays(columns, schema=types)
        size = 2 if files.many else max(1, len(part))
        pq.write_table(table, path / f"{number}.parquet", row_group_size=size)


def tables(spark: SparkSession, path: Path, files: Files, data: Data) -> Tables:
    """The tables that the pipelines of the suite run on, in this layout.

    With ``missing`` data there are NULL and NaN also where a pipeline expects neither.
    """
    plain = [*ROWS, *NASTY]
    strange = [*plain, *STRANGE, *MISSING]
    return Tables(
        write(spark, strange if data == "missing" else plain, path / "plain", files),
        write(spark, strange, path / "strange", files),
        write(spark, [], path / "empty", files),
    )
