# SPDX-License-Identifier: Apache-2.0
"""Trusted. The conditions under which a plan needs a row of a source, or of a function.

A plan needs a row of a source if the row is part of a row that comes out. For that output row, the
columns of all sources have values that satisfy the conditions above the source, in filters and in
joins, and the conditions on the other sides of these joins. So a condition on other columns is a
fact about the source's own columns: with ``a.x < b.y`` and ``b.y < 5``, each row of ``a`` with ``x
>= 4`` is dropped. If the rows of a source are used at several places, each place needs them.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from functools import partial
from typing import TypeAlias

from msgspec import Struct, field

from presieve.backend.catalyst.boundary import AGGREGATE, LOGICAL, PROJECT
from presieve.backend.catalyst.expand import (
    is_expansion,
    read_expanded_columns,
    read_projections,
)
from presieve.backend.catalyst.generators import OF_ONE_ROW, read_generated_columns
from presieve.backend.catalyst.operators import (
    ALWAYS_PASSED,
    FILTER,
    GENERATE,
    JOIN,
    WINDOW,
    conditions,
    matched_sides,
    preserved_sides,
)
from presieve.backend.catalyst.partition_conditions import (
    WINDOW_LIMIT,
    holds_for_partitions,
    is_partitioned,
    partition_columns,
)
from presieve.backend.catalyst.trees import (
    ALIAS,
    AND,
    ATTRIBUTE,
    Conjunct,
    Node,
    Tree,
    expr_id,
    inline_common_expressions,
    is_leaf,
    nodes_inside,
    references,
    walk,
)
from presieve.records import replace

Path: TypeAlias = tuple[int, ...]

MAX_PROJECTIONS = 8
"""The most projections of an ``Expand`` that are looked at one by one."""
MAX_NODES = 600
"""The largest condition that is followed. Conditions farther from the source are left out."""


class Facts(Struct, frozen=True):
    """What holds for rows that contribute to an output row: conjuncts with the paths of their
    operators, the nearest last; the columns computed below them, by exprId; and the generators that
    make several rows of one.
    """

    conditions: tuple[tuple[Path, Conjunct], ...] = ()
    computed: Mapping[int, Tree] = field(default_factory=dict)
    generators: tuple[Tree, ...] = ()

    def __add__(self, facts: Facts) -> Facts:
        return Facts(
            self.conditions + facts.conditions,
            {**self.computed, **facts.computed},
            self.generators + facts.generators,
        )


NO_FACTS = Facts()

Uses: TypeAlias = Mapping[Path, Sequence[Facts]]
"""The facts at each use of a source, by the source's path in the plan as written."""


SCALAR_UDFS = frozenset((LOGICAL + "BatchEvalPython", LOGICAL + "ArrowEvalPython"))
"""Operators that add results of Python functions to each row (``canPushThrough`` in
``Optimizer.scala``).
"""
_LIMITS = frozenset((LOGICAL + "LocalLimit", LOGICAL + "GlobalLimit", WINDOW_LIMIT))
_HELD = ALWAYS_PASSED | _LIMITS | {WINDOW, GENERATE}
"""Operators whose output rows each have the values of some input row."""


def facts_of(written: Node, optimized: Node, *, beside: bool) -> tuple[Uses, tuple[Node, ...]]:
    """Return the facts at each use of the sources of a plan, and the leaves of its optimized form
    that match no source by the numbers of their columns. Without ``beside``, or if a number means
    two columns, only a filter right above a source counts.
    """
    beside = beside and _each_made_once(optimized)
    owner = {n: leaf.path for leaf in walk(written) if not leaf.children for n in _numbers(leaf)}
    uses: dict[Path, list[Facts]] = {}
    others = []
    for leaf, near, far in _leaves(optimized):
        paths = {owner[n] for n in _numbers(leaf) if n in owner}
        if len(paths) != 1:
            others.append(leaf)
            continue
        uses.setdefault(paths.pop(), []).append(far if beside else near)
    return uses, tuple(others)


def facts_of_leaves(optimized: Node) -> Iterator[tuple[frozenset[int], Facts]]:
    """Yield the numbers of each leaf's columns, with all facts that may hold for its rows."""
    for leaf, _, far in _leaves(optimized):
        yield frozenset(_numbers(leaf)), far


def _leaves(root: Node) -> Iterator[tuple[Node, Facts, Facts]]:
    """Yield the leaves; one whose rows become several rows, once for each of these."""
    return _places(root, is_leaf, NO_FACTS, NO_FACTS, apart=True)


def facts_above(root: Node, wanted: Callable[[Node], bool]) -> tuple[tuple[Node, Facts], ...]:
    """Return the facts at the ``wanted`` operators of a plan that is deterministic as a whole.
    Returns nothing if a number means two columns.
    """
    if not _each_made_once(root):
        return ()
    return tuple((node, far) for node, _, far in _places(root, wanted, NO_FACTS, NO_FACTS))


def about(facts: Facts, columns: Collection[int]) -> list[tuple[Path, Conjunct]]:
    """Return the conditions on these columns, on the columns that they are compared with, and so
    on. Computed columns are expanded, and conditions that exceed the total size are left out.
    """
    parts = []
    for path, part in reversed(facts.conditions):
        tree = _expand_computed(part.tree, facts.computed)
        if tree is not None:
            parts.append((path, Conjunct(tree, part.route)))
    linked_columns = set(columns)
    relevant: list[tuple[Path, Conjunct]] = []
    size = 0
    while near := [(at, p) for at, p in parts if _is_linked(p.tree, linked_columns)]:
        parts = [(at, p) for at, p in parts if not _is_linked(p.tree, linked_columns)]
        for at, part in near:
            if size + len(part.tree) <= MAX_NODES:
                relevant.append((at, part))
                linked_columns |= references(part.tree)
                size += len(part.tree)
    return relevant


def _is_linked(condition: Tree, columns: Collection[int]) -> bool:
    """Whether a condition reads one of the columns, or none at all."""
    read = references(condition)
    return not read or not read.isdisjoint(columns)


def conjunction(parts: Sequence[Tree]) -> Tree:
    """Return the conjunction of one or more conditions."""
    joints = [{"class": AND, "num-children": 2, "left": 0, "right": 1}] * (len(parts) - 1)
    return [*joints, *(node for part in parts for node in part)]


def _expand_computed(tree: Tree, computed: Mapping[int, Tree]) -> Tree | None:
    """Return a condition with computed columns replaced by definitions; None if too large."""
    expanded: Tree = []
    pending = list(reversed(tree))
    while pending:
        node = pending.pop()
        definition = computed.get(expr_id(node)) if node["class"] == ATTRIBUTE else None
        if definition is None:
            expanded.append(node)
        else:
            pending.extend(reversed(definition))
        if len(expanded) + len(pending) > MAX_NODES:
            return None
    return expanded


def _places(
    node: Node, wanted: Callable[[Node], bool], near: Facts, far: Facts, *, apart: bool = False
) -> Iterator[tuple[Node, Facts, Facts]]:
    """Yield each ``wanted`` operator with the facts of the filter right above, and all facts.
    ``apart``: operators below an ``Expand`` come once for each of its projections.
    """
    go_on = partial(_places, wanted=wanted, apart=apart)
    if wanted(node):
        yield node, near, far
    if _is_passed(node):
        above = _own_facts(node) if node.kind == FILTER else NO_FACTS
        for own in _facts_of_projections(node) if apart else (_own_facts(node),):
            yield from go_on(node.children[0], near=above, far=far + own)
    elif node.kind == JOIN:
        for side, child in enumerate(node.children):
            # A row that loses its partner comes out as another row, so the facts above an outer
            # join do not apply to the side that has the partners.
            below = far if side in preserved_sides(node) else NO_FACTS
            if side in matched_sides(node):
                below = below + _own_facts(node) + _facts_of_output(node.children[1 - side])
            yield from go_on(child, near=NO_FACTS, far=below)
    elif is_partitioned(node):
        partition_facts = _facts_of_partitions(node, far)
        yield from go_on(node.children[0], near=NO_FACTS, far=partition_facts)
    else:
        for child in node.children:
            yield from go_on(child, near=NO_FACTS, far=NO_FACTS)


def _is_passed(node: Node) -> bool:
    """Whether each input row gives output rows, or none, independently of all other rows."""
    if node.kind == GENERATE:
        return node.fields["generator"][0]["class"] in OF_ONE_ROW
    return node.kind in ALWAYS_PASSED | SCALAR_UDFS or is_expansion(node)


def _facts_of_partitions(node: Node, facts: Facts) -> Facts:
    """Return the facts that hold for all rows of a window's partition or for none."""
    definitions = partition_columns(node)
    passed = []
    for path, part in facts.conditions:
        tree = _expand_computed(part.tree, facts.computed)
        if tree is not None and holds_for_partitions(node, tree, definitions):
            passed.append((path, part))
    return replace(facts, conditions=tuple(passed)) if passed else NO_FACTS


def _facts_of_output(node: Node) -> Facts:
    """Return what holds for each row out of an operator; for a group, for one of its rows."""
    if node.kind in _HELD or (node.kind == AGGREGATE and node.fields.get("groupingExpressions")):
        return _own_facts(node) + _facts_of_output(node.children[0])
    if node.kind != JOIN:
        return NO_FACTS
    if len(matched_sides(node)) == len(node.children):
        return sum(map(_facts_of_output, node.children), _own_facts(node))
    return sum((_facts_of_output(node.children[side]) for side in preserved_sides(node)), NO_FACTS)


def _each_made_once(root: Node) -> bool:
    """Whether each number belongs to one column, which one operator makes."""
    counts = Counter(
        number
        for node in walk(root)
        for number in {*(_aliases(node) if node.children else _numbers(node))}
    )
    return all(count == 1 for count in counts.values())


def _aliases(node: Node) -> Iterator[int]:
    yield from (expr_id(n) for n in nodes_inside(node.fields) if n["class"] == ALIAS)
    yield from (expr_id(t[0]) for t in node.fields.get("generatorOutput", []))
    yield from read_expanded_columns(node)


def _facts_of_projections(node: Node) -> tuple[Facts, ...]:
    """Return what an operator states about each of the rows that it makes of a row."""
    projections = read_projections(node)
    if not 0 < len(projections) <= MAX_PROJECTIONS:
        return (_own_facts(node),)
    return tuple(Facts(computed=columns) for columns in projections)


def _own_facts(node: Node) -> Facts:
    """Return the facts that an operator states about the rows that pass it."""
    parts = tuple(
        (node.path, Conjunct(inline_common_expressions(c.tree), c.route)) for c in conditions(node)
    )
    columns: list[Tree] = node.fields["projectList"] if node.kind == PROJECT else []
    computed = {
        expr_id(c[0]): inline_common_expressions(c[1:]) for c in columns if c[0]["class"] == ALIAS
    }
    if node.kind == GENERATE:
        return Facts(parts, read_generated_columns(node), (node.fields["generator"],))
    if node.kind in SCALAR_UDFS:
        results = map(expr_id, (tree[0] for tree in node.fields["resultAttrs"]))
        return Facts(parts, dict(zip(results, node.fields["udfs"], strict=True)))
    return Facts(parts, {**computed, **read_expanded_columns(node)})


def _numbers(leaf: Node) -> list[int]:
    return [expr_id(tree[0]) for tree in leaf.fields.get("output", [])]
