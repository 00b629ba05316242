# SPDX-License-Identifier: Apache-2.0
"""Trusted. Functions that are defined inside of the function, and called there.

Python looks a captured variable up when the inner function is called. So a function may capture
what is bound once, before it is defined: then it is the same at every call. What is in a captured
object is looked up when it is called, as that of any other object.
"""

from __future__ import annotations

import ast
import inspect
from collections.abc import Iterator
from symtable import SymbolTable, symtable

from presieve.errors import DeclineSignal
from presieve.lift.execution.state import Flow, SymbolicMachine
from presieve.lift.python.bindings import names_bound
from presieve.lift.values.symbolic import InnerFunctionV, Known, NoneV, Scalar, Unbound, Value

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
