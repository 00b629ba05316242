"""Trusted. Messages of Spark Connect whose input is split by classes of rows
(:mod:`presieve.backend.guard`).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from presieve.backend.catalyst.trees import walk
from presieve.backend.connect.client import message
from presieve.backend.connect.operators import Operator, Relation
from presieve.backend.guard import CLASS, class_of

_HELD = frozenset(("local_relation", "cached_local_relation", "chunked_cached_local_relation"))
_FILES = frozenset(("parquet", "orc", "csv", "json", "text"))


def repeatable(plan: Operator) -> bool:
    """As in :class:`Gateway`: rows in the message, and files. Of a table the message does not say
    what it is.
    """
    return all(o.steady and (o.children or _leaf(o)) for o in walk(plan))


def _leaf(leaf: Operator) -> bool:
    kind = leaf.message.WhichOneof("rel_type")
    if kind == "read":
        return leaf.message.read.data_source.format.lower() in _FILES
    return kind in _HELD or kind == "range"


def split(kept: Operator, breaking: Operator, rows: Operator, by: Sequence[str]) -> Relation:
    """As :meth:`Gateway.split`. The relations of all but ``kept`` get new numbers, so that columns
    which refer to one by its number still refer to one.
    """
    types = message("Join")
    both = message("Relation")
    both.set_op.set_op_type = type(both.set_op).SET_OP_TYPE_UNION
    both.set_op.is_all = True
    anti, semi = types.JOIN_TYPE_LEFT_ANTI, types.JOIN_TYPE_LEFT_SEMI
    whole = _renumbered(rows.message, 1)
    left = _joined(kept.message, _classes(_renumbered(breaking.message, 2), by), by, anti)
    right = _joined(whole, _classes(_renumbered(breaking.message, 3), by), by, semi)
    both.set_op.left_input.CopyFrom(left)
    both.set_op.right_input.CopyFrom(right)
    return both


def _joined(left: Relation, right: Relation, by: Sequence[str], kind: int) -> Relation:
    made = message("Relation")
    made.join.left.CopyFrom(left)
    made.join.right.CopyFrom(right)
    made.join.join_type = kind
    made.join.join_condition.expression_string.expression = f"{class_of(by)} = {CLASS}"
    return made


def _classes(breaking: Relation, by: Sequence[str]) -> Relation:
    """The numbers of the classes of some rows, to be broadcast."""
    made = message("Relation")
    project = made.hint.input.deduplicate.input.project
    project.input.CopyFrom(breaking)
    text = f"{class_of(by)} AS {CLASS}"
    project.expressions.add().expression_string.expression = text
    made.hint.input.deduplicate.all_columns_as_keys = True
    made.hint.name = "broadcast"
    return made


_COPIES = 1 << 40
"""Above the numbers that a client gives its relations."""


def _renumbered(relation: Relation, copy: int) -> Relation:
    """A copy whose relations, and references to them, have other numbers."""
    made = message("Relation")
    made.CopyFrom(relation)
    parts = list(_messages(made))
    own = {p.common.plan_id for p in parts if _is_numbered(p)}
    for part in parts:
        target = part.common if _is_numbered(part) else part
        if "plan_id" in target.DESCRIPTOR.fields_by_name and target.plan_id in own:
            target.plan_id += copy * _COPIES
    return made


def _is_numbered(part: Any) -> bool:
    return bool(part.DESCRIPTOR.name == "Relation" and part.common.HasField("plan_id"))


def _messages(body: Any) -> Iterator[Any]:
    """All messages in a message, but for the heads of relations."""
    if body.DESCRIPTOR.name == "RelationCommon":
        return
    yield body
    for field, value in body.ListFields():
        if field.message_type is None:
            continue
        if field.message_type.GetOptions().map_entry:
            values = field.message_type.fields_by_name["value"]
            parts = list(value.values()) if values.message_type is not None else []
        else:
            parts = list(value) if field.is_repeated else [value]
        for part in parts:
            yield from _messages(part)
