# SPDX-License-Identifier: Apache-2.0
"""Trusted. A resolved plan of Spark Connect: what the server's analyzer makes of the client's
messages, in Catalyst's words as far as they are understood.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeAlias

from presieve.backend.catalyst.struct_fields import GET, struct_fields
from presieve.backend.catalyst.trees import (
    JsonNode,
    Node,
    Tree,
    attribute_tree,
    make_tree,
    simple_type,
)
from presieve.errors import Declined
from presieve.plan.algebra import Attribute
from presieve.records import replace

Relation: TypeAlias = Any
"""A ``spark.connect.Relation``."""
Expression: TypeAlias = Any
"""A ``spark.connect.Expression``."""

FieldJson: TypeAlias = Mapping[str, Any]
"""The JSON of a ``StructField``."""


class Schema:
    """The columns of a relation. The server is asked once, when they are needed."""

    __slots__ = ("_ask", "_fields")

    def __init__(self, ask: Callable[[], Sequence[FieldJson]]) -> None:
        """Store ``ask``, which asks the server."""
        self._ask = ask
        self._fields: Sequence[FieldJson] | None = None

    @property
    def fields(self) -> Sequence[FieldJson]:
        """The columns in order."""
        if self._fields is None:
            self._fields = self._ask()
        return self._fields


UNKNOWN = "*"
"""Stands for the name of a relation that only the server knows."""


@dataclass(frozen=True, slots=True)
class ResolvedColumn:
    """A column of an operator's output: a number that stands for it as Catalyst's ``exprId`` does,
    and where its type is found. ``qualifier`` is the name of the relation if it has one, or
    ``UNKNOWN``. For a field of a struct, ``whole`` is the struct's column and ``position`` the
    field's position.
    """

    id: int
    name: str
    schema: Schema
    position: int
    qualifier: str = ""
    whole: ResolvedColumn | None = None

    @property
    def json(self) -> FieldJson:
        """The ``StructField`` as JSON."""
        if self.whole is None:
            return self.schema.fields[self.position]
        # The field is NULL where the struct is.
        inside: FieldJson = self.whole.json["type"]["fields"][self.position]
        return {**inside, "nullable": True}

    @property
    def attribute(self) -> Attribute:
        """The column as an attribute of the rest of the backend."""
        json = self.json
        kind = simple_type(json["type"], json.get("metadata"))
        return Attribute(self.id, self.name, kind, bool(json["nullable"]))

    @property
    def tree(self) -> Tree:
        """A reference to the column, as Catalyst writes it."""
        if self.whole is not None:
            return make_tree(GET, self.whole.tree, ordinal=self.position)
        fields = {"nullable": self.json["nullable"], "metadata": self.json.get("metadata")}
        return attribute_tree(self.id, self.name, self.json["type"], **fields)


def inside(column: ResolvedColumn) -> dict[str, ResolvedColumn]:
    """Return the fields of a struct by name; nothing if two names differ only in case."""
    fields = struct_fields(column.id, column.name, column.json["type"])
    if len({name.upper().lower() for name, _ in fields}) != len(fields):
        return {}
    return {
        name: ResolvedColumn(attribute.id, attribute.name, column.schema, place, whole=column)
        for place, (name, attribute) in enumerate(fields)
    }


@dataclass(frozen=True, slots=True)
class Condition:
    """The condition of a filter, as a message and as a tree; for a conjunction also its sides."""

    expression: Expression
    tree: Tree
    sides: tuple[Condition, Condition] | None = None


@dataclass(frozen=True, slots=True, eq=False)
class Operator:
    """An operator of a resolved plan.

    ``fields`` are the fields of Catalyst's JSON that the backend reads. ``relation`` is the
    message, or None if several operators stand for one message and this is not the uppermost of
    them. ``slots`` name the message's parts that hold the children. ``unread`` says what is not
    understood about the operator, and ``steady`` whether all its expressions are known to be
    deterministic. ``renumbered`` maps columns of the child that have another number here to that
    number.
    """

    kind: str
    fields: JsonNode
    children: tuple[Operator, ...]
    output: tuple[ResolvedColumn, ...]
    relation: Relation | None
    slots: tuple[str, ...] = ("input",)
    unread: Declined | None = None
    steady: bool = True
    condition: Condition | None = None
    renumbered: Mapping[int, int] = field(default_factory=dict)

    @property
    def message(self) -> Relation:
        """The message of the operator. If it has none, that of its first child."""
        return self.relation if self.relation is not None else self.children[0].message

    @property
    def parts(self) -> tuple[Relation, ...]:
        """The messages that go into the message that this operator is part of."""
        if self.relation is not None:
            return (self.relation,)
        return tuple(part for child in self.children for part in child.parts)

    @property
    def plan_id(self) -> int | None:
        """The client's number of the relation, by which columns refer to it."""
        if self.relation is None or not self.relation.common.HasField("plan_id"):
            return None
        return int(self.relation.common.plan_id)


def as_tree(plan: Operator, path: tuple[int, ...] = ()) -> Node:
    """Return the plan as the rest of the backend reads it."""
    below = (as_tree(child, (*path, i)) for i, child in enumerate(plan.children))
    return Node(plan.kind, plan.fields, tuple(below), path)


def inner(relation: Relation) -> Any:
    """Return the message in a relation that says what it does."""
    return getattr(relation, relation.WhichOneof("rel_type"))


def inputs(relation: Relation) -> list[tuple[str, Relation]]:
    """Return the relations in a message, with the names of their slots."""
    slots: list[tuple[str, Relation]] = []
    if relation.WhichOneof("rel_type") is None:
        return slots
    for slot, value in inner(relation).ListFields():
        if slot.message_type is None or slot.message_type.name != "Relation":
            continue
        if slot.is_repeated:
            slots += [(f"{slot.name}#{i}", part) for i, part in enumerate(value)]
        else:
            slots.append((slot.name, value))
    return slots


def serialize_message(message: Any) -> bytes:
    """Return a message as bytes, which are the same for equal messages."""
    return bytes(message.SerializeToString(deterministic=True))


def copy_of(message: Any) -> Any:
    """Return a message of its own with the same content."""
    copy = type(message)()
    copy.CopyFrom(message)
    return copy


def with_children(plan: Operator, children: Sequence[Operator]) -> Operator:
    """Return the same operator, with the same number, over other children with the same columns."""
    if plan.relation is None:
        return replace(plan, children=tuple(children))
    relation = copy_of(plan.relation)
    put_inputs(relation, plan.slots, [part for child in children for part in child.parts])
    return replace(plan, children=tuple(children), relation=relation)


def put_inputs(relation: Relation, slots: Sequence[str], parts: Sequence[Relation]) -> None:
    """Replace the input relations in a message."""
    for slot, part in zip(slots, parts, strict=True):
        name, _, number = slot.partition("#")
        place = getattr(inner(relation), name)
        (place[int(number)] if number else place).CopyFrom(part)
