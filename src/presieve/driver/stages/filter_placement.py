# SPDX-License-Identifier: Apache-2.0
"""Trusted. Filters go below windows, ``ORDER BY ... LIMIT`` and outer joins, with a proof.

The search for these filters is not trusted (:mod:`presieve.synthesis.windows` and
:mod:`presieve.synthesis.joins`): the checker proves each of them. The filters above stay.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import chain
from typing import TypeAlias, TypeVar

from presieve.backend.filter_placement.filtered_leaves import RELATION
from presieve.backend.filter_placement.joins import JoinSite
from presieve.backend.filter_placement.opening import (
    AnySite,
    FilteredOperators,
    filter_of,
    open_operators,
    with_filters,
)
from presieve.backend.filter_placement.windows import WINDOW_FRAME, WindowSite
from presieve.backend.rewrite import Predicate
from presieve.backend.statistics.edits import ask_about_scan
from presieve.certificate.certificate import Certificate
from presieve.certificate.checker import FORM, Rejected, Verified, check
from presieve.certificate.joins import JoinCertificate
from presieve.certificate.two_rows import TwoRowClaim
from presieve.certificate.windows import WindowCertificate
from presieve.cost.estimate import estimate
from presieve.cost.parquet_scan import Estimate, Scan
from presieve.driver.options import Options
from presieve.driver.solve import MAY_ERASE
from presieve.driver.stages.cost_gate import COST
from presieve.driver.stages.decisions import Decision
from presieve.driver.stages.passes import PassResult, PlanState
from presieve.errors import Declined
from presieve.ir.fold import Problem
from presieve.ir.ops import sql_conjunction, sql_conjuncts
from presieve.ir.terms import Scope, Term
from presieve.ir.walk import rewrite, to_scope, variables
from presieve.records import replace
from presieve.semantics.windows import HERE, WindowFrame
from presieve.sql.emit import normalize
from presieve.synthesis import joins, windows

MAX_ROUNDS = 8
"""Maximum height of a stack of operators that pass filters on to one another."""

SECONDS = 1.0
"""Maximum seconds for each question about functions of whole partitions."""

MOST = 0.95
"""The share of kept rows beyond which a filter is not worth its evaluation."""

Accepted: TypeAlias = Verified[TwoRowClaim] | Verified[Certificate]


T = TypeVar("T")


class FilteredDecision(Decision[AnySite], frozen=True):
    """The filters that go below one operator, with their proof, or why there are none.

    ``predicates`` has one entry for each side, which may be None. ``selectivity`` is the share of
    rows that the filter is likely to keep, for the side with the least share; None if unknown.
    """

    predicates: tuple[Predicate | None, ...] = ()
    verified: Accepted | None = None
    selectivity: float | None = None

    @property
    def text(self) -> str:
        """The filters, for people; with their side if the sides have different ones."""
        texts = [None if p is None else p.sql for p in self.predicates]
        if len(set(texts)) <= 1:
            return texts[0] or "" if texts else ""
        named = zip(texts, ("left", "right"), strict=True)
        return ", ".join(f"{sql} ({side})" for sql, side in named if sql is not None)


def add_filters_below(state: PlanState) -> PassResult:
    """Add filters below operators; a filter below one operator is above the inner ones."""
    df = state.df
    earlier = {d.site.number: d for d in state.select(FilteredDecision)}
    decided: dict[int, FilteredDecision] = {}
    notes: tuple[Declined, ...] = ()
    for _ in range(MAX_ROUNDS):
        operators = open_operators(state.opened, df)
        if isinstance(operators, Declined):
            break
        notes = operators.declined
        decisions = [_decide(operators, site, state.options) for site in operators.found]
        decisions = [_without_earlier(d, earlier.get(d.site.number)) for d in decisions]
        decided |= {d.site.number: d for d in decisions if d.predicates or d.declined}
        filters = {
            side.path: predicate
            for d in decisions
            for side, predicate in zip(d.site.sides, d.predicates, strict=False)
            if predicate is not None
        }
        new_df = with_filters(state.opened.gateway, operators.plan, filters) if filters else None
        if new_df is None or isinstance(new_df, Declined):
            break
        df = new_df
    every = {**earlier, **{n: decided[n] for n in sorted(decided)}}
    return PassResult(df, tuple(every.values()), notes=notes)


def _without_earlier(
    decision: FilteredDecision, earlier: FilteredDecision | None
) -> FilteredDecision:
    """Drop what an earlier run inserted and is gone: it has moved on, and nobody needs it here."""
    if earlier is None or not earlier.predicates or not decision.predicates:
        return decision
    pairs = zip(decision.predicates, earlier.predicates, strict=True)
    new = tuple(None if p and e and p.text == e.text else p for p, e in pairs)
    return replace(decision, predicates=new if any(new) else ())


def _decide(operators: FilteredOperators, site: AnySite, options: Options) -> FilteredDecision:
    """Decide about one operator."""
    decision = FilteredDecision(site)
    every = _find_filters(site, options.budget)
    if every is None:
        return decision
    if not any(map(sql_conjuncts, every)):
        return replace(decision, declined=_why_not(site))
    below = [_without_known(f, side.known) for f, side in zip(every, site.sides, strict=True)]
    if not any(map(sql_conjuncts, below)):
        return decision
    result = _prove_filters(site, below, options.budget)
    if isinstance(result, Rejected):
        reason = f"the filter is not proved: {result.condition}, {result.reason}"
        return decision.decline("no-proof", reason)
    if options.policy == "strict" and site.erases:
        return decision.take_back(MAY_ERASE)
    estimates = list(_ask_scans(operators, site, below, estimate))
    shares = [k.least for k in estimates if k is not None]
    decision = replace(decision, selectivity=min(shares, default=None))
    cost_reason = (
        _why_not_worth_it(operators, site, below, estimates) if options.cost != "always" else ""
    )
    if cost_reason:
        return decision.decline(COST, cost_reason)
    return _insert_filters(operators, replace(decision, verified=result), below)


def _insert_filters(
    operators: FilteredOperators, decision: FilteredDecision, below: Sequence[Term]
) -> FilteredDecision:
    """Add the filters to insert, or the reason why one of them cannot be inserted."""
    timezone = operators.opened.gateway.conf("spark.sql.session.timeZone", "UTC")
    predicates: list[Predicate | None] = []
    for side, term in zip(decision.site.sides, below, strict=True):
        predicate = filter_of(side, term, timezone) if sql_conjuncts(term) else None
        if isinstance(predicate, Declined):
            return replace(decision, declined=predicate, verified=None)
        predicates.append(predicate)
    return replace(decision, predicates=tuple(predicates))


def _without_known(term: Term, known_conjuncts: frozenset[Term]) -> Term:
    """Drop the conjuncts that already stand directly below the operator."""
    parts = sql_conjuncts(term)
    normal_forms = (normalize(to_scope(p, Scope.KEY, Scope.ROW)) for p in parts)
    return sql_conjunction(
        p for p, text in zip(parts, normal_forms, strict=True) if text not in known_conjuncts
    )


def _ask_scans(
    operators: FilteredOperators,
    site: AnySite,
    below: Sequence[Term],
    ask: Callable[[Scan], T | None],
) -> Iterator[T | None]:
    """Ask the scan below each filter."""
    opened, plan = operators.opened, operators.plan
    for side, term in zip(site.sides, below, strict=True):
        if sql_conjuncts(term):
            row_term = to_scope(term, Scope.KEY, Scope.ROW)
            yield ask_about_scan(opened, plan, side.input, ask, row_term)


def _why_not_worth_it(
    operators: FilteredOperators,
    site: AnySite,
    below: Sequence[Term],
    estimates: Sequence[Estimate | None],
) -> str:
    """Say why filters below would not pay off; an empty text if they would.

    A window or a join exchanges and sorts all rows, which costs more than any filter. The first
    rows of a limit are found in one pass, so only rows that are not read at all count.
    """
    if site.shared:
        return _SHARED
    if site.operator in EXCHANGING:
        return _ALL if all(k is not None and k.least > MOST for k in estimates) else ""
    shares = chain(
        (None if k is None else k.skipped for k in estimates),
        _ask_scans(operators, site, below, lambda scan: scan.skips()),
    )
    return "" if any(s is not None and s >= LEAST_SKIPPED for s in shares) else _READ


EXCHANGING = ("Window", "Join", "Intersect", "Except", RELATION)
LEAST_SKIPPED = 0.1
"""Minimum share of the files' rows that a filter below a limit must skip to pay off."""

_READ = (
    "the first rows are found in one pass, and the filter is not known to skip row groups or pages"
)


def _why_not(site: AnySite) -> Declined | None:
    """Say why rows that pass need rows that do not; None if there is no such reason."""
    if isinstance(site, JoinSite):
        full = site.join.left and site.join.right
        return Declined("outer-join", _OF_ONE_SIDE) if full else None
    if WindowFrame() in site.window.frames:
        reason = f"{site.functions or 'a function'} reads every row of its partition"
    else:
        place = "in the window" if site.operator == "Window" else "in the order"
        reason = f"rows that pass the filter need rows that it drops, by their place {place}"
    return Declined(WINDOW_FRAME, reason)


_OF_ONE_SIDE = (
    "the filter reads a column of one side that is no key of the join, so that rows of the other "
    "side would lose their partners"
)
_SHARED = "another part of the plan reads the same rows, which Spark exchanges once"
_ALL = "the filter keeps nearly all rows"


def _find_filters(site: AnySite, budget: float) -> tuple[Term, ...] | None:
    """Find the strongest filters that may go below, one for each side.

    Return None if there is nothing above that could go below and that Spark does not move itself.
    """
    if isinstance(site, JoinSite):
        moved = joins.conjuncts_to_push(site.join.on, site.where, site.masked)
        return _of_join(site) if any(moved) else None
    if not any(windows.conjuncts_to_push(site.where, site.by_spark)):
        return None
    return (sql_conjunction(_clauses(site) or _of_whole(site, budget)),)


def _of_join(site: JoinSite) -> tuple[Term, ...]:
    def is_accepted(sides: joins.Sides) -> bool:
        return isinstance(check(_claim(site, sides)), Verified)

    return joins.filters(site.join.on, site.where, site.masked, is_accepted)


def _clauses(site: WindowSite) -> tuple[Term, ...]:
    """Find the strongest clauses that may go below a window."""

    def is_accepted(clause: Term) -> bool:
        return isinstance(check(_claim(site, (clause,))), Verified)

    return windows.clauses(site.window, site.where, site.by_spark, is_accepted)


def _prove_filters(site: AnySite, below: Sequence[Term], budget: float) -> Accepted | Rejected:
    """Ask the checker about all filters together."""
    result = check(_claim(site, below))
    partition_problem = site.whole if isinstance(site, WindowSite) else None
    if isinstance(result, Rejected) and partition_problem is not None:
        return _of_partition(partition_problem, below[0], budget)
    return result


def _claim(site: AnySite, below: Sequence[Term]) -> TwoRowClaim:
    columns = [side.columns for side in site.sides]
    if isinstance(site, JoinSite):
        return JoinCertificate(columns[0], columns[1], site.join, site.where, below[0], below[1])
    return WindowCertificate(columns[0], site.window, site.where, below[0])


def _of_whole(site: WindowSite, budget: float) -> Iterator[Term]:
    """Yield the conjuncts that may go below functions of whole partitions."""
    partition_problem = site.whole
    for clause in (
        windows.conjuncts_to_push(site.where, site.by_spark)
        if partition_problem is not None
        else ()
    ):
        if partition_problem is not None and isinstance(
            _of_partition(partition_problem, clause, budget), Verified
        ):
            yield clause


def _of_partition(
    problem: Problem, prefilter: Term, budget: float
) -> Verified[Certificate] | Rejected:
    """Check whether a filter may go below a fold that begins with the row itself.

    The filter must be a part of the filter above, so that it is true of the row.
    """
    from presieve.synthesis.forms.handwritten import Invariant, judge

    own_columns = {v: problem.fold.key(HERE + v.name) for v in variables(prefilter)}
    own_conjuncts = sql_conjuncts(rewrite(prefilter, lambda v: own_columns[v]))
    if not set(own_conjuncts) <= set(sql_conjuncts(problem.where)):
        return Rejected(FORM, "the filter above does not say so of the row itself")
    judgement = judge(problem, prefilter, problem.where, min(budget, SECONDS))
    if not isinstance(judgement, Invariant):
        return Rejected("invariant", "none was found")
    claim = Certificate(problem, "partial", "universe", prefilter, problem.where, judgement.clauses)
    return check(claim)
