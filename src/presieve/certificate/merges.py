"""Trusted. Proves that merging partial states gives the same as folding all the rows.

With step(s, r) for ``reduce`` and an invariant J of the states that a fold can reach:

    Init    J(init)
    Kept    J(s) and s does not raise on r  ->  J(step(s, r))
    Zero    J(s)           ->  merge(s, init) does not raise and is s
    Append  J(s) and J(t)  ->  merge(s, t) does not raise, raises on r if and only if t does, and
                               otherwise merge(s, step(t, r)) = step(merge(s, t), r)

By induction on ys, merge(fold xs, fold ys) = fold (xs ++ ys) with the same errors. So merging the
states of any number of partitions, in any order and grouping, gives the fold of their rows, one
partition after the other, and whatever is proved of folds holds for it. A partition without a row
of a key has no state for it; ``init`` is not merged in.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

from presieve.certificate.check import SolverName, make_solver
from presieve.ir.fold import Problem
from presieve.ir.terms import NONEMPTY, Scope, Term
from presieve.semantics.states import facts
from presieve.smt.encodings import same_encoding
from presieve.smt.smtlib import TRUE, s_and, s_not, s_or, s_xor
from presieve.smt.solver import Effort, Solver, Unsat
from presieve.smt.two_runs import Run, Runs


def merge_agrees(
    problem: Problem,
    merged: Sequence[Term],
    raises: Term,
    solver: SolverName = "z3",
    effort: Effort | None = None,
) -> bool:
    """Whether the four conditions are proved. Unknown counts as no.

    ``merged`` has a term for each field of the fold, in order; ``raises`` says when ``merge`` does.
    Both are over ACC, the first state, and TWIN, the second.
    """
    return _Merges(problem, merged, raises, make_solver(solver), effort or Effort()).agrees()


@dataclass(frozen=True)
class _Merges:
    _problem: Problem
    _merged: Sequence[Term]
    _raises: Term
    _like: Solver
    _effort: Effort

    @cached_property
    def _candidates(self) -> list[Term]:
        return list(facts(self._problem.fold.fields))

    def agrees(self) -> bool:
        invariant = self._mine_invariant()
        return self._zero(invariant) and self._append(invariant)

    def _runs(self) -> Runs:
        return Runs(self._problem, [*self._candidates, *self._merged, self._raises])

    def _impossible(self, runs: Runs) -> bool:
        solver = self._like.fresh()
        solver.add(runs.encoder.take())
        return isinstance(solver.check([], self._effort), Unsat)

    # --- the invariant ------------------------------------------------------------------------

    def _mine_invariant(self) -> list[Term]:
        """Keep the candidates that hold at first and that steps preserve, all taken together."""
        candidates = [c for c in self._candidates if self._holds_at_first(c)]
        while True:
            preserved = [c for c in candidates if self._is_kept(c, candidates)]
            if len(preserved) == len(candidates):
                return preserved
            candidates = preserved

    def _holds_at_first(self, fact: Term) -> bool:
        runs = self._runs()
        start = runs.initial()
        runs.encoder.fact(s_not(runs.encoder.boolean(fact, start.env)))
        return self._impossible(runs)

    def _is_kept(self, fact: Term, invariant: Sequence[Term]) -> bool:
        runs = self._runs()
        s, row = self._state(runs, "s", invariant), runs.row("r")
        runs.encoder.fact(s_not(runs.step_raises(s, row)))
        after = runs.step(s, row)
        runs.encoder.fact(s_not(runs.encoder.boolean(fact, after.env)))
        return self._impossible(runs)

    def _state(self, runs: Runs, prefix: str, invariant: Sequence[Term]) -> Run:
        state = runs.arbitrary(prefix)
        for fact in invariant:
            runs.encoder.fact(runs.encoder.boolean(fact, state.env))
        return state

    # --- the conditions -----------------------------------------------------------------------

    def _merge(self, runs: Runs, s: Run, t: Run) -> tuple[str, Run]:
        """Whether merging raises, and the merged state if it does not."""
        both = runs.pair(s, t)
        env = dict(runs.keys)
        for f, term in zip(self._problem.fold.fields, self._merged, strict=True):
            env[Scope.ACC, f.name] = runs.encoder.term(term, both)
        env[Scope.ACC, NONEMPTY] = TRUE
        return runs.encoder.boolean(self._raises, both), Run(env)

    def _differ(self, a: Run, b: Run) -> str:
        names = [(Scope.ACC, f.name) for f in self._problem.fold.fields]
        return s_not(s_and(same_encoding(a.env[n], b.env[n]) for n in names))

    def _zero(self, invariant: Sequence[Term]) -> bool:
        runs = self._runs()
        s = self._state(runs, "s", invariant)
        raised, merged = self._merge(runs, s, runs.initial())
        runs.encoder.fact(s_or([raised, self._differ(merged, s)]))
        return self._impossible(runs)

    def _append(self, invariant: Sequence[Term]) -> bool:
        runs = self._runs()
        s, t = self._state(runs, "s", invariant), self._state(runs, "t", invariant)
        row = runs.row("r")
        raised, merged = self._merge(runs, s, t)
        late, early = runs.step_raises(merged, row), runs.step_raises(t, row)
        _, merged_late = self._merge(runs, s, runs.step(t, row))
        differ = self._differ(merged_late, runs.step(merged, row))
        wrong = s_or([raised, s_xor(late, early), s_and([s_not(early), differ])])
        runs.encoder.fact(wrong)
        return self._impossible(runs)
