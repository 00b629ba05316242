"""Untrusted. The role of each operator of a plan in a pushdown: the filter as written,
its residual, the function, the pre-filter below it, the scan.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias

from presieve.report.drawing.aligned import Pair
from presieve.report.drawing.tree import PlanNode, conjuncts
from presieve.report.report_data import BoundaryReport

Role: TypeAlias = Literal["", "function", "written", "residual", "prefilter", "stays", "scan"]

FILTER = "Filter"
_EVALUATES = ("EvalPython", "BatchEvalPythonUDTF", "ArrowEvalPythonUDTF")
_NAMES = {"Project": _EVALUATES, "PythonUDTF": (*_EVALUATES, "Generate")}
"""Endings of the names that Spark's optimizer gives to operators that call Python functions."""


@dataclass(frozen=True, slots=True)
class Marks:
    """For each pair, its role in each tree and the boundary that it is; for each scan that is the
    only one below a boundary, that boundary.
    """

    before: dict[Pair, Role]
    after: dict[Pair, Role]
    boundaries: dict[Pair, BoundaryReport]
    scans: dict[Pair, BoundaryReport]
    entered: dict[Pair, BoundaryReport]
    """For each pre-filter, the boundary that it belongs to."""

    def matters(self, pair: Pair) -> bool:
        """Whether the operator has a role in the pushdown, or differs between the trees."""
        return bool(self.before.get(pair) or self.after.get(pair)) or not pair.same


def mark(root: Pair, reports: Sequence[BoundaryReport]) -> Marks:
    """Mark the roles in a plan with these boundaries, outer ones first as in the report."""
    marks = Marks({}, {}, dict(_boundaries(root, reports)), {}, {})
    _mark(root, None, marks)
    return marks


def _boundaries(
    root: Pair, reports: Sequence[BoundaryReport]
) -> Iterator[tuple[Pair, BoundaryReport]]:
    """Find each report's operator: the first one of its kind that calls its function."""
    unmatched = list(reports)
    for pair in root.walk():
        op = pair.after or pair.before
        if op is None:
            continue
        report = next((r for r in unmatched if _is_boundary_of(op, r)), None)
        if report is not None:
            unmatched.remove(report)
            yield pair, report


def _is_boundary_of(op: PlanNode, report: BoundaryReport) -> bool:
    ends = _NAMES.get(report.operator, (report.operator,))
    return op.name.endswith(ends) and all(
        f"{name}(" in op.detail for name in report.function.split(", ")
    )


def _mark(pair: Pair, above: BoundaryReport | None, marks: Marks) -> bool:
    """Mark a subtree, and return whether it has a boundary. ``above``: the last boundary on the
    path from the root.
    """
    boundary = marks.boundaries.get(pair)
    if boundary is not None:
        marks.before[pair] = marks.after[pair] = "function"
        _mark_scan(pair, boundary, marks)
    has_boundary = [_mark(child, boundary or above, marks) for child in pair.children()]
    below = any(has_boundary)
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
    return below or boundary is not None


def _mark_scan(boundary: Pair, report: BoundaryReport, marks: Marks) -> None:
    """Mark the scan below, if it is the only one and there is no other boundary on the path."""
    operator = boundary
    while True:
        below = list(operator.children())
        if not below:
            marks.before[operator] = marks.after[operator] = "scan"
            marks.scans[operator] = report
        if len(below) != 1 or below[0] in marks.boundaries:
            return
        (operator,) = below


def changes(pair: Pair) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The conjuncts of a filter that are gone, and those that are new."""
    old, new = _conjuncts(pair.before), _conjuncts(pair.after)
    return (tuple(c for c in old if c not in new), tuple(c for c in new if c not in old))


def _conjuncts(op: PlanNode | None) -> tuple[str, ...]:
    return conjuncts(op.detail) if op is not None and op.name == FILTER else ()
