# SPDX-License-Identifier: Apache-2.0
"""Untrusted. Records the candidates of a search, with tables made as small as possible."""

from __future__ import annotations

from presieve.ir.fold import Problem
from presieve.ir.terms import Term
from presieve.synthesis import clock, events
from presieve.synthesis.invariant.candidate import Wrong, differs
from presieve.synthesis.sampling.concrete_tables import Finding, NeededRow, Table, difference
from presieve.synthesis.sampling.passing_groups import shrunk
from presieve.synthesis.sampling.space import Space
from presieve.synthesis.witness.as_terms import region
from presieve.universe.boxes import Cell


class Tracer:
    """Remembers which regions were recorded. Computes nothing if events are discarded."""

    def __init__(self, record: events.Recorder) -> None:
        self.record = record
        self._known = frozenset[Cell]()

    def counts_scaled(self, problem: Problem) -> None:
        """From now on tables are of this problem."""
        self._known = frozenset()
        self.record(events.CountsScaled(problem))

    def explore(self, space: Space, finding: Finding) -> None:
        """Record the findings from running tables."""
        self.record(events.Explored(len(finding.accepted), space.size, self._needs(space, finding)))

    def put_back(self, space: Space, finding: Finding, why: events.Reason | None = None) -> None:
        """Record the regions found to be needed since; and why the search stops here, if it
        does.
        """
        if needs := self._needs(space, finding):
            self.record(events.PutBack(needs))
        if why:
            self.record(events.Weaker(why))

    def propose(self, space: Space, finding: Finding, prefilter: Term) -> None:
        """Record the next candidate, after the findings against the last one."""
        self.put_back(space, finding)
        self.record(events.Proposed(prefilter))

    def record_refutation(self, space: Space, prefilter: Term, wrong: Wrong, by: events.By) -> None:
        """Record a table on which the candidate goes wrong."""
        if self.record is not events.discard:
            with clock.free():
                small = _smaller_table(space, prefilter, wrong)
            group = events.Group(space.problem, wrong.key, small)
            self.record(events.Refuted(prefilter, group, by))

    def _needs(self, space: Space, finding: Finding) -> tuple[events.Needed, ...]:
        """The cells that must stay and were not recorded yet."""
        if self.record is events.discard:
            return ()
        recorded, self._known = self._known, frozenset(finding.kept_cells)
        with clock.free():
            return tuple(
                _needed_event(space, c, n, raises=c not in finding.needs)
                for c, n in finding.kept_cells.items()
                if c not in recorded
            )


def _needed_event(space: Space, cell: Cell, need: NeededRow, *, raises: bool) -> events.Needed:
    small = _smaller_need(space, need)
    group = events.Group(space.problem, need.key, small.table)
    return events.Needed(region(space, cell), group, small.index, raises)


def _smaller_table(space: Space, prefilter: Term, wrong: Wrong) -> Table:
    """A table on which a pre-filter goes wrong, without rows that are not necessary for that."""
    differ = differs(space, prefilter, space.problem.where)
    return shrunk(wrong.table, lambda rows: differ(rows, wrong.key))


def _smaller_need(space: Space, need: NeededRow) -> NeededRow:
    """The same need, without other rows that are not necessary to show it."""
    before, after = need.table[: need.index], need.table[need.index + 1 :]
    row = need.table[need.index]
    change = difference(space, need.table, need.key, need.index)

    def same(before: Table, after: Table) -> bool:
        return difference(space, (*before, row, *after), need.key, len(before)) == change

    after = shrunk(after, lambda rows: same(before, rows))
    before = shrunk(before, lambda rows: same(rows, after))
    return NeededRow((*before, row, *after), need.key, len(before))
