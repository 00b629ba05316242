# SPDX-License-Identifier: Apache-2.0
"""Untrusted. Tables that give another result when two neighbouring rows are exchanged.

Exchanging neighbours leads from any order of rows to any other. So if two orders differ, some
exchange on the way from one to the other makes the difference.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from random import Random
from typing import Literal

from msgspec import Struct

from presieve.ir.fold import Fold
from presieve.ir.sorts import BOOL, DATE, FLOAT, TEXTS, TIMESTAMP, Sort, strip
from presieve.ir.terms import App, Op, literal_value
from presieve.ir.walk import literals, subterms
from presieve.records import replace
from presieve.semantics.fast_interpreter import RAISED, State
from presieve.semantics.values import Value, same
from presieve.synthesis import clock
from presieve.synthesis.sampling.concrete_tables import Table, pump_tables
from presieve.synthesis.sampling.space import Space

Cause = Literal["value", "error", "rounding", "nan", "zero"]
"""How two orders differ: another value or another group, an error in one of them alone, the last
bits of floating-point arithmetic, a NaN that is read or computed, the sign of a zero.
"""

CAUSES: tuple[Cause, ...] = ("value", "error", "rounding", "nan", "zero")
"""The cause that tells a reader most comes first."""

_TABLES = 300
_TIES = 0.3
_ROUNDED = 5
_TENTHS = (0.1, 0.2, 0.3)
_SHORT = 8
_LONGEST = 200
_ARITHMETIC = {Op.FLOAT_ADD, Op.FLOAT_SUB, Op.FLOAT_MUL, Op.FLOAT_DIV}
_DAY = 86_400_000_000


class Exchange(Struct, frozen=True):
    """The table gives another result once the rows at ``index`` and ``index + 1`` are exchanged."""

    table: Table
    key: State
    index: int
    cause: Cause

    @property
    def exchanged(self) -> Table:
        """The table in the other order."""
        return swap_neighbours(self.table, self.index)


def swap_neighbours(table: Table, i: int) -> Table:
    """The table with two neighbouring rows exchanged."""
    return (*table[:i], table[i + 1], table[i], *table[i + 2 :])


def agree(a: object, b: object) -> bool:
    """Whether two outcomes of a machine are the same. Unlike for a rewrite, an error agrees only
    with an error.
    """
    if isinstance(a, tuple) and isinstance(b, tuple):
        return all(same(x, y) for x, y in zip(a, b, strict=True))
    return a is b


@dataclass(frozen=True)
class Orders:
    """The orders of small tables of one problem."""

    space: Space

    # --- tables to try ------------------------------------------------------------------------

    def tables(self, random: Random) -> Iterator[tuple[Table, State]]:
        """Yield random tables of two to six rows, then long ones for filters that count. The
        best-known sum that rounds comes first.
        """
        keys = self.space.keys
        if self.arithmetic:
            for _ in range(_ROUNDED):
                rows = (self.space.random_row(random) for _ in _TENTHS)
                rounded = zip(rows, _TENTHS, strict=True)
                yield tuple(self._with_doubles(*r) for r in rounded), random.choice(keys)
        for i in range(_TABLES):
            yield self._table(random, 2 + i % 5), random.choice(keys)
        for table, key in pump_tables(self.space, random):
            if len(table) <= _LONGEST:
                yield tuple(reversed(table)), key

    def _table(self, random: Random, length: int) -> Table:
        """A random table. Some rows differ from an earlier one in one column: orders differ at
        ties.
        """
        rows = [self._row(random)]
        while len(rows) < length:
            row = self._row(random)
            if row and random.random() < _TIES:
                i = random.randrange(len(row))
                earlier = random.choice(rows)
                row = self._admissible((*earlier[:i], row[i], *earlier[i + 1 :]), row)
            rows.append(row)
        return tuple(rows)

    def _row(self, random: Random) -> State:
        row = self.space.random_row(random)
        for i, column in enumerate(self.space.problem.fold.columns):
            if strip(column.sort) == FLOAT and random.random() < self._odds:
                value = random.choice(self._doubles)
                row = self._admissible((*row[:i], value, *row[i + 1 :]), row)
        return row

    def _with_doubles(self, row: State, value: float) -> State:
        columns = self.space.problem.fold.columns
        pairs = zip(row, columns, strict=True)
        return tuple(value if strip(c.sort) == FLOAT else v for v, c in pairs)

    def _admissible(self, row: State, otherwise: State) -> State:
        return row if self.space.is_admissible(row, self.space.keys[0]) else otherwise

    def all_admissible(self, table: Table, key: State) -> bool:
        """Whether all rows obey the assumptions."""
        return all(self.space.is_admissible(row, key) for row in table)

    @property
    def _odds(self) -> float:
        return 0.6 if self.arithmetic else 0.25

    @cached_property
    def arithmetic(self) -> bool:
        """Whether the fold computes with doubles, so that its result may be rounded."""
        fold = self.space.problem.fold
        return any(isinstance(n, App) and n.op in _ARITHMETIC for n in _nodes(fold))

    @cached_property
    def _doubles(self) -> list[float]:
        """Doubles that show rounding, of the size of the problem's constants, and the two zeros."""
        if not self.arithmetic:
            return [0.0, -0.0]
        fold = self.space.problem.fold
        steps = [t for f in fold.fields for t in (f.init, f.step)]
        facts = (a.term for a in self.space.problem.assumptions)
        terms = [self.space.problem.where, *steps, *(o.term for o in fold.outputs), *facts]
        values = (literal_value(x) for x in literals(*terms))
        numbers = [float(v) for v in values if isinstance(v, int | float) and abs(v) < 1e305]
        around = [x for c in numbers if c for x in (c + 0.1, c - 0.1, c / 3, c * 0.7, c * 1.1)]
        return [*_TENTHS, 0.7, *(-x for x in _TENTHS), -0.7, *around, 0.0, -0.0]

    # --- differences --------------------------------------------------------------------------

    def search(
        self, random: Random, tables: Iterable[tuple[Table, State]], deadline: float
    ) -> Exchange | None:
        """The most telling difference among those that some orders of the tables show."""
        best: Exchange | None = None
        for table, key in tables:
            for order in _orders(table, random) if self.all_admissible(table, key) else ():
                exchange = self._exchange_between(table, order, key)
                best = clearest(best, exchange)
            if clock.now() > deadline or (best and best.cause == CAUSES[0]):
                break
        return best and self._with_simple_values(self._without_needless_rows(best))

    def exchange(self, table: Table, key: State) -> Exchange | None:
        """Two neighbours of the table whose exchange makes a difference."""
        for i in range(len(table) - 1 if self.all_admissible(table, key) else 0):
            if self.differs(table, key, i):
                return self._with_simple_values(
                    self._without_needless_rows(self._with_cause(table, key, i))
                )
        return None

    def differs(self, table: Table, key: State, i: int) -> bool:
        """Whether exchanging two neighbours changes what the pipeline yields."""
        outcome = self.space.machine.outcome
        return not agree(outcome(table, key), outcome(swap_neighbours(table, i), key))

    def _exchange_between(self, table: Table, order: Sequence[int], key: State) -> Exchange | None:
        """The exchange that makes the difference on the way from a table to another order."""
        outcome = self.space.machine.outcome
        before = outcome(table, key)
        if agree(before, outcome(tuple(table[i] for i in order), key)):
            return None
        for now, i in _way(table, order):
            if not same(now[i], now[i + 1]) and not agree(
                before, outcome(swap_neighbours(now, i), key)
            ):
                return self._with_cause(now, key, i)
        return None

    def _with_cause(self, table: Table, key: State, i: int) -> Exchange:
        return Exchange(table, key, i, self._cause(table, swap_neighbours(table, i), key))

    def _cause(self, table: Table, reordered: Table, key: State) -> Cause:
        machine = self.space.machine
        states = [machine.run(t, key) for t in (table, reordered)]
        ends = [s and machine.finish(s, key) for s in states]
        if RAISED in [machine.outcome(t, key) for t in (table, reordered)]:
            return "error"
        if _same_but_floats(ends[0], ends[1], _equal):
            return "zero"
        pairs = (states, ends) if self.arithmetic else ()
        if any(_same_but_floats(a, b, _close) for a, b in pairs):
            return "rounding"
        return "nan" if _has_nan((*table, *states)) else "value"

    # --- simpler tables -----------------------------------------------------------------------

    def _without_needless_rows(self, exchange: Exchange) -> Exchange:
        """Leave out unnecessary rows, and take the simplest group that still differs."""
        i = len(exchange.table) - 1
        while i >= 0:
            if i not in (exchange.index, exchange.index + 1):
                less = (*exchange.table[:i], *exchange.table[i + 1 :])
                exchange = self._better(
                    exchange, less, exchange.key, exchange.index - (i < exchange.index)
                )
            i -= 1
        for key in self.space.keys:
            if self._better(exchange, exchange.table, key, exchange.index) is not exchange:
                return replace(exchange, key=key)
        return exchange

    def _with_simple_values(self, exchange: Exchange) -> Exchange:
        """Use simple values wherever they show the same difference, or a more telling one."""
        columns = self.space.problem.fold.columns
        for i in range(min(len(exchange.table), _SHORT)):
            for j, column in enumerate(columns):
                regions = self.space.rows[j]
                samples = regions.regions[regions.locate(exchange.table[i][j])].samples
                for value in (*_simple_values(column.sort, exchange.cause), *samples):
                    if same(exchange.table[i][j], value):
                        break
                    row = (*exchange.table[i][:j], value, *exchange.table[i][j + 1 :])
                    table = (*exchange.table[:i], row, *exchange.table[i + 1 :])
                    better = self._better(exchange, table, exchange.key, exchange.index)
                    if better is not exchange:
                        exchange = better
                        break
        return exchange

    def _better(self, exchange: Exchange, table: Table, key: State, index: int) -> Exchange:
        """The exchange with the new table if that is admissible and tells no less, else the old
        one.
        """
        if not self.all_admissible(table, key) or not self.differs(table, key, index):
            return exchange
        candidate = self._with_cause(table, key, index)
        return candidate if _rank(candidate) <= _rank(exchange) else exchange


def clearest(a: Exchange | None, b: Exchange | None) -> Exchange | None:
    """The exchange that tells a reader more; the first if they tell as much."""
    return b if a is None or (b is not None and _rank(b) < _rank(a)) else a


def _rank(exchange: Exchange) -> int:
    return CAUSES.index(exchange.cause)


def _nodes(fold: Fold) -> Iterator[object]:
    for term in (*(f.step for f in fold.fields), *(o.term for o in fold.outputs)):
        yield from subterms(term)


def _orders(table: Table, random: Random) -> Iterator[Sequence[int]]:
    """Other orders of a table: the first row last, backwards, and a random order."""
    if len(table) < 2:
        return
    places = list(range(len(table)))
    yield [*places[1:], 0]
    if 2 < len(table) <= _SHORT:
        yield places[::-1]
        random.shuffle(places)
        yield places


def _way(table: Table, order: Sequence[int]) -> Iterator[tuple[Table, int]]:
    """Yield the exchanges of neighbours that lead from the table to another order of it."""
    rows = list(table)
    goal = [0] * len(rows)
    for place, i in enumerate(order):
        goal[i] = place
    for end in range(len(rows) - 1, 0, -1):
        for i in range(end):
            if goal[i] > goal[i + 1]:
                yield tuple(rows), i
                rows[i], rows[i + 1] = rows[i + 1], rows[i]
                goal[i], goal[i + 1] = goal[i + 1], goal[i]


def _has_nan(value: Value) -> bool:
    if isinstance(value, tuple):
        return any(_has_nan(v) for v in value)
    return isinstance(value, float) and math.isnan(value)


def _same_but_floats(a: Value, b: Value, floats: Callable[[float, float], bool]) -> bool:
    """Whether two values are the same except for floats, which ``floats`` compares."""
    if isinstance(a, tuple) and isinstance(b, tuple):
        return len(a) == len(b) and all(
            _same_but_floats(x, y, floats) for x, y in zip(a, b, strict=True)
        )
    if isinstance(a, float) and isinstance(b, float):
        return same(a, b) or floats(a, b)
    return same(a, b)


def _equal(a: float, b: float) -> bool:
    return a == b


def _close(a: float, b: float) -> bool:
    return math.isclose(a, b, rel_tol=1e-9, abs_tol=1e-9)


def _simple_values(sort: object, cause: Cause) -> tuple[Value, ...]:
    base = strip(sort)  # type: ignore[arg-type]
    if base == FLOAT:
        return _TENTHS if cause == "rounding" else (1.0, 2.0, 3.0)
    if base in TEXTS:
        return ("a", "b", "c")
    if base == BOOL:
        return ()
    steps: dict[Sort, tuple[int, int]] = {DATE: (19723, 1), TIMESTAMP: (19723 * _DAY, _DAY)}
    first, step = steps.get(base, (1, 1))
    return tuple(first + step * i for i in range(3))
