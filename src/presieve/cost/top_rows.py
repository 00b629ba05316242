# SPDX-License-Identifier: Apache-2.0
"""Untrusted. Guesses from footers where the first rows of an order are."""

from __future__ import annotations

from collections.abc import Sequence

from msgspec import Struct

from presieve.cost.estimate import SECONDS, groups_of, least_share, truths_in
from presieve.cost.parquet import Range, RowGroup, available
from presieve.cost.parquet_scan import Scan
from presieve.ir.terms import Var
from presieve.ir.walk import variables


class TopRange(Struct, frozen=True):
    """The values of a sort key from ``start`` on are likely to belong to enough rows, and none is
    likely to be beyond ``end``. ``skipped`` is the share of the rows in row groups that have none
    of these values. ``first`` is the first value of all, as far as footers tell.
    """

    start: int
    end: int
    skipped: float
    first: int = 0

    @property
    def ends(self) -> tuple[int, int]:
        """The least and the greatest value of the first row's range, ``start`` and ``first``."""
        return min(self.start, self.first), max(self.start, self.first)


def guess_range(scan: Scan, count: int, *, descending: bool) -> TopRange | None:
    """Guess the range of the first ``count`` rows in the order of the scan's only key. None if
    footers and a few rows do not tell.
    """
    key = scan.keys[0] if scan.keys else None
    read = list(dict.fromkeys((key, *variables(scan.given)))) if isinstance(key, Var) else []
    if not isinstance(key, Var) or not set(read) <= scan.columns.keys() or not available():
        return None
    groups = groups_of(scan, [v for v in read if isinstance(v, Var)]) or []
    arriving = [g for g in groups if True in truths_in(scan.given, g, scan)]
    ends = [
        (e, g)
        for g in arriving
        if (e := _ends(g.ranges[scan.columns[key]], descending)) is not None
    ]
    start = _start(scan, ends, count, descending=descending)
    if start is None:
        return None
    sign = 1 if descending else -1
    skipped = sum(g.rows for e, g in ends if sign * (e.first - start) < 0 and not e.nulls)
    end = (min if descending else max)(e.last for e, _ in ends)
    first = (max if descending else min)(e.first for e, _ in ends)
    return TopRange(start, end, skipped / sum(g.rows for g in arriving), first)


class Ends(Struct, frozen=True):
    """The first and the last value of a row group in the order, and whether it has NULL."""

    first: int
    last: int
    nulls: bool


def _ends(values: Range, descending: bool) -> Ends | None:
    low, high = values.low, values.high
    if not isinstance(low, int) or not isinstance(high, int):
        return None
    return Ends(high, low, values.nulls) if descending else Ends(low, high, values.nulls)


def _start(
    scan: Scan, ends: Sequence[tuple[Ends, RowGroup]], count: int, *, descending: bool
) -> int | None:
    """Return the last value of the row groups, best ones first, that have so many rows which
    filters keep. Rows of these very groups are looked at: others may be kept more often.
    """
    ordered = sorted(ends, key=lambda pair: pair[0].last, reverse=descending)
    until, taken = SECONDS.starts(), 1
    while ordered and not until.over:
        best = [group for _, group in ordered[:taken]]
        if sum(g.rows for g in best) * least_share(scan, best, until) >= count:
            return ordered[min(taken, len(ordered)) - 1][0].last
        if taken >= len(ordered):
            return None
        taken *= 2
    return None
