"""Trusted. Calls as they are written: which function or method it is, and with which arguments."""

from __future__ import annotations

import ast

from presieve.lift.execution import comprehensions, heap, identity, inlining, opaque_calls
from presieve.lift.execution.state import Call, Flow, Machine
from presieve.lift.forms import Pure
from presieve.lift.models.builtins import dicts, lists, records, strings
from presieve.lift.models.builtins.functions import build_date, calendar_constructor, unknown
from presieve.lift.models.builtins.functions import call as call_known
from presieve.lift.models.pandas import dataframe
from presieve.lift.models.pandas.tables import is_table_call, table
from presieve.lift.python.callables import is_known, is_method
from presieve.lift.python.names import is_function
from presieve.lift.values.symbolic import Known, Value, describe


def call(m: Machine, node: ast.Call, flow: Flow) -> Value:
    """The value of a call as it is written. Declines ``unknown-call`` for all that is not known."""
    if not isinstance(node.func, ast.Name | ast.Attribute):
        raise m.decline("unknown-call", "the called function is not known", node)
    written = ast.unparse(node.func)
    known = opaque_calls.declared(m, node.func, flow)
    if known is not None:
        return _pure_call(m, node, known, flow)
    if is_method(m, node.func, flow):
        return _method(m, node, flow)
    function = _function(m, node.func, flow)
    if not isinstance(function, Known):
        raise m.decline(*unknown(written), node)
    if is_table_call(function):
        return _table_call(m, node, flow)
    if is_function(function, *comprehensions.REDUCTIONS) and _is_of_many(function, node):
        return comprehensions.reduction(m, function, node, flow)
    if records.kind_of(function.target):
        given = inlining.arguments(m, flow, node)
        return records.construct(m, flow, function, *given, node)
    if is_function(function, "dataclasses.replace", "dataclasses.asdict", "dataclasses.astuple"):
        return records.helper(m, flow, function, *inlining.arguments(m, flow, node), node)
    if inlining.is_own(function.target):
        with opaque_calls.advised(m, function):
            return inlining.call(m, flow, function, node)
    if any(isinstance(a, ast.Starred) for a in node.args):
        raise m.decline("unknown-call", "a call with *", node)
    container = dicts.construct(m, flow, function, node)
    container = container or lists.construct(m, flow, function, node)
    if container is not None:
        return container
    make = calendar_constructor(function)
    if make is not None and not node.keywords:
        return build_date(m, make, tuple(m.evaluate(a, flow) for a in node.args), node)
    renamed = Known(written, function.target)
    args = tuple(m.evaluate(a, flow) for a in node.args)
    result = call_known(m, flow, renamed, args, bool(node.keywords), node)
    return identity.fresh(m, result) if is_function(renamed, *identity.FUNCTIONS) else result


def _is_of_many(function: Known, node: ast.Call) -> bool:
    """Whether ``min`` or ``max`` is asked for the items of something, as the others always are."""
    extreme = is_function(function, "builtins.min", "builtins.max")
    return not extreme or len(node.args) == 1


def _function(m: Machine, node: ast.expr, flow: Flow) -> Value | None:
    """The function that is called; None where it is not known."""
    if is_known(m, node, flow):
        return m.evaluate(node, flow)
    found = flow.env.get(node.id) if isinstance(node, ast.Name) else None
    # A function of the user's is called by its own name: whether a worker has the same is asked.
    return found if isinstance(found, Known) and not inlining.is_own(found.target) else None


def _pure_call(m: Machine, node: ast.Call, known: Pure, flow: Flow) -> Value:
    """The result of a function that is declared pure."""
    args, named = inlining.arguments(m, flow, node)
    every = {**{str(i): a for i, a in enumerate(args)}, **named}
    return opaque_calls.call(m, flow, known, every, node)


def own_method(m: Machine, flow: Flow, owner: Value, node: ast.Call) -> Value | None:
    """The result of a method of a class of the user's; None where it is none."""
    assert isinstance(node.func, ast.Attribute)
    if records.record_of(m, flow, owner) is None:
        return inlining.method(m, flow, owner, node)
    args, named = inlining.arguments(m, flow, node)
    return records.method(Call(m, flow, node.func.attr, tuple(args), named, node), owner)


def _method(m: Machine, node: ast.Call, flow: Flow) -> Value:
    assert isinstance(node.func, ast.Attribute)
    owner = m.evaluate(node.func.value, flow)
    name = node.func.attr
    own = own_method(m, flow, owner, node)
    if own is not None:
        return own
    if dataframe.has_methods(owner) and not any(isinstance(a, ast.Starred) for a in node.args):
        values = tuple(_contents(m, a, flow) for a in node.args)
        named = {k.arg or "**": _contents(m, k.value, flow) for k in node.keywords}
        found = dataframe.method_of(Call(m, flow, name, values, named, node), owner)
        if found is not None:
            return identity.fresh(m, found) if name in identity.METHODS else found
    changed = lists.method(m, flow, owner, name, node)
    if changed is not None:
        return changed
    if not node.keywords and not any(isinstance(a, ast.Starred) for a in node.args):
        args = tuple(m.evaluate(a, flow) for a in node.args)
        made = Call(m, flow, name, args, {}, node)
        found = strings.method(made, m.force(owner, flow))
        found = found or dicts.method(made, owner) or heap.method(made, owner)
        if found is not None:
            return found
    owner = flow.opened(owner)
    if name in ("append", "extend", "insert", "add", "update", "pop", "remove", "clear", "sort"):
        raise m.decline("mutation", f".{name}() changes {describe(owner)} in place", node)
    raise m.decline("unknown-call", f"the method .{name}() of {describe(owner)} is not known", node)


def _table_call(m: Machine, node: ast.Call, flow: Flow) -> Value:
    named: dict[str, Value] = {}
    for keyword in node.keywords:
        if keyword.arg is None:
            raise m.decline("unsupported-expression", "a call with **", node)
        named[keyword.arg] = _contents(m, keyword.value, flow)
    args = [_contents(m, a, flow) for a in node.args]
    return table(m, args, named, node)


def _contents(m: Machine, node: ast.expr, flow: Flow) -> Value:
    return heap.frozen(m, flow, m.evaluate(node, flow), node, set())
