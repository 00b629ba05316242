"""Trusted. The target of a call: a known object from outside of the function, or a value's
method.
"""

from __future__ import annotations

import ast
import re
from types import ModuleType

from presieve.lift.execution.outer_containers import is_container
from presieve.lift.execution.state import Flow, SymbolicMachine
from presieve.lift.python.names import is_broadcast, member
from presieve.lift.values.symbolic import Known, Value


def is_known(m: SymbolicMachine, node: ast.expr, flow: Flow) -> bool:
    """Return whether a called name leads to a module or function from outside of the function."""
    match node:
        case ast.Name(name):
            return name not in flow.env or _is_module(flow.env[name])
        case ast.Attribute(ast.Name() | ast.Attribute() as owner, name):
            if not is_known(m, owner, flow):
                return False
            value = m.evaluate(owner, flow)
            return isinstance(value, Known) and member(value, name, m.columns.zone) is not None
    return False


def _is_module(value: Value) -> bool:
    """Return whether the value is a module, which the function itself imports."""
    return isinstance(value, Known) and isinstance(value.target, ModuleType)


def _is_constant(m: SymbolicMachine, name: str) -> bool:
    """Return whether a name leads to a text, number, container, pattern or broadcast variable from
    outside of the function.
    """
    if not any(name in scope for scope in (m.names.closure, m.names.globals)):
        return False
    value = m.names.resolve(name)
    if not isinstance(value, Known):
        return True
    is_supported = type(value.target) is re.Pattern or is_broadcast(value.target)
    return is_supported or is_container(value)


def is_method(m: SymbolicMachine, node: ast.expr, flow: Flow) -> bool:
    """Return whether the called attribute belongs to a value of the function."""
    match node:
        case ast.Attribute(ast.Name(name)):
            if name in flow.env:
                return not _is_module(flow.env[name])
            return _is_constant(m, name)
        case ast.Attribute(
            ast.Constant()
            | ast.Dict()
            | ast.Subscript()
            | ast.Call()
            | ast.Compare()
            | ast.BinOp()
            | ast.UnaryOp()
        ):
            return True
        case ast.Attribute(ast.Attribute() as owner):
            return is_method(m, owner, flow)
    return False
