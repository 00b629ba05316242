# SPDX-License-Identifier: Apache-2.0
"""Trusted. The Spark types that the IR supports, and their sorts.

A type that is not here is declined where it occurs: floats of 32 bits, CHAR and VARCHAR (padding),
collated strings, arrays, maps and structs.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from msgspec import Struct

from presieve.ir.fold import Column
from presieve.ir.sorts import (
    BINARY,
    BOOL,
    COMPOSITES,
    DATE,
    FLOAT,
    INT,
    OPAQUE,
    STRING,
    TIMESTAMP,
    TIMESTAMP_NTZ,
    ArrayOf,
    Decimal,
    MapOf,
    Option,
    Sort,
    StructOf,
)
from presieve.semantics.values import INT_RANGES

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
"""From ``DataType.simpleString`` to the sort of its non-null values; decimals are apart."""

UNSUPPORTED = "unsupported:"
"""Prefix of the name of a type that has no short name here, as a backend reads it."""

MAX_DIGITS = 38
"""The largest precision of a decimal in Spark."""

_DECIMAL = re.compile(r"decimal\((\d{1,2}),(\d{1,2})\)", re.ASCII)


def decimal_type(type_: str) -> tuple[int, int] | None:
    """Precision and scale of ``decimal(p,s)``; None for every other type, and for decimals that
    Spark does not have (scales below 0 need a legacy setting).
    """
    match = _DECIMAL.fullmatch(type_)
    if not match:
        return None
    precision, scale = int(match[1]), int(match[2])
    return (precision, scale) if max(scale, 1) <= precision <= MAX_DIGITS else None


KEY_TYPES = (
    *("boolean", "tinyint", "smallint", "int", "bigint", "string", "binary", "date"),
    *("timestamp", "timestamp_ntz"),
)
"""Types on which grouping is equality, besides decimals. Doubles are not among them: Spark puts 0.0
and -0.0 into one group and shows either of them. To a proof, a grouping column of another type is
like any other column: nothing is assumed about its values in a group.
"""


def is_key_type(type_: str) -> bool:
    """Whether grouping by columns of the type is equality."""
    return type_ in KEY_TYPES or decimal_type(type_) is not None


def sort_of(type_: str) -> Sort | None:
    """The sort of a type's non-null values, or None if the type is not supported."""
    digits = decimal_type(type_)
    return SORTS.get(type_) if digits is None else Decimal(digits[1])


_ELEMENTS = ("boolean", "int", "bigint", "double", "string", "date")
"""The types of elements whose values are known; a scan may treat those of other types otherwise."""
_INSIDE = re.compile(r"(array|map|struct)<(.*)>", re.DOTALL)


def row_sort_of(type_: str) -> Sort | None:
    """The sort of a type's non-null values where they are those of a single row: arrays, maps and
    structs have one there, too. None if the type is not supported.
    """
    parts = parts_of(type_)
    if parts is None:
        return sort_of(type_)
    kind, names, sorts = parts[0], (*parts[1],), tuple(map(_element_sort, parts[1].values()))
    if kind == "struct":
        plain = all(re.fullmatch(r"[A-Za-z]\w*", n, re.ASCII) for n in names)
        return StructOf(names, sorts) if plain else None
    if kind == "array":
        return ArrayOf(*sorts) if len(sorts) == 1 else None
    return MapOf(*sorts) if len(sorts) == 2 else None


def parts_of(type_: str) -> tuple[str, dict[str, str]] | None:
    """The kind of an array, a map or a struct, and the types of its parts: of fields by name, of
    others by number. None for other types, and for a struct that has a name twice.
    """
    inside = _INSIDE.fullmatch(type_.removeprefix(UNSUPPORTED))
    if inside is None:
        return None
    kind, texts = inside[1], _split_types(inside[2])
    if kind != "struct":
        return kind, {str(i): text for i, text in enumerate(texts)}
    fields = {name: text for name, _, text in (t.partition(":") for t in texts)}
    return (kind, fields) if len(fields) == len(texts) else None


def _element_sort(type_: str) -> Sort:
    if type_ in _ELEMENTS:
        return SORTS[type_]
    sort = row_sort_of(type_)
    return sort if isinstance(sort, COMPOSITES) else OPAQUE


def _split_types(text: str) -> list[str]:
    """Split a list of types at the commas that are not inside of one of them."""
    parts, depth = [""], 0
    for c in text:
        depth += {"<": 1, "(": 1, ">": -1, ")": -1}.get(c, 0)
        if c == "," and depth == 0:
            parts.append("")
        else:
            parts[-1] += c
    return parts


def bounds(type_: str) -> tuple[int, int] | None:
    """The least and the greatest value of a column whose values are integers bounded by its type
    (integers, units of decimals); None for every other type.
    """
    digits = decimal_type(type_)
    if digits is None:
        return INT_RANGES.get(type_)
    return 1 - 10 ** digits[0], 10 ** digits[0] - 1


def stored_bounds(type_: str) -> tuple[int, int] | None:
    """The least and the greatest value that a column of a file may hold, as an integer (days,
    microseconds); None for types without such bounds. Those of a decimal's type do not count,
    because nobody checks that a decimal in a Parquet file has no more digits.
    """
    return _STORED.get(type_) or INT_RANGES.get(type_)


_STORED = {
    "date": INT_RANGES["int"],
    **dict.fromkeys(("timestamp", "timestamp_ntz"), INT_RANGES["bigint"]),
}
"""The ranges in which Spark stores days and microseconds."""


def row_column(name: str, type_: str, nullable: bool) -> Column | None:
    """A column of the IR where each row is by itself, or None if its type is not supported."""
    sort = row_sort_of(type_)
    return None if sort is None else Column(name, Option(sort) if nullable else sort, type_)


def column(name: str, type_: str, nullable: bool) -> Column | None:
    """A column of the IR, or None if its type is not supported."""
    sort = sort_of(type_)
    if sort is None:
        return None
    return Column(name, Option(sort) if nullable else sort, type_)


class SchemaColumn(Struct, frozen=True):
    """A column of a schema as declared, of whatever type: ``type`` is Spark's simple name."""

    name: str
    type: str
    nullable: bool = True


def display_type(type_: str) -> str:
    """The type of an input column for a message, with advice if it is not supported."""
    return _display_type(type_, _ADVICE, "convert it below the function")


def display_result_type(type_: str) -> str:
    """The type of a function's result for a message, with advice if it is not supported."""
    return _display_type(type_, _RESULT_ADVICE, "return a value of another type")


def _display_type(type_: str, advice: Sequence[tuple[tuple[str, ...], str]], other: str) -> str:
    name = type_.removeprefix(UNSUPPORTED)
    if sort_of(type_) is not None:
        return name
    text = next((text for prefixes, text in advice if name.startswith(prefixes)), other)
    return f"{name}, which is not supported: {text}"


_ADVICE = (
    (("struct", "variant"), "select the fields that are needed as columns below the function"),
    (("array", "map"), "select what is needed of it as columns below the function"),
    (("char", "varchar"), "Spark pads or cuts such strings; cast it to string below the function"),
    (("string",), "cast it to string, which has no collation, below the function"),
    (("float",), "cast it to double below the function, where that is exact enough"),
)
_RESULT_ADVICE = (
    (("struct", "variant"), "return each field that a filter reads by a function of its own"),
    (("array", "map"), "return what a filter reads of it by a function of its own"),
    (("char", "varchar", "string"), "declare it as string"),
    (("float",), "declare it as double"),
)
