# SPDX-License-Identifier: Apache-2.0
"""Trusted. Restore the values that Catalyst's JSON leaves out: bytes (the JSON shows only the
identity of the array), the values of a pivot, the members of an ``InSet``, the escape characters of
``LIKE``, and some projections of an ``Expand``.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from datetime import date
from math import isfinite
from typing import TYPE_CHECKING

from presieve.backend.catalyst.boundary import PIVOT_FIRST, is_pivot, is_pivoted
from presieve.backend.catalyst.expand import EXPAND
from presieve.backend.catalyst.trees import (
    LITERAL,
    JsonNode,
    Node,
    Tree,
    end_of,
    nodes_inside,
    walk,
)
from presieve.backend.classic.py4j_errors import each
from presieve.sql.expressions import predicates, textual

if TYPE_CHECKING:
    from presieve.backend.classic.jvm_plans import JvmPlans
    from presieve.backend.gateway import Handle

_BYTES = '"[B@'
"""Prefix of a byte array in the JSON."""


def with_unshown(gateway: JvmPlans, plan: Handle, root: Node, text: str) -> Node:
    """Fill in the values that are missing from ``text``, the JSON of a plan; return the plan's
    tree.
    """
    if _BYTES in text:
        _fill_bytes(gateway, plan, root)
    if PIVOT_FIRST in text:
        _fill_pivots(gateway, plan, root)
    if _IN_SET in text:
        _fill_sets(gateway, plan, root)
    if _LIKE in text:
        _fill_escapes(gateway, plan, root)
    if EXPAND in text:
        _fill_projections(gateway, plan, root)
    return root


def _fill_bytes(gateway: JvmPlans, plan: Handle, root: Node) -> None:
    """Write byte literals as ``0x00FF``. An identity that two different values share stays."""
    shown: dict[str, set[str]] = {}
    for literal in _literals(gateway, plan):
        value = literal.value()
        if isinstance(value, bytes | bytearray):
            (node,) = json.loads(gateway.json(literal))
            shown.setdefault(str(node["value"]), set()).add(f"0x{bytes(value).hex()}")
    for operator in walk(root):
        for node in nodes_inside(operator.fields):
            texts = shown.get(str(node.get("value"))) if _is_bytes(node) else None
            if texts is not None and len(texts) == 1:
                (node["value"],) = texts


def _is_bytes(node: JsonNode) -> bool:
    return bool(node["class"] == LITERAL and node["dataType"] == "binary")


def _literals(gateway: JvmPlans, plan: Handle) -> Iterator[Handle]:
    for operator in each(gateway.in_order(plan)):
        for expression in gateway.expressions(operator):
            yield from gateway.inside(expression, LITERAL)


def _fill_projections(gateway: JvmPlans, plan: Handle, root: Node) -> None:
    """Write the projections of an ``Expand``: Spark 3.5 writes none, and others none of UNPIVOT."""

    def is_incomplete(node: Node) -> bool:
        return node.kind == EXPAND and not node.fields.get("projections")

    for node, operator in _operators(gateway, plan, root, is_incomplete):
        node.fields["projections"] = [
            [json.loads(gateway.json(expression)) for expression in each(projection)]
            for projection in each(operator.projections())
        ]


def _operators(
    gateway: JvmPlans, plan: Handle, root: Node, wanted: Callable[[Node], bool]
) -> Iterator[tuple[Node, Handle]]:
    """Yield the ``wanted`` operators of the tree with those of the plan; nothing if the tree has
    another number of operators than the plan.
    """
    operators, nodes = gateway.in_order(plan), list(walk(root))
    if int(operators.size()) == len(nodes):
        yield from ((n, operators.apply(i)) for i, n in enumerate(nodes) if wanted(n))


def _fill_pivots(gateway: JvmPlans, plan: Handle, root: Node) -> None:
    """Write the values as literals of the pivot column's type, if all of them have such a form."""
    for node, operator in _operators(gateway, plan, root, is_pivot):
        for place, tree in enumerate(node.fields["aggregateExpressions"]):
            if is_pivoted(tree):
                output = operator.aggregateExpressions().apply(place)
                values = output.child().aggregateFunction().pivotColumnValues()
                _fill_pivot(tree[2], tree[3].get("dataType"), values)


def _fill_pivot(node: JsonNode, type_: object, values: Handle) -> None:
    try:
        texts = [_text(type_, value) for value in each(values)]
    except ValueError:
        return
    literal = {"class": LITERAL, "num-children": 0, "dataType": type_}
    node["pivotColumnValues"] = [{**literal, "value": text} for text in texts]


_LIKE = textual.LIKE.class_name
_IN_SET, _IN = predicates.IN_SET.class_name, predicates.IN.class_name
MOST_MEMBERS = 256
"""Sets with more members are left as they are, because the condition grows with its list."""


def _fill_escapes(gateway: JvmPlans, plan: Handle, root: Node) -> None:
    """Write the escape character of each ``LIKE``."""

    def likes_of(node: Node) -> list[JsonNode]:
        return [n for n in nodes_inside(node.fields) if n["class"] == _LIKE]

    for node, operator in _operators(gateway, plan, root, lambda n: bool(likes_of(n))):
        parts = gateway.expressions(operator)
        inside = [like for part in parts for like in gateway.inside(part, _LIKE)]
        escapes = {str(like.escapeChar()) for like in inside}
        for like in likes_of(node) if len(escapes) == 1 else ():
            (like["escapeChar"],) = escapes


def _fill_sets(gateway: JvmPlans, plan: Handle, root: Node) -> None:
    """Write each ``InSet`` as the ``In`` that it was, if all members can be written as literals.
    Spark makes an ``InSet`` of a long list (``OptimizeIn``).
    """

    def has_sets(node: Node) -> bool:
        return any(True for _ in _places(node.fields))

    for node, operator in _operators(gateway, plan, root, has_sets):
        places = list(_places(node.fields))
        parts = gateway.expressions(operator)
        sets = [expression for part in parts for expression in gateway.inside(part, _IN_SET)]
        if len(sets) == len(places):
            for (tree, at), in_set in reversed(list(zip(places, sets, strict=True))):
                _fill_set(gateway, tree, at, in_set)


def _places(value: object) -> Iterator[tuple[Tree, int]]:
    """Find each ``InSet`` in the fields of an operator: the tree that holds it and its index
    there.
    """
    if isinstance(value, dict):
        for part in value.values():
            yield from _places(part)
    elif isinstance(value, list):
        for at, part in enumerate(value):
            if isinstance(part, dict) and part.get("class") == _IN_SET:
                yield value, at
            yield from _places(part)


def _fill_set(gateway: JvmPlans, tree: Tree, at: int, in_set: Handle) -> None:
    end = end_of(tree, at)
    if json.loads(gateway.json(in_set)) != tree[at:end] or in_set.hset().size() > MOST_MEMBERS:
        return
    type_ = json.loads(str(in_set.child().dataType().json()))
    try:
        texts = [_text(type_, member) for member in each(in_set.hset().toSeq())]
    except ValueError:
        return
    literal = {"class": LITERAL, "num-children": 0, "dataType": type_}
    tree[end:end] = [{**literal, "value": text} for text in texts]
    members = list(range(1, len(texts) + 1))
    tree[at] = {"class": _IN, "num-children": len(texts) + 1, "value": 0, "list": members}


_EPOCH = date(1970, 1, 1).toordinal()


def _text(type_: object, value: Handle | None) -> str | None:
    """Convert a value from Catalyst's representation to the text of a literal in the JSON. Raises
    :class:`ValueError` if the value has no such text or is of another type.
    """
    match type_:
        case _ if value is None:
            return None
        case "string":
            return bytes(value.getBytes()).decode()
        case "byte" | "short" | "integer" | "long":
            return str(int(value))
        case "boolean":
            return str(value).lower()
        case "date" if 0 < int(value) + _EPOCH <= date.max.toordinal():
            return date.fromordinal(int(value) + _EPOCH).isoformat()
        case "double" if isfinite(value):
            return repr(float(value))
        case str() if type_.startswith("decimal("):
            return str(value.toString())
    raise ValueError(type_)
