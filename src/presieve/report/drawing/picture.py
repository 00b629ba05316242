"""Untrusted. A plan before and after as two columns of boxes, with equal operators at the same
height.

A tree is shown as an outline: the result on top, each operator in its own row, the last child
right below its parent and the other children one step to the right. So a picture is no wider than a
phone, however many joins there are. The browser sets the boxes and wraps their texts.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Literal, TypeAlias

from msgspec import Struct

from presieve.report import sentences
from presieve.report.drawing.aligned import PlanRow, align, fold
from presieve.report.drawing.drawn_plan import DrawnOperator, conjuncts, parse
from presieve.report.drawing.roles import FILTER, Role, Roles, calls_function_of, changes, roles_of
from presieve.report.report_data import BoundaryReport, ReportData

if TYPE_CHECKING:
    from presieve.backend.statistics.sizes import Size

Side: TypeAlias = Literal["before", "after"]

TAGS: dict[Role, str] = {
    "written": "filter as written",
    "residual": "residual",
    "function": "function",
    "prefilter": "pre-filter",
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


class Pictures(Struct, frozen=True):
    """Both pictures, or one if the plan is unchanged; ``roles`` are those that occur in them."""

    sides: tuple[Picture, ...]
    roles: tuple[Role, ...]
    operators: int


def pictures(data: ReportData) -> Pictures | None:
    """Draw the plans of a report; None if there is nothing to see, or too much."""
    before = parse(data.plan_before)
    after = (data.changed and parse(data.plan_after)) or before
    if not before or not data.boundaries or max(len(before), len(after)) > MOST_OPERATORS:
        return None
    rows = align(before, after)
    roles = roles_of(rows, data.boundaries)
    drawing = _Drawing(data, roles, rows)
    folded = fold(rows, roles.matters)
    sides: tuple[Side, ...] = ("before", "after") if data.changed else ("before",)
    drawn = tuple(Picture(s, tuple(drawing.box(row, s) for row in folded)) for s in sides)
    met = {b.role for p in drawn for b in p.boxes}
    return Pictures(drawn, tuple(r for r in TAGS if r in met), len(before))


class _Drawing:
    """Writes the boxes of one report."""

    def __init__(self, data: ReportData, roles: Roles, rows: Sequence[PlanRow]) -> None:
        self._data = data
        self._roles = roles
        self._row_of = {op: row for row in rows for op in row.operators()}
        leaves = [row for row in rows if not any(op.children for op in row.operators())]
        self._sizes = dict(_match_sizes(leaves, data.sizes))
        self._scans_once = sum(row.before is not None for row in leaves) == 1
        self._with_ghosts = rows[-1].after is not None

    def box(self, row: PlanRow, side: Side) -> Box | None:
        """The box of a row; None if this plan has none."""
        op = row.before if side == "before" else row.after
        role = (self._roles.before if side == "before" else self._roles.after).get(row, "")
        if op is None:
            gone = side == "after" and self._roles.before.get(row) == "written"
            if row.before is None or not gone or not self._with_ghosts:
                return None
            return Box("ghost", "no filter is left here", *_place(row))
        full = f"{op.name} {op.detail}".strip()
        if row.folded:
            return Box("folded", op.name, *_place(row), full, parts=(Part(op.detail),))
        report = self._roles.report.get(row) if role == "function" else None
        title = report.function if report and calls_function_of(op, report) else op.name
        parts = tuple(p for p in self._parts(op, row, side) if p.text)
        label = self._label(row, op, side)
        return Box(role, title, *_place(row), full, TAGS.get(role, ""), parts, label)

    def _parts(self, op: DrawnOperator, row: PlanRow, side: Side) -> Iterator[Part]:
        role = self._roles.before.get(row)
        if role == "function":
            yield Part(_operator_text(op))
        elif op.name == FILTER:
            yield from _parts_of_filter(op, row, side)
        else:
            yield Part(_without_brackets(op.detail))
        pushed = self._roles.report[row].pushed_to_scan if role == "scan" else ()
        if pushed and side == "after":
            yield Part("pushed filters:", kind="fact")
            yield from _limited([Part(text, "+") for text in pushed], _MOST_PUSHED)
        size = self._sizes.get(row)
        if size is not None:
            yield Part(sentences.size(size.rows, size.bytes, size.files), kind="fact")

    def _label(self, row: PlanRow, op: DrawnOperator, side: Side) -> str:
        """The number of rows that an operator returns, as text; empty if unknown."""
        size = self._sizes.get(row)
        measured = self._data.measured
        if measured is not None and self._scans_once and not op.children:
            run = measured.written if side == "before" else measured.optimized
            return f"{run.scanned:,} rows measured"
        if side == "after" and self._roles.after.get(row) == "prefilter":
            return self._kept_rows(op, self._roles.report[row])
        if size is not None and (side == "before" or not self._data.changed):
            return f"{size.rows:,} rows"
        return ""

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


def _place(row: PlanRow) -> tuple[Literal["root", "below", "branch"], int]:
    """Where a box stands, and so many steps to the right."""
    op = max(row.operators(), key=lambda op: op.parent is not None)
    steps = min(op.steps, _MOST_STEPS)
    if op.parent is None:
        return "root", steps
    return ("branch" if op.steps > op.parent.steps else "below"), steps


def _parts_of_filter(op: DrawnOperator, row: PlanRow, side: Side) -> Iterator[Part]:
    """The conjuncts; those that move come first, because readers look for them."""
    gone, new = changes(row)
    changed = dict.fromkeys(gone, "-") if side == "before" else dict.fromkeys(new, "+")
    shown = sorted(dict.fromkeys(conjuncts(op.detail)), key=lambda c: c not in changed)
    yield from _limited([Part(c, changed.get(c, "")) for c in shown], _MOST_CONJUNCTS)


def _limited(parts: Sequence[Part], most: int) -> Iterator[Part]:
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
        op = row.before or row.after
        listed = re.match(r"\[(.*?)\]", op.detail) if op and op.name == "Relation" else None
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
