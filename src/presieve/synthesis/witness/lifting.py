"""Untrusted. From the witnesses of a lowered problem to those of the original one."""

from __future__ import annotations

from itertools import chain, islice

from presieve.synthesis.forms.count_scaling import Lowering
from presieve.synthesis.sampling.space import Space
from presieve.synthesis.sampling.tables import Finding, Need, needs_near
from presieve.universe.boxes import Cell

_TRIED = 40
"""Tables of the lowered problem that are raised for one region, at most."""


def raised(
    lowering: Lowering, original: Space, lowered: Space, finding: Finding
) -> dict[Cell, Need] | None:
    """A witness of the original problem for each region that has one of the lowered problem.

    Where a witness cannot be raised, its region is looked for around those that can, and around the
    accepted tables of the lowered problem. None where a region is left without.
    """
    found: dict[Cell, Need] = {}
    for cell, need in finding.needs.items():
        real = lowering.raised(original, lowered, need)
        if real is not None:
            found[cell] = real
    known = [(n.table, n.key) for n in found.values()]
    for cell in [c for c in finding.needs if c not in found]:
        others = islice(needs_near(lowered, cell, finding.accepted), _TRIED)
        higher = (lowering.raised(original, lowered, n) for n in others)
        real = next(chain(needs_near(original, cell, known), filter(None, higher)), None)
        if real is None:
            return None
        found[cell] = real
    return found
