# SPDX-License-Identifier: Apache-2.0
"""Trusted. Conditions that are the same for all rows of a window's partition.

``year(d) = 2024`` above a window ``PARTITION BY year(d)`` takes whole partitions away, so each row
that it drops may be left out below the window, too. Spark moves such a condition only if it reads
columns of the partition, not if the partition is by an expression.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping

from presieve.backend.catalyst.boundary import LOGICAL, PROJECT
from presieve.backend.catalyst.operators import FILTER, WINDOW
from presieve.backend.catalyst.trees import (
    ALIAS,
    ATTRIBUTE,
    Node,
    Tree,
    end_of,
    expr_id,
    is_attribute,
    references,
)

WINDOW_LIMIT = LOGICAL + "WindowGroupLimit"
_SAME_ROWS = frozenset((WINDOW, WINDOW_LIMIT, FILTER))
"""Operators below a window that hand columns of the partition on."""

_EXACT_TYPES = frozenset(
    ("boolean", "byte", "short", "integer", "long", "string", "date", "timestamp", "timestamp_ntz")
)
"""Types of which equal values are one value. Equal doubles may be two zeros, and equal texts of a
collation two texts.
"""

_DECORATION = frozenset(("qualifier", "name", "metadata", "nullable"))
"""Fields of an attribute that do not say which column it is."""


def is_partitioned(node: Node) -> bool:
    """Whether an operator computes something for each partition of its rows."""
    return node.kind in (WINDOW, WINDOW_LIMIT)


def holds_for_partitions(node: Node, condition: Tree, definitions: Mapping[int, Tree]) -> bool:
    """Whether a condition above a window has one truth value for all rows of each partition.

    ``definitions`` are those of the columns by which the rows are divided
    (:func:`partition_columns`).
    """
    keys = _keys(node)
    known = {number: tree for number, tree in definitions.items() if number in keys}
    return bool(keys) and references(_with_names(condition, known)) <= keys.keys()


def partition_columns(node: Node) -> Mapping[int, Tree]:
    """Return the columns that the projection below a window computes, with their definitions."""
    below = node.children[0]
    while below.kind in _SAME_ROWS:
        below = below.children[0]
    columns: Iterable[Tree] = below.fields["projectList"] if below.kind == PROJECT else ()
    return {expr_id(c[0]): c[1:] for c in columns if c[0]["class"] == ALIAS}


def _keys(node: Node) -> Mapping[int, Tree]:
    """Return the columns of the partition whose equal values are one value."""
    trees: list[Tree] = node.fields.get("partitionSpec", [])
    return {
        expr_id(tree[0]): tree
        for tree in trees
        if is_attribute(tree) and tree[0]["dataType"] in _EXACT_TYPES
    }


def _with_names(condition: Tree, definitions: Mapping[int, Tree]) -> Tree:
    """Replace each definition in a condition by the column that it defines."""
    by_shape = {_shape(tree): number for number, tree in definitions.items()}
    named: Tree = []
    position = 0
    while position < len(condition):
        end = end_of(condition, position)
        number = by_shape.get(_shape(condition[position:end]))
        if number is None:
            named.append(condition[position])
            position += 1
        else:
            named.append(_attribute(number))
            position = end
    return named


def _attribute(number: int) -> dict[str, object]:
    return {"class": ATTRIBUTE, "num-children": 0, "exprId": {"id": number}}


def _shape(tree: Collection[Mapping[str, object]]) -> str:
    """Return a text that is the same for expressions that compute the same."""
    return repr([_essence(node) for node in tree])


def _essence(node: Mapping[str, object]) -> Mapping[str, object]:
    if node["class"] != ATTRIBUTE:
        return node
    return {name: value for name, value in node.items() if name not in _DECORATION}
