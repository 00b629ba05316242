"""Tables on disk whose files make scans lose rows: two writers, row groups of one row and of four,
columns of nothing but -0.0, NaN beside other values, and the ends of types.
"""

from __future__ import annotations

import datetime as dt
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from pathlib import Path
from random import Random
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.parquet as pq

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

Row = dict[str, Any]
Values = Sequence[Any]
NAN = math.nan
UTC = dt.UTC


@dataclass(frozen=True, slots=True)
class Kind:
    """The type of a column in files, and what it may be filled with: one of the ``draws``."""

    arrow: pa.DataType
    draws: tuple[Values, ...]


def _whole(bits: int, arrow: pa.DataType) -> Kind:
    low, high = -(2 ** (bits - 1)), 2 ** (bits - 1) - 1
    some = (0, 1, -1, 3, 5, 7)
    return Kind(arrow, (some, (*some, low, high), (low, low + 1), (high, high - 1, 0), (5,)))


def _day(year: int, month: int = 1, day: int = 1) -> dt.datetime:
    return dt.datetime(year, month, day, tzinfo=UTC)


KINDS: Mapping[str, Kind] = {
    "tinyint": _whole(8, pa.int8()),
    "smallint": _whole(16, pa.int16()),
    "int": _whole(32, pa.int32()),
    "bigint": _whole(64, pa.int64()),
    "double": Kind(
        pa.float64(),
        (
            (-0.0,),
            (-0.0,),
            (0.0, -0.0),
            (NAN, 1.0, 1.5),
            (NAN, 3.0, 3.0, 3.0),
            (NAN, 0.0),
            (0.0, 1.5, 2.5, 3.0, NAN, -0.0),
            (math.inf, -math.inf, NAN, 0.0),
            (1.0, 1.5, 2.5, 3.0),
            (5e-324, 1.7976931348623157e308, -0.0),
        ),
    ),
    "date": Kind(
        pa.date32(),
        (
            (dt.date(1582, 10, 4), dt.date(1582, 10, 15), dt.date(1500, 2, 28)),
            (dt.date(9999, 12, 31), dt.date(1, 1, 1), dt.date(2024, 2, 29)),
            (dt.date(2024, 1, 1), dt.date(2024, 2, 29), dt.date(1969, 12, 31)),
        ),
    ),
    "timestamp": Kind(
        pa.timestamp("us", tz="UTC"),
        (
            (_day(1883), _day(1899, 12, 31), _day(1900)),
            (_day(1700), _day(2200), _day(2024, 2, 29)),
            (_day(2024), _day(2024, 2, 29) + dt.timedelta(microseconds=1), _day(1970)),
        ),
    ),
    "decimal(10,2)": Kind(
        pa.decimal128(10, 2),
        (
            (Decimal("0.00"), Decimal("1.50"), Decimal("3.00")),
            (Decimal("99999999.99"), Decimal("-99999999.99"), Decimal("0.01")),
        ),
    ),
    "string": Kind(pa.string(), (("a", "b", "ab"), ("", "a", " a"), ("\U0001f600", "é", "z"))),
}

COLUMNS = {
    "x": "double",
    "y": "double",
    "t": "tinyint",
    "h": "smallint",
    "i": "int",
    "n": "bigint",
    "d": "date",
    "ts": "timestamp",
    "p": "decimal(10,2)",
    "s": "string",
}
"""The columns of a table by name, besides ``id`` and the key ``k``."""

STRETCH = 4
"""Rows of a larger row group; a smaller one has one."""

SCHEMA = ", ".join(("id int", "k int", *(f"{n} {t}" for n, t in COLUMNS.items())))


def rows(random: Random) -> list[Row]:
    """Rows of which each stretch is filled alike, and some rows twice."""
    count = random.choice((8, 12, 24))
    data: list[Row] = [{"id": i, "k": random.choice((0, 1, 1, 2, None))} for i in range(count)]
    for name, kind in COLUMNS.items():
        draws, missing = KINDS[kind].draws, random.choice((0.0, 0.0, 0.2))
        values: Values = random.choice(draws)
        for at in range(0, count, STRETCH):
            values = random.choice(draws) if random.random() < 0.5 else values
            for row in data[at : at + STRETCH]:
                row[name] = None if random.random() < missing else random.choice(values)
    return [*data, *random.sample(data, 2)]


def write(spark: SparkSession, data: Sequence[Row], folder: Path, random: Random) -> DataFrame:
    """The rows in files of either writer, or of both, now and then with one that holds no row."""
    group = random.choice((1, STRETCH, STRETCH))
    half = random.choice((0, STRETCH, len(data)))
    if half:
        _by_spark(spark, data[:half], folder, group)
    folder.mkdir(exist_ok=True)
    if half < len(data):
        table = random.choice((_table, _table, _wide, _legacy))(data[half:])
        pq.write_table(table, folder / "pyarrow.parquet", row_group_size=group)
    if random.random() < 0.3:
        pq.write_table(_table([]), folder / "empty.parquet")
    return spark.read.schema(SCHEMA).parquet(str(folder))


def _by_spark(spark: SparkSession, data: Sequence[Row], folder: Path, group: int) -> None:
    frame = spark.createDataFrame([tuple(row.values()) for row in data], SCHEMA)
    sizes = {"parquet.block.row.count.limit": str(group), "parquet.block.size": "64"}
    frame.repartitionByRange(2, "id").sortWithinPartitions("id").write.options(**sizes).parquet(
        str(folder)
    )


def _table(data: Sequence[Row]) -> pa.Table:
    kinds = {"id": pa.int32(), "k": pa.int32(), **{n: KINDS[t].arrow for n, t in COLUMNS.items()}}
    return pa.table({n: pa.array([row[n] for row in data], t) for n, t in kinds.items()})


def _wide(data: Sequence[Row]) -> pa.Table:
    """Columns of 8 and 16 bits stored in 32, of which Spark reads the lower ones."""
    table = _table(data)
    for name, bits in (("t", 8), ("h", 16)):
        more = [None if row[name] is None else row[name] + 2**bits for row in data]
        column = pa.array(more, pa.int32())
        table = table.set_column(table.schema.get_field_index(name), name, column)
    return table


def _legacy(data: Sequence[Row]) -> pa.Table:
    """As an old Spark would have left it: its days before 1582 are of another calendar."""
    marks = {"org.apache.spark.version": "2.4.6", "org.apache.spark.legacyDateTime": ""}
    return _table(data).replace_schema_metadata(marks)
