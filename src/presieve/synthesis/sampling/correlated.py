"""Untrusted. What conditions say of each other, and of whether columns have a value.

Of two computed columns ``a < b`` and ``a = b`` only one is true; where ``a < b`` is true, neither
is NULL. The smaller problem, in which they are columns like others, says so.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import combinations, product

from presieve.ir.fold import Assumption, Problem
from presieve.ir.ops import app, conjunction, negate
from presieve.ir.sorts import FLOAT, Option, strip
from presieve.ir.terms import Op, Term, Var
from presieve.ir.walk import variables
from presieve.semantics.assumptions import assumed
from presieve.smt.runs import Runs
from presieve.smt.solver import Effort, Solver, Unsat

CORRELATED = "computed"
"""The code of facts that hold by what the columns stand for."""

_MAX_PAIRS = 30
_EFFORT = Effort(work=200_000, seconds=0.2)


def facts(
    problem: Problem, conditions: Mapping[Var, Term], kept: Sequence[Var], solver: Solver
) -> tuple[Assumption, ...]:
    """What holds on all rows of the problem, said of the smaller one, which has a column for each
    of the ``conditions`` beside the ``kept`` ones.
    """
    tests = dict(conditions)
    meant: list[tuple[Term, Term]] = list(tests.items())
    for v in dict.fromkeys(v for t in conditions.values() for v in variables(t) if v in kept):
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
    found = []
    for (i, j), (a, b) in product(pairs, product((True, False), repeat=2)):
        names = [f"test{n}" if wanted else f"(not test{n})" for n, wanted in ((i, a), (j, b))]
        if isinstance(solver.check(names, _EFFORT), Unsat):
            literals = ((meant[i][0], a), (meant[j][0], b))
            both = [t if wanted else negate(t) for t, wanted in literals]
            found.append(negate(conjunction(both)))
    return tuple(assumed(CORRELATED, t) for t in found)


def _tests(v: Var) -> Iterator[Term]:
    """Whether the column has no value, or none that is a number."""
    if isinstance(v.sort, Option):
        yield app(Op.IS_NONE, v)
    if strip(v.sort) == FLOAT:
        value = app(Op.GET, v) if isinstance(v.sort, Option) else v
        there = [negate(app(Op.IS_NONE, v))] if isinstance(v.sort, Option) else []
        yield conjunction([*there, app(Op.IS_NAN, value)])
