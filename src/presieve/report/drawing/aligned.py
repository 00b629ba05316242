"""Untrusted. Puts the operators of two plans beside each other: equal ones share a row."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from itertools import groupby, zip_longest

from presieve.report.drawing.drawn_plan import DrawnOperator


@dataclass(eq=False, slots=True)
class PlanRow:
    """An operator before and after (None: absent). ``folded``: how many operators it stands for."""

    before: DrawnOperator | None
    after: DrawnOperator | None
    folded: int = 0

    def operators(self) -> Iterator[DrawnOperator]:
        """The operators that there are."""
        yield from filter(None, (self.before, self.after))

    @property
    def same(self) -> bool:
        """Whether the operator occurs in both plans, with the same text."""
        a, b = self.before, self.after
        return a is not None and b is not None and _name_and_detail(a) == _name_and_detail(b)


def _name_and_detail(operator: DrawnOperator) -> tuple[str, str]:
    return operator.name, operator.detail


def _name(operator: DrawnOperator) -> str:
    return operator.name


def align(before: Sequence[DrawnOperator], after: Sequence[DrawnOperator]) -> list[PlanRow]:
    """Rows of equal operators, and between them of operators with equal names. What is left between
    these on both sides shares rows: it is another plan in the place of the first.
    """
    return list(_align(before, after, (_name_and_detail, _name)))


def _align(
    before: Sequence[DrawnOperator],
    after: Sequence[DrawnOperator],
    likenesses: Sequence[Callable[[DrawnOperator], object]],
) -> Iterator[PlanRow]:
    if not likenesses:
        yield from map(PlanRow, *zip(*zip_longest(before, after), strict=True))
        return
    likeness, *weaker = likenesses
    a, b = [*map(likeness, before)], [*map(likeness, after)]
    for tag, i, end_i, j, end_j in SequenceMatcher(None, a, b, autojunk=False).get_opcodes():
        if tag == "equal":
            yield from map(PlanRow, before[i:end_i], after[j:end_j])
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
    return PlanRow(box, box, len(run))
