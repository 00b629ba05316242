# SPDX-License-Identifier: Apache-2.0
"""Untrusted. The kind of a pushdown with a given pre-filter and residual."""

from __future__ import annotations

from presieve.ir.fold import Problem
from presieve.ir.ops import app, sql_conjuncts
from presieve.ir.pushdown import Kind
from presieve.ir.sorts import Option
from presieve.ir.terms import SQL_FALSE, SQL_TRUE, Op, Term
from presieve.smt.encodings import same_encoding
from presieve.smt.smtlib import s_not
from presieve.smt.solver import Effort, Solver, Unsat
from presieve.smt.two_runs import Runs


def pushdown_kind(
    problem: Problem, prefilter: Term, residual: Term, solver: Solver
) -> tuple[Kind, Term]:
    """The kind of a pre-filter with its residual, and the residual in the form of that kind."""
    if prefilter == residual == SQL_FALSE:
        return "empty", SQL_FALSE
    if sql_conjuncts(residual) == ():
        return "exact", SQL_TRUE
    if prefilter == SQL_TRUE:
        return "none", problem.where
    if _are_equivalent(problem, residual, solver):
        return "partial", problem.where
    return "split", residual


def _are_equivalent(problem: Problem, residual: Term, solver: Solver) -> bool:
    """Whether residual and filter have the same of three truth values on all conceivable outputs.

    Otherwise the residual, which accepts all outputs that the filter accepts, is strictly weaker in
    the order false < NULL < true: ``x < 5`` is weaker than ``x IS NOT NULL AND x < 5``.
    """
    runs = Runs(problem, [residual])
    env = runs.any_outputs("o")
    values = [runs.encoder.term(_three_valued(p), env) for p in (problem.where, residual)]
    runs.encoder.fact(s_not(same_encoding(*values)))
    solver.add(runs.encoder.take())
    return isinstance(solver.check([], Effort(seconds=2.0)), Unsat)


def _three_valued(predicate: Term) -> Term:
    return predicate if isinstance(predicate.sort, Option) else app(Op.SOME, predicate)
