# SPDX-License-Identifier: Apache-2.0
"""Untrusted. Folds that read nothing but their key: functions of a row, as groups of one row.

Such a fold has no state, so there is nothing to search: the filter's condition is written in
Spark's operators. The invariant says that a run which has a row has a key that the pre-filter
keeps, and that no run which the filter accepts loses its row.
"""

from __future__ import annotations

import math
import time
from collections.abc import Sequence

from presieve.errors import Declined
from presieve.ir.fold import Mode, Problem, nonempty
from presieve.ir.ops import (
    app,
    conjunction,
    negate,
    sql_conjunction,
    sql_conjuncts,
    sql_disjunction,
    sql_disjuncts,
)
from presieve.ir.pushdown import Pushdown
from presieve.ir.sorts import FLOAT, strip
from presieve.ir.terms import FALSE, SQL_FALSE, SQL_TRUE, App, Op, Scope, Term, Var
from presieve.ir.walk import size, substitute, subterms, variables
from presieve.ir.wellformed import calls_only_sql, output_var
from presieve.semantics.scan import is_scanned, may_lose
from presieve.smt.smtlib import s_implies, s_not
from presieve.smt.solver import Effort, Sat, Solver, Unsat
from presieve.smt.two_runs import Runs, follows
from presieve.smt.z3_solver import Z3Solver
from presieve.sql.emit import emit
from presieve.sql.quoted_names import InexpressibleError
from presieve.synthesis import clock
from presieve.synthesis.prefilter.counterexamples import Counterexamples
from presieve.synthesis.prefilter.key_predicates import implied_predicate
from presieve.synthesis.prefilter.shortening import shorten
from presieve.synthesis.residual.kinds import pushdown_kind
from presieve.synthesis.result import SearchResult

MAX_CONDITION = 500
"""The maximum number of operators, columns and constants in a condition written for Spark."""
_MOST = 8
"""The maximum number of conjuncts that are tried one by one."""
_MOST_CASES = 512
"""The maximum number of cases of a condition that are written out."""
_MOST_TESTED = 40
"""The maximum number of a function's conditions that are tested."""
_MOST_OF_ONE = 100
"""The maximum number of operators, columns and constants in one of them."""


def is_single(problem: Problem) -> bool:
    """Whether a fold reads its key only, and computes something from it."""
    fold = problem.fold
    plain = not fold.columns and not fold.fields and problem.mode is Mode.GROUPED
    computes = any(not isinstance(o.term, Var) for o in fold.outputs)
    return plain and (computes or fold.finish_raises != FALSE)


class Single:
    """Questions about such a problem: which keys are accepted, and what holds then."""

    def __init__(self, problem: Problem, budget: float) -> None:
        self.problem = problem
        self.calls = 0
        self.outputs = {output_var(o.name, o.sort): o.term for o in problem.fold.outputs}
        self.quiet = negate(problem.fold.finish_raises)
        self.accepted = self.true(problem.where)
        self.wanted = conjunction([self.quiet, self.accepted])
        self._solver = Z3Solver(quick=True)
        self._effort = Effort(seconds=max(budget, 0.1))
        self._deadline = clock.now() + self._effort.seconds

    def true(self, post: Term) -> Term:
        """The condition on the key under which a predicate on the outputs is true."""
        return substitute(app(Op.SQL_IS_TRUE, post), self.outputs)

    def keeps(self, prefilter: Term) -> bool:
        """Whether every accepted key is kept, also by the scan."""
        row_stays = conjunction([app(Op.SQL_IS_TRUE, prefilter), negate(may_lose(prefilter))])
        return self.holds(self.wanted, row_stays)

    def strongest(self, exact: Term) -> Term:
        """The conjunction of conjuncts of ``exact`` that keep every accepted key, guarded against
        what scans lose where that is necessary, and that can be written.
        """
        prefilter = self.guard_predicate(exact) if _why_no_text(exact) is None else None
        if prefilter is not None:
            return prefilter
        parts = sql_conjuncts(exact)
        if len(parts) < 2:
            return SQL_TRUE
        kept = (self.guard_predicate(p) for p in parts[:_MOST] if _why_no_text(p) is None)
        conjunction_of_parts = sql_conjunction(p for p in kept if p is not None)
        return conjunction_of_parts if self.keeps(conjunction_of_parts) else SQL_TRUE

    def shorten_prefilter(self, exact: Term, prefilter: Term) -> Term:
        """Return a shorter pre-filter that keeps no more keys; the same where there is none."""
        examples = Counterexamples(self.problem, exact)

        def may_hold(premise: Term, conclusion: Term) -> bool:
            return not examples.refute(premise, conclusion) and self.holds(premise, conclusion)

        shorter = shorten(exact, may_hold)
        if shorter == exact:
            return prefilter
        other = self.strongest(shorter)
        before, now = (app(Op.SQL_IS_TRUE, p) for p in (prefilter, other))
        return other if self.holds(now, before) else prefilter

    def guard_predicate(self, predicate: Term) -> Term | None:
        """Return the predicate so that a scan loses nothing by it; None if it drops keys."""
        forms = (_hide_from_scans(predicate), predicate, _guard_all_doubles(predicate))
        return next((p for p in dict.fromkeys(forms) if self.keeps(p)), None)

    def suffices(self, prefilter: Term, residual: Term) -> bool:
        """Whether the filter accepts all kept keys that the residual accepts."""
        row_stays = app(Op.SQL_IS_TRUE, prefilter)
        return self.holds(conjunction([row_stays, self.quiet, self.true(residual)]), self.accepted)

    def find_needed_conjuncts(self, prefilter: Term) -> list[Term]:
        """Return the conjuncts of the filter that have to stay: the filter accepts all kept keys
        that they accept. The first ones are left out first.
        """
        conjuncts = list(dict.fromkeys(sql_conjuncts(self.problem.where)))
        kept = conjunction([app(Op.SQL_IS_TRUE, prefilter), self.quiet])
        accepted = [self.true(c) for c in conjuncts]
        runs = Runs(self.problem, [kept, self.accepted, *accepted])
        encoder, row = runs.encoder, runs.row("r")
        encoder.fact(encoder.boolean(kept, row))
        encoder.fact(s_not(encoder.boolean(self.accepted, row)))
        names = [f"conjunct{i}" for i in range(len(conjuncts))]
        for name, term in zip(names, accepted, strict=True):
            encoder.lines.append(f"(declare-const {name} Bool)")
            encoder.fact(s_implies(name, encoder.boolean(term, row)))
        solver = self._solver.fresh()
        solver.add(encoder.take())

        def suffice(stay: Sequence[str]) -> bool:
            self.calls += 1
            return isinstance(solver.check(stay, self._effort), Unsat)

        if suffice(()):
            return []
        # Without a pre-filter, the filter stays as it is.
        for name in () if prefilter == SQL_TRUE else tuple(names):
            fewer = [n for n in names if n != name]
            names = fewer if suffice(fewer) else names
        return [conjuncts[int(name.removeprefix("conjunct"))] for name in names]

    def invariant(self, prefilter: Term) -> tuple[Term, ...]:
        """An invariant for a pre-filter that keeps all accepted keys, and a residual that
        suffices.
        """
        twin = nonempty(Scope.TWIN)
        lossless = app(Op.IMPLIES, nonempty(Scope.ACC), twin)
        twin_passes = app(Op.IMPLIES, twin, app(Op.SQL_IS_TRUE, prefilter))
        return twin_passes, app(Op.IMPLIES, self.wanted, lossless)

    def find_implied_conditions(self, aim: Term) -> Term:
        """Return those of the function's own conditions, and of their negations, that hold on every
        row on which ``aim`` does: a part of what follows from it, for functions with many cases.
        """
        choices = [t for t in _list_choices(aim) if variables(t) and size(t) <= _MOST_OF_ONE]
        tests = [t for c in choices[:_MOST_TESTED] for t in (c, negate(c))]
        runs = Runs(self.problem, [aim, *tests])
        encoder, row = runs.encoder, runs.row("r")
        encoder.fact(encoder.boolean(aim, row))
        names = {f"test{i}": test for i, test in enumerate(tests)}
        for name, test in names.items():
            encoder.lines.append(f"(declare-const {name} Bool)")
            encoder.lines.append(f"(assert (= {name} {encoder.boolean(test, row)}))")
        solver = self.solver()
        solver.add(encoder.take())
        implied = []
        while names and clock.now() < self._deadline:
            name = next(iter(names))
            answer = solver.check([s_not(name)], self._effort)
            if isinstance(answer, Unsat):
                implied.append(names[name])
            values = solver.booleans(list(names)) if isinstance(answer, Sat) else []
            broken = {n for n, holds in zip(names, values, strict=False) if not holds}
            names = {n: t for n, t in names.items() if n != name and n not in broken}
        return sql_conjunction(dict.fromkeys(map(implied_predicate, implied)))

    def solver(self) -> Solver:
        """Make a fresh solver and count it."""
        self.calls += 1
        return self._solver.fresh()

    def holds(self, premise: Term, conclusion: Term) -> bool:
        """Whether the conclusion holds on every row on which the premise does; False after the
        deadline, as encoding long terms takes time, too.
        """
        if clock.now() > self._deadline:
            return False
        return follows(self.problem, [premise], conclusion, self.solver(), self._effort)


def search_single(problem: Problem, budget: float) -> SearchResult:
    """The predicate on the key that the filter implies, and the conjuncts that have to stay."""
    started = time.perf_counter()
    single = Single(problem, budget)
    # On demand no row that raises may be kept.
    aim = single.wanted if problem.on_demand else single.accepted
    exact = implied_predicate(aim) if _is_short(aim) else single.find_implied_conditions(aim)
    prefilter = single.shorten_prefilter(exact, single.strongest(exact))
    why = None
    if prefilter == SQL_TRUE and not calls_only_sql(exact):
        why = _why_no_text(exact)
    elif prefilter == SQL_TRUE:  # a proof is found, and who writes it says why that cannot be
        prefilter = single.guard_predicate(exact) or SQL_TRUE
    residual = single.find_needed_conjuncts(prefilter)
    if prefilter == SQL_FALSE:
        residual = [SQL_FALSE]
    post = sql_conjunction(residual)
    kind, post = pushdown_kind(problem, prefilter, post, single.solver())
    pushdown = None
    if kind != "none":
        pushdown = Pushdown(kind, "universe", prefilter, post, single.invariant(prefilter))
    declined = () if why is None else (why,)
    return SearchResult(problem, pushdown, declined, single.calls, time.perf_counter() - started)


def _is_short(aim: Term) -> bool:
    """Whether the cases of a condition are few enough to be written out."""
    return size(aim) <= MAX_CONDITION and _count_cases(aim) <= _MOST_CASES


def _count_cases(term: Term) -> int:
    """How many cases a condition has once the choices in it are written out. A chain of them has
    one for each branch; where choices are added up or compared, each meets each.
    """
    counts = [_count_cases(a) for a in term.args] if isinstance(term, App) else []
    if isinstance(term, App) and term.op is Op.ITE:
        return sum(counts) - 1
    return sum(counts) if isinstance(term, App) and term.op in _CONNECTIVES else math.prod(counts)


_CONNECTIVES = (Op.AND, Op.OR, Op.IMPLIES, Op.SQL_AND, Op.SQL_OR)


def _list_choices(term: Term) -> dict[Term, None]:
    """The conditions by which the function chooses between values, each once."""
    choices = (t for t in subterms(term) if isinstance(t, App) and t.op is Op.ITE)
    return dict.fromkeys(t.args[0] for t in choices)


def _why_no_text(predicate: Term) -> Declined | None:
    """Say why a predicate cannot be written; None if it can."""
    try:
        emit(predicate, "UTC")
    except InexpressibleError as problem:
        return problem.declined()
    return None


def _hide_from_scans(prefilter: Term) -> Term:
    """Add ``OR isnan`` to comparisons that NaN passes: they are then not given to a scan, whose
    statistics may not know of NaN. If another conjunct excludes NaN, that is not necessary.
    """
    parts = sql_conjuncts(prefilter)
    excluded = {
        p.args[0].args[0]
        for p in parts
        if isinstance(p, App) and p.op is Op.SQL_NOT
        if isinstance(p.args[0], App) and p.args[0].op is Op.SQL_IS_NAN
    }
    conjuncts = []
    for part in parts:
        doubles = [v for v in _doubles(part) if v not in excluded]
        nan = [app(Op.SQL_IS_NAN, v) for v in doubles]
        alone = isinstance(part, App) and part.op in (Op.SQL_GT, Op.SQL_GE)
        conjuncts.append(app(Op.SQL_OR, part, *nan) if alone and nan else part)
    return sql_conjunction(conjuncts)


def _doubles(part: Term) -> list[Term]:
    """The columns and fields of doubles that a condition reads."""
    return [t for t in subterms(part) if is_scanned(t) and strip(t.sort) == FLOAT]


def _guard_all_doubles(prefilter: Term) -> Term:
    """Add ``OR isnan`` of every double column to every conjunct, so no scan is given any."""
    conjuncts = []
    for part in sql_conjuncts(prefilter):
        doubles = _doubles(part)
        nan = [app(Op.SQL_IS_NAN, v) for v in doubles]
        conjuncts.append(sql_disjunction(dict.fromkeys((*sql_disjuncts(part), *nan))))
    return sql_conjunction(conjuncts)
