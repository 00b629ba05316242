"""Untrusted. Conjuncts over grouping columns alone: they go below a fold as they are.

They decide for a whole group at once, so the search is about the other conjuncts only.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from presieve.ir.fold import Mode, Problem, nonempty
from presieve.ir.ops import app, negate, sql_conjunction, sql_conjuncts
from presieve.ir.terms import SQL_FALSE, Op, Scope, Term, Var
from presieve.ir.walk import substitute, variables
from presieve.ir.wellformed import output_var


def split(problem: Problem) -> tuple[list[Term], Problem]:
    """Split the filter into the conjuncts over keys alone, and the problem with the other
    conjuncts.

    Without groups there are none: no group can disappear.
    """
    key_outputs = _key_outputs(problem)
    clauses = [substitute(c, key_outputs) for c in sql_conjuncts(problem.where)]
    keys_only = [c for c in clauses if problem.mode is Mode.GROUPED and _over_keys(c)]
    other_conjuncts = sql_conjunction(c for c in clauses if c not in keys_only)
    return keys_only, replace(problem, where=other_conjuncts)


def _key_outputs(problem: Problem) -> dict[Var, Term]:
    """Map output columns that only show a grouping column to that column."""
    return {
        output_var(o.name, o.sort): o.term
        for o in problem.fold.outputs
        if isinstance(o.term, Var) and o.term.scope is Scope.KEY
    }


def _over_keys(clause: Term) -> bool:
    operands = variables(clause)
    return bool(operands) and all(v.scope is Scope.KEY for v in operands)


def put_below(
    keys_only: Sequence[Term], prefilter: Term, invariant: tuple[Term, ...]
) -> tuple[Term, tuple[Term, ...]]:
    """Put the conjuncts over keys back into the pre-filter and the invariant of the others."""
    if not keys_only or prefilter == SQL_FALSE:
        return prefilter, invariant
    chosen = app(Op.SQL_IS_TRUE, sql_conjunction(keys_only))
    dropped = app(Op.IMPLIES, negate(chosen), negate(nonempty(Scope.TWIN)))
    implied = (app(Op.IMPLIES, chosen, t) for t in invariant)
    return sql_conjunction([*keys_only, prefilter]), (dropped, *implied)
