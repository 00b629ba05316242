# SPDX-License-Identifier: Apache-2.0
"""Untrusted. The arguments for which a function of storage's types may have given values."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from presieve.semantics.intervals import EVERYTHING, Interval, Point, ValueSet, intersection, values
from presieve.sql.piecewise import Piece
from presieve.sql.prefixes import beginning_with


def preimages(pieces: Sequence[Piece], wanted: ValueSet, every: ValueSet) -> Iterator[Interval]:
    """Yield the arguments whose value may be one of these, among ``every`` argument; all outside of
    the pieces are.
    """
    yield from values(p.within for p in pieces).complement().intersection(every).intervals
    for piece in pieces:
        if piece.nullable and wanted.null:
            yield piece.within
        for interval in wanted.intervals:
            yield intersection(_interval_preimage(piece, interval), piece.within)


def _interval_preimage(piece: Piece, wanted: Interval) -> Interval:
    """The arguments of a piece whose value may be in the interval."""
    low, high = wanted
    if not _of_integers(piece.within):
        return _text_preimage(piece, low, high)
    if piece.rising:
        first = None if low is None else _first(piece, lambda x: not piece.most(x) < low)  # type: ignore[operator]
        end = None if high is None else _first(piece, lambda x: not piece.least(x) < high)  # type: ignore[operator]
    else:
        first = None if high is None else _first(piece, lambda x: piece.least(x) < high)  # type: ignore[operator]
        end = None if low is None else _first(piece, lambda x: piece.most(x) < low)  # type: ignore[operator]
    return first, end


def _of_integers(within: Interval) -> bool:
    return within != EVERYTHING


_ENDS = (-(2**512), 2**512)
"""Below and above all values, and the digits of all decimals."""


def _first(piece: Piece, holds: Callable[[int], bool]) -> int:
    """The first argument of a piece from which on ``holds`` is true, or the end of the piece."""
    low, end = piece.within
    first = low if isinstance(low, int) else _ENDS[0]
    last = end if isinstance(end, int) else _ENDS[1]
    while first < last:
        middle = (first + last) // 2
        first, last = (first, middle) if holds(middle) else (middle + 1, last)
    return first


def _text_preimage(piece: Piece, low: Point | None, high: Point | None) -> Interval:
    """The preimage for the first characters of a text, as many as the function keeps."""
    size = len(str(piece.least("\0" * 4096)))
    first = low[:size] if isinstance(low, str) else None
    if not isinstance(high, str):
        return first, None
    if len(high) <= size:
        return first, high
    return first, beginning_with(high[:size])[1]
