"""Untrusted. The text in the box of an operator, and the numbers beside it."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, TypeAlias

from presieve.report import sentences
from presieve.report.drawing.aligned import Pair
from presieve.report.drawing.marks import FILTER, Marks, Role, changes
from presieve.report.drawing.tree import PlanNode, conjuncts
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

PAD = 12
CHAR = 7.9
"""The width in pixels of a character at 13 pixels: no common fixed-width font is wider."""
LINE = 19
TITLE = 32
_SIGN = 16
_MARK = 25
_FEW_LINES = 2
_MANY_LINES = 14
"""The most lines of a box: of operators without a part in the pushdown, and of filters."""


@dataclass(frozen=True, slots=True)
class BoxLine:
    """A line in a box. ``sign`` is + for a new part and - for a removed one; it stands left of the
    ``first`` line of a text, which begins ``indent`` pixels to the right. ``kind`` is ``fact`` for
    numbers.
    """

    text: str
    sign: str = ""
    kind: str = ""
    indent: int = 0
    first: bool = True


@dataclass(frozen=True, slots=True)
class Content:
    """The content of a box. ``role`` is ``ghost`` for a removed filter, and ``folded`` for many
    operators in one box; ``full`` is Spark's full text of the operator, and ``beside`` stands right
    of the title.
    """

    role: Role | Literal["ghost", "folded"]
    title: str
    full: str
    tag: str = ""
    lines: tuple[BoxLine, ...] = ()
    beside: str = ""

    @property
    def height(self) -> float:
        """The height in pixels."""
        return TITLE + (len(self.lines) * LINE + 7 if self.lines else 2)

    @property
    def beside_x(self) -> float:
        """The offset in pixels at which ``beside`` begins."""
        return PAD + (len(self.title) + 1.5) * CHAR

    @property
    def tag_width(self) -> float:
        """The width in pixels of the tag, including its mark."""
        return _MARK + _text_width(self.tag) + PAD - 2 if self.tag else 0


class BoxContents:
    """Writes the boxes of one report."""

    def __init__(self, data: ReportData, marks: Marks, root: Pair) -> None:
        self._data = data
        self._marks = marks
        leaves = [p for p in root.walk() if not p.slots and not p.folded]
        self._sizes = dict(_match_sizes(leaves, data.sizes))
        self._scans_once = sum(p.before is not None for p in root.walk() if not p.slots) == 1

    def content(self, pair: Pair, side: Side, width: float) -> Content | None:
        """The content of the pair's box, at this width; None if this tree has no such box."""
        op = pair.before if side == "before" else pair.after
        role = (self._marks.before if side == "before" else self._marks.after).get(pair, "")
        if op is None:
            gone = side == "after" and self._marks.before.get(pair) == "written"
            gone = gone and any(p.after is not None for p in pair.walk())
            return Content("ghost", "no filter is left here", "") if gone else None
        full = f"{op.name} {op.detail}".strip()
        report = self._marks.boundaries.get(pair)
        room = width - 2 * PAD
        if pair.folded:
            return Content(
                "folded", op.name, full, lines=tuple(_wrap_parts([(op.detail, "")], room, 3))
            )
        tag = TAGS.get(role, "")
        lines = tuple(self._lines(op, pair, side, room))
        name = op.name if report is None else report.function
        title = _fit(name, room - (_MARK + _text_width(tag) + PAD if tag else 0))
        if not tag and len(lines) == 1 and (len(name) + len(lines[0].text) + 2) * CHAR <= room:
            return Content(role, title, full, beside=lines[0].text)
        return Content(role, title, full, tag, lines)

    def _lines(self, op: PlanNode, pair: Pair, side: Side, room: float) -> Iterator[BoxLine]:
        report = self._marks.boundaries.get(pair)
        if report is not None:
            yield from _wrap_parts([(_operator_text(op), "")], room, 3)
        elif op.name == FILTER:
            yield from self._filter(op, pair, side, room)
        else:
            yield from _wrap_parts([(_without_brackets(op.detail), "")], room, _FEW_LINES)
        scan = self._marks.scans.get(pair)
        if scan is not None and side == "after" and scan.pushed_to_scan:
            parts = [(f, "+") for f in scan.pushed_to_scan]
            yield BoxLine("pushed filters:", kind="fact")
            yield from _wrap_parts(parts, room, 6)
        size = self._sizes.get(pair)
        if size is not None:
            yield BoxLine(sentences.size(size.rows, size.bytes, size.files), kind="fact")

    def _filter(self, op: PlanNode, pair: Pair, side: Side, room: float) -> Iterator[BoxLine]:
        gone, new = changes(pair)
        changed = dict.fromkeys(gone, "-") if side == "before" else dict.fromkeys(new, "+")
        shown = list(dict.fromkeys(conjuncts(op.detail)))
        # Conjuncts that move come first, because readers look for them.
        shown.sort(key=lambda c: c not in changed)
        yield from _wrap_parts([(c, changed.get(c, "")) for c in shown], room, _MANY_LINES)

    def label(self, pair: Pair, side: Side) -> str:
        """The number of rows that an operator returns, as text; empty if unknown."""
        size = self._sizes.get(pair)
        measured = self._data.measured
        if measured is not None and self._scans_once and not pair.slots:
            run = measured.written if side == "before" else measured.optimized
            return f"{run.scanned:,} rows measured"
        report = self._marks.entered.get(pair)
        if side == "after" and report is not None:
            return self._kept_rows(pair, report)
        if size is not None and (side == "before" or not self._data.changed):
            return f"{size.rows:,} rows"
        return ""

    def _kept_rows(self, pair: Pair, report: BoundaryReport) -> str:
        share = report.estimated_selectivity
        if share is None or report.kind == "none":
            return ""
        source = pair
        while len(below := list(source.children())) == 1:
            (source,) = below
            if source.before is not None and source.before.name == FILTER:
                return sentences.about(share)  # a share of the rows that pass that filter
        size = self._sizes.get(source)
        if size is None or size.rows * share < 1:
            return sentences.about(share)
        return f"about {size.rows * share:,.0f} rows ({sentences.as_percentage(share)})"


def _match_sizes(leaves: Sequence[Pair], sizes: Sequence[Size]) -> Iterator[tuple[Pair, Size]]:
    """Match scans to sizes by their columns, unless scans of different sizes have the same ones."""
    distinct_sizes: dict[tuple[str, ...], set[tuple[int, int, int]]] = {}
    last_size: dict[tuple[str, ...], Size] = {}
    for size in sizes:
        distinct_sizes.setdefault(size.columns, set()).add((size.rows, size.bytes, size.files))
        last_size[size.columns] = size
    for pair in leaves:
        op = pair.before or pair.after
        listed = re.match(r"\[(.*?)\]", op.detail) if op and op.name == "Relation" else None
        if listed is None:
            continue
        columns = tuple(listed[1].split(","))
        if len(distinct_sizes.get(columns, ())) == 1:
            yield pair, last_size[columns]


def _without_brackets(detail: str) -> str:
    """A list of columns without its brackets."""
    listed = re.fullmatch(r"\[([^\[\]]*)\](.*)", detail)
    if listed is None:
        return detail
    return f"{', '.join(listed[1].split(','))}{listed[2]}".replace(",  ", ", ")


def _operator_text(op: PlanNode) -> str:
    """The operator, and its grouping columns if its text begins with them."""
    keys = re.match(r"\[([^\[\]]+)\], ", op.detail)
    if keys is None or op.name.endswith("EvalPython"):
        return op.name
    return f"{op.name} by {keys[1]}"


def _wrap_parts(parts: Sequence[tuple[str, str]], room: float, most: int) -> Iterator[BoxLine]:
    """Wrap texts with their signs into ``most`` lines, and count the parts that do not fit."""
    indent = _SIGN if any(sign for _, sign in parts) else 0
    columns = max(8, int((room - indent) / CHAR))
    free_lines = most
    for at, (text, sign) in enumerate(parts):
        parts_below = len(parts) - at - 1
        wrapped = _wrap(text, columns)
        space = free_lines - bool(parts_below)
        if len(wrapped) > space > 0:
            wrapped = [*wrapped[: space - 1], wrapped[space - 1][: columns - 2] + " …"]
        elif space <= 0:
            yield BoxLine(f"and {parts_below + 1} more", kind="fact", indent=indent)
            return
        for row, line in enumerate(wrapped):
            yield BoxLine(line, sign, indent=indent, first=row == 0)
        free_lines -= len(wrapped)


def _wrap(text: str, columns: int) -> list[str]:
    """Wrap a text, after spaces or commas if possible; all lines but the first are indented."""
    lines = [""]
    for piece in re.split(r"(?<=[ ,])(?=\S)", text):
        if len(lines[-1]) + len(piece.rstrip()) > columns and lines[-1].strip():
            lines.append("  ")
        lines[-1] += piece
        while len(lines[-1].rstrip()) > columns:
            lines[-1:] = [lines[-1][:columns], "  " + lines[-1][columns:]]
    return [line.rstrip() for line in lines]


def _text_width(text: str) -> float:
    """Estimate the width of a text in bold letters of 11.5 pixels, in a rather wide font."""
    return sum(5.0 if c in "fijlrt ,-" else 10.0 if c in "mw" else 7.6 for c in text)


def _fit(text: str, room: float) -> str:
    most = max(4, int(room / CHAR))
    return text if len(text) <= most else text[: most - 1] + "…"
