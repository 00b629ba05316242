"""Trusted. The Python functions of a boundary: loaded, how they are called, what holds the key."""

from __future__ import annotations

import inspect
import pickle
from types import FunctionType

from presieve.backend.catalyst.boundary import Boundary, Call, Side
from presieve.backend.catalyst.names import Names, key_columns
from presieve.backend.gateway import Gateway, Handle
from presieve.backend.problems.pickled import together
from presieve.errors import Declined, DeclineSignal
from presieve.ir.fold import Fold, Output
from presieve.ir.terms import Scope, Var
from presieve.lift.entry.group_fold import group_fold_under
from presieve.lift.forms import ArrayFunction, Form, Lifted, SeriesFunction
from presieve.lift.key_columns.analysis import held_columns
from presieve.lift.python.shipped import function_source
from presieve.semantics.build import some
from presieve.semantics.types import column, decimal_type


def only_keys(
    gateway: Gateway, node: Handle, boundary: Boundary, names: Names, why: Declined
) -> Lifted:
    """The fold of a function that does not lift, with those outputs only that hold the key.

    Lemma: where every row that ``f(D)`` gives for a group D of key k has k in such a column, a
    filter c on it keeps all of ``f(D)`` or nothing, as c(k) says. So ``filter c (f D)`` is ``f D``
    over ``filter c D``, which is D or no group. The fold reads no column, so that a pre-filter can
    only be one on keys, and drops no part of a group.

    The same holds for ``f(L, R)`` of the two groups of a key in ``cogroup``, one of which may be
    empty: with c(k) false both are dropped, and there is no key k any more.
    """
    call = boundary.calls[0]
    if boundary.kind == "Aggregate" or call.arrow or call.streamed:
        raise DeclineSignal(why.code, why.reason, why.span)
    function = load(gateway, gateway.group_function(node), call)
    if not isinstance(function, FunctionType):
        raise DeclineSignal(why.code, why.reason, why.span)
    by_id = {a.id: a for a in boundary.inputs}
    with_key = takes_key(function, boundary, call)
    columns = tuple(by_id[i].name for i in call.arguments)
    keys = tuple(by_id[k].name for k in boundary.keys)
    beside = boundary.beside
    other = None if beside is None else _keys_of(beside)
    try:
        found = held_columns(function, with_key, columns, keys, other)
    except DeclineSignal:
        if beside is not None:
            raise
        found = {}
    known = {k.name: k for k in names.keys if k.type in _COMES_BACK or decimal_type(k.type)}
    outputs = []
    for a in boundary.outputs:
        key = known.get(found.get(a.name, ""))
        column_ = None if key is None else column(key.name, key.type, key.nullable)
        if key is None or column_ is None or a.type != key.type or not a.nullable:
            continue
        term = some(Var(Scope.KEY, column_.name, column_.sort))
        outputs.append(Output(a.name, term.sort, a.type, term))
    if not outputs:
        raise DeclineSignal(why.code, why.reason, why.span)
    fold = Fold(call.name, (), key_columns(names), (), tuple(outputs), span=why.span)
    return Lifted(fold, (), function_source(function).text)


def _keys_of(side: Side) -> tuple[str, ...]:
    """The names of the grouping columns."""
    by_id = {a.id: a.name for a in side.inputs}
    return tuple(by_id[k] for k in side.keys)


_COMES_BACK = frozenset(("boolean", "tinyint", "smallint", "int", "bigint", "string", "date"))
"""Types whose values come back from pandas as they were sent, decimals besides."""


def handle(gateway: Gateway, node: Handle, boundary: Boundary, call: Call) -> Handle:
    """The function of a call, in the JVM."""
    if boundary.kind == "Aggregate":
        return gateway.aggregate_function(node, call.position)
    if boundary.kind == "Project":
        return gateway.row_function(node, call.position)
    return gateway.group_function(node)


def load(gateway: Gateway, handle: Handle, call: Call) -> object:
    """The Python function."""
    found = command(gateway, handle, call)
    if not isinstance(found, tuple) or len(found) != 2 or not callable(found[0]):
        raise DeclineSignal("no-function", f"the command of {call.name} is not a plain function")
    return found[0]


def check_together(gateway: Gateway, node: Handle, boundary: Boundary) -> None:
    """Decline where functions that one worker runs were sent with one class in two states."""
    calls = [c for c in boundary.calls if c.native is None]
    if len(calls) > 1:
        with together():
            for call in calls:
                command(gateway, handle(gateway, node, boundary, call), call)


def command(gateway: Gateway, handle: Handle, call: Call) -> object:
    """What Spark sends to its workers. What the user's own objects may raise on loading is not ours
    to list completely; these are what pickle documents, and a missing module.
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


def aggregate_form(function: object, columns: tuple[str, ...], call: Call) -> Form:
    """How an aggregate function of Python's takes a group: a fold of ``group_fold`` is known by
    itself. Declines ``eval-type`` for such a fold where no Arrow arrays come.
    """
    if group_fold_under(function) is not None:
        if call.arrow:
            return SeriesFunction(columns)
        raise DeclineSignal("eval-type", f"{call.name} is a fold of Arrow arrays")
    form = ArrayFunction if call.arrow else SeriesFunction
    return form(columns, call.streamed)


def takes_key(function: object, boundary: Boundary, call: Call) -> bool:
    """Whether PySpark calls it with the key first: it counts positional parameters the same way."""
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
