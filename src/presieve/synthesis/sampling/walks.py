"""Untrusted. Random walks: rows one after the other, looked at after each.

Each walk draws from some regions of every column only, chosen anew (swarm testing: Groce et al.,
ISSTA 2012). Where every walk could meet every region, none of ten rows would have ``first = 7`` for
its least: something smaller comes along.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Sequence
from functools import cache
from random import Random

from presieve.semantics.compile import Machine, State, agree
from presieve.synthesis.sampling.space import Space
from presieve.synthesis.sampling.tables import Table
from presieve.universe.boxes import Cell, cover, holds

WALKS = 300
"""Walks for one question."""

LENGTH = 14
"""Rows of a walk."""

MAX_ROWS = 8
"""Rows of a table to learn invariants from, at most."""

_CELLS = (1, 6)
"""Regions of rows that one walk draws from, at least and at most."""


def walks(
    space: Space, random: Random, focus: Sequence[Sequence[Cell]] = ()
) -> Iterator[tuple[State, list[State]]]:
    """For every walk its key and its rows. Each draws from a cell of one of the ``focus`` too, of
    each in turn.
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


def dropped(space: Space, kept: Collection[Cell]) -> list[list[Cell]]:
    """The cells that are not kept, in boxes: each is dropped for a reason of its own."""
    others = [c for c in space.cells if c not in kept]
    boxes = cover(space.partitions, others, kept)
    return [[c for c in others if holds(box, c)] for box in boxes]


def accepted_tables(space: Space, random: Random) -> Iterator[tuple[Table, State]]:
    """Tables that the filter accepts: of every walk the shortest."""
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
    space: Space, random: Random, kept: Collection[Cell]
) -> Iterator[tuple[Table, State]]:
    """Tables of up to :data:`FEW` rows on which dropping the rows that are not kept leaves another
    state: of every walk the longest.
    """

    def keeps(row: State, key: State) -> bool:
        return space.cell_of(row, key) in kept

    for key, rows in walks(space, random, dropped(space, kept)):
        apart = 0
        for i, (state, twin, empty) in enumerate(_both(space.machine, rows[:MAX_ROWS], key, keeps)):
            if twin is None:
                break
            if not empty and state != twin:
                apart = i + 1
        if apart:
            yield tuple(rows[:apart]), key


def wrong_tables(
    space: Space, random: Random, kept: Callable[[], Collection[Cell]]
) -> Iterator[tuple[Table, State]]:
    """Tables on which the filter gives another result where only rows of the cells that are
    ``kept`` go in: of every walk the shortest. What is kept may grow between two of them.
    """
    result = cache(space.machine.result)

    def keeps(row: State, key: State) -> bool:
        return space.cell_of(row, key) in kept()

    for key, rows in walks(space, random, dropped(space, kept())):
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
    pushed: Machine,
) -> Iterator[tuple[Table, State]]:
    """Tables on which a pushdown gives another result: of every walk the shortest. ``pushed`` is
    the machine with the residual for its filter.
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
    machine: Machine, rows: Sequence[State], key: State, keeps: Callable[[State, State], bool]
) -> Iterator[tuple[State, State | None, bool]]:
    """After each row: the state of the run over all rows, that of the run over those that are kept
    (None once it has raised), and whether none was. Up to a row on which the first run raises.
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
