"""Untrusted. How many rows the largest group of a boundary has: for estimates alone."""

from __future__ import annotations

import logging

from presieve.backend.gateway import Handle
from presieve.backend.plans import Opened
from presieve.backend.problems.problem import BoundaryInput
from presieve.backend.statistics.estimates import Below, scan_below
from presieve.cost.decision import LISTED
from presieve.cost.estimate import largest_share
from presieve.semantics.values import MOST_ROWS

logger = logging.getLogger("presieve")


def largest_group(opened: Opened, plan: Handle, input_: BoundaryInput, rows: int) -> float | None:
    """At most how many rows a group is likely to have, where the input has ``rows`` at most; None
    where nothing is known. Files are opened where that may decide something.
    """
    if rows <= LISTED:
        return rows
    if rows >= MOST_ROWS:
        return None
    try:
        below = Below(plan, input_.node, input_.names, opened.timezone)
        scan = scan_below(opened.gateway, below)
        share = None if scan is None else largest_share(scan)
    except Exception as error:  # somebody else's files must not stop somebody's job
        logger.warning("no estimate of groups could be made, please report it", exc_info=error)
        return None
    return None if share is None else rows * share
