"""Trusted. Where filters meet boundaries in an analyzed plan, as paths of our own operators."""

from __future__ import annotations

from dataclasses import dataclass

from presieve.backend.boundary import FLAT_MAP_GROUPS, LOGICAL, PROJECT, is_boundary
from presieve.backend.catalyst_json import (
    ALIAS,
    ATTRIBUTE,
    Conjunct,
    Node,
    Tree,
    expr_id,
    references,
    simple_type,
    split_conjuncts,
    walk,
)
from presieve.backend.definitions import fixed_definitions, referred
from presieve.backend.gateway import Gateway, Handle
from presieve.errors import Declined
from presieve.ir.terms import Term
from presieve.plan.algebra import (
    Alias,
    Attribute,
    Column,
    Expr,
    Filter,
    Operator,
    Path,
    Project,
    variable_of,
)
from presieve.sql.catalyst import expression

FILTER = LOGICAL + "Filter"
SUBQUERY_ALIAS = LOGICAL + "SubqueryAlias"
VIEW = LOGICAL + "View"

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
    filters among them consist of (empty for the others).
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
    by_path = {n.path: n for n in walk(root)}
    fixed = fixed_definitions(gateway, root, plan)
    found = []
    for number, node in enumerate(boundaries(root)):
        chain = _chain(node, by_path)
        if not any(n.kind == FILTER for n in chain):
            continue
        deterministic = gateway.deterministic(gateway.node(plan, node.path))
        deterministic = deterministic and referred(node) <= fixed
        nodes = _deterministic(gateway, plan, chain) if deterministic else chain
        if any(n.kind == FILTER for n in nodes):
            found.append(_site(root, number, node, nodes, timezone, deterministic))
    return tuple(found)


def _chain(boundary: Node, by_path: dict[tuple[int, ...], Node]) -> tuple[Node, ...]:
    """The operators above a boundary as far as there is a rule for each."""
    nodes: list[Node] = []
    path = boundary.path
    while path:
        path = path[:-1]
        if by_path[path].kind not in (FILTER, PROJECT, SUBQUERY_ALIAS, VIEW):
            break
        nodes.append(by_path[path])
    return tuple(nodes)


def _deterministic(gateway: Gateway, plan: Handle, nodes: tuple[Node, ...]) -> tuple[Node, ...]:
    """The longest beginning of the chain without a non-deterministic expression in it."""
    if not nodes or gateway.deterministic(gateway.node(plan, nodes[-1].path)):
        return nodes
    return _deterministic(gateway, plan, nodes[:-1])


def _site(
    root: Node,
    number: int,
    boundary: Node,
    nodes: tuple[Node, ...],
    timezone: str,
    deterministic: bool,
) -> Site:
    conjuncts = tuple(
        split_conjuncts(n.fields["condition"]) if n.kind == FILTER else () for n in nodes
    )
    path = tuple(_operator(n, c, timezone) for n, c in zip(nodes, conjuncts, strict=True))
    return Site(number, boundary, nodes, path, conjuncts, deterministic, root)


def _operator(node: Node, conjuncts: tuple[Conjunct, ...], timezone: str) -> Operator:
    if node.kind == FILTER:
        return Filter(tuple(read_expr(c.tree, timezone) for c in conjuncts))
    if node.kind == PROJECT:
        return Project(tuple(_column(t, timezone) for t in node.fields["projectList"]))
    return Alias()


def _column(tree: Tree, timezone: str) -> Column:
    """A column of a projection: an attribute, or an alias of an expression."""
    value = tree[1:] if tree[0]["class"] == ALIAS else tree
    plain = len(value) == 1 and value[0]["class"] == ATTRIBUTE
    return Column(expr_id(tree[0]), read_expr(value, timezone), plain)


def read_expr(tree: Tree, timezone: str) -> Expr:
    """An expression over attribute variables."""
    attributes = {}
    for node in tree:
        if node["class"] == ATTRIBUTE:
            attribute = Attribute(
                expr_id(node),
                str(node["name"]),
                simple_type(node["dataType"], node.get("metadata")),
                bool(node["nullable"]),
            )
            variable = variable_of(attribute)
            if variable is not None:
                attributes[attribute.id] = variable
    term: Term | Declined = expression(tree, attributes, timezone)
    return Expr(term, references(tree))
