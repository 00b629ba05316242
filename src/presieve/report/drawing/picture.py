"""Untrusted. Draws a plan before and after as two pictures side by side, with equal operators at
the same height.

A tree is drawn as an outline: the result on top, each operator in its own row, the last child
right below its parent and the other children one step to the right. So a picture is no wider than a
phone, however many joins there are.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from presieve.report.drawing.aligned import Pair, align, fold
from presieve.report.drawing.marks import Role, mark
from presieve.report.drawing.operator_boxes import PAD, TAGS, TITLE, BoxContents, Content, Side
from presieve.report.drawing.tree import parse
from presieve.report.report_data import ReportData

WIDTH = 430
_STEP = 26
_MOST_STEPS = 5
_EDGE = 1
_SHADOW = 4
_TRUNK = 13
"""The distance from a box's left side to the line that comes up to it."""
_GAP = 22
_LABELLED = 38


@dataclass(frozen=True, slots=True)
class Box:
    """A box: its content and its position."""

    content: Content
    x: float
    y: float
    width: float


@dataclass(frozen=True, slots=True)
class Edge:
    """A line on which rows flow up. ``bend`` is where it turns right to the box that they come
    from, and ``label`` stands beside it, above that box.
    """

    x: float
    top: float
    bottom: float
    bend: float | None
    label: str
    label_x: float
    label_y: float


@dataclass(frozen=True, slots=True)
class Picture:
    """One tree; ``description`` lists its operators in words, from the result down."""

    side: Side
    height: float
    boxes: tuple[Box, ...]
    edges: tuple[Edge, ...]
    description: str


@dataclass(frozen=True, slots=True)
class Pictures:
    """Both pictures, or one if the plan is unchanged; ``roles`` are those that occur in them."""

    sides: tuple[Picture, ...]
    roles: tuple[Role, ...]
    operators: int


def pictures(data: ReportData) -> Pictures | None:
    """Draw the plans of a report; None if there is nothing to see, or too much."""
    before, after = parse(data.plan_before), parse(data.plan_after)
    if before is None or not data.boundaries:
        return None
    if not data.changed or after is None:
        after = before
    root = align(before, after)
    if root is None:
        return None
    marks = mark(root, data.boundaries)
    boxes = BoxContents(data, marks, root)
    drawing = _Drawing(boxes)
    drawing.place(fold(root, marks.matters), 0)
    sides: tuple[Side, ...] = ("before", "after") if data.changed else ("before",)
    drawn = tuple(drawing.draw(side) for side in sides)
    met = {b.content.role for p in drawn for b in p.boxes}
    return Pictures(drawn, tuple(r for r in TAGS if r in met), before.size)


@dataclass(frozen=True, slots=True)
class _Row:
    """A pair and its position; ``parent`` is the row number of its parent."""

    pair: Pair
    parent: int | None
    x: float
    y: float


class _Drawing:
    def __init__(self, boxes: BoxContents) -> None:
        self._boxes = boxes
        self._rows: list[_Row] = []
        self._end: float = _EDGE

    def place(self, pair: Pair, steps: int, parent: int | None = None) -> None:
        """Place the rows of a subtree below the existing rows."""
        x = _EDGE + _STEP * min(steps, _MOST_STEPS)
        row_number = parent
        if pair.before is not None or pair.after is not None:
            gap = _LABELLED if any(self._boxes.label(pair, s) for s in _SIDES) else _GAP
            y = self._end if parent is None else self._end + gap
            row_number = len(self._rows)
            self._rows.append(_Row(pair, parent, x, y))
            self._end = y + max(
                c.height for s in _SIDES if (c := self._box_content(self._rows[-1], s))
            )
        for number, slot in enumerate(pair.slots, 1):
            start = end = self._end
            for child in slot:
                self._end = start
                self.place(child, steps + (number < len(pair.slots)), row_number)
                end = max(end, self._end)
            self._end = end

    def _box_content(self, row: _Row, side: Side) -> Content | None:
        return self._boxes.content(row.pair, side, WIDTH - _EDGE - row.x)

    def draw(self, side: Side) -> Picture:
        """Draw one of the trees."""
        boxes: dict[int, Box] = {}
        for number, row in enumerate(self._rows):
            content = self._box_content(row, side)
            if content is not None:
                boxes[number] = Box(content, row.x, row.y, WIDTH - _EDGE - row.x)
        edges = tuple(self._edges(boxes, side))
        description = "; ".join(_caption(b) for b in boxes.values())
        end = max((b.y + b.content.height for b in boxes.values()), default=0)
        return Picture(side, end + _EDGE + _SHADOW, tuple(boxes.values()), edges, description)

    def _edges(self, boxes: dict[int, Box], side: Side) -> Iterator[Edge]:
        for number, box in boxes.items():
            parent = self._rows[number].parent
            while parent is not None and parent not in boxes:
                parent = self._rows[parent].parent
            if parent is None:
                continue
            above = boxes[parent]
            x = above.x + _TRUNK
            top = above.y + above.content.height
            label = self._boxes.label(self._rows[number].pair, side)
            if box.x > above.x:
                yield Edge(x, top, box.y + TITLE / 2, box.x, label, box.x, box.y - 9)
            else:
                yield Edge(x, top, box.y, None, label, x + PAD, box.y - 9)


_SIDES: tuple[Side, ...] = ("before", "after")


def _caption(box: Box) -> str:
    content = box.content
    tag = f" ({content.tag})" if content.tag else ""
    lines = " ".join(line.text for line in content.lines)
    return f"{content.title}{tag} {lines}".strip()
