"""Trusted. Sets of values of a column as intervals, with NULL or without.

Values are integers or texts in the order of Spark: dates are days, instants microseconds, decimals
their digits, truth values 0 and 1, and doubles their places in the order of all doubles. Each value
has a next one, so that intervals are half open: ``(a, b)`` is ``a <= x < b``, and None is no bound.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from typing import TypeAlias

from presieve.ir.terms import bits_float, float_bits

Point: TypeAlias = int | str
Interval: TypeAlias = tuple[Point | None, Point | None]

EVERYTHING: Interval = (None, None)


def after(point: Point) -> Point:
    """The next value."""
    return point + 1 if isinstance(point, int) else point + "\0"


def last(end: Point | None) -> Point | None:
    """The last value below an end, or one that no value below the end exceeds."""
    if isinstance(end, int):
        return end - 1
    return end[:-1] if end is not None and end.endswith("\0") else end


def only(point: Point) -> Interval:
    """The interval of one value."""
    return point, after(point)


def is_empty(interval: Interval) -> bool:
    """Whether no value lies between its ends."""
    low, high = interval
    if isinstance(high, str) and high == "":
        return True
    return low is not None and high is not None and not low < high  # type: ignore[operator]


def intersection(a: Interval, b: Interval) -> Interval:
    """What both contain, which may be empty."""
    return _greater(a[0], b[0]), _smaller(a[1], b[1])


def _greater(a: Point | None, b: Point | None) -> Point | None:
    if a is None or b is None:
        return b if a is None else a
    return max(a, b)


def _smaller(a: Point | None, b: Point | None) -> Point | None:
    if a is None or b is None:
        return b if a is None else a
    return min(a, b)


@dataclass(frozen=True, slots=True)
class ValueSet:
    """Disjoint intervals in order, none of them empty and none beside the next, and whether NULL is
    a member.
    """

    intervals: tuple[Interval, ...] = ()
    null: bool = False

    @property
    def is_all(self) -> bool:
        return self.null and self.intervals == (EVERYTHING,)

    @property
    def is_nothing(self) -> bool:
        return not self.null and not self.intervals

    def union(self, other: ValueSet) -> ValueSet:
        return values((*self.intervals, *other.intervals), null=self.null or other.null)

    def intersection(self, other: ValueSet) -> ValueSet:
        both = (intersection(a, b) for a in self.intervals for b in other.intervals)
        return values(both, null=self.null and other.null)

    def complement(self) -> ValueSet:
        """All other values, and NULL if it is no member."""
        found: list[Interval] = []
        low: Point | None = None
        for first, end in self.intervals:
            if first is not None:
                found.append((low, first))
            low = end
            if end is None:
                return values(found, null=not self.null)
        return values((*found, (low, None)), null=not self.null)


def values(intervals: Iterable[Interval], *, null: bool = False) -> ValueSet:
    """The set of all that some of the intervals contain."""
    ordered = sorted(
        (i for i in intervals if not is_empty(i)),
        key=lambda i: (i[0] is not None, 0 if i[0] is None else i[0]),
    )
    found: list[Interval] = []
    for low, high in ordered:
        if found and _reaches(found[-1][1], low):
            start, end = found[-1]
            found[-1] = (start, None if end is None or high is None else max(end, high))
        else:
            found.append((low, high))
    return ValueSet(tuple(found), null)


def without_holes(found: ValueSet) -> ValueSet:
    """With the values that are missing alone between two intervals."""
    merged: list[Interval] = []
    for low, high in found.intervals:
        end = merged[-1][1] if merged else None
        if end is not None and low == after(end):
            merged[-1] = (merged[-1][0], high)
        else:
            merged.append((low, high))
    return ValueSet(tuple(merged), found.null)


def _reaches(end: Point | None, low: Point | None) -> bool:
    return end is None or low is None or low <= end  # type: ignore[operator]


NAN = 0x7FF0000000000001
"""The place of NaN, which Spark has above all numbers; infinity is right below."""

_SIGN = 1 << 63


def place(number: float) -> int:
    """Where a double stands in order. Both zeros are at 0."""
    if number != number:
        return NAN
    bits = float_bits(number)
    return -(bits - _SIGN) if bits & _SIGN else bits


def number(place_: int) -> float:
    """The double at a place."""
    if place_ >= NAN:
        return math.nan
    if place_ <= 1 - NAN:
        return -math.inf
    return bits_float(place_) if place_ >= 0 else bits_float(_SIGN - place_)


ALL = ValueSet((EVERYTHING,), null=True)
PRESENT = ValueSet((EVERYTHING,))
NULL = ValueSet((), null=True)
NOTHING = ValueSet()
