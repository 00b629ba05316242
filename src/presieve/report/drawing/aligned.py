"""Untrusted. Two trees of a plan as one: what is equal in both stands in one place.

A rewriting puts filters in and takes filters out, and Spark's optimizer adds and drops projections
after it. So operators with one child may stand in one of the trees only; where the trees differ in
any other way, one subtree takes the place of another.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Literal, TypeAlias

from presieve.report.drawing.tree import PlanNode

MOST_OPERATORS = 600
MOST_IN_A_ROW = 80
"""Larger plans are not aligned: nobody looks at a picture of so many operators."""


@dataclass(eq=False, slots=True)
class Pair:
    """An operator before and after (None: it is not there). ``slots`` are the children; one holds
    two where a subtree was replaced by another. ``folded`` counts the operators it stands for.
    """

    before: PlanNode | None
    after: PlanNode | None
    slots: tuple[tuple[Pair, ...], ...] = ()
    folded: int = 0

    def children(self) -> Iterator[Pair]:
        """Those of all slots."""
        for slot in self.slots:
            yield from slot

    def walk(self) -> Iterator[Pair]:
        """Every pair, parents first."""
        yield self
        for child in self.children():
            yield from child.walk()

    @property
    def same(self) -> bool:
        """Whether the operator is there in both trees, and says the same."""
        both = self.before is not None and self.after is not None
        return both and _says(self.before) == _says(self.after)


def _says(op: PlanNode | None) -> tuple[str, str]:
    return ("", "") if op is None else (op.name, op.detail)


_Way: TypeAlias = Literal["paired", "gone", "new", "replaced"]


def align(before: PlanNode, after: PlanNode) -> Pair | None:
    """Both trees as one, with as few differences as can be; None where they are too large."""
    if max(before.size, after.size) > MOST_OPERATORS:
        return None
    if max(before.depth, after.depth) > MOST_IN_A_ROW:
        return None
    return _Aligner().pair(before, after)


class _Aligner:
    """Decides what becomes of every two operators once, and builds then."""

    def __init__(self) -> None:
        self._known: dict[tuple[int, int], tuple[int, _Way]] = {}

    def pair(self, a: PlanNode, b: PlanNode) -> Pair:
        """The trees as one."""
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
                return Pair(None, None, ((_alone(a, None), _alone(None, b)),))

    def _best(self, a: PlanNode, b: PlanNode) -> tuple[int, _Way]:
        """The fewest differences, and how the first operators come to them."""
        key = (id(a), id(b))
        if key not in self._known:
            self._known[key] = min(self._ways(a, b), key=lambda way: way[0])
        return self._known[key]

    def _ways(self, a: PlanNode, b: PlanNode) -> Iterator[tuple[int, _Way]]:
        if a.name == b.name and len(a.children) == len(b.children):
            both = zip(a.children, b.children, strict=True)
            differs = _says(a) != _says(b)
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
    """What stands below: of a replacement, both."""
    if pair.before is None and pair.after is None:
        return pair.slots[0]
    return (pair,)


def _alone(a: PlanNode | None, b: PlanNode | None) -> Pair:
    op = a or b
    assert op is not None
    slots = tuple((_alone(c if a else None, c if b else None),) for c in op.children)
    return Pair(a, b, slots)


FEW = 14
"""Plans of so many operators are drawn as a whole."""
_RUN = 4
"""Fewer operators than this are not folded: that would save nothing."""


def fold(root: Pair, matters: Callable[[Pair], bool]) -> Pair:
    """Where there are many operators, runs of those that do not matter become one of them each;
    what stands right above or below one that matters is kept. Changes the tree.
    """
    if sum(1 for _ in root.walk()) <= FEW:
        return root
    return _Folder(matters).fold(root, near=False)


class _Folder:
    def __init__(self, matters: Callable[[Pair], bool]) -> None:
        self._matters = matters
        self._loud: dict[Pair, bool] = {}

    def _is_loud(self, pair: Pair) -> bool:
        """Whether something matters from here down."""
        if pair not in self._loud:
            below = [self._is_loud(c) for c in pair.children()]
            self._loud[pair] = self._matters(pair) or any(below)
        return self._loud[pair]

    def fold(self, pair: Pair, *, near: bool) -> Pair:
        """``near``: what matters stands right above."""
        run: list[Pair] = []
        below: tuple[tuple[Pair, ...], ...] = ()
        if not near and not self._is_loud(pair):
            run = list(pair.walk())
        elif not near:
            here = pair
            while self._passes(here):
                (spine,) = (c for c in here.children() if self._is_loud(c))
                run += [here, *(q for c in here.children() if c is not spine for q in c.walk())]
                here = spine
            below = ((here,),)
        if len(run) >= _RUN:
            pair = _one(run, below)
        matters = self._matters(pair)
        pair.slots = tuple(tuple(self.fold(c, near=matters) for c in slot) for slot in pair.slots)
        return pair

    def _passes(self, pair: Pair) -> bool:
        """Whether it does not matter, nor what stands right below, and there is one way on."""
        if self._matters(pair) or any(self._matters(c) for c in pair.children()):
            return False
        return sum(self._is_loud(c) for c in pair.children()) == 1


def _one(run: list[Pair], slots: tuple[tuple[Pair, ...], ...]) -> Pair:
    """A box for all of them."""
    names = Counter(op.name for p in run if (op := p.before or p.after))
    listed = ", ".join(n if times == 1 else f"{times} {n}" for n, times in names.items())
    op = PlanNode(f"{len(run)} operators", listed)
    return Pair(op, op, slots, folded=len(run))
