# SPDX-License-Identifier: Apache-2.0
"""Untrusted. Guesses from footers where the first rows of an order are."""

from __future__ import annotations

from collections.abc import Sequence

from msgspec import Struct

from presieve.cost.estimate import estimate, groups_of, truths_in
from presieve.cost.parquet import Range, available
from presieve.cost.parquet_scan import Scan
from presieve.ir.terms import SQL_TRUE, Var
from presieve.ir.walk import variables
from presieve.records import replace

LEAST_SHARE = 1e-4
"""If filters keep less than this share of the rows, no range is likely to have enough of them."""


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
    ends = [(e, g) for g in arriving if (e := _ends(g.ranges[scan.columns[key]], descending))]
    share = _share_kept(scan)
    if share < LEAST_SHARE:
        return None
    kept = [(worst, int(group.rows * share)) for (worst, _, _), group in ends]
    start = _start(kept, count, descending)
    if start is None:
        return None
    sign = 1 if descending else -1
    skipped = sum(g.rows for (_, best, nulls), g in ends if sign * (best - start) < 0 and not nulls)
    end = (min if descending else max)(worst for (worst, _, _), _ in ends)
    first = (max if descending else min)(best for (_, best, _), _ in ends)
    return TopRange(start, end, skipped / sum(g.rows for g in arriving), first)


def _share_kept(scan: Scan) -> float:
    """Return the share of rows that filters are sure to keep, as far as a sample tells."""
    if not scan.is_given_whole:
        return 0.0
    if scan.given == SQL_TRUE:
        return 1.0
    of_filter = estimate(replace(scan, prefilter=scan.given, given=SQL_TRUE))
    return 0.0 if of_filter is None else of_filter.least


def _ends(values: Range, descending: bool) -> tuple[int, int, bool] | None:
    """Return the last and the first value of a row group in the order, and whether it has NULL;
    None if unknown.
    """
    low, high = values.low, values.high
    if not isinstance(low, int) or not isinstance(high, int):
        return None
    return (low, high, values.nulls) if descending else (high, low, values.nulls)


def _start(groups: Sequence[tuple[int, int]], count: int, descending: bool) -> int | None:
    """Return the last value of the row groups, best ones first, that have so many rows."""
    rows = 0
    for worst, size in sorted(groups, reverse=descending):
        rows += size
        if rows >= count:
            return worst
    return None
