"""Untrusted. A pushdown with no more assumptions than it takes.

An assumption that the fold's meaning does not rest on ("no NaN in x") is kept only where it pays:
where without it rows would have to be kept that obey every assumption. Where it merely allows to
drop the rows that break it, it goes, and those rows stay.
"""

from __future__ import annotations

import time
from collections.abc import Collection
from dataclasses import replace

from presieve.ir.fold import Assumption, Problem
from presieve.ir.pushdown import Kind
from presieve.synthesis.engine import Found, needed_cells, synthesize

_RANK: dict[Kind, int] = {"none": 0, "partial": 1, "split": 2, "exact": 3, "empty": 3}


def synthesize_fewest(problem: Problem, optional: Collection[str], budget: float) -> Found:
    """As :func:`synthesize`, then again without assumptions of the ``optional`` codes.

    First without all of them, then without one after the other.
    """
    deadline = time.perf_counter() + budget
    best = synthesize(problem, budget)
    loose = [a for a in problem.assumptions if a.code in optional]
    attempts = [loose, *([a] for a in loose)] if len(loose) > 1 else [loose] if loose else []
    for dropped in attempts:
        left = deadline - time.perf_counter()
        if best.pushdown is None or left <= 0:
            return best
        better = _without(best, dropped, left)
        if better is not None:
            best = better
            if dropped is loose:
                return best
    return best


def _without(best: Found, dropped: list[Assumption], budget: float) -> Found | None:
    """The same pushdown without these assumptions, or None where it would be weaker."""
    kept = tuple(a for a in best.problem.assumptions if a not in dropped)
    relaxed = replace(best.problem, assumptions=kept)
    if not needed_cells(relaxed, budget) & best.cells <= best.needs:
        return None
    found = synthesize(relaxed, budget)
    assert best.pushdown is not None
    calls = best.solver_calls + found.solver_calls
    same = found.needs & best.cells <= best.needs
    if found.pushdown is None or not same:
        return None
    if _RANK[found.pushdown.kind] < _RANK[best.pushdown.kind]:
        return None
    return replace(found, solver_calls=calls, seconds=best.seconds + found.seconds)
