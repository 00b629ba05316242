"""Trusted. The tree of one expression of Catalyst.

It is read from what ``TreeNode.toJSON`` of Spark 4.3 writes: the nodes in pre-order, each with
``class``, ``num-children`` and its fields.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TypeAlias

from presieve.errors import DeclineSignal
from presieve.ir.terms import TRUE, Term
from presieve.semantics.types import decimal_type
from presieve.sql.operands import Operand

PACKAGE = "org.apache.spark.sql.catalyst.expressions."

MEANING = "presieve.Meaning"
"""Of an expression that is no tree of Catalyst's, since it is not analyzed here: ``term`` is what
it means, or why that is not known, ``ids`` the columns that its variables are, by number, ``total``
whether it never raises, and the children are what it reads.
"""

ONE_OF = PACKAGE + "presieve.OneOf"
"""Stands for a column that has the value of one of the children, which one is not known."""

BETWEEN = PACKAGE + "presieve.Between"
"""Stands for a column that has a value between those of the two children, or one of theirs, neither
of which is NULL.
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
    """One node of the tree with its children and the rest of its fields."""

    name: str
    children: tuple[ExprNode, ...]
    fields: Mapping[str, object]


@dataclass(frozen=True, slots=True)
class Typed:
    """An operand and its Spark type, as ``simpleString``."""

    operand: Operand
    type: str


@dataclass(slots=True)
class Conditions:
    """What is found about an expression besides its value, as conditions of sort Bool. ``safe``:
    each must hold, or something in it raises, wraps around or rounds. ``raised``: where one holds,
    the expression raises on purpose.
    """

    safe: list[Term] = field(default_factory=list)
    raised: list[Term] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class Context:
    """What names mean, and what classes of Catalyst do (``rules``). ``common`` is what the
    enclosing ``With`` defines. ``found`` takes what holds where ``path`` does, which is where the
    expression is evaluated.
    """

    attributes: Mapping[int, Term]
    timezone: str
    rules: Mapping[str, Rule]
    common: Typed | None = None
    path: Term = TRUE
    found: Conditions = field(default_factory=Conditions)


Rule: TypeAlias = tuple[int | None, Callable[[ExprNode, Context], Typed]]
"""How many children a class has (None: some), and what it means."""


MAX_DEPTH = 100
"""How deep expressions may nest."""


def shape(what: str) -> DeclineSignal:
    """Of a tree that is not as Spark 4.3 writes it."""
    return DeclineSignal("catalyst", f"Spark's expression has an unknown shape: {what}")


def build(tree: Sequence[Mapping[str, object]], at: int, depth: int) -> tuple[ExprNode, int]:
    """The node at ``at`` with all below it, and where the next one begins."""
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


def type_of(node: ExprNode) -> str:
    """The Spark type that a node declares. Raises :class:`DeclineSignal`."""
    declared = node.fields.get("dataType")
    if isinstance(declared, str):
        if declared in JSON_TYPES:
            return JSON_TYPES[declared]
        if decimal_type(declared):
            return declared
    raise DeclineSignal("column-type", f"values of type {declared} are not supported")


def one_type(operands: Sequence[Typed]) -> str:
    """The type that all of them have. Raises :class:`DeclineSignal`."""
    types = {f.type for f in operands}
    if len(types) != 1:
        raise shape(f"branches of the types {', '.join(sorted(types))}")
    return types.pop()
