"""Untrusted. How many rows the largest group of a boundary has: for estimates alone."""

from __future__ import annotations

from presieve.backend.gateway import Handle
from presieve.backend.plans import Opened
from presieve.backend.problems.problem import BoundaryInput
from presieve.backend.statistics.edits import estimated
from presieve.cost.decision import LISTED
from presieve.cost.estimate import largest_share
from presieve.semantics.values import MOST_ROWS


def largest_group(opened: Opened, plan: Handle, source: BoundaryInput, rows: int) -> float | None:
    """At most how many rows a group is likely to have, where the input has ``rows`` at most; None
    where nothing is known. Files are opened where that may decide something.
    """
    if rows <= LISTED:
        return rows
    if rows >= MOST_ROWS:
        return None
    share = estimated(opened, plan, source, largest_share)
    return None if share is None else rows * share
