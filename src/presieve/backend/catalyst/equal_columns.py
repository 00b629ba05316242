# SPDX-License-Identifier: Apache-2.0
"""Trusted. Columns that are computed by the same expression as others.

Lemma: below an operator, let projections compute the columns ``a`` and ``b`` of the same row by the
same deterministic expression. Then they are equal in every row, and a partition by ``b`` is one by
``b`` and ``a``.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping

from msgspec import Struct

from presieve.backend.catalyst.boundary import PROJECT, PYTHON_UDF
from presieve.backend.catalyst.operators import ROW_BY_ROW, WINDOW
from presieve.backend.catalyst.trees import (
    ALIAS,
    ATTRIBUTE,
    Node,
    Tree,
    column_id,
    expr_id,
    nodes_inside,
    stable_text,
)
from presieve.backend.gateway import PlanView


class _Definition(Struct, frozen=True):
    """A column of a projection, by its position there, and its expression."""

    project: Node
    position: int
    tree: Tree

    @property
    def text(self) -> str:
        """The expression without what differs between equal ones; empty for those left out."""
        python = any(n["class"] == PYTHON_UDF for n in self.tree)  # may be called for each column
        return "" if python or column_id(self.tree) is not None else stable_text(self.tree)


def equal_to_keys(
    view: PlanView, node: Node, keys: Collection[int], columns: Collection[int]
) -> Iterator[int]:
    """Yield those of the ``columns`` of ``node`` that are computed as one of the ``keys`` is, and
    are no keys themselves. All are numbers of attributes; the plan must be deterministic.
    """
    definitions = _read_definitions(node)
    by_text = {definitions[k].text: definitions[k] for k in keys if k in definitions}
    by_text.pop("", None)
    for column in columns if by_text else ():
        definition = definitions.get(column)
        key = by_text.get(definition.text) if definition is not None else None
        if key is not None and column not in keys and _is_same(view, definition, key):
            yield column


def _is_same(view: PlanView, first: _Definition | None, second: _Definition) -> bool:
    """Ask Spark, since its JSON lacks some fields of some expressions."""
    if first is None:
        return False
    both = ((view.handle(d.project), d.position) for d in (first, second))
    return view.gateway.computes_same(*both)


def _read_definitions(node: Node) -> Mapping[int, _Definition]:
    """Return the columns that projections compute, by number, down to the first operator that does
    more than compute columns or drop rows. None at all if one of the numbers is also that of a
    column below its projection: then it means two things.
    """
    definitions: dict[int, _Definition] = {}
    while node.kind in ROW_BY_ROW or node.kind == WINDOW:
        for position, tree in enumerate(node.fields["projectList"] if node.kind == PROJECT else ()):
            if tree[0]["class"] != ALIAS:
                continue
            if expr_id(tree[0]) in definitions:
                return {}
            definitions[expr_id(tree[0])] = _Definition(node, position, tree[1:])
        if not _attributes_in(node).isdisjoint(definitions):
            return {}
        node = node.children[0]
    return definitions if _attributes_in(node).isdisjoint(definitions) else {}


def _attributes_in(node: Node) -> frozenset[int]:
    """Return the attributes that an operator reads, or that a leaf gives."""
    nodes = nodes_inside(node.fields)
    return frozenset(expr_id(n) for n in nodes if n["class"] == ATTRIBUTE)
