"""Trusted. The conditions under which Spark's optimized plan has a use for a row of a source.

A filter right above a source stays there: rows for which it is not true are not read by anything
else. A source whose rows are used at several places is needed by each of them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TypeAlias

from presieve.backend.catalyst.operators import FILTER
from presieve.backend.catalyst.trees import Node, expr_id, walk

Path: TypeAlias = tuple[int, ...]

Uses: TypeAlias = Mapping[Path, Sequence[Node | None]]
"""The filter at each use of a source, by its place in the plan as written; None: any row."""


def conditions_of(written: Node, optimized: Node) -> tuple[Uses, tuple[Node, ...]]:
    """The uses of the sources of a plan, and the leaves of its optimized form that are none of
    these, by the numbers of their columns.
    """
    owner = {n: leaf.path for leaf in _leaves(written) for n in _numbers(leaf)}
    uses: dict[Path, list[Node | None]] = {}
    others = []
    for leaf, above in _with_parents(optimized):
        paths = {owner[n] for n in _numbers(leaf) if n in owner}
        if len(paths) != 1:
            others.append(leaf)
            continue
        filter_ = above if above is not None and above.kind == FILTER else None
        uses.setdefault(paths.pop(), []).append(filter_)
    return uses, tuple(others)


def _leaves(root: Node) -> list[Node]:
    return [node for node in walk(root) if not node.children]


def _numbers(leaf: Node) -> list[int]:
    return [expr_id(tree[0]) for tree in leaf.fields.get("output", [])]


def _with_parents(root: Node, above: Node | None = None) -> list[tuple[Node, Node | None]]:
    if not root.children:
        return [(root, above)]
    return [found for child in root.children for found in _with_parents(child, root)]
