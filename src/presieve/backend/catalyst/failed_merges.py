# SPDX-License-Identifier: Apache-2.0
"""Trusted. Plans whose aggregates Spark tries to merge and fails on.

Spark merges plans that yield one row (``MergeSubplans``: scalar subqueries, and aggregates without
groups). Two equal plans become one. If two plans differ, Spark descends into both, and raises an
internal error at two different aggregates of Python functions
(``PlanMerger.supportedAggregateMerge``, since 4.2; for scalar subqueries since 4.0). So copies of
one plan that work as written fail once each of them has a pre-filter of its own.
"""

from __future__ import annotations

from collections.abc import Iterator

from presieve.backend.catalyst.boundary import AGGREGATE, PYTHON_UDAF
from presieve.backend.catalyst.trees import EXPRESSIONS, Node, nodes_inside, walk

_SCALAR_SUBQUERY = EXPRESSIONS + "ScalarSubquery"


def merged_plans(root: Node) -> tuple[tuple[int, ...], ...]:
    """Return the paths of plans that Spark may fail to merge once one of them has a pre-filter."""
    candidates = tuple(_candidates(root))
    return candidates if candidates and _apart(candidates) else ()


def _candidates(root: Node) -> Iterator[tuple[int, ...]]:
    """Yield the paths of plans that Spark may merge and that aggregate in Python. A plan in an
    expression counts as a child of the operator.
    """
    python = {n.path for n in walk(root) if n.kind == AGGREGATE and _calls(n)}
    for node in walk(root):
        if node.kind == AGGREGATE and not node.fields["groupingExpressions"]:
            if any(is_within(path, node.path) for path in python):
                yield node.path
        subqueries = (n for n in nodes_inside(node.fields) if n["class"] == _SCALAR_SUBQUERY)
        for number, subquery in enumerate(subqueries, len(node.children)):
            if any(n["class"] == PYTHON_UDAF for n in nodes_inside(subquery)):
                yield (*node.path, number)


def _calls(aggregate: Node) -> bool:
    """Whether the operator calls a Python aggregate."""
    outputs = aggregate.fields["aggregateExpressions"]
    return any(n["class"] == PYTHON_UDAF for tree in outputs for n in tree)


def is_within(path: tuple[int, ...], top: tuple[int, ...]) -> bool:
    """Whether the operator at ``path`` is the one at ``top``, or below it."""
    return path[: len(top)] == top


def _apart(paths: tuple[tuple[int, ...], ...]) -> bool:
    """Whether two of them are not nested: Spark never compares a plan with a part of itself."""
    deepest = max(paths, key=len)
    return not all(is_within(deepest, path) for path in paths)
