"""Untrusted. Algorithm 6: the weakest residual for a pre-filter and its strongest invariant."""

from __future__ import annotations

import heapq
from collections.abc import Collection

from benchmarks.published.conditions import Conditions, Ending

Residual = frozenset[int]


def find_residual(
    conditions: Conditions, invariant: Collection[int], *, learns: bool = True
) -> Residual | None:
    """The cheapest conjunction over U_R that Final accepts; None where even the filter fails.

    Fewest atoms is not weakest (``x > 0`` and ``x <> 0`` tie), so the heap is ordered by cost,
    which is less for the weaker ones. With ``learns`` off a failure teaches nothing: every atom is
    added.
    """
    if not conditions.implies_final(invariant):
        return None
    atoms = conditions.universes.outputs
    waiting: list[tuple[int, tuple[int, ...]]] = [(0, ())]
    seen: set[Residual] = {frozenset()}
    while waiting:
        cost, chosen = heapq.heappop(waiting)
        ending = conditions.ending(invariant, chosen)
        if ending is True:
            return frozenset(chosen)
        for k in _further(ending, len(atoms), learns=learns):
            longer = frozenset([*chosen, k])
            if longer not in seen:
                seen.add(longer)
                heapq.heappush(waiting, (cost + atoms[k].cost, tuple(sorted(longer))))
    return None


def _further(ending: Ending | bool | None, size: int, *, learns: bool) -> Collection[int]:
    """HandleFailure: what may be added to a residual that fails so."""
    if not learns:
        return range(size)
    if not isinstance(ending, Ending) or ending.accepted or not ending.passes:
        return ()
    return ending.false
