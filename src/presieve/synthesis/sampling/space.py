# SPDX-License-Identifier: Apache-2.0
"""Untrusted. The space of one problem: classes, cells, leaves and concrete rows to try."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import islice, product
from math import prod
from random import Random
from typing import TypeVar

from presieve.ir.fold import Mode, Problem
from presieve.ir.terms import App, Op, Scope, Term
from presieve.ir.walk import subterms, variables
from presieve.semantics.fast_interpreter import CompiledProblem, State, compile_problem, predicates
from presieve.semantics.interpret import holds, key_env
from presieve.semantics.values import Value
from presieve.universe.boxes import Cell, possible_cells
from presieve.universe.coarse import Coarsening
from presieve.universe.regions import Partition, Region, partition
from presieve.universe.value_classes import Classes

MAX_CELLS = 5000
"""The product of all columns' regions is not searched if it has more cells."""

NO_ROWS = "no row satisfies what is assumed or declared"
"""The reason if a space is not inhabited."""

T = TypeVar("T")

_KEYS_TRIED = 12
_KEYS_SEEN = 2000
_TRIES = 100
_POOL = 6
_HIDDEN_TRIED = 16
"""The number of combinations of regions of hidden columns that rows of one cell are tried with."""


@dataclass(frozen=True)
class Space:
    """The fixed data of one problem. ``extra`` are further predicates whose constants matter;
    ``chosen`` are predicates over keys: only groups that satisfy them are of interest.
    """

    problem: Problem
    extra: tuple[Term, ...] = ()
    chosen: tuple[Term, ...] = ()

    def of(self, problem: Problem, chosen: tuple[Term, ...] = ()) -> Space:
        """The space of another problem: this one, with its cached values, if both are the same."""
        same = (self.problem, self.chosen, self.extra) == (problem, chosen, ())
        return self if same else Space(problem, chosen=chosen)

    @cached_property
    def classes(self) -> Classes:
        """The classes of values that meet."""
        facts = (a.term for a in self.problem.assumptions)
        return Classes(self.problem, (*self.extra, *self.chosen, *facts))

    @cached_property
    def machine(self) -> CompiledProblem:
        """The problem, compiled."""
        return compile_problem(self.problem)

    @cached_property
    def rows(self) -> tuple[Partition, ...]:
        """The regions of every input column, in the fold's order; coarser ones for columns that are
        only carried along, if there are too many cells otherwise.
        """
        fold = self.problem.fold
        fine = tuple(
            partition(fold.column(c.name), c.type, self.classes, self.problem) for c in fold.columns
        )
        if _size([*(fine[i] for i in self.visible), *self._mixed_keys]) <= MAX_CELLS:
            return fine
        coarsening = Coarsening(self.classes, self.problem, self.extra)
        return tuple(map(coarsening.coarser, fine))

    @cached_property
    def key_columns(self) -> tuple[Partition, ...]:
        """The regions of every grouping column, in the fold's order."""
        fold = self.problem.fold
        return tuple(
            partition(fold.key(c.name), c.type, self.classes, self.problem) for c in fold.keys
        )

    @cached_property
    def deciding_columns(self) -> tuple[int, ...]:
        """The numbers of the grouping columns that the filter, the fields or the errors read."""
        fold = self.problem.fold
        steps = [t for f in fold.fields for t in (f.init, f.step)]
        terms = [self.problem.where, fold.step_raises, fold.finish_raises, *steps]
        deciding = {v for v in variables(*terms) if v.scope is Scope.KEY}
        return tuple(i for i, p in enumerate(self.key_columns) if p.variable in deciding)

    @cached_property
    def visible(self) -> tuple[int, ...]:
        """The numbers of the input columns that Spark has, so that a pre-filter may read them."""
        return tuple(i for i, c in enumerate(self.problem.fold.columns) if not c.hidden)

    @cached_property
    def partitions(self) -> tuple[Partition, ...]:
        """The partitions whose product the cells are: of the input columns that Spark has, then of
        the deciding grouping columns.
        """
        return (*(self.rows[i] for i in self.visible), *self._mixed_keys)

    @cached_property
    def _mixed_keys(self) -> tuple[Partition, ...]:
        return tuple(self.key_columns[i] for i in self.deciding_columns)

    @cached_property
    def size(self) -> int:
        """The number of cells."""
        return _size(self.partitions)

    @cached_property
    def cells(self) -> list[Cell]:
        """All cells that rows can be in."""
        return possible_cells(self.partitions)

    @cached_property
    def absent_cells(self) -> frozenset[Cell]:
        """Cells that no row is in, since assumptions relate columns."""
        fold = self.problem.fold
        facts = [a.term for a in self.problem.assumptions if _separates_regions(a.term)]
        facts = [t for t in facts if fold.hidden.isdisjoint(variables(t))]
        if not facts:
            return frozenset()
        names = (Scope.ROW, [fold.columns[i].name for i in self.visible])
        test = predicates(facts, [names])
        regions = [self.rows[i].regions for i in self.visible]
        firsts = [[r.samples[0] if r.samples else None for r in column] for column in regions]
        absent_cells = []
        for cell in self.cells:
            row = tuple(column[i] for column, i in zip(firsts, cell, strict=False))
            if not all(test(row)):
                absent_cells.append(cell)
        return frozenset(absent_cells)

    @cached_property
    def is_inhabited(self) -> bool:
        """Whether the assumptions leave a value for every column; else there are no rows at all."""
        columns = (*self.rows, *self.key_columns)
        return all(any(r.possible for r in p.regions) for p in columns)

    @cached_property
    def keys(self) -> list[State]:
        """Group keys to try: a few values of every grouping column, if the assumptions allow."""
        values = [
            _simplest_first(s for r in p.regions if r.possible for s in r.samples[:1])
            for p in self.key_columns
        ]
        every = list(islice(product(*values), _KEYS_SEEN))
        return ([k for k in every if self.is_chosen(k)] or every)[:_KEYS_TRIED]

    def is_chosen(self, key: State) -> bool:
        """Whether a group is of interest."""
        names = [c.name for c in self.problem.fold.keys]
        env = key_env(dict(zip(names, key, strict=True)))
        return all(holds(term, env) for term in self.chosen)

    @cached_property
    def _facts(self) -> Callable[..., tuple[Value, ...]]:
        fold = self.problem.fold
        columns = (Scope.ROW, [c.name for c in fold.columns])
        keys = (Scope.KEY, [c.name for c in fold.keys])
        return predicates([a.term for a in self.problem.assumptions], [columns, keys])

    def is_admissible(self, row: State, key: State) -> bool:
        """Whether a row obeys the assumptions."""
        return all(self._facts(row, key))

    def has_result(self, nonempty: bool) -> bool:
        """Whether a group with, or without, a row has a result at all."""
        return nonempty or self.problem.mode is Mode.GLOBAL

    @cached_property
    def _places(self) -> list[dict[Value, int]]:
        """For every visible column, the region of each of its samples."""
        visible = (self.rows[n] for n in self.visible)
        return [{v: i for i, r in enumerate(p.regions) for v in r.samples} for p in visible]

    def cell_of(self, row: State, key: State) -> Cell:
        """The cell that a row of a group is in."""
        visible = [row[i] for i in self.visible] if len(self.visible) < len(self.rows) else row
        try:
            cell = tuple([places[v] for places, v in zip(self._places, visible, strict=True)])
        except KeyError:  # a value that is no sample, or another NaN
            cell = tuple(p.locate(v) for p, v in zip(self.partitions, visible, strict=False))
        return cell + self.key_cell(key) if self.deciding_columns else cell

    def key_cell(self, key: State) -> Cell:
        """The part of a row's cell that the group's key determines."""
        return tuple(self.key_columns[i].locate(key[i]) for i in self.deciding_columns)

    def cells_of(self, key: State) -> list[Cell]:
        """The cells that rows of one group can be in."""
        own = self.key_cell(key)
        return [c for c in self.cells if c[len(self.visible) :] == own] if own else self.cells

    def rows_in(self, cell: Cell, random: Random, count: int) -> list[State]:
        """Some rows of a cell: first samples of every region first, then random combinations.

        Empty if none of them obeys the assumptions. A cell has all values of hidden columns.
        """
        own = dict(zip(self.visible, cell, strict=False))
        choices = [
            [p.regions[own[i]]] if i in own else self._choices[i] for i, p in enumerate(self.rows)
        ]
        firsts = islice(product(*choices), _HIDDEN_TRIED)
        rows: list[State] = [tuple(r.samples[0] for r in regions) for regions in firsts]
        for _ in range(count - 1):
            rows.append(
                _pick([c[0] if len(c) == 1 else _choose(c, random) for c in choices], random)
            )
        rows = list(dict.fromkeys(rows))
        if not self.problem.assumptions:
            return rows
        return [r for r in rows if self.is_admissible(r, self.keys[0])]

    @cached_property
    def _pools(self) -> dict[Cell, list[State]]:
        return {}

    def pool(self, cell: Cell) -> list[State]:
        """A few rows of a cell, the same at each call."""
        if cell not in self._pools:
            self._pools[cell] = self.rows_in(cell, Random(len(self._pools)), _POOL)
        return self._pools[cell]

    @cached_property
    def _choices(self) -> list[list[Region]]:
        """The regions of every column that a value can be in."""
        return [[r for r in p.regions if r.possible] for p in self.rows]

    def random_row(self, random: Random) -> State:
        """A row of a random cell."""
        for _ in range(_TRIES):
            row = _pick([_choose(c, random) for c in self._choices], random)
            if not self.problem.assumptions or self.is_admissible(row, self.keys[0]):
                break
        return row

    def random_table(self, random: Random, length: int) -> tuple[State, ...]:
        """A table of ``length`` random rows."""
        return tuple([self.random_row(random) for _ in range(length)])


def _size(partitions: Sequence[Partition]) -> int:
    return prod(sum(r.possible for r in p.regions) for p in partitions)


_OF_REGIONS = frozenset({Op.AND, Op.OR, Op.NOT, Op.IS_NONE, Op.IS_NAN, Op.GET})


def _separates_regions(fact: Term) -> bool:
    """Whether a fact about several columns is true for all rows of a cell or for none."""
    inside = (t.op for t in subterms(fact) if isinstance(t, App))
    operands = variables(fact)
    return (
        len(operands) > 1
        and all(v.scope is Scope.ROW for v in operands)
        and all(op in _OF_REGIONS for op in inside)
    )


def _simplest_first(values: Iterable[Value]) -> list[Value]:
    """Put NULL and the empty string last: a key that a person sees should look like a key."""
    return sorted(values, key=lambda v: (v is None, v == ""))


def _pick(regions: Sequence[Region], random: Random) -> State:
    return tuple([_choose(r.samples, random) for r in regions])


def _choose(of: Sequence[T], random: Random) -> T:
    """As ``random.choice``, in a third of the time: exact uniformity is not needed."""
    return of[int(random.random() * len(of))]
