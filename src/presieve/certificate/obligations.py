# SPDX-License-Identifier: Apache-2.0
"""Trusted. The proof obligations of a pushdown, as self-contained SMT-LIB scripts.

These are the four conditions on the lifted fold (docs/theory.md; Pusharoo, section 4, with the flag
"has a row" and with errors added). Each script is the negation of a condition: unsatisfiable means
proved.
    Init     I(false, init, false, init)
    Sync     I(n,s,n',s') and D(r) and     P(r) and s does not raise on r
                 ->  s' does not raise on r and I(true, step(s,r), true, step(s',r))
    Stutter  I(n,s,n',s') and D(r) and not P(r) and s does not raise on r
                 ->  I(true, step(s,r), n', s')
             and the same for rows that a file scan may lose (semantics.scan), whatever P says
    Final    I(n,s,n',s') and the original run has a result and does not raise
                 ->  the twin does not raise, and both are rejected, or both accepted and equal

If the function is evaluated on demand and the residual is not the filter, there is one more:

    Kept     I(n,s,n,s) and D(r) and P(r)
                 ->  s does not raise on r, and step(s,r) not at the end; nor does init
                     where no rows have a result
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Protocol

from presieve.ir.fold import Problem
from presieve.ir.pushdown import Witness
from presieve.ir.terms import Term
from presieve.semantics.scan import may_lose
from presieve.smt.smtlib import s_and, s_not, s_or
from presieve.smt.two_runs import EncEnv, Run, Runs


class TwoRunClaim(Protocol):
    """The part of a certificate that these obligations are about."""

    @property
    def problem(self) -> Problem:
        """The problem whose filter is replaced."""

    @property
    def prefilter(self) -> Term:
        """The filter on rows."""

    @property
    def residual(self) -> Term:
        """The filter on results."""

    @property
    def invariant(self) -> tuple[Term, ...]:
        """The relation of the original run (ACC) and its twin (TWIN)."""


def _fresh_runs(claim: TwoRunClaim) -> Runs:
    """A fresh vocabulary for this claim."""
    return Runs(claim.problem, [claim.prefilter, claim.residual, *claim.invariant])


def _holds(runs: Runs, invariant: Iterable[Term], run: Run, twin: Run) -> str:
    env = runs.pair(run, twin)
    return s_and(runs.encoder.boolean(t, env) for t in invariant)


def _negated_script(runs: Runs, premises: Iterable[str], conclusion: str) -> str:
    for premise in premises:
        runs.encoder.fact(premise)
    runs.encoder.fact(s_not(conclusion))
    return runs.encoder.take()


def _start(claim: TwoRunClaim) -> tuple[Runs, Run, Run, str]:
    runs = _fresh_runs(claim)
    run, twin = runs.arbitrary("s"), runs.arbitrary("t")
    return runs, run, twin, _holds(runs, claim.invariant, run, twin)


def init(claim: TwoRunClaim) -> str:
    """The invariant holds before any row."""
    runs = _fresh_runs(claim)
    start = runs.initial()
    return _negated_script(runs, [], _holds(runs, claim.invariant, start, start))


def _prefilter_holds(runs: Runs, claim: TwoRunClaim, row: EncEnv) -> str:
    return runs.is_true(claim.prefilter, row)


def sync(claim: TwoRunClaim) -> str:
    """Both runs see a row that the pre-filter keeps."""
    runs, run, twin, related = _start(claim)
    row = runs.row("r")
    premises = [related, _prefilter_holds(runs, claim, row), s_not(runs.step_raises(run, row))]
    after = _holds(runs, claim.invariant, runs.step(run, row), runs.step(twin, row))
    return _negated_script(runs, premises, s_and([s_not(runs.step_raises(twin, row)), after]))


def stutter(claim: TwoRunClaim) -> str:
    """Only the original run sees a row that the pre-filter drops."""
    runs, run, twin, related = _start(claim)
    row = runs.row("r")
    lost = runs.encoder.boolean(may_lose(claim.prefilter), row)
    dropped = s_or([s_not(_prefilter_holds(runs, claim, row)), lost])
    premises = [related, dropped, s_not(runs.step_raises(run, row))]
    return _negated_script(runs, premises, _holds(runs, claim.invariant, runs.step(run, row), twin))


def final(claim: TwoRunClaim) -> str:
    """When the group ends, both pipelines give the same result."""
    runs, run, twin, related = _start(claim)
    accepted, accepted_twin = (
        runs.passes(run, claim.problem.where),
        runs.passes(twin, claim.residual),
    )
    conclusion = runs.result_agrees(run, twin, accepted, accepted_twin)
    return _negated_script(runs, [related, runs.matters(run)], conclusion)


def premises(claim: TwoRunClaim) -> str:
    """Build the guard of the obligations, not one of them: a script that is satisfiable if there
    are rows that obey the assumptions.
    """
    runs = _fresh_runs(claim)
    runs.arbitrary("s")
    runs.arbitrary("t")
    runs.row("r")
    return runs.encoder.take()


def erases_error(claim: TwoRunClaim) -> str:
    """Build a script that is satisfiable unless no related run raises where its twin does not: on a
    dropped row, or at the end of a group. Sync and Final prove that no error is added.
    """
    runs, run, twin, related = _start(claim)
    row = runs.row("r")
    lost = runs.encoder.boolean(may_lose(claim.prefilter), row)
    dropped = s_and(
        [s_or([s_not(_prefilter_holds(runs, claim, row)), lost]), runs.step_raises(run, row)]
    )
    erased_on_kept_row = s_and([runs.step_raises(run, row), s_not(runs.step_raises(twin, row))])
    ends = s_and([runs.has_result(run), runs.finish_raises(run)])
    ends_twin = s_and([runs.has_result(twin), runs.finish_raises(twin)])
    runs.encoder.fact(related)
    runs.encoder.fact(s_or([dropped, erased_on_kept_row, s_and([ends, s_not(ends_twin)])]))
    return runs.encoder.take()


def kept_raises(claim: TwoRunClaim) -> str:
    """Build a script that is satisfiable unless no run over kept rows raises, on a row or at its
    end.

    The states that such runs reach are related to themselves. An end comes after a row, or is the
    end of a run over no rows, if that has a result.
    """
    runs = _fresh_runs(claim)
    start, run = runs.initial(), runs.arbitrary("s")
    row = runs.row("r")
    raises = s_or([runs.step_raises(run, row), runs.finish_raises(runs.step(run, row))])
    met = s_and(
        [_holds(runs, claim.invariant, run, run), _prefilter_holds(runs, claim, row), raises]
    )
    runs.encoder.fact(s_or([met, s_and([runs.has_result(start), runs.finish_raises(start)])]))
    return runs.encoder.take()


def without_witness(claim: TwoRunClaim, regions: Iterable[Term]) -> str:
    """Build a script that is satisfiable if a kept row lies in none of the witnesses' regions."""
    regions = tuple(regions)
    runs = Runs(claim.problem, [claim.prefilter, *regions])
    row = runs.row("r")
    runs.encoder.fact(_prefilter_holds(runs, claim, row))
    for region in regions:
        runs.encoder.fact(s_not(runs.is_true(region, row)))
    return runs.encoder.take()


def without_need(claim: TwoRunClaim, witnesses: Iterable[Witness]) -> str:
    """Build a script that is satisfiable if a kept row makes no difference to any of the witnesses'
    tables when it replaces the row in question, in a group of any key.
    """
    witnesses = tuple(witnesses)
    literals = [value for w in witnesses for row in w.rows for value in row]
    runs = Runs(claim.problem, [claim.prefilter, *literals])
    row = runs.row("r")
    runs.encoder.fact(_prefilter_holds(runs, claim, row))
    for w in witnesses:
        rows = [runs.literal_row(values) for values in w.rows]
        runs.encoder.fact(s_not(runs.needs(row, rows[: w.index], rows[w.index + 1 :])))
    return runs.encoder.take()


OBLIGATIONS = {"init": init, "sync": sync, "stutter": stutter, "final": final}
"""In the order in which they are checked."""
