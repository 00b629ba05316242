# SPDX-License-Identifier: Apache-2.0
"""Untrusted. What operators make of one row, to decide whether each input row matters.

A filter on a source is minimal if every row that passes it changes the result of some tables.
Usually the table with that row alone suffices, with the other sources empty: there is a result row
if each operator on the way gives at least one row for one row, and there is none without it if each
gives no row for none.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TypeAlias

from presieve.backend.catalyst.boundary import AGGREGATE, PROJECT, simple_kind
from presieve.backend.catalyst.operators import FILTER, ROW_BY_ROW, SUBQUERY_ALIAS, VIEW
from presieve.backend.catalyst.trees import Node, source_id

Reason: TypeAlias = str
"""Why an operator's input row may not matter; empty if every row matters."""

Effect: TypeAlias = Callable[[Node, int], Reason]
"""Returns the reason for rows of the child with this number."""

PARTNERS = "rows that find no partner in a join are kept"
PLACES = "which rows are taken depends on other rows"
LATER = "a filter above {} stays there and may drop what comes of a row"
CALLED = "what {} does with a row is not known"


def _always(_: Node, __: int) -> Reason:
    return ""


def _because(reason: Reason) -> Effect:
    return lambda _, __: reason


def _aggregate(node: Node, _: int) -> Reason:
    if node.fields["groupingExpressions"]:
        return ""
    return "an aggregate without GROUP BY has a result of no rows, too"


def _filter(node: Node, _: int) -> Reason:
    below = node.children[0]
    while below.kind in ROW_BY_ROW and len(below.children) == 1:
        below = below.children[0]
    return LATER.format(simple_kind(below)) if below.children else ""


def _join(node: Node, child: int) -> Reason:
    name = str(node.fields["joinType"].get("object")).rstrip("$").rsplit(".", 1)[-1]
    return "" if child in _KEPT_SIDES.get(name, ()) else PARTNERS


_KEPT_SIDES = {"LeftOuter": (0,), "RightOuter": (1,), "FullOuter": (0, 1), "LeftAnti": (0,)}
"""The sides of joins whose rows are all in the result if the other side is empty."""

_EFFECTS: Mapping[str, Effect] = {
    **dict.fromkeys(("Project", "SubqueryAlias", "View", "Union", "Sort", "Window"), _always),
    **dict.fromkeys(("Repartition", "RepartitionByExpression", "RebalancePartitions"), _always),
    **dict.fromkeys(("ArrowEvalPython", "BatchEvalPython", "ResolvedHint", "Distinct"), _always),
    **dict.fromkeys(("Expand", "Deduplicate"), _always),
    **dict.fromkeys(("GlobalLimit", "LocalLimit", "Offset", "Tail", "Sample"), _because(PLACES)),
    "Generate": _because("a row from which nothing is generated is kept"),
    "Aggregate": _aggregate,
    "Filter": _filter,
    "Join": _join,
}
"""The effect of each operator. For other operators it is not known what they do with a row."""


def reasons(root: Node, path: Sequence[int]) -> tuple[Reason, ...]:
    """Return why rows of a leaf of an optimized plan may not matter; empty if each of them does."""
    possible_reasons = []
    node = root
    for child in path:
        name = simple_kind(node)
        effect = _EFFECTS.get(name, _because(CALLED.format(name)))
        possible_reasons.append(effect(node, child))
        node = node.children[child]
    return tuple(dict.fromkeys(filter(None, reversed(possible_reasons))))


def is_one_boundary(root: Node) -> bool:
    """Whether a plan filters what one operator makes of all rows of its only source, and shows all
    that the operator computes. Then a row that changes the operator's result changes the plan's.
    """
    above, node = _plain(root, (FILTER,))
    if len(node.children) != 1:
        return False
    if not _shows_all(above, node):
        return False
    _, leaf = _plain(node.children[0], ())
    return not leaf.children


def _plain(node: Node, kinds: Sequence[str]) -> tuple[list[Node], Node]:
    """Return the operators from here that select columns or are of these kinds, and the next."""
    passed = []
    while node.kind in (SUBQUERY_ALIAS, VIEW, *kinds) or _selects(node):
        passed.append(node)
        (node,) = node.children
    return passed, node


def _selects(node: Node) -> bool:
    return node.kind == PROJECT and None not in map(source_id, node.fields["projectList"])


def _shows_all(above: Sequence[Node], node: Node) -> bool:
    """Whether every projection above has at least as many different columns as the operator."""
    outputs = node.fields.get("aggregateExpressions" if node.kind == AGGREGATE else "output")
    if outputs is None:
        return False
    lists = (n.fields["projectList"] for n in above if n.kind == PROJECT)
    return all(len({source_id(t) for t in entries}) >= len(outputs) for entries in lists)
