"""Trusted. The cost gate: which of the proven edits are made. It takes edits back and makes none,
so that a wrong estimate costs time and never a result.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from presieve.cost.decision import Candidate, Decision, decide, keeps
from presieve.driver.rounds import Decided, undone
from presieve.errors import Declined

if TYPE_CHECKING:
    from presieve.backend.plans import Opened, SiteEdit

COST = "cost"
"""The code of the reason that pushing is not worth while."""


def gated(opened: Opened, decided: Sequence[Decided], *, refuse: bool) -> list[Decided]:
    """The boundaries of one round, those without an edit that would cost more than they save.
    ``refuse`` is false where it is only told.
    """
    from presieve.backend.statistics.edits import alike_paths, candidate

    found = list(decided)
    left = {e.site.boundary.path: (i, e) for i, e in _with_prefilter(decided)}
    while left:
        _, first = next(iter(left.values()))
        alike = alike_paths(opened, first)
        members = [left.pop(path) for path in tuple(left) if path in alike]
        candidates = [candidate(opened, edit) for _, edit in members]
        decision = decide(candidates, len(alike))
        for (i, _), one in zip(members, candidates, strict=True):
            found[i] = _with_cost(decided[i], one, decision, refuse=refuse)
    return found


def _with_prefilter(decided: Sequence[Decided]) -> Iterator[tuple[int, SiteEdit]]:
    for i, one in enumerate(decided):
        if one.edit is not None and one.edit.prefilter is not None:
            yield i, one.edit


def _with_cost(one: Decided, candidate: Candidate, decision: Decision, *, refuse: bool) -> Decided:
    share = None if candidate.estimate is None else candidate.estimate.kept
    report = replace(one.report, estimated_selectivity=share)
    reason = ", ".join(filter(None, (keeps(candidate), decision.reason)))
    if decision.pays or not refuse:
        verdict = "pushed" if decision.pays else "pushed although it may not pay"
        return replace(one, report=replace(report, decision=f"{verdict}: {reason}"))
    why = Declined(COST, f"the pre-filter {report.prefilter} is proven, but {reason}")
    told = replace(undone(report, why), decision=f"not pushed: {reason}")
    return replace(one, report=told, edit=None)
