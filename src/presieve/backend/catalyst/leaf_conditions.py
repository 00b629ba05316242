"""Trusted. The conditions under which Spark's optimized plan has a use for a row of a source.

A row of a source is used where it is part of a row that comes out. For that row, the columns of all
sources have values for which the conditions above the source are true, in filters and in joins, and
those on the other sides of these joins. What a condition says of other columns is so a fact about
the source's own: of ``a.x < b.y`` and ``b.y < 5`` each row of ``a`` with ``x >= 4`` is dropped. A
source whose rows are used at several places is needed by each of them.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TypeAlias

from presieve.backend.catalyst.boundary import AGGREGATE, LOGICAL, PROJECT
from presieve.backend.catalyst.operators import FILTER, GENERATE, JOIN, MOVING, WINDOW
from presieve.backend.catalyst.trees import (
    ALIAS,
    AND,
    ATTRIBUTE,
    Conjunct,
    Node,
    Tree,
    expr_id,
    references,
    split_conjuncts,
    walk,
)

Path: TypeAlias = tuple[int, ...]

MAX_NODES = 600
"""The largest condition that is followed. Beyond it, the filter above the source has to do."""

_PLANS = "org.apache.spark.sql.catalyst.plans."


@dataclass(frozen=True, slots=True)
class Facts:
    """What holds for the rows of which some row comes out: parts of conditions, each with the place
    of its operator, the nearest last, and the columns that are computed below them, by number.
    """

    conditions: tuple[tuple[Path, Conjunct], ...] = ()
    computed: Mapping[int, Tree] = field(default_factory=dict)

    def __add__(self, other: Facts) -> Facts:
        return Facts(self.conditions + other.conditions, {**self.computed, **other.computed})


NO_FACTS = Facts()

Uses: TypeAlias = Mapping[Path, Sequence[Facts]]
"""The facts at each use of a source, by its place in the plan as written."""


@dataclass(frozen=True, slots=True)
class _Sides:
    """Of a join, what reaches each side: facts from ``above`` it, and its own condition with what
    holds on the ``other`` side. ``kept`` are the sides of which all rows that come out are.
    """

    above: tuple[bool, bool]
    other: tuple[bool, bool]
    kept: tuple[int, ...]


_BOTH, _NEITHER = (True, True), (False, False)
_LEFT, _RIGHT = (True, False), (False, True)

_JOINS = {
    _PLANS + name: sides
    for name, sides in (
        *((name, _Sides(_BOTH, _BOTH, (0, 1))) for name in ("Inner$", "Cross$", "LeftSemi$")),
        # A row without a partner is a row without a condition, so that what is above the join is
        # nothing to the side that has the partners.
        *((name, _Sides(_LEFT, _RIGHT, (0,))) for name in ("LeftOuter$", "LeftAnti$")),
        ("RightOuter$", _Sides(_RIGHT, _LEFT, (1,))),
    )
}
_NOTHING_HELD = _Sides(_NEITHER, _NEITHER, ())
_PASSED = frozenset((FILTER, PROJECT, *MOVING))
"""Operators of which a row comes out for a row that goes in, or none, whatever the others are."""
_LIMITS = frozenset(LOGICAL + n for n in ("LocalLimit", "GlobalLimit", "WindowGroupLimit"))
_HELD = _PASSED | _LIMITS | {WINDOW, GENERATE}
"""Those of which each row has the values of some row that goes in."""


def facts_of(written: Node, optimized: Node, *, beside: bool) -> tuple[Uses, tuple[Node, ...]]:
    """The facts at each use of the sources of a plan, and the leaves of its optimized form that are
    none of these, by the numbers of their columns. Without ``beside``, no operator but a filter
    right above a source is asked.
    """
    owner = {n: leaf.path for leaf in walk(written) if not leaf.children for n in _numbers(leaf)}
    uses: dict[Path, list[Facts]] = {}
    others = []
    for leaf, near, far in _leaves(optimized, NO_FACTS, NO_FACTS):
        paths = {owner[n] for n in _numbers(leaf) if n in owner}
        if len(paths) != 1:
            others.append(leaf)
            continue
        uses.setdefault(paths.pop(), []).append(far if beside else near)
    return uses, tuple(others)


def about(facts: Facts, columns: Collection[int]) -> list[tuple[Path, Conjunct]]:
    """The conditions on these columns, and on those that they are compared with, and so on. They
    are about columns as they are computed, and what is large in all stays out.
    """
    parts = []
    for path, part in reversed(facts.conditions):
        tree = _followed(part.tree, facts.computed)
        if tree is not None:
            parts.append((path, Conjunct(tree, part.route)))
    known = set(columns)
    found: list[tuple[Path, Conjunct]] = []
    size = 0
    while near := [(at, p) for at, p in parts if not known.isdisjoint(references(p.tree))]:
        parts = [(at, p) for at, p in parts if known.isdisjoint(references(p.tree))]
        for at, part in near:
            if size + len(part.tree) <= MAX_NODES:
                found.append((at, part))
                known |= references(part.tree)
                size += len(part.tree)
    return found


def conjunction(parts: Sequence[Tree]) -> Tree:
    """Of conditions, of which there are some."""
    joints = [{"class": AND, "num-children": 2, "left": 0, "right": 1}] * (len(parts) - 1)
    return [*joints, *(node for part in parts for node in part)]


def _followed(tree: Tree, computed: Mapping[int, Tree]) -> Tree | None:
    """A condition on the columns that computed ones are made of; None where it is too large."""
    found: Tree = []
    pending = list(reversed(tree))
    while pending:
        node = pending.pop()
        known = computed.get(expr_id(node)) if node["class"] == ATTRIBUTE else None
        if known is None:
            found.append(node)
        else:
            pending.extend(reversed(known))
        if len(found) + len(pending) > MAX_NODES:
            return None
    return found


def _leaves(node: Node, near: Facts, far: Facts) -> Iterator[tuple[Node, Facts, Facts]]:
    """Each leaf with the facts of the filter right above it, and with all facts."""
    if not node.children:
        yield node, near, far
    elif node.kind in _PASSED:
        own = _own(node)
        yield from _leaves(node.children[0], own if node.kind == FILTER else NO_FACTS, far + own)
    elif node.kind == JOIN:
        sides = _sides(node)
        for side, child in enumerate(node.children):
            below = far if sides.above[side] else NO_FACTS
            if sides.other[side]:
                below = below + _own(node) + _held(node.children[1 - side])
            yield from _leaves(child, NO_FACTS, below)
    else:
        for child in node.children:
            yield from _leaves(child, NO_FACTS, NO_FACTS)


def _held(node: Node) -> Facts:
    """What holds for each row that comes out of an operator: of a group, for one of its rows."""
    if node.kind in _HELD or (node.kind == AGGREGATE and node.fields.get("groupingExpressions")):
        return _own(node) + _held(node.children[0])
    if node.kind != JOIN:
        return NO_FACTS
    sides = _sides(node)
    own = _own(node) if len(sides.kept) == len(node.children) else NO_FACTS
    return sum((_held(node.children[side]) for side in sides.kept), own)


def _sides(join: Node) -> _Sides:
    """Nothing where a number means a column of either side."""
    left, right = (_produced(child) for child in join.children)
    kind = join.fields["joinType"]
    name = kind.get("object") if isinstance(kind, dict) else None
    return _JOINS.get(str(name), _NOTHING_HELD) if left.isdisjoint(right) else _NOTHING_HELD


def _produced(node: Node) -> set[int]:
    """The numbers of all columns that are made below."""
    return {
        number
        for each in walk(node)
        for number in (*(() if each.children else _numbers(each)), *_computed(each))
    }


def _own(node: Node) -> Facts:
    """What an operator says of the rows that pass it."""
    condition: Tree | None = node.fields.get("condition")
    if node.kind in (FILTER, JOIN) and condition:
        return Facts(tuple((node.path, part) for part in split_conjuncts(condition)))
    return Facts((), _computed(node)) if node.kind == PROJECT else NO_FACTS


def _computed(node: Node) -> dict[int, Tree]:
    """The columns that a projection computes, by number."""
    if node.kind != PROJECT:
        return {}
    columns: list[Tree] = node.fields["projectList"]
    return {expr_id(c[0]): c[1:] for c in columns if c[0]["class"] == ALIAS}


def _numbers(leaf: Node) -> list[int]:
    return [expr_id(tree[0]) for tree in leaf.fields.get("output", [])]
