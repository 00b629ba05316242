# SPDX-License-Identifier: Apache-2.0
"""Untrusted. Whether pre-filters are worth pushing, with the reason in words."""

from __future__ import annotations

from collections.abc import Sequence

from msgspec import Struct

from presieve.cost.model import SCAN, RowCost, check
from presieve.cost.parquet_scan import Estimate
from presieve.ir.terms import SQL_FALSE, Term
from presieve.ir.walk import variables

CHEAP = 4.0
"""Without an estimate, checking a pre-filter may cost this many times the work of the boundary,
above all because sources without statistics cost more to read than Parquet. A filter on a text is
only expensive in comparison with Spark's own aggregates.
"""


class ProvenPrefilter(Struct, frozen=True):
    """A proven pre-filter.

    ``estimate`` is None if nothing is known of the rows that it keeps. ``spares`` says that the
    function is no longer needed for the remaining rows once the filter is moved.
    """

    prefilter: Term
    row_cost: RowCost
    estimate: Estimate | None
    spares: bool = False

    @property
    def least(self) -> float | None:
        """The least share of rows that it is likely to keep."""
        if self.prefilter == SQL_FALSE:
            return 0.0
        return None if self.estimate is None else self.estimate.least


class CostDecision(Struct, frozen=True):
    """Whether to push, and the reason besides :func:`keeps`, as the end of a sentence."""

    pays: bool
    reason: str = ""


def decide(candidates: Sequence[ProvenPrefilter], copies: int = 1) -> CostDecision:
    """Decide about the pre-filters of equal boundaries: either all are pushed or none.

    ``copies`` is the number of equal boundaries in the plan, including those without a pre-filter.
    As written, Spark reads and exchanges their rows once. With different pre-filters, it does so
    once for each kind.
    """
    if all(c.spares for c in candidates):
        return CostDecision(True, "and the filter no longer calls the function")
    kinds = len({c.prefilter for c in candidates}) + (copies > len(candidates))
    if any(c.least is None for c in candidates):
        return _decide_without_estimate(candidates, kinds)
    if _cost_as_pushed(candidates, copies) < _cost_as_written(candidates[0].row_cost, copies):
        return CostDecision(True)
    return CostDecision(False, _TWICE if kinds > 1 else _DEAR)


_DEAR = "and checking costs more than it saves"
_TWICE = (
    "and another part of the plan reads the same rows, which Spark does once as long as both are"
    " the same"
)


def _decide_without_estimate(candidates: Sequence[ProvenPrefilter], kinds: int) -> CostDecision:
    """Decide without an estimate.

    A pre-filter below Python nearly always pays off; one below Spark's own aggregates does if it is
    cheap.
    """
    if kinds > 1 and not candidates[0].row_cost.own:
        return CostDecision(False, _TWICE)
    if any(check(c.prefilter) > CHEAP * (c.row_cost.shared + c.row_cost.own) for c in candidates):
        return CostDecision(False, "and checking costs about as much as the function")
    return CostDecision(True)


def _cost_as_written(row_cost: RowCost, copies: int) -> float:
    return row_cost.scan + row_cost.shared + copies * row_cost.own


def _cost_as_pushed(candidates: Sequence[ProvenPrefilter], copies: int) -> float:
    """Cost of the boundaries as pushed.

    Each kind of pre-filter costs a scan, a check and an exchange; each boundary costs its own work.
    """
    kinds = {c.prefilter: c for c in candidates}
    cost = sum(_before(c) for c in kinds.values())
    cost += sum((c.least or 0.0) * c.row_cost.own for c in candidates)
    unfiltered = copies - len(candidates)
    if unfiltered:
        row_cost = candidates[0].row_cost
        cost += row_cost.scan + row_cost.shared + unfiltered * row_cost.own
    return cost


def _before(candidate: ProvenPrefilter) -> float:
    """Cost of a row up to and including the exchange; rows that are skipped cost nothing."""
    read = 1 - (candidate.estimate.skipped if candidate.estimate else 0.0)
    least, row_cost = candidate.least or 0.0, candidate.row_cost
    share = min(1.0, least / read) if read else 0.0
    return read * (row_cost.scan + check(candidate.prefilter, share)) + least * row_cost.shared


def looking_pays(candidate: ProvenPrefilter, condition: Term) -> bool:
    """Whether it pays to look first for rows that satisfy a condition, so that the pre-filter may
    be used if there are none.

    Looking costs a scan of the condition's columns, for the same rows that arrive at the boundary.
    If nothing is known of them, it is taken to pay.
    """
    if candidate.least is None:
        return True
    row_cost = candidate.row_cost
    look = SCAN * len(variables(condition)) + check(condition)
    written = row_cost.scan + row_cost.shared + row_cost.own
    return look + _before(candidate) + candidate.least * row_cost.own < written


LISTED = 1_000_000
"""Maximum number of a group's rows that Spark may hold in memory, with some hundred bytes each."""


def list_pays(largest: float | None, *, streamed: bool) -> CostDecision:
    """Decide whether a fold over the list of a group's rows may replace a function.

    ``largest`` is an upper bound on the rows of a group. A function that is ``streamed`` does not
    hold them in memory itself.
    """
    if largest is None:
        reason = "nothing is known of the groups' sizes, and lists of their rows would be in memory"
        return CostDecision(not streamed, reason)
    reason = f"a group may have {largest:,.0f} rows, and a list of them would be held in memory"
    return CostDecision(largest <= LISTED, reason)


def keeps(candidate: ProvenPrefilter) -> str:
    """Say in words how many rows a pre-filter keeps."""
    if candidate.prefilter == SQL_FALSE:
        return "keeps no row"
    estimate = candidate.estimate
    if estimate is None:
        return "how many rows it keeps is unknown"
    scan = (
        f" (the scan skips {_as_percentage(estimate.skipped)})" if estimate.skipped >= 0.005 else ""
    )
    share = (
        f"about {_as_percentage(estimate.kept)}" if estimate.kept >= 0.0001 else "less than 0.01 %"
    )
    return f"keeps {share} of rows{scan}"


def _as_percentage(share: float) -> str:
    """Write a share in percent, with decimals if few or nearly all rows are meant."""
    text = f"{100 * share:.0f}" if 0.1 <= share <= 0.9 else f"{100 * share:.1f}"
    if share < 0.001:
        text = f"{100 * share:.2f}"
    return text.removesuffix(".0") + " %"
