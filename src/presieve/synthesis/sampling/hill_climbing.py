# SPDX-License-Identifier: Apache-2.0
"""Untrusted. Finds tables that the filter accepts by climbing: each row brings the result nearer.

The distance is the branch distance of search-based testing (Korel, TSE 1990; Tracey et al., ASE
1998): for a comparison how far its sides are apart, for a conjunction the sum, for a disjunction
the least. No random table of a few rows meets ``a >= 3 AND b >= 4 AND c >= 5``, but twelve steps
do.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from random import Random
from typing import TypeAlias

from presieve.ir.ops import app
from presieve.ir.terms import App, Op, Scope, Term
from presieve.semantics.fast_interpreter import State, predicates
from presieve.semantics.values import Value
from presieve.synthesis.sampling.concrete_tables import Table
from presieve.synthesis.sampling.space import Space

ROWS = 60
"""The maximum number of rows of a table."""

_ATTEMPTS, _KEYS = 6, 2
_CHOICES = 40
"""The number of rows among which each step chooses."""
_PATIENCE = 3
"""The number of successive steps without progress before giving up."""

_ORDERED = (Op.SQL_LT, Op.SQL_LE, Op.SQL_GT, Op.SQL_GE)
_COMPARED = (*_ORDERED, Op.SQL_EQ, Op.SQL_EQ_NULLSAFE)

Tree: TypeAlias = "tuple[Op, list[Tree]] | int"
"""The filter's conjunctions and disjunctions over the numbers of its other parts."""


def climb(space: Space, random: Random) -> Iterator[tuple[Table, State]]:
    """Yield tables that the filter accepts, as far as climbing finds some."""
    distance = _Distance(space)
    for key in space.keys[:_KEYS]:
        for _ in range(_ATTEMPTS):
            table = _climb(space, distance, key, random)
            if table is not None:
                yield table, key


def _climb(space: Space, distance: _Distance, key: State, random: Random) -> Table | None:
    machine = space.machine
    cells = space.cells_of(key)
    state: State = machine.start(key)
    rows: list[State] = []
    best, waited = math.inf, 0
    while len(rows) < ROWS and waited < _PATIENCE:
        reached = []
        for cell in random.sample(cells, min(len(cells), _CHOICES)):
            pool = space.pool(cell)
            row = random.choice(pool) if pool else None
            after = None if row is None else machine.step(state, row, key)
            outputs = None if after is None else machine.finish(after, key)
            if row is not None and after is not None and outputs is not None:
                reached.append((distance.of(outputs, key), random.random(), row, after))
        if not reached:
            return None
        least, _, row, state = min(reached, key=lambda r: r[:2])
        rows.append(row)
        if least == 0.0 and isinstance(machine.outcome(rows, key), tuple):
            return tuple(rows)
        waited = 0 if least < best else waited + 1
        best = min(best, least)
    return None


class _Distance:
    """The distance of outputs from what the filter accepts: 0 if it may accept them."""

    def __init__(self, space: Space) -> None:
        fold = space.problem.fold
        self._parts: list[Term] = []
        self._tree = self._build_tree(space.problem.where)
        names = [
            (Scope.OUT, [o.name for o in fold.outputs]),
            (Scope.KEY, [c.name for c in fold.keys]),
        ]
        terms = [app(Op.SQL_IS_TRUE, p) for p in self._parts]
        self._true = predicates(terms, names)
        self._sides = predicates([side for p in self._parts for side in _sides(p)], names)

    def of(self, outputs: State, key: State) -> float:
        """The distance of outputs."""
        true, sides = self._true(outputs, key), self._sides(outputs, key)
        return self._of(self._tree, true, sides)

    def _build_tree(self, term: Term) -> Tree:
        if isinstance(term, App) and term.op in (Op.SQL_AND, Op.SQL_OR):
            return term.op, [self._build_tree(a) for a in term.args]
        self._parts.append(term)
        return len(self._parts) - 1

    def _of(self, tree: Tree, true: tuple[Value, ...], sides: tuple[Value, ...]) -> float:
        if isinstance(tree, int):
            if true[tree]:
                return 0.0
            return _apart(sides[2 * tree], sides[2 * tree + 1])
        op, below = tree
        return (sum if op is Op.SQL_AND else min)(self._of(t, true, sides) for t in below)


def _sides(part: Term) -> tuple[Term, Term]:
    """The two sides of a comparison, also of a negated one; any other part itself, twice."""
    if isinstance(part, App) and part.op is Op.SQL_NOT:
        return _sides(part.args[0])
    if isinstance(part, App) and part.op in _COMPARED:
        left, right = part.args
        return left, right
    return part, part


def _apart(a: Value, b: Value) -> float:
    """The distance of two values: between 0 and 1 for numbers with a finite difference, 0.5 for
    equal values, among them the sides of parts that are no comparisons, and 1 for all others.
    """
    if isinstance(a, int | float) and isinstance(b, int | float) and a != b:
        apart = abs(a - b)
        return apart / (apart + 1) if math.isfinite(apart) else 1.0
    return 0.5 if a is not None and a == b else 1.0
