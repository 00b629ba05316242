# SPDX-License-Identifier: Apache-2.0
"""Untrusted. Estimates the share of rows that a pre-filter keeps, from footers and a small sample.

Row groups that the pre-filter excludes by their extremes, or keeps entirely, count with all their
rows. From a few of the others, some rows are read and the pre-filter is evaluated on them. This
costs a few milliseconds; after :data:`SECONDS`, nothing more is opened.
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Sequence
from math import sqrt
from typing import TypeVar

from msgspec import Struct

from presieve.cost.parquet import RowGroup, available, row_groups, some_rows
from presieve.cost.parquet_scan import Estimate, Scan
from presieve.cost.skipping import truths
from presieve.ir.ops import app
from presieve.ir.sorts import Sort, strip
from presieve.ir.terms import SQL_TRUE, Op, Scope, Term, Var
from presieve.ir.walk import variables
from presieve.records import replace
from presieve.semantics.fast_interpreter import predicates
from presieve.semantics.operator_meanings import Undefined
from presieve.semantics.values import Value


class Limit(Struct, frozen=True):
    """A limit in seconds.

    ``computed`` counts the time of this thread, so that a busy machine does not decide worse;
    ``passed`` counts the time on the clock, for slow disks.
    """

    computed: float
    passed: float

    def starts(self) -> Limit:
        """Return the moments at which the limit is over."""
        return Limit(time.thread_time() + self.computed, time.perf_counter() + self.passed)

    @property
    def over(self) -> bool:
        """Whether one of the moments has passed."""
        return time.thread_time() > self.computed or time.perf_counter() > self.passed


SECONDS = Limit(0.015, 0.06)
"""A read that has begun is completed. The time to load PyArrow does not count."""
FILES = 24
"""Maximum number of files whose footers are read."""
GROUPS = 8
ROWS = 128
"""Maximum number of row groups from which rows are read, and of rows from each."""

T = TypeVar("T")


def estimate(scan: Scan) -> Estimate | None:
    """Estimate the shares; return None if nothing is known. Never raises because of files."""
    read = variables(scan.prefilter, scan.given)
    if not set(read) <= scan.columns.keys() or not available():
        return None
    until = SECONDS.starts()
    groups = groups_of(scan, read, until)
    if groups is None:
        return None
    arriving = [g for g in groups if True in truths_in(scan.given, g, scan)]
    truths_by_group = [(g, truths_in(scan.prefilter, g, scan)) for g in arriving]
    open_ = [g for g, truths in truths_by_group if True in truths and len(truths) > 1]
    total, unsure = _rows(arriving), _rows(open_)
    if not total:
        return None
    all_kept = _rows([g for g, truths in truths_by_group if truths == {True}])
    sure, skipped = all_kept / total, 1 - (all_kept + unsure) / total
    likely = sure * _lowest(all_kept, all_kept) if all_kept else 0.0
    if not open_:
        return Estimate(sure, likely, skipped, 0)
    passed, rows_kept = _sample(scan, read, open_, until)
    if not passed:
        return None
    share = unsure / total
    return Estimate(
        sure + share * rows_kept / passed,
        likely + share * _lowest(rows_kept, passed),
        skipped,
        passed,
    )


def skipped_share(scan: Scan, least: float) -> float | None:
    """Return the share of rows that a scan skips; None if nothing is known.

    Footers answer if they show at least ``least`` or that the pre-filter keeps every row. Otherwise
    the scan itself is asked, which uses all that it goes by and takes longer.
    """
    shares = estimate(scan)
    if shares is not None and shares.kept == 1 and not shares.rows and len(scan.files) <= FILES:
        return 0.0
    by_groups = None if shares is None else shares.skipped
    if by_groups is not None and by_groups >= least:
        return by_groups
    return max((s for s in (by_groups, scan.skips()) if s is not None), default=None)


def _rows(groups: Sequence[RowGroup]) -> int:
    return sum(g.rows for g in groups)


def groups_of(scan: Scan, read: Sequence[Var], until: Limit | None = None) -> list[RowGroup] | None:
    """Return the row groups of some of the files; None if one of the files cannot be read."""
    columns = {scan.columns[v]: strip(v.sort) for v in read}
    collected: list[RowGroup] = []
    for path in pick_spread(scan.files, FILES):
        groups = row_groups(path, columns)
        if groups is None:
            return None
        collected += groups
        if until is not None and until.over:
            break
    return collected


def truths_in(term: Term, group: RowGroup, scan: Scan) -> frozenset[bool | None]:
    """Return the truth values that a condition may have in a row group."""
    return truths(term, {v: group.ranges[n] for v, n in scan.columns.items() if n in group.ranges})


def _sample(
    scan: Scan, read: Sequence[Var], groups: Sequence[RowGroup], until: Limit
) -> tuple[int, int]:
    """Count the sampled rows that arrive at the boundary, and those of them that are kept."""
    sorts: list[Sort] = [strip(v.sort) for v in read]
    columns = [scan.columns[v] for v in read]
    scopes = list(dict.fromkeys(v.scope for v in read))
    by_scope = [[i for i, v in enumerate(read) if v.scope is s] for s in scopes]
    names = [(s, [read[i].name for i in at]) for s, at in zip(scopes, by_scope, strict=True)]
    both = [app(Op.SQL_IS_TRUE, scan.given), app(Op.SQL_IS_TRUE, scan.prefilter)]
    judge = predicates(both, names)
    passed = rows_kept = 0
    for group in pick_spread(groups, GROUPS):
        for row in some_rows(group, columns, sorts, ROWS):
            try:
                arrives, keeps = judge(*[tuple(row[i] for i in at) for at in by_scope])
            except (Undefined, TypeError):
                return 0, 0  # NULL in a column that is declared to have none
            passed += bool(arrives)
            rows_kept += bool(arrives and keeps)
        if until.over:
            break
    return passed, rows_kept


def least_share(scan: Scan, groups: Sequence[RowGroup], until: Limit) -> float:
    """Return a share of the rows of these row groups that is unlikely to be more than arrives at
    the boundary.
    """
    read = variables(scan.given)
    if not scan.is_given_whole or not set(read) <= scan.columns.keys():
        return 0.0
    if not read:
        return 1.0
    rows, arriving = _sample(
        replace(scan, prefilter=scan.given, given=SQL_TRUE), read, groups, until
    )
    return _lowest(arriving, rows) if rows else 0.0


def largest_share(scan: Scan) -> float | None:
    """Estimate, from a sample, a share of the rows that the largest group is unlikely to exceed.

    Return None if nothing is known. Never raises because of files.
    """
    if not scan.keys:
        return 1.0
    read = [k for k in dict.fromkeys(scan.keys) if isinstance(k, Var)]
    if len(read) < len(scan.keys) or not set(read) <= scan.columns.keys() or not available():
        return None
    until = SECONDS.starts()
    groups = groups_of(scan, read, until)
    if not groups:
        return None
    counts: Counter[tuple[Value, ...]] = Counter()
    columns, sorts = [scan.columns[v] for v in read], [strip(v.sort) for v in read]
    for group in pick_spread(groups, GROUPS):
        counts.update(some_rows(group, columns, sorts, ROWS))
        if until.over:
            break
    rows = counts.total()
    return 1 - _lowest(rows - max(counts.values()), rows) if rows else None


KEYS = 4_000
"""Maximum number of rows whose keys are read."""


def extremes(scan: Scan) -> tuple[int, int] | None:
    """Return the least and the greatest key in a sample of the rows that arrive.

    Return None if nothing is known, or if too few rows arrive.
    """
    (key,) = scan.keys
    read = list(dict.fromkeys((key, *variables(scan.given))))
    columns = [v for v in read if isinstance(v, Var)]
    if len(columns) < len(read) or not set(columns) <= scan.columns.keys() or not available():
        return None
    groups = groups_of(scan, columns)
    if not groups:
        return None
    names, sorts = [scan.columns[v] for v in columns], [strip(v.sort) for v in columns]
    arrives = app(Op.SQL_IS_TRUE, scan.given)
    judge = predicates([arrives], [(Scope.ROW, [v.name for v in columns])])
    most = max(1, KEYS // len(groups))
    every = (row for g in groups for row in some_rows(g, names, sorts, most, whole=True))
    try:
        keys = [row[0] for row in every if isinstance(row[0], int) and judge(row)[0]]
    except (Undefined, TypeError):
        return None
    if not keys or (_rows(groups) > KEYS and len(keys) < _FEW):
        return None
    return min(keys), max(keys)


_FEW = 8
"""A sample with fewer rows says nothing about the extremes of all rows."""


def pick_spread(items: Sequence[T], most: int) -> list[T]:
    """Return at most ``most`` items, from the middles of equal parts of the sequence."""
    if len(items) <= most:
        return list(items)
    return [items[(2 * i + 1) * len(items) // (2 * most)] for i in range(most)]


_Z = 2.326
"""One-sided confidence of 99 %."""


def _lowest(successes: int, rows: int) -> float:
    """Return Wilson's lower bound of the share of successes, if ``successes`` of ``rows`` were
    seen.

    It is 0.36 for three of three, and 0.995 for a thousand of a thousand.
    """
    share, z2 = successes / rows, _Z * _Z
    middle = share + z2 / (2 * rows)
    spread_ = _Z * sqrt(share * (1 - share) / rows + z2 / (4 * rows * rows))
    return max(0.0, (middle - spread_) / (1 + z2 / rows))
