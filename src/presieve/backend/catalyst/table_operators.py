# SPDX-License-Identifier: Apache-2.0
"""Trusted. Operators that hand tables to a Python function, as boundaries."""

from __future__ import annotations

from presieve.backend.catalyst.boundary import (
    AGGREGATE,
    COGROUPS,
    MAPS,
    PROJECT,
    Boundary,
    BoundaryCall,
    SecondInput,
    check_function,
    is_pivot,
    plain,
    read_aggregate,
    read_project,
    simple_kind,
    table_function,
)
from presieve.backend.catalyst.pivots import read_pivot
from presieve.backend.catalyst.table_functions import read_table_function
from presieve.backend.catalyst.trees import Node, Tree, column_id, expr_id, is_attribute
from presieve.backend.gateway import FunctionReader, Handle
from presieve.errors import DeclineSignal
from presieve.lift.evaluation_types import EVALUATION_TYPES
from presieve.plan.algebra import Attribute
from presieve.records import replace

_DIFFER = "the grouping columns of cogroup differ in their types; cast one of them below"
_SHARED = "the two inputs of cogroup share columns; select them under new names for one of the two"


def read_boundary(gateway: FunctionReader, node: Node, plan: Handle) -> Boundary:
    """Read the boundary of a node, ``plan`` in Spark. Raises :class:`DeclineSignal`."""
    if is_pivot(node):
        return read_pivot(gateway, node, plan)
    if node.kind == AGGREGATE:
        return read_aggregate(gateway, node, plan)
    if table_function(node) is not None:
        return read_table_function(gateway, node, plan)
    if node.kind == PROJECT:
        return read_project(gateway, node, plan)
    if simple_kind(node) in MAPS:
        return _read_map(gateway, node, plan)
    if simple_kind(node) in COGROUPS:
        return _read_cogroups(gateway, node, plan)
    return _read_groups(gateway, node, plan)


def _read_groups(gateway: FunctionReader, node: Node, plan: Handle) -> Boundary:
    """Read ``applyInPandas`` and the like. The operator's child is the projection that PySpark
    adds: grouping columns, then all columns.
    """
    (project,) = node.children
    grouping: list[Tree] = node.fields["groupingAttributes"]
    if project.kind != PROJECT or not all(is_attribute(t) for t in grouping):
        raise DeclineSignal("plan-shape", "PySpark's projection below applyInPandas is missing")
    inputs = gateway.attributes(gateway.node(plan, (0, 0)))
    ids = [a.id for a in inputs]
    columns: list[Tree] = project.fields["projectList"]
    frame = [column_id(t) for t in columns[len(grouping) :]]
    if frame != ids or len(set(ids)) != len(ids):
        raise DeclineSignal("plan-shape", "the group's DataFrame differs from its input")
    outputs = gateway.attributes(plan)
    call = _table_call(node, ids, outputs)
    keys = tuple(expr_id(t[0]) for t in grouping)
    heads = [column_id(t) for t in columns[: len(grouping)]]
    return Boundary(
        kind=simple_kind(node),
        path=node.path,
        input_path=(*project.path, 0),
        inputs=inputs,
        outputs=outputs,
        keys=tuple(k for k, head in zip(keys, heads, strict=True) if head == k and k in ids),
        all_keys_plain=all(head == k and k in ids for k, head in zip(keys, heads, strict=True)),
        calls=(call,),
    )


def _read_map(gateway: FunctionReader, node: Node, plan: Handle) -> Boundary:
    """Read ``mapInPandas`` and ``mapInArrow``: nothing is known about how rows become tables."""
    inputs = gateway.attributes(gateway.node(plan, (0,)))
    ids = [a.id for a in inputs]
    if len(set(ids)) != len(ids):
        raise DeclineSignal("plan-shape", "a column appears twice in the function's table")
    outputs = gateway.attributes(plan)
    return Boundary(
        kind=simple_kind(node),
        path=node.path,
        input_path=(*node.path, 0),
        inputs=inputs,
        outputs=outputs,
        keys=(),
        all_keys_plain=True,
        calls=(_table_call(node, ids, outputs),),
    )


def _table_call(node: Node, ids: list[int], outputs: tuple[Attribute, ...]) -> BoundaryCall:
    """Return the call of the function of tables, whose arguments must be these columns."""
    function, *arguments = node.fields["functionExpr"]
    operator = simple_kind(node)
    kinds = [n for n, t in EVALUATION_TYPES.items() if t.operator == operator]
    kind = check_function(function, kinds)
    if list(plain(function, arguments)) != ids:
        raise DeclineSignal("plan-shape", "the function's arguments are not its input")
    name, output_ids = str(function["name"]), tuple(a.id for a in outputs)
    return BoundaryCall(name, tuple(ids), output_ids, 0, by=kind)


def _read_cogroups(gateway: FunctionReader, node: Node, plan: Handle) -> Boundary:
    """Read ``cogroup``, over PySpark's projections of grouping columns and all columns."""
    counts = (int(node.fields["leftGroupingLen"]), int(node.fields["rightGroupingLen"]))
    left, right = (_side(gateway, node, plan, i, count) for i, count in enumerate(counts))
    ids = [a.id for side in (left, right) for a in side.inputs]
    if len(set(ids)) != len(ids):
        raise DeclineSignal("plan-shape", _SHARED)
    types = [{a.id: a.type for a in side.inputs} for side in (left, right)]
    pairs = zip(left.keys, right.keys, strict=True)
    if any(types[0][a] != types[1][b] for a, b in pairs):
        raise DeclineSignal("key-type", _DIFFER)
    outputs = gateway.attributes(plan)
    call = _table_call(node, ids, outputs)
    return Boundary(
        kind=simple_kind(node),
        path=node.path,
        input_path=left.input_path,
        inputs=left.inputs,
        outputs=outputs,
        keys=left.keys,
        all_keys_plain=True,
        calls=(replace(call, arguments=tuple(a.id for a in left.inputs)),),
        beside=right,
    )


def _side(
    gateway: FunctionReader, node: Node, plan: Handle, number: int, count: int
) -> SecondInput:
    project = node.children[number]
    if project.kind != PROJECT:
        raise DeclineSignal("plan-shape", "PySpark's projections below cogroup are missing")
    inputs = gateway.attributes(gateway.node(plan, (number, 0)))
    columns: list[Tree] = project.fields["projectList"]
    ids = [column_id(t) for t in columns]
    if ids[count:] != [a.id for a in inputs] or not set(ids[:count]) <= set(ids[count:]):
        reason = "cogroup must be on plain columns of its inputs"
        raise DeclineSignal("grouping-expression", reason)
    keys = tuple(i for i in ids[:count] if i is not None)
    return SecondInput((*project.path, 0), inputs, keys)
