"""Untrusted. Weaker stand-ins for the clauses of a filter, and the choice among them.

By the decoupling theorem (FORMULAS 4, i) the residual is a unary problem: it must agree with the
filter on the outputs of pre-filtered tables. Clauses are weakened one after the other, the
cheapest stand-in first: nothing, a test for NULL, ``<>``, a one-sided comparison, the clause.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from presieve.ir.ops import app, sql_conjunction, sql_conjuncts
from presieve.ir.sorts import BOOL, FLOAT, Option, strip
from presieve.ir.terms import SQL_FALSE, SQL_TRUE, App, Lit, Op, Scope, Term, Var
from presieve.ir.walk import variables
from presieve.synthesis.prover import Prover

_ONE_SIDED = {Op.SQL_EQ: (Op.SQL_GE, Op.SQL_LE)}
_STRICT = {Op.SQL_GT, Op.SQL_LT}


def variants(clause: Term) -> list[Term]:
    """Predicates implied by a clause, from weak and cheap to the clause itself."""
    found = [
        app(Op.SQL_NOT, app(Op.SQL_IS_NULL, v))
        for v in variables(clause)
        if v.scope is Scope.OUT and isinstance(v.sort, Option)
    ]
    match clause:
        case App(op, (Var() as v, Lit() as bound)) if strip(v.sort) != BOOL:
            if op in _STRICT and strip(v.sort) != FLOAT:
                found.append(app(Op.SQL_NOT, app(Op.SQL_EQ, v, bound)))
            found += [app(other, v, bound) for other in _ONE_SIDED.get(op, ())]
    return [*dict.fromkeys(x for x in found if x != clause), clause]


def choose(
    options: Sequence[Sequence[Term]],
    consistent: Callable[[Term], bool],
    prover: Prover,
) -> list[int | None]:
    """For each clause the index of its stand-in, or None where it can go.

    A clause that is just false is left out. ``consistent`` says whether a residual agrees with the
    filter on all outputs seen; the solver has the last word. Raises nothing: with no stand-in
    proven, the clause stays.
    """
    chosen: list[int | None] = [None if o == [SQL_FALSE] else len(o) - 1 for o in options]
    for i, option in enumerate(options):
        for candidate in [None, *range(len(option) - 1)]:
            trial = [*chosen[:i], candidate, *chosen[i + 1 :]]
            if not consistent(assemble(options, trial)):
                continue
            if prover.holds(prover.choosing(trial)):
                chosen = trial
                break
    return chosen


def assemble(options: Sequence[Sequence[Term]], chosen: Sequence[int | None]) -> Term:
    """The residual that a choice stands for."""
    parts = [o[j] for o, j in zip(options, chosen, strict=True) if j is not None]
    return sql_conjunction(parts) if parts else SQL_TRUE


def options_of(where: Term) -> list[list[Term]]:
    """The variants of every clause of a filter."""
    return [variants(c) for c in sql_conjuncts(where)]
