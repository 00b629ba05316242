# SPDX-License-Identifier: Apache-2.0
"""Trusted. The pass of the pre-filters: lift, prove, rewrite, gate, apply.

For each boundary, *lift* states the problem to prove and the facts known about its rows, *prove*
searches for a solution that rests on nothing else, and *rewrite* plans the edit. The *gate* takes
back edits that do not pay off, and *apply* puts the others into the plan. The pre-filter of an
outer boundary is one more filter for the boundaries below it, so these wait for the next round.
Each boundary is decided once.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Collection, Iterator, Mapping
from functools import partial
from typing import TYPE_CHECKING

from msgspec import Struct

from presieve.backend.effects.trusted_scans import Sources
from presieve.backend.open_plan import (
    Opened,
    OpenSite,
    apply_edits,
    facts,
    input_names,
    is_same,
    lift_with_bounds,
    open_again,
    open_plan,
    open_written,
    plan_edit,
)
from presieve.backend.problems.problem import SiteProblem
from presieve.backend.rewrite import SiteEdit, unreadable_columns, why_copied
from presieve.driver import log
from presieve.driver.cache.checked import Query
from presieve.driver.cache.lookup import solution_of
from presieve.driver.declare import declared_text, read_declared, valid_texts, with_declared
from presieve.driver.solve import MAY_ERASE, Solution, not_of_all, weaken_solution
from presieve.driver.stages import discharge
from presieve.driver.stages.cost_gate import judge_prefilters
from presieve.driver.stages.decisions import Decision, Goal, GoalProof, Rewrite, SiteDecision
from presieve.driver.stages.passes import PREFILTERS, REMOVAL, PassResult, PlanState
from presieve.driver.stages.replacements import settle_edits
from presieve.driver.stages.scan_filters import readable_filters
from presieve.errors import Declined
from presieve.ir.fold import Assumption, Problem
from presieve.ir.ops import sql_conjunction, sql_conjuncts
from presieve.ir.pushdown import Kind
from presieve.ir.terms import App, Op, Term, Var
from presieve.records import replace
from presieve.sql.emit import normalize
from presieve.sql.scan_filters import without_equalities

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

logger = logging.getLogger("presieve")

MAX_ROUNDS = 8
"""Maximum height of a stack of boundaries that pass filters on to one another."""

GUARDED = "it is for the rows of which a condition on the data does not hold: see the guarded plan"

INFERRED = "Spark infers from it a filter for another scan, which would read more rows without it"


def read_plan(state: PlanState) -> PassResult | Declined:
    """Open the plan; without sites if its condensed form has nothing to gain."""
    opened = open_plan(state.gateway, state.df, state.job.reading)
    if not isinstance(opened, Declined) and opened.written is not None:
        search = _Search(state)
        planned = any(search.decide(opened, site).is_planned for site in opened.sites)
        opened = open_written(opened) if planned else replace(opened, sites=())
    return opened if isinstance(opened, Declined) else PassResult(state.df, opened=opened)


def push_prefilters(state: PlanState) -> PassResult:
    """Put proved pre-filters into the plan, one boundary after the other, from above."""
    search = _Search(state)
    df, opened = state.df, _open_current(state)
    decided: dict[int, SiteDecision] = {}
    readable: list[Decision[object]] = []
    for rounds_left in reversed(range(MAX_ROUNDS)):
        decisions = search.decide_round(opened, decided, wait=rounds_left > 0)
        if not decisions:
            break
        final = dict(enumerate(_take_back_costly(state, opened, decisions)))
        new_df = settle_edits(final, partial(_build, opened))
        decided |= {decision.site.number: decision for decision in final.values()}
        if new_df is None:
            continue
        df = new_df
        if opened.numbers <= decided.keys():
            break  # no boundary is left that a pre-filter could meet
        again = open_again(opened, df, decided)
        if isinstance(again, Declined):
            break
        df, opened, derived = _with_readable_filters(state, again, df, decided)
        readable += derived
    every = tuple(decided[n] for n in sorted(decided))
    if df is not state.df and is_same(state.first, df):
        same = tuple(replace(d, edit=None) for d in every)
        return PassResult(state.start, same, state.first)
    return PassResult(df, (*every, *readable), opened)


def _with_readable_filters(
    state: PlanState, opened: Opened, df: DataFrame, decided: Collection[int]
) -> tuple[DataFrame, Opened, tuple[Decision[object], ...]]:
    """Add what follows from new pre-filters that the next boundaries do not read: a pre-filter on
    the day of a time, which a projection computes, stands as a range of the time below that.
    """
    unread = any(isinstance(s.problem, Declined) for s in opened.sites if s.number not in decided)
    result = readable_filters(state.gateway, df, state.options) if unread else PassResult(df)
    if result.df is df:
        return df, opened, ()
    again = open_again(opened, result.df, decided)
    if isinstance(again, Declined) or again.numbers != opened.numbers:
        return df, opened, ()
    return result.df, again, result.decisions


def _open_current(state: PlanState) -> Opened:
    """Open the current plan; without sites if that is not possible."""
    if not state.is_changed:
        return state.first
    again = open_again(state.first, state.df, ())
    return replace(state.first, sites=()) if isinstance(again, Declined) else again


def _take_back_costly(
    state: PlanState, opened: Opened, decisions: list[SiteDecision]
) -> list[SiteDecision]:
    """Take back the edits that do not pay off; all edits if this pass is off."""
    refuse = state.options.cost != "always"
    if refuse or state.job.reading.for_report:  # else nobody would see their cost
        decisions = judge_prefilters(opened, decisions, refuse=refuse)
    why = state.off.get(PREFILTERS)
    return (
        decisions if why is None else [d.take_back(why) if d.is_planned else d for d in decisions]
    )


def _build(opened: Opened, decisions: Mapping[int, SiteDecision]) -> DataFrame | Declined:
    return apply_edits(opened, tuple(d.edit for d in decisions.values() if d.edit is not None))


class _Search(Struct, frozen=True):
    state: PlanState

    def decide_round(
        self, opened: Opened, decided: Collection[int], *, wait: bool
    ) -> list[SiteDecision]:
        """Decide about the open boundaries. If ``wait`` is true, those below a new pre-filter
        wait.
        """
        decisions: list[SiteDecision] = []
        above: list[tuple[int, ...]] = []
        for site in opened.sites:
            waits = wait and any(site.path[: len(path)] == path for path in above)
            if site.number in decided or waits:
                continue
            decision = self.decide(opened, site)
            decisions.append(decision)
            if decision.edit is not None and decision.edit.prefilter is not None:
                boundary = decision.edit.site.boundary
                above.append(boundary.input_path)
                above += [] if boundary.beside is None else [boundary.beside.input_path]
        return decisions

    def decide(self, opened: Opened, site: OpenSite) -> SiteDecision:
        """Decide about one boundary, regardless of the cost."""
        started = time.perf_counter()
        self.state.examined.append(site)
        logger.debug("looking at %s %s", site.operator, site.function)
        with self.state.job.show_progress(site):
            if isinstance(site.problem, Declined):
                decision = SiteDecision(site, site.problem)
            else:
                decision = self._solve(opened, site, self._lift(opened, site.problem))
        return replace(decision, seconds=time.perf_counter() - started)

    def _lift(self, opened: Opened, problem: SiteProblem) -> Goal:
        """State the problem to prove, with the facts that plan, schema, footers and caller give
        about the rows.
        """
        problem, fits = lift_with_bounds(opened, problem)
        names = input_names(problem)
        declared = read_declared(self.state.options.declare, names, opened.timezone, partly=True)
        shown = facts(opened, problem)
        widened, evidence = with_declared(problem.problem, declared)
        discharged = discharge.discharge_assumptions(problem.problem, shown)
        known = {**fits, **discharged, **evidence}
        return Goal(problem, discharge.without_needless(widened, known, shown), known)

    def _solve(self, opened: Opened, site: OpenSite, goal: Goal) -> SiteDecision:
        grounded = self._prove(opened, goal)
        if isinstance(grounded, Declined):
            return SiteDecision(site, grounded)
        if grounded.guard is None:
            grounded = replace(grounded, solution=self._readable(goal.site, grounded.solution))
        solution = grounded.solution
        decision = SiteDecision(site, proof=GoalProof(goal, solution))
        if solution.verified is None or solution.kind == "none":
            return decision
        unsolved = not_of_all(solution, goal.site.others, self.state.options.budget)
        planned = unsolved or self._rewrite(opened, goal.site, grounded)
        if isinstance(planned, Declined):
            return replace(decision, declined=planned)
        rewrite, edit = planned
        return replace(decision, rewrite=rewrite, edit=edit if edit.changes else None)

    def _prove(self, opened: Opened, goal: Goal) -> discharge.Grounded | Declined:
        """Find a solution. Under the policy ``default`` it rests on no unknown condition on
        data.
        """
        solution = self._search(goal.problem, goal.known)
        if isinstance(solution, Declined):
            return solution
        if self.state.options.policy != "default":
            return discharge.Grounded(solution)
        cost = self.state.options.cost
        return discharge.ground_solution(
            discharge.SolutionSite(opened, goal.site, self._search, cost), solution
        )

    def _readable(self, site: SiteProblem, solution: Solution) -> Solution:
        """Weaken the solution so that it reads no column that must not be computed again."""
        unreadable = unreadable_columns(site) if solution.verified is not None else {}
        return weaken_solution(solution, unreadable, self.state.options.budget)

    def _search(self, problem: Problem, evidence: Mapping[Assumption, str]) -> Solution | Declined:
        """Call :func:`solution_of` with the rest of the budget."""
        policy, budget = self.state.options.policy, self.state.options.budget
        seconds_left = self.state.job.seconds_left
        try:
            return solution_of(Query(problem, policy, evidence, budget, seconds_left))
        except Exception as error:  # a bug of ours must not stop a user's job
            return log.warn_of_failure("the search", error)

    def _rewrite(
        self, opened: Opened, site: SiteProblem, grounded: discharge.Grounded
    ) -> tuple[Rewrite, SiteEdit] | Declined:
        """Plan the edit, or say why the plan cannot take the proved pushdown."""
        solution = grounded.solution
        gaps = _missing_texts(site, solution)
        if gaps is not None:
            return gaps
        claims = self.state.options.policy == "assume" and not site.sources().faithful
        if claims:
            site = replace(site, sources=partial(_trust_claims, site.sources))
        valid = valid_texts(self.state.options.declare)
        # If a kept row may raise an error on its way to a function, the function must be called.
        called = solution.kind != "empty" and not site.has_quiet_arguments(valid)
        inferred = REMOVAL in self.state.off
        left_over = site.of_rows(solution.residual)
        residual = site.taken if called or inferred else left_over
        # Spark infers nothing from a function whose argument it has replaced by a constant.
        prefilter = without_equalities(solution.prefilter) if inferred else solution.prefilter
        edit = grounded.guard or plan_edit(opened, site, prefilter, residual)
        if isinstance(edit, Declined):
            return edit
        erases = site.may_erase_error(valid)
        if self.state.options.policy == "strict" and erases:
            return MAY_ERASE
        why = edit.stays or (INFERRED if inferred else "")
        if grounded.guard:
            why = GUARDED
        elif called and not site.partly:
            why = _why_unquiet(site, valid)
        copied = sql_conjuncts(site.copied)
        left = sql_conjunction(dict.fromkeys((*copied, *sql_conjuncts(left_over))))
        where = site.of_rows(site.problem.where)
        whole = normalize(left) == normalize(where)
        if not why and copied and (whole or not edit.removed):
            why = why_copied(site)
        stays = bool(why) or (solution.kind == "split" and not edit.removed)
        above = where if stays else left
        kind = _kind(solution, above, stays=stays)
        return Rewrite(kind, above, stays, erases, claims, why), edit


def _missing_texts(site: SiteProblem, solution: Solution) -> Declined | None:
    """Say why no row may be dropped before a function of columns: Spark fails on a batch of which
    all texts are missing, unless each row that is left has one.
    """
    names = {name for lifted in site.functions for name in lifted.gaps}
    if solution.kind in ("exact", "empty"):
        names -= {v.name for c in sql_conjuncts(site.problem.where) for v in _never_null_in(c)}
    if not names or not sql_conjuncts(solution.prefilter):
        return None
    reason = (
        f"where {' and '.join(sorted(names))} is missing in all rows that are left, pandas makes a"
        " column of doubles, which Spark does not convert: fill missing values with fillna()"
    )
    return Declined("may-add-error", reason)


def _never_null_in(condition: Term) -> Iterator[Var]:
    """Yield outputs that are not NULL where a condition holds, as far as its form shows."""
    match condition:
        case App(Op.SQL_NOT, (App(Op.SQL_IS_NULL, (Var() as output,)),)):
            yield output
        case App(Op.SQL_NOT, (App(op, args),)) | App(op, args) if op in _COMPARISONS:
            yield from (a for a in args if isinstance(a, Var))


_COMPARISONS = (Op.SQL_EQ, Op.SQL_LT, Op.SQL_LE, Op.SQL_GT, Op.SQL_GE)


def _trust_claims(sources: Callable[[], Sources]) -> Sources:
    return sources().taken_at_their_word


def _why_unquiet(site: SiteProblem, valid: Collection[str]) -> str:
    """Say why Spark must still compute the function's arguments, as it does with the filter.

    ``valid`` is as in :meth:`SiteProblem.has_quiet_arguments`.
    """
    texts = sorted(name for name in site.sent.texts if name.lower() not in valid)
    computed = site.input_errors().computed
    if computed is not None and computed.isdisjoint(site.boundary.arguments):
        if not site.sent.arrives:
            return "it makes Spark send Python values, some of which Python may be unable to hold"
    elif not site.has_quiet_arguments({name.lower() for name in site.sent.texts}):
        return "it makes Spark compute what the function is called with, which may raise an error"
    declared = [declared_text(name) for name in texts]
    advice = declared[0] if len(declared) == 1 else declared
    return (
        f"it makes Spark send {' and '.join(texts)} to Python, which raises an error on a text that"
        f" is not UTF-8; if you know that all are, pass declare={advice!r}"
    )


def _kind(solution: Solution, above: Term, *, stays: bool) -> Kind:
    """Return the kind of the rewrite, given what stands above and whether it is the filters."""
    if not stays and solution.kind in ("exact", "split"):
        return "split" if sql_conjuncts(above) else "exact"
    if not stays:
        return solution.kind
    return "partial" if sql_conjuncts(solution.prefilter) else "none"
