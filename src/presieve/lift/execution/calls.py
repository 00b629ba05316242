# SPDX-License-Identifier: Apache-2.0
"""Trusted. Calls: their function or method, their arguments, and their models.

The models are in the table of :mod:`presieve.lift.models.registry`; the user's own functions and
classes are executed where they are called.
"""

from __future__ import annotations

import ast
import re
from types import ModuleType

from presieve.errors import DeclineSignal
from presieve.ir.sorts import STRING
from presieve.lift.execution import (
    aliasing,
    comprehensions,
    exceptions,
    heap,
    inlining,
    opaque_calls,
    syntax_with_holes,
)
from presieve.lift.execution.outer_containers import is_container
from presieve.lift.execution.stage import Stage
from presieve.lift.execution.state import Flow, ModelCall, SymbolicMachine
from presieve.lift.forms import Pure
from presieve.lift.models import registry
from presieve.lift.models.builtins import (
    builtin_functions,
    calendar,
    character_tables,
    chosen_characters,
    class_tests,
    composite_values,
    decimals,
    dicts,
    given_none,
    lists,
    mathematics,
    padded_texts,
    regular_expressions,
    sets,
    strings,
    user_records,
)
from presieve.lift.models.pandas import (
    assign,
    bins,
    conversions,
    dataframe,
    elementwise,
    input_and_output,
    series_methods,
    tables_of_columns,
    top_k,
    value_counts,
)
from presieve.lift.models.pandas import numpy_functions as pandas_functions
from presieve.lift.models.pyarrow import arithmetic, arrays, arrow_results, compute, tables
from presieve.lift.models.registry import RegisteredModel
from presieve.lift.python.names import is_broadcast, member
from presieve.lift.python.record_classes import kind_of
from presieve.lift.values.symbolic import (
    NONE,
    InnerFunctionV,
    Known,
    ListV,
    Scalar,
    SetV,
    Value,
    constant_of,
    describe,
)

MODELS = (
    *(
        calendar,
        character_tables,
        class_tests,
        composite_values,
        comprehensions,
        decimals,
        dicts,
        given_none,
        builtin_functions,
        lists,
        mathematics,
        padded_texts,
        regular_expressions,
    ),
    *(user_records, sets, strings),
    *(
        assign,
        bins,
        conversions,
        dataframe,
        elementwise,
        tables_of_columns,
        pandas_functions,
        series_methods,
        input_and_output,
        top_k,
    ),
    *(value_counts, arrays, tables, arithmetic, compute, arrow_results),
)
"""The modules whose models register themselves."""

_CHANGING = ("append", "extend", "insert", "add", "update", "pop", "remove", "clear", "sort")


def call(m: SymbolicMachine, node: ast.Call, flow: Flow) -> Value:
    """Return the value of a call. Declines ``unknown-call`` for functions that are not known."""
    if not isinstance(node.func, ast.Name | ast.Attribute):
        raise DeclineSignal("unknown-call", "the called function is not known")
    pure = opaque_calls.find_declaration(m, node.func, flow)
    if pure is not None:
        return _pure_call(m, node, pure, flow)
    if _is_method(m, node.func, flow):
        return _call_method(m, node, flow)
    of_class = _call_of_class(m, node, flow)
    if of_class is not None:
        return of_class
    function = _function(m, node.func, flow)
    if isinstance(function, InnerFunctionV):
        return inlining.call(m, flow, function, node)
    if not isinstance(function, Known):
        raise _unknown_function(m, node)
    if inlining.is_own(function.target):
        with opaque_calls.advise_declaring(m, function):
            return inlining.call(m, flow, function, node)
    of_object = inlining.call_object(m, flow, function, node)
    if of_object is not None:
        return of_object
    if kind_of(function.target):
        exceptions.check_call(m, ast.unparse(node.func), node)
        return user_records.construct(_evaluate_call(m, flow, "", node), function.target)
    path = registry.path_of(function)
    if path is None:
        raise _decline_unknown(m, flow, node)
    return _call_model(m, flow, path, node)


def _evaluate_call(m: SymbolicMachine, flow: Flow, name: str, node: ast.Call) -> ModelCall:
    args, named = inlining.arguments(m, flow, node)
    return ModelCall(m, flow, name, tuple(args), named, node)


def _call_model(m: SymbolicMachine, flow: Flow, path: str, node: ast.Call) -> Value:
    """Call a function in the table."""
    name, returned = path.rpartition(".")[2], None
    if path in comprehensions.READING_AT_ONCE:
        node = _listed(m, node, flow)
    if path in registry.SYNTAX:
        exceptions.check_call(m, path, node)
        returned = registry.SYNTAX[path].model(ModelCall(m, flow, name, (), {}, node))
    entry = registry.FUNCTIONS.get(path)
    if returned is None and entry is not None:
        if not entry.names([k.arg for k in node.keywords]):
            raise DeclineSignal("unknown-call", f"keyword arguments of {ast.unparse(node.func)}")
        call = _evaluate_call(m, flow, name, node)
        if flow.ended:  # evaluating an argument raises
            return NONE
        exceptions.check_call(m, path, node)
        if not entry.counts(call):
            reason = f"{call.name}() is read with {entry.number_of_arguments} only"
            raise call.decline("unknown-call", reason)
        returned = entry.model(call)
        if returned is not None and entry.fresh:
            return aliasing.fresh(m, returned)
    if returned is None:
        raise _decline_unknown(m, flow, node)
    return returned


def _listed(m: SymbolicMachine, node: ast.Call, flow: Flow) -> ast.Call:
    """Return the call with a list in place of a generator that is its only argument."""
    if len(node.args) != 1 or isinstance(node.args[0], ast.Starred):
        return node
    items = comprehensions.read_at_once(m, node.args[0], flow)
    return ast.copy_location(ast.Call(node.func, [items], node.keywords), node)


def _decline_unknown(m: SymbolicMachine, flow: Flow, node: ast.Call) -> DeclineSignal:
    """Return why a call is not known, unless evaluating one of its arguments declines."""
    if any(isinstance(a, ast.Starred) for a in node.args):
        return DeclineSignal("unknown-call", "a call with *")
    with syntax_with_holes.apart(m, node):
        for a in node.args:
            m.evaluate(a, flow)
    return _unknown_function(m, node)


def _unknown_function(m: SymbolicMachine, node: ast.Call) -> DeclineSignal:
    of_rows = m.state.stage is Stage.LOOP
    return DeclineSignal(*registry.why_unknown(ast.unparse(node.func), of_rows=of_rows))


def _function(m: SymbolicMachine, node: ast.expr, flow: Flow) -> Value | None:
    """Return the function that is called; None if it is not known."""
    if _is_known(m, node, flow):
        return m.evaluate(node, flow)
    target = flow.env.get(node.id) if isinstance(node, ast.Name) else None
    if isinstance(target, InnerFunctionV):
        return target
    # A user's function must be called by its own name, so that the workers' function is checked.
    return target if isinstance(target, Known) and not inlining.is_own(target.target) else None


def _pure_call(m: SymbolicMachine, node: ast.Call, pure: Pure, flow: Flow) -> Value:
    """Return the result of a function that is declared pure."""
    args, named = inlining.arguments(m, flow, node)
    all_args = {**{str(i): a for i, a in enumerate(args)}, **named}
    return opaque_calls.call(m, flow, pure, all_args)


# --- the target of a call -------------------------------------------------------------------------


def _is_known(m: SymbolicMachine, node: ast.expr, flow: Flow) -> bool:
    """Return whether a called name leads to a module or function from outside of the function."""
    match node:
        case ast.Name(name):
            return name not in flow.env or _is_module(flow.env[name])
        case ast.Attribute(ast.Name() | ast.Attribute() as owner, name):
            if not _is_known(m, owner, flow):
                return False
            value = m.evaluate(owner, flow)
            return isinstance(value, Known) and member(value, name, m.columns.zone) is not None
    return False


def _is_module(value: Value) -> bool:
    """Return whether the value is a module, which the function itself imports."""
    return isinstance(value, Known) and isinstance(value.target, ModuleType)


def _is_constant(m: SymbolicMachine, name: str) -> bool:
    """Return whether a name leads to a constant, container, pattern or broadcast from outside."""
    if not any(name in scope for scope in (m.names.closure, m.names.globals)):
        return False
    return _has_methods(m.names.resolve(name))


def _is_constant_member(m: SymbolicMachine, node: ast.Attribute, flow: Flow) -> bool:
    """Return whether ``node`` leads from a module, class or object outside to such a constant."""
    return _is_known(m, node, flow) and _has_methods(m.evaluate(node, flow))


def _has_methods(value: Value) -> bool:
    """Return whether a value from outside is a constant, container, pattern or broadcast."""
    if not isinstance(value, Known):
        return True
    is_supported = type(value.target) is re.Pattern or is_broadcast(value.target)
    return is_supported or is_container(value)


def _is_method(m: SymbolicMachine, node: ast.expr, flow: Flow) -> bool:
    """Return whether the called attribute belongs to a value of the function."""
    match node:
        case ast.Attribute(ast.Name(name)):
            if name in flow.env:
                return not _is_module(flow.env[name])
            return _is_constant(m, name)
        case ast.Attribute(ast.Attribute() as owner):
            return _is_method(m, owner, flow) or _is_constant_member(m, owner, flow)
        case ast.Attribute(ast.Constant() | ast.Dict() | ast.Subscript() | ast.Call()):
            return True
        case ast.Attribute(ast.Compare() | ast.BinOp() | ast.UnaryOp() | ast.BoolOp()):
            return True
        case ast.Attribute(ast.IfExp() | ast.JoinedStr()):
            return True
    return False


def _call_of_class(m: SymbolicMachine, node: ast.Call, flow: Flow) -> Value | None:
    """Return the result of ``Class.method(...)`` for a class of the program, or of a method of an
    object outside; None for other calls.
    """
    if not isinstance(node.func, ast.Attribute):
        return None
    owner = node.func.value
    if not isinstance(owner, ast.Name | ast.Attribute) or not _is_known(m, owner, flow):
        return None
    value = m.evaluate(owner, flow)
    if user_records.record_of(m, flow, value) is not None:
        return None
    return inlining.method(m, flow, value, node)


# --- methods --------------------------------------------------------------------------------------


def _own_method(m: SymbolicMachine, flow: Flow, owner: Value, node: ast.Call) -> Value | None:
    """Return the result of a method of a user's class; None if it is not one."""
    assert isinstance(node.func, ast.Attribute)
    if user_records.record_of(m, flow, owner) is None:
        return inlining.method(m, flow, owner, node)
    return user_records.method(_evaluate_call(m, flow, node.func.attr, node), owner)


def _call_method(m: SymbolicMachine, node: ast.Call, flow: Flow) -> Value:
    assert isinstance(node.func, ast.Attribute)
    owner, name = m.evaluate(node.func.value, flow), node.func.attr
    own = _own_method(m, flow, owner, node)
    if own is not None:
        return own
    entry = registry.method_of(flow.dereference(owner), name)
    returned = _ask_model(m, flow, owner, entry, node)
    if returned is not None:
        return returned
    owner = flow.dereference(owner)
    if name in _CHANGING:
        raise DeclineSignal("mutation", f".{name}() changes {describe(owner)} in place")
    hint = "" if m.state.stage is Stage.LOOP else f": {registry.BELOW}"
    reason = f"the method .{name}() of {describe(owner)} is not known{hint}"
    raise DeclineSignal("unknown-call", reason)


def _ask_model(
    m: SymbolicMachine, flow: Flow, owner: Value, entry: RegisteredModel | None, node: ast.Call
) -> Value | None:
    """Ask a model for the result of a call. Evaluates the arguments even without a model."""
    assert isinstance(node.func, ast.Attribute)
    exceptions.check_call(m, node.func.attr, node, flow.dereference(owner))
    name = node.func.attr
    if name == "join" and isinstance(flow.dereference(owner), Scalar):
        chosen = _join_chosen(m, owner, node, flow)
        if chosen is not None:
            return chosen
        node = _listed(m, node, flow)
    call = ModelCall(m, flow, name, (), {}, node)
    if entry is not None and entry.unevaluated:
        returned = entry.ask(call, owner)
        return aliasing.fresh(m, returned) if returned is not None and entry.fresh else returned
    is_pandas = dataframe.is_pandas(owner)
    if any(isinstance(a, ast.Starred) for a in node.args):
        return None
    if not is_pandas and not _takes_keywords(entry, node):
        return None
    value = heap.contents if is_pandas else SymbolicMachine.evaluate
    args = tuple(value(m, a, flow) for a in node.args)
    named = {k.arg or "**": value(m, k.value, flow) for k in node.keywords}
    call = call._replace(args=args, named=named)
    if entry is None or entry.statement or not entry.counts(call) or not entry.names(named):
        return None
    returned = entry.ask(call, owner)
    return aliasing.fresh(m, returned) if returned is not None and entry.fresh else returned


def _join_chosen(m: SymbolicMachine, owner: Value, node: ast.Call, flow: Flow) -> Value | None:
    """Return ``"".join(c for c in text if ...)`` where the test is one of single characters."""
    if constant_of(owner, STRING) != "" or len(node.args) != 1 or node.keywords:
        return None
    return chosen_characters.join_characters(m, flow, node.args[0])


def _takes_keywords(entry: RegisteredModel | None, node: ast.Call) -> bool:
    names = [k.arg for k in node.keywords]
    return not names or (entry is not None and None not in names and entry.names(names))


def change(m: SymbolicMachine, flow: Flow, node: ast.Call) -> None:
    """Execute a call like ``seen.add(x)`` as a statement. Declines ``mutation`` if not known."""
    assert isinstance(node.func, ast.Attribute)
    owner, name = m.evaluate(node.func.value, flow), node.func.attr
    if _own_method(m, flow, owner, node) is not None:
        return
    exceptions.check_call(m, f".{name}", node)
    entry = registry.method_of(flow.dereference(owner), name)
    if entry is not None and not entry.statement:
        if _ask_model(m, flow, owner, entry, node) is not None:
            return
    args = tuple(heap.box_contents(m, flow, m.evaluate(a, flow)) for a in node.args)
    if flow.ended:
        return
    contents = flow.dereference(owner)
    if isinstance(contents, SetV) and contents.fixed:
        raise DeclineSignal("always-raises", f"a frozenset has no method .{name}()")
    call = ModelCall(m, flow, name, args, {}, node)
    if entry is not None and entry.statement and entry.counts(call):
        if entry.ask(call, owner) is not None:
            return
    hint = (
        ": keep the items that you need, each in a variable" if isinstance(contents, ListV) else ""
    )
    raise DeclineSignal("mutation", f".{name}() changes {describe(contents)} in place{hint}")
