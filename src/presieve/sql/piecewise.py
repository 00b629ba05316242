# SPDX-License-Identifier: Apache-2.0
"""Trusted. Functions on pieces on which they never fall, or never rise, when their argument rises.

A function is described on pieces of its argument's order, by two functions that never fall (or
never rise) and have the function's value between them; mostly they are the same. Outside of the
pieces it may do anything: raise, wrap around or return NULL, depending on the session's mode. Every
function maps NULL to NULL, and nothing else on its pieces to NULL, unless a piece says so. It may
also raise on its pieces, which :mod:`presieve.sql.expressions.raising` says; where it does not
raise, it has the described value.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Iterable, Mapping
from itertools import pairwise
from typing import TypeAlias

from msgspec import Struct

from presieve.errors import Declined, DeclineSignal
from presieve.ir.sorts import BINARY
from presieve.ir.terms import Lit, literal_value
from presieve.records import replace
from presieve.semantics.function_meanings import first_day
from presieve.semantics.intervals import (
    EVERYTHING,
    NAN,
    Interval,
    Point,
    ValueSet,
    intersection,
    place,
)
from presieve.semantics.scan import GREGORIAN, STANDARD_TIME
from presieve.semantics.types import MAX_DIGITS, decimal_type
from presieve.semantics.values import INT_RANGES, INTEGERS
from presieve.sql.catalyst import expression
from presieve.sql.catalyst_tree import ExprNode, type_of
from presieve.sql.expressions import basics, choices, numeric, times
from presieve.sql.temporal import RULES_AGREE

Offsets: TypeAlias = tuple[int, int]
"""The least and the greatest offset from UTC of a time zone, in microseconds."""

SECOND = 1_000_000
DAY = 86_400 * SECOND
LONGS: Interval = INT_RANGES["bigint"][0], INT_RANGES["bigint"][1] + 1
DAYS: Interval = INT_RANGES["int"][0], INT_RANGES["int"][1] + 1
FIRST_DAY, END_DAY = first_day(1), first_day(10_000)
"""Days of the years that are written with four digits."""

STORED_DIGITS: Interval = (1 - 10 ** (2 * MAX_DIGITS), 10 ** (2 * MAX_DIGITS))
"""The digits of decimals in files, whatever the type says."""

Steps: TypeAlias = Callable[[Point], Point]


class Piece(Struct, frozen=True):
    """A piece on which the function is known: its value lies between ``least`` and ``most``, which
    are both rising, or both falling. ``nullable``: it may also be NULL.
    """

    within: Interval
    least: Steps
    most: Steps
    rising: bool = True
    nullable: bool = False


class Monotone(Struct, frozen=True):
    """A function of one argument, on disjoint pieces of its order. For a periodic function,
    ``periods`` gives finer pieces of a short interval, none for a longer one.
    """

    argument: ExprNode
    pieces: tuple[Piece, ...]
    periods: Callable[[Interval], tuple[Piece, ...]] | None = None

    def pieces_of(self, arguments: ValueSet) -> tuple[Piece, ...]:
        """The pieces for arguments in a set."""
        return self._pieces_in(arguments.intervals)

    def pieces_between(self, points: Collection[Point]) -> tuple[Piece, ...]:
        """The pieces for arguments between neighbours of these points, and at each of them."""
        ends = {end for p in points if isinstance(p, int) for end in (p, p + 1)}
        return self._pieces_in(pairwise(sorted(ends)))

    def _pieces_in(self, intervals: Iterable[Interval]) -> tuple[Piece, ...]:
        if self.periods is None:
            return self.pieces
        pieces: list[Piece] = []
        for interval in intervals:
            pieces += self.periods(interval) or (
                replace(p, within=intersection(p.within, interval)) for p in self.pieces
            )
        return tuple(pieces)


class Zones(Struct, frozen=True):
    """The session's time zone, and the offsets of all time zones that are mentioned."""

    session: str
    offsets: Mapping[str, Offsets]


Reader: TypeAlias = Callable[[ExprNode, Zones], Monotone | None]


def literal_in_order(node: ExprNode, zones: Zones) -> Point | None:
    """The value of a literal, in the order of its type; None for NULL and anything else."""
    if node.entry is not basics.LITERAL:
        return None
    term = expression([dict(node.fields)], {}, zones.session)
    if isinstance(term, Declined) or not isinstance(term, Lit) or term.sort == BINARY:
        return None
    value = literal_value(term)
    if isinstance(value, bool):
        return int(value)
    if isinstance(value, float):
        return place(value)
    return value if isinstance(value, int | str) else None


def is_null(node: ExprNode) -> bool:
    """Whether the expression is the literal NULL."""
    return node.entry is basics.LITERAL and node.fields.get("value") is None


def type_name(node: ExprNode) -> str:
    """Spark's type of an expression; "" for expressions and types that are not known."""
    if node.entry in basics.GENERATED:
        types = {type_name(child) for child in node.children if not is_null(child)}
        return types.pop() if len(types) == 1 else ""
    if node.entry in _OF_OPERANDS:
        types = {type_name(child) for child in node.children}
        if len(types) == 1 and types <= _CLOSED:
            return types.pop()
        return decimal_result(node)
    if node.entry not in _DECLARED:
        return node.entry.result
    try:
        return type_of(node)
    except DeclineSignal:
        return ""


def decimal_result(node: ExprNode) -> str:
    """The type of arithmetic on decimals; "" for other expressions, and if it might round.

    Source: ``resultDecimalType`` of ``arithmetic.scala``, for results of at most 38 digits.
    """
    digits = [decimal_type(type_name(child)) for child in node.children]
    known_digits = [pair for pair in digits if pair is not None]
    if len(known_digits) < len(digits) or not known_digits:
        return ""
    precisions, scales = zip(*known_digits, strict=True)
    if node.entry in (numeric.UNARY_MINUS, numeric.ABS):
        precision, scale = precisions[0], scales[0]
    elif node.entry in (numeric.ADD, numeric.SUBTRACT):
        scale = max(scales)
        precision = max(p - s for p, s in known_digits) + scale + 1
    elif node.entry is numeric.MULTIPLY:
        precision, scale = sum(precisions) + 1, sum(scales)
    else:
        return ""
    return f"decimal({precision},{scale})" if precision <= MAX_DIGITS else ""


_DECLARED = (basics.ATTRIBUTE, basics.LITERAL, basics.CAST, times.GET_TIMESTAMP)
_OF_OPERANDS = (*numeric.OF_ONE_TYPE, choices.GREATEST, choices.LEAST, choices.COALESCE)
_CLOSED = frozenset((*INT_RANGES, "double"))
"""Numeric types whose sums and products have the same type."""


def domain(type_: str) -> Interval:
    """All values of a type, as an interval; unknown types have no bounds. A file may hold decimals
    of more digits than it declares.
    """
    return STORED_DIGITS if decimal_type(type_) is not None else DOMAINS.get(type_, (None, None))


def ordinary(type_: str, zones: Zones) -> Interval:
    """The values of a type that may be written as constants, as far as they are bounded."""
    if decimal_type(type_) is not None:
        return integers(type_) or EVERYTHING
    low, high = zones.offsets.get(zones.session, (0, 1))
    if type_ == "timestamp" and low != high:
        return _AGREED
    return ORDINARY.get(type_, EVERYTHING)


ORDINARY: Mapping[str, Interval] = {
    "date": (GREGORIAN, END_DAY),
    "timestamp": (STANDARD_TIME, END_DAY * DAY),
    "timestamp_ntz": (STANDARD_TIME, END_DAY * DAY),
}
"""The values of a type that may be written as constants. Scans may shift earlier ones, and later
ones have years of more than four digits.
"""
_AGREED: Interval = tuple(  # type: ignore[assignment]
    first_day(year) * DAY + days * DAY
    for year, days in ((RULES_AGREE.start, 2), (RULES_AGREE.stop, -2))
)
"""Instants that are written as constants in a session whose time zone changes its clocks: Spark
shows them there, and they are read back.
"""

DOMAINS: Mapping[str, Interval] = {
    **{name: (low, high + 1) for name, (low, high) in INT_RANGES.items()},
    "boolean": (0, 2),
    "date": DAYS,
    "timestamp": LONGS,
    "timestamp_ntz": LONGS,
    "double": (place(-math.inf), NAN + 1),
    "string": ("", None),
}


def exactly(argument: ExprNode, f: Steps, *within: Interval, rising: bool = True) -> Monotone:
    return Monotone(argument, tuple(Piece(w, f, f, rising) for w in within))


def bracket(argument: ExprNode, least: Steps, most: Steps, *within: Interval) -> Monotone:
    return Monotone(argument, tuple(Piece(w, least, most) for w in within))


def integers(type_: str) -> Interval | None:
    """The values of an integer type, or of the digits of a decimal type."""
    digits = decimal_type(type_)
    if digits is not None:
        return 1 - 10 ** digits[0], 10 ** digits[0]
    return DOMAINS[type_] if type_ in INTEGERS else None


def linear_decimal(argument: ExprNode, factor: int, offset: int, type_: str) -> Monotone | None:
    """``factor * x + offset`` on the digits of decimals, which is NULL or raises if the ``type_``
    of the result has too few.
    """
    span = integers(type_)
    if span is None:
        return None
    (exact,) = linear(argument, factor, offset, span).pieces
    low, end = exact.within
    beyond = ((None, low), (end, None))
    return Monotone(argument, (exact, *(replace(exact, within=w, nullable=True) for w in beyond)))


def linear(argument: ExprNode, factor: int, offset: int, span: Interval) -> Monotone:
    """``factor * x + offset`` on integers, where x and the value are within the type."""
    low, end = span
    assert isinstance(low, int)
    assert isinstance(end, int)
    bound = (low - offset, end - 1 - offset)
    if factor < 0:
        bound = (-bound[1], -bound[0])
    first, final = -(-bound[0] // abs(factor)), bound[1] // abs(factor)
    within = (max(first, low), min(final, end - 1) + 1)
    return exactly(argument, lambda x: factor * x + offset, within, rising=factor > 0)  # type: ignore[operator]
