"""Untrusted. From the cells that a pre-filter must keep to a short predicate that keeps them.

A box is a set of regions for each column. The needed cells are covered by boxes (a disjunction of
conjunctions), and so are the others (a conjunction of disjunctions); the shorter text wins.
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
    """Cells that rows can be in."""
    indices = [[i for i, r in enumerate(p.regions) if r.possible] for p in partitions]
    return [tuple(c) for c in product(*indices)]


def cover(
    partitions: Sequence[Partition], wanted: Collection[Cell], forbidden: Collection[Cell]
) -> list[Box]:
    """Boxes that hold every wanted cell and no forbidden one (others may be held)."""
    boxes: list[Box] = []
    asked, banned = set(wanted), set(forbidden)
    left = [c for c in possible_cells(partitions) if c in asked]
    while left:
        box = _grow(partitions, left[0], banned)
        boxes.append(box)
        left = [c for c in left if not holds(box, c)]
    return _without_redundant(boxes, wanted)


def holds(box: Box, cell: Cell) -> bool:
    """Whether a cell lies in a box."""
    return all(i in side for i, side in zip(cell, box, strict=True))


def _grow(partitions: Sequence[Partition], cell: Cell, banned: set[Cell]) -> Box:
    """The cell, grown column by column as far as no banned cell is met."""
    sides = [{i} for i in cell]
    for k, p in enumerate(partitions):
        for i in range(len(p.regions)):
            trial = [*sides[:k], {i}, *sides[k + 1 :]]
            if p.regions[i].possible and not any(c in banned for c in product(*trial)):
                sides[k].add(i)
    return tuple(frozenset(s) for s in sides)


def _without_redundant(boxes: list[Box], wanted: Collection[Cell]) -> list[Box]:
    kept = list(boxes)
    for box in boxes:
        others = [b for b in kept if b is not box]
        if all(any(holds(b, c) for b in others) for c in wanted if holds(box, c)):
            kept = others
    return kept


def predicate(
    partitions: Sequence[Partition], needed: Collection[Cell], absent: Collection[Cell] = ()
) -> Term:
    """A predicate that keeps exactly the needed cells among the possible ones. Whether it keeps
    the ``absent`` ones does not matter.
    """
    cells = possible_cells(partitions)
    kept = set(needed)
    dropped = [c for c in cells if c not in kept and c not in absent]
    if not dropped:
        return SQL_TRUE
    if not any(c in kept for c in cells):
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
    """A predicate that drops exactly one box: some column lies outside its side."""
    parts = []
    for p, side in zip(partitions, box, strict=True):
        outside = frozenset(range(len(p.regions))) - side
        if any(p.regions[i].possible for i in outside):
            parts.append(p.member(outside))
    return sql_disjunction(parts)
