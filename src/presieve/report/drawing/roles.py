"""Untrusted. The role of each operator of a plan in a pushdown: the filter as written,
its residual, the function, the pre-filter below it, the scan.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Literal, TypeAlias

from presieve.report.drawing.aligned import PlanRow
from presieve.report.drawing.drawn_plan import DrawnOperator, conjuncts
from presieve.report.report_data import BoundaryReport

Role: TypeAlias = Literal["", "function", "written", "residual", "prefilter", "stays", "scan"]

FILTER = "Filter"
_EVALUATES = ("EvalPython", "BatchEvalPythonUDTF", "ArrowEvalPythonUDTF")
_NAMES = {"Project": _EVALUATES, "PythonUDTF": (*_EVALUATES, "Generate")}
"""Endings of the names that Spark's optimizer gives to operators that call Python functions."""


@dataclass(slots=True)
class Roles:
    """For each row, its role in each plan, and the report that is about it: of a function, of a
    function with this scan alone below it, or of the one that a pre-filter stands below.
    """

    before: dict[PlanRow, Role] = field(default_factory=dict)
    after: dict[PlanRow, Role] = field(default_factory=dict)
    report: dict[PlanRow, BoundaryReport] = field(default_factory=dict)

    def matters(self, row: PlanRow) -> bool:
        """Whether the operator has a role in the pushdown, or differs between the plans."""
        return row in self.before or row in self.after or not row.same

    def set(self, row: PlanRow, role: Role, report: BoundaryReport | None = None) -> None:
        """Give a row the same role in both plans."""
        self.before[row] = self.after[row] = role
        if report is not None:
            self.report[row] = report


def roles_of(rows: Sequence[PlanRow], reports: Sequence[BoundaryReport]) -> Roles:
    """The roles in plans with these boundaries, outer ones first as in the report."""
    roles = Roles()
    for row, report in _boundaries(rows, reports):
        roles.set(row, "function", report)
    boundaries = {op: report for row, report in roles.report.items() for op in row.operators()}
    above_one = {upper for op in boundaries for upper in op.ancestors()}
    for row in rows:
        if FILTER in (op.name for op in row.operators()):
            above = row.after and _first(row.after.ancestors(), boundaries)
            below = not above_one.isdisjoint(row.operators())
            _set_role_of_filter(roles, row, above or None, below)
        for op in row.operators():
            scanned = None if op.children else _first(_only_readers(op), boundaries)
            if scanned is not None and row not in roles.report:
                roles.set(row, "scan", scanned)
    return roles


def _set_role_of_filter(
    roles: Roles, row: PlanRow, above: BoundaryReport | None, below: bool
) -> None:
    """``above``: the nearest boundary above the filter as rewritten. ``below``: there is a boundary
    below the filter.
    """
    gone, new = changes(row)
    if gone and below:
        roles.before[row] = "written"
        if row.after is not None:
            roles.after[row] = "residual"
    if new and above is not None:
        roles.after[row] = "prefilter"
        roles.report[row] = above
    elif new and below:
        roles.after[row] = "residual"
    elif below and not gone:
        roles.set(row, "stays")


def _boundaries(
    rows: Sequence[PlanRow], reports: Sequence[BoundaryReport]
) -> Iterator[tuple[PlanRow, BoundaryReport]]:
    """Find each report's operator: the first one of its kind that calls its function. What stands
    beside it took its place.
    """
    unmatched = list(reports)
    for row in rows:
        calls = (r for r in unmatched if any(calls_function_of(op, r) for op in row.operators()))
        report = next(calls, None)
        if report is not None:
            unmatched.remove(report)
            yield row, report


def calls_function_of(op: DrawnOperator, report: BoundaryReport) -> bool:
    """Whether this may be the operator of a boundary."""
    ends = _NAMES.get(report.operator, (report.operator,))
    return op.name.endswith(ends) and all(
        f"{name}(" in op.detail for name in report.function.split(", ")
    )


def _only_readers(op: DrawnOperator) -> Iterator[DrawnOperator]:
    """The operators above, as long as they read nothing else."""
    for upper in op.ancestors():
        if len(upper.children) > 1:
            return
        yield upper


def _first(
    operators: Iterator[DrawnOperator], boundaries: dict[DrawnOperator, BoundaryReport]
) -> BoundaryReport | None:
    return next((boundaries[op] for op in operators if op in boundaries), None)


def changes(row: PlanRow) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The conjuncts of a filter that are gone, and those that are new."""
    old, new = _conjuncts(row.before), _conjuncts(row.after)
    return (tuple(c for c in old if c not in new), tuple(c for c in new if c not in old))


def _conjuncts(op: DrawnOperator | None) -> tuple[str, ...]:
    return conjuncts(op.detail) if op is not None and op.name == FILTER else ()
