# SPDX-License-Identifier: Apache-2.0
"""Trusted. The user's own functions and methods, executed where they are called.

A call runs the body with variables of its own, on the caller's path and with the caller's objects,
so that both see changes to an object. Its exits are merged: the value is chosen by the conditions
under which each exit is taken.

Python looks a variable that an inner function captures up when the function is called. So it may
capture what is bound once, before it is defined: then it is the same at every call. What is in a
captured object is looked up when it is called, as that of any other object. Before the loop over
rows, no object is captured: the loop would not name it.
"""

from __future__ import annotations

import ast
import inspect
from collections.abc import Iterator, Mapping, Sequence
from symtable import SymbolTable, symtable
from types import FunctionType, MappingProxyType, ModuleType
from typing import TypeGuard

from presieve.errors import DeclineSignal
from presieve.lift.execution.heap import box_contents, freeze_contents, numbers_in
from presieve.lift.execution.stage import Stage
from presieve.lift.execution.state import (
    Exit,
    ExitKind,
    Flow,
    ModelCall,
    SymbolicMachine,
    join_heaps,
    merge_choices,
    path_conditions,
)
from presieve.lift.python.bindings import names_bound
from presieve.lift.python.names import as_constant, names_of, own_names
from presieve.lift.python.outer_members import is_of_program
from presieve.lift.python.shipped import attribute, function_source
from presieve.lift.python.shipping import is_own_module
from presieve.lift.values.join_values import merge
from presieve.lift.values.symbolic import (
    NONE,
    DictV,
    InnerFunctionV,
    Known,
    ListV,
    NoneV,
    Scalar,
    SelfV,
    TupleV,
    Unbound,
    Value,
    holds_objects,
    is_tagged,
)
from presieve.records import replace
from presieve.semantics.smart_constructors import and_

_DEEPEST = 12
"""Maximum depth of nested calls."""


def is_followed(value: Value | None) -> TypeGuard[Known | InnerFunctionV]:
    """Return whether this is a user's function, which is executed where it is called."""
    return isinstance(value, InnerFunctionV) or (isinstance(value, Known) and is_own(value.target))


def is_own(function: object) -> bool:
    """Return whether this is a user's function that may be executed where it is called."""
    return isinstance(function, FunctionType) and is_own_module(function.__module__)


def call(m: SymbolicMachine, flow: Flow, function: Known | InnerFunctionV, node: ast.Call) -> Value:
    """Execute a call of a user's function."""
    args, named = arguments(m, flow, node)
    return follow_call(ModelCall(m, flow, "", tuple(args), named, node), function)


def follow_call(call: ModelCall, function: Known | InnerFunctionV) -> Value:
    """Execute a call of a user's function, whose arguments are evaluated."""
    if isinstance(function, InnerFunctionV):
        return _call_inner(call._replace(name=function.node.name), function)
    assert isinstance(function.target, FunctionType)
    return inline_call(call._replace(name=function.name), function.target)


def method(m: SymbolicMachine, flow: Flow, owner: Value, node: ast.Call) -> Value | None:
    """Return the result of a method of a user's class, called on the object whose method is
    executed, or on a class or object from outside; None if it is not one.
    """
    assert isinstance(node.func, ast.Attribute)
    name = node.func.attr
    resolved = _method_of(owner, name) if isinstance(owner, SelfV) else _method_outside(owner, name)
    if resolved is None:
        return None
    return _call_resolved(ModelCall(m, flow, name, (), {}, node), *resolved)


def call_object(m: SymbolicMachine, flow: Flow, called: Known, node: ast.Call) -> Value | None:
    """Return the result of calling an object outside by ``__call__`` of its class, a class of the
    program; None for other objects.
    """
    if isinstance(called.target, type):
        return None
    resolved = _method_outside(called, "__call__")
    if resolved is None:
        return None
    return _call_resolved(ModelCall(m, flow, called.name, (), {}, node), *resolved)


def _call_resolved(call: ModelCall, function: FunctionType, first: tuple[Value, ...]) -> Value:
    """Execute a method; ``first`` are the arguments before those that are written."""
    assert isinstance(call.node, ast.Call)
    args, named = arguments(call.m, call.flow, call.node)
    return inline_call(call._replace(args=(*first, *args), named=named), function)


def arguments(
    m: SymbolicMachine, flow: Flow, node: ast.Call
) -> tuple[list[Value], dict[str, Value]]:
    """Evaluate the arguments of a call, by position and by name."""
    args: list[Value] = []
    for a in node.args:
        if not isinstance(a, ast.Starred):
            args.append(m.evaluate(a, flow))
            continue
        listed = flow.dereference(m.evaluate(a.value, flow))
        if not isinstance(listed, TupleV | ListV) or is_tagged(listed):
            raise DeclineSignal("unknown-call", "a call with *")
        args += listed.items
    named: dict[str, Value] = {}
    for keyword in node.keywords:
        value = m.evaluate(keyword.value, flow)
        if keyword.arg is not None:
            named[keyword.arg] = value
            continue
        options = flow.dereference(value)
        if not isinstance(options, DictV) or named.keys() & set(options.names):
            raise DeclineSignal("unknown-call", "a call with **")
        named |= dict(zip(options.names, options.items, strict=True))
    return args, named


def _method_of(owner: SelfV | Known, name: str) -> tuple[FunctionType, tuple[Value, ...]] | None:
    """Return the method ``owner.name``, and the arguments that are passed before the others."""
    cls = owner.target if isinstance(owner.target, type) else type(owner.target)
    if attribute(cls, "__getattribute__") is not object.__getattribute__:
        return None
    if cls is not owner.target and name in getattr(owner.target, "__dict__", {}):
        return None
    return find_method(cls, name, owner)


def _method_outside(owner: Value, name: str) -> tuple[FunctionType, tuple[Value, ...]] | None:
    """Return the same for a class or object outside. A plain function of a class gets no object."""
    if not isinstance(owner, Known) or isinstance(owner.target, ModuleType):
        return None
    target = owner.target
    is_class = isinstance(target, type)
    if not is_of_program(target) or type(target if is_class else type(target)) is not type:
        return None
    resolved = _method_of(owner, name)
    if resolved is not None and is_class and isinstance(attribute(target, name), FunctionType):
        return resolved[0], ()
    return resolved


def find_method(
    cls: type, name: str, owner: Value
) -> tuple[FunctionType, tuple[Value, ...]] | None:
    """Return the method of a class by name, and the arguments that are passed first."""
    member = attribute(cls, name, None)
    match member:
        case FunctionType():
            return member, (owner,)
        case staticmethod() if isinstance(member.__func__, FunctionType):
            return member.__func__, ()
        case classmethod() if isinstance(member.__func__, FunctionType):
            return member.__func__, (Known(cls.__name__, cls),)
    return None


def inline_call(call: ModelCall, function: FunctionType) -> Value:
    """Return the value of a call; the caller's path goes on with the objects as it leaves them."""
    source = function_source(function)
    inner = call.m.enter_function(source, names_of(function, call.m.columns.zone))
    signature = inspect.signature(function, follow_wrapped=False)
    call = call._replace(name=function.__name__)
    declared = signature.parameters.values()
    zone = call.m.columns.zone
    has_default = (p for p in declared if p.default is not p.empty)
    defaults = {p.name: as_constant(p.default, p.name, zone) for p in has_default}
    env = _bind_arguments(call, signature, defaults)
    return _execute_body(call, inner, own_names(function), env)


def _call_inner(call: ModelCall, function: InnerFunctionV) -> Value:
    source = replace(call.m.source, node=function.node)
    inner = call.m.enter_function(source, call.m.names)
    env = _bind_arguments(call, signature_of(function.node), dict(function.defaults))
    return _execute_body(call, inner, function.variables, env, dict(function.captured))


def _execute_body(
    call: ModelCall,
    inner: SymbolicMachine,
    variables: Sequence[str],
    arguments: Mapping[str, Value],
    captured: Mapping[str, Value] = MappingProxyType({}),
) -> Value:
    """Execute the body of a function that has these variables of its own, for these arguments."""
    flow, body = call.flow, inner.source.node.body
    if flow.ended:
        return NONE
    if call.m.depth >= _DEEPEST:
        raise call.decline("unsupported-expression", f"{call.name} calls itself")
    callee_path = Flow({}, flow.conds, flow.facts, heap=dict(flow.heap))
    env = {n: Unbound() for n in variables} | dict(arguments)
    callee_path.env = {n: box_contents(inner, callee_path, v) for n, v in env.items()}
    callee_path.env |= captured
    inner.execute(body, callee_path)
    exits = inner.frame.exits
    if not callee_path.ended:
        exits += (Exit(ExitKind.RETURN, callee_path, NONE, body[-1]),)
    return _merge_returns(flow, exits)


def _bind_arguments(
    call: ModelCall, signature: inspect.Signature, defaults: Mapping[str, Value]
) -> dict[str, Value]:
    """Return the parameters at the start. Declines a call that Python would refuse."""
    env: dict[str, Value] = {}
    try:
        passed = signature.bind(*call.args, **call.named).arguments
    except TypeError as e:
        reason = f"{call.name} is called with other arguments than it takes: {e}"
        raise call.decline("always-raises", reason) from e
    for p in signature.parameters.values():
        if p.kind is p.VAR_POSITIONAL:
            env[p.name] = TupleV(passed.get(p.name, ()))
        elif p.kind is p.VAR_KEYWORD:
            others = passed.get(p.name, {})
            env[p.name] = DictV(tuple(others), tuple(others.values()))
        elif p.name in passed:
            env[p.name] = passed[p.name]
        else:
            env[p.name] = defaults[p.name]
    return env


def _merge_returns(flow: Flow, exits: Sequence[Exit]) -> Value:
    """Merge the paths that return into one value and one path."""
    if any(e.kind is not ExitKind.RETURN for e in exits):
        raise DeclineSignal("unsupported-statement", "continue outside of a loop")
    if not exits:
        flow.ended = True
        return NONE
    start = len(flow.conds)
    paths = [replace(e.flow, conds=e.flow.conds[start:]) for e in exits]
    taken = path_conditions(paths)
    values = _mergeable_values(flow, exits)
    value = merge_choices(taken, values, merge)
    flow.heap = merge_choices(taken, [p.heap for p in paths], join_heaps)
    flow.facts |= paths[0].facts.intersection(*(p.facts for p in paths[1:]))
    return value


def _mergeable_values(flow: Flow, exits: Sequence[Exit]) -> list[Value]:
    """Prepare the returned values for merging: new objects of a path are replaced by their
    contents. Declines if the value is one or another object from before the call.
    """
    values = [e.value for e in exits]
    if all(v == values[0] for v in values):
        return values
    frozen_values = []
    for e in exits:
        own = numbers_in(e.value)
        others = (v for n, v in e.flow.heap.items() if n not in own)
        if own & flow.heap.keys() or any(own & numbers_in(v) for v in others):
            raise DeclineSignal("mutation", "it depends on the row which object a call returns")
        frozen_values.append(freeze_contents(e.flow, e.value, set()))
    return frozen_values


def settled_branch(flow: Flow, inner: Flow) -> None:
    """Join objects after a part of an expression that is evaluated on some paths only: they are as
    on its path where that is taken, and unchanged elsewhere.
    """
    taken = and_(*inner.conds[len(flow.conds) :])
    flow.heap = join_heaps(taken, inner.heap, flow.heap)


# --- functions that the function defines ----------------------------------------------------------

_NOT_PLAIN = (ast.Yield, ast.YieldFrom, ast.Await, ast.Nonlocal, ast.Global)


def define(m: SymbolicMachine, node: ast.FunctionDef, flow: Flow) -> None:
    """Execute ``def f(...): ...``. Declines what is not a plain function of what it captures."""
    reason = _why_not(m, node)
    if reason:
        raise DeclineSignal("unsupported-statement", f"{node.name} {reason}")
    tables = symtable(ast.unparse(node), "<inner>", "exec").get_children()
    table = next(t for t in tables if t.get_name() == node.name)
    captured = sorted(_names_from_outside(table) & flow.env.keys())
    for name in captured:
        _check_captured(m, node, flow, name)
    variables = tuple(sorted(s.get_name() for s in table.get_symbols() if s.is_local()))
    env = tuple((n, flow.env[n]) for n in captured)
    flow.env[node.name] = InnerFunctionV(node, variables, env, tuple(_defaults(m, node, flow)))


def _defaults(m: SymbolicMachine, node: ast.FunctionDef, flow: Flow) -> Iterator[tuple[str, Value]]:
    """Yield the parameters that have a default, which is evaluated here."""
    for parameter in signature_of(node).parameters.values():
        if isinstance(parameter.default, ast.expr):
            value = m.evaluate(parameter.default, flow)
            if not isinstance(value, Scalar | NoneV | Known):
                reason = f"the default of {parameter.name} may be changed: use None or a constant"
                raise DeclineSignal("unsupported-statement", reason)
            yield parameter.name, value


def _names_from_outside(table: SymbolTable) -> set[str]:
    """Return the names that a function, and those in it, look up outside of it."""
    names = {s.get_name() for s in table.get_symbols() if s.is_global()}
    return names.union(*map(_names_from_outside, table.get_children()))


def _why_not(m: SymbolicMachine, node: ast.FunctionDef) -> str:
    """Return why a definition is not read, after the function's name."""
    loops = (n for n in ast.walk(m.source.node) if isinstance(n, ast.For | ast.While))
    if any(node.args in ast.walk(loop) for loop in loops):
        return "is defined in a loop: define it before"
    if node.decorator_list:
        return "is defined inside, with a decorator: define it outside the function"
    if any(isinstance(n, _NOT_PLAIN) for n in ast.walk(node)):
        return "is defined inside, and no plain function: define it outside the function"
    return ""


def _check_captured(m: SymbolicMachine, node: ast.FunctionDef, flow: Flow, name: str) -> None:
    """Decline a captured variable that is not bound once, before the definition."""
    owner = m.source.node
    bindings = len(names_bound(owner.body).get(name, ())) + (name in signature_of(owner).parameters)
    if name == node.name:
        raise DeclineSignal("unsupported-expression", f"{name} calls itself")
    if bindings != 1 or isinstance(flow.env[name], Unbound):
        reason = (
            f"{node.name} is defined inside and reads {name}, which is not bound once and before "
            f"it: pass {name} as an argument"
        )
        raise DeclineSignal("unsupported-statement", reason)
    if m.state.stage is Stage.BEFORE and holds_objects(flow.env[name]):
        # The loop over the rows knows what it changes by the names in it.
        reason = (
            f"{node.name} is defined before the loop over the rows and reads {name}, which may be "
            f"changed from row to row: pass {name} as an argument"
        )
        raise DeclineSignal("mutation", reason)


def signature_of(node: ast.FunctionDef) -> inspect.Signature:
    """Return the signature of a definition; defaults are expressions."""
    args, kinds = node.args, inspect.Parameter
    plain = [*args.posonlyargs, *args.args]
    defaults: list[ast.expr | None] = [None] * (len(plain) - len(args.defaults))
    defaults += args.defaults
    listed: list[tuple[ast.arg | None, inspect._ParameterKind, ast.expr | None]] = []
    for number, (arg, default) in enumerate(zip(plain, defaults, strict=True)):
        only = number < len(args.posonlyargs)
        kind = kinds.POSITIONAL_ONLY if only else kinds.POSITIONAL_OR_KEYWORD
        listed.append((arg, kind, default))
    listed.append((args.vararg, kinds.VAR_POSITIONAL, None))
    pairs = zip(args.kwonlyargs, args.kw_defaults, strict=True)
    listed += ((a, kinds.KEYWORD_ONLY, d) for a, d in pairs)
    listed.append((args.kwarg, kinds.VAR_KEYWORD, None))
    return inspect.Signature(
        [
            inspect.Parameter(arg.arg, kind, default=kinds.empty if default is None else default)
            for arg, kind, default in listed
            if arg is not None
        ]
    )
