# SPDX-License-Identifier: Apache-2.0
"""Trusted. Literals of Spark SQL, and casts of literals.

Sources: ``visitNumericLiteral`` and ``visitTypeConstructor`` in Spark 4.3's ``AstBuilder``,
``Cast``.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from decimal import Decimal

from presieve.errors import DeclineSignal
from presieve.ir.sorts import BINARY, BOOL, DATE, FLOAT, INT, STRING, TIMESTAMP, TIMESTAMP_NTZ, Sort
from presieve.ir.terms import none_lit
from presieve.semantics.types import MAX_DIGITS, bounds, decimal_type, sort_of
from presieve.semantics.values import INT_RANGES, decimal_of, text_of, units_of
from presieve.sql.coerce import utf8
from presieve.sql.operands import Constant, Operand, describe
from presieve.sql.temporal import (
    instant_of_wall,
    midnight,
    midnight_ntz,
    parse_date,
    parse_timestamp,
    parse_timestamp_ntz,
)

_NUMBER = re.compile(r"(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?(BD|[LSYFD])?", re.IGNORECASE | re.ASCII)
_SUFFIXES = {"Y": "tinyint", "S": "smallint", "L": "bigint"}


def number(text: str, *, negative: bool) -> Constant:
    """Read a number as Spark does: ``5`` and ``5L`` are integers, ``5.0`` is a decimal, ``5e0`` is
    a double.

    Raises :class:`DeclineSignal` for floats of 32 bits and for texts that Spark rejects.
    """
    match = _NUMBER.fullmatch(text)
    if not match:
        raise DeclineSignal("sql-syntax", f"{text!r} is not a number")
    digits, exponent, suffix = match[1], match[2] or "", (match[3] or "").upper()
    sign = "-" if negative else ""
    is_integer = digits.isdigit() and not exponent
    if suffix == "F":
        raise DeclineSignal("sql-unsupported", f"{text} is a 32-bit float; write a double: 1.0D")
    if suffix == "D" or (exponent and not suffix):
        return Constant("double", _double(sign + digits + exponent, text))
    if suffix in _SUFFIXES:
        low, high = INT_RANGES[_SUFFIXES[suffix]]
        if not is_integer or not low <= int(sign + digits) <= high:
            raise DeclineSignal("sql-literal", f"{sign}{text} is not a {_SUFFIXES[suffix]}")
        return Constant("int", int(sign + digits))
    if len(digits.replace(".", "").lstrip("0")) > MAX_DIGITS or exponent:
        raise DeclineSignal("sql-literal", f"{text} has too many digits")
    if is_integer and not suffix:
        return Constant("int", int(sign + digits))
    return Constant("decimal", decimal(sign + digits))


def decimal(text: str) -> Decimal:
    """A decimal with all digits of the text, not rounded to 28, and without -0.0, as in Spark."""
    value = Decimal(text)
    return value if value else value.copy_abs()


def _double(digits: str, text: str) -> float:
    value = float(digits)
    if value in (float("inf"), float("-inf")):
        raise DeclineSignal("sql-literal", f"{text} is out of the range of doubles")
    return value


def _date(text: str, timezone: str) -> Constant:
    return Constant("date", parse_date(text))


def _timestamp(text: str, timezone: str) -> Constant:
    return Constant("timestamp", parse_timestamp(text, timezone))


def _timestamp_ntz(text: str, timezone: str) -> Constant:
    return Constant("timestamp_ntz", parse_timestamp_ntz(text))


def _binary(text: str) -> Constant:
    """The bytes that pairs of hexadecimal digits denote."""
    if not re.fullmatch(r"(?:[0-9a-fA-F]{2})*", text):
        raise DeclineSignal("sql-literal", f"a binary must look like X'00FF', not X{text!r}")
    return Constant("binary", text_of(bytes.fromhex(text)))


def _unhex(operand: Operand) -> Operand:
    match operand:
        case Constant("string", str() as text):
            return _binary(text)
    raise DeclineSignal("sql-unsupported", "unhex(...) is supported for literals only")


def _decline_literal(what: str) -> Callable[[str, str], Constant]:
    def decline(text: str, timezone: str) -> Constant:
        raise DeclineSignal("sql-unsupported", f"{what} {text!r} is not supported")

    return decline


TYPED: dict[str, Callable[[str, str], Constant]] = {
    "DATE": _date,
    "TIMESTAMP": _timestamp,
    "TIMESTAMP_LTZ": _timestamp,
    "TIMESTAMP_NTZ": _timestamp_ntz,
    "INTERVAL": _decline_literal("INTERVAL"),
    "TIME": _decline_literal("TIME"),
    "X": lambda text, timezone: _binary(text),
}
"""The literal that a keyword before a string makes."""


def _integer_argument(operand: Operand, type_: str) -> int:
    low, high = INT_RANGES[type_]
    match operand:
        case Constant("int", int() as value) if low <= value <= high:
            return value
    raise DeclineSignal("sql-unsupported", f"only a literal {type_} is supported here")


def _double_function(operand: Operand) -> Operand:
    if not isinstance(operand, Constant):
        raise DeclineSignal("sql-unsupported", "double(...) is supported for literals only")
    return cast(operand, "double", "UTC")


FUNCTIONS: dict[str, Callable[[Operand], Operand]] = {
    "double": _double_function,
    "unhex": _unhex,
    "date_from_unix_date": lambda x: Constant("date", _integer_argument(x, "int")),
    "timestamp_micros": lambda x: Constant("timestamp", _integer_argument(x, "bigint")),
}
"""Functions of a literal that name values that have no literal."""

TYPES: dict[str, Sort] = {
    "boolean": BOOL,
    "bigint": INT,
    "long": INT,
    "int": INT,
    "integer": INT,
    "smallint": INT,
    "tinyint": INT,
    "double": FLOAT,
    "string": STRING,
    "binary": BINARY,
    "date": DATE,
    "timestamp": TIMESTAMP,
    "timestamp_ntz": TIMESTAMP_NTZ,
}
_DOUBLES = {"nan": "nan", "infinity": "inf", "-infinity": "-inf"}
_PLAIN = re.compile(r"[+-]?\d+(\.\d+)?([eE][+-]?\d+)?", re.ASCII)
_WIDTHS = {
    "long": "bigint",
    "bigint": "bigint",
    "int": "int",
    "integer": "int",
    "smallint": "smallint",
    "tinyint": "tinyint",
}
_DIGITS = {"tinyint": 3, "smallint": 5, "int": 10, "bigint": 20}
"""The digits of the decimal type that Spark gives an integer type, if not of a literal."""


def cast(constant: Constant, type_: str, timezone: str) -> Operand:
    """``CAST(constant AS type)`` if it can neither fail nor lose anything.

    ``type_`` is a name in lower case, of SQL or of Spark's JSON. A NULL becomes a term, because it
    now has a type. Raises :class:`DeclineSignal`.
    """
    sort = TYPES.get(type_) or sort_of(type_)
    match constant.kind, constant.value:
        case "void", _ if sort is not None:
            return none_lit(sort)
        case (("int" | "decimal" | "double"), (int() | float() | Decimal()) as value) if (
            sort == FLOAT
        ):
            return Constant("double", float(value))
        case "int" | "decimal", (int() | Decimal()) as value if decimal_type(type_):
            return _cast_decimal(constant, value, type_)
        case "int", int() as value if sort == INT:
            low, high = INT_RANGES[_WIDTHS[type_]]
            if low <= value <= high:
                return Constant("int", value, _DIGITS[_WIDTHS[type_]])
        case "string", str() as text if sort in (
            FLOAT,
            INT,
            DATE,
            TIMESTAMP,
            TIMESTAMP_NTZ,
            STRING,
            BINARY,
        ):
            return _cast_string(text, type_, timezone)
        case "date", int() as days if sort == TIMESTAMP:
            return Constant("timestamp", midnight(days, timezone))
        case "date", int() as days if sort == TIMESTAMP_NTZ:
            return Constant("timestamp_ntz", midnight_ntz(days))
        case "timestamp_ntz", int() as shown_ if sort == TIMESTAMP:
            return Constant("timestamp", instant_of_wall(shown_, timezone))
        case kind, _ if sort is not None and TYPES.get(kind) == sort:
            return constant
    raise DeclineSignal(
        "sql-unsupported", f"CAST of {describe(constant)} to {type_} is not supported"
    )


def _cast_decimal(constant: Constant, value: int | Decimal, type_: str) -> Constant:
    """A number with all the digits of the type, if those are enough."""
    digits, limits = decimal_type(type_), bounds(type_)
    assert digits is not None
    assert limits is not None
    precision, scale = digits
    units = units_of(value, scale)
    if units is None or not limits[0] <= units <= limits[1]:
        raise DeclineSignal("sql-unsupported", f"{describe(constant)} is not a {type_}")
    return Constant("decimal", decimal_of(units, scale), precision - scale)


def _cast_string(text: str, type_: str, timezone: str) -> Constant:
    sort = TYPES[type_]
    if sort == STRING:
        return Constant("string", text)
    if sort == BINARY:
        return Constant("binary", utf8(text))
    if sort == DATE:
        return _date(text, timezone)
    if sort == TIMESTAMP:
        return _timestamp(text, timezone)
    if sort == TIMESTAMP_NTZ:
        return _timestamp_ntz(text, timezone)
    if sort == FLOAT and text.lower() in _DOUBLES:
        return Constant("double", float(_DOUBLES[text.lower()]))
    if sort == FLOAT and _PLAIN.fullmatch(text):
        return Constant("double", float(text))
    low, high = INT_RANGES["bigint" if sort == FLOAT else _WIDTHS[type_]]
    if sort == INT and re.fullmatch(r"-?\d{1,18}", text, re.ASCII) and low <= int(text) <= high:
        return Constant("int", int(text), _DIGITS[_WIDTHS[type_]])
    raise DeclineSignal("sql-unsupported", f"CAST of {text!r} to {type_} is not supported")
