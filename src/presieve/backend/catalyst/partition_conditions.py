# SPDX-License-Identifier: Apache-2.0
"""Trusted. Conditions that are the same for all rows of a window's partition.

``year(d) = 2024`` above a window ``PARTITION BY year(d)`` takes whole partitions away, so each row
that it drops may be left out below the window, too. Spark moves such a condition only if it reads
columns of the partition, not if the partition is by an expression.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from presieve.backend.catalyst.boundary import LOGICAL, PROJECT
from presieve.backend.catalyst.operators import FILTER, WINDOW
from presieve.backend.catalyst.trees import (
    ALIAS,
    Node,
    Tree,
    attribute_tree,
    end_of,
    expr_id,
    is_attribute,
    references,
    simple_type,
    stable_text,
)
from presieve.semantics.values import INTEGERS

WINDOW_LIMIT = LOGICAL + "WindowGroupLimit"
_SAME_ROWS = frozenset((WINDOW, WINDOW_LIMIT, FILTER))
"""Operators below a window that hand columns of the partition on."""

_EXACT_TYPES = frozenset((*INTEGERS, "boolean", "string", "date", "timestamp", "timestamp_ntz"))
"""Types of which equal values are one value. Equal doubles may be two zeros, and equal texts of a
collation two texts.
"""


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
        if is_attribute(tree)
        and simple_type(tree[0]["dataType"], tree[0]["metadata"]) in _EXACT_TYPES
    }


def _with_names(condition: Tree, definitions: Mapping[int, Tree]) -> Tree:
    """Replace each definition in a condition by the column that it defines."""
    names = {stable_text(tree): number for number, tree in definitions.items()}
    named: Tree = []
    position = 0
    while position < len(condition) and names:
        end = end_of(condition, position)
        number = names.get(stable_text(condition[position:end]))
        if number is None:
            named.append(condition[position])
            position += 1
        else:
            named += attribute_tree(number, "", None)
            position = end
    return named + condition[position:]
