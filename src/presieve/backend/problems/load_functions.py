# SPDX-License-Identifier: Apache-2.0
"""Trusted. Load the Python functions of a boundary, and determine how Spark calls them."""

from __future__ import annotations

import inspect
import pickle
from types import FunctionType

from presieve.backend.catalyst.boundary import MAPS, Boundary, BoundaryCall
from presieve.backend.gateway import FunctionReader, Handle
from presieve.backend.problems.pickled import together
from presieve.dataflow.context import AnalysisRequest
from presieve.errors import DeclineSignal
from presieve.lift.entry.group_fold import group_fold_under
from presieve.lift.forms import ArrayFunction, Form, SeriesFunction


def handle(gateway: FunctionReader, node: Handle, boundary: Boundary, call: BoundaryCall) -> Handle:
    """Return the function of a call, in the JVM."""
    if boundary.kind == "Aggregate":
        return gateway.aggregate_function(node, call.position)
    if boundary.kind == "Project":
        return gateway.row_function(node, call.position)
    return gateway.group_function(node)


def load_function(gateway: FunctionReader, handle: Handle, call: BoundaryCall) -> object:
    """Load the Python function."""
    loaded = command(gateway, handle, call)
    if not isinstance(loaded, tuple) or len(loaded) != 2 or not callable(loaded[0]):
        raise DeclineSignal("no-function", f"the command of {call.name} is not a plain function")
    return loaded[0]


def check_together(gateway: FunctionReader, node: Handle, boundary: Boundary) -> None:
    """Decline if functions that one worker runs were sent with one class in two states."""
    calls = [c for c in boundary.calls if c.native is None]
    if len(calls) > 1:
        with together():
            for call in calls:
                command(gateway, handle(gateway, node, boundary, call), call)


def command(gateway: FunctionReader, handle: Handle, call: BoundaryCall) -> object:
    """Load the command that Spark sends to its workers. Loading the user's own objects may raise
    anything; the listed errors are those that pickle documents, and a missing module.
    """
    try:
        return gateway.load(handle)
    except (
        pickle.PickleError,
        ImportError,
        AttributeError,
        EOFError,
        IndexError,
        TypeError,
        ValueError,
    ) as error:
        raise DeclineSignal("no-function", f"{call.name} cannot be loaded: {error}") from error


def aggregate_form(function: object, columns: tuple[str, ...], call: BoundaryCall) -> Form:
    """Determine how a Python aggregate function takes a group. A fold of ``group_fold`` is
    recognized by itself. Declines ``eval-type`` for such a fold if it does not get Arrow arrays.
    """
    if group_fold_under(function) is not None:
        if call.arrow:
            return SeriesFunction(columns)
        raise DeclineSignal("eval-type", f"{call.name} is a fold of Arrow arrays")
    form = ArrayFunction if call.arrow else SeriesFunction
    return form(columns, call.streamed)


def takes_key(function: object, boundary: Boundary, call: BoundaryCall) -> bool:
    """Whether PySpark, which counts positional parameters so, passes the key first."""
    assert callable(function)
    try:
        count = len(inspect.getfullargspec(function).args)
    except TypeError:
        raise DeclineSignal("no-source", f"{call.name} is not a Python function") from None
    if count != (2 if boundary.beside is None else 3):
        return False
    if not boundary.all_keys_plain:
        reason = (
            f"{call.name} takes the key, and grouping is by an expression; make it a column first"
        )
        raise DeclineSignal("grouping-expression", reason)
    return True


def takes_pandas(boundary: Boundary, call: BoundaryCall) -> bool:
    """Whether a function of tables gets whole tables, or batches, of pandas."""
    return not call.arrow and (boundary.kind in MAPS or not call.streamed)


def table_request(
    function: FunctionType, boundary: Boundary, keys: tuple[str, ...]
) -> AnalysisRequest:
    """Make the request to the dataflow analysis for a function of pandas tables. ``keys`` are the
    names of the grouping columns in the key's order.
    """
    (call,) = boundary.calls
    by_id = {a.id: a.name for a in boundary.inputs}
    table = tuple(by_id[i] for i in call.arguments)
    types = {a.name: a.type for a in boundary.inputs}
    if boundary.kind in MAPS:
        return AnalysisRequest(function, "batches", table, types=types)
    side = boundary.beside
    if side is None:
        return AnalysisRequest(function, "group", table, keys, types=types)
    second_inputs = {a.id: a.name for a in side.inputs}
    beside = (tuple(second_inputs.values()), tuple(second_inputs[k] for k in side.keys))
    return AnalysisRequest(function, "group", table, keys, beside, types)
