"""Trusted. The conditions under which a plan has a use for a row of a source, or of a function.

A row of a source is used where it is part of a row that comes out. For that row, the columns of all
sources have values for which the conditions above the source are true, in filters and in joins, and
those on the other sides of these joins. What a condition says of other columns is so a fact about
the source's own: of ``a.x < b.y`` and ``b.y < 5`` each row of ``a`` with ``x >= 4`` is dropped. A
source whose rows are used at several places is needed by each of them.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TypeAlias

from presieve.backend.catalyst.boundary import AGGREGATE, LOGICAL, PROJECT
from presieve.backend.catalyst.generators import OF_ONE_ROW, generated
from presieve.backend.catalyst.operators import (
    FILTER,
    GENERATE,
    JOIN,
    MOVING,
    SUBQUERY_ALIAS,
    VIEW,
    WINDOW,
    conditions,
    matched,
    preserved,
)
from presieve.backend.catalyst.trees import (
    ALIAS,
    AND,
    ATTRIBUTE,
    Conjunct,
    Node,
    Tree,
    expr_id,
    inlined,
    is_leaf,
    nodes_inside,
    references,
    walk,
)

Path: TypeAlias = tuple[int, ...]

MAX_NODES = 600
"""The largest condition that is followed. What is farther from the source stays out."""


@dataclass(frozen=True, slots=True)
class Facts:
    """What holds for the rows of which some row comes out: parts of conditions, each with the place
    of its operator, the nearest last, the columns that are computed below them, by number, and what
    makes several rows of one.
    """

    conditions: tuple[tuple[Path, Conjunct], ...] = ()
    computed: Mapping[int, Tree] = field(default_factory=dict)
    generators: tuple[Tree, ...] = ()

    def __add__(self, other: Facts) -> Facts:
        return Facts(
            self.conditions + other.conditions,
            {**self.computed, **other.computed},
            self.generators + other.generators,
        )


NO_FACTS = Facts()

Uses: TypeAlias = Mapping[Path, Sequence[Facts]]
"""The facts at each use of a source, by its place in the plan as written."""


_PASSED = frozenset((FILTER, PROJECT, SUBQUERY_ALIAS, VIEW, *MOVING))
_LIMITS = frozenset(LOGICAL + n for n in ("LocalLimit", "GlobalLimit", "WindowGroupLimit"))
_HELD = _PASSED | _LIMITS | {WINDOW, GENERATE}
"""Those of which each row has the values of some row that goes in."""


def facts_of(written: Node, optimized: Node, *, beside: bool) -> tuple[Uses, tuple[Node, ...]]:
    """The facts at each use of the sources of a plan, and the leaves of its optimized form that are
    none of these, by the numbers of their columns. Without ``beside``, or where a number means two
    columns, no operator but a filter right above a source is asked.
    """
    beside = beside and _each_made_once(optimized)
    owner = {n: leaf.path for leaf in walk(written) if not leaf.children for n in _numbers(leaf)}
    uses: dict[Path, list[Facts]] = {}
    others = []
    for leaf, near, far in _places(optimized, is_leaf, NO_FACTS, NO_FACTS):
        paths = {owner[n] for n in _numbers(leaf) if n in owner}
        if len(paths) != 1:
            others.append(leaf)
            continue
        uses.setdefault(paths.pop(), []).append(far if beside else near)
    return uses, tuple(others)


def facts_of_leaves(optimized: Node) -> Iterator[tuple[frozenset[int], Facts]]:
    """The numbers of each leaf's columns, with all that may hold for its rows."""
    for leaf, _, far in _places(optimized, is_leaf, NO_FACTS, NO_FACTS):
        yield frozenset(_numbers(leaf)), far


def facts_above(root: Node, asked: Callable[[Node], bool]) -> tuple[tuple[Node, Facts], ...]:
    """The facts at those operators of a plan that are asked for, in a plan that is deterministic as
    a whole. None where a number means two columns.
    """
    if not _each_made_once(root):
        return ()
    return tuple((node, far) for node, _, far in _places(root, asked, NO_FACTS, NO_FACTS))


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


def _places(
    node: Node, asked: Callable[[Node], bool], near: Facts, far: Facts
) -> Iterator[tuple[Node, Facts, Facts]]:
    """Each operator that is asked for with the facts of the filter right above it, and with all."""
    if asked(node):
        yield node, near, far
    if _is_passed(node):
        own = _own(node)
        above = own if node.kind == FILTER else NO_FACTS
        yield from _places(node.children[0], asked, above, far + own)
    elif node.kind == JOIN:
        for side, child in enumerate(node.children):
            # A row that loses its partner comes out as another row, so that what is above an outer
            # join is nothing to the side that has the partners.
            below = far if side in preserved(node) else NO_FACTS
            if side in matched(node):
                below = below + _own(node) + _held(node.children[1 - side])
            yield from _places(child, asked, NO_FACTS, below)
    else:
        for child in node.children:
            yield from _places(child, asked, NO_FACTS, NO_FACTS)


def _is_passed(node: Node) -> bool:
    """Whether rows come out for each row that goes in, or none, whatever the others are."""
    if node.kind == GENERATE:
        return node.fields["generator"][0]["class"] in OF_ONE_ROW
    return node.kind in _PASSED


def _held(node: Node) -> Facts:
    """What holds for each row that comes out of an operator: of a group, for one of its rows."""
    if node.kind in _HELD or (node.kind == AGGREGATE and node.fields.get("groupingExpressions")):
        return _own(node) + _held(node.children[0])
    if node.kind != JOIN:
        return NO_FACTS
    if len(matched(node)) == len(node.children):
        return sum(map(_held, node.children), _own(node))
    return sum((_held(node.children[side]) for side in preserved(node)), NO_FACTS)


def _each_made_once(root: Node) -> bool:
    """Whether each number is that of one column, which one operator makes."""
    made = Counter(
        number
        for node in walk(root)
        for number in {*(_aliases(node) if node.children else _numbers(node))}
    )
    return all(count == 1 for count in made.values())


def _aliases(node: Node) -> Iterator[int]:
    yield from (expr_id(n) for n in nodes_inside(node.fields) if n["class"] == ALIAS)
    yield from (expr_id(t[0]) for t in node.fields.get("generatorOutput", []))


def _own(node: Node) -> Facts:
    """What an operator says of the rows that pass it."""
    parts = tuple((node.path, Conjunct(inlined(c.tree), c.route)) for c in conditions(node))
    columns: list[Tree] = node.fields["projectList"] if node.kind == PROJECT else []
    computed = {expr_id(c[0]): inlined(c[1:]) for c in columns if c[0]["class"] == ALIAS}
    if node.kind == GENERATE:
        return Facts(parts, generated(node), (node.fields["generator"],))
    return Facts(parts, computed)


def _numbers(leaf: Node) -> list[int]:
    return [expr_id(tree[0]) for tree in leaf.fields.get("output", [])]
