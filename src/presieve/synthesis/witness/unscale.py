"""Untrusted. Turns the witnesses of a scaled problem into witnesses of the original one."""

from __future__ import annotations

from itertools import chain, islice

from presieve.synthesis.forms.count_scaling import CountScaling
from presieve.synthesis.sampling.concrete_tables import Finding, NeededRow, needs_near
from presieve.synthesis.sampling.space import Space
from presieve.universe.boxes import Cell

_TRIED = 40
"""The maximum number of tables of the scaled problem that are lifted for one region."""


def lift_witnesses(
    scaling: CountScaling, original: Space, scaled: Space, finding: Finding
) -> dict[Cell, NeededRow] | None:
    """A witness of the original problem for each region that has one in the scaled problem.

    If a witness cannot be lifted, a witness for its region is searched around the lifted ones, and
    around the accepted tables of the scaled problem. None if a region is left without a witness.
    """
    lifted_needs: dict[Cell, NeededRow] = {}
    for cell, need in finding.needs.items():
        lifted = scaling.lifted(original, scaled, need)
        if lifted is not None:
            lifted_needs[cell] = lifted
    lifted_tables = [(n.table, n.key) for n in lifted_needs.values()]
    for cell in [c for c in finding.needs if c not in lifted_needs]:
        others = islice(needs_near(scaled, cell, finding.accepted), _TRIED)
        attempts = (scaling.lifted(original, scaled, n) for n in others)
        lifted = next(
            chain(needs_near(original, cell, lifted_tables), filter(None, attempts)), None
        )
        if lifted is None:
            return None
        lifted_needs[cell] = lifted
    return lifted_needs
