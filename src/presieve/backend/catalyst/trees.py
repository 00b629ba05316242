# SPDX-License-Identifier: Apache-2.0
"""Trusted. Catalyst's JSON of a plan as a tree of nodes.

``TreeNode.toJSON`` writes the nodes of a tree in pre-order, each with its class and the number of
its children. A field that holds expressions holds such lists, too.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain
from types import MappingProxyType
from typing import Any, Protocol, Self, TypeAlias, TypeVar

from msgspec import Struct

from presieve.errors import DeclineSignal
from presieve.semantics.types import SORTS, UNSUPPORTED, decimal_type
from presieve.sql.catalyst_tree import JSON_TYPES, composed_type
from presieve.sql.expressions import basics, predicates, textual
from presieve.sql.expressions.entry import PACKAGE

JsonNode: TypeAlias = dict[str, Any]
Tree: TypeAlias = list[JsonNode]
"""One expression: its nodes in pre-order."""

EXPRESSIONS = PACKAGE
AND, OR = predicates.AND.class_name, predicates.OR.class_name
ATTRIBUTE, LITERAL = basics.ATTRIBUTE.class_name, basics.LITERAL.class_name
ALIAS, CAST = basics.ALIAS.class_name, basics.CAST.class_name
LIKE = textual.LIKE.class_name

MAX_DEPTH = 300
TOO_DEEP = f"the plan has more than {MAX_DEPTH} operators in a row; cut it with localCheckpoint()"
"""The limit on the depth of plans and conjunctions that are read: reading is recursive, and
Python's stack is limited (a loop of ``withColumn`` makes plans of thousands of operators).
"""

SIMPLE_NAMES = {tag: name for tag, name in JSON_TYPES.items() if name in SORTS}
"""Maps ``DataType.json`` to ``DataType.simpleString`` for the supported types."""


@dataclass(frozen=True, slots=True)
class Node:
    """An operator of a plan. ``path`` holds the child numbers that lead to it from the root.
    ``parsed`` caches what is read from the fields, by name.
    """

    kind: str
    fields: JsonNode
    children: tuple[Node, ...]
    path: tuple[int, ...]
    parsed: dict[str, Any] = field(default_factory=dict, init=False, repr=False, compare=False)


class Conjunct(Struct, frozen=True):
    """A part of a condition. ``route`` holds the sides to take at each AND to reach it."""

    tree: Tree
    route: tuple[str, ...]


def parse_plan(text: str) -> Node:
    """Parse the tree of a plan. Raises :class:`DeclineSignal` if the text is not a tree."""
    flat = json.loads(text)
    node, end = _node(flat, 0, ())
    if end != len(flat):
        raise DeclineSignal("plan-shape", "the plan's JSON has more nodes than its tree")
    return node


def _node(flat: Tree, start: int, path: tuple[int, ...]) -> tuple[Node, int]:
    if len(path) > MAX_DEPTH:
        raise DeclineSignal("plan-depth", TOO_DEEP)
    json_node = flat[start]
    position = start + 1
    children = []
    for number in range(int(json_node["num-children"])):
        child, position = _node(flat, position, (*path, number))
        children.append(child)
    return Node(str(json_node["class"]), json_node, tuple(children), path), position


class _Parent(Protocol):
    @property
    def children(self) -> Sequence[Self]: ...


P = TypeVar("P", bound=_Parent)


def is_leaf(node: _Parent) -> bool:
    """Whether an operator is a source."""
    return not node.children


def walk(root: P) -> Iterator[P]:
    """Yield every node of the plan, parents first."""
    stack = [root]
    while stack:
        node = stack.pop()
        yield node
        stack.extend(reversed(node.children))


def nodes_above(root: Node, path: tuple[int, ...]) -> Iterator[Node]:
    """Iterate over the operators above the one at ``path``, from the root down."""
    for number in path:
        yield root
        root = root.children[number]


def node_at(node: P, path: Iterable[int]) -> P:
    """Return the node that a path of child numbers leads to."""
    for number in path:
        node = node.children[number]
    return node


_LEAVES = frozenset(("exprId", "dataType", "metadata", "schema"))
"""Fields without nodes inside, of which plans are full."""


def nodes_inside(value: object) -> Iterator[JsonNode]:
    """Yield the nodes in a field of the JSON, at any depth, including plans in expressions."""
    stack = [value]
    while stack:
        item = stack.pop()
        if isinstance(item, dict):
            if "class" in item:
                yield item
            parts = [v for k, v in item.items() if v and k not in _LEAVES]
            stack.extend([v for v in parts if isinstance(v, (dict, list))])
        elif isinstance(item, list):
            stack.extend(item)


def end_of(tree: Tree, start: int) -> int:
    """Return the position where the subtree that starts at ``start`` ends."""
    open_ = 1
    position = start
    while open_:
        open_ += int(tree[position]["num-children"]) - 1
        position += 1
    return position


_UNSTABLE = frozenset(("jvmId", "qualifier", "metadata", "origin", "resultId"))
"""Fields that may differ although nothing else does."""


def stable_text(value: object, numbers: Mapping[int, int] = MappingProxyType({})) -> str:
    """Return a part of the JSON as a text that is the same for the same part of another plan, where
    all expressions except columns get new numbers. ``numbers`` maps columns to those to write in
    their place.
    """
    return json.dumps(_stable(value, numbers), sort_keys=True, default=str)


def _stable(value: object, numbers: Mapping[int, int]) -> object:
    if isinstance(value, list):
        return [_stable(item, numbers) for item in value]
    if not isinstance(value, dict):
        return value
    if value.get("class") == ATTRIBUTE:
        number = expr_id(value)
        return {"column": numbers.get(number, number)}
    names = (k for k in value if k not in _UNSTABLE and k != "exprId")
    return {str(k): _stable(value[k], numbers) for k in names}


def split_conjuncts(tree: Tree) -> tuple[Conjunct, ...]:
    """Split a conjunction into its parts in order, unless it is nested too deeply."""
    ends = [0] * len(tree)
    for at in reversed(range(len(tree))):  # one pass: conjunctions are deep on their left
        end = at + 1
        for _ in range(int(tree[at]["num-children"])):
            end = ends[end]
        ends[at] = end
    return tuple(_conjuncts(tree, ends, 0, ()))


def _conjuncts(tree: Tree, ends: list[int], at: int, route: tuple[str, ...]) -> Iterator[Conjunct]:
    if tree[at]["class"] != AND or len(route) >= MAX_DEPTH:
        yield Conjunct(tree[at : ends[at]], route)
        return
    yield from _conjuncts(tree, ends, at + 1, (*route, "left"))
    yield from _conjuncts(tree, ends, ends[at + 1], (*route, "right"))


_WITH, _SHARED = basics.WITH.class_name, basics.COMMON_REFERENCE.class_name


def inline_common_expressions(tree: Tree) -> Tree:
    """Replace references to common expressions (``With``) by their definitions. Expressions with
    several definitions stay, because the JSON does not say which one a reference means. So does
    LIKE, whose escape characters are read from Spark's expression in the order in which they occur
    there.
    """
    for at, node in enumerate(tree):
        if node["class"] != _WITH or node["num-children"] != 2:
            continue
        middle, end = end_of(tree, at + 1), end_of(tree, at)
        inside, definition = tree[at + 1 : middle], tree[middle + 1 : end]
        if any(n["class"] in (_WITH, LIKE) for n in (*inside, *definition)):
            continue
        parts = (definition if n["class"] == _SHARED else [n] for n in inside)
        return inline_common_expressions(
            [*tree[:at], *(n for part in parts for n in part), *tree[end:]]
        )
    return tree


def expr_id(node: JsonNode) -> int:
    """Return the exprId of an attribute or alias."""
    return int(node["exprId"]["id"])


def strip_alias(column: Tree) -> Tree:
    """Return a projected column without its alias."""
    return column[1:] if column[0]["class"] == ALIAS else column


def is_attribute(tree: Tree) -> bool:
    """Whether the expression is an attribute and nothing else."""
    return len(tree) == 1 and tree[0]["class"] == ATTRIBUTE


def itself(value: Tree) -> JsonNode | None:
    """Return the attribute if an expression is one."""
    return value[0] if is_attribute(value) else None


def column_id(value: Tree) -> int | None:
    """Return the exprId of the attribute if an expression is one."""
    return expr_id(value[0]) if is_attribute(value) else None


def source_id(column: Tree) -> int | None:
    """Return the exprId of the attribute that a column passes on, perhaps under another name."""
    return column_id(strip_alias(column))


def make_tree(kind: str, *parts: Tree, **fields: object) -> Tree:
    """Return the expression of this class over its operands."""
    return [{"class": kind, "num-children": len(parts), **fields}, *chain.from_iterable(parts)]


def attribute_tree(number: int, name: str, type_: object, **fields: object) -> Tree:
    """Return a reference to the column with this exprId and this type, as JSON."""
    identity = {"name": name, "dataType": type_, "nullable": True, "exprId": {"id": number}}
    return make_tree(ATTRIBUTE, **{**identity, **fields})


def passed_on(columns: list[Tree], values: Mapping[int, set[int]]) -> dict[int, set[int]]:
    """Map attributes below a projection to the ``values`` of the columns that pass them on."""
    values_below: dict[int, set[int]] = {}
    for column in columns:
        below = itself(strip_alias(column))
        if below is not None:
            values_below.setdefault(expr_id(below), set()).update(
                values.get(expr_id(column[0]), set())
            )
    return values_below


def references(tree: Tree) -> frozenset[int]:
    """Return the attributes that an expression reads."""
    return frozenset(expr_id(n) for n in tree if n["class"] == ATTRIBUTE)


def _part_type(json_type: object, metadata: object) -> str:
    return simple_type(json_type, metadata).removeprefix(UNSUPPORTED)


def simple_type(json_type: object, metadata: object = None) -> str:
    """Return the simple name of a type; an unsupported type gets a name that is unsupported, too.

    CHAR, VARCHAR and collations are in a field's metadata, while the type itself says ``string``
    (Spark's ``StructField.json``). So a string with such metadata is not named ``string``.
    """
    if not isinstance(json_type, str):
        kind = json_type.get("type") if isinstance(json_type, dict) else None
        return UNSUPPORTED + (composed_type(json_type, _part_type) or str(kind))
    if isinstance(metadata, dict):
        if "__CHAR_VARCHAR_TYPE_STRING" in metadata:
            return str(metadata["__CHAR_VARCHAR_TYPE_STRING"])
        if "__COLLATIONS" in metadata:
            return "string collate " + "/".join(map(str, metadata["__COLLATIONS"].values()))
    if decimal_type(json_type):
        return json_type
    return SIMPLE_NAMES.get(json_type, UNSUPPORTED + json_type)
