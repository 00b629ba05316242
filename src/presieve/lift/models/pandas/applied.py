# SPDX-License-Identifier: Apache-2.0
"""Trusted. Functions that pandas calls for each element of a column: ``column.apply(f)``.

They are supported only where each row is lifted separately: then an error of the function is an
error of the row. Source: pandas 2.3 ``core/algorithms.py`` (``map_array``): pandas calls the
function on Python's own values, doubles with NaN for NULL, and converts the results to a column of
one type (``maybe_convert_objects``). None beside numbers is declined, because the type then depends
on the whole batch. Integers are assumed not to be NULL: in a batch with a NULL they are doubles.
"""

from __future__ import annotations

import ast
from collections.abc import Mapping

from presieve.ir.sorts import BOOL, FLOAT, INT, STRING, Option, Sort, strip
from presieve.ir.terms import TRUE
from presieve.lift.execution import inlining
from presieve.lift.execution.heap import contents
from presieve.lift.execution.loop_iterables import row_of_table
from presieve.lift.execution.state import Flow, ModelCall
from presieve.lift.models.pandas import conversions
from presieve.lift.models.pandas.series import as_double, vector
from presieve.lift.models.pandas.tables_of_columns import column_of_values
from presieve.lift.models.registry import method
from presieve.lift.values.symbolic import Scalar, Traits, Value
from presieve.lift.values.whole_columns import FrameV, NullableV, PartV, SeriesV, VectorV


@method(SeriesV | VectorV, "apply", "map", unevaluated=True, fresh=True)
def apply_to_elements(call: ModelCall, owner: SeriesV | VectorV) -> VectorV:
    """``column.map({...})`` of a dict of constants; ``column.apply(f)`` and ``column.map(f)`` of a
    function of one value, where each row is by itself.
    """
    m, flow, node = call.m, call.flow, call.node
    mapped = _map_by_dict(call, owner) if call.name == "map" and len(node.args) == 1 else None
    if mapped is not None:
        return mapped
    value = _element(call, owner)
    if value is None or not m.columns.single or len(node.args) != 1:
        reason = "is not supported: count with (column == constant).sum(), or loop"
        raise call.decline("not-a-fold", f".{call.name}() {reason}")
    if node.keywords:
        raise call.decline("unknown-call", f".{call.name}() with these arguments")
    new_element = m.force(_call_function(call, flow, value), flow)
    return column_of_values(call.m, new_element)


def _element(call: ModelCall, owner: SeriesV | VectorV) -> Value | None:
    """Return the value that pandas passes to a function; None if it is not known."""
    if isinstance(owner, SeriesV):
        name, columns = owner.name, call.m.columns
        value = columns.value(name)
        if strip(columns.element(name).sort) == INT and isinstance(value, NullableV):
            reason = "beside a NULL in its batch an integer is a double: read it with coalesce"
            raise call.decline("column-type", f"{name} may be NULL: {reason}")
        return value
    base = strip(owner.term.sort)
    is_plain = owner.rows == TRUE and owner.ordered and owner.by is None
    if not is_plain or owner.array or owner.loose or owner.masked or base not in _PASSED:
        return None
    if base == FLOAT:
        return Scalar(as_double(owner.term), Traits(maybe_nan=True))
    return None if isinstance(owner.term.sort, Option) else Scalar(owner.term)


_PASSED: tuple[Sort, ...] = (FLOAT, STRING, BOOL)
"""Sorts of computed elements that pandas passes to a function as Python's own values."""


@method(FrameV | PartV, "apply", unevaluated=True, fresh=True)
def apply_to_rows(call: ModelCall, owner: FrameV | PartV) -> VectorV | None:
    """``table.apply(f, axis=1)`` of a function of one row, where each row is by itself. Of a table
    that the function has changed, nothing is known: pandas gives another result if it is empty.
    """
    m, node = call.m, call.node
    axis = next((k.value for k in node.keywords if k.arg == "axis"), None)
    by_row = isinstance(axis, ast.Constant) and axis.value in (1, "columns")
    if not m.columns.single or len(node.args) != 1 or len(node.keywords) != 1 or not by_row:
        return None
    if isinstance(owner, PartV):
        reason = "a table of which rows were chosen, or that was given a column, is not supported"
        raise call.decline("unsupported-operation", reason)
    row = row_of_table(m, owner.columns)
    return column_of_values(m, m.force(_call_function(call, call.flow, row), call.flow))


def _map_by_dict(call: ModelCall, owner: SeriesV | VectorV) -> VectorV | None:
    """Evaluate ``column.map({...})``; None if the argument is no dict of constants."""
    argument, v = call.node.args[0], vector(call.m, owner)
    if isinstance(argument, ast.Lambda) or call.node.keywords or v is None:
        return None
    return conversions.map_by_dict(call, v, contents(call.m, argument, call.flow))


def _call_function(call: ModelCall, flow: Flow, value: Value) -> Value:
    """Call the function for an element."""
    m, function_node = call.m, call.node.args[0]
    match function_node:
        case ast.Lambda(ast.arguments([], [ast.arg(name)], None, [], [], None, []), body):
            inner = Flow({**flow.env, name: value}, flow.conds, flow.facts, heap=dict(flow.heap))
            result = m.evaluate(body, inner)
            _check_unchanged(call, flow.heap, inner)
            return result
    function = m.evaluate(function_node, flow)
    if inlining.is_followed(function):
        call_node = ast.copy_location(ast.Call(function_node, [], []), call.node)
        before = dict(flow.heap)
        named = ModelCall(m, flow, "", (value,), {}, call_node)
        result = inlining.follow_call(named, function)
        _check_unchanged(call, before, flow)
        return result
    raise call.decline("unknown-call", f"the function that .{call.name}() calls is not read")


def _check_unchanged(call: ModelCall, before: Mapping[int, object], after: Flow) -> None:
    """Decline a function that changes an object from before: the next rows would see it."""
    if any(after.heap.get(place) is not thing for place, thing in before.items()):
        reason = f"the function that .{call.name}() calls changes what was there before"
        raise call.decline("unknown-call", reason)
