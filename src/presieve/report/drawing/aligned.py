"""Untrusted. Merges the trees of two plans into one: equal operators share one place.

A rewrite adds and removes filters, and Spark's optimizer adds and drops projections after it. So
operators with one child may occur in one tree only; if the trees differ in any other way, one
subtree replaces another.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Literal, TypeAlias

from presieve.report.drawing.tree import PlanNode

MOST_OPERATORS = 600
MOST_IN_A_ROW = 80
"""Larger or deeper plans are not aligned: nobody looks at a picture of so many operators."""


@dataclass(eq=False, slots=True)
class Pair:
    """An operator before and after (None: absent). ``slots`` are the children; a slot holds two if
    one subtree replaces another. ``folded`` counts the operators that the pair stands for.
    """

    before: PlanNode | None
    after: PlanNode | None
    slots: tuple[tuple[Pair, ...], ...] = ()
    folded: int = 0

    def children(self) -> Iterator[Pair]:
        """The children in all slots."""
        for slot in self.slots:
            yield from slot

    def walk(self) -> Iterator[Pair]:
        """Every pair, parents first."""
        yield self
        for child in self.children():
            yield from child.walk()

    @property
    def same(self) -> bool:
        """Whether the operator occurs in both trees, with the same text."""
        both = self.before is not None and self.after is not None
        return both and _name_and_detail(self.before) == _name_and_detail(self.after)


def _name_and_detail(op: PlanNode | None) -> tuple[str, str]:
    return ("", "") if op is None else (op.name, op.detail)


_Way: TypeAlias = Literal["paired", "gone", "new", "replaced"]


def align(before: PlanNode, after: PlanNode) -> Pair | None:
    """Merge both trees with as few differences as possible; None if they are too large."""
    if max(before.size, after.size) > MOST_OPERATORS:
        return None
    if max(before.depth, after.depth) > MOST_IN_A_ROW:
        return None
    return _Aligner().pair(before, after)


class _Aligner:
    """Decides once for each pair of operators how to align them, and then builds the tree."""

    def __init__(self) -> None:
        self._best_of_pair: dict[tuple[int, int], tuple[int, _Way]] = {}

    def pair(self, a: PlanNode, b: PlanNode) -> Pair:
        """Merge two trees into one."""
        _, way = self._best(a, b)
        match way:
            case "paired":
                both = zip(a.children, b.children, strict=True)
                return Pair(a, b, tuple(_slot(self.pair(x, y)) for x, y in both))
            case "gone":
                return Pair(a, None, (_slot(self.pair(a.children[0], b)),))
            case "new":
                return Pair(None, b, (_slot(self.pair(a, b.children[0])),))
            case "replaced":
                return Pair(None, None, ((_one_sided(a, None), _one_sided(None, b)),))

    def _best(self, a: PlanNode, b: PlanNode) -> tuple[int, _Way]:
        """The smallest number of differences, and how to align the roots to reach it."""
        key = (id(a), id(b))
        if key not in self._best_of_pair:
            self._best_of_pair[key] = min(self._ways(a, b), key=lambda way: way[0])
        return self._best_of_pair[key]

    def _ways(self, a: PlanNode, b: PlanNode) -> Iterator[tuple[int, _Way]]:
        if a.name == b.name and len(a.children) == len(b.children):
            both = zip(a.children, b.children, strict=True)
            differs = _name_and_detail(a) != _name_and_detail(b)
            yield sum(self._best(x, y)[0] for x, y in both) + differs, "paired"
            if not differs:
                return
        else:
            yield a.size + b.size, "replaced"
        if len(a.children) == 1:
            yield self._best(a.children[0], b)[0] + 1, "gone"
        if len(b.children) == 1:
            yield self._best(a, b.children[0])[0] + 1, "new"


def _slot(pair: Pair) -> tuple[Pair, ...]:
    """A slot for a child: for a replacement, both subtrees."""
    if pair.before is None and pair.after is None:
        return pair.slots[0]
    return (pair,)


def _one_sided(a: PlanNode | None, b: PlanNode | None) -> Pair:
    op = a or b
    assert op is not None
    slots = tuple((_one_sided(c if a else None, c if b else None),) for c in op.children)
    return Pair(a, b, slots)


FEW = 14
"""Plans with at most so many operators are drawn in full."""
_RUN = 4
"""Fewer operators than this are not folded, as that would save nothing."""


def fold(root: Pair, matters: Callable[[Pair], bool]) -> Pair:
    """Fold each run of operators that do not matter into one box, if there are many operators. The
    neighbours of operators that matter are kept. Changes the tree.
    """
    if sum(1 for _ in root.walk()) <= FEW:
        return root
    return _Folder(matters).fold(root, near=False)


class _Folder:
    def __init__(self, matters: Callable[[Pair], bool]) -> None:
        self._matters = matters
        self._loud: dict[Pair, bool] = {}

    def _is_loud(self, pair: Pair) -> bool:
        """Whether an operator in this subtree matters."""
        if pair not in self._loud:
            below = [self._is_loud(c) for c in pair.children()]
            self._loud[pair] = self._matters(pair) or any(below)
        return self._loud[pair]

    def fold(self, pair: Pair, *, near: bool) -> Pair:
        """Fold a subtree. ``near``: the operator right above matters."""
        run: list[Pair] = []
        below: tuple[tuple[Pair, ...], ...] = ()
        if not near and not self._is_loud(pair):
            run = list(pair.walk())
        elif not near:
            first_kept = pair
            while self._is_foldable(first_kept):
                (spine,) = (c for c in first_kept.children() if self._is_loud(c))
                run += [
                    first_kept,
                    *(q for c in first_kept.children() if c is not spine for q in c.walk()),
                ]
                first_kept = spine
            below = ((first_kept,),)
        if len(run) >= _RUN:
            pair = _merge_run(run, below)
        matters = self._matters(pair)
        pair.slots = tuple(tuple(self.fold(c, near=matters) for c in slot) for slot in pair.slots)
        return pair

    def _is_foldable(self, pair: Pair) -> bool:
        """Whether neither the operator nor its children matter, and one child's subtree does."""
        if self._matters(pair) or any(self._matters(c) for c in pair.children()):
            return False
        return sum(self._is_loud(c) for c in pair.children()) == 1


def _merge_run(run: list[Pair], slots: tuple[tuple[Pair, ...], ...]) -> Pair:
    """Merge a run of operators into one box."""
    names = Counter(op.name for p in run if (op := p.before or p.after))
    listed = ", ".join(n if times == 1 else f"{times} {n}" for n, times in names.items())
    op = PlanNode(f"{len(run)} operators", listed)
    return Pair(op, op, slots, folded=len(run))
