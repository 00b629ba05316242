"""Untrusted. Random walks: rows one after the other, looked at after each.

Each walk draws from some regions of every column only, chosen anew (swarm testing: Groce et al.,
ISSTA 2012). Where every walk could meet every region, none of ten rows would have ``first = 7`` for
its least: something smaller comes along.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from random import Random

from presieve.ir.terms import Term
from presieve.semantics.compile import State, agree
from presieve.synthesis.candidate import keeps
from presieve.synthesis.space import Space
from presieve.synthesis.tables import Table

WALKS = 300
"""Walks for one question."""

LENGTH = 14
"""Rows of a walk."""

_CELLS = (2, 7)
"""Regions of rows that one walk draws from, at least and at most."""


def _walks(space: Space, random: Random) -> Iterator[tuple[State, list[State]]]:
    """For every walk its key and its rows."""
    cells = {key: space.cells_of(key) for key in space.keys}
    for _ in range(WALKS):
        key = random.choice(space.keys)
        number = min(len(cells[key]), random.randint(*_CELLS))
        chosen = random.sample(cells[key], number)
        rows = [row for cell in chosen for row in space.rows_in(cell, random, 2)]
        if rows:
            yield key, random.choices(rows, k=LENGTH)


def accepted_tables(space: Space, random: Random) -> Iterator[tuple[Table, State]]:
    """Tables that the filter accepts: of every walk the shortest."""
    machine = space.machine
    for key, rows in _walks(space, random):
        state: State | None = machine.start(key)
        for i, row in enumerate(rows):
            state = machine.step(state, row, key)  # type: ignore[arg-type]
            if state is None:
                break
            if isinstance(machine.result(state, False, key), tuple):
                yield tuple(rows[: i + 1]), key
                break


def wrong_table(space: Space, prefilter: Term, random: Random) -> tuple[Table, State] | None:
    """A table on which the filter gives another result where the pre-filter goes first."""
    machine, kept = space.machine, keeps(space, prefilter)
    result = cache(machine.result)
    for key, rows in _walks(space, random):
        state: State | None = machine.start(key)
        twin, empty = state, True
        for i, row in enumerate(rows):
            state = machine.step(state, row, key)  # type: ignore[arg-type]
            if state is None:
                break
            if twin is not None and kept(row, key):
                twin, empty = machine.step(twin, row, key), False
            if empty or state != twin:
                before, after = result(state, False, key), result(twin, empty, key)
                if agree(before, after):
                    continue
                return tuple(rows[: i + 1]), key
    return None
