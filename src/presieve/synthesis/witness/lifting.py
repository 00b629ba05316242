"""Untrusted. From the witnesses of a scaled problem to those of the original one."""

from __future__ import annotations

from itertools import chain, islice

from presieve.synthesis.forms.count_scaling import CountScaling
from presieve.synthesis.sampling.space import Space
from presieve.synthesis.sampling.tables import Finding, Need, needs_near
from presieve.universe.boxes import Cell

_TRIED = 40
"""Tables of the scaled problem that are lifted for one region, at most."""


def lift_witnesses(
    scaling: CountScaling, original: Space, scaled: Space, finding: Finding
) -> dict[Cell, Need] | None:
    """A witness of the original problem for each region that has one of the scaled problem.

    Where a witness cannot be lifted, its region is looked for around those that can, and around the
    accepted tables of the scaled problem. None where a region is left without.
    """
    found: dict[Cell, Need] = {}
    for cell, need in finding.needs.items():
        lifted = scaling.lifted(original, scaled, need)
        if lifted is not None:
            found[cell] = lifted
    known = [(n.table, n.key) for n in found.values()]
    for cell in [c for c in finding.needs if c not in found]:
        others = islice(needs_near(scaled, cell, finding.accepted), _TRIED)
        attempts = (scaling.lifted(original, scaled, n) for n in others)
        lifted = next(chain(needs_near(original, cell, known), filter(None, attempts)), None)
        if lifted is None:
            return None
        found[cell] = lifted
    return found
