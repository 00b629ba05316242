# SPDX-License-Identifier: Apache-2.0
"""Untrusted. Turns the cells that a pre-filter must keep into a short predicate that keeps them.

A box is a set of regions for each column. Boxes cover the needed cells (a disjunction of
conjunctions), and also the others (a conjunction of disjunctions); the shorter text wins.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from itertools import product
from typing import TypeAlias

from presieve.ir.ops import sql_conjunction, sql_disjunction
from presieve.ir.terms import SQL_FALSE, SQL_TRUE, Term
from presieve.ir.walk import size
from presieve.universe.regions import Partition

Cell: TypeAlias = tuple[int, ...]
Box: TypeAlias = tuple[frozenset[int], ...]


def possible_cells(partitions: Sequence[Partition]) -> list[Cell]:
    """Return the cells that rows can be in."""
    indices = [[i for i, r in enumerate(p.regions) if r.possible] for p in partitions]
    return [tuple(c) for c in product(*indices)]


def cover(
    partitions: Sequence[Partition], wanted: Collection[Cell], forbidden: Collection[Cell]
) -> list[Box]:
    """Return boxes that contain every wanted and no forbidden cell; others do not matter."""
    boxes: list[Box] = []
    all_wanted, banned = set(wanted), set(forbidden)
    uncovered = [c for c in possible_cells(partitions) if c in all_wanted]
    while uncovered:
        box = _grow(partitions, uncovered[0], banned)
        boxes.append(box)
        uncovered = [c for c in uncovered if not holds(box, c)]
    return _without_redundant(boxes, wanted)


def holds(box: Box, cell: Cell) -> bool:
    """Whether a cell lies in a box."""
    return all(i in side for i, side in zip(cell, box, strict=True))


def _grow(partitions: Sequence[Partition], cell: Cell, banned: set[Cell]) -> Box:
    """Grow the cell to a box, column by column, as long as it contains no banned cell."""
    sides = [{i} for i in cell]
    for k, p in enumerate(partitions):
        for i in range(len(p.regions)):
            trial = [*sides[:k], {i}, *sides[k + 1 :]]
            if p.regions[i].possible and not any(c in banned for c in product(*trial)):
                sides[k].add(i)
    return tuple(frozenset(s) for s in sides)


def _without_redundant(boxes: list[Box], wanted: Collection[Cell]) -> list[Box]:
    needed_boxes = list(boxes)
    for box in boxes:
        others = [b for b in needed_boxes if b is not box]
        if all(any(holds(b, c) for b in others) for c in wanted if holds(box, c)):
            needed_boxes = others
    return needed_boxes


def predicate(
    partitions: Sequence[Partition], needed: Collection[Cell], absent: Collection[Cell] = ()
) -> Term:
    """Return a predicate that keeps exactly the needed ones of the possible cells.

    Whether it keeps the ``absent`` cells does not matter.
    """
    cells = possible_cells(partitions)
    kept_cells = set(needed)
    dropped = [c for c in cells if c not in kept_cells and c not in absent]
    if not dropped:
        return SQL_TRUE
    if not any(c in kept_cells for c in cells):
        return SQL_FALSE
    as_union = sql_disjunction(
        sql_conjunction(p.member(side) for p, side in zip(partitions, box, strict=True))
        for box in cover(partitions, needed, dropped)
    )
    as_exclusions = sql_conjunction(
        excluding(partitions, box) for box in cover(partitions, dropped, needed)
    )
    return as_exclusions if size(as_exclusions) <= size(as_union) else as_union


def excluding(partitions: Sequence[Partition], box: Box) -> Term:
    """Return a predicate that drops exactly one box: some column lies outside of its side."""
    parts = []
    for p, side in zip(partitions, box, strict=True):
        outside = frozenset(range(len(p.regions))) - side
        if any(p.regions[i].possible for i in outside):
            parts.append(p.member(outside))
    return sql_disjunction(parts)
