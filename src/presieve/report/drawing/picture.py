# SPDX-License-Identifier: Apache-2.0
"""Untrusted. A plan as columns of boxes, as written, with the filter, and as it runs. Equal
operators are at the same height.

A tree is shown as an outline: the result on top, each operator in its own row, the last child
right below its parent and the other children one step to the right. So a picture is no wider than a
phone, however many joins there are. The browser sets the boxes and wraps their texts.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Literal, TypeAlias

from msgspec import Struct

from presieve.ir.inner_names import CLASS
from presieve.records import replace
from presieve.report import sentences
from presieve.report.drawing.aligned import PlanRow, align, fold
from presieve.report.drawing.drawn_plan import DrawnOperator, output_names, parse
from presieve.report.drawing.names_in_plans import inner_names
from presieve.report.drawing.roles import (
    FILTER,
    AnyReport,
    Role,
    Roles,
    calls_function_of,
    roles_of,
)
from presieve.report.report_data import BoundaryReport, FunctionReport, ReportData

if TYPE_CHECKING:
    from presieve.backend.statistics.metrics import Measurement
    from presieve.backend.statistics.sizes import Size

Side: TypeAlias = Literal["written", "filtered", "runs"]

TAGS: dict[Role, str] = {
    "written": "filter as written",
    "residual": "residual",
    "function": "function",
    "replacement": "replacement",
    "prefilter": "pre-filter",
    "check": "check",
    "stays": "filter, kept",
    "scan": "scan",
}
"""The names of the roles for people, from the result down."""

MOST_OPERATORS = 600
"""Of larger plans there is no picture: nobody looks at so many operators."""
_MOST_STEPS = 5
_MOST_CONJUNCTS = 12
_MOST_PUSHED = 6


class Part(Struct, frozen=True):
    """A text in a box: ``sign`` is + for a new part and - for a removed one, ``kind`` ``fact`` for
    numbers.
    """

    text: str
    sign: str = ""
    kind: str = "code"


class Box(Struct, frozen=True):
    """An operator of one plan. ``role`` is ``ghost`` for a removed filter, and ``folded`` for many
    operators in one box; ``tag`` is the role for people, ``full`` Spark's text of the operator, and
    ``label`` says how many rows it returns. ``place``: a branch is not the last child of its
    parent.
    """

    role: Role | Literal["ghost", "folded"]
    title: str
    place: Literal["root", "below", "branch"]
    steps: int
    full: str = ""
    tag: str = ""
    parts: tuple[Part, ...] = ()
    label: str = ""


class Picture(Struct, frozen=True):
    """One plan: a box for each row, or None."""

    side: Side
    rows: tuple[Box | None, ...]

    @property
    def boxes(self) -> tuple[Box, ...]:
        """The boxes, from the result down."""
        return tuple(b for b in self.rows if b is not None)

    @property
    def steps(self) -> tuple[int, ...]:
        """How far to the right the line stands that passes each row, to the next box below."""
        steps = [0]
        for box in reversed(self.rows):
            steps.append(steps[-1] if box is None else box.steps - (box.place == "branch"))
        return tuple(reversed(steps[1:]))


class Pictures(Struct, frozen=True):
    """The pictures, only one if the plan is unchanged; ``roles`` are those that occur in them."""

    sides: tuple[Picture, ...]
    roles: tuple[Role, ...]
    operators: int


def pictures(data: ReportData) -> Pictures | None:
    """Draw the plans of a report; None if there is nothing to see, or too much."""
    shown = functions_shown(data)
    plans = _plans(data)
    if not plans or not (data.boundaries or shown):
        return None
    if max(map(len, plans.values())) > MOST_OPERATORS:
        return None
    rows = align(*plans.values())
    roles = roles_of(rows, data.boundaries, shown)
    sides = (*plans,)
    drawing = _Drawing(data, roles, rows, sides)
    folded = fold(rows, roles.matters)
    drawn = tuple(
        Picture(s, _with_one_root(drawing.box(row, i) for row in folded))
        for i, s in enumerate(sides)
    )
    met = {b.role for p in drawn for b in p.boxes}
    return Pictures(drawn, tuple(r for r in TAGS if r in met), len(plans["written"]))


def _with_one_root(boxes: Iterable[Box | None]) -> tuple[Box | None, ...]:
    """Set a root below the place of a filter that is gone."""
    placed: list[Box | None] = []
    has_root = False
    for box in boxes:
        is_second = box is not None and box.place == "root" and has_root
        placed.append(replace(box, place="below") if box and is_second else box)
        has_root = has_root or box is not None
    return tuple(placed)


def _plans(data: ReportData) -> dict[Side, tuple[DrawnOperator, ...]]:
    """Parse the plans that differ; nothing if there is no plan as written."""
    written = parse(data.plan_before)
    runs = parse(data.plan_after) if data.changed else ()
    filtered = parse(data.plan_filtered) if runs else ()
    plans: dict[Side, tuple[DrawnOperator, ...]] = {"written": written} if written else {}
    texts = [_text(p) for p in (written, runs)]
    if written and filtered and _text(filtered) not in texts:
        plans["filtered"] = filtered
    if written and runs:
        plans["runs"] = runs
    return plans


def _text(plan: Sequence[DrawnOperator]) -> list[tuple[int, str, str]]:
    return [(op.steps, op.name, op.detail) for op in plan]


def functions_shown(data: ReportData) -> tuple[FunctionReport, ...]:
    """The functions that are shown although no filter may meet them: those that change."""
    return tuple(f for f in data.functions if data.changed and (f.compiled or f.pruned))


class _Drawing:
    """Writes the boxes of one report."""

    def __init__(
        self, data: ReportData, roles: Roles, rows: Sequence[PlanRow], sides: Sequence[Side]
    ) -> None:
        self._data = data
        self._roles = roles
        self._sides = sides
        self._row_of = {op: row for row in rows for op in row.operators()}
        leaves = [row for row in rows if not any(op.children for op in row.operators())]
        self._sizes = dict(_match_sizes(leaves, data.sizes))
        self._scans_once = sum(row.cells[0] is not None for row in leaves) == 1

    def box(self, row: PlanRow, side: int) -> Box | None:
        """The box of a row in one of the plans; None if it has none."""
        op = row.cells[side]
        if op is None:
            gone = self._note_vanished_filter(row, side)
            return Box("ghost", gone, *_place(next(row.operators()))) if gone else None
        role = self._roles.of.get(op, "")
        full = f"{op.name} {op.detail}".strip()
        if row.folded:
            return Box("folded", op.name, *_place(op), full, parts=(Part(op.detail),))
        report = self._roles.report.get(row) if role == "function" else None
        title = report.function if report and calls_function_of(op, report) else op.name
        parts = tuple(p for p in self._parts(op, row, side) if p.text)
        label = self._label(row, op, side)
        return Box(role, title, *_place(op), full, TAGS.get(role, ""), parts, label)

    def _note_vanished_filter(self, row: PlanRow, side: int) -> str:
        """Say that nothing is left of a filter, if a proof says so and the plan has no filter here;
        else nothing.
        """
        was_filter = any(op and self._roles.of.get(op) == "written" for op in row.cells[:side])
        report = self._roles.report.get(row)
        is_exact = isinstance(report, BoundaryReport) and report.kind == "exact"
        return sentences.NOTHING_LEFT if was_filter and is_exact else ""

    def _parts(self, op: DrawnOperator, row: PlanRow, side: int) -> Iterator[Part]:
        role = self._roles.of.get(op)
        report = self._roles.report.get(row)
        if role == "function":
            yield Part(_operator_text(op))
        elif role == "replacement":
            yield from _parts_of_replacement(op, report)
        elif op.name == FILTER:
            yield from self._parts_of_filter(row, side)
        elif inner_names(op.detail):
            yield from _parts_over_inner_names(op, row.cells[side - 1] if side else None)
        else:
            yield Part(_without_brackets(op.detail))
        if role == "scan" and side and isinstance(report, BoundaryReport) and report.pushed_to_scan:
            yield Part("pushed filters:", kind="fact")
            yield from _limit_parts(
                [Part(text, "+") for text in report.pushed_to_scan], _MOST_PUSHED
            )
        size = self._sizes.get(row)
        if size is not None:
            yield Part(sentences.size(size.rows, size.bytes, size.files), kind="fact")

    def _parts_of_filter(self, row: PlanRow, side: int) -> Iterator[Part]:
        """The conjuncts; those that move come first, because readers look for them."""
        op = row.cells[side]
        assert op is not None
        gone, new = self._roles.changes(row, side)
        signs = dict.fromkeys(new, "+") | dict.fromkeys(gone, "-")
        conditions = dict.fromkeys(self._roles.conditions[op])
        shown = sorted(conditions, key=lambda c: c not in signs)
        yield from _limit_parts([Part(c, signs.get(c, "")) for c in shown], _MOST_CONJUNCTS)
        if inner_names(op.detail) and not any(inner_names(c) for c in shown):
            yield Part(sentences.IN_OTHER_NAMES, kind="fact")

    def _label(self, row: PlanRow, op: DrawnOperator, side: int) -> str:
        """The number of rows that an operator returns, as text; empty if unknown."""
        size = self._sizes.get(row)
        name = self._sides[side]
        run = self._run(name)
        if run is not None and self._scans_once and not op.children:
            return sentences.describe_scan(run.scanned, size.rows if size and side else None)
        if self._roles.of.get(op) == "prefilter" and name != "written":
            report = self._roles.report[row]
            return self._kept_rows(op, report) if isinstance(report, BoundaryReport) else ""
        if size is not None and name == "written":
            return f"{size.rows:,} rows"
        return ""

    def _run(self, side: Side) -> Measurement | None:
        """The measured run of a plan; that with the filter alone does not run."""
        measured = self._data.measured
        if measured is None or side == "filtered":
            return None
        return measured.written if side == "written" else measured.optimized

    def _kept_rows(self, op: DrawnOperator, report: BoundaryReport) -> str:
        share = report.estimated_selectivity
        if share is None or report.kind == "none":
            return ""
        while len(op.children) == 1:
            (op,) = op.children
            if op.name == FILTER:
                return sentences.about(share)  # a share of the rows that pass that filter
        size = self._sizes.get(self._row_of[op])
        if size is None or size.rows * share < 1:
            return sentences.about(share)
        return f"about {size.rows * share:,.0f} rows ({sentences.as_percentage(share)})"


def _place(op: DrawnOperator) -> tuple[Literal["root", "below", "branch"], int]:
    """Where a box stands, and so many steps to the right."""
    steps = min(op.steps, _MOST_STEPS)
    if op.parent is None:
        return "root", steps
    return ("branch" if op.steps > op.parent.steps else "below"), steps


def _parts_of_replacement(op: DrawnOperator, report: AnyReport | None) -> Iterator[Part]:
    """The operator, and what it computes in place of the function."""
    yield Part(_operator_text(op))
    compiled = report.compiled if report is not None else None
    if report is not None and compiled is not None:
        yield Part(f"in place of {report.function}: {sentences.FORMS[compiled.form]}", kind="fact")


def _parts_over_inner_names(op: DrawnOperator, before: DrawnOperator | None) -> Iterator[Part]:
    """What an operator says without inner names: what it says ``before`` in the previous plan, or
    the columns that it returns.
    """
    if before is not None and before.name == op.name and not inner_names(before.detail):
        yield Part(_without_brackets(before.detail))
    else:
        yield Part(", ".join(name for name in output_names(op.detail) if not inner_names(name)))
    of_classes = inner_names(op.detail) == (CLASS,)
    yield Part(sentences.OF_CLASSES if of_classes else sentences.FROM_REPLACEMENT, kind="fact")


def _limit_parts(parts: Sequence[Part], most: int) -> Iterator[Part]:
    yield from parts[:most]
    if len(parts) > most:
        yield Part(f"and {len(parts) - most} more", kind="fact")


def _match_sizes(
    leaves: Sequence[PlanRow], sizes: Sequence[Size]
) -> Iterator[tuple[PlanRow, Size]]:
    """Match scans to sizes by their columns, unless scans of different sizes have the same ones."""
    by_columns: dict[tuple[str, ...], dict[tuple[int, int, int], Size]] = {}
    for size in sizes:
        sizes_there = by_columns.setdefault(size.columns, {})
        sizes_there[size.rows, size.bytes, size.files] = size
    for row in leaves:
        op = next(row.operators())
        listed = re.match(r"\[(.*?)\]", op.detail) if op.name == "Relation" else None
        candidates = by_columns.get(tuple(listed[1].split(",")), {}) if listed else {}
        if len(candidates) == 1:
            yield row, next(iter(candidates.values()))


def _without_brackets(detail: str) -> str:
    """A list of columns without its brackets."""
    listed = re.fullmatch(r"\[([^\[\]]*)\](.*)", detail)
    if listed is None:
        return detail
    return f"{', '.join(listed[1].split(','))}{listed[2]}".replace(",  ", ", ")


def _operator_text(op: DrawnOperator) -> str:
    """The operator, and its grouping columns if its text begins with them."""
    keys = re.match(r"\[([^\[\]]+)\], ", op.detail)
    if keys is None or op.name.endswith("EvalPython"):
        return op.name
    return f"{op.name} by {keys[1]}"
