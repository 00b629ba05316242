"""Trusted. Filters go below windows, and below ``ORDER BY ... LIMIT``, with a proof.

The search for what goes below is not trusted (:mod:`presieve.synthesis.windows`): the checker
proves all of it. The filters above stay.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from presieve.backend.plans import Opened
from presieve.backend.rewrite import Predicate
from presieve.backend.statistics.edits import estimated
from presieve.backend.windows import Windows, WindowSite, filter_of, open_windows, with_filters
from presieve.certificate.certificate import Certificate
from presieve.certificate.check import Rejected, Verified, check
from presieve.certificate.two_rows import VerifiedFilters, check_filters
from presieve.certificate.windowed import WindowCertificate
from presieve.cost.estimate import estimate
from presieve.cost.scan import Estimate
from presieve.driver.solve import ERASED_TEXT, ERASES
from presieve.driver.stages.gate import COST
from presieve.errors import Declined
from presieve.ir.fold import Problem
from presieve.ir.ops import sql_conjunction, sql_conjuncts
from presieve.ir.terms import Term
from presieve.ir.walk import rewrite, variables
from presieve.semantics.windows import HERE, Frame
from presieve.sql.emit import normalized
from presieve.synthesis.windows import asked, clauses

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

    from presieve.driver.options import Options

MAX_ROUNDS = 8
"""Windows that stand on one another, of which each may pass a filter on to the next."""

SECONDS = 1.0
"""For each question about functions of whole partitions."""

MOST = 0.95
"""The share of rows beyond which a filter is not worth its evaluation."""


@dataclass(frozen=True, slots=True)
class WindowDecision:
    """What goes below one window, with its proof, or why nothing does. ``selectivity`` is the share
    of rows that the filter is likely to keep; None where nothing is known.
    """

    site: WindowSite
    predicate: Predicate | None = None
    verified: VerifiedFilters | Verified | None = None
    declined: Declined | None = None
    selectivity: float | None = None


@dataclass(frozen=True, slots=True)
class BelowWindows:
    """The DataFrame that comes out, which is the one that went in where nothing changes."""

    df: DataFrame
    decisions: tuple[WindowDecision, ...] = ()


def below_windows(opened: Opened, df: DataFrame, options: Options) -> BelowWindows:
    """The DataFrame with filters below its windows. What goes below an outer one is above those
    below it.
    """
    if options.cost == "never":
        return BelowWindows(df)
    decided: dict[int, WindowDecision] = {}
    for _ in range(MAX_ROUNDS):
        windows = open_windows(opened, df)
        if isinstance(windows, Declined):
            break
        here = [_decided(windows, site, options) for site in windows.found]
        decided |= {d.site.number: d for d in here if d.predicate or d.declined}
        filters = {d.site.input_path: d.predicate for d in here if d.predicate}
        made = with_filters(windows, filters) if filters else None
        if made is None or isinstance(made, Declined):
            break
        df = made
    return BelowWindows(df, tuple(decided[n] for n in sorted(decided)))


def _decided(windows: Windows, site: WindowSite, options: Options) -> WindowDecision:
    """What goes below one window."""
    decision = WindowDecision(site)
    if not any(asked(site.window, site.where)):
        return decision
    every = _clauses(site) or tuple(_of_whole(site, options.budget))
    found = [c for c in every if normalized(c) not in site.known]
    if not every:
        return replace(decision, declined=_why_not(site))
    if not found:
        return decision
    prefilter = sql_conjunction(found)
    result = _proved(site, prefilter, options.budget)
    if isinstance(result, Rejected):
        reason = f"the filter is not proved: {result.condition}, {result.reason}"
        return replace(decision, declined=Declined("no-proof", reason))
    if options.policy == "strict" and site.erases:
        return replace(decision, declined=Declined(ERASES, ERASED_TEXT))
    opened = windows.opened
    known = estimated(opened, windows.plan, site.input, estimate, prefilter)
    decision = replace(decision, selectivity=None if known is None else known.least)
    dear = _dear(site, known) if options.cost != "always" else ""
    if dear:
        return replace(decision, declined=Declined(COST, dear))
    timezone = opened.gateway.conf("spark.sql.session.timeZone", "UTC")
    made = filter_of(site, prefilter, timezone)
    if isinstance(made, Declined):
        return replace(decision, declined=made)
    return replace(decision, predicate=made, verified=result)


def _dear(site: WindowSite, known: Estimate | None) -> str:
    """Why a filter below would not pay, or nothing. A window exchanges and sorts all rows, which
    costs more than any filter. The first rows are found in one pass, so that only rows count that
    are not read at all.
    """
    if site.shared:
        return _SHARED
    if site.operator == WINDOW:
        return _ALL if known is not None and known.least > MOST else ""
    return "" if known is not None and known.skipped >= LEAST_SKIPPED else _READ


WINDOW = "Window"
LEAST_SKIPPED = 0.1
"""The share of rows in row groups that a filter skips from which on it pays below a limit."""

_READ = "the first rows are found in one pass, and the filter is not known to skip row groups"


def _why_not(site: WindowSite) -> Declined:
    """What the rows that pass have need of."""
    if Frame() in site.window.frames:
        reason = f"{site.functions or 'a function'} reads every row of its partition"
    else:
        reason = "rows that pass the filter need rows that it drops, by their place in the window"
    return Declined(WINDOW_FRAME, reason)


WINDOW_FRAME = "window-frame"
"""The code of the reason that no filter can go below a window."""

_SHARED = "another part of the plan reads the same rows, which Spark exchanges once"
_ALL = "the filter keeps nearly all rows"


def _clauses(site: WindowSite) -> tuple[Term, ...]:
    """The strongest clauses that may stand below."""

    def accepted(clause: Term) -> bool:
        return isinstance(check_filters(_certificate(site, clause)), VerifiedFilters)

    return clauses(site.window, site.where, accepted)


def _proved(
    site: WindowSite, prefilter: Term, budget: float
) -> VerifiedFilters | Verified | Rejected:
    """What the checker says of all clauses together."""
    result = check_filters(_certificate(site, prefilter))
    if isinstance(result, Rejected) and site.whole is not None:
        return _of_partition(site.whole, prefilter, budget)
    return result


def _of_whole(site: WindowSite, budget: float) -> Iterator[Term]:
    """The conjuncts that may stand below functions of whole partitions."""
    whole = site.whole
    for clause in asked(site.window, site.where) if whole is not None else ():
        if whole is not None and isinstance(_of_partition(whole, clause, budget), Verified):
            yield clause


def _of_partition(problem: Problem, prefilter: Term, budget: float) -> Verified | Rejected:
    """Whether a filter may stand below a fold that begins with the row itself. It has to be a part
    of the filter above, and so true of the row.
    """
    from presieve.synthesis.forms.handwritten import Invariant, judge

    known = {v: problem.fold.key(HERE + v.name) for v in variables(prefilter)}
    here = sql_conjuncts(rewrite(prefilter, lambda v: known[v]))
    if not set(here) <= set(sql_conjuncts(problem.where)):
        return Rejected("form", "the filter above does not say so of the row itself")
    found = judge(problem, prefilter, problem.where, min(budget, SECONDS))
    if not isinstance(found, Invariant):
        return Rejected("invariant", "none was found")
    claim = Certificate(problem, "partial", "universe", prefilter, problem.where, found.clauses)
    return check(claim)


def _certificate(site: WindowSite, prefilter: Term) -> WindowCertificate:
    return WindowCertificate(site.columns, site.window, site.where, prefilter)
