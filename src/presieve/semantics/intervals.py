# SPDX-License-Identifier: Apache-2.0
"""Trusted. Sets of a column's values as intervals, with NULL or without.

Values are integers or texts in Spark's order: dates are days, instants microseconds, decimals their
digits, truth values 0 and 1, and doubles their places in the order of all doubles. Each value has a
next one, so that intervals are half open: ``(a, b)`` is ``a <= x < b``, and None is no bound.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import TypeAlias

from msgspec import Struct

from presieve.ir.terms import bits_float, float_bits

Point: TypeAlias = int | str
Interval: TypeAlias = tuple[Point | None, Point | None]

EVERYTHING: Interval = (None, None)


def after(point: Point) -> Point:
    """The next value."""
    return point + 1 if isinstance(point, int) else point + "\0"


def last(end: Point | None) -> Point | None:
    """The last value below an end; for a text without a last one, a bound above all of them."""
    if isinstance(end, int):
        return end - 1
    return end[:-1] if end is not None and end.endswith("\0") else end


def only(point: Point) -> Interval:
    """The interval that holds one value."""
    return point, after(point)


def is_empty(interval: Interval) -> bool:
    """Whether no value lies between its ends."""
    low, high = interval
    if isinstance(high, str) and high == "":
        return True
    return low is not None and high is not None and not low < high  # type: ignore[operator]


def intersection(a: Interval, b: Interval) -> Interval:
    """The intersection of two intervals, which may be empty."""
    lows, highs = ([p for p in ends if p is not None] for ends in zip(a, b, strict=True))
    return max(lows, default=None), min(highs, default=None)


class ValueSet(Struct, frozen=True):
    """Disjoint intervals in order, nonempty and not adjacent, and whether NULL is a member."""

    intervals: tuple[Interval, ...] = ()
    null: bool = False

    @property
    def is_all(self) -> bool:
        return self.null and self.intervals == (EVERYTHING,)

    @property
    def is_nothing(self) -> bool:
        return not self.null and not self.intervals

    def union(self, others: ValueSet) -> ValueSet:
        return values((*self.intervals, *others.intervals), null=self.null or others.null)

    def intersection(self, others: ValueSet) -> ValueSet:
        both = (intersection(a, b) for a in self.intervals for b in others.intervals)
        return values(both, null=self.null and others.null)

    def complement(self) -> ValueSet:
        """All other values, and NULL if it is not a member."""
        gaps: list[Interval] = []
        low: Point | None = None
        for first, end in self.intervals:
            if first is not None:
                gaps.append((low, first))
            low = end
            if end is None:
                return values(gaps, null=not self.null)
        return values((*gaps, (low, None)), null=not self.null)


def values(intervals: Iterable[Interval], *, null: bool = False) -> ValueSet:
    """The union of the intervals, as a set."""
    ordered = sorted(
        (i for i in intervals if not is_empty(i)),
        key=lambda i: (i[0] is not None, 0 if i[0] is None else i[0]),
    )
    merged: list[Interval] = []
    for low, high in ordered:
        start, end = merged[-1] if merged else EVERYTHING
        if merged and (end is None or low is None or low <= end):  # type: ignore[operator]
            merged[-1] = (start, None if end is None or high is None else max(end, high))
        else:
            merged.append((low, high))
    return ValueSet(tuple(merged), null)


def without_holes(value_set: ValueSet) -> ValueSet:
    """Add the values that are missing alone between two intervals."""
    merged: list[Interval] = []
    for low, high in value_set.intervals:
        end = merged[-1][1] if merged else None
        if end is not None and low == after(end):
            merged[-1] = (merged[-1][0], high)
        else:
            merged.append((low, high))
    return ValueSet(tuple(merged), value_set.null)


NAN = 0x7FF0000000000001
"""The place of NaN, which is above all numbers in Spark; infinity is right below."""

_SIGN = 1 << 63


def place(number: float) -> int:
    """The place of a double in order. Both zeros are at 0."""
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
