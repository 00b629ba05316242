# SPDX-License-Identifier: Apache-2.0
"""Trusted. The values that terms denote, and how to show them to people.

A value of ``Bool`` is a bool, of ``Int`` an int, of ``Float`` a float, of ``String`` a str, of
``Binary`` a str of characters below 256, of ``Date`` an int (days), of ``Timestamp`` and
``TimestampNTZ`` an int (microseconds), of ``Decimal`` an int (units of its last digit), of a
``Sequence`` a tuple of floats, of a tuple a tuple; none is ``None``. An array is the tuple of its
elements, a map or a struct the tuple of its keys or names with their values.
"""

from __future__ import annotations

import datetime as dt
import decimal
from collections.abc import Mapping
from typing import Any, TypeAlias

from presieve.ir.sorts import (
    BINARY,
    BOOL,
    COMPOSITES,
    DATE,
    FLOAT,
    INT,
    OPAQUE,
    SEQUENCE,
    STRING,
    TIMESTAMP,
    TIMESTAMP_NTZ,
    ArrayOf,
    Decimal,
    MapOf,
    Option,
    Sort,
    StructOf,
    Tuple,
)
from presieve.ir.terms import float_bits

Value: TypeAlias = "bool | int | float | str | None | tuple[Value, ...]"

CLASS_OF: Mapping[Sort | None, type] = {
    BOOL: bool,
    INT: int,
    FLOAT: float,
    STRING: str,
    DATE: dt.date,
    TIMESTAMP_NTZ: dt.datetime,
}
"""The Python class of a column's values, by its sort."""

CLASS_IN_UDFS: Mapping[Sort | None, type] = {**CLASS_OF, TIMESTAMP: dt.datetime}
"""The same with that of instants, which a UDF gets as the time that a clock shows."""

_EPOCH_DAY = dt.date(1970, 1, 1)
_EPOCH = dt.datetime(1970, 1, 1, tzinfo=dt.UTC)
_MICROSECOND = dt.timedelta(microseconds=1)

EXACT_INT_BOUND = 2**53
"""Doubles hold every integer of a smaller magnitude, and round no other integer to one. Rounding is
monotone, so a comparison with one of these gives the same before and after it.
"""

INT_RANGES: dict[str, tuple[int, int]] = {
    "tinyint": (-(2**7), 2**7 - 1),
    "smallint": (-(2**15), 2**15 - 1),
    "int": (-(2**31), 2**31 - 1),
    "bigint": (-(2**63), 2**63 - 1),
}
"""The integers that a Spark column of each type holds."""

INTEGERS = tuple(INT_RANGES)
"""Spark's integer types; each fits into those after it."""

MOST_ROWS = 2**47
"""More rows than a group passed to a function can have: one 64-bit process holds the group."""


def same(a: Value, b: Value) -> bool:
    """Whether two values are identical: NaN is NaN, -0.0 is not 0.0, True is not 1."""
    if isinstance(a, tuple) and isinstance(b, tuple):
        return len(a) == len(b) and all(same(x, y) for x, y in zip(a, b, strict=True))
    if isinstance(a, float) and isinstance(b, float):
        if a != b:
            return a != a and b != b
        return a != 0 or float_bits(a) == float_bits(b)
    return type(a) is type(b) and a == b


def belongs(value: Value, sort: Sort) -> bool:
    """Whether the value has this sort."""
    match sort:
        case Option(of):
            return value is None or belongs(value, of)
        case Tuple(of):
            return (
                isinstance(value, tuple)
                and len(value) == len(of)
                and all(belongs(v, s) for v, s in zip(value, of, strict=True))
            )
    if isinstance(sort, COMPOSITES):
        return isinstance(value, tuple)
    if sort == BOOL:
        return isinstance(value, bool)
    if sort == FLOAT:
        return isinstance(value, float)
    if sort == SEQUENCE:
        return isinstance(value, tuple) and all(isinstance(x, float) for x in value)
    if sort == STRING:
        return isinstance(value, str)
    if sort == BINARY:
        return isinstance(value, str) and all(ord(c) < 256 for c in value)
    is_integer = isinstance(value, int) and not isinstance(value, bool)
    counts = sort in (INT, DATE, TIMESTAMP, TIMESTAMP_NTZ) or isinstance(sort, Decimal)
    return is_integer and counts


def date_of(days: int) -> dt.date:
    """The calendar date of a ``Date`` value. OverflowError outside years 1 to 9999."""
    return _EPOCH_DAY + dt.timedelta(days=days)


def bytes_of(text: str) -> bytes:
    """The bytes of a ``Binary`` value."""
    return text.encode("latin-1")


def text_of(value: bytes) -> str:
    """The ``Binary`` value of bytes."""
    return value.decode("latin-1")


def days_of(date: dt.date) -> int:
    """The ``Date`` value of a calendar date."""
    return (date - _EPOCH_DAY).days


def instant_of(microseconds: int) -> dt.datetime:
    """The aware UTC datetime of a ``Timestamp`` value. OverflowError outside years 1 to 9999."""
    return _EPOCH + dt.timedelta(microseconds=microseconds)


def microseconds_of(instant: dt.datetime) -> int:
    """The ``Timestamp`` value of a datetime; a naive one is read as UTC."""
    aware = instant if instant.tzinfo else instant.replace(tzinfo=dt.UTC)
    return (aware - _EPOCH) // _MICROSECOND


def decimal_of(units: int, scale: int) -> decimal.Decimal:
    """The decimal of a ``Decimal(scale)`` value, exactly, whatever the context's precision."""
    sign, digits = int(units < 0), tuple(map(int, str(abs(units))))
    return decimal.Decimal((sign, digits, -scale))


def units_of(number: decimal.Decimal | int, scale: int) -> int | None:
    """The ``Decimal(scale)`` value of a finite number; None if the number has more digits."""
    numerator, denominator = number.as_integer_ratio()
    units, remainder = divmod(numerator * 10**scale, denominator)
    return None if remainder else units


def to_python(value: Value, sort: Sort) -> object:
    """Convert a value for display: dates to ``date``, timestamps to naive ``datetime`` (in UTC),
    binaries to ``bytes``, decimals to ``decimal.Decimal``.

    Values outside Python's calendar stay ints.
    """
    base = sort.of if isinstance(sort, Option) else sort
    if isinstance(base, Decimal) and isinstance(value, int):
        return decimal_of(value, base.scale)
    try:
        if base == DATE and isinstance(value, int):
            return date_of(value)
        if base == BINARY and isinstance(value, str):
            return bytes_of(value)
        if base in (TIMESTAMP, TIMESTAMP_NTZ) and isinstance(value, int):
            return instant_of(value).replace(tzinfo=None)
    except OverflowError:
        return value
    return value


def from_python(value: object, sort: Sort) -> Value:
    """Inverse of :func:`to_python`. Raises TypeError if the value is not of the sort."""
    base = sort.of if isinstance(sort, Option) else sort
    result: object = value
    if base == DATE and isinstance(value, dt.date) and not isinstance(value, dt.datetime):
        result = days_of(value)
    elif base == BINARY and isinstance(value, bytes):
        result = text_of(value)
    elif base in (TIMESTAMP, TIMESTAMP_NTZ) and isinstance(value, dt.datetime):
        result = microseconds_of(value)
    elif isinstance(base, Decimal) and isinstance(value, decimal.Decimal) and value.is_finite():
        result = units_of(value, base.scale)
        if result is None:
            raise TypeError(f"{value!r} is no value of sort {sort}")
    elif isinstance(base, COMPOSITES):
        result = _parts_of(value, base)
    elif base == FLOAT and isinstance(value, int) and not isinstance(value, bool):
        result = float(value)
    if not belongs(result, sort):  # type: ignore[arg-type]
        raise TypeError(f"{value!r} is no value of sort {sort}")
    return result  # type: ignore[return-value]


def _parts_of(value: object, sort: Sort) -> object:
    """Convert a list, a dict or a row: elements in order, or pairs of a key and a value."""

    def part(x: object, of: Sort) -> object:
        return None if x is None or of == OPAQUE else from_python(x, of)

    match sort, value:
        case ArrayOf(of), list():
            return tuple(part(x, of) for x in value)
        case MapOf(keys, of), dict():
            return tuple((part(k, keys), part(v, of)) for k, v in value.items())
        case StructOf(names, of), tuple():
            return tuple((n, part(x, s)) for n, x, s in zip(names, value, of, strict=True))
    return value


def plain(value: object) -> Any:
    """Convert a value to JSON's types for display: NaN, infinities, dates and such become text."""
    match value:
        case dict():
            return {k: plain(v) for k, v in value.items()}
        case list():
            return [plain(v) for v in value]
        case float() if value != value or value in (float("inf"), float("-inf")):
            return str(value)
        case bool() | int() | float() | str() | None:
            return value
    return str(value)
