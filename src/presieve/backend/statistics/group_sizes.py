"""Untrusted. Estimate the number of rows in the largest group of a boundary."""

from __future__ import annotations

from presieve.backend.gateway import Handle
from presieve.backend.open_plan import Opened
from presieve.backend.problems.problem import BoundaryInput
from presieve.backend.statistics.edits import ask_about_scan
from presieve.cost.decision import LISTED
from presieve.cost.estimate import largest_share
from presieve.semantics.values import MOST_ROWS


def largest_group(opened: Opened, plan: Handle, source: BoundaryInput, rows: int) -> float | None:
    """Return the likely maximum number of rows in a group, if the input has at most ``rows``. None
    if nothing is known. Files are opened if that may decide something.
    """
    if rows <= LISTED:
        return rows
    if rows >= MOST_ROWS:
        return None
    share = ask_about_scan(opened, plan, source, largest_share)
    return None if share is None else rows * share
