"""Trusted. The pipeline of a DataFrame through the stages: open, lift, prove, rewrite, gate, apply.

*Open* reads the plan and finds the boundaries below filters. For each boundary, *lift* states the
problem to prove and the facts known about its rows, *prove* searches for a solution that rests on
nothing else, and *rewrite* plans the edit. The *gate* takes back edits that do not pay off, and
*apply* puts the others into the plan. The pre-filter of an outer boundary is one more filter for
the boundaries below it, so these wait for the next round. Each boundary is decided once. Before and
after the rounds, filters go below windows and outer joins
(:mod:`presieve.driver.stages.filter_placement`). After the rounds, functions of tables receive only
the columns that they need (:mod:`presieve.driver.stages.column_pruning`). The result is compared
with the plan as written (:mod:`presieve.driver.stages.outcome`), and a pass that made something
worse is taken back.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Collection, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field, replace
from enum import StrEnum
from functools import partial
from typing import TYPE_CHECKING

from presieve.backend.column_pruning import OtherFunction
from presieve.backend.effects.trusted_scans import Sources
from presieve.backend.open_plan import (
    Opened,
    OpenSite,
    Reading,
    apply_edits,
    facts,
    input_names,
    is_same,
    lift_with_bounds,
    open_again,
    open_plan,
    open_written,
    plan_edit,
    scan_filters,
    with_own_listings,
)
from presieve.backend.problems.problem import SiteProblem
from presieve.backend.rewrite import SiteEdit
from presieve.backend.statistics import footers
from presieve.backend.statistics.pushed_filters import Scans
from presieve.driver.cache.checked import Query
from presieve.driver.cache.lookup import solution_of
from presieve.driver.declare import read_declared, valid_texts, with_declared
from presieve.driver.options import Options
from presieve.driver.solve import ERASED_TEXT, ERASES, Solution, not_of_all
from presieve.driver.stages import discharge
from presieve.driver.stages.column_pruning import ColumnDecision, Pruned, prune_columns
from presieve.driver.stages.cost_gate import judge_prefilters
from presieve.driver.stages.decisions import (
    GUARDED,
    INFERRED,
    TAKEN_BACK,
    Goal,
    GoalProof,
    Objection,
    OutcomeCheck,
    Rewrite,
    SiteDecision,
    unquiet,
)
from presieve.driver.stages.filter_placement import Filtered, FilteredDecision, with_filters_below
from presieve.driver.stages.group_aggregates import (
    Aggregated,
    GroupDecision,
    replace_group_functions,
)
from presieve.driver.stages.join_key_ranges import Ranged, RangeDecision, with_key_ranges
from presieve.driver.stages.outcome import outcome_check
from presieve.driver.stages.row_expressions import Compiled, CompileDecision, replace_row_functions
from presieve.driver.stages.scan_filters import (
    Derived,
    DerivedDecision,
    with_derived_filters,
    with_readable_filters,
)
from presieve.errors import Declined
from presieve.ir.fold import Assumption, Problem
from presieve.ir.ops import sql_conjuncts
from presieve.ir.pushdown import Kind
from presieve.report import progress
from presieve.sql.scan_filters import without_equalities

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

logger = logging.getLogger("presieve")

MAX_ROUNDS = 8
"""Maximum height of a stack of boundaries that pass filters on to one another."""

LEAST = 0.1
"""Minimum seconds for a boundary, even after the budget: small problems need less."""


@dataclass(frozen=True, slots=True)
class Applied:
    """The resulting DataFrame, its plan as it was opened, and the decisions.

    ``df`` is the input DataFrame itself if nothing changes. ``scans`` are the filters that reach
    the scans below all boundaries, by number; there are none if nothing changes or nobody asks. The
    other fields are decisions: ``decisions`` about boundaries, ``columns`` about functions of
    tables, ``compiled`` about functions of rows, ``aggregated`` about functions of groups,
    ``filtered`` about windows, limits and outer joins, ``derived`` about filters of files, and
    ``ranges`` about ranges of join keys. ``others`` are the functions that do not receive tables.
    """

    df: DataFrame
    opened: Opened
    decisions: tuple[SiteDecision, ...]
    scans: tuple[Scans, ...] = ()
    columns: tuple[ColumnDecision, ...] = ()
    others: tuple[OtherFunction, ...] = ()
    compiled: tuple[CompileDecision, ...] = ()
    aggregated: tuple[GroupDecision, ...] = ()
    filtered: tuple[FilteredDecision, ...] = ()
    derived: tuple[DerivedDecision, ...] = ()
    ranges: tuple[RangeDecision, ...] = ()
    taken_back: tuple[Declined, ...] = ()


class Pass(StrEnum):
    """The passes that change a plan, in order.

    ``REMOVAL`` is a part of the pre-filters: it removes or weakens filters above a boundary.
    """

    READABLE = "filters above functions"
    BELOW = "filters below windows and joins"
    PREFILTERS = "pre-filters"
    REMOVAL = "the removal of filters"
    ROWS = "functions of rows as expressions"
    GROUPS = "functions of groups as aggregates"
    COLUMNS = "the choice of columns"
    DERIVED = "derived filters"
    RANGES = "ranges of join keys"


@dataclass(slots=True)
class Pipeline:
    """One optimization, which began at ``started`` (``time.perf_counter``).

    ``df`` is the ``written`` DataFrame plus the consequences of its conditions
    (:func:`with_readable_filters`). ``met`` are the sites that were examined. The passes in ``off``
    are left out, with the reason; ``steps`` are the DataFrames that the other passes made, in
    order.
    """

    written: DataFrame
    options: Options
    reading: Reading
    started: float
    met: list[OpenSite] = field(default_factory=list)
    off: dict[Pass, Declined] = field(default_factory=dict)
    steps: list[tuple[Pass, DataFrame]] = field(default_factory=list)
    df: DataFrame = field(init=False)

    @property
    def deadline(self) -> float:
        """The time at which the search should end."""
        return self.started + self.options.budget

    def progress(self, site: OpenSite) -> AbstractContextManager[None]:
        """Show progress to a waiting user."""
        return progress.indicator(site.function or site.operator, self.started, self.options.budget)

    def run(self) -> Applied | Declined:
        """Run all stages. The result may be the very DataFrame that was given."""
        check: OutcomeCheck | None = None
        while True:
            self.met, self.steps = [], []
            answers = footers.answers()
            applied = self._run_passes()
            if not isinstance(applied, Declined) and footers.answers() != answers:
                applied = self._with_own_listings(applied)
            if isinstance(applied, Declined) or applied.df is self.written:
                break
            check = check or outcome_check(applied.opened, self.written)
            refused = self._first_objection(check, applied)
            if refused is None:
                break
            made_by, objection = refused
            removal = made_by is Pass.PREFILTERS and objection.kind == "read"
            if removal and Pass.REMOVAL not in self.off:
                made_by = Pass.REMOVAL
            reason = f"{objection.reason}, so {made_by} are left out"
            self.off[made_by] = Declined(TAKEN_BACK, reason)
        if isinstance(applied, Declined):
            return applied
        taken_back = (why for pass_, why in self.off.items() if pass_ is not Pass.REMOVAL)
        return replace(applied, taken_back=tuple(taken_back))

    def _with_own_listings(self, applied: Applied) -> Applied | Declined:
        """Make the DataFrame read exactly the files whose footers the decisions rest on."""
        if applied.df is self.written:
            return applied
        df = with_own_listings(applied.opened, applied.df)
        return df if isinstance(df, Declined) else replace(applied, df=df)

    def _first_objection(
        self, check: OutcomeCheck, applied: Applied
    ) -> tuple[Pass, Objection] | None:
        """Return the first pass that made something wrong; None if nothing is wrong."""
        certified = [
            predicate
            for d in applied.decisions
            if d.edit is not None
            for predicate in (d.edit.prefilter, d.edit.beside)
            if predicate is not None
        ]
        last = check.objection(applied.df, certified)
        if last is None:
            return None
        for made_by, df in self.steps:
            objection = check.objection(df, certified)
            if objection is not None:
                return made_by, objection
        return self.steps[-1][0], last

    def _runs(self, pass_: Pass) -> bool:
        return pass_ not in self.off

    def _record_step(self, pass_: Pass, df: DataFrame) -> DataFrame:
        """Record the DataFrame that a pass made, and return it."""
        if df is not (self.steps[-1][1] if self.steps else self.written):
            self.steps.append((pass_, df))
        return df

    def _run_passes(self) -> Applied | Declined:
        """Run all passes that are not off."""
        readable = Derived(self.written)
        if self._runs(Pass.READABLE):
            readable = with_readable_filters(self.written, self.options)
        self.df = self._record_step(Pass.READABLE, readable.df)
        applied = self._rounds()
        if isinstance(applied, Declined):
            return applied
        if applied.df is self.df or self.options.cost == "never":
            return replace(applied, df=self.written)
        return replace(applied, derived=(*readable.decisions, *applied.derived))

    def _rounds(self) -> Applied | Declined:
        first = self._open()
        if isinstance(first, Declined):
            return first
        moved = self._filter_below(first, self.df)
        opened, df = self._again(first, moved.df), moved.df
        decided: dict[int, SiteDecision] = {}
        for rounds_left in reversed(range(MAX_ROUNDS)):
            new_decisions = self._decide_round(opened, decided, wait=rounds_left > 0)
            if not new_decisions:
                break
            changed, applied_decisions = _apply(
                df, opened, self._without_disabled_edits(self._gate(opened, new_decisions))
            )
            decided |= {decision.site.number: decision for decision in applied_decisions}
            if changed is df:
                continue
            df = self._record_step(Pass.PREFILTERS, changed)
            if opened.numbers <= decided.keys():
                break  # no boundary is left that a pre-filter could meet
            again = open_again(opened, df, decided)
            if isinstance(again, Declined):
                break
            opened = again
        last = self._filter_below(opened, df) if df is not moved.df else Filtered(df)
        filtered = {d.site.number: d for d in (*moved.decisions, *last.decisions)}
        decisions = tuple(decided[n] for n in sorted(decided))
        applied = Applied(last.df, first, decisions, filtered=tuple(filtered.values()))
        return self._compile_and_prune(opened, applied)

    def _without_disabled_edits(self, decisions: list[SiteDecision]) -> list[SiteDecision]:
        """Drop the edits if the pre-filters are off."""
        why = self.off.get(Pass.PREFILTERS)
        if why is None:
            return decisions
        return [d if d.edit is None else d.without_edit(why) for d in decisions]

    def _filter_below(self, opened: Opened, df: DataFrame) -> Filtered:
        if not self._runs(Pass.BELOW):
            return Filtered(df)
        filtered = with_filters_below(opened, df, self.options)
        self._record_step(Pass.BELOW, filtered.df)
        return filtered

    def _again(self, first: Opened, df: DataFrame) -> Opened:
        """Open the plan of ``df``; without sites if that is not possible."""
        if df is self.df:
            return first
        again = open_again(first, df, ())
        return replace(first, sites=()) if isinstance(again, Declined) else again

    def _compile_and_prune(self, opened: Opened, applied: Applied) -> Applied:
        """Compile functions in the result of the rounds, and drop columns that functions of tables
        do not need.
        """
        first, df, decisions = applied.opened, applied.df, applied.decisions
        if df is not self.df and is_same(first, df):
            df = self.df
        if df is self.df:
            opened, decisions = first, tuple(replace(d, edit=None) for d in decisions)
        # Read the scans' filters now: compiled functions will no longer be in the plan.
        shows_scans = self.reading.for_report and df is not self.df
        scans = scan_filters(first, df) if shows_scans else ()
        rows, groups = Compiled(df), Aggregated(df)
        compiles = self.options.compile != "never" and self.options.cost != "never"
        if compiles and self._runs(Pass.ROWS):
            rows = replace_row_functions(opened, df, self.options.policy, changed=df is not self.df)
            df = self._record_step(Pass.ROWS, rows.df)
        if compiles and self._runs(Pass.GROUPS):
            groups = replace_group_functions(opened, df, self.options, changed=df is not self.df)
            df = self._record_step(Pass.GROUPS, groups.df)
        last, stored, ranged = Pruned(df), Derived(df), Ranged(df)
        if self._runs(Pass.COLUMNS):
            last = prune_columns(opened, df, self.options.policy, changed=df is not self.df)
            df = self._record_step(Pass.COLUMNS, last.df)
        if self._runs(Pass.DERIVED):
            stored = with_derived_filters(opened, df, self.options)
            df = self._record_step(Pass.DERIVED, stored.df)
        if self._runs(Pass.RANGES):
            ranged = with_key_ranges(opened, df, self.options)
            df = self._record_step(Pass.RANGES, ranged.df)
        return replace(
            applied,
            df=df,
            derived=stored.decisions,
            ranges=ranged.decisions,
            decisions=decisions,
            scans=scans,
            columns=last.decisions,
            others=last.others,
            compiled=rows.decisions,
            aggregated=groups.decisions,
        )

    def _open(self) -> Opened | Declined:
        """Open the plan; without sites if its condensed form has nothing to gain."""
        opened = open_plan(self.df, self.reading)
        if isinstance(opened, Declined) or opened.written is None:
            return opened
        if any(self._decide(opened, site).edit is not None for site in opened.sites):
            return open_written(opened)
        return replace(opened, sites=())

    def _decide_round(
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
            decision = self._decide(opened, site)
            decisions.append(decision)
            if decision.edit is not None and decision.edit.prefilter is not None:
                boundary = decision.edit.site.boundary
                above.append(boundary.input_path)
                above += [] if boundary.beside is None else [boundary.beside.input_path]
        return decisions

    def _decide(self, opened: Opened, site: OpenSite) -> SiteDecision:
        """Decide about one boundary, regardless of the cost."""
        started = time.perf_counter()
        self.met.append(site)
        logger.debug("looking at %s %s", site.operator, site.function)
        with self.progress(site):
            if isinstance(site.problem, Declined):
                decision = SiteDecision(site, declined=(site.problem,))
            else:
                decision = self._solve(opened, site, self._lift(opened, site.problem))
        return replace(decision, seconds=time.perf_counter() - started)

    def _lift(self, opened: Opened, problem: SiteProblem) -> Goal:
        """State the problem to prove, with the facts that plan, schema, footers and caller give
        about the rows.
        """
        problem, fits = lift_with_bounds(opened, problem)
        names = input_names(problem)
        declared = read_declared(self.options.declare, names, opened.timezone, partly=True)
        widened, evidence = with_declared(problem.problem, declared)
        discharged = discharge.discharge_assumptions(problem.problem, facts(opened, problem))
        return Goal(problem, widened, {**fits, **discharged, **evidence})

    def _solve(self, opened: Opened, site: OpenSite, goal: Goal) -> SiteDecision:
        grounded = self._prove(opened, goal)
        if isinstance(grounded, Declined):
            return SiteDecision(site, declined=(grounded,))
        solution = grounded.solution
        decision = SiteDecision(site, GoalProof(goal, solution))
        if solution.verified is None or solution.kind == "none":
            return decision
        unsolved = not_of_all(solution, goal.site.others, self.options.budget)
        planned = unsolved or self._rewrite(opened, goal.site, grounded)
        if isinstance(planned, Declined):
            return replace(decision, declined=(planned,))
        rewrite, edit = planned
        return replace(decision, rewrite=rewrite, edit=edit if edit.changes else None)

    def _prove(self, opened: Opened, goal: Goal) -> discharge.Grounded | Declined:
        """Find a solution. Under the policy ``default`` it rests on no unknown condition on
        data.
        """
        solution = self._search(goal.problem, goal.known)
        if isinstance(solution, Declined):
            return solution
        if self.options.policy != "default":
            return discharge.Grounded(solution)
        look = self.options.cost != "never"
        return discharge.ground_solution(
            discharge.SolutionSite(opened, goal.site, self._search, look), solution
        )

    def _search(self, problem: Problem, evidence: Mapping[Assumption, str]) -> Solution | Declined:
        """Call :func:`solution_of` with the rest of the budget."""
        policy, budget = self.options.policy, self.options.budget
        seconds_left = max(self.deadline - time.perf_counter(), LEAST)
        try:
            return solution_of(Query(problem, policy, evidence, budget, seconds_left))
        except Exception as error:
            # A bug of ours must not stop a user's job; it is logged with its traceback.
            logger.warning("the search failed, please report it", exc_info=error)
            return Declined("internal", f"the search failed: {error}")

    def _rewrite(
        self, opened: Opened, site: SiteProblem, grounded: discharge.Grounded
    ) -> tuple[Rewrite, SiteEdit] | Declined:
        """Plan the edit, or say why the plan cannot take the proved pushdown."""
        solution = grounded.solution
        claims = self.options.policy == "assume" and not site.sources().faithful
        if claims:
            site = replace(site, sources=partial(_trust_claims, site.sources))
        valid = valid_texts(self.options.declare)
        # If a kept row may raise an error on its way to a function, the function must be called.
        called = solution.kind != "empty" and not site.has_quiet_arguments(valid)
        inferred = not self._runs(Pass.REMOVAL)
        residual = site.taken if called or inferred else solution.residual
        # Spark infers nothing from a function whose argument it has replaced by a constant.
        prefilter = without_equalities(solution.prefilter) if inferred else solution.prefilter
        edit = grounded.guard or plan_edit(opened, site, prefilter, residual)
        if isinstance(edit, Declined):
            return edit
        erases = site.may_erase_error(valid)
        if self.options.policy == "strict" and erases:
            return Declined(ERASES, ERASED_TEXT)
        why = GUARDED if grounded.guard else unquiet(site, valid) if called else edit.stays
        why = why or (INFERRED if inferred else "")
        stays = bool(why) or (solution.kind == "split" and not edit.removed)
        return Rewrite(_kind(solution, stays=stays), stays, erases, claims, why), edit

    def _gate(self, opened: Opened, decisions: list[SiteDecision]) -> list[SiteDecision]:
        """Drop the edits that do not pay off."""
        if self.options.cost == "always" and not self.reading.for_report:
            return decisions  # nobody would see their cost
        return judge_prefilters(opened, decisions, refuse=self.options.cost != "always")


def _trust_claims(sources: Callable[[], Sources]) -> Sources:
    return sources().taken_at_their_word


def _kind(solution: Solution, *, stays: bool) -> Kind:
    """Return the kind of the rewrite, given whether the filters stay."""
    if not stays:
        return solution.kind
    return "partial" if sql_conjuncts(solution.prefilter) else "none"


def _apply(
    df: DataFrame, opened: Opened, decisions: Sequence[SiteDecision]
) -> tuple[DataFrame, Sequence[SiteDecision]]:
    """Make every edit that can be made, and take back the others."""
    edits = tuple(d.edit for d in decisions if d.edit is not None)
    if not edits:
        return df, decisions
    applied = apply_edits(opened, edits)
    if not isinstance(applied, Declined):
        return applied, decisions
    alone = [_without_failed_edit(opened, d, applied, len(edits)) for d in decisions]
    if all(new is old for new, old in zip(alone, decisions, strict=True)):
        # Each can be made, but not all of them.
        last = max(i for i, d in enumerate(decisions) if d.edit is not None)
        alone[last] = decisions[last].without_edit(applied)
    return _apply(df, opened, alone)


def _without_failed_edit(
    opened: Opened, decision: SiteDecision, together: Declined, count: int
) -> SiteDecision:
    """Take back a decision's edit unless it can be made without the other edits."""
    if decision.edit is None:
        return decision
    why = together if count == 1 else apply_edits(opened, (decision.edit,))
    return decision.without_edit(why) if isinstance(why, Declined) else decision
