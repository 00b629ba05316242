"""Trusted. Columns that are computed by the same expression as others.

Lemma: below an operator, let projections compute the columns ``a`` and ``b`` of the same row by the
same deterministic expression. Then they are equal in every row, and a partition by ``b`` is one by
``b`` and ``a``.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping

from presieve.backend.catalyst.boundary import PROJECT, PYTHON_UDF
from presieve.backend.catalyst.operators import ROW_BY_ROW, WINDOW
from presieve.backend.catalyst.trees import (
    ALIAS,
    ATTRIBUTE,
    Node,
    Tree,
    column_id,
    expr_id,
    stable_text,
)

MAX_NODES = 100
"""The most nodes of an expression that is compared."""


def equal_to_keys(node: Node, keys: Collection[int], columns: Collection[int]) -> Iterator[int]:
    """Yield those of the ``columns`` of ``node`` that are computed as one of the ``keys`` is, and
    are no keys themselves. All are numbers of attributes; the plan must be deterministic.
    """
    definitions = _definitions(node)
    of_keys = {_text(key, definitions) for key in keys if key in definitions} - {None}
    for column in columns:
        if column not in keys and column in definitions and _text(column, definitions) in of_keys:
            yield column


def _definitions(node: Node) -> Mapping[int, Tree]:
    """Return the expressions of all columns that projections compute, down to the first operator
    that does more than compute columns or drop rows.
    """
    definitions: dict[int, Tree] = {}
    while node.kind in ROW_BY_ROW or node.kind == WINDOW:
        for tree in node.fields["projectList"] if node.kind == PROJECT else ():
            if tree[0]["class"] == ALIAS:
                definitions[expr_id(tree[0])] = tree[1:]
        node = node.children[0]
    return definitions


def _text(column: int, definitions: Mapping[int, Tree]) -> str | None:
    """Write the expression of a column over the columns at the bottom; None if it is large, or is a
    column there itself. Python functions are left out: Spark may call them for each column.
    """
    tree = _expand(definitions[column], definitions)
    if column_id(tree) is not None or len(tree) > MAX_NODES:
        return None
    return None if any(n["class"] == PYTHON_UDF for n in tree) else stable_text(tree)


def _expand(tree: Tree, definitions: Mapping[int, Tree]) -> Tree:
    """Replace the columns in an expression by their own expressions, as long as it is small."""
    expanded: Tree = []
    for node in tree:
        definition = definitions.get(expr_id(node)) if node["class"] == ATTRIBUTE else None
        if definition is None or len(expanded) > MAX_NODES:
            expanded.append(node)
        else:
            expanded += _expand(definition, definitions)
    return expanded
