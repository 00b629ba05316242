# SPDX-License-Identifier: Apache-2.0
"""Trusted. The cost gate decides which of the proven edits are made.

It only takes edits back, so a wrong estimate costs time but never changes a result.
"""

from __future__ import annotations

from collections.abc import Sequence

from presieve.backend.open_plan import Opened
from presieve.backend.statistics import edits
from presieve.cost.decision import decide
from presieve.driver.stages.decisions import GateVerdict, SiteDecision
from presieve.records import replace

COST = "cost"
"""The code of the reason that a rewrite does not pay off."""


def judge_prefilters(
    opened: Opened, decisions: Sequence[SiteDecision], *, refuse: bool
) -> list[SiteDecision]:
    """Add the gate's verdict to each pre-filter of one round.

    If ``refuse`` is true, drop the edits that would cost more than they save.
    """
    judged = list(decisions)
    pending = {
        d.edit.site.boundary.path: (i, d.edit)
        for i, d in enumerate(decisions)
        if d.edit is not None and d.edit.prefilter is not None
    }
    while pending:
        _, first = next(iter(pending.values()))
        equal = edits.paths_of_equal(opened, first)
        members = [pending.pop(path) for path in tuple(pending) if path in equal]
        candidates = [edits.candidate(opened, edit) for _, edit in members]
        decision = decide(candidates, len(equal))
        refused = refuse and not decision.pays
        for (i, edit), candidate in zip(members, candidates, strict=True):
            verdict = GateVerdict(candidate, decision, refused)
            judged[i] = replace(judged[i], edit=None if refused else edit, verdict=verdict)
    return judged
