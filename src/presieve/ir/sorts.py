# SPDX-License-Identifier: Apache-2.0
"""Trusted. The sorts of the IR: the kinds of value that a term can denote.

``Int`` is unbounded (Python's int); ``Date`` counts days and ``Timestamp`` microseconds since the
epoch (UTC instants, as Spark stores them). ``TimestampNTZ`` is the time on a wall clock, without a
zone; it never meets an instant without a conversion. ``Decimal(scale)`` counts units of
``10**-scale``. ``Option(of)`` adds one further value, none, which is Python's ``None`` and SQL's
NULL; it never nests.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias

from msgspec import Struct

from presieve.errors import SortError


class Bool(Struct, frozen=True):
    """Two truth values."""


class Int(Struct, frozen=True):
    """Unbounded integers."""


class Float(Struct, frozen=True):
    """IEEE 754 binary64: NaN, infinities and signed zeros included."""


class String(Struct, frozen=True):
    """Sequences of code points, ordered by code point (which is UTF-8 byte order)."""


class Binary(Struct, frozen=True):
    """Sequences of bytes, ordered as numbers from 0 to 255. A value is written as a string of the
    characters with these numbers, which have the same order.
    """


class Date(Struct, frozen=True):
    """Days since 1970-01-01."""


class Timestamp(Struct, frozen=True):
    """Microseconds since 1970-01-01T00:00:00Z."""


class TimestampNTZ(Struct, frozen=True):
    """Microseconds since 1970-01-01T00:00:00 on the same clock, whatever its zone."""


class Decimal(Struct, frozen=True):
    """Numbers with ``scale`` digits after the point, of any size: whole units of 10**-scale."""

    scale: int


class Sequence(Struct, frozen=True):
    """Doubles in their order of arrival. Results computed from a sequence depend on all of its
    numbers and their positions, as a rounding sum does.
    """


class Opaque(Struct, frozen=True):
    """Values of which nothing is known, as elements of other values."""


@dataclass(frozen=True, slots=True)
class ArrayOf:
    """Sequences of values of a sort, any of which may be none. Only functions read them."""

    of: Sort


@dataclass(frozen=True, slots=True)
class MapOf:
    """Values by keys, which are never none; a value may be."""

    keys: Sort
    of: Sort


@dataclass(frozen=True, slots=True)
class StructOf:
    """Fields by name, any of which may be none."""

    names: tuple[str, ...]
    of: tuple[Sort, ...]


@dataclass(frozen=True, slots=True)
class Option:
    """``of``, or none."""

    of: Sort


@dataclass(frozen=True, slots=True)
class Tuple:
    """A fixed number of components."""

    of: tuple[Sort, ...]


Plain: TypeAlias = Bool | Int | Float | Decimal | String | Binary | Date | Timestamp | TimestampNTZ
Composite: TypeAlias = ArrayOf | MapOf | StructOf
Sort: TypeAlias = Plain | Sequence | Option | Tuple | Opaque | Composite

BOOL = Bool()
INT = Int()
FLOAT = Float()
STRING = String()
BINARY = Binary()
DATE = Date()
TIMESTAMP = Timestamp()
TIMESTAMP_NTZ = TimestampNTZ()
SEQUENCE = Sequence()
OPAQUE = Opaque()
COMPOSITES = (ArrayOf, MapOf, StructOf)

ORDERED: tuple[Sort, ...] = (INT, FLOAT, STRING, BINARY, DATE, TIMESTAMP, TIMESTAMP_NTZ)
"""Sorts without parameters on which both Python and Spark define an order."""


def is_ordered(sort: Sort) -> bool:
    """Whether both Python and Spark define an order on the sort: those above, and all decimals."""
    return sort in ORDERED or isinstance(sort, Decimal)


TEXTS: tuple[Sort, ...] = (STRING, BINARY)
"""Sorts whose values are Python strings here: a dense order without a greatest element."""


def option(of: Sort) -> Option:
    """``Option(of)``, or ``of`` itself if it is already an option (options never nest)."""
    return of if isinstance(of, Option) else Option(of)


def strip(sort: Sort) -> Sort:
    """The sort without its ``Option``, if it has one."""
    return sort.of if isinstance(sort, Option) else sort


def join(a: Sort, b: Sort) -> Sort:
    """The least sort that holds the values of both, up to ``Option``.

    Raises :class:`SortError` if there is none: Int and Float do not join, since Python keeps them
    apart and converting one to the other is not exact. Nor do decimals of different scales.
    """
    if a == b:
        return a
    if strip(a) == strip(b):
        return option(a)
    raise SortError(f"no common sort of {a} and {b}")
