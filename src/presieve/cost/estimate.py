"""Untrusted. Which share of the rows a pre-filter keeps, from footers and a small sample.

Row groups that the pre-filter rules out by their extremes, or cannot but keep, count with all their
rows; of a few of the others some rows are read and the pre-filter is evaluated on them. That costs
some milliseconds, and when :data:`SECONDS` are over nothing more is opened.
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from math import sqrt
from typing import TypeVar

from presieve.cost.parquet import RowGroup, available, row_groups, some_rows
from presieve.cost.scan import Estimate, Scan
from presieve.cost.skipping import truths
from presieve.ir.ops import app
from presieve.ir.sorts import Sort, strip
from presieve.ir.terms import Op, Scope, Term, Var
from presieve.ir.walk import variables
from presieve.semantics.compile import predicates
from presieve.semantics.operators import Undefined
from presieve.semantics.values import Value


@dataclass(frozen=True, slots=True)
class Limit:
    """Seconds: ``computed`` by this thread, so that a busy machine decides no worse, and ``passed``
    on the clock, for disks that are slow.
    """

    computed: float
    passed: float

    def starts(self) -> Limit:
        """The moments at which it is over."""
        return Limit(time.thread_time() + self.computed, time.perf_counter() + self.passed)

    @property
    def over(self) -> bool:
        """Of moments: whether one of them is there."""
        return time.thread_time() > self.computed or time.perf_counter() > self.passed


SECONDS = Limit(0.015, 0.06)
"""What is being read when they are over is read to its end. Loading PyArrow comes before it."""
FILES = 24
"""Files of which footers are read, at most."""
GROUPS = 8
ROWS = 128
"""Row groups of which rows are read, at most, and how many of each."""

T = TypeVar("T")


def estimate(scan: Scan) -> Estimate | None:
    """The shares, or None where nothing is known. Never raises on files."""
    read = variables(scan.prefilter, scan.given)
    if not set(read) <= scan.columns.keys() or not available():
        return None
    until = SECONDS.starts()
    found = groups_of(scan, read, until)
    if found is None:
        return None
    arriving = [g for g in found if True in truths_in(scan.given, g, scan)]
    known = [(g, truths_in(scan.prefilter, g, scan)) for g in arriving]
    open_ = [g for g, truths in known if True in truths and len(truths) > 1]
    total, unsure = _rows(arriving), _rows(open_)
    if not total:
        return None
    all_kept = _rows([g for g, truths in known if truths == {True}])
    sure, skipped = all_kept / total, 1 - (all_kept + unsure) / total
    likely = sure * _lowest(all_kept, all_kept) if all_kept else 0.0
    if not open_:
        return Estimate(sure, likely, skipped, 0)
    passed, kept = _sample(scan, read, open_, until)
    if not passed:
        return None
    share = unsure / total
    return Estimate(
        sure + share * kept / passed, likely + share * _lowest(kept, passed), skipped, passed
    )


def skipped(scan: Scan, least: float) -> float | None:
    """The share of rows that a scan skips, by footers if that is ``least``, and else by all that
    it goes by, which takes longer to ask, unless footers tell that it keeps every row; None where
    nothing is known.
    """
    known = estimate(scan)
    if known is not None and known.kept == 1 and not known.rows and len(scan.files) <= FILES:
        return 0.0
    by_groups = None if known is None else known.skipped
    if by_groups is not None and by_groups >= least:
        return by_groups
    return max((s for s in (by_groups, scan.skips()) if s is not None), default=None)


def _rows(groups: Sequence[RowGroup]) -> int:
    return sum(g.rows for g in groups)


def groups_of(scan: Scan, read: Sequence[Var], until: Limit | None = None) -> list[RowGroup] | None:
    """The row groups of some of the files; None where one of them cannot be read."""
    columns = {scan.columns[v]: strip(v.sort) for v in read}
    found: list[RowGroup] = []
    for path in spread(scan.files, FILES):
        groups = row_groups(path, columns)
        if groups is None:
            return None
        found += groups
        if until is not None and until.over:
            break
    return found


def truths_in(term: Term, group: RowGroup, scan: Scan) -> frozenset[bool | None]:
    """The truth values that a condition may have in a row group."""
    return truths(term, {v: group.ranges[n] for v, n in scan.columns.items() if n in group.ranges})


def _sample(
    scan: Scan, read: Sequence[Var], groups: Sequence[RowGroup], until: Limit
) -> tuple[int, int]:
    """How many rows that were read arrive at the boundary, and how many of these are kept."""
    sorts: list[Sort] = [strip(v.sort) for v in read]
    columns = [scan.columns[v] for v in read]
    scopes = list(dict.fromkeys(v.scope for v in read))
    by_scope = [[i for i, v in enumerate(read) if v.scope is s] for s in scopes]
    names = [(s, [read[i].name for i in at]) for s, at in zip(scopes, by_scope, strict=True)]
    both = [app(Op.SQL_IS_TRUE, scan.given), app(Op.SQL_IS_TRUE, scan.prefilter)]
    judge = predicates(both, names)
    passed = kept = 0
    for group in spread(groups, GROUPS):
        for row in some_rows(group, columns, sorts, ROWS):
            try:
                given, keeps = judge(*[tuple(row[i] for i in at) for at in by_scope])
            except (Undefined, TypeError):
                return 0, 0  # NULL in a column that is declared to have none
            passed += bool(given)
            kept += bool(given and keeps)
        if until.over:
            break
    return passed, kept


def largest_share(scan: Scan) -> float | None:
    """The share of the rows that the largest group is unlikely to exceed, as a sample tells; None
    where nothing is known. Never raises on files.
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
    seen: Counter[tuple[Value, ...]] = Counter()
    columns, sorts = [scan.columns[v] for v in read], [strip(v.sort) for v in read]
    for group in spread(groups, GROUPS):
        seen.update(some_rows(group, columns, sorts, ROWS))
        if until.over:
            break
    rows = seen.total()
    return 1 - _lowest(rows - max(seen.values()), rows) if rows else None


KEYS = 4_000
"""Rows of which keys are read, at most."""


def extremes(scan: Scan) -> tuple[int, int] | None:
    """The least and the greatest key of the rows that arrive, of some of the rows. None where
    nothing is known, and where too few rows arrive to say.
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
    given = app(Op.SQL_IS_TRUE, scan.given)
    judge = predicates([given], [(Scope.ROW, [v.name for v in columns])])
    most = max(1, KEYS // len(groups))
    every = (row for g in groups for row in some_rows(g, names, sorts, most, whole=True))
    try:
        found = [row[0] for row in every if isinstance(row[0], int) and judge(row)[0]]
    except (Undefined, TypeError):
        return None
    if not found or (_rows(groups) > KEYS and len(found) < _FEW):
        return None
    return min(found), max(found)


_FEW = 8
"""Rows of a sample that say nothing of the extremes of all."""


def spread(items: Sequence[T], most: int) -> list[T]:
    """At most so many, from the middle of equal parts of the whole."""
    if len(items) <= most:
        return list(items)
    return [items[(2 * i + 1) * len(items) // (2 * most)] for i in range(most)]


_Z = 2.326
"""One-sided confidence of 99 %."""


def _lowest(kept: int, rows: int) -> float:
    """Wilson's lower bound of the share of which ``kept`` of ``rows`` were seen: 0.36 where three
    of three were, 0.995 where a thousand of a thousand were.
    """
    share, z2 = kept / rows, _Z * _Z
    middle = share + z2 / (2 * rows)
    spread_ = _Z * sqrt(share * (1 - share) / rows + z2 / (4 * rows * rows))
    return max(0.0, (middle - spread_) / (1 + z2 / rows))
