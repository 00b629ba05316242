# SPDX-License-Identifier: Apache-2.0
"""Untrusted. Tables that show that every row which a pre-filter keeps must be kept.

A table shows it for the row at its index, and for all rows that change the result in the same
place. Few tables speak for all rows: a solver finds a row for which no table speaks yet, and runs
find a table that does.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import combinations, islice

from presieve.ir.pushdown import Witness
from presieve.ir.terms import Scope, Term
from presieve.semantics.fast_interpreter import State
from presieve.smt.decode import decode_columns
from presieve.smt.solver import Effort, Sat, Solver, Unsat
from presieve.smt.two_runs import Runs
from presieve.synthesis.sampling.concrete_tables import NeededRow, Table, difference
from presieve.synthesis.sampling.space import Space
from presieve.synthesis.witness.as_terms import literals, region

_MAX_ROWS = 130
"""The maximum number of rows of a table that is given to the solver."""

_MAX_TABLES = 12
_TRIED = 600
"""The maximum number of tables that one row is put into."""


def covering_tables(
    space: Space,
    prefilter: Term,
    needs: Iterable[NeededRow],
    solver: Solver,
    effort: Callable[[], Effort],
) -> list[NeededRow] | None:
    """Some of the tables, or others derived from them, that speak for every kept row; none of them
    can be left out. None if no such tables are found.
    """
    short = sorted((n for n in needs if len(n.table) <= _MAX_ROWS), key=lambda n: len(n.table))
    chosen = _cover(space, short)
    question = _Question(space, prefilter, short, solver)
    for need in chosen:
        question.add(need)
    while len(question.chosen) <= _MAX_TABLES:
        answer = solver.check(question.names, effort())
        if isinstance(answer, Unsat):
            core = solver.check(question.names, _small(effort()))
            covering = core.core if isinstance(core, Unsat) else answer.core
            return [
                n
                for n, name in zip(question.chosen, question.names, strict=True)
                if name in covering
            ]
        if not isinstance(answer, Sat):
            return None
        row, key = question.row()
        others = (_table_needing(space, short, r, key) for r in _neighbours(row))
        known_places = {_place(n) for n in question.chosen}
        another = next((n for n in others if n and _place(n) not in known_places), None)
        if another is None:
            return None
        question.add(another)
    return None


def _place(need: NeededRow) -> tuple[Table, Table]:
    return need.table[: need.index], need.table[need.index + 1 :]


def _neighbours(row: State) -> Iterator[State]:
    """The row, and rows beside it, because a model's real numbers are rounded to doubles."""
    yield row
    if any(isinstance(v, float) for v in row):
        for end in (math.inf, -math.inf):
            yield tuple(math.nextafter(v, end) if isinstance(v, float) else v for v in row)


def _small(effort: Effort) -> Effort:
    return Effort(effort.work, effort.seconds, small_core=True)


class _Question:
    """A question to the solver: a kept row that makes no difference to the tables chosen so far."""

    def __init__(
        self, space: Space, prefilter: Term, needs: Sequence[NeededRow], solver: Solver
    ) -> None:
        self._space, self._solver = space, solver
        self._sorts = [c.sort for c in space.problem.fold.columns]
        literals = [v for n in needs for row in n.table for v in self._literals(row)]
        self._runs = Runs(space.problem, [prefilter, *literals])
        self._row = self._runs.row("r")
        self._runs.encoder.fact(self._runs.is_true(prefilter, self._row))
        solver.add(self._runs.encoder.take())
        self.chosen: list[NeededRow] = []
        self.names: list[str] = []

    def _literals(self, row: State) -> tuple[Term, ...]:
        return literals(row, self._sorts)

    def add(self, need: NeededRow) -> None:
        """Add a table."""
        runs, name = self._runs, f"idle{len(self.names)}"
        before, after = (
            [runs.literal_row(self._literals(r)) for r in part] for part in _place(need)
        )
        tells = runs.needs(self._row, before, after)
        runs.encoder.lines.append(f"(declare-const {name} Bool)")
        runs.encoder.fact(f"(=> {name} (not {tells}))")
        self._solver.add(runs.encoder.take())
        self.chosen.append(need)
        self.names.append(name)

    def row(self) -> tuple[State, State]:
        """The row and the key of the solver's model."""
        fold, points = self._space.problem.fold, self._runs.encoder.points
        return (
            decode_columns(self._row, Scope.ROW, fold.columns, self._solver, points),
            decode_columns(self._runs.keys, Scope.KEY, fold.keys, self._solver, points),
        )


def _cover(space: Space, needs: Sequence[NeededRow]) -> list[NeededRow]:
    """A few of the tables that speak for the rows of all of them."""
    chosen: list[NeededRow] = []
    remaining = list(needs)
    while remaining and len(chosen) < _MAX_TABLES:
        chosen.append(remaining[0])
        remaining = [
            n
            for n in remaining[1:]
            if not _makes_difference(space, remaining[0], n.table[n.index], n.key)
        ]
    return chosen


def _makes_difference(space: Space, need: NeededRow, row: State, key: State) -> bool:
    """Whether the row makes a difference in the place of the need's own row."""
    before, after = _place(need)
    table = (*before, row, *after)
    lawful = all(space.is_admissible(r, key) for r in table)
    return lawful and difference(space, table, key, len(before)) == "result"


def _table_needing(
    space: Space, needs: Sequence[NeededRow], row: State, key: State
) -> NeededRow | None:
    """A table in which this row changes the result."""
    for place in islice(_places(needs), _TRIED):
        if _makes_difference(space, place, row, key):
            table = (*place.table[: place.index], row, *place.table[place.index + 1 :])
            return NeededRow(table, key, place.index)
    return None


def _places(needs: Sequence[NeededRow]) -> Iterator[NeededRow]:
    """The places of the rows in question, and the row alone; then the ends and the middle of those
    tables, and of the same tables with up to two rows fewer.
    """
    yield from needs
    for key in dict.fromkeys(need.key for need in needs):
        yield NeededRow(((),), key, 0)
    tried_tables: set[Table] = set()
    for fewer in range(3):
        for need in needs:
            for table in combinations(need.table, max(len(need.table) - fewer, 0)):
                if table not in tried_tables:
                    tried_tables.add(table)
                    for at in sorted({0, len(table) // 2, len(table)}):
                        template: Table = (*table[:at], (), *table[at:])
                        yield NeededRow(template, need.key, at)


def as_witnesses(space: Space, needs: Iterable[NeededRow]) -> Iterator[Witness]:
    """These tables as literals, each with the region of its row."""
    fold = space.problem.fold
    for need in needs:
        cell = space.cell_of(need.table[need.index], need.key)
        rows = tuple(literals(r, [c.sort for c in fold.columns]) for r in need.table)
        key = literals(need.key, [c.sort for c in fold.keys])
        yield Witness(region(space, cell), key, rows, need.index)
