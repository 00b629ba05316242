# SPDX-License-Identifier: Apache-2.0
"""Trusted. Operands of SQL expressions: terms, literals whose type depends on a partner, and casts
whose meaning depends on a partner.
"""

from __future__ import annotations

import decimal
from operator import add, mul
from typing import TypeAlias

from msgspec import Struct

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
from presieve.ir.terms import Op, Term
from presieve.semantics.types import MAX_DIGITS
from presieve.semantics.values import INT_RANGES
from presieve.sql.case_values import CaseValue

Scalar: TypeAlias = bool | int | float | str | decimal.Decimal | None


class Constant(Struct, frozen=True):
    """A literal whose type its partner will decide.

    ``kind`` is ``int`` (of any width), ``decimal``, ``double``, ``string``, ``binary``,
    ``boolean``, ``date``, ``timestamp``, ``timestamp_ntz`` or ``void`` (NULL). ``whole``: the
    number of digits before the point that the type has, if that is more than the value's: for a
    decimal its own type, for an integer the decimal type that Spark gives it.
    """

    kind: str
    value: Scalar
    whole: int = 0


class AsInstant(Struct, frozen=True):
    """A timestamp_ntz expression that Spark casts to timestamp, in the session's time zone."""

    term: Term


class Width(Struct, frozen=True):
    """The digits of a decimal type without digits after the point, and a bound of the absolute
    values that an expression of this type has.
    """

    digits: int
    most: int

    def combine(self, op: Op, other: Width) -> Width | None:
        """The width of a sum, difference or product (``op``, of integers); None if some values
        may have more digits than any type.
        """
        product = op is Op.SQL_INT_MUL
        digits = 1 + (add if product else max)(self.digits, other.digits)
        most = (mul if product else add)(self.most, other.most)
        return Width(min(digits, MAX_DIGITS), most) if most < 10**MAX_DIGITS else None

    @classmethod
    def of_integer(cls, type_: str, digits: int) -> Width:
        """The width of an integer of a type that is cast to a decimal of so many digits."""
        return cls(digits, -INT_RANGES[type_][0])

    @classmethod
    def of_any(cls, digits: int) -> Width:
        """The width of any value of a decimal type."""
        return cls(digits, 10**digits - 1)


class AsDecimal(Struct, frozen=True):
    """An integer expression that Spark casts to a decimal of this width, or that is computed from
    such expressions. No value has more digits, so nothing is lost.
    """

    term: Term
    width: Width


class AsText(Struct, frozen=True):
    """A double that Spark casts to a string. Only one such string is known: '-0.0'."""

    term: Term


NEGATIVE_ZERO = "-0.0"
"""The string that Spark shows for one double."""

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
"""The default Spark type of values of a sort."""


def sort_name(sort: Sort) -> str:
    """The readable name of the sort."""
    base = strip(sort)
    if isinstance(base, Decimal):
        return f"a decimal with {base.scale} digits after the point"
    names: dict[Sort, str] = {
        INT: "an integer",
        FLOAT: "a double",
        STRING: "a string",
        BOOL: "a boolean",
        BINARY: "a binary",
        DATE: "a date",
        TIMESTAMP: "a timestamp",
        TIMESTAMP_NTZ: "a timestamp_ntz",
    }
    return names.get(base, "a tuple")


def describe(constant: Constant) -> str:
    """Describe the constant for a message."""
    value = constant.value
    if constant.kind == "void":
        return "NULL"
    text = repr(value) if isinstance(value, str) else str(value)
    return f"the {constant.kind} literal {text}"


def mismatch(constant: Constant, sort: Sort) -> DeclineSignal:
    """The signal for a literal that has no exact place among the values of a sort."""
    return DeclineSignal(
        "sql-types",
        f"{sort_name(sort)} meets {describe(constant)}, which cannot be compared exactly; "
        "write a literal of the column's own type",
    )
