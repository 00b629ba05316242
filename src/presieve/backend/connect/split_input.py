# SPDX-License-Identifier: Apache-2.0
"""Trusted. Messages of Spark Connect whose input is split by classes of rows
(:mod:`presieve.backend.guard`).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from presieve.backend.catalyst.trees import walk
from presieve.backend.connect.client import message
from presieve.backend.connect.resolved_plan import Operator, Relation, copy_of
from presieve.backend.guard import class_of
from presieve.ir.inner_names import CLASS

_HELD = frozenset(("local_relation", "cached_local_relation", "chunked_cached_local_relation"))
_FILES = frozenset(("parquet", "orc", "csv", "json", "text"))


def repeatable(plan: Operator) -> bool:
    """Whether reading repeats the same rows, as in :class:`Gateway`: rows in the message, and
    files. For a table, the message does not say what it is.
    """
    return all(o.steady and (o.children or _leaf(o)) for o in walk(plan))


def _leaf(leaf: Operator) -> bool:
    kind = leaf.message.WhichOneof("rel_type")
    if kind == "read":
        return leaf.message.read.data_source.format.lower() in _FILES
    return kind in _HELD or kind == "range"


def split(passing: Operator, breaking: Operator, rows: Operator, by: Sequence[str]) -> Relation:
    """Split as :meth:`Gateway.split` does. All relations except those of ``passing`` get new
    numbers, so that a column that refers to a relation by number still refers to one only.
    """
    types = message("Join")
    both = message("Relation")
    both.set_op.set_op_type = type(both.set_op).SET_OP_TYPE_UNION
    both.set_op.is_all = True
    anti, semi = types.JOIN_TYPE_LEFT_ANTI, types.JOIN_TYPE_LEFT_SEMI
    all_rows = _renumber(rows.message, 1)
    left = _join(passing.message, _classes(_renumber(breaking.message, 2), by), by, anti)
    right = _join(all_rows, _classes(_renumber(breaking.message, 3), by), by, semi)
    both.set_op.left_input.CopyFrom(left)
    both.set_op.right_input.CopyFrom(right)
    return both


def _join(left: Relation, right: Relation, by: Sequence[str], kind: int) -> Relation:
    relation = message("Relation")
    relation.join.left.CopyFrom(left)
    relation.join.right.CopyFrom(right)
    relation.join.join_type = kind
    relation.join.join_condition.expression_string.expression = f"{class_of(by)} = {CLASS}"
    return relation


def _classes(breaking: Relation, by: Sequence[str]) -> Relation:
    """Return the numbers of the classes of some rows, to be broadcast."""
    relation = message("Relation")
    project = relation.hint.input.deduplicate.input.project
    project.input.CopyFrom(breaking)
    text = f"{class_of(by)} AS {CLASS}"
    project.expressions.add().expression_string.expression = text
    relation.hint.input.deduplicate.all_columns_as_keys = True
    relation.hint.name = "broadcast"
    return relation


_COPIES = 1 << 40
"""Larger than the numbers that a client gives its relations."""


def _renumber(relation: Relation, copy: int) -> Relation:
    """Return a copy whose relations, and references to them, have other numbers."""
    renumbered = copy_of(relation)
    parts = list(_messages(renumbered))
    own = {p.common.plan_id for p in parts if _is_numbered(p)}
    for part in parts:
        target = part.common if _is_numbered(part) else part
        if "plan_id" in target.DESCRIPTOR.fields_by_name and target.plan_id in own:
            target.plan_id += copy * _COPIES
    return renumbered


def _is_numbered(part: Any) -> bool:
    return bool(part.DESCRIPTOR.name == "Relation" and part.common.HasField("plan_id"))


def _messages(body: Any) -> Iterator[Any]:
    """Yield all messages in a message, except the heads of relations."""
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
