"""Untrusted. U_R, the universe of residuals (appendix C): the clauses of the filter, that an output
is not what it was at the start (or some output is not), and that it is not NULL.
"""

from __future__ import annotations

from dataclasses import dataclass

from benchmarks.published.clauses import clause_term, clauses
from presieve.errors import SortError
from presieve.ir.fold import Problem
from presieve.ir.ops import app, sql_disjunction
from presieve.ir.sorts import Option
from presieve.ir.terms import Lit, Op, Scope, Term, Var
from presieve.ir.wellformed import output_var

_CHEAPEST, _CHEAP, _DEAR = 4, 5, 6
"""What atoms cost: that some output is no longer what it was at the start, or one is (or is not
NULL), is weaker than a clause, and less to evaluate. Any two cost more than any one.
"""


@dataclass(frozen=True, slots=True)
class OutputAtom:
    """A condition on the output, three-valued over OUT, and what evaluating it costs."""

    term: Term
    cost: int


def output_atoms(problem: Problem) -> list[OutputAtom]:
    """The universe, the clauses of the filter first."""
    atoms = {clause_term(c): _DEAR for c in clauses(problem.where)}
    starts = {f.name: f.init for f in problem.fold.fields}
    changes: list[Term] = []
    for o in problem.fold.outputs:
        out = output_var(o.name, o.sort)
        if isinstance(o.sort, Option):
            atoms[app(Op.SQL_NOT, app(Op.SQL_IS_NULL, out))] = _CHEAP
        if isinstance(o.term, Var) and o.term.scope is Scope.ACC:
            changed = _differs(out, starts[o.term.name])
            if changed is not None:
                atoms.setdefault(changed, _CHEAP)
                changes.append(changed)
    if len(changes) > 1:
        atoms.setdefault(sql_disjunction(changes), _CHEAPEST)
    return [OutputAtom(term, cost) for term, cost in atoms.items()]


def _differs(out: Var, start: Term) -> Term | None:
    if not isinstance(start, Lit):
        return None
    if start.value is None:
        return app(Op.SQL_NOT, app(Op.SQL_IS_NULL, out))
    try:
        return app(Op.SQL_NOT, app(Op.SQL_EQ, out, start))
    except SortError:
        return None
