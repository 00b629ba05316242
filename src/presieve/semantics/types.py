"""Trusted. Which Spark types the IR speaks of, and as which sorts.

A type that is not here is declined where it is met: decimals, floats of 32 bits, CHAR and
VARCHAR (padding), collated strings, arrays, maps and structs.
"""

from __future__ import annotations

from dataclasses import dataclass

from presieve.ir.fold import Column
from presieve.ir.sorts import (
    BINARY,
    BOOL,
    DATE,
    FLOAT,
    INT,
    STRING,
    TIMESTAMP,
    TIMESTAMP_NTZ,
    Option,
    Sort,
)

SORTS: dict[str, Sort] = {
    "boolean": BOOL,
    "tinyint": INT,
    "smallint": INT,
    "int": INT,
    "bigint": INT,
    "double": FLOAT,
    "string": STRING,
    "binary": BINARY,
    "date": DATE,
    "timestamp": TIMESTAMP,
    "timestamp_ntz": TIMESTAMP_NTZ,
}
"""From Spark's ``DataType.simpleString`` to the sort of its non-null values."""


def column(name: str, type_: str, nullable: bool) -> Column | None:
    """A column of the IR, or None where its type is not supported."""
    sort = SORTS.get(type_)
    if sort is None:
        return None
    return Column(name, Option(sort) if nullable else sort, type_)


@dataclass(frozen=True, slots=True)
class SchemaColumn:
    """A column of a schema as declared, of whatever type: ``type`` is Spark's simple name."""

    name: str
    type: str
    nullable: bool = True
