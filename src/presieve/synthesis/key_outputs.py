# SPDX-License-Identifier: Apache-2.0
"""Untrusted. Conjuncts about output columns that show a grouping column, as conditions on it."""

from __future__ import annotations

from collections.abc import Mapping

from presieve.ir.fold import Problem
from presieve.ir.ops import app, sql_conjunction, sql_disjunction
from presieve.ir.sorts import strip
from presieve.ir.terms import App, Lit, Op, Scope, Term, Var, none_lit
from presieve.ir.walk import substitute, variables
from presieve.ir.wellformed import output_var
from presieve.semantics.interpret import evaluate


def over_keys(problem: Problem, clause: Term) -> Term:
    """Return the conjunct with grouping columns in the place of outputs that show them."""
    plain: dict[Var, Term] = {}
    filled: dict[Var, Term] = {}
    for output in problem.fold.outputs:
        variable = output_var(output.name, output.sort)
        match output.term:
            case Var(Scope.KEY) | App(Op.SOME, (Var(Scope.KEY),)):
                plain[variable] = _column(output.term)
            case App(Op.ITE, (App(Op.IS_NONE, (missing,)), App(Op.SOME, (Lit(),)), Var() as key)):
                if missing == key and key.scope is Scope.KEY:
                    filled[variable] = output.term
    clause = substitute(clause, plain)
    asked = [v for v in dict.fromkeys(variables(clause)) if v in filled]
    return _without_default(clause, asked[0], filled) if len(asked) == 1 else clause


def _column(term: Term) -> Term:
    return term.args[0] if isinstance(term, App) else term


def _without_default(clause: Term, output: Var, filled: Mapping[Var, Term]) -> Term:
    """Return a conjunct about ``key``, or a literal where it is NULL, as one about ``key``."""
    match filled[output]:
        case App(_, (_, default, Var() as key)) if {*variables(clause)} == {output}:
            shown = substitute(clause, {output: key})
            is_null = app(Op.SQL_IS_NULL, key)
            of_default = evaluate(substitute(clause, {output: default}), {})
            of_null = evaluate(substitute(clause, {output: none_lit(strip(key.sort))}), {})
            if of_default is True:
                return sql_disjunction([shown, is_null])
            return sql_conjunction([shown, app(Op.SQL_NOT, is_null)]) if of_null is True else shown
    return clause
