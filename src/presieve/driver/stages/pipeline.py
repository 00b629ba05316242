"""Trusted. A DataFrame on its way through the stages: open, lift, prove, rewrite, gate, apply.

*Open* reads the plan and finds the boundaries that a filter meets. For each of them, *lift* says
what is to be proved and what is known of its rows, *prove* looks for a solution that rests on
nothing else, and *rewrite* plans the edit. The *gate* takes back what does not pay, and *apply*
puts the rest into the plan. A pre-filter of an outer boundary is one more filter for those below
it, so that these wait for the next round. Each boundary is decided once. Before and after that,
filters go below windows and outer joins (:mod:`presieve.driver.stages.filtered`). In the end,
functions of tables are handed the columns that they need (:mod:`presieve.driver.stages.columns`).
What comes out is compared with what was written (:mod:`presieve.driver.stages.outcome`), and a pass
that made something worse is taken back.
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

from presieve.backend.effects.sources import Sources
from presieve.backend.plans import (
    Opened,
    OpenSite,
    Reading,
    apply_edits,
    bounded,
    facts,
    input_names,
    is_same,
    open_plan,
    open_written,
    plan_edit,
    reopen,
    scan_filters,
    with_own_listings,
)
from presieve.backend.problems.problem import SiteProblem
from presieve.backend.pruning import OtherFunction
from presieve.backend.rewrite import SiteEdit
from presieve.backend.statistics import footers
from presieve.backend.statistics.scan_filters import Scans
from presieve.driver.cache.checked import Query
from presieve.driver.cache.lookup import solution_of
from presieve.driver.declare import read_declared, valid_texts, with_declared
from presieve.driver.options import Options
from presieve.driver.solve import ERASED_TEXT, ERASES, Solution, not_of_all
from presieve.driver.stages import ladder
from presieve.driver.stages.aggregated import Aggregated, GroupDecision, aggregated
from presieve.driver.stages.columns import ColumnDecision, Pruned, pruned
from presieve.driver.stages.compiled import Compiled, CompileDecision, compiled
from presieve.driver.stages.decisions import (
    GUARDED,
    INFERRED,
    TAKEN_BACK,
    Goal,
    Objection,
    OutcomeCheck,
    Proof,
    Rewrite,
    SiteDecision,
    unquiet,
)
from presieve.driver.stages.derived import (
    Derived,
    DerivedDecision,
    with_derived_filters,
    with_readable_filters,
)
from presieve.driver.stages.filtered import Filtered, FilteredDecision, with_filters_below
from presieve.driver.stages.gate import gated
from presieve.driver.stages.outcome import outcome_check
from presieve.driver.stages.ranges import Ranged, RangeDecision, with_key_ranges
from presieve.errors import Declined
from presieve.ir.fold import Assumption, Problem
from presieve.ir.ops import sql_conjuncts
from presieve.ir.pushdown import Kind
from presieve.report import progress
from presieve.sql.storage import without_equalities

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

logger = logging.getLogger("presieve")

MAX_ROUNDS = 8
"""Boundaries that stand on one another, of which each may pass a filter on to the next."""

LEAST = 0.1
"""Seconds for a boundary whose predecessors have used up the budget: small problems need less."""


@dataclass(frozen=True, slots=True)
class Applied:
    """The DataFrame that comes out, which is the one that went in where nothing changes; its plan
    as it was opened, and what was decided about each boundary. ``scans`` are what reaches the scans
    below all boundaries of the plan, by number; there are none where nothing changes or nobody
    asks. ``columns`` say what was decided about the functions of tables, ``others`` are the others;
    ``compiled`` and ``aggregated`` say what was decided about functions of rows and of groups,
    ``filtered`` about windows, limits and outer joins, ``derived`` about filters of files,
    ``ranges`` about those of joins.
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
    """What changes a plan, in order. ``REMOVAL`` is a part of the pre-filters: filters above a
    boundary go, or are weakened.
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
    """One optimization, which began at ``started`` (``time.perf_counter``). ``df`` is what was
    ``written``, with what follows from its conditions (:func:`with_readable_filters`). ``met`` are
    the sites that were looked at. The passes that are ``off`` are left out, with the reason;
    ``steps`` are the DataFrames that the others made, in order.
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
        """When the search should be over."""
        return self.started + self.options.budget

    def progress(self, site: OpenSite) -> AbstractContextManager[None]:
        """Shows what is looked at, to who waits for it."""
        return progress.indicator(site.function or site.operator, self.started, self.options.budget)

    def run(self) -> Applied | Declined:
        """All stages. What comes out may be the very DataFrame that was there before."""
        check: OutcomeCheck | None = None
        while True:
            self.met, self.steps = [], []
            answers = footers.answers()
            applied = self._attempt()
            if not isinstance(applied, Declined) and footers.answers() != answers:
                applied = self._with_own_listings(applied)
            if isinstance(applied, Declined) or applied.df is self.written:
                break
            check = check or outcome_check(applied.opened, self.written)
            refused = self._refused(check, applied)
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
        taken_back = (why for one, why in self.off.items() if one is not Pass.REMOVAL)
        return replace(applied, taken_back=tuple(taken_back))

    def _with_own_listings(self, applied: Applied) -> Applied | Declined:
        """What was decided rests on files' footers: the DataFrame reads these very files."""
        if applied.df is self.written:
            return applied
        df = with_own_listings(applied.opened, applied.df)
        return df if isinstance(df, Declined) else replace(applied, df=df)

    def _refused(self, check: OutcomeCheck, applied: Applied) -> tuple[Pass, Objection] | None:
        """The first pass after which something is wrong with what comes out; None if nothing is."""
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

    def _runs(self, one: Pass) -> bool:
        return one not in self.off

    def _made(self, one: Pass, df: DataFrame) -> DataFrame:
        """The DataFrame, which a pass has made."""
        if df is not (self.steps[-1][1] if self.steps else self.written):
            self.steps.append((one, df))
        return df

    def _attempt(self) -> Applied | Declined:
        """All stages but those that are off."""
        readable = Derived(self.written)
        if self._runs(Pass.READABLE):
            readable = with_readable_filters(self.written, self.options)
        self.df = self._made(Pass.READABLE, readable.df)
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
        moved = self._filtered(first, self.df)
        opened, df = self._again(first, moved.df), moved.df
        decided: dict[int, SiteDecision] = {}
        for left in reversed(range(MAX_ROUNDS)):
            here = self._round(opened, decided, wait=left > 0)
            if not here:
                break
            changed, made = _apply(df, opened, self._allowed(self._gate(opened, here)))
            decided |= {one.site.number: one for one in made}
            if changed is df:
                continue
            df = self._made(Pass.PREFILTERS, changed)
            if opened.numbers <= decided.keys():
                break  # no boundary is left that a pre-filter could meet
            again = reopen(opened, df, decided)
            if isinstance(again, Declined):
                break
            opened = again
        found = self._filtered(opened, df) if df is not moved.df else Filtered(df)
        filtered = {d.site.number: d for d in (*moved.decisions, *found.decisions)}
        decisions = tuple(decided[n] for n in sorted(decided))
        applied = Applied(found.df, first, decisions, filtered=tuple(filtered.values()))
        return self._narrowed(opened, applied)

    def _allowed(self, decisions: list[SiteDecision]) -> list[SiteDecision]:
        """Without the edits, if what Spark makes of them is worse."""
        why = self.off.get(Pass.PREFILTERS)
        if why is None:
            return decisions
        return [d if d.edit is None else d.without_edit(why) for d in decisions]

    def _filtered(self, opened: Opened, df: DataFrame) -> Filtered:
        if not self._runs(Pass.BELOW):
            return Filtered(df)
        made = with_filters_below(opened, df, self.options)
        self._made(Pass.BELOW, made.df)
        return made

    def _again(self, first: Opened, df: DataFrame) -> Opened:
        """The plan of ``df``, opened; without sites where it cannot be."""
        if df is self.df:
            return first
        again = reopen(first, df, ())
        return replace(first, sites=()) if isinstance(again, Declined) else again

    def _narrowed(self, opened: Opened, made: Applied) -> Applied:
        """What the rounds have come to, with functions compiled, and with fewer columns for those
        of tables.
        """
        first, df, decisions = made.opened, made.df, made.decisions
        if df is not self.df and is_same(first, df):
            df = self.df
        if df is self.df:
            opened, decisions = first, tuple(replace(d, edit=None) for d in decisions)
        # Functions that are compiled are not in the plan any more.
        asked = self.reading.for_report and df is not self.df
        scans = scan_filters(first, df) if asked else ()
        rows, groups = Compiled(df), Aggregated(df)
        compiles = self.options.compile != "never" and self.options.cost != "never"
        if compiles and self._runs(Pass.ROWS):
            rows = compiled(opened, df, self.options.policy, changed=df is not self.df)
            df = self._made(Pass.ROWS, rows.df)
        if compiles and self._runs(Pass.GROUPS):
            groups = aggregated(opened, df, self.options, changed=df is not self.df)
            df = self._made(Pass.GROUPS, groups.df)
        last, stored, ranged = Pruned(df), Derived(df), Ranged(df)
        if self._runs(Pass.COLUMNS):
            last = pruned(opened, df, self.options.policy, changed=df is not self.df)
            df = self._made(Pass.COLUMNS, last.df)
        if self._runs(Pass.DERIVED):
            stored = with_derived_filters(opened, df, self.options)
            df = self._made(Pass.DERIVED, stored.df)
        if self._runs(Pass.RANGES):
            ranged = with_key_ranges(opened, df, self.options)
            df = self._made(Pass.RANGES, ranged.df)
        return replace(
            made,
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
        """The plan; without sites where its condensed form has nothing to gain."""
        opened = open_plan(self.df, self.reading)
        if isinstance(opened, Declined) or opened.written is None:
            return opened
        if any(self._decide(opened, site).edit is not None for site in opened.sites):
            return open_written(opened)
        return replace(opened, sites=())

    def _round(self, opened: Opened, decided: Collection[int], *, wait: bool) -> list[SiteDecision]:
        """The boundaries that are not decided yet, but for those that are to ``wait``."""
        here: list[SiteDecision] = []
        above: list[tuple[int, ...]] = []
        for site in opened.sites:
            waits = wait and any(site.path[: len(path)] == path for path in above)
            if site.number in decided or waits:
                continue
            one = self._decide(opened, site)
            here.append(one)
            if one.edit is not None and one.edit.prefilter is not None:
                boundary = one.edit.site.boundary
                above.append(boundary.input_path)
                above += [] if boundary.beside is None else [boundary.beside.input_path]
        return here

    def _decide(self, opened: Opened, site: OpenSite) -> SiteDecision:
        """What becomes of one boundary, whatever it costs."""
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
        """What is to be proved, knowing what plan, schema, footers and caller say of the rows."""
        problem, fits = bounded(opened, problem)
        names = input_names(problem)
        declared = read_declared(self.options.declare, names, opened.timezone, partly=True)
        widened, known = with_declared(problem.problem, declared)
        discharged = ladder.discharged(problem.problem, facts(opened, problem))
        return Goal(problem, widened, {**fits, **discharged, **known})

    def _solve(self, opened: Opened, site: OpenSite, goal: Goal) -> SiteDecision:
        grounded = self._prove(opened, goal)
        if isinstance(grounded, Declined):
            return SiteDecision(site, declined=(grounded,))
        solution = grounded.solution
        decision = SiteDecision(site, Proof(goal, solution))
        if solution.verified is None or solution.kind == "none":
            return decision
        unsolved = not_of_all(solution, goal.site.others, self.options.budget)
        planned = unsolved or self._rewrite(opened, goal.site, grounded)
        if isinstance(planned, Declined):
            return replace(decision, declined=(planned,))
        rewrite, edit = planned
        return replace(decision, rewrite=rewrite, edit=edit if edit.changes else None)

    def _prove(self, opened: Opened, goal: Goal) -> ladder.Grounded | Declined:
        """A solution; under the policy ``default`` one that rests on no condition on data that
        nobody knows to hold.
        """
        solution = self._search(goal.problem, goal.known)
        if isinstance(solution, Declined):
            return solution
        if self.options.policy != "default":
            return ladder.Grounded(solution)
        look = self.options.cost != "never"
        return ladder.grounded(ladder.Place(opened, goal.site, self._search, look), solution)

    def _search(self, problem: Problem, known: Mapping[Assumption, str]) -> Solution | Declined:
        """:func:`solution_of`, with what is left of the budget."""
        policy, budget = self.options.policy, self.options.budget
        left = max(self.deadline - time.perf_counter(), LEAST)
        try:
            return solution_of(Query(problem, policy, known, budget, left))
        except Exception as error:
            # A bug of ours must not stop somebody's job; it is logged with its traceback.
            logger.warning("the search failed, please report it", exc_info=error)
            return Declined("internal", f"the search failed: {error}")

    def _rewrite(
        self, opened: Opened, site: SiteProblem, grounded: ladder.Grounded
    ) -> tuple[Rewrite, SiteEdit] | Declined:
        """What changes in the plan, or why what is proved cannot be put into it."""
        solution = grounded.solution
        claims = self.options.policy == "assume" and not site.sources().faithful
        if claims:
            site = replace(site, sources=partial(_claimed, site.sources))
        valid = valid_texts(self.options.declare)
        # Where a row that is kept may raise on its way to a function, the function must be called.
        called = solution.kind != "empty" and not site.has_quiet_arguments(valid)
        inferred = not self._runs(Pass.REMOVAL)
        residual = site.taken if called or inferred else solution.residual
        # Spark infers nothing of a function whose argument it has replaced by a constant.
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
        """With the edits that pay."""
        if self.options.cost == "always" and not self.reading.for_report:
            return decisions  # nobody would see what they cost
        return gated(opened, decisions, refuse=self.options.cost != "always")


def _claimed(sources: Callable[[], Sources]) -> Sources:
    return sources().taken_at_their_word


def _kind(solution: Solution, *, stays: bool) -> Kind:
    """What is done, where the filters may stay as they are."""
    if not stays:
        return solution.kind
    return "partial" if sql_conjuncts(solution.prefilter) else "none"


def _apply(
    df: DataFrame, opened: Opened, decisions: Sequence[SiteDecision]
) -> tuple[DataFrame, Sequence[SiteDecision]]:
    """The DataFrame with every edit made that can be made; the others are taken back."""
    edits = tuple(d.edit for d in decisions if d.edit is not None)
    if not edits:
        return df, decisions
    applied = apply_edits(opened, edits)
    if not isinstance(applied, Declined):
        return applied, decisions
    alone = [_alone(opened, d, applied, len(edits)) for d in decisions]
    if all(new is old for new, old in zip(alone, decisions, strict=True)):
        # Each can be made, but not all of them.
        last = max(i for i, d in enumerate(decisions) if d.edit is not None)
        alone[last] = decisions[last].without_edit(applied)
    return _apply(df, opened, alone)


def _alone(opened: Opened, decision: SiteDecision, together: Declined, count: int) -> SiteDecision:
    """Without its edit, unless there are others and it can be made without them."""
    if decision.edit is None:
        return decision
    why = together if count == 1 else apply_edits(opened, (decision.edit,))
    return decision.without_edit(why) if isinstance(why, Declined) else decision
