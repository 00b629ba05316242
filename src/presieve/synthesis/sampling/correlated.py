# SPDX-License-Identifier: Apache-2.0
"""Untrusted. Facts that relate conditions to each other, and to whether columns have a value.

Of two computed columns ``a < b`` and ``a = b`` only one is true; where ``a < b`` is true, neither
is NULL. In the smaller problem they are columns like any other, so these facts are added to it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import combinations, product

from presieve.ir.assumption_codes import COMPUTED
from presieve.ir.fold import Assumption, Problem
from presieve.ir.ops import app, conjunction, negate
from presieve.ir.sorts import FLOAT, Option, strip
from presieve.ir.terms import Op, Term, Var
from presieve.ir.walk import variables
from presieve.semantics.assumptions import assumption_of
from presieve.smt.solver import Effort, Solver, Unsat
from presieve.smt.two_runs import Runs

_MAX_PAIRS = 30
_EFFORT = Effort(work=200_000, seconds=0.2)


def facts(
    problem: Problem, conditions: Mapping[Var, Term], columns: Sequence[Var], solver: Solver
) -> tuple[Assumption, ...]:
    """Facts that hold for all rows of the problem, stated for the smaller problem, which has a
    column for each of the ``conditions`` beside the original ``columns``.
    """
    tests = dict(conditions)
    meant: list[tuple[Term, Term]] = list(tests.items())
    for v in dict.fromkeys(v for t in conditions.values() for v in variables(t) if v in columns):
        meant += [(t, t) for t in _tests(v)]
    pairs = [p for p in combinations(range(len(meant)), 2) if p[0] < len(tests)]
    if not pairs or len(pairs) > _MAX_PAIRS:
        return ()
    runs = Runs(problem, [t for _, t in meant])
    row = runs.row("r")
    for i, (_, original) in enumerate(meant):
        runs.encoder.lines.append(f"(declare-const test{i} Bool)")
        runs.encoder.fact(f"(= test{i} {runs.encoder.boolean(original, row)})")
    solver.add(runs.encoder.take())
    exclusions = []
    for (i, j), (a, b) in product(pairs, product((True, False), repeat=2)):
        names = [f"test{n}" if wanted else f"(not test{n})" for n, wanted in ((i, a), (j, b))]
        if isinstance(solver.check(names, _EFFORT), Unsat):
            literals = ((meant[i][0], a), (meant[j][0], b))
            both = [t if wanted else negate(t) for t, wanted in literals]
            exclusions.append(negate(conjunction(both)))
    return tuple(assumption_of(COMPUTED, t) for t in exclusions)


def _tests(v: Var) -> Iterator[Term]:
    """Test whether the column has no value, or no number."""
    if isinstance(v.sort, Option):
        yield app(Op.IS_NONE, v)
    if strip(v.sort) == FLOAT:
        value = app(Op.GET, v) if isinstance(v.sort, Option) else v
        present = [negate(app(Op.IS_NONE, v))] if isinstance(v.sort, Option) else []
        yield conjunction([*present, app(Op.IS_NAN, value)])
