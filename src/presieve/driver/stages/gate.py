"""Trusted. The cost gate: which of the proven edits are made. It takes edits back and makes none,
so that a wrong estimate costs time and never a result.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from presieve.backend.plans import Opened
from presieve.backend.statistics import edits
from presieve.cost.decision import decide
from presieve.driver.stages.decisions import SiteDecision, Verdict

COST = "cost"
"""The code of the reason that pushing does not pay."""


def gated(opened: Opened, decisions: Sequence[SiteDecision], *, refuse: bool) -> list[SiteDecision]:
    """The boundaries of one round with a verdict on each pre-filter; where ``refuse`` is true,
    without the edits that would cost more than they save.
    """
    judged = list(decisions)
    left = {
        d.edit.site.boundary.path: (i, d.edit)
        for i, d in enumerate(decisions)
        if d.edit is not None and d.edit.prefilter is not None
    }
    while left:
        _, first = next(iter(left.values()))
        equal = edits.paths_of_equal(opened, first)
        members = [left.pop(path) for path in tuple(left) if path in equal]
        candidates = [edits.candidate(opened, edit) for _, edit in members]
        decision = decide(candidates, len(equal))
        refused = refuse and not decision.pays
        for (i, edit), one in zip(members, candidates, strict=True):
            verdict = Verdict(one, decision, refused)
            judged[i] = replace(judged[i], edit=None if refused else edit, verdict=verdict)
    return judged
