# SPDX-License-Identifier: Apache-2.0
"""Untrusted. Windows and limits whose result depends on the order of peers (rows that are equal in
the ORDER BY). Spark does not promise an order of peers, and fewer rows below may change it.
"""

from __future__ import annotations

from collections.abc import Iterator

from msgspec import Struct

from presieve.backend.catalyst.native_aggregates import AGGREGATE_EXPRESSION
from presieve.backend.catalyst.operators import SUBQUERY_ALIAS, VIEW, WINDOW
from presieve.backend.catalyst.trees import (
    ATTRIBUTE,
    EXPRESSIONS,
    Node,
    Tree,
    expr_id,
    itself,
    simple_type,
    stable_text,
    walk,
)
from presieve.backend.catalyst.windows import (
    ORDERLESS,
    aggregate_call,
    function_of,
    holds_peers,
    input_of,
    is_windowed,
    names_of,
    sort_orders,
)
from presieve.errors import DeclineSignal
from presieve.semantics.types import decimal_type
from presieve.semantics.values import INT_RANGES

_RANKS = tuple(EXPRESSIONS + name for name in ("Rank", "DenseRank", "PercentRank", "CumeDist"))
"""Window functions that give the same value for all peers."""

_SUMS = ("sum", "avg")
"""Aggregates that ignore the order of rows for whole numbers, but not for doubles."""


class PeerOrder(Struct, frozen=True):
    """A window or a limit that depends on the order of peers.

    Attributes:
        operator: The functions of the window, or ``"LIMIT"``.
        order: The columns that are named in its ORDER BY; empty if it has none.
    """

    operator: str
    order: tuple[str, ...]

    def __str__(self) -> str:
        peers = f"peers (rows with the same {', '.join(self.order)})" if self.order else "rows"
        return (
            f"The result of {self.operator} depends on the order of {peers}, which Spark does not"
            " promise and which may differ in the rewritten plan"
        )


def changed_peer_orders(written: Node, rewritten: Node) -> tuple[PeerOrder, ...]:
    """Return the windows and limits of the ``written`` plan that depend on the order of peers and
    whose input differs in the ``rewritten`` plan.
    """
    dependent = [node for node in walk(written) if _depends_on_peers(node)]
    if not dependent:
        return ()
    unchanged_texts = {_text(node) for node in walk(rewritten) if is_windowed(node)}
    return tuple(
        dict.fromkeys(_peer_order(n) for n in dependent if _text(n) not in unchanged_texts)
    )


def _peer_order(node: Node) -> PeerOrder:
    named = (str(n["name"]) for tree in sort_orders(node) for n in tree if n["class"] == ATTRIBUTE)
    return PeerOrder(names_of(node) or "LIMIT", tuple(dict.fromkeys(named)))


def _depends_on_peers(node: Node) -> bool:
    if not is_windowed(node) or _is_total(node):
        return False
    return node.kind != WINDOW or any(map(_reads_order, node.fields["windowExpressions"]))


def _is_total(node: Node) -> bool:
    """Whether peers are equal in all columns, so that their order is invisible."""
    below = input_of(node)
    listed = below.fields.get("projectList")
    if listed is None:
        return False
    partition = node.fields.get("partitionSpec", []) if node.kind == WINDOW else []
    keys = (itself(tree) for tree in (*partition, *(tree[1:] for tree in sort_orders(node))))
    sorted_by = {expr_id(key) for key in keys if key is not None}
    return {expr_id(tree[0]) for tree in listed} <= sorted_by


def _reads_order(tree: Tree) -> bool:
    """Whether a function of a window may give another result for another order of peers."""
    try:
        function, spec = function_of(tree)
    except DeclineSignal:
        return True
    if function[0]["class"] in _RANKS:
        return False
    if function[0]["class"] != AGGREGATE_EXPRESSION or not holds_peers(spec):
        return True
    name = aggregate_call(function).function
    return name not in ORDERLESS and not (name in _SUMS and _is_whole(function[2]))


def _is_whole(argument: dict[str, object]) -> bool:
    """Whether an argument is a column of whole numbers."""
    if argument["class"] != ATTRIBUTE:
        return False
    type_ = simple_type(argument["dataType"])
    return type_ in INT_RANGES or decimal_type(type_) is not None


def _text(node: Node) -> str:
    """Return the operator and everything below it as text, without names that no result shows."""
    return "\n".join(_operators(node))


def _operators(node: Node) -> Iterator[str]:
    for operator in walk(node):
        if operator.kind not in (SUBQUERY_ALIAS, VIEW):
            yield f"{len(operator.children)} {stable_text(operator.fields)}"
