# SPDX-License-Identifier: Apache-2.0
"""Trusted. Columns that a function adds to its table: ``pdf["c"] = ...``, ``assign``.

The variable is bound to a new table. This is correct if no other variable or object refers to the
table, which :mod:`presieve.lift.execution.aliasing` checks. Assigning a column replaces the old
one, so columns that were read before keep their values. ``loc`` may write into the old column, so
nothing else may share its values.
"""

from __future__ import annotations

import ast

from presieve.errors import DeclineSignal
from presieve.ir.sorts import BOOL, FLOAT, INT, STRING
from presieve.ir.terms import TRUE, Lit, literal_value
from presieve.lift.execution.aliasing import check_sole
from presieve.lift.execution.heap import contents
from presieve.lift.execution.state import Flow, ModelCall, SymbolicMachine
from presieve.lift.models.pandas.elementwise import Choice, choose_elements
from presieve.lift.models.pandas.series import (
    column_of,
    part,
    scalar_operand,
    stored,
    table_method,
    vector,
)
from presieve.lift.models.pandas.tables_of_columns import column_of_values
from presieve.lift.values.symbolic import RowListV, TupleV, Value, constant_of
from presieve.lift.values.whole_columns import FrameV, PartV, SeriesV, VectorV
from presieve.records import replace


def is_write(owner: ast.expr, flow: Flow) -> bool:
    """Return whether ``owner[...] = value`` writes to a table or column that a variable holds."""
    if isinstance(owner, ast.Attribute) and owner.attr == "loc":
        owner = owner.value
    written = flow.env.get(owner.id) if isinstance(owner, ast.Name) else None
    return isinstance(written, FrameV | PartV | SeriesV | VectorV)


def write(m: SymbolicMachine, flow: Flow, node: ast.Subscript, key: Value, value: Value) -> None:
    """Execute ``table["c"] = v``, ``table.loc[mask, "c"] = v`` or ``column[mask] = v``."""
    owner = node.value
    at = owner.value if isinstance(owner, ast.Attribute) else owner
    assert isinstance(at, ast.Name)
    old = vector(m, flow.env[at.id])
    check_sole(m, flow, at, values=isinstance(owner, ast.Attribute) or old is not None)
    if old is not None:
        if vector(m, key) is None:
            raise DeclineSignal("mutation", "elements of a column are written by a mask")
        changed = choose_elements(m, old, Choice(key, value, keep=False))
        flow.env[at.id] = replace(changed, own=old.own, by=old.by)
        return
    table = part(flow.env[at.id])
    assert table is not None
    if isinstance(owner, ast.Attribute):
        both = key.items if isinstance(key, TupleV) and len(key.items) == 2 else (key, key)
        column = constant_of(both[1])
        if column not in table.columns or vector(m, both[0]) is None:
            raise DeclineSignal("mutation", "this way of writing to a table")
        choice = Choice(both[0], value, keep=False)
        new_column = choose_elements(m, column_of(m, table, str(column)), choice)
        flow.env[at.id] = _put(table, str(column), new_column)
        return
    name = constant_of(key)
    if not isinstance(name, str):
        raise DeclineSignal("mutation", "a column is written by its name, a constant string")
    flow.env[at.id] = _put(table, name, _column(m, table, value))


@table_method("assign", unevaluated=True, fresh=True)
def assign_columns(call: ModelCall, table: PartV) -> PartV | None:
    """``table.assign(c=value)`` of a column of the same table, a constant, or a lambda of the table
    so far.
    """
    m, flow, node = call.m, call.flow, call.node
    if node.args or any(k.arg is None for k in node.keywords):
        return None
    for keyword in node.keywords:
        match keyword.value:
            case ast.Lambda(ast.arguments([], [ast.arg(name)], None, [], [], None, []), body):
                env = {**flow.env, name: table}
                inner = Flow(env, flow.conds, flow.facts, heap=dict(flow.heap))
                value = contents(m, body, inner)
                if inner.ended or inner.heap != flow.heap:
                    return None
            case other:
                value = contents(m, other, flow)
        table = _put(table, str(keyword.arg), _column(m, table, value))
    return table


def _column(m: SymbolicMachine, table: PartV, value: Value) -> VectorV:
    column = column_of_values(m, value.item) if isinstance(value, RowListV) else stored(m, value)
    if isinstance(value, RowListV) and value.rows != TRUE:
        raise DeclineSignal("unsupported-operation", "a list of fewer items than there are rows")
    if column is not None:
        if column.rows != table.rows or (column.ordered, column.by) != (table.ordered, table.by):
            reason = "a column of other rows is put into a table: make it from the same table"
            raise DeclineSignal("unsupported-operation", reason)
        return replace(column, array=False)
    constant = scalar_operand(value)
    if constant.base not in (INT, FLOAT, BOOL, STRING) or not isinstance(constant.term, Lit):
        raise DeclineSignal("unsupported-operation", "a column of such a value")
    number = literal_value(constant.term)
    if isinstance(number, int) and not -(2**63) <= number < 2**63:
        raise DeclineSignal("unsupported-operation", "a column of larger integers")
    return VectorV(constant.term, table.rows, None, False, table.ordered)


def _put(table: PartV, name: str, column: VectorV) -> PartV:
    columns = table.columns if name in table.columns else (*table.columns, name)
    new_columns = {**dict(table.made), name: replace(column, own=table.own)}
    return replace(table, columns=columns, made=tuple(new_columns.items()))
