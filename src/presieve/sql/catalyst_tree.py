# SPDX-License-Identifier: Apache-2.0
"""Trusted. The tree of one Catalyst expression.

It is read from the output of ``TreeNode.toJSON`` of Spark 4.3: the nodes in pre-order, each with
``class``, ``num-children`` and its fields.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TypeAlias

from msgspec import Struct

from presieve.errors import DeclineSignal
from presieve.ir.terms import TRUE, Term
from presieve.semantics.types import decimal_type
from presieve.sql.expressions.catalogue import find_entry
from presieve.sql.expressions.entry import Entry
from presieve.sql.operands import Operand

MEANING = "presieve.Meaning"
"""Class of an expression that is not a Catalyst tree, because it is not analyzed here. ``term`` is
its meaning, or why the meaning is not known; ``ids`` maps its variables to the numbers of columns;
``total`` says whether it never raises; the children are the columns that it reads.
"""

JSON_TYPES = {
    "boolean": "boolean",
    "byte": "tinyint",
    "short": "smallint",
    "integer": "int",
    "long": "bigint",
    "double": "double",
    "string": "string",
    "binary": "binary",
    "date": "date",
    "timestamp": "timestamp",
    "timestamp_ntz": "timestamp_ntz",
    "void": "void",
}
"""From ``DataType.json`` to ``simpleString``. Strings with a collation have another name there."""


@dataclass(frozen=True, slots=True)
class ExprNode:
    """One node of the tree with its children and its fields."""

    name: str
    children: tuple[ExprNode, ...]
    fields: Mapping[str, object]

    @property
    def entry(self) -> Entry:
        """What the catalogue says of the class."""
        return find_entry(self.name)


class Typed(Struct, frozen=True):
    """An operand and its Spark type, as ``simpleString``."""

    operand: Operand
    type: str


@dataclass(slots=True)
class Conditions:
    """Conditions of sort Bool that translation finds besides an expression's value. ``safe``: each
    must hold, or something in the expression raises, wraps around or rounds. ``raised``: where one
    holds, the expression raises on purpose.
    """

    safe: list[Term] = field(default_factory=list)
    raised: list[Term] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class ReadingContext:
    """The meanings of names and of expressions (``rules``). ``common`` is the definition in
    the enclosing ``With``. ``found`` collects conditions under ``path``, the condition under which
    the expression is evaluated.
    """

    attributes: Mapping[int, Term]
    timezone: str
    rules: Mapping[Entry, Rule]
    common: Typed | None = None
    path: Term = TRUE
    found: Conditions = field(default_factory=Conditions)


Rule: TypeAlias = Callable[[ExprNode, ReadingContext], Typed]
"""The translation of a node that has as many children as its class."""


MAX_DEPTH = 100
"""The greatest depth of nested expressions."""


def shape(what: str) -> DeclineSignal:
    """The signal for a tree that is not as Spark 4.3 writes it."""
    return DeclineSignal("catalyst", f"Spark's expression has an unknown shape: {what}")


def build(tree: Sequence[Mapping[str, object]], at: int, depth: int) -> tuple[ExprNode, int]:
    """Build the node at ``at`` with all nodes below it; return also where the next one begins."""
    if at >= len(tree):
        raise shape("nodes are missing")
    if depth > MAX_DEPTH:
        raise DeclineSignal("sql-unsupported", "the expression is nested too deeply")
    fields = tree[at]
    name, count = fields.get("class"), fields.get("num-children")
    if not isinstance(name, str) or not isinstance(count, int) or count < 0:
        raise shape("a node has no class")
    children: list[ExprNode] = []
    at += 1
    for _ in range(count):
        child, at = build(tree, at, depth + 1)
        children.append(child)
    return ExprNode(name, tuple(children), fields), at


def whole_tree(tree: Sequence[Mapping[str, object]]) -> ExprNode:
    """Build the root of a tree. Raises :class:`DeclineSignal`."""
    node, end = build(tree, 0, 0)
    if end != len(tree):
        raise shape("nodes are left over")
    return node


def composed_type(json_type: object, part: Callable[[object, object], str]) -> str | None:
    """The simple name of an array, a map or a struct, given as JSON; None for other types. ``part``
    names the types of its parts, with a field's metadata.
    """
    match json_type:
        case {"type": "array", "elementType": element}:
            return f"array<{part(element, None)}>"
        case {"type": "map", "keyType": key, "valueType": value}:
            return f"map<{part(key, None)},{part(value, None)}>"
        case {"type": "struct", "fields": list() as fields}:
            parts = (f"{f['name']}:{part(f['type'], f.get('metadata'))}" for f in fields)
            return f"struct<{','.join(parts)}>"
    return None


def _part_type(json_type: object, metadata: object) -> str:
    """The name of a part's type; one that says nothing if it is not known."""
    plain = JSON_TYPES.get(json_type) if isinstance(json_type, str) else None
    known = None if metadata else plain or composed_type(json_type, _part_type)
    return known or "unknown"


def type_of(node: ExprNode) -> str:
    """The Spark type that a node declares. Raises :class:`DeclineSignal`."""
    declared = node.fields.get("dataType")
    if isinstance(declared, str):
        if declared in JSON_TYPES:
            return JSON_TYPES[declared]
        if decimal_type(declared):
            return declared
    composed = composed_type(declared, _part_type)
    if composed is not None:
        return composed
    raise DeclineSignal("column-type", f"values of type {declared} are not supported")


def one_type(operands: Sequence[Typed]) -> str:
    """The common type of all operands. Raises :class:`DeclineSignal`."""
    types = {f.type for f in operands}
    if len(types) != 1:
        raise shape(f"branches of the types {', '.join(sorted(types))}")
    return types.pop()
