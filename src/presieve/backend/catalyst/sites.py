# SPDX-License-Identifier: Apache-2.0
"""Trusted. Where filters meet boundaries in an analyzed plan, as paths of our own operators."""

from __future__ import annotations

from collections.abc import Mapping, Set
from functools import cached_property
from itertools import takewhile

from msgspec import Struct

from presieve.backend.catalyst.boundary import (
    COGROUPS,
    FLAT_MAPS,
    PROJECT,
    is_boundary,
    is_hopeless,
    is_pivot,
    made_of_rows,
    simple_kind,
    table_function,
)
from presieve.backend.catalyst.definitions import find_references, fixed_definitions
from presieve.backend.catalyst.failed_merges import is_within, merged_plans
from presieve.backend.catalyst.operators import (
    ALWAYS_PASSED,
    FILTER,
    JOIN,
    RULES,
    OperatorAbove,
    conditions,
    equal_columns,
    known_of_side,
    outputs,
    read_operator,
)
from presieve.backend.catalyst.table_functions import table_of
from presieve.backend.catalyst.trees import OR, Conjunct, Node, expr_id, references, walk
from presieve.backend.gateway import PlanView
from presieve.errors import Declined, DeclineSignal
from presieve.plan.algebra import Attribute, Filter, Operator, Path, Project, Reordered, struct_id
from presieve.plan.liveness import visible
from presieve.plan.reaching_conjuncts import Moved, arrives, descend
from presieve.sql.catalyst import CALLED


class Site(Struct, frozen=True):
    """A boundary with filters above it.

    ``number`` is its position among the plan's boundaries, outer ones first; adding or removing a
    filter does not change it. ``root`` is the whole plan. ``nodes`` are the operators above the
    boundary, from below to above, ``path`` holds the same operators in our algebra, and
    ``conjuncts`` the conjuncts of each filter among them (empty for other operators). ``arriving``
    are those conjuncts, and parts of join conditions, that are about the boundary's rows.
    ``merged``: Spark may fail to merge plans once a pre-filter is below the boundary
    (``failed_merges.py``). ``below``: the input of the last of several projections that form one
    boundary.
    """

    number: int
    boundary: Node
    nodes: tuple[Node, ...]
    path: Path
    conjuncts: tuple[tuple[Conjunct, ...], ...]
    arriving: tuple[Moved, ...]
    deterministic: bool
    root: Node
    merged: bool = False
    below: Node | None = None

    @property
    def filters(self) -> tuple[Node, ...]:
        """The filters among the nodes that are about the boundary's rows."""
        positions = dict.fromkeys(m.operator for m in self.arriving)
        return tuple(self.nodes[i] for i in positions if self.nodes[i].kind == FILTER)

    @property
    def input(self) -> Node:
        """The node on whose output a pre-filter stands: for groups, below their projection; for a
        pivot, below both aggregates; for two inputs, the first.
        """
        if self.below is not None:
            return self.below
        if table_function(self.boundary) is not None:
            return table_of(self.boundary)
        child = self.boundary.children[0]
        of_two = simple_kind(self.boundary) in FLAT_MAPS | COGROUPS or is_pivot(self.boundary)
        return child.children[0] if of_two else child


def boundaries(root: Node) -> tuple[Node, ...]:
    """Return all operators of a plan that filters could meet, outer ones first."""
    return tuple(n for n in walk(root) if is_boundary(n))


def candidates(root: Node, *, skip_hopeless: bool) -> dict[int, Node]:
    """Return the boundaries by number; ``skip_hopeless`` omits those past which nothing moves."""
    every = enumerate(boundaries(root))
    return {i: n for i, n in every if not (skip_hopeless and is_hopeless(n))}


def find_sites(
    view: PlanView, timezone: str, numbered: Mapping[int, Node], *, skip_hopeless: bool
) -> tuple[Site, ...]:
    """Find boundaries that a filter meets; ``skip_hopeless`` omits some that none is about."""
    if not numbered:
        return ()
    reader = _Reader(view, timezone, skip_hopeless=skip_hopeless)
    sites = (reader.site(number, node) for number, node in numbered.items())
    return tuple(s for s in sites if s is not None)


def read_conjuncts_above(
    view: PlanView, timezone: str, boundary: Node
) -> tuple[tuple[Node, ...], tuple[Moved, ...]]:
    """Return the deterministic operators above a boundary for which there are rules, from below to
    above, and the conjuncts of their conditions that are about the boundary's rows, each with the
    number of its operator.
    """
    return _Reader(view, timezone, skip_hopeless=False).conjuncts_above(boundary)


def _meet(reads: Set[int], available: Set[int]) -> bool:
    """Whether an expression of these columns meets the available ones; constants meet all."""
    return not reads or not available.isdisjoint(reads)


def _reads(moved: Moved, computed: Set[int]) -> bool:
    """Whether a conjunct may read one of these columns."""
    if isinstance(moved.term, Declined) and not moved.reads:
        return True
    return not computed.isdisjoint(map(struct_id, moved.reads))


class _Reader:
    """Reads a plan with several boundaries, each part once."""

    def __init__(self, view: PlanView, timezone: str, *, skip_hopeless: bool) -> None:
        gateway, root, plan = view.gateway, view.root, view.plan
        self._view, self._timezone = view, timezone
        self._skip_hopeless = skip_hopeless
        self._by_path = {n.path: n for n in walk(root)}
        self._shared = gateway.refers(plan) and bool(find_references(root))
        self._fixed = fixed_definitions(view) if self._shared else frozenset()
        # Most plans are deterministic as a whole, so that one question is enough.
        self._all_fixed = gateway.deterministic(plan)
        self._simple: dict[tuple[int, ...], Operator | None] = {}
        self._read: dict[tuple[int, ...], list[tuple[int, frozenset[int]]]] = {}

    def conjuncts_above(self, boundary: Node) -> tuple[tuple[Node, ...], tuple[Moved, ...]]:
        """Return what :func:`read_conjuncts_above` does."""
        if not self._is_fixed(boundary):
            return (), ()
        nodes, path = self._path(boundary, tuple(takewhile(self._is_fixed, self._chain(boundary))))
        return nodes, tuple(filter(arrives, descend(path)))

    def site(self, number: int, boundary: Node) -> Site | None:
        """Return the boundary with the operators above it, or None if no filter is about it."""
        chain = self._chain(boundary)
        if not any(n.kind == FILTER or (n.kind == JOIN and conditions(n)) for n in chain):
            return None
        deterministic = self._is_fixed(boundary)
        if deterministic:
            chain = tuple(takewhile(self._is_fixed, chain))
        available = self._available(boundary)
        computed = made_of_rows(boundary) or available
        if self._skip_hopeless and not self._may_meet(boundary, available, computed, chain):
            return None
        nodes, path = self._path(boundary, chain)
        arriving = tuple(filter(arrives, descend(path)))
        if boundary.kind == PROJECT:
            # In a chain of functions, the boundary of the last one decides. Spark itself moves
            # conjuncts that read none of their results.
            arriving = tuple(
                m for m in arriving if not isinstance(m.term, Declined) or m.term.reason != CALLED
            )
            if not any(_reads(m, computed) for m in arriving):
                return None
        if not arriving:
            return None
        conjuncts = tuple(conditions(n) if n.kind == FILTER else () for n in nodes)
        return Site(
            number,
            boundary,
            nodes,
            path,
            conjuncts,
            arriving,
            deterministic,
            self._view.root,
            merged=any(is_within(boundary.path, top) for top in self._plans_that_merge),
        )

    def _available(self, boundary: Node) -> frozenset[int]:
        return frozenset(outputs(boundary) or (a.id for a in self._attributes(boundary)))

    def _path(self, boundary: Node, chain: tuple[Node, ...]) -> tuple[tuple[Node, ...], Path]:
        """Return the operators of the chain that are understood, and their meanings."""
        nodes: list[Node] = []
        path: list[Operator] = []
        available = self._available(boundary)
        for node, below in zip(chain, (boundary, *chain), strict=False):
            operator = self._operator(node, below, available)
            if operator is None:
                break
            nodes.append(node)
            path.append(operator)
            available = visible((operator,), available)
        return tuple(nodes), tuple(path)

    @cached_property
    def _plans_that_merge(self) -> tuple[tuple[int, ...], ...]:
        view = self._view
        return merged_plans(view.root) if view.gateway.calls_python(view.plan) else ()

    def _may_meet(
        self, boundary: Node, available: Set[int], computed: Set[int], chain: tuple[Node, ...]
    ) -> bool:
        """Whether a conjunct above may read only columns that derive from ``available`` and at
        least one that derives from ``computed``; other conjuncts pass a projection without us.
        Decides this without reading the meaning of expressions. Returns False only if there is no
        such conjunct.
        """
        for node, below in zip(chain, (boundary, *chain), strict=False):
            if node.kind == JOIN:
                child = below.path[-1]
                if any(_meet(read, computed) for _, read in known_of_side(node, child, available)):
                    return True
                equal = equal_columns(node, child, available)
                available = available | equal.keys()
                computed = computed | {n for n, own in equal.items() if expr_id(own) in computed}
            elif node.kind == FILTER:
                # A part of a disjunction that reads nothing else may move on.
                reads = (r for either, r in self._reads(node) if either or r <= available)
                if any(_meet(r, computed) for r in reads):
                    return True
            elif node.kind == PROJECT:
                columns = self._reads(node)
                computed = {number for number, reads in columns if _meet(reads, computed)}
                available = {number for number, reads in columns if reads <= available}
            elif node.kind not in ALWAYS_PASSED:
                return True
        return False

    def _reads(self, node: Node) -> list[tuple[int, frozenset[int]]]:
        """Return the attributes that each part of a condition reads, with a flag for disjunctions;
        or the attributes that each column of a projection reads, with the column's number.
        """
        if node.path not in self._read:
            if node.kind == PROJECT:
                columns_read = [(expr_id(t[0]), references(t)) for t in node.fields["projectList"]]
            else:
                columns_read = [
                    (int(c.tree[0]["class"] == OR), references(c.tree)) for c in conditions(node)
                ]
            self._read[node.path] = columns_read
        return self._read[node.path]

    def _chain(self, boundary: Node) -> tuple[Node, ...]:
        """Return the operators above a boundary as long as there is a rule for each."""
        nodes: list[Node] = []
        above = self._above(boundary)
        while above is not None and above.kind in RULES:
            nodes.append(above)
            above = self._above(above)
        return tuple(nodes)

    def _above(self, node: Node) -> Node | None:
        """Return the operator that reads this one. A definition (WITH) that stays a definition has
        none: several operators read it, and the meaning of its number must not change.
        """
        return self._by_path[node.path[:-1]] if node.path else None

    def _is_fixed(self, node: Node) -> bool:
        """Whether the operator and everything below it is deterministic."""
        if not self._all_fixed:
            if not self._view.gateway.deterministic(self._view.handle(node)):
                return False
        return not self._shared or find_references(node) <= self._fixed

    def _attributes(self, node: Node) -> tuple[Attribute, ...]:
        return self._view.gateway.attributes(self._view.handle(node))

    def _operator(self, node: Node, below: Node, available: frozenset[int]) -> Operator | None:
        if node.path in self._simple:
            return self._simple[node.path]
        try:
            operator = read_operator(
                OperatorAbove(node, below, available, self._attributes, self._timezone)
            )
        except DeclineSignal:
            return None
        if isinstance(operator, Filter | Project | Reordered):
            self._simple[node.path] = operator  # the same from every boundary
        return operator
