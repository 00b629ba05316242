# SPDX-License-Identifier: Apache-2.0
"""Trusted. Terms: variables, literals and applications of an operator.

Data only. A literal carries its sort, and a float literal is stored by its bits, so that
``NaN == NaN``, ``-0.0 != 0.0`` and ``True != 1`` when terms are compared.
"""

from __future__ import annotations

import math
import struct
from dataclasses import dataclass, field
from enum import Enum
from typing import TypeAlias

from presieve.ir.sorts import BOOL, FLOAT, INT, STRING, Option, Sort


class Scope(Enum):
    """Where a variable's value comes from."""

    __hash__ = object.__hash__  # there is one object of each; Enum's own is slow

    ROW = "row"  # a column of the input row, as Spark SQL sees it
    KEY = "key"  # a grouping column: one value for the whole group
    ACC = "acc"  # a field of the accumulator of the original run
    TWIN = "twin"  # the same field in the run over the pre-filtered rows
    OUT = "out"  # an output column, after coercion to its declared type


@dataclass(frozen=True, slots=True)
class Var:
    """A variable: unique by scope and name."""

    scope: Scope
    name: str
    sort: Sort


Scalar: TypeAlias = bool | int | str | None


@dataclass(frozen=True, slots=True)
class Lit:
    """A constant. ``value`` of a ``Float`` is the 64 bits as an unsigned int, of a ``Decimal`` the
    number of units of its last digit; None is none.
    """

    sort: Sort
    value: Scalar


@dataclass(frozen=True, slots=True)
class App:
    """An operator on arguments. Build it with :func:`presieve.ir.ops.app`: it computes ``sort``.

    The hash is stored, because it would walk the whole term each time.
    """

    op: Op
    args: tuple[Term, ...]
    sort: Sort
    _hash: int = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "_hash", hash((self.op, self.args, self.sort)))

    def __hash__(self) -> int:
        return self._hash

    def __reduce__(self) -> tuple[type[App], tuple[Op, tuple[Term, ...], Sort]]:
        return App, (self.op, self.args, self.sort)  # another process has other hashes


Term: TypeAlias = Var | Lit | App


class Op(Enum):
    """Every operator of the IR: one for each *meaning*, never one operator with a flag.

    ``PY_*`` mean what CPython does, ``SQL_*`` what Spark SQL does (three-valued where it can be
    NULL); the rest are plain mathematics. ``>`` and ``not <=`` stay different: they differ on NaN.
    """

    __hash__ = object.__hash__

    # two-valued logic and values
    NOT = "not"
    AND = "and"
    OR = "or"
    IMPLIES = "=>"
    ITE = "ite"
    SAME = "same"  # one and the same value: NaN is NaN, -0.0 is not 0.0, none is none
    # options and tuples
    SOME = "some"
    IS_NONE = "none?"
    GET = "get"  # the value of an option that is present; unspecified when it is none
    TUPLE = "tuple"
    ITEM = "item"
    # Python: comparison of two values of one sort
    PY_EQ = "py="
    PY_LT = "py<"
    PY_LE = "py<="
    PY_GT = "py>"
    PY_GE = "py>="
    # Python: integers (unbounded) and floats (IEEE 754)
    INT_ADD = "int+"
    INT_SUB = "int-"
    INT_MUL = "int*"
    INT_NEG = "int-neg"
    INT_FLOORDIV = "py//"
    INT_MOD = "py%"
    FLOAT_ADD = "float+"
    FLOAT_SUB = "float-"
    FLOAT_MUL = "float*"
    FLOAT_DIV = "float/"  # the divisor is not zero; lifting adds that Python raises there
    FLOAT_NEG = "float-neg"
    INT_TO_FLOAT = "int->float"
    IS_NAN = "nan?"
    OPEN_ZERO = "open-zero"  # the number; if the second holds, a zero may have either sign
    INSTANT = "instant"  # of a clock's time, this many microseconds ahead of UTC
    # decimals: the same number with k more digits after the point (k is a literal)
    DECIMAL_WIDEN = "decimal-widen"
    # sequences of doubles, and the results that pandas computes from one
    SEQ_EMPTY = "seq-empty"
    SEQ_ADD = "seq-add"  # one more number at the end
    SEQ_SUM = "seq-sum"
    SEQ_VAR = "seq-var"
    SEQ_STD = "seq-std"
    SEQ_MEDIAN = "seq-median"
    # functions of single values, strict in none; arguments in brackets are literals
    TEXT_DECODED = "decoded"  # the bytes of a text as a worker without Arrow sees them
    TEXT_UPPER = "upper"
    TEXT_LOWER = "lower"
    TEXT_STRIP = "strip"  # [characters] taken away at both ends
    TEXT_LSTRIP = "lstrip"
    TEXT_RSTRIP = "rstrip"
    TEXT_LENGTH = "length"  # in code points
    TEXT_HEAD = "head"  # text[:n], [n] positive
    TEXT_TAIL = "tail"  # text[n:], [n] positive
    TEXT_LAST = "last"  # text[-n:], [n] positive
    TEXT_CONTAINS = "contains"  # [part], not empty
    TEXT_ENDS = "ends-with"  # [end], not empty
    TEXT_FIND = "find"  # where the [part] begins, which is not empty; -1 where there is none
    TEXT_COUNT = "count"  # how often the [part], which is not empty, occurs without overlaps
    TEXT_REPLACE = "replace"  # [part], not empty, by [another]
    TEXT_TRANSLATE = "translate"  # [characters], different ones, by [others] one by one
    TEXT_PART = "part"  # the part between [separators] at [place], "" if there is none
    TEXT_MATCHES = "matches"  # whether the regular expression [pattern] with [flags] fits at 0
    TEXT_IS = "is"  # is of this [kind]: Python's method of that name, float() or int() accepts it
    TEXT_TO_FLOAT = "text->float"  # as float() reads a text that it accepts
    TEXT_TO_INT = "text->int"  # as int() does
    TEXT_CONCAT = "concat"
    TEXT_REVERSE = "reverse"  # the characters from the last to the first
    TEXT_ZFILL = "zfill"  # as Python fills it with zeros to [n] characters
    TEXT_WORDS = "words"  # what stands between white space, joined by a [text]
    TEXT_RECASED = "recased"  # by Python's method of this [name], such as title
    TEXT_RFIND = "rfind"  # where the [part] begins for the last time; -1 where there is none
    TEXT_SLICE = "slice"  # text[a:b] in Python
    TEXT_SUBSTITUTED = "re-sub"  # [pattern] with [flags] replaced by a [text]
    TEXT_FOUND = "re-count"  # how often a [pattern] with [flags] is found
    TEXT_GROUP = "re-group"  # of a match: [pattern], [flags], [method], [group], which takes part
    TEXT_OF_INT = "int->text"
    INT_QUOTIENT = "quotient"  # rounded down, by a positive [divisor]
    INT_RATIO = "ratio"  # by a positive [divisor], rounded once to a double
    INT_REMAINDER = "remainder"  # of that: from 0 on, below the divisor
    FLOAT_FLOOR = "floor"  # of a finite number; so are the next two
    FLOAT_CEIL = "ceil"
    FLOAT_TRUNC = "trunc"
    FLOAT_ROUND = "round"  # to [digits] after the point; infinities and NaN stay
    FLOAT_SQRT = "sqrt"  # of a number that is not negative, or NaN
    FLOAT_CALL = "math"  # the function of this [name], whose last bits depend on the platform;
    # also ``// c`` and ``% c`` of a number that is not infinite
    DATE_DAYS = "days"  # since 1970-01-01
    DATE_YEAR = "year"  # in the proleptic calendar, also beyond the dates that Python has
    DATE_MONTH = "month"
    DATE_DAY = "day"
    DATE_WEEKDAY = "weekday"  # 0 is Monday
    DATE_ISO_YEAR = "iso-year"  # to which the date's ISO week belongs
    DATE_ISO_WEEK = "iso-week"
    DATE_SHIFT = "shift"  # [days] later
    DATE_MIDNIGHT = "midnight"  # its first moment, as a time without a zone
    CLOCK_DATE = "date"
    CLOCK_MICROS = "micros"  # microseconds since 1970-01-01
    CLOCK_HOUR = "hour"
    CLOCK_MINUTE = "minute"
    CLOCK_SECOND = "second"
    WALL_TIME = "wall-time"  # what a clock [microseconds] ahead of UTC shows at an instant
    LOCAL_TIME = "local-time"  # what a clock shows then that is less than a day from UTC
    # of arrays, maps and structs; the value of an element may be none
    ARRAY_SIZE = "size"
    ARRAY_AT = "at"  # at [place], which counts from the end if it is negative; none beyond the ends
    ARRAY_FIND = "position"  # of the first [element], from 1; 0 if there is none
    MAP_KEYS = "keys"
    MAP_AT = "value-at"  # at [key]; none if there is no such key
    STRUCT_FIELD = "field"  # by [name]
    ELEMENTS = "elements"  # what a computation, a [text], makes of the elements
    # Spark SQL: arguments may be options; the result is an option of bool
    SQL_AND = "sql-and"
    SQL_OR = "sql-or"
    SQL_NOT = "sql-not"
    SQL_EQ = "sql="
    SQL_EQ_NULLSAFE = "sql<=>"
    SQL_LT = "sql<"
    SQL_LE = "sql<="
    SQL_GT = "sql>"
    SQL_GE = "sql>="
    SQL_IS_NULL = "sql-null?"
    SQL_IS_NAN = "sql-nan?"
    SQL_IS_NEGATIVE_ZERO = "sql-negative-zero?"  # in Spark, a double that is shown as '-0.0'
    SQL_FLOAT_ADD = "sql-float+"
    SQL_FLOAT_SUB = "sql-float-"
    SQL_FLOAT_MUL = "sql-float*"
    SQL_FLOAT_DIV = "sql-float/"  # the divisor is a literal other than zero: Spark raises there
    SQL_INT_TO_FLOAT = "sql-int->float"
    SQL_INT_ADD = "sql-int+"  # exact at any size; adds days to a date, microseconds to a moment
    SQL_INT_SUB = "sql-int-"
    SQL_INT_MUL = "sql-int*"
    SQL_IS_TRUE = "sql-true?"  # from three values to two: NULL counts as not true


NONEMPTY = "$nonempty"
"""The name of the flag "this run's group has a row" in ACC and TWIN (no Python name has a $)."""


def float_bits(value: float) -> int:
    """The 64 bits of a double as an unsigned int; every NaN becomes the one quiet NaN."""
    if math.isnan(value):
        return 0x7FF8000000000000
    return int(struct.unpack("<Q", struct.pack("<d", value))[0])


def bits_float(bits: int) -> float:
    """The double with these bits."""
    return float(struct.unpack("<d", struct.pack("<Q", bits))[0])


def lit(sort: Sort, value: bool | int | float | str | None) -> Lit:
    """A literal of ``sort`` from a Python value (dates, timestamps and decimals as ints)."""
    if value is None:
        return Lit(sort, None)
    base = sort.of if isinstance(sort, Option) else sort
    if base == FLOAT:
        return Lit(sort, float_bits(float(value)))
    if isinstance(value, float):
        raise TypeError(f"a float is no literal of sort {sort}")
    return Lit(sort, value)


def literal_value(literal: Lit) -> bool | int | float | str | None:
    """The Python value that a literal denotes."""
    base = literal.sort.of if isinstance(literal.sort, Option) else literal.sort
    if base == FLOAT and literal.value is not None:
        return bits_float(int(literal.value))
    return literal.value


TRUE = Lit(BOOL, True)
FALSE = Lit(BOOL, False)
SQL_TRUE = Lit(Option(BOOL), True)
SQL_FALSE = Lit(Option(BOOL), False)


def int_lit(value: int) -> Lit:
    """An integer literal."""
    return Lit(INT, value)


def float_lit(value: float) -> Lit:
    """A float literal, stored by its bits."""
    return Lit(FLOAT, float_bits(value))


def string_lit(value: str) -> Lit:
    """A string literal."""
    return Lit(STRING, value)


def none_lit(of: Sort) -> Lit:
    """The none of ``Option(of)``."""
    return Lit(of if isinstance(of, Option) else Option(of), None)
