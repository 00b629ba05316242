"""Trusted. Where filters meet boundaries in an analyzed plan, as paths of our own operators."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import takewhile

from presieve.backend.boundary import FLAT_MAP_GROUPS, LOGICAL, is_boundary
from presieve.backend.catalyst_json import Conjunct, Node, walk
from presieve.backend.catalyst_operators import FILTER, JOIN, PASSED, conditions, read_operator
from presieve.backend.definitions import (
    CTE_DEFINITION,
    fixed_definitions,
    only_references,
    referred,
)
from presieve.backend.gateway import Gateway, Handle
from presieve.errors import DeclineSignal
from presieve.plan.algebra import Operator, Path
from presieve.plan.pushdown import arrives, descend

UNSUPPORTED_BOUNDARIES = {
    LOGICAL + name
    for name in (
        "FlatMapGroupsInArrow",
        "FlatMapCoGroupsInPandas",
        "FlatMapCoGroupsInArrow",
        "MapInPandas",
        "MapInArrow",
    )
}
"""Operators with Python functions of which the report says that they are left alone."""


@dataclass(frozen=True, slots=True)
class Site:
    """A boundary with filters above it.

    ``number`` is its place among the plan's boundaries, outer ones first, which no filter that is
    put in or taken out changes. ``root`` is the whole plan, ``nodes`` are the operators above the
    boundary, from below to above, ``path`` the same in our algebra, and ``conjuncts`` what the
    filters among them consist of (empty for the others). Above a definition stands its only
    reference.
    """

    number: int
    boundary: Node
    nodes: tuple[Node, ...]
    path: Path
    conjuncts: tuple[tuple[Conjunct, ...], ...]
    deterministic: bool
    root: Node

    @property
    def filters(self) -> tuple[Node, ...]:
        """The filters among the nodes."""
        return tuple(n for n in self.nodes if n.kind == FILTER)

    @property
    def input(self) -> Node:
        """The node on whose output a pre-filter stands: of applyInPandas, below its projection."""
        child = self.boundary.children[0]
        return child.children[0] if self.boundary.kind == FLAT_MAP_GROUPS else child


def boundaries(root: Node) -> tuple[Node, ...]:
    """Everything in a plan that filters could meet, outer ones first."""
    return tuple(n for n in walk(root) if is_boundary(n) or n.kind in UNSUPPORTED_BOUNDARIES)


def find_sites(gateway: Gateway, root: Node, plan: Handle, timezone: str) -> tuple[Site, ...]:
    """Every boundary that a filter meets, outer ones first."""
    reader = _Reader(gateway, root, plan, timezone)
    sites = (reader.site(number, node) for number, node in enumerate(boundaries(root)))
    return tuple(s for s in sites if s is not None)


class _Reader:
    """What is read once of a plan with several boundaries."""

    def __init__(self, gateway: Gateway, root: Node, plan: Handle, timezone: str) -> None:
        self._gateway, self._root, self._plan, self._timezone = gateway, root, plan, timezone
        self._by_path = {n.path: n for n in walk(root)}
        self._fixed = fixed_definitions(gateway, root, plan)
        self._references = only_references(root)

    def site(self, number: int, boundary: Node) -> Site | None:
        """The boundary with what stands above it, or None where no filter does."""
        chain = self._chain(boundary)
        if not any(n.kind == FILTER or (n.kind == JOIN and conditions(n)) for n in chain):
            return None
        deterministic = self._is_fixed(boundary)
        if deterministic:
            chain = tuple(takewhile(self._is_fixed, chain))
        nodes: list[Node] = []
        path: list[Operator] = []
        for node, below in zip(chain, (boundary, *chain), strict=False):
            operator = self._operator(node, below)
            if operator is None:
                break
            nodes.append(node)
            path.append(operator)
        if not any(arrives(m) for m in descend(tuple(path))):
            return None
        conjuncts = tuple(conditions(n) if n.kind == FILTER else () for n in nodes)
        return Site(
            number, boundary, tuple(nodes), tuple(path), conjuncts, deterministic, self._root
        )

    def _chain(self, boundary: Node) -> tuple[Node, ...]:
        """The operators above a boundary as far as there is a rule for each."""
        nodes: list[Node] = []
        above = self._above(boundary)
        while above is not None and above.kind in PASSED:
            nodes.append(above)
            above = self._above(above)
        return tuple(nodes)

    def _above(self, node: Node) -> Node | None:
        """The operator that reads this one: of a definition, the one reference to it."""
        if node.kind == CTE_DEFINITION:
            return self._references.get(int(node.fields["id"]))
        return self._by_path[node.path[:-1]] if node.path else None

    def _is_fixed(self, node: Node) -> bool:
        """Whether neither the operator nor anything below it is non-deterministic."""
        deterministic = self._gateway.deterministic(self._gateway.node(self._plan, node.path))
        return deterministic and referred(node) <= self._fixed

    def _operator(self, node: Node, below: Node) -> Operator | None:
        plan, inside = (self._gateway.node(self._plan, n.path) for n in (node, below))
        try:
            return read_operator(self._gateway, node, plan, (below, inside), self._timezone)
        except DeclineSignal:
            return None
