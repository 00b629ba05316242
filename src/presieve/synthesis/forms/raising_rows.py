# SPDX-License-Identifier: Apache-2.0
"""Untrusted. Conjuncts of a pre-filter that drop only rows on which the function raises.

Pushing such a conjunct saves no work in a job that succeeds, and lets a job succeed that should
fail.
"""

from __future__ import annotations

from collections.abc import Iterator

from presieve.ir.fold import Fold, Problem
from presieve.ir.ops import app, negate, sql_conjunction, sql_conjuncts
from presieve.ir.pushdown import Pushdown
from presieve.ir.terms import FALSE, App, Op, Scope, Term, Var
from presieve.ir.walk import variables
from presieve.records import replace
from presieve.semantics.smart_constructors import or_
from presieve.smt.solver import Effort, Sat, Unsat
from presieve.smt.two_runs import Runs
from presieve.smt.z3_solver import Z3Solver
from presieve.synthesis.forms.handwritten import Invariant, judge
from presieve.synthesis.forms.single_rows import Single, is_single

_EFFORT = Effort(seconds=0.5)
_SECONDS = 2.0
"""For the search for another invariant."""


def drops_errors_only(problem: Problem, others: Term, conjunct: Term) -> bool:
    """Whether a conjunct drops rows on which the function raises, whatever came before, and no
    others. Rows that the other conjuncts drop as well do not count.
    """
    raises = _raises(problem)
    if raises == FALSE or _drops(problem, others, conjunct, negate(raises)) is not False:
        return False
    return _drops(problem, others, conjunct, raises) is True


def weaken_once(problem: Problem, pushdown: Pushdown) -> Iterator[Pushdown]:
    """Yield the pushdown without one such conjunct at a time; the proof may need the conjunct."""
    conjuncts = sql_conjuncts(pushdown.prefilter)
    for conjunct in conjuncts:
        others = sql_conjunction(c for c in conjuncts if c != conjunct)
        if not drops_errors_only(problem, others, conjunct):
            continue
        invariant = _find_invariant(problem, pushdown, others)
        # No table shows that the rows which are now kept are needed.
        weaker = replace(pushdown, strength="universe", witnesses=())
        yield replace(weaker, prefilter=others, invariant=invariant)


def _find_invariant(problem: Problem, pushdown: Pushdown, weaker: Term) -> tuple[Term, ...]:
    """Return an invariant for the weaker pre-filter; that of the stronger one if none is found."""
    if is_single(problem):
        return Single(problem, _EFFORT.seconds).invariant(weaker)
    judgement = judge(problem, weaker, pushdown.residual, _SECONDS)
    return judgement.clauses if isinstance(judgement, Invariant) else pushdown.invariant


def _raises(problem: Problem) -> Term:
    """The condition under which the function raises because of a row, or because of its key."""
    fold = problem.fold
    of_key = all(v.scope is Scope.KEY for v in variables(fold.finish_raises))
    at_end = fold.finish_raises if of_key else or_(*_of_rows(fold))
    return or_(fold.step_raises, at_end)


def _of_rows(fold: Fold) -> Iterator[Term]:
    """Yield the conditions on a row of which the function notes whether any row satisfies them, and
    raises at the end if one does.
    """
    raises = fold.finish_raises
    alternatives = raises.args if isinstance(raises, App) and raises.op is Op.OR else (raises,)
    for noted in fold.fields:
        variable = Var(Scope.ACC, noted.name, noted.sort)
        match noted.step:
            case App(Op.OR, args) if variable in alternatives and noted.init == FALSE:
                conditions = [a for a in args if a != variable]
                if all(v.scope is not Scope.ACC for v in variables(*conditions)):
                    yield or_(*conditions)


def _drops(problem: Problem, others: Term, conjunct: Term, where: Term) -> bool | None:
    """Whether the conjunct alone drops one of these rows; None if that is unknown."""
    runs = Runs(problem, [others, conjunct, where])
    env = runs.here(runs.arbitrary("s"), runs.row("r"))
    dropped = negate(app(Op.SQL_IS_TRUE, conjunct))
    for condition in (app(Op.SQL_IS_TRUE, others), dropped, where):
        runs.encoder.fact(runs.encoder.boolean(condition, env))
    solver = Z3Solver(quick=True).fresh()
    solver.add(runs.encoder.take())
    match solver.check([], _EFFORT):
        case Sat():
            return True
        case Unsat():
            return False
    return None
