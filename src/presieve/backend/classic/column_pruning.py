# SPDX-License-Identifier: Apache-2.0
"""Trusted. Restrict operators of a classic session that hand tables to a function to some columns.

Spark sends a worker the output of the operator's child, after the grouping columns
(``FlatMapGroupsInBatchExec``, ``PandasGroupUtils.resolveArgOffsets``); the function's arguments say
the same once more.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence

from presieve.backend.catalyst.boundary import COGROUPS, FLAT_MAPS, MAPS
from presieve.backend.classic.catalyst_builder import Parts
from presieve.backend.classic.jvm_plans import JvmPlans
from presieve.backend.classic.py4j_errors import each, java_class, simple_class
from presieve.backend.gateway import GatewayError, Handle
from presieve.sql.expressions.composites import CREATE_NAMED_STRUCT

_KeptColumns = Sequence[Collection[int]]


def prune_columns(plans: JvmPlans, flat_map: Handle, kept_columns: _KeptColumns) -> Handle:
    """Implement :meth:`Gateway.prune_columns`."""
    parts, name = Parts(plans), simple_class(flat_map)
    for kinds, build in _BUILD.items():
        if name in kinds:
            return build(parts, flat_map, kept_columns)
    raise GatewayError(f"{name} hands no tables to a function")


def _group(parts: Parts, flat_map: Handle, kept_columns: _KeptColumns) -> Handle:
    keys = flat_map.groupingAttributes()
    child = _narrow(parts, flat_map.child(), int(keys.size()), kept_columns[0])
    function = _with_arguments(parts, flat_map.functionExpr(), sorted(kept_columns[0]))
    return flat_map.copy(keys, function, flat_map.output(), child)


def _two_groups(parts: Parts, flat_map: Handle, kept_columns: _KeptColumns) -> Handle:
    left, right = flat_map.left(), flat_map.right()
    counts = int(flat_map.leftGroupingLen()), int(flat_map.rightGroupingLen())
    width = int(left.output().size()) - counts[0]
    numbers = [*sorted(kept_columns[0]), *(width + i for i in sorted(kept_columns[1]))]
    function = _with_arguments(parts, flat_map.functionExpr(), numbers)
    left = _narrow(parts, left, counts[0], kept_columns[0])
    right = _narrow(parts, right, counts[1], kept_columns[1])
    return flat_map.copy(*counts, function, flat_map.output(), left, right)


def _batches(parts: Parts, flat_map: Handle, kept_columns: _KeptColumns) -> Handle:
    below = flat_map.child()
    attributes = below.output()
    child = parts.project([attributes.apply(i) for i in sorted(kept_columns[0])], below)
    function = _with_arguments(parts, flat_map.functionExpr(), sorted(kept_columns[0]))
    return parts.plans.adapter.batch_map(flat_map, function, child)


_BUILD: dict[frozenset[str], Callable[[Parts, Handle, _KeptColumns], Handle]] = {
    FLAT_MAPS: _group,
    COGROUPS: _two_groups,
    MAPS: _batches,
}


def prune_arguments(
    plans: JvmPlans, project: Handle, kept: Mapping[int, Collection[int]]
) -> Handle:
    """Implement :meth:`Gateway.prune_arguments`."""
    parts, columns = Parts(plans), project.projectList()
    narrowed = (
        _with_nulls(plans, columns.apply(i), kept[i]) if i in kept else columns.apply(i)
        for i in range(int(columns.size()))
    )
    return parts.project(list(narrowed), project.child())


def _with_nulls(plans: JvmPlans, column: Handle, kept: Collection[int]) -> Handle:
    """Put NULL in place of the other arguments of the call, or fields of the struct, that a column
    consists of.
    """
    built = column.child()
    is_struct = simple_class(built) == CREATE_NAMED_STRUCT.name  # of names and values in turn
    null = java_class(plans.jvm, "org.apache.spark.sql.catalyst.expressions.Literal")
    parts = [
        part
        if (is_struct and i % 2 == 0) or (i // 2 if is_struct else i) in kept
        else null(None, part.dataType())
        for i, part in enumerate(each(built.children()))
    ]
    narrowed = built.withNewChildren(plans.seq(parts))
    return column.withNewChildren(plans.seq([narrowed]))


def _narrow(parts: Parts, project: Handle, keys: int, kept_columns: Collection[int]) -> Handle:
    """Narrow the projection that PySpark adds: grouping columns, then the columns of the table."""
    columns = project.projectList()
    numbers = [*range(keys), *(keys + i for i in sorted(kept_columns))]
    return parts.project([columns.apply(i) for i in numbers], project.child())


def _with_arguments(parts: Parts, function: Handle, numbers: Sequence[int]) -> Handle:
    """Restrict the function to these of its arguments."""
    arguments = function.children()
    chosen = parts.plans.seq([arguments.apply(i) for i in numbers])
    return function.copy(
        function.name(),
        function.func(),
        function.dataType(),
        chosen,
        function.evalType(),
        function.udfDeterministic(),
        function.resultId(),
    )
