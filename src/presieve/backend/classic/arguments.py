"""Trusted. What aggregate functions compute of a row, as columns of their own.

Lemma: ``aggregate max(e) R = aggregate max(y) (project [R*, y := e] R)`` with a new attribute y,
and likewise for each function, and wherever else e stands in the aggregate: e is deterministic and
computed for each row, as before, with the same errors. Nothing is gained by this in itself. A proof
about the function knows e no better than any column, and so need not read it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence, Set
from typing import TypeAlias

from presieve.backend.catalyst.boundary import AGGREGATE, PROJECT
from presieve.backend.catalyst.native_aggregates import NativeInput, argument, native_call
from presieve.backend.catalyst.operators import conditions
from presieve.backend.catalyst.trees import Node, Tree, expr_id, references, walk
from presieve.backend.classic.gateway import ClassicGateway
from presieve.backend.classic.names import unqualified
from presieve.backend.classic.parts import Parts
from presieve.backend.classic.separate import distinct, replaced, tree_of
from presieve.backend.filtered.sides import columns_of
from presieve.backend.gateway import Handle
from presieve.errors import DeclineSignal
from presieve.ir.walk import computes

_OPAQUE = ("Lambda", "OuterReference", "Subquery", "Exists", "ListQuery", "PythonUD")
"""Parts of the names of expressions that stay where they are."""

Computed: TypeAlias = Mapping[tuple[int, ...], Sequence[Tree]]
"""By the path of an aggregate, the arguments that become columns."""


def computed_arguments(
    gateway: ClassicGateway, plan: Handle, root: Node, timezone: str
) -> Computed:
    """The arguments of aggregate functions that proofs do not read, or know little of, if a
    condition is about what the function gives.
    """
    found = {}
    asked = frozenset(_asked(root))
    for node in walk(root):
        if node.kind == AGGREGATE and any(map(_is_computed, _arguments(node, asked))):
            attributes = gateway.attributes(gateway.node(plan, (*node.path, 0)))
            types = {a.id: a.type for a in attributes}
            source = NativeInput(columns_of(attributes)[0], types, timezone)
            found[node.path] = [a for a in _arguments(node, asked) if _is_unread(a, source)]
    return {path: trees for path, trees in found.items() if trees}


def _asked(root: Node) -> Iterator[int]:
    """The columns of which a condition may speak, as they are or as they are computed with."""
    for node in walk(root):
        columns: list[Tree] = node.fields["projectList"] if node.kind == PROJECT else []
        for tree in (*(c.tree for c in conditions(node)), *columns):
            if len(tree) > 1:
                yield from references(tree)


def _arguments(node: Node, asked: Set[int]) -> Iterator[Tree]:
    for output in node.fields["aggregateExpressions"]:
        call = native_call(output)
        if call.function and not call.condition and expr_id(output[0]) in asked:
            yield from call.arguments


def _is_computed(tree: Tree) -> bool:
    names = [str(n["class"]).rpartition(".")[2] for n in tree]
    plain = len(tree) == 1 or not references(tree)
    return not plain and not any(part in name for name in names for part in _OPAQUE)


def _is_unread(tree: Tree, source: NativeInput) -> bool:
    if not _is_computed(tree):
        return False
    try:
        return computes(argument(tree, source))
    except DeclineSignal:
        return True


def with_columns(
    parts: Parts, plan: Handle, path: tuple[int, ...], wanted: Sequence[Tree]
) -> Handle:
    """The plan with these arguments of an aggregate as columns of a projection below it."""
    gateway = parts.gateway

    def build(node: Handle, left: tuple[int, ...]) -> Handle:
        below = gateway.children(node)
        if not left:
            return _separated(parts, node, below[0], wanted)
        below[left[0]] = build(below[left[0]], left[1:])
        return gateway.with_children(node, below)

    return build(plan, path)


def _separated(parts: Parts, node: Handle, child: Handle, wanted: Sequence[Tree]) -> Handle:
    found = parts.expressions(node)
    handles = [a for e in found for a in _handles(parts, e)]
    moved = distinct(parts, [a for a in handles if tree_of(parts, a) in wanted])
    taken = {str(tree_of(parts, a)[0]["name"]).lower() for a in parts.output(child)}
    columns = [parts.alias(e, _name(parts, e, taken)) for e in moved]
    known = list(zip(moved, map(parts.attribute, columns), strict=True))
    below = parts.project([*parts.output(child), *columns], child)
    return parts.rebuilt(node, [replaced(parts, e, known) for e in found], below)


def _handles(parts: Parts, output: Handle) -> list[Handle]:
    """The arguments of the function that is called in an output of an aggregate."""
    call = native_call(tree_of(parts, output))
    if not call.function or call.condition:
        return []
    (whole,) = parts.gateway.children(output)
    return list(parts.gateway.children(parts.gateway.children(whole)[0]))


def _name(parts: Parts, expression: Handle, taken: set[str]) -> str:
    """As it is written, unlike all others."""
    first = unqualified(parts.gateway, expression, tree_of(parts, expression))
    name, number = first, 1
    while name.lower() in taken:
        number += 1
        name = f"{first} {number}"
    taken.add(name.lower())
    return name
