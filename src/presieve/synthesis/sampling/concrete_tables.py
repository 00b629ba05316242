# SPDX-License-Identifier: Apache-2.0
"""Untrusted. Concrete tables: those that the filter accepts, and the rows that they cannot do
without.

A row is needed if some table's result changes when it is left out (docs/theory.md, iii). Either the
table with it or the one without is accepted, so it suffices to look around accepted tables.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain, islice
from random import Random
from types import MappingProxyType
from typing import Literal, TypeAlias

from msgspec import Struct

from presieve.ir.terms import literal_value
from presieve.ir.walk import literals
from presieve.semantics.fast_interpreter import RAISED, State, agree
from presieve.synthesis import clock
from presieve.synthesis.sampling.space import Space
from presieve.universe.boxes import Cell

Table = tuple[State, ...]

RANDOM_TABLES = 500
MUTATIONS = 600
MAX_ACCEPTED = 60
_PUMP_LIMIT = 3000
_ROWS_TRIED = 4
_KEYS_ALONE = 4
_POOL = 400
_NEAR = 40
_FEWEST_TRIES, _MOST_TRIES, _ALL_TRIES = 40, 240, 120_000
"""How often a row of one cell is put into a table, at least and at most, and about how often for
all cells together.
"""


class NeededRow(Struct, frozen=True):
    """Without the row at ``index`` the table gives another result, or raises."""

    table: Table
    key: State
    index: int


@dataclass(slots=True)
class Finding:
    """The findings from running the tables of a space: accepted tables and a witness per needed
    cell.

    ``guards`` keep a table from raising. That is no witness, since the rows that raise may be
    dropped with them; they stay only if dropping them was seen to fail (``guarded``).
    """

    accepted: list[tuple[Table, State]] = field(default_factory=list)
    needs: dict[Cell, NeededRow] = field(default_factory=dict)
    guards: dict[Cell, NeededRow] = field(default_factory=dict)
    guarded: bool = False

    @property
    def kept_cells(self) -> dict[Cell, NeededRow]:
        """The cells that a pre-filter has to keep, as far as is known."""
        return {**self.guards, **self.needs} if self.guarded else self.needs

    @property
    def witnessed(self) -> bool:
        """Whether there is a witness for each of these cells."""
        return len(self.kept_cells) == len(self.needs)


Difference: TypeAlias = Literal["none", "result", "error"]


def difference(space: Space, table: Table, key: State, index: int) -> Difference:
    """The change when one row is left out: none, another result of the pipeline, or an error."""
    without = table[:index] + table[index + 1 :]
    before, after = space.machine.outcome(table, key), space.machine.outcome(without, key)
    if agree(before, after):
        return "none"
    return "error" if after is RAISED else "result"


def explore(
    space: Space,
    random: Random,
    deadline: float,
    seeds: Sequence[tuple[Table, State]] = (),
    known_needs: Mapping[Cell, NeededRow] = MappingProxyType({}),
) -> Finding:
    """Find accepted tables, then the cells whose rows are needed around them.

    It returns what it has found at the ``deadline`` (of the search's clock), the last guard.
    ``seeds`` are tables to look at first, ``known_needs`` witnesses that need not be found again.
    """
    finding = Finding(needs=dict(known_needs))

    def offer(tables: Iterable[tuple[Table, State]], enough: int = MAX_ACCEPTED) -> None:
        for table, key in tables:
            if clock.now() > deadline or len(finding.accepted) >= enough:
                return
            _offer(space, finding, table, key)

    offer(chain(seeds, _random_tables(space, random)))
    if not finding.accepted:
        offer(pump_tables(space, random), enough=4)
    _mutate(space, finding, random, deadline)
    for table, key in finding.accepted:
        note_removals(space, finding, table, key)
    note_insertions(space, finding, finding.accepted, random, deadline)
    _note_single(space, finding, random)
    return finding


def _note_single(space: Space, finding: Finding, random: Random) -> None:
    """Note rows that the filter accepts alone: equalities with constants may accept no others."""
    for key in space.keys[:_KEYS_ALONE]:
        for cell in space.cells_of(key):
            if cell in finding.needs:
                continue
            for row in space.rows_in(cell, random, 1):
                if difference(space, (row,), key, 0) == "result":
                    finding.needs[cell] = NeededRow((row,), key, 0)


def _offer(space: Space, finding: Finding, table: Table, key: State) -> bool:
    """Keep a table that the filter accepts."""
    if len(finding.accepted) >= MAX_ACCEPTED:
        return False
    outcome = space.machine.outcome(table, key)
    if isinstance(outcome, tuple) and (table, key) not in finding.accepted:
        finding.accepted.append((table, key))
        return True
    return False


def _random_tables(space: Space, random: Random) -> Iterator[tuple[Table, State]]:
    """Tables of one to six rows. After some hundred rows, tables reuse them, which is faster."""
    yield (), space.keys[0]
    pool: list[State] = []
    for i in range(RANDOM_TABLES):
        length = 1 + i % 6
        if len(pool) < _POOL:
            table = space.random_table(random, length)
            pool += table
        else:
            table = tuple(random.choices(pool, k=length))
        yield table, random.choice(space.keys)


def pump_tables(space: Space, random: Random) -> Iterator[tuple[Table, State]]:
    """Long tables for filters that count: rows repeated as often as the filter's integers say."""
    counts = sorted({n + d for n in thresholds(space) for d in (0, 1) if n + d > 1})
    for count in counts:
        for _ in range(40):
            row = space.random_row(random)
            others = space.random_table(random, random.randrange(3))
            yield (row,) * count + others, random.choice(space.keys)


def thresholds(space: Space) -> set[int]:
    """The integers of the filter, up to a size that is cheap to count to."""
    integers: set[int] = set()
    for x in literals(space.problem.where):
        n = literal_value(x)
        if isinstance(n, int | float) and not isinstance(n, bool) and 1 < n <= _PUMP_LIMIT:
            integers.add(int(n))
    return integers


def _mutate(space: Space, finding: Finding, random: Random, deadline: float) -> None:
    """Walk from accepted tables to accepted neighbours: drop, add, replace or swap rows."""
    for _ in range(MUTATIONS if finding.accepted else 0):
        if len(finding.accepted) >= MAX_ACCEPTED or clock.now() > deadline:
            return
        table, key = random.choice(finding.accepted)
        rows = list(table)
        i = random.randrange(len(rows) + 1)
        match random.randrange(4):
            case 0 if rows:
                del rows[min(i, len(rows) - 1)]
            case 1:
                rows.insert(i, space.random_row(random))
            case 2 if rows:
                rows[min(i, len(rows) - 1)] = space.random_row(random)
            case _:
                random.shuffle(rows)
        _offer(space, finding, tuple(rows), key)


def note_removals(space: Space, finding: Finding, table: Table, key: State) -> None:
    """Note rows of an accepted table without which the result changes."""
    for i, row in enumerate(table[:12]):
        cell = space.cell_of(row, key)
        if cell in finding.needs:
            continue
        change = difference(space, table, key, i)
        if change == "result":
            finding.needs[cell] = NeededRow(table, key, i)
        elif change == "error":
            finding.guards.setdefault(cell, NeededRow(table, key, i))


class _Place(Struct, frozen=True):
    """A place between two rows of an accepted table: the state before, the later rows, the end."""

    table: Table
    key: State
    at: int
    state: State
    rest: Table
    end: State | None
    outcome: object


def _places(
    space: Space, tables: Iterable[tuple[Table, State]], random: Random
) -> Iterator[list[_Place]]:
    """Yield the places where rows can be inserted: the ends and the middle of the tables, in random
    order.

    One list for each set of groups whose rows are in the same cells.
    """
    machine = space.machine
    by_key_cell: dict[Cell, list[_Place]] = {}
    for table, key in tables:
        end, outcome = machine.run(table, key), machine.outcome(table, key)
        for at in sorted({0, len(table), len(table) // 2}):
            state = machine.run(table[:at], key)
            if state is not None:
                place = _Place(table, key, at, state, table[at:], end, outcome)
                by_key_cell.setdefault(space.key_cell(key), []).append(place)
    for places in by_key_cell.values():
        random.shuffle(places)
        yield places


def note_insertions(
    space: Space,
    finding: Finding,
    tables: Iterable[tuple[Table, State]],
    random: Random,
    deadline: float,
) -> None:
    """Note rows that change the result of one of these tables when they are added."""
    for places in _places(space, tables, random):
        _insert(space, finding, places, random, deadline)


def _insert(
    space: Space, finding: Finding, places: list[_Place], random: Random, deadline: float
) -> None:
    machine = space.machine
    cells = [c for c in space.cells_of(places[0].key) if c not in finding.needs]
    tries = max(_FEWEST_TRIES, min(_MOST_TRIES, _ALL_TRIES // max(1, len(cells))))
    for n, cell in enumerate(cells):
        if clock.now() > deadline:
            return
        rows = space.rows_in(cell, random, _ROWS_TRIED)
        tried: set[tuple[int, int]] = set()
        for t in range(min(tries, 2 * len(places) * len(rows))):
            # Every second try uses the place that worked before; the others take each place in
            # turn.
            index = t // 2 if t % 2 else n + t // 2
            turn, index = divmod(index, len(places))
            pair = index, (t // 2 + turn) % len(rows)
            if pair in tried:
                continue
            tried.add(pair)
            place, row = places[index], rows[pair[1]]
            # The two zeros count as one state here; a difference between them is for the solver to
            # find.
            state = machine.step(place.state, row, place.key)
            if state == place.state:
                continue
            state = state and machine.resume(state, place.rest, place.key)
            if state is not None and state == place.end:
                continue
            if not agree(machine.result(state, False, place.key), place.outcome):
                longer = (*place.table[: place.at], row, *place.rest)
                finding.needs[cell] = NeededRow(longer, place.key, place.at)
                places.insert(0, places.pop(index))
                break


def needs_near(
    space: Space, cell: Cell, tables: Iterable[tuple[Table, State]]
) -> Iterator[NeededRow]:
    """Yield witnesses for one cell: its rows put before, after or amidst these tables' rows."""
    for table, key in islice(tables, _NEAR):
        for row in space.pool(cell):
            for at in sorted({0, len(table) // 2, len(table)}):
                longer = (*table[:at], row, *table[at:])
                if difference(space, longer, key, at) == "result":
                    yield NeededRow(longer, key, at)


def accepts_all(space: Space) -> bool:
    """Whether the filter accepts all of some random groups, so that it may be always true."""
    random = Random(3)
    tables = [space.random_table(random, 1 + i % 5) for i in range(60)]
    outcomes = (space.machine.outcome(t, k) for t in tables for k in space.keys[:2])
    return all(isinstance(o, tuple) for o in outcomes)


def generalize(
    space: Space, finding: Finding, wrong: tuple[Table, State], random: Random, deadline: float
) -> bool:
    """Generalize a wrong table to a needed cell: leave dropped rows out one by one until the result
    changes. True if that taught a new needed cell, or that the candidate makes tables raise: then
    every cell stays that is known to keep a table from raising.
    """
    table, key = wrong
    rows, i = list(table), 0
    while i < len(rows):
        cell = space.cell_of(rows[i], key)
        if cell in finding.kept_cells:
            i += 1
            continue
        now = tuple(rows)
        change = difference(space, now, key, i)
        if change == "result" and cell not in finding.needs:
            finding.needs[cell] = NeededRow(now, key, i)
            around = [(now, key), (now[:i] + now[i + 1 :], key)]
            note_insertions(space, finding, around, random, deadline)
            return True
        if change == "error":
            finding.guards.setdefault(cell, NeededRow(now, key, i))
            i += 1
        else:
            del rows[i]
    before = len(finding.kept_cells)
    finding.guarded = True
    return len(finding.kept_cells) > before
