"""Trusted. Catalyst's JSON of a plan as a tree of nodes.

``TreeNode.toJSON`` writes the nodes of a tree in pre-order, each with its class and the number of
its children; a field that holds expressions holds such lists again.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol, Self, TypeAlias, TypeVar

from presieve.errors import DeclineSignal
from presieve.semantics.types import SORTS, UNSUPPORTED, decimal_type
from presieve.sql.beginnings import LIKE
from presieve.sql.catalyst_tree import JSON_TYPES

JsonNode: TypeAlias = dict[str, Any]
Tree: TypeAlias = list[JsonNode]
"""One expression: its nodes in pre-order."""

EXPRESSIONS = "org.apache.spark.sql.catalyst.expressions."
AND = EXPRESSIONS + "And"
OR = EXPRESSIONS + "Or"
ATTRIBUTE = EXPRESSIONS + "AttributeReference"
LITERAL = EXPRESSIONS + "Literal"
ALIAS = EXPRESSIONS + "Alias"
CAST = EXPRESSIONS + "Cast"

MAX_DEPTH = 300
TOO_DEEP = f"the plan has more than {MAX_DEPTH} operators in a row; cut it with localCheckpoint()"
"""How deep plans and conjunctions are read: the reading is recursive, and Python's stack is not
endless (a loop of ``withColumn`` makes plans of thousands of operators).
"""

SIMPLE_NAMES = {tag: name for tag, name in JSON_TYPES.items() if name in SORTS}
"""From ``DataType.json`` to ``DataType.simpleString``, for the types that are supported."""


@dataclass(frozen=True, slots=True)
class Node:
    """An operator of a plan: ``path`` are the child numbers that lead to it from the root.
    ``parsed`` keeps what is read of the fields, each by its name, for whoever asks again.
    """

    kind: str
    fields: JsonNode
    children: tuple[Node, ...]
    path: tuple[int, ...]
    parsed: dict[str, Any] = field(default_factory=dict, init=False, repr=False, compare=False)


@dataclass(frozen=True, slots=True)
class Conjunct:
    """A part of a condition: ``route`` are the sides to take at each AND to come to it."""

    tree: Tree
    route: tuple[str, ...]


def parse_plan(text: str) -> Node:
    """The tree of a plan. Raises :class:`DeclineSignal` where the text is none."""
    flat = json.loads(text)
    node, end = _node(flat, 0, ())
    if end != len(flat):
        raise DeclineSignal("plan-shape", "the plan's JSON has more nodes than its tree")
    return node


def _node(flat: Tree, start: int, path: tuple[int, ...]) -> tuple[Node, int]:
    if len(path) > MAX_DEPTH:
        raise DeclineSignal("plan-depth", TOO_DEEP)
    here = flat[start]
    position = start + 1
    children = []
    for number in range(int(here["num-children"])):
        child, position = _node(flat, position, (*path, number))
        children.append(child)
    return Node(str(here["class"]), here, tuple(children), path), position


class _Parent(Protocol):
    @property
    def children(self) -> Sequence[Self]: ...


P = TypeVar("P", bound=_Parent)


def is_leaf(node: _Parent) -> bool:
    """Whether an operator is a source."""
    return not node.children


def walk(root: P) -> Iterator[P]:
    """Every node of the plan, parents first."""
    stack = [root]
    while stack:
        node = stack.pop()
        yield node
        stack.extend(reversed(node.children))


def node_at(node: P, path: Iterable[int]) -> P:
    """The node to which a path of numbers of children leads."""
    for number in path:
        node = node.children[number]
    return node


_LEAVES = frozenset(("exprId", "dataType", "metadata", "schema"))
"""Fields in which there are no nodes, of which plans are full."""


def nodes_inside(value: object) -> Iterator[JsonNode]:
    """The nodes in a field of the JSON, at any depth: of expressions, and of plans in these."""
    stack = [value]
    while stack:
        here = stack.pop()
        if isinstance(here, dict):
            if "class" in here:
                yield here
            parts = [v for k, v in here.items() if v and k not in _LEAVES]
            stack.extend([v for v in parts if isinstance(v, (dict, list))])
        elif isinstance(here, list):
            stack.extend(here)


def end_of(tree: Tree, start: int) -> int:
    """Where the subtree that starts at ``start`` ends."""
    open_ = 1
    position = start
    while open_:
        open_ += int(tree[position]["num-children"]) - 1
        position += 1
    return position


_UNSTABLE = frozenset(("jvmId", "qualifier", "metadata", "origin", "resultId"))
"""Fields that differ where nothing else does."""


def stable_text(value: object) -> str:
    """A part of the JSON as a text that is the same for the same part of another plan: expressions
    but columns get new numbers there.
    """
    return json.dumps(_stable(value), sort_keys=True, default=str)


def _stable(value: object) -> object:
    if isinstance(value, list):
        return [_stable(item) for item in value]
    if not isinstance(value, dict):
        return value
    if value.get("class") == ATTRIBUTE:
        return {"column": expr_id(value)}
    kept = (k for k in value if k not in _UNSTABLE and k != "exprId")
    return {str(k): _stable(value[k]) for k in kept}


def split_conjuncts(tree: Tree) -> tuple[Conjunct, ...]:
    """The parts of a conjunction, from left to right; what is nested too deeply is one part."""
    ends = [0] * len(tree)
    for at in reversed(range(len(tree))):  # once for all: conjunctions are deep on their left
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


_WITH, _SHARED = EXPRESSIONS + "With", EXPRESSIONS + "CommonExpressionRef"


def inlined(tree: Tree) -> Tree:
    """An expression with what its parts share in place of the references to it, of which the JSON
    does not say to which of several they are: those stay. So does LIKE, whose escape characters are
    read from Spark's expression in their order there.
    """
    for at, node in enumerate(tree):
        if node["class"] != _WITH or node["num-children"] != 2:
            continue
        middle, end = end_of(tree, at + 1), end_of(tree, at)
        inside, definition = tree[at + 1 : middle], tree[middle + 1 : end]
        if any(n["class"] in (_WITH, LIKE) for n in (*inside, *definition)):
            continue
        parts = (definition if n["class"] == _SHARED else [n] for n in inside)
        return inlined([*tree[:at], *(n for part in parts for n in part), *tree[end:]])
    return tree


def expr_id(node: JsonNode) -> int:
    """The number of an attribute or alias."""
    return int(node["exprId"]["id"])


def unnamed(column: Tree) -> Tree:
    """What a projected column is, without the name that it gets."""
    return column[1:] if column[0]["class"] == ALIAS else column


def itself(value: Tree) -> JsonNode | None:
    """The attribute that an expression is, if it is one."""
    return value[0] if len(value) == 1 and value[0]["class"] == ATTRIBUTE else None


def passed_on(columns: list[Tree], here: Mapping[int, set[int]]) -> dict[int, set[int]]:
    """By the attributes below a projection, what stands in ``here`` at the columns that pass them
    on as they are.
    """
    found: dict[int, set[int]] = {}
    for column in columns:
        below = itself(unnamed(column))
        if below is not None:
            found.setdefault(expr_id(below), set()).update(here.get(expr_id(column[0]), set()))
    return found


def references(tree: Tree) -> frozenset[int]:
    """The attributes that an expression reads."""
    return frozenset(expr_id(n) for n in tree if n["class"] == ATTRIBUTE)


def simple_type(json_type: object, metadata: object = None) -> str:
    """The simple name of a type; types that are not supported get a name that is not either.

    CHAR, VARCHAR and collations are in a field's metadata, where the type itself says ``string``
    (Spark's ``StructField.json``); so a string with any metadata of that kind is not ``string``.
    """
    if not isinstance(json_type, str):
        kind = json_type.get("type") if isinstance(json_type, dict) else None
        return UNSUPPORTED + str(kind)
    if isinstance(metadata, dict):
        if "__CHAR_VARCHAR_TYPE_STRING" in metadata:
            return str(metadata["__CHAR_VARCHAR_TYPE_STRING"])
        if "__COLLATIONS" in metadata:
            return "string collate " + "/".join(map(str, metadata["__COLLATIONS"].values()))
    if decimal_type(json_type):
        return json_type
    return SIMPLE_NAMES.get(json_type, UNSUPPORTED + json_type)
