"""Untrusted. What each operator of a plan does in a pushdown: the filter as written,
what is left of it, the function, the filter below it, the scan.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias

from presieve.report.drawing.aligned import Pair
from presieve.report.drawing.tree import PlanNode, conjuncts
from presieve.report.model import BoundaryReport

Role: TypeAlias = Literal["", "function", "written", "residual", "prefilter", "stays", "scan"]

FILTER = "Filter"
_EVALUATES = ("EvalPython", "BatchEvalPythonUDTF", "ArrowEvalPythonUDTF")
_NAMES = {"Project": _EVALUATES, "PythonUDTF": (*_EVALUATES, "Generate")}
"""What Spark's optimizer makes of an operator that calls a Python function: names end so."""


@dataclass(frozen=True, slots=True)
class Marks:
    """By pair: its role in each tree, the boundary that it is, and the scans by the
    boundary to which they alone hand rows.
    """

    before: dict[Pair, Role]
    after: dict[Pair, Role]
    boundaries: dict[Pair, BoundaryReport]
    scans: dict[Pair, BoundaryReport]
    entered: dict[Pair, BoundaryReport]
    """Pre-filters, by the boundary for which they stand there."""

    def matters(self, pair: Pair) -> bool:
        """Whether the operator has a part in the pushdown."""
        return bool(self.before.get(pair) or self.after.get(pair)) or not pair.same


def mark(root: Pair, reports: Sequence[BoundaryReport]) -> Marks:
    """The roles in a plan with these boundaries, outer ones first as in the report."""
    marks = Marks({}, {}, dict(_boundaries(root, reports)), {}, {})
    _mark(root, None, marks)
    return marks


def _boundaries(
    root: Pair, reports: Sequence[BoundaryReport]
) -> Iterator[tuple[Pair, BoundaryReport]]:
    """Each report's operator: the first one of its kind that calls its function."""
    left = list(reports)
    for pair in root.walk():
        op = pair.after or pair.before
        if op is None:
            continue
        found = next((r for r in left if _is(op, r)), None)
        if found is not None:
            left.remove(found)
            yield pair, found


def _is(op: PlanNode, report: BoundaryReport) -> bool:
    ends = _NAMES.get(report.operator, (report.operator,))
    return op.name.endswith(ends) and all(
        f"{name}(" in op.detail for name in report.function.split(", ")
    )


def _mark(pair: Pair, above: BoundaryReport | None, marks: Marks) -> bool:
    """Mark from here down; whether there is a boundary from here down. ``above``: the last one on
    the way here.
    """
    here = marks.boundaries.get(pair)
    if here is not None:
        marks.before[pair] = marks.after[pair] = "function"
        _mark_scan(pair, here, marks)
    found = [_mark(child, here or above, marks) for child in pair.children()]
    below = any(found)
    if FILTER in (pair.before and pair.before.name, pair.after and pair.after.name):
        gone, new = changes(pair)
        if gone and below:
            marks.before[pair] = "written"
            if pair.after is not None:
                marks.after[pair] = "residual"
        if new and above is not None:
            marks.after[pair] = "prefilter"
            marks.entered[pair] = above
        elif new and below:
            marks.after[pair] = "residual"
        elif below and not gone:
            marks.before[pair] = marks.after[pair] = "stays"
    return below or here is not None


def _mark_scan(boundary: Pair, report: BoundaryReport, marks: Marks) -> None:
    """The scan below, if it is the only one and there is no other boundary on the way."""
    here = boundary
    while True:
        below = list(here.children())
        if not below:
            marks.before[here] = marks.after[here] = "scan"
            marks.scans[here] = report
        if len(below) != 1 or below[0] in marks.boundaries:
            return
        (here,) = below


def changes(pair: Pair) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The conjuncts of a filter that are gone, and those that are new."""
    old, new = _conjuncts(pair.before), _conjuncts(pair.after)
    return (
        tuple(c for c in old if c not in new),
        tuple(c for c in new if c not in old),
    )


def _conjuncts(op: PlanNode | None) -> tuple[str, ...]:
    return conjuncts(op.detail) if op is not None and op.name == FILTER else ()
