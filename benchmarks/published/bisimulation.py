"""Untrusted. Algorithm 5: the strongest invariant of a pre-filter, by Houdini within bounds."""

from __future__ import annotations

from benchmarks.published.bounds import Bounds, Infeasible
from benchmarks.published.conditions import SIDES, Conditions, Filter, Row


def find_strongest_bisimulation(
    conditions: Conditions, prefilter: Filter, bounds: Bounds
) -> frozenset[int] | Infeasible:
    """Drop atoms that a step does not preserve, until all are; fail as soon as one of the lower
    bound would go. One question an atom and a condition.
    """
    if not bounds.lower <= bounds.upper:
        return Infeasible(prefilter, None)
    guards = {side: conditions.guard(side, prefilter) for side in SIDES}
    invariant = set(bounds.upper)
    changed = True
    while changed:
        changed = False
        for side in SIDES:
            for atom in sorted(invariant):
                kept = conditions.preserves(invariant, side, guards[side], atom)
                if kept is True:
                    continue
                if atom in bounds.lower:
                    return Infeasible(prefilter, kept if isinstance(kept, Row) else None)
                invariant.discard(atom)
                changed = True
    if conditions.crashes(invariant, guards["sync"]):
        return Infeasible(prefilter, None)
    return frozenset(invariant)
