# SPDX-License-Identifier: Apache-2.0
"""Trusted. Functions that pandas calls for each element of a column: ``column.apply(f)``.

They are supported only where each row is lifted separately: then an error of the function is an
error of the row. Source: pandas 2.3 ``core/algorithms.py`` (``map_array``): pandas calls the
function on Python's own values, doubles with NaN for NULL, and converts the results to a column of
one type (``maybe_convert_objects``). None beside numbers is declined, because the type then depends
on the whole batch. Integers that may be NULL are declined, too: in a batch with a NULL they are
doubles.
"""

from __future__ import annotations

import ast
from types import FunctionType

from presieve.ir.sorts import BOOL, DATE, FLOAT, INT, STRING, Option, strip
from presieve.ir.terms import TRUE
from presieve.lift.execution import inlining
from presieve.lift.execution.state import Flow, ModelCall
from presieve.lift.models.registry import method
from presieve.lift.values.symbolic import Known, Scalar, Value, describe
from presieve.lift.values.whole_columns import SeriesV, VectorV

_NUMBERS = (INT, FLOAT)
_RESULTS = (BOOL, STRING, DATE, *_NUMBERS)


@method(SeriesV | VectorV, "apply", "map", unevaluated=True, fresh=True)
def apply_to_elements(call: ModelCall, owner: SeriesV | VectorV) -> VectorV:
    """``column.apply(f)`` and ``column.map(f)`` of a function of one value, where each row is by
    itself.
    """
    m, flow, node = call.m, call.flow, call.node
    if not m.columns.single or not isinstance(owner, SeriesV) or len(node.args) != 1:
        reason = "is not supported: count with (column == constant).sum(), or loop"
        raise call.decline("not-a-fold", f".{call.name}() {reason}")
    if node.keywords:
        raise call.decline("unknown-call", f".{call.name}() with these arguments")
    element = m.columns.element(owner.name)
    if isinstance(element.sort, Option) and strip(element.sort) == INT:
        reason = "beside a NULL in its batch an integer is a double: read it with coalesce"
        raise call.decline("column-type", f"{owner.name} may be NULL: {reason}")
    new_element = m.force(_call_function(call, flow, m.columns.value(owner.name)), flow)
    if not isinstance(new_element, Scalar) or new_element.base not in _RESULTS:
        reason = f"a column of {describe(new_element)} for each row"
        raise call.decline("unsupported-operation", reason)
    if new_element.base in _NUMBERS and isinstance(new_element.term.sort, Option):
        reason = "None among numbers makes another column of each batch: return float('nan')"
        raise call.decline("unsupported-operation", reason)
    if new_element.base == INT and not m.ranges.fits(new_element.term, "bigint"):
        raise call.decline("numpy-scalar", "integers beyond 64 bits make another column")
    return VectorV(new_element.term, TRUE)


def _call_function(call: ModelCall, flow: Flow, value: Value) -> Value:
    """Call the function for an element."""
    m, function_node = call.m, call.node.args[0]
    match function_node:
        case ast.Lambda(ast.arguments([], [ast.arg(name)], None, [], [], None, []), body):
            inner = Flow({**flow.env, name: value}, flow.conds, flow.facts, heap=dict(flow.heap))
            return m.evaluate(body, inner)
    function = m.evaluate(function_node, flow)
    if isinstance(function, Known) and inlining.is_own(function.target):
        assert isinstance(function.target, FunctionType)
        call_node = ast.copy_location(ast.Call(function_node, [], []), call.node)
        named = ModelCall(m, flow, function.name, (value,), {}, call_node)
        return inlining.inline_call(named, function.target)
    raise call.decline("unknown-call", f"the function that .{call.name}() calls is not read")
