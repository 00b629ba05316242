# SPDX-License-Identifier: Apache-2.0
"""Untrusted. Random walks: rows one after the other, with a check after each row.

Each walk draws from only some regions of every column, chosen anew (swarm testing: Groce et al.,
ISSTA 2012). If every walk could meet every region, ten rows would never have ``first = 7`` as their
least value: something smaller comes along.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Sequence
from functools import cache
from random import Random

from presieve.semantics.fast_interpreter import CompiledProblem, State, agree
from presieve.synthesis.sampling.concrete_tables import Table
from presieve.synthesis.sampling.space import Space
from presieve.universe.boxes import Cell, cover, holds

WALKS = 300
"""The number of walks for one question."""

LENGTH = 14
"""The number of rows of a walk."""

MAX_ROWS = 8
"""The maximum number of rows of a table to learn invariants from."""

_CELLS = (1, 6)
"""The number of regions of rows that one walk draws from, at least and at most."""


def walks(
    space: Space, random: Random, focus: Sequence[Sequence[Cell]] = ()
) -> Iterator[tuple[State, list[State]]]:
    """Yield the key and the rows of every walk. Each walk also draws from a cell of one list in
    ``focus``, taking the lists in turn.
    """
    cells = {key: space.cells_of(key) for key in space.keys}
    for i in range(WALKS):
        key = random.choice(space.keys)
        number = min(len(cells[key]), random.randint(*_CELLS))
        chosen = random.sample(cells[key], number)
        if focus:
            chosen.append(random.choice(focus[i % len(focus)]))
        rows = [row for cell in chosen for row in _some(space.pool(cell), random)]
        if rows:
            yield key, random.choices(rows, k=LENGTH)


def box_dropped_cells(space: Space, kept_cells: Collection[Cell]) -> list[list[Cell]]:
    """The dropped cells, in boxes: each box is dropped for a reason of its own."""
    others = [c for c in space.cells if c not in kept_cells]
    boxes = cover(space.partitions, others, kept_cells)
    return [[c for c in others if holds(box, c)] for box in boxes]


def accepted_tables(space: Space, random: Random) -> Iterator[tuple[Table, State]]:
    """Yield tables that the filter accepts: the shortest of every walk."""
    machine = space.machine
    for key, rows in walks(space, random):
        state: State | None = machine.start(key)
        for i, row in enumerate(rows):
            state = machine.step(state, row, key)  # type: ignore[arg-type]
            if state is None:
                break
            if isinstance(machine.result(state, False, key), tuple):
                yield tuple(rows[: i + 1]), key
                break


def parted_tables(
    space: Space, random: Random, kept_cells: Collection[Cell]
) -> Iterator[tuple[Table, State]]:
    """Yield tables of up to :data:`MAX_ROWS` rows for which dropping the rows outside of the kept
    cells leads to another state: the longest of every walk.
    """

    def keeps(row: State, key: State) -> bool:
        return space.cell_of(row, key) in kept_cells

    for key, rows in walks(space, random, box_dropped_cells(space, kept_cells)):
        apart = 0
        for i, (state, twin, empty) in enumerate(_both(space.machine, rows[:MAX_ROWS], key, keeps)):
            if twin is None:
                break
            if not empty and state != twin:
                apart = i + 1
        if apart:
            yield tuple(rows[:apart]), key


def wrong_tables(
    space: Space, random: Random, kept_cells: Callable[[], Collection[Cell]]
) -> Iterator[tuple[Table, State]]:
    """Yield tables for which the filter gives another result if only rows of the kept cells go in:
    the shortest of every walk. ``kept_cells`` may give more cells between two tables.
    """
    result = cache(space.machine.result)

    def keeps(row: State, key: State) -> bool:
        return space.cell_of(row, key) in kept_cells()

    for key, rows in walks(space, random, box_dropped_cells(space, kept_cells())):
        for i, (state, twin, empty) in enumerate(_both(space.machine, rows, key, keeps)):
            if empty or state != twin:
                before, after = result(state, False, key), result(twin, empty, key)
                if not agree(before, after):
                    yield tuple(rows[: i + 1]), key
                    break


def refuting_tables(
    space: Space,
    random: Random,
    keeps: Callable[[State, State], bool],
    pushed: CompiledProblem,
) -> Iterator[tuple[Table, State]]:
    """Yield tables on which a pushdown gives another result: the shortest of every walk. ``pushed``
    is the machine with the residual as its filter.
    """
    machine = space.machine
    others = [c for c in space.cells if _drops(space, c, keeps, random)]
    for key, rows in walks(space, random, [others] if others else []):
        for i, (state, twin, empty) in enumerate(_both(machine, rows, key, keeps)):
            before, after = machine.result(state, False, key), pushed.result(twin, empty, key)
            if not agree(before, after):
                yield tuple(rows[: i + 1]), key
                break


def _both(
    machine: CompiledProblem,
    rows: Sequence[State],
    key: State,
    keeps: Callable[[State, State], bool],
) -> Iterator[tuple[State, State | None, bool]]:
    """Yield after each row: the state of the run over all rows, the state of the run over the kept
    rows (None after it has raised), and whether no row was kept. Ends at a row on which the first
    run raises.
    """
    state = machine.start(key)
    twin: State | None = state
    empty = True
    for row in rows:
        after = machine.step(state, row, key)
        if after is None:
            return
        state = after
        if twin is not None and keeps(row, key):
            twin, empty = machine.step(twin, row, key), False
        yield state, twin, empty


def _drops(space: Space, cell: Cell, keeps: Callable[[State, State], bool], random: Random) -> bool:
    """Whether a pre-filter drops rows of a cell."""
    key = space.keys[0]
    return any(not keeps(row, key) for row in space.rows_in(cell, random, 2))


def _some(pool: list[State], random: Random) -> list[State]:
    """Two neighbours of the pool."""
    at = int(random.random() * len(pool))
    return [pool[at], pool[at - 1]] if len(pool) > 1 else pool
