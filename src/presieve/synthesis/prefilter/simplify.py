# SPDX-License-Identifier: Apache-2.0
"""Untrusted. A shorter pre-filter, if the facts about rows make some parts of it unnecessary.

A part that is left out makes no difference on any row that obeys the assumptions of the proof. Such
a part, like ``OR isnan(v)``, may be the reason that a scan cannot use the pre-filter.
"""

from __future__ import annotations

from collections.abc import Iterable

from presieve.ir.fold import Problem
from presieve.ir.ops import app, sql_conjunction, sql_conjuncts, sql_disjunction, sql_disjuncts
from presieve.ir.terms import SQL_FALSE, SQL_TRUE, Op, Term
from presieve.ir.walk import variables
from presieve.records import replace
from presieve.smt.solver import Effort, Solver
from presieve.smt.two_runs import follows
from presieve.smt.z3_solver import Z3Solver
from presieve.synthesis.result import SearchResult

_EFFORT = Effort(seconds=0.5)
_MOST = 60
"""The maximum number of parts in a pre-filter that is simplified."""


def simpler(result: SearchResult) -> SearchResult:
    """The same with a shorter pre-filter that is as good under the assumptions of the problem."""
    pushdown, problem = result.pushdown, result.problem
    if pushdown is None or pushdown.prefilter in (SQL_TRUE, SQL_FALSE):
        return result
    assumed_columns = {v for a in problem.assumptions for v in variables(a.term)}
    if assumed_columns.isdisjoint(variables(pushdown.prefilter)):
        return result
    minimal = _Rows(problem).minimal(pushdown.prefilter)
    if minimal in (SQL_TRUE, pushdown.prefilter):
        return result
    return replace(result, pushdown=replace(pushdown, prefilter=minimal))


class _Rows:
    """Questions about rows that obey the assumptions."""

    def __init__(self, problem: Problem) -> None:
        self.problem = problem
        self.solver: Solver = Z3Solver(quick=True)

    def minimal(self, prefilter: Term) -> Term:
        """Leave out conjuncts that are always true, and disjuncts that never are. A conjunct that
        follows from others stays: it may be the one that a scan can use.
        """
        parts = [sql_disjuncts(c) for c in sql_conjuncts(prefilter)]
        if sum(map(len, parts)) > _MOST:
            return prefilter
        for i, part in enumerate(parts):
            if self._follows((), sql_disjunction(part)):
                parts[i] = (SQL_TRUE,)
                continue
            others = [sql_disjunction(p) for j, p in enumerate(parts) if j != i]
            for removed in part if len(part) > 1 else ():
                fewer = tuple(d for d in parts[i] if d != removed)
                if fewer and self._follows([*others, removed], sql_disjunction(fewer)):
                    parts[i] = fewer
        return sql_conjunction(sql_disjunction(p) for p in parts if p != (SQL_TRUE,))

    def _follows(self, premises: Iterable[Term], conclusion: Term) -> bool:
        """Whether the conclusion is true for all rows for which the premises are."""
        *given, true = (app(Op.SQL_IS_TRUE, t) for t in (*premises, conclusion))
        return follows(self.problem, given, true, self.solver.fresh(), _EFFORT)
