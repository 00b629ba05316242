"""Untrusted. The space of one problem: classes, cells, leaves and concrete rows to try."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import islice, product
from random import Random

from presieve.ir.fold import Mode, Problem
from presieve.ir.terms import Scope, Term, Var
from presieve.semantics.compile import Machine, State, compile_problem
from presieve.semantics.interpret import holds, key_env
from presieve.semantics.values import Value
from presieve.universe.boxes import Cell, possible_cells
from presieve.universe.classes import Classes
from presieve.universe.regions import Partition, Region, partition

MAX_CELLS = 5000
"""Beyond this many cells the product of all columns' regions is not searched."""

_KEYS_TRIED = 12
_KEYS_SEEN = 2000


@dataclass(frozen=True)
class Space:
    """What is fixed for one problem. ``extra`` are further predicates whose constants matter,
    ``chosen`` predicates over keys: only groups that satisfy them are of interest.
    """

    problem: Problem
    extra: tuple[Term, ...] = ()
    chosen: tuple[Term, ...] = ()

    @cached_property
    def classes(self) -> Classes:
        """Values that meet."""
        return Classes(self.problem, (*self.extra, *self.chosen))

    @cached_property
    def machine(self) -> Machine:
        """The problem, compiled."""
        return compile_problem(self.problem)

    @cached_property
    def partitions(self) -> tuple[Partition, ...]:
        """The regions of every input column, in the fold's order."""
        fold = self.problem.fold
        return tuple(
            partition(fold.column(c.name), c.type, self.classes, self.problem) for c in fold.columns
        )

    @cached_property
    def size(self) -> int:
        """How many cells there are."""
        size = 1
        for p in self.partitions:
            size *= sum(r.possible for r in p.regions)
        return size

    @cached_property
    def cells(self) -> list[Cell]:
        """All cells that rows can be in."""
        return possible_cells(self.partitions)

    @cached_property
    def keys(self) -> list[State]:
        """Group keys to try: a few values of every grouping column."""
        fold = self.problem.fold
        columns = [
            partition(Var(Scope.KEY, c.name, c.sort), c.type, self.classes, self.problem)
            for c in fold.keys
        ]
        values = [_plainest_first(s for r in p.regions for s in r.samples[:1]) for p in columns]
        every = list(islice(product(*values), _KEYS_SEEN))
        return ([k for k in every if self.is_chosen(k)] or every)[:_KEYS_TRIED]

    def is_chosen(self, key: State) -> bool:
        """Whether a group is of interest."""
        names = [c.name for c in self.problem.fold.keys]
        env = key_env(dict(zip(names, key, strict=True)))
        return all(holds(term, env) for term in self.chosen)

    def has_result(self, nonempty: bool) -> bool:
        """Whether a group with, or without, a row has a result at all."""
        return nonempty or self.problem.mode is Mode.GLOBAL

    def cell_of(self, row: State) -> Cell:
        """The cell that a row is in."""
        return tuple(p.locate(v) for p, v in zip(self.partitions, row, strict=True))

    def rows_in(self, cell: Cell, random: Random, count: int) -> list[State]:
        """Some rows of a cell: first samples of every region first, then random combinations."""
        regions = [p.regions[i] for p, i in zip(self.partitions, cell, strict=True)]
        rows = [tuple(r.samples[0] for r in regions)]
        rows += [_pick(regions, random) for _ in range(count - 1)]
        return list(dict.fromkeys(rows))

    def random_row(self, random: Random) -> State:
        """A row of a random cell."""
        choices = [[r for r in p.regions if r.possible] for p in self.partitions]
        return _pick([random.choice(c) for c in choices], random)


def _plainest_first(values: Iterable[Value]) -> list[Value]:
    """NULL and the empty string last: a key that is shown to somebody should look like one."""
    return sorted(values, key=lambda v: (v is None, v == ""))


def _pick(regions: Sequence[Region], random: Random) -> State:
    return tuple(random.choice(r.samples) for r in regions)
