# SPDX-License-Identifier: Apache-2.0
"""Untrusted. Puts the operators of several plans beside each other: equal ones share a row."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from itertools import groupby, pairwise, zip_longest
from typing import TypeAlias

from presieve.report.drawing.drawn_plan import DrawnOperator


@dataclass(eq=False, slots=True)
class PlanRow:
    """An operator in each of the plans (None: absent there). ``folded``: how many operators it
    stands for.
    """

    cells: tuple[DrawnOperator | None, ...]
    folded: int = 0

    def operators(self) -> Iterator[DrawnOperator]:
        """The operators that there are."""
        yield from filter(None, self.cells)

    @property
    def same(self) -> bool:
        """Whether the operator occurs in all plans, with the same text."""
        return None not in self.cells and len(set(map(_name_and_detail, self.operators()))) == 1


def _name_and_detail(operator: DrawnOperator) -> tuple[str, str]:
    return operator.name, operator.detail


def _name(operator: DrawnOperator) -> str:
    return operator.name


def _of_groups(operator: DrawnOperator) -> object:
    """An operator over groups may take the place of another one; of the others, each is itself."""
    is_over_groups = operator.name == "Aggregate" or operator.name.startswith("FlatMapGroups")
    return "groups" if is_over_groups else operator


_Pair: TypeAlias = tuple[DrawnOperator | None, DrawnOperator | None]


def align(*plans: Sequence[DrawnOperator]) -> list[PlanRow]:
    """Rows of equal operators, and between them of operators over groups, then of operators with
    equal names. What is left between these on both sides shares rows: it is another plan in the
    place of the first. Each plan is compared with the one before.
    """
    rows = [PlanRow((op,)) for op in plans[0]]
    for before, after in pairwise(plans):
        rows = [*_add_plan(rows, _align(before, after, (_name_and_detail, _of_groups, _name)))]
    return rows


def _add_plan(rows: Sequence[PlanRow], pairs: Iterable[_Pair]) -> Iterator[PlanRow]:
    """Add a plan to the rows, whose operators stand beside those of the last plan as in ``pairs``,
    which are in the order of the rows.
    """
    width = len(rows[0].cells)
    waiting = iter(rows)
    for before, after in pairs:
        if before is None:
            yield PlanRow((*(None,) * width, after))
            continue
        for row in waiting:
            is_beside = row.cells[-1] is before
            yield PlanRow((*row.cells, after if is_beside else None))
            if is_beside:
                break
    yield from (PlanRow((*row.cells, None)) for row in waiting)


def _align(
    before: Sequence[DrawnOperator],
    after: Sequence[DrawnOperator],
    likenesses: Sequence[Callable[[DrawnOperator], object]],
) -> Iterator[_Pair]:
    if not likenesses:
        yield from zip_longest(before, after)
        return
    likeness, *weaker = likenesses
    a, b = [*map(likeness, before)], [*map(likeness, after)]
    for tag, i, end_i, j, end_j in SequenceMatcher(None, a, b, autojunk=False).get_opcodes():
        if tag == "equal":
            yield from zip(before[i:end_i], after[j:end_j], strict=True)
        else:
            yield from _align(before[i:end_i], after[j:end_j], weaker)


FEW = 14
"""Plans with at most so many operators are drawn in full."""
_RUN = 4
"""Fewer operators than this are not folded, as that would save nothing."""


def fold(rows: Sequence[PlanRow], matters: Callable[[PlanRow], bool]) -> list[PlanRow]:
    """Make one row of each run of operators that do not matter, if there are many operators. The
    neighbours of operators that matter are kept.
    """
    if len(rows) <= FEW:
        return list(rows)
    kept = {op for row in rows if matters(row) for op in row.operators()}
    kept |= {near for op in kept for near in (op.parent, *op.children) if near is not None}
    folded_rows: list[PlanRow] = []
    for keep, run in groupby(rows, key=lambda row: not kept.isdisjoint(row.operators())):
        group = list(run)
        folded_rows += group if keep or len(group) < _RUN else [_one_row(group)]
    return folded_rows


def _one_row(run: Sequence[PlanRow]) -> PlanRow:
    operators = [next(row.operators()) for row in run]
    names = Counter(op.name for op in operators)
    listed = ", ".join(n if times == 1 else f"{times} {n}" for n, times in names.items())
    steps, above = min(op.steps for op in operators), operators[0].parent
    box = DrawnOperator(f"{len(run)} operators", listed, above, steps=steps)
    return PlanRow((box,) * len(run[0].cells), len(run))
