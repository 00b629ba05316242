"""Trusted. Operands of SQL expressions: terms, literals that have not met their partner, and casts
whose meaning depends on the partner.
"""

from __future__ import annotations

import decimal
from dataclasses import dataclass
from typing import TypeAlias

from presieve.errors import DeclineSignal
from presieve.ir.sorts import (
    BINARY,
    BOOL,
    DATE,
    FLOAT,
    INT,
    STRING,
    TIMESTAMP,
    TIMESTAMP_NTZ,
    Decimal,
    Sort,
    strip,
)
from presieve.ir.terms import Term
from presieve.sql.choice import CaseValue

Scalar: TypeAlias = bool | int | float | str | decimal.Decimal | None


@dataclass(frozen=True, slots=True)
class Constant:
    """A literal that has not met its partner yet.

    ``kind`` is ``int`` (of any width), ``decimal``, ``double``, ``string``, ``binary``,
    ``boolean``, ``date``, ``timestamp``, ``timestamp_ntz`` or ``void`` (NULL). ``whole``: digits
    before the point that the type of a decimal has, or Spark takes an integer of the type to have,
    besides those of the value.
    """

    kind: str
    value: Scalar
    whole: int = 0


@dataclass(frozen=True, slots=True)
class AsInstant:
    """A timestamp_ntz expression that Spark casts to timestamp, in the session's time zone."""

    term: Term


@dataclass(frozen=True, slots=True)
class AsDecimal:
    """An integer expression that Spark casts to a decimal of so many digits, none of them after the
    point, or that is computed of such. No value has more digits, so that nothing is lost.
    """

    term: Term
    digits: int


@dataclass(frozen=True, slots=True)
class AsText:
    """A double that Spark casts to a string, of which it is only known when that is '-0.0'."""

    term: Term


NEGATIVE_ZERO = "-0.0"
"""What Spark shows one double as."""

Operand: TypeAlias = Term | CaseValue | Constant | AsDecimal | AsInstant | AsText

NULL = Constant("void", None)
KIND_SORTS: dict[str, Sort] = {
    "int": INT,
    "double": FLOAT,
    "string": STRING,
    "binary": BINARY,
    "boolean": BOOL,
    "date": DATE,
    "timestamp": TIMESTAMP,
    "timestamp_ntz": TIMESTAMP_NTZ,
}

TYPE_NAMES: dict[Sort, str] = {
    INT: "bigint",
    **{sort: kind for kind, sort in KIND_SORTS.items() if sort != INT},
}
"""The Spark type that values of a sort have where nothing else says."""


def sort_name(sort: Sort) -> str:
    """What a person calls the sort."""
    base = strip(sort)
    if isinstance(base, Decimal):
        return f"a decimal with {base.scale} digits after the point"
    names = {INT: "an integer", FLOAT: "a double", STRING: "a string", BOOL: "a boolean"}
    times = {DATE: "a date", TIMESTAMP: "a timestamp", TIMESTAMP_NTZ: "a timestamp_ntz"}
    return {**names, **times, BINARY: "a binary"}.get(base, "a tuple")


def describe(constant: Constant) -> str:
    """The constant in a message."""
    value = constant.value
    if constant.kind == "void":
        return "NULL"
    text = repr(value) if isinstance(value, str) else str(value)
    return f"the {constant.kind} literal {text}"


def mismatch(constant: Constant, sort: Sort) -> DeclineSignal:
    """Of a literal beside values of a sort that it has no exact place among."""
    return DeclineSignal(
        "sql-types",
        f"{sort_name(sort)} meets {describe(constant)}, which cannot be compared exactly; "
        "write a literal of the column's own type",
    )
