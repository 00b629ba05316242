# SPDX-License-Identifier: Apache-2.0
"""Trusted. Adds the range of the keys on a join's small side as a filter on the large side.

The checker proves that the filter keeps both of two rows that are known to match. The range is
computed when the plan runs. Whether it pays off is estimated before, from the rows that the small
side has now.
"""

from __future__ import annotations

from presieve.backend.classic.join_key_ranges import (
    LEAST_SKIPPED,
    MIN_ROWS,
    KeyRange,
    KeyRanges,
    open_ranges,
    with_ranges,
)
from presieve.certificate.checker import Rejected, Verified, check
from presieve.certificate.joins import JoinCertificate
from presieve.cost.estimate import estimate, extremes
from presieve.driver.options import Options
from presieve.driver.solve import MAY_ERASE
from presieve.driver.stages.cost_gate import COST
from presieve.driver.stages.decisions import Decision
from presieve.driver.stages.passes import PassResult, PlanState
from presieve.errors import Declined
from presieve.records import replace


class RangeDecision(Decision[KeyRange], frozen=True):
    """A range for one side of a join, with its proof, or why there is none.

    ``skipped`` is the share of its files' rows that it is likely to skip.
    """

    verified: Verified[JoinCertificate] | None = None
    skipped: float | None = None


def add_key_ranges(state: PlanState) -> PassResult:
    """Add ranges of keys to the large sides of joins."""
    ranges = open_ranges(state.opened, state.df)
    if ranges is None or isinstance(ranges, Declined):
        return PassResult(state.df)
    decisions = tuple(_decide(ranges, site, state.options) for site in ranges.found)
    chosen: dict[tuple[int, ...], RangeDecision] = {}
    for decision in decisions:
        best = chosen.get(decision.site.path)
        if decision.is_planned and (best is None or (decision.skipped or 0) > (best.skipped or 0)):
            chosen[decision.site.path] = decision
    sites = [decision.site for decision in chosen.values()]
    new_df = with_ranges(ranges, sites) if sites else state.df
    if isinstance(new_df, Declined):
        refused = (d.take_back(d.declined or new_df) for d in decisions)
        return PassResult(state.df, tuple(refused))
    large = (d for d in decisions if d.declined and d.site.rows >= MIN_ROWS)
    others = (d for d in large if d.site.path not in chosen)
    return PassResult(new_df, (*chosen.values(), *others))


def _decide(ranges: KeyRanges, site: KeyRange, options: Options) -> RangeDecision:
    decision = RangeDecision(site)
    if options.policy == "strict" and site.erases:
        return decision.take_back(MAY_ERASE)
    share = _share_skipped(ranges, site)
    if options.cost != "always" and not site.pays(share):
        return replace(decision.decline(COST, _why_not_paid(site, share)), skipped=share)
    verified = check(site.certificate)
    if isinstance(verified, Rejected):
        return decision.decline("no-proof", f"the filter is not proved: {verified.reason}")
    return replace(decision, verified=verified, skipped=share)


def _why_not_paid(site: KeyRange, share: float | None) -> str:
    """Say how much the range would have to skip, and how much it does."""
    skips = "how many it skips is unknown"
    if share is not None:
        skips = f"it skips about {share:.0%} of {site.rows:,}"
    return (
        f"the range of the other side's keys must skip {LEAST_SKIPPED:.0%} of the rows, and"
        f" {MIN_ROWS:,} of them, to pay for its two subqueries; {skips}"
    )


def _share_skipped(ranges: KeyRanges, site: KeyRange) -> float | None:
    """Return the share of rows that the range skips in whole row groups; None if it is unknown."""
    keys = ranges.keys(site)
    ends = None if keys is None else extremes(keys)
    scan = None if ends is None else ranges.scan(site, *ends)
    estimated = None if scan is None else estimate(scan)
    return None if estimated is None else estimated.skipped
