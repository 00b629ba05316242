# SPDX-License-Identifier: Apache-2.0
"""Trusted. Adds filters on files by bounds that the query computes when it runs: the range of the
keys on a join's small side, and the n-th value of what rows are sorted by.

The checker proves that such a filter may stand there. Whether it pays off is estimated before, from
what the files have now.
"""

from __future__ import annotations

from presieve.backend.classic.query_bounds.join_key_ranges import find_key_ranges
from presieve.backend.classic.query_bounds.plans import (
    Bound,
    FilePlan,
    PlanBounds,
    add_bounds,
)
from presieve.backend.classic.query_bounds.top_rows import find_top_rows
from presieve.certificate.checker import Rejected, Verified, check
from presieve.certificate.claim import ConditionClaim
from presieve.driver.options import Options
from presieve.driver.solve import MAY_ERASE
from presieve.driver.stages.cost_gate import COST
from presieve.driver.stages.decisions import Decision
from presieve.driver.stages.passes import PassResult, PlanState
from presieve.errors import Declined
from presieve.records import replace


class BoundDecision(Decision[Bound], frozen=True):
    """A bound for some rows, with its proof, or why there is none.

    ``skipped`` is the share of its files' rows that it is likely to skip.
    """

    verified: Verified[ConditionClaim] | None = None
    skipped: float | None = None


def add_key_ranges(state: PlanState) -> PassResult:
    """Add ranges of keys to the large sides of joins."""
    of_any_size = state.options.cost == "always"
    return _add(state, find_key_ranges(state.opened, state.df, of_any_size=of_any_size))


def add_top_rows(state: PlanState) -> PassResult:
    """Add the n-th value of the sort key to the files below ORDER BY ... LIMIT n."""
    return _add(state, find_top_rows(state.opened, state.df))


def _add(state: PlanState, found: PlanBounds | Declined | None) -> PassResult:
    if found is None or isinstance(found, Declined):
        return PassResult(state.df)
    decisions = tuple(_decide(found.plan, bound, state.options) for bound in found.bounds)
    chosen: dict[tuple[int, ...], BoundDecision] = {}
    for decision in decisions:
        best = chosen.get(decision.site.path)
        if decision.is_planned and (best is None or (decision.skipped or 0) > (best.skipped or 0)):
            chosen[decision.site.path] = decision
    bounds = [decision.site for decision in chosen.values()]
    new_df = add_bounds(found.plan, bounds) if bounds else state.df
    if isinstance(new_df, Declined):
        refused = (d.take_back(d.declined or new_df) for d in decisions)
        return PassResult(state.df, tuple(refused))
    large = (d for d in decisions if d.declined and d.site.is_large)
    others = (d for d in large if d.site.path not in chosen)
    return PassResult(new_df, (*chosen.values(), *others))


def _decide(plan: FilePlan, bound: Bound, options: Options) -> BoundDecision:
    decision = BoundDecision(bound)
    if options.policy == "strict" and bound.erases:
        return decision.take_back(MAY_ERASE)
    share = bound.share_skipped(plan)
    why_not = None if options.cost == "always" else bound.why_not_paid(share)
    if why_not is not None:
        return replace(decision.decline(COST, why_not), skipped=share)
    verified = check(bound.certificate)
    if isinstance(verified, Rejected):
        return decision.decline("no-proof", f"the filter is not proved: {verified.reason}")
    return replace(decision, verified=verified, skipped=share)
