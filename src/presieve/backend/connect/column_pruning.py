# SPDX-License-Identifier: Apache-2.0
"""Trusted. Operators of Spark Connect that hand tables to a function, restricted to some columns: a
projection goes below them. The server makes the function's arguments from all columns that it
finds.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence

from presieve.backend.catalyst.boundary import PROJECT
from presieve.backend.catalyst.trees import references
from presieve.backend.connect.client import message
from presieve.backend.connect.resolved_plan import Operator, Relation, copy_of, inner, put_inputs
from presieve.errors import DeclineSignal
from presieve.records import replace


def prune_columns(flat_map: Operator, needed_numbers: Sequence[Collection[int]]) -> Operator:
    """Restrict columns, as :meth:`Gateway.prune_columns` does, below the computation of keys."""
    relation = copy_of(flat_map.message)
    inputs = [_narrow(c, k) for c, k in zip(flat_map.children, needed_numbers, strict=True)]
    put_inputs(relation, flat_map.slots, inputs)
    del inner(relation).func.arguments[:]
    numbers = _arguments(flat_map, needed_numbers)
    sent = inner(flat_map.message).func.arguments
    inner(relation).func.arguments.extend([sent[i] for i in numbers] if sent else [])
    return replace(flat_map, relation=relation)


def _arguments(flat_map: Operator, needed_numbers: Sequence[Collection[int]]) -> list[int]:
    """Return the positions of the function's arguments that stay."""
    positions: list[int] = []
    before = 0
    for child, numbers in zip(flat_map.children, needed_numbers, strict=True):
        positions += [before + i for i in sorted(_with_grouping_columns(child, numbers))]
        before += len(_table(child).output)
    return positions


def _table(child: Operator) -> Operator:
    """Return the operator with the columns; for groups it is below the server's projection."""
    return child.children[0] if _is_added(child) else child


def _is_added(child: Operator) -> bool:
    return child.kind == PROJECT and child.relation is None


def _with_grouping_columns(child: Operator, numbers: Collection[int]) -> set[int]:
    """Return these columns and those that grouping expressions read."""
    fields = _table(child).output
    positions = set(numbers)
    if _is_added(child):
        columns = child.fields["projectList"]
        read = {i for tree in columns[: len(columns) - len(fields)] for i in references(tree)}
        positions |= {i for i, f in enumerate(fields) if f.id in read}
    return positions


def _narrow(child: Operator, numbers: Collection[int]) -> Relation:
    """Return a projection to these columns, which must have distinct names."""
    table = _table(child)
    names = [f.name for f in table.output]
    if len({n.upper().lower() for n in names}) != len(names):
        raise DeclineSignal("ambiguous-column", "two columns of the function's table share a name")
    relation = message("Relation")
    relation.project.input.CopyFrom(table.message)
    for i in sorted(_with_grouping_columns(child, numbers)):
        column = relation.project.expressions.add()
        name = names[i].replace("`", "``")
        column.unresolved_attribute.unparsed_identifier = f"`{name}`"
    return relation
