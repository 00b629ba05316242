"""Untrusted. Whether pre-filters are worth pushing, and the reason in words."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from presieve.cost.model import Work, check
from presieve.cost.scan import Estimate
from presieve.ir.terms import SQL_FALSE, Term

CHEAP = 4.0
"""A pre-filter of which nothing else is known may cost so many times the boundary itself: sources
without statistics cost more to read than Parquet, most of all, and a filter on a text is dear only
in comparison with Spark's own aggregates.
"""


@dataclass(frozen=True, slots=True)
class Candidate:
    """A proven pre-filter: ``estimate`` is None where nothing is known of the rows that it keeps.
    ``spares``: once the filter is moved nobody needs the function for the rows that are left.
    """

    prefilter: Term
    work: Work
    estimate: Estimate | None
    spares: bool = False

    @property
    def least(self) -> float | None:
        """The least share of rows that it is likely to keep."""
        if self.prefilter == SQL_FALSE:
            return 0.0
        return None if self.estimate is None else self.estimate.least


@dataclass(frozen=True, slots=True)
class Decision:
    """Whether to push, and what decides besides :func:`keeps`, as the rest of a sentence."""

    pays: bool
    reason: str = ""


def decide(candidates: Sequence[Candidate], copies: int = 1) -> Decision:
    """About the pre-filters of boundaries that are alike: all of them are pushed or none.

    ``copies`` is how many alike there are in the plan, those without a pre-filter among them. As
    written, Spark reads and exchanges their rows once. With different pre-filters it does so for
    each kind anew.
    """
    if all(c.spares for c in candidates):
        return Decision(True, "and the filter no longer calls the function")
    kinds = len({c.prefilter for c in candidates}) + (copies > len(candidates))
    if any(c.least is None for c in candidates):
        return _unknown(candidates, kinds)
    if _pushed(candidates, copies) < _written(candidates[0].work, copies):
        return Decision(True)
    return Decision(False, _TWICE if kinds > 1 else _DEAR)


_DEAR = "and checking costs more than it saves"
_TWICE = (
    "and another part of the plan reads the same rows, which Spark does once as long as both are"
    " the same"
)


def _unknown(candidates: Sequence[Candidate], kinds: int) -> Decision:
    """Below Python it nearly always pays; below Spark's own aggregates where it is cheap."""
    if kinds > 1 and not candidates[0].work.own:
        return Decision(False, _TWICE)
    if any(check(c.prefilter) > CHEAP * (c.work.shared + c.work.own) for c in candidates):
        return Decision(False, "and checking costs about as much as the function")
    return Decision(True)


def _written(work: Work, copies: int) -> float:
    return work.scan + work.shared + copies * work.own


def _pushed(candidates: Sequence[Candidate], copies: int) -> float:
    """Each kind of pre-filter is a scan, a check and an exchange; each boundary its own work."""
    kinds = {c.prefilter: c for c in candidates}
    cost = sum(_before(c) for c in kinds.values())
    cost += sum((c.least or 0.0) * c.work.own for c in candidates)
    rest = copies - len(candidates)
    if rest:
        work = candidates[0].work
        cost += work.scan + work.shared + rest * work.own
    return cost


def _before(candidate: Candidate) -> float:
    """What a row costs up to the exchange, inclusive: those that are skipped cost nothing."""
    read = 1 - (candidate.estimate.skipped if candidate.estimate else 0.0)
    least, work = candidate.least or 0.0, candidate.work
    share = min(1.0, least / read) if read else 0.0
    return read * (work.scan + check(candidate.prefilter, share)) + least * work.shared


LISTED = 1_000_000
"""Rows of a group that Spark is to hold in memory at most, with some hundred bytes each."""


def list_pays(largest: float | None, *, streamed: bool) -> Decision:
    """About a fold over the list of a group's rows in place of a function. ``largest`` is how many
    rows a group has at most; a function that is ``streamed`` does not hold them in memory itself.
    """
    if largest is None:
        reason = "nothing is known of the groups' sizes, and lists of their rows would be in memory"
        return Decision(not streamed, reason)
    reason = f"a group may have {largest:,.0f} rows, and a list of them would be held in memory"
    return Decision(largest <= LISTED, reason)


def keeps(candidate: Candidate) -> str:
    """What is known of the rows that a pre-filter keeps, in words."""
    if candidate.prefilter == SQL_FALSE:
        return "keeps no row"
    known = candidate.estimate
    if known is None:
        return "how many rows it keeps is unknown"
    scan = f" (the scan skips {_percent(known.skipped)})" if known.skipped >= 0.005 else ""
    kept = f"about {_percent(known.kept)}" if known.kept >= 0.0001 else "less than 0.01 %"
    return f"keeps {kept} of rows{scan}"


def _percent(share: float) -> str:
    """With digits after the point where few or nearly all rows are meant."""
    text = f"{100 * share:.0f}" if 0.1 <= share <= 0.9 else f"{100 * share:.1f}"
    if share < 0.001:
        text = f"{100 * share:.2f}"
    return text.removesuffix(".0") + " %"
