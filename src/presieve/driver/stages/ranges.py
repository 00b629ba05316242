"""Trusted. The range of the keys on a join's small side, as a filter on the large side.

The checker proves for two rows of which it is known that they match that the filter keeps both.
What the range will be is asked when the plan runs; whether it pays is estimated before that, from
the rows that the small side has now.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from presieve.backend.classic.ranges import KeyRange, KeyRanges, open_ranges, with_ranges
from presieve.backend.plans import Opened
from presieve.certificate.check import Rejected
from presieve.certificate.two_rows import VerifiedFilters, check_filters
from presieve.cost.estimate import estimate, extremes
from presieve.driver.solve import ERASED_TEXT, ERASES
from presieve.driver.stages.gate import COST
from presieve.errors import Declined

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

    from presieve.driver.options import Options

_READ = "the range of the other side's keys is not known to skip as many row groups as it costs"


@dataclass(frozen=True, slots=True)
class RangeDecision:
    """A range for one side of a join, with its proof, or why there is none. ``skipped`` is the
    share of its files' rows that it is likely to skip.
    """

    site: KeyRange
    verified: VerifiedFilters | None = None
    declined: Declined | None = None
    skipped: float | None = None


@dataclass(frozen=True, slots=True)
class Ranged:
    """The DataFrame that comes out, which is the one that went in where nothing changes."""

    df: DataFrame
    decisions: tuple[RangeDecision, ...] = ()


def with_key_ranges(opened: Opened, df: DataFrame, options: Options) -> Ranged:
    """The DataFrame with ranges of keys on the large sides of its joins."""
    if options.cost == "never":
        return Ranged(df)
    ranges = open_ranges(opened, df)
    if ranges is None or isinstance(ranges, Declined):
        return Ranged(df)
    decisions = tuple(_decided(ranges, site, options) for site in ranges.found)
    chosen: dict[tuple[int, ...], RangeDecision] = {}
    for one in decisions:
        best = chosen.get(one.site.path)
        if one.declined is None and (best is None or (one.skipped or 0) > (best.skipped or 0)):
            chosen[one.site.path] = one
    made = with_ranges(ranges, [one.site for one in chosen.values()]) if chosen else df
    if isinstance(made, Declined):
        return Ranged(df, tuple(replace(d, declined=d.declined or made) for d in decisions))
    return Ranged(made, tuple(chosen.values()))


def _decided(ranges: KeyRanges, site: KeyRange, options: Options) -> RangeDecision:
    decision = RangeDecision(site)
    if options.policy == "strict" and site.erases:
        return replace(decision, declined=Declined(ERASES, ERASED_TEXT))
    share = _skipped(ranges, site)
    if options.cost != "always" and not site.pays(share):
        return replace(decision, declined=Declined(COST, _READ), skipped=share)
    verified = check_filters(site.certificate)
    if isinstance(verified, Rejected):
        reason = f"the filter is not proved: {verified.reason}"
        return replace(decision, declined=Declined("no-proof", reason))
    return replace(decision, verified=verified, skipped=share)


def _skipped(ranges: KeyRanges, site: KeyRange) -> float | None:
    """The share of rows that the range skips in whole row groups; None where it is not known."""
    keys = ranges.keys(site)
    ends = None if keys is None else extremes(keys)
    scan = None if ends is None else ranges.scan(site, *ends)
    known = None if scan is None else estimate(scan)
    return None if known is None else known.skipped
