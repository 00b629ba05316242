# SPDX-License-Identifier: Apache-2.0
"""Untrusted. Bounds of single columns that a pre-filter implies.

``opened < closed AND closed < opened + width`` cannot be given to a file scan, but ``width > 0``,
which follows from it, can: row groups without such rows are then not read.
"""

from __future__ import annotations

from presieve.ir.fold import Problem
from presieve.ir.ops import sql_conjunction, sql_conjuncts
from presieve.ir.terms import Term
from presieve.ir.walk import variables
from presieve.smt.solver import Effort, Solver, Unsat
from presieve.smt.two_runs import Runs
from presieve.synthesis.sampling.space import Space
from presieve.universe.regions import Partition


def with_bounds(problem: Problem, prefilter: Term, solver: Solver, effort: Effort) -> Term:
    """Put the bounds that a pre-filter implies before it, for columns that no conjunct is about
    alone. A bound consists of the regions of a column that kept rows can be in.
    """
    conjuncts = sql_conjuncts(prefilter)
    alone = {read[0] for read in map(variables, conjuncts) if len(read) == 1}
    used = set(variables(prefilter)) - alone
    columns = [p for p in Space(problem).rows if p.variable in used]
    bounds = _bounds(problem, prefilter, columns, solver, effort) if columns else []
    return sql_conjunction([*bounds, *conjuncts])


def _bounds(
    problem: Problem, prefilter: Term, columns: list[Partition], solver: Solver, effort: Effort
) -> list[Term]:
    inside = [[p.member(frozenset([i])) for i in range(len(p.regions))] for p in columns]
    runs = Runs(problem, [prefilter, *(term for terms in inside for term in terms)])
    row = runs.row("r")
    runs.encoder.fact(runs.is_true(prefilter, row))
    for c, terms in enumerate(inside):
        for i, term in enumerate(terms):
            runs.encoder.lines.append(f"(declare-const in{c}.{i} Bool)")
            runs.encoder.fact(f"(=> in{c}.{i} {runs.is_true(term, row)})")
    solver.add(runs.encoder.take())
    bounds = []
    for c, column in enumerate(columns):
        possible = [i for i, r in enumerate(column.regions) if r.possible]
        met = [i for i in possible if not isinstance(solver.check([f"in{c}.{i}"], effort), Unsat)]
        missed = {column.regions[i].tag for i in possible if i not in met}
        if met and missed - {"null", "nan"}:
            bounds.append(column.member(frozenset(met)))
    return bounds
