"""Trusted. Filters go below windows, ``ORDER BY ... LIMIT`` and full outer joins, with a proof.

The search for what goes below is not trusted (:mod:`presieve.synthesis.windows` and
:mod:`presieve.synthesis.joins`): the checker proves all of it. The filters above stay.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import chain
from typing import TYPE_CHECKING, TypeAlias, TypeVar

from presieve.backend.filtered.joins import JoinSite
from presieve.backend.filtered.leaves import RELATION
from presieve.backend.filtered.opening import (
    AnySite,
    FilteredOperators,
    filter_of,
    open_operators,
    with_filters,
)
from presieve.backend.filtered.windows import WindowSite
from presieve.backend.plans import Opened
from presieve.backend.rewrite import Predicate
from presieve.backend.statistics.edits import estimated
from presieve.certificate.certificate import Certificate
from presieve.certificate.check import Rejected, Verified, check
from presieve.certificate.joined import JoinCertificate
from presieve.certificate.two_rows import TwoRowClaim, VerifiedFilters, check_filters
from presieve.certificate.windowed import WindowCertificate
from presieve.cost.estimate import estimate
from presieve.cost.scan import Estimate, Scan
from presieve.driver.solve import ERASED_TEXT, ERASES
from presieve.driver.stages.gate import COST
from presieve.errors import Declined
from presieve.ir.fold import Problem
from presieve.ir.ops import sql_conjunction, sql_conjuncts
from presieve.ir.terms import Scope, Term
from presieve.ir.walk import rewrite, to_scope, variables
from presieve.semantics.windows import HERE, Frame
from presieve.sql.emit import normalized
from presieve.synthesis import joins, windows

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

    from presieve.driver.options import Options

MAX_ROUNDS = 8
"""Operators that stand on one another, of which each may pass a filter on to the next."""

SECONDS = 1.0
"""For each question about functions of whole partitions."""

MOST = 0.95
"""The share of rows beyond which a filter is not worth its evaluation."""

Accepted: TypeAlias = VerifiedFilters | Verified


T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class FilteredDecision:
    """What goes below one operator, with its proof, or why nothing does. ``predicates`` are those
    of its sides, each perhaps None. ``selectivity`` is the share of rows that a filter is likely to
    keep, of the side where that is least; None where nothing is known.
    """

    site: AnySite
    predicates: tuple[Predicate | None, ...] = ()
    verified: Accepted | None = None
    declined: Declined | None = None
    selectivity: float | None = None

    @property
    def text(self) -> str:
        """The filters, for a person; of sides that have another one with their side."""
        made = [None if p is None else p.sql for p in self.predicates]
        if len(set(made)) <= 1:
            return made[0] or "" if made else ""
        named = zip(made, ("left", "right"), strict=True)
        return ", ".join(f"{sql} ({side})" for sql, side in named if sql is not None)


@dataclass(frozen=True, slots=True)
class Filtered:
    """The DataFrame that comes out, which is the one that went in where nothing changes."""

    df: DataFrame
    decisions: tuple[FilteredDecision, ...] = ()


def with_filters_below(opened: Opened, df: DataFrame, options: Options) -> Filtered:
    """The DataFrame with filters below its operators. What goes below an outer one is above those
    below it.
    """
    if options.cost == "never":
        return Filtered(df)
    decided: dict[int, FilteredDecision] = {}
    for _ in range(MAX_ROUNDS):
        operators = open_operators(opened, df)
        if isinstance(operators, Declined):
            break
        here = [_decided(operators, site, options) for site in operators.found]
        decided |= {d.site.number: d for d in here if d.predicates or d.declined}
        filters = {
            side.path: predicate
            for d in here
            for side, predicate in zip(d.site.sides, d.predicates, strict=False)
            if predicate is not None
        }
        made = with_filters(opened.gateway, operators.plan, filters) if filters else None
        if made is None or isinstance(made, Declined):
            break
        df = made
    return Filtered(df, tuple(decided[n] for n in sorted(decided)))


def _decided(operators: FilteredOperators, site: AnySite, options: Options) -> FilteredDecision:
    """What goes below one operator."""
    decision = FilteredDecision(site)
    every = _searched(site, options.budget)
    if every is None:
        return decision
    if not any(map(sql_conjuncts, every)):
        return replace(decision, declined=_why_not(site))
    below = [_unknown(f, side.known) for f, side in zip(every, site.sides, strict=True)]
    if not any(map(sql_conjuncts, below)):
        return decision
    result = _proved(site, below, options.budget)
    if isinstance(result, Rejected):
        reason = f"the filter is not proved: {result.condition}, {result.reason}"
        return replace(decision, declined=Declined("no-proof", reason))
    if options.policy == "strict" and site.erases:
        return replace(decision, declined=Declined(ERASES, ERASED_TEXT))
    known = list(_asked(operators, site, below, estimate))
    shares = [k.least for k in known if k is not None]
    decision = replace(decision, selectivity=min(shares, default=None))
    dear = _dear(operators, site, below, known) if options.cost != "always" else ""
    if dear:
        return replace(decision, declined=Declined(COST, dear))
    return _inserted(operators, replace(decision, verified=result), below)


def _inserted(
    operators: FilteredOperators, decision: FilteredDecision, below: Sequence[Term]
) -> FilteredDecision:
    """With the filters to insert, or why one of them cannot be."""
    timezone = operators.opened.gateway.conf("spark.sql.session.timeZone", "UTC")
    predicates: list[Predicate | None] = []
    for side, term in zip(decision.site.sides, below, strict=True):
        made = filter_of(side, term, timezone) if sql_conjuncts(term) else None
        if isinstance(made, Declined):
            return replace(decision, declined=made, verified=None)
        predicates.append(made)
    return replace(decision, predicates=tuple(predicates))


def _unknown(term: Term, known: frozenset[Term]) -> Term:
    """Without the conjuncts that stand right below the operator."""
    parts = sql_conjuncts(term)
    here = (normalized(to_scope(p, Scope.KEY, Scope.ROW)) for p in parts)
    return sql_conjunction(p for p, text in zip(parts, here, strict=True) if text not in known)


def _asked(
    operators: FilteredOperators,
    site: AnySite,
    below: Sequence[Term],
    ask: Callable[[Scan], T | None],
) -> Iterator[T | None]:
    """What is known of each filter and the scan below it."""
    opened, plan = operators.opened, operators.plan
    for side, term in zip(site.sides, below, strict=True):
        if sql_conjuncts(term):
            here = to_scope(term, Scope.KEY, Scope.ROW)
            yield estimated(opened, plan, side.input, ask, here)


def _dear(
    operators: FilteredOperators,
    site: AnySite,
    below: Sequence[Term],
    known: Sequence[Estimate | None],
) -> str:
    """Why filters below would not pay, or nothing. A window or a join exchanges and sorts all rows,
    which costs more than any filter. The first rows are found in one pass, so that only rows count
    that are not read at all.
    """
    if site.shared:
        return _SHARED
    if site.operator in EXCHANGING:
        return _ALL if all(k is not None and k.least > MOST for k in known) else ""
    shares = chain(
        (None if k is None else k.skipped for k in known),
        _asked(operators, site, below, lambda scan: scan.skips()),
    )
    return "" if any(s is not None and s >= LEAST_SKIPPED for s in shares) else _READ


EXCHANGING = ("Window", "Join", "Intersect", "Except", RELATION)
LEAST_SKIPPED = 0.1
"""The share of rows that a filter skips in files from which on it pays below a limit."""

_READ = (
    "the first rows are found in one pass, and the filter is not known to skip row groups or pages"
)


def _why_not(site: AnySite) -> Declined | None:
    """What the rows that pass have need of."""
    if isinstance(site, JoinSite):
        full = site.join.left and site.join.right
        return Declined("outer-join", _OF_ONE_SIDE) if full else None
    if Frame() in site.window.frames:
        reason = f"{site.functions or 'a function'} reads every row of its partition"
    else:
        reason = "rows that pass the filter need rows that it drops, by their place in the window"
    return Declined(WINDOW_FRAME, reason)


WINDOW_FRAME = "window-frame"
"""The code of the reason that no filter can go below a window."""

_OF_ONE_SIDE = (
    "the filter reads a column of one side that is no key of the join, so that rows of the other "
    "side would lose their partners"
)
_SHARED = "another part of the plan reads the same rows, which Spark exchanges once"
_ALL = "the filter keeps nearly all rows"


def _searched(site: AnySite, budget: float) -> tuple[Term, ...] | None:
    """The strongest filters that may stand below, one for each side; None where nothing above could
    go below that Spark does not move itself.
    """
    if isinstance(site, JoinSite):
        return _of_join(site) if any(joins.asked(site.join.on, site.where)) else None
    if not any(windows.asked(site.window, site.where)):
        return None
    return (sql_conjunction(_clauses(site) or _of_whole(site, budget)),)


def _of_join(site: JoinSite) -> tuple[Term, ...]:
    def accepted(sides: joins.Sides) -> bool:
        return isinstance(check_filters(_claim(site, sides)), VerifiedFilters)

    return joins.filters(site.join.on, site.where, accepted)


def _clauses(site: WindowSite) -> tuple[Term, ...]:
    """The strongest clauses that may stand below a window."""

    def accepted(clause: Term) -> bool:
        return isinstance(check_filters(_claim(site, (clause,))), VerifiedFilters)

    return windows.clauses(site.window, site.where, accepted)


def _proved(site: AnySite, below: Sequence[Term], budget: float) -> Accepted | Rejected:
    """What the checker says of all filters together."""
    result = check_filters(_claim(site, below))
    whole = site.whole if isinstance(site, WindowSite) else None
    if isinstance(result, Rejected) and whole is not None:
        return _of_partition(whole, below[0], budget)
    return result


def _claim(site: AnySite, below: Sequence[Term]) -> TwoRowClaim:
    columns = [side.columns for side in site.sides]
    if isinstance(site, JoinSite):
        return JoinCertificate(columns[0], columns[1], site.join, site.where, below[0], below[1])
    return WindowCertificate(columns[0], site.window, site.where, below[0])


def _of_whole(site: WindowSite, budget: float) -> Iterator[Term]:
    """The conjuncts that may stand below functions of whole partitions."""
    whole = site.whole
    for clause in windows.asked(site.window, site.where) if whole is not None else ():
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
