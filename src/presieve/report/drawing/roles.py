# SPDX-License-Identifier: Apache-2.0
"""Untrusted. The role of each operator of a plan in a pushdown: the filter as written, its
residual, the function or what runs in its place, the pre-filter below it, the scan.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal, TypeAlias

from presieve.ir.inner_names import CLASS
from presieve.report.drawing.aligned import PlanRow
from presieve.report.drawing.drawn_plan import DrawnOperator, conjuncts
from presieve.report.drawing.names_in_plans import inner_names
from presieve.report.report_data import BoundaryReport, FunctionReport

Role: TypeAlias = Literal[
    "", "function", "replacement", "written", "residual", "prefilter", "check", "stays", "scan"
]
AnyReport: TypeAlias = BoundaryReport | FunctionReport

FILTER = "Filter"
_EVALUATES = ("EvalPython", "BatchEvalPythonUDTF", "ArrowEvalPythonUDTF")
_NAMES = {"Project": _EVALUATES, "PythonUDTF": (*_EVALUATES, "Generate")}
"""Endings of the names that Spark's optimizer gives to operators that call Python functions."""


@dataclass(slots=True)
class Roles:
    """For each operator, its role in its plan; for each row, the report that is about it: of a
    function, of a function with this scan alone below it, or of the one that a pre-filter stands
    below, or a filter above. ``conditions`` are the conjuncts of each filter, for people.
    """

    conditions: Mapping[DrawnOperator, tuple[str, ...]]
    of: dict[DrawnOperator, Role] = field(default_factory=dict)
    report: dict[PlanRow, AnyReport] = field(default_factory=dict)

    def changes(self, row: PlanRow, side: int) -> tuple[tuple[str, ...], tuple[str, ...]]:
        """The conjuncts of a filter that are gone in the next plan, and those that are new since
        the previous one.
        """
        before, shown, after = (
            self._conditions_of(row.cells[i] if 0 <= i < len(row.cells) else row.cells[side])
            for i in (side - 1, side, side + 1)
        )
        return (
            tuple(c for c in shown if c not in after),
            tuple(c for c in shown if c not in before),
        )

    def _conditions_of(self, op: DrawnOperator | None) -> tuple[str, ...]:
        return self.conditions.get(op, ()) if op is not None else ()

    def matters(self, row: PlanRow) -> bool:
        """Whether the operator has a role in the pushdown, or differs between the plans."""
        return not row.same or any(op in self.of for op in row.operators())


def roles_of(
    rows: Sequence[PlanRow],
    boundaries: Sequence[BoundaryReport],
    functions: Sequence[FunctionReport] = (),
) -> Roles:
    """The roles in plans with these boundaries, outer ones first as in the report.

    ``functions`` are those of which calls without a filter above are shown, too.
    """
    roles = Roles(_conditions(rows))
    for row, report in _calls(rows, [*boundaries, *functions]):
        roles.report[row] = report
        for op in row.operators():
            roles.of[op] = "function" if calls_function_of(op, report) else "replacement"
    reports = {op: report for row, report in roles.report.items() for op in row.operators()}
    bottom = {upper: reports[op] for op in [*reports][::-1] for upper in op.ancestors()}
    for row in rows:
        _set_roles_of_filter(roles, row, reports, bottom)
        for op in row.operators():
            scanned = None if op.children else _first(_only_readers(op), reports)
            if scanned is not None and op not in roles.of:
                roles.of[op] = "scan"
                roles.report.setdefault(row, scanned)
    return roles


_Reports: TypeAlias = Mapping[DrawnOperator, AnyReport]


def _set_roles_of_filter(roles: Roles, row: PlanRow, above: _Reports, below: _Reports) -> None:
    """Set the roles of a filter in all plans.

    ``above`` are reports by the operators that they are about, and ``below`` by the operators that
    these are below, the outermost first.
    """
    role: Role = ""
    for side, op in enumerate(row.cells):
        if op is None or op.name != FILTER:
            continue
        gone, new = roles.changes(row, side)
        upper = _first(op.ancestors(), above)
        if any(f" AS {CLASS}" in other.detail for other in op.ancestors()):
            role = "check"
        elif new and upper is not None:
            role = "prefilter"
            roles.report[row] = upper
        elif op in below and (role == "written" or new):
            role = "residual"
        elif op in below and not role:
            role = "written" if gone else "stays"
        if role in ("written", "residual", "stays") and op in below:
            roles.report.setdefault(row, below[op])
        if role:
            roles.of[op] = role


def _calls(
    rows: Sequence[PlanRow], reports: Sequence[AnyReport]
) -> Iterator[tuple[PlanRow, AnyReport]]:
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


def calls_function_of(op: DrawnOperator, report: AnyReport) -> bool:
    """Whether this may be the operator that a report is about."""
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


def _first(operators: Iterator[DrawnOperator], reports: _Reports) -> AnyReport | None:
    return next((reports[op] for op in operators if op in reports), None)


def _conditions(rows: Sequence[PlanRow]) -> dict[DrawnOperator, tuple[str, ...]]:
    """The conjuncts of each filter. Those of a filter on what runs in place of a function are the
    ones of the previous plan, in other names, unless Spark has moved them elsewhere.
    """
    shown: dict[DrawnOperator, tuple[str, ...]] = {}
    for side in range(len(rows[0].cells)):
        filters = [(row, op) for row in rows if (op := row.cells[side]) and op.name == FILTER]
        shown |= {op: conjuncts(op.detail) for _, op in filters}
        before: dict[DrawnOperator, tuple[str, ...]] = {}
        for row, op in filters:
            mate = row.cells[side - 1] if side else None
            before[op] = shown.get(mate, ()) if mate else ()
        renamed = [op for op in before if side and inner_names(op.detail)]
        moved = {c for op in before if op not in renamed for c in shown[op] if c not in before[op]}
        for op in renamed:
            shown[op] = tuple(c for c in before[op] if c not in moved) or shown[op]
    return shown
