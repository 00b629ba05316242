"""Trusted. A DataFrame in, an equivalent one out, and the story of what was done.

``optimize`` and ``explain`` are two views of one function, so that a report cannot differ from
what happens.
"""

from __future__ import annotations

import logging
import os
import time
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import partial
from typing import TYPE_CHECKING

from presieve.driver import ladder, log
from presieve.driver.arguments import check_dataframe
from presieve.driver.cache.lookup import solution_of
from presieve.driver.declare import (
    Declared,
    about_nothing,
    read_declared,
    valid_texts,
    with_declared,
)
from presieve.driver.gate import gated
from presieve.driver.options import UNSET, Cost, Options, given, of_session, shows_defaults
from presieve.driver.order import order_of
from presieve.driver.pure import PureFunctions, read_pure
from presieve.driver.rounds import Decided, in_rounds
from presieve.driver.solve import ERASED_TEXT, ERASES, Policy, Solution, not_of_all, solve
from presieve.errors import Declined, PresieveError
from presieve.ir.fold import Assumption, Problem
from presieve.ir.ops import sql_conjuncts
from presieve.ir.pushdown import Kind
from presieve.ir.terms import Term
from presieve.report import progress
from presieve.report.model import BoundaryReport, Measured, ReportData

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

    from presieve.backend.plans import Opened, OpenSite, SiteEdit
    from presieve.backend.problems.problem import SiteProblem
    from presieve.report.report import Report
    from presieve.report.trace import Trace
    from presieve.synthesis.events import Story

logger = logging.getLogger("presieve")

ENABLED = "spark.presieve.enabled"
DISABLE = "PRESIEVE_DISABLE"


@shows_defaults
def optimize(
    df: DataFrame,
    *,
    budget: float = UNSET,
    policy: Policy = UNSET,
    cost: Cost = UNSET,
    declare: Declared = UNSET,
    pure: PureFunctions = UNSET,
) -> DataFrame:
    """Return an equivalent DataFrame with proven pre-filters below its UDFs and aggregates.

    A DataFrame that cannot be improved is returned as it is, the very same object, and the reasons
    go to the logger ``presieve``. Options that are not given come from the session's configuration
    (``spark.presieve.policy`` and so on).

    Args:
        df: A DataFrame of a classic session or of Spark Connect.
        budget: Seconds of search for the whole DataFrame.
        policy: What a proof may rest on: ``"default"``, ``"assume"`` or ``"strict"``.
        cost: Push where it pays (``"auto"``), wherever it is proven (``"always"``) or nowhere
            (``"never"``).
        declare: Conditions in Spark SQL on one column, true for every row that a function reads.
        pure: Functions that are not read: no side effects, no errors, equal results for equal
            arguments. A list of annotated functions, or ``{function: type}``.

    Raises:
        PresieveError: ``df`` is not a DataFrame of Spark, or an option is invalid.

    Example:
        >>> best = scores.groupBy("team").agg({"score": "max"}).toDF("team", "best")
        >>> fast = presieve.optimize(best.filter("best > 90"), declare="NOT isnan(score)")
    """
    check_dataframe(df, "optimize")
    mine = given(budget=budget, policy=policy, cost=cost, declare=declare, pure=pure)
    options = Options.of(mine, of_session(df.sparkSession))
    told = logger.isEnabledFor(logging.INFO)
    found, _ = optimized(df, options, told=told, about="declare" in mine)
    return found


@shows_defaults
def explain(
    df: DataFrame,
    *,
    budget: float = UNSET,
    policy: Policy = UNSET,
    cost: Cost = UNSET,
    declare: Declared = UNSET,
    pure: PureFunctions = UNSET,
) -> Report:
    """Report what :func:`optimize` does to a DataFrame, without running it.

    Args:
        df: A DataFrame of a classic session or of Spark Connect.
        budget: Seconds of search for the whole DataFrame.
        policy: As in :func:`optimize`.
        cost: As in :func:`optimize`.
        declare: As in :func:`optimize`.
        pure: As in :func:`optimize`.

    Raises:
        PresieveError: ``df`` is not a DataFrame of Spark, or an option is invalid.

    Example:
        >>> report = presieve.explain(best.filter("best > 90"))
        >>> report.boundaries[0].kind
        'exact'
        >>> report.save("report.html")
    """
    from presieve.report.report import Report

    check_dataframe(df, "explain")
    mine = given(budget=budget, policy=policy, cost=cost, declare=declare, pure=pure)
    options = Options.of(mine, of_session(df.sparkSession))
    found, data = optimized(df, options, for_report=True, about="declare" in mine)
    return Report(data, partial(_measured, df, found))


def _measured(df: DataFrame, found: DataFrame) -> Measured:
    """Both of them run once."""
    from presieve.backend.statistics.measured import run

    return Measured(run(df), run(found))


def optimized(
    df: DataFrame,
    options: Options,
    *,
    for_report: bool = False,
    told: bool = True,
    about: bool = False,
    at_once: bool = False,
) -> tuple[DataFrame, ReportData]:
    """:func:`optimize`, and what it did. ``for_report`` also finds out what only a person asks;
    without ``told`` boundaries past which nothing moves may be left out. ``about``: the options
    are about this very DataFrame, and not about all those of a session. ``at_once``: what comes
    out is executed before anything else happens, so that what files say now still holds then.
    """
    started = time.perf_counter()
    off = switched_off(df)
    if off is not None:
        logger.debug("left alone: %s", off)
        return df, ReportData((), False, time.perf_counter() - started)
    # Loading a backend loads PySpark, which importing this module must not.
    from presieve.backend.plans import open_plan, scan_sizes

    run = _Run(df, options, started, for_report)
    pure = read_pure(options.pure)
    opened = open_plan(
        df, thorough=for_report, told=told, pure=pure, gains=run.gains, at_once=at_once
    )
    if isinstance(opened, Declined):
        log.left_alone(df, opened)
        return df, ReportData((), False, time.perf_counter() - started)
    changed, sites = in_rounds(df, opened, run.decide, run.gate, for_report=for_report)
    if about:
        _log_unmet(options, opened, run.met)
    if options.cost == "never":
        changed = df
    for site in sites:
        log.boundary(df, site.report, site.edit is not None)
    for note in opened.notes:
        log.left_alone(df, note)
    before, after = _plans(opened, df, changed) if for_report else ("", "")
    data = ReportData(
        boundaries=tuple(s.report for s in sites),
        searches=tuple(s.search for s in sites),
        changed=changed is not df,
        seconds=time.perf_counter() - started,
        plan_before=before,
        plan_after=after,
        sizes=scan_sizes(opened) if for_report and sites else (),
    )
    return changed, data


@dataclass(slots=True)
class _Run:
    """One optimization, which began at ``started`` (``time.perf_counter``). ``met`` are the sites
    that were looked at.
    """

    df: DataFrame
    options: Options
    started: float
    for_report: bool
    met: list[OpenSite] = field(default_factory=list)

    def decide(self, opened: Opened, site: OpenSite) -> Decided:
        """What becomes of one site."""
        budget = self.options.budget
        self.met.append(site)
        logger.debug("looking at %s %s", site.operator, site.function)
        with progress.shown(site.function or site.operator, self.started, budget):
            deadline = self.started + budget
            return _solve_site(opened, site, self.options, deadline, for_report=self.for_report)

    def gains(self, condensed: Opened) -> bool:
        """Whether a condensed plan has an edit; else what became of its boundaries is logged."""
        found = [self.decide(condensed, site) for site in condensed.sites]
        if any(site.edit is not None for site in found):
            return True
        for site in found:
            log.boundary(self.df, site.report, changed=False)
        return False

    def gate(self, opened: Opened, decided: list[Decided]) -> list[Decided]:
        """The edits that pay."""
        if self.options.cost == "always" and not self.for_report:
            return decided  # nobody would see what they cost
        return gated(opened, decided, refuse=self.options.cost != "always")


def switched_off(df: DataFrame) -> str | None:
    """What switches everything off, if something does: the environment or the session's conf."""
    if os.environ.get(DISABLE, "").lower() in ("1", "true", "yes"):
        return f"{DISABLE} is set"
    if str(df.sparkSession.conf.get(ENABLED, "true")).lower() == "false":
        return f"{ENABLED} is false"
    return None


def _log_unmet(options: Options, opened: Opened, met: list[OpenSite]) -> None:
    """Warn of facts of which no boundary has the column, where every boundary was read: they may
    be meant for another DataFrame, or misspelt.
    """
    from presieve.backend.plans import input_names

    read = [s.problem for s in met if not isinstance(s.problem, Declined)]
    if options.declare and len(read) == len(met):
        names = [input_names(problem) for problem in read]
        for line in about_nothing(options.declare, names, opened.timezone):
            logger.warning("%s", line)


def _solve_site(
    opened: Opened, site: OpenSite, options: Options, deadline: float, *, for_report: bool
) -> Decided:
    started = time.perf_counter()
    report = BoundaryReport(
        operator=site.operator,
        function=site.function,
        kind="none",
        where=site.where,
        prefilter="true",
        residual=site.where,
    )
    problem = site.problem
    if isinstance(problem, Declined):
        found = Decided(replace(report, declined=(problem,), span=problem.span), None)
    else:
        found = _solve_problem(opened, problem, report, options, deadline, for_report=for_report)
    report = found.report
    if for_report:
        from presieve.report.details import declined_at

        report = declined_at(report)
    return replace(found, report=replace(report, seconds=time.perf_counter() - started))


def _solve_problem(
    opened: Opened,
    problem: SiteProblem,
    report: BoundaryReport,
    options: Options,
    deadline: float,
    *,
    for_report: bool,
) -> Decided:
    from presieve.backend.plans import bounded, facts, input_names

    problem, fits = bounded(opened, problem)
    names = input_names(problem)
    declared = read_declared(options.declare, names, opened.timezone, partly=True)
    widened, known = with_declared(problem.problem, declared)
    shown = ladder.discharged(problem.problem, facts(opened, problem))
    known = {**fits, **shown, **known}
    solution = _solved(widened, known, options, deadline)
    if isinstance(solution, Declined):
        return Decided(replace(report, declined=(solution,)), None)
    traced = partial(_traced, widened, known, options)
    guard: SiteEdit | None = None
    if options.policy == "default":
        search = partial(_solved, options=options, deadline=deadline)
        place = ladder.Place(opened, problem, search, look=options.cost != "never")
        grounded = ladder.grounded(place, solution)
        solution, guard = grounded.solution, grounded.guard
    told = _with_proof(report, problem, solution)
    if for_report:
        from presieve.report.details import of_functions

        told = of_functions(told, problem)
        told = replace(told, order=order_of(solution, max(deadline - time.perf_counter(), _LEAST)))
    if solution.verified is None or solution.kind == "none":
        return Decided(told, None, traced)
    unsolved = not_of_all(solution, problem.others, options.budget)
    if unsolved is not None:
        return Decided(replace(told, declined=(*told.declined, unsolved)), None, traced)
    told, edit = _edited(opened, problem, solution, told, options, guard)
    if for_report and told.kind != "none":
        from presieve.report.details import ProofParts, of_assumptions, of_proof

        residual = solution.problem.where if told.kind == "partial" else solution.residual
        told = of_assumptions(told, solution.problem)
        told = of_proof(told, solution.problem, ProofParts(told.kind, residual, solution.invariant))
    return Decided(told, edit, traced)


def _traced(problem: Problem, known: Mapping[Assumption, str], options: Options) -> Trace:
    """The search done once more, and told."""
    from presieve.report.tell import trace

    story: Story = []
    budget, policy = options.budget, options.policy
    solve(problem, budget=budget, policy=policy, discharged=known, story=story)
    return trace(story)


_LEAST = 0.1
"""Seconds for a boundary whose predecessors have used up the budget: small problems need less."""


def _solved(
    problem: Problem, known: Mapping[Assumption, str], options: Options, deadline: float
) -> Solution | Declined:
    """:func:`solution_of`, with what is left of the budget."""
    left = max(deadline - time.perf_counter(), _LEAST)
    try:
        return solution_of(problem, options.policy, known, options.budget, left)
    except PresieveError as error:
        # A bug of ours must not stop somebody's job; it is told with its traceback.
        logger.warning("the search failed, please report it", exc_info=error)
        return Declined("internal", f"the search failed: {error}")


def _with_proof(report: BoundaryReport, site: SiteProblem, solution: Solution) -> BoundaryReport:
    """The report with what the solution says of the proof."""
    from presieve.semantics.infix import invariant_words

    where = _sql(site.problem.where, report.where)
    certificate = solution.verified.certificate if solution.verified else None
    return replace(
        report,
        where=where,
        residual=where,
        invariant=invariant_words(solution.invariant),
        residual_strength=certificate.residual_strength if certificate else "",
        strength=solution.strength,
        assumptions=solution.assumptions,
        discharged=solution.discharged if solution.verified is not None else (),
        declined=(*solution.declined, *site.stuck),
        solver_calls=solution.solver_calls,
        source=site.source,
        span=site.problem.fold.span,
    )


def _edited(
    opened: Opened,
    site: SiteProblem,
    solution: Solution,
    report: BoundaryReport,
    options: Options,
    guard: SiteEdit | None,
) -> tuple[BoundaryReport, SiteEdit | None]:
    from presieve.backend.plans import plan_edit

    valid = valid_texts(options.declare)
    # Where a row that is kept may raise on its way to a function, the function must be called.
    called = solution.kind != "empty" and not site.has_quiet_arguments(valid)
    residual = site.taken if called else solution.residual
    edit = guard or plan_edit(opened, site, solution.prefilter, residual)
    if isinstance(edit, Declined):
        return replace(report, declined=(*report.declined, edit)), None
    erases = site.may_erase_error(valid)
    if options.policy == "strict" and erases:
        return replace(report, declined=(*report.declined, Declined(ERASES, ERASED_TEXT))), None
    # A filter on fields of a struct stays as it is, although less of it would do.
    stays = called or edit.stays or (solution.kind == "split" and not edit.removed)
    told = replace(
        report,
        kind=_kind(solution, stays=stays),
        assumptions=_assumptions(erases, solution),
        prefilter=_sql(solution.prefilter, "true"),
        residual=report.where if stays else _sql(solution.residual, report.where),
    )
    return told, edit if edit.changes else None


def _kind(solution: Solution, *, stays: bool) -> Kind:
    """What is done, where the filters may stay as they are."""
    if not stays:
        return solution.kind
    return "partial" if sql_conjuncts(solution.prefilter) else "none"


def _assumptions(erases: bool, solution: Solution) -> tuple[dict[str, str], ...]:
    """Those of the proof, and what holds of the plan around it."""
    listed = solution.assumptions
    if erases and all(a["code"] != ERASES for a in listed):
        return (*listed, {"code": ERASES, "text": ERASED_TEXT})
    return listed


def _sql(term: Term, otherwise: str) -> str:
    """For the report: where a term cannot be shown, what was there."""
    from presieve.sql.emit import emit

    try:
        return emit(term, "UTC")
    except PresieveError:
        return otherwise


def _plans(opened: Opened, df: DataFrame, changed: DataFrame) -> tuple[str, str]:
    """Spark's optimized logical plans, before and after."""
    from presieve.backend.plans import drawing

    before = drawing(opened, df)
    return before, before if changed is df else drawing(opened, changed)
