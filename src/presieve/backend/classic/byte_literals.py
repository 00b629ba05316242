"""Trusted. Literals of bytes, of which Catalyst's JSON shows the array's identity alone."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import TYPE_CHECKING

from presieve.backend.catalyst.trees import LITERAL, Node, nodes_inside, walk

if TYPE_CHECKING:
    from presieve.backend.classic.gateway import ClassicGateway
    from presieve.backend.gateway import Handle

MARK = '"[B@'
"""Where it stands in the JSON."""


def with_bytes(gateway: ClassicGateway, plan: Handle, root: Node) -> Node:
    """The plan's tree with the bytes of its literals, as ``0x00FF``. An identity that two arrays
    have stays.
    """
    shown: dict[str, set[str]] = {}
    for literal in _literals(gateway, plan):
        value = literal.value()
        if isinstance(value, bytes | bytearray):
            (node,) = json.loads(gateway.json(literal))
            shown.setdefault(str(node["value"]), set()).add(f"0x{bytes(value).hex()}")
    for operator in walk(root):
        for node in nodes_inside(operator.fields):
            known = shown.get(str(node.get("value"))) if _is_bytes(node) else None
            if known is not None and len(known) == 1:
                (node["value"],) = known
    return root


def _is_bytes(node: dict[str, object]) -> bool:
    return node["class"] == LITERAL and node["dataType"] == "binary"


def _literals(gateway: ClassicGateway, plan: Handle) -> Iterator[Handle]:
    operators = gateway.in_order(plan)
    for i in range(int(operators.size())):
        for expression in gateway.expressions(operators.apply(i)):
            yield from gateway.inside(expression, LITERAL)
