# SPDX-License-Identifier: Apache-2.0
"""Trusted. Statements that write a message: ``print``, ``logging`` and ``warnings``.

Nothing depends on a message, so the statement does nothing but evaluate its arguments, which may
raise. The report says that fewer messages may be written.
"""

from __future__ import annotations

import ast
import builtins
import logging
import warnings
from types import ModuleType

from presieve.errors import DeclineSignal
from presieve.lift.execution.state import Flow, SymbolicMachine
from presieve.lift.values.symbolic import CAUGHT, Known
from presieve.python_library.method_catalogue import CATALOGUE
from presieve.semantics.assumptions import FEWER_MESSAGES


def execute(m: SymbolicMachine, node: ast.expr, flow: Flow) -> None:
    """Execute an expression as a statement, whose value nobody uses."""
    if isinstance(node, ast.Call) and _is_message(m, node, flow):
        _write_message(m, node, flow)
    else:
        m.evaluate(node, flow)


def _is_message(m: SymbolicMachine, node: ast.Call, flow: Flow) -> bool:
    """Return whether a call does nothing but write a message."""
    match node.func:
        case ast.Name(name) if name not in flow.env:
            return _outer(m, name) in (print, warnings.warn)
        case ast.Attribute(ast.Name(owner), name):
            return _writes(_owner(m, owner, flow), name)
    return False


def _owner(m: SymbolicMachine, name: str, flow: Flow) -> object:
    if name not in flow.env:
        return _outer(m, name)
    value = flow.env[name]
    return value.target if isinstance(value, Known) else None


def _outer(m: SymbolicMachine, name: str) -> object:
    """Return the object of an outer name. Workers may have another logger, but a logger."""
    try:
        return m.names.lookup(name, read=False)
    except DeclineSignal:
        target = m.names.globals.get(name)
        return target if isinstance(target, logging.Logger) else None


def _writes(owner: object, name: str) -> bool:
    if isinstance(owner, ModuleType):
        return (owner is warnings and name == "warn") or (
            owner is logging and name in CATALOGUE["logger"]
        )
    return type(owner) is logging.Logger and name in CATALOGUE["logger"]


def _write_message(m: SymbolicMachine, node: ast.Call, flow: Flow) -> None:
    for part in (*node.args, *(keyword.value for keyword in node.keywords)):
        _evaluate_part(m, part, flow)
    line, called = m.source.span(node).line, f"{ast.unparse(node.func)}()"
    m.columns.add_assumptions((FEWER_MESSAGES.of(call=called, line=line),))


def _is_text_of_error(m: SymbolicMachine, node: ast.expr, flow: Flow) -> bool:
    """Return whether this is ``e``, ``str(e)``, ``repr(e)`` or ``type(e).__name__`` of an error
    that is caught.
    """
    match node:
        case ast.Name(name):
            return flow.env.get(name) is CAUGHT
        case ast.Call(ast.Name("str" | "repr" | "type" as name), [of], []):
            is_own = name not in flow.env and _outer(m, name) is getattr(builtins, name)
            return is_own and _is_text_of_error(m, of, flow)
        case ast.Attribute(ast.Call(ast.Name("type")) as of, "__name__"):
            return _is_text_of_error(m, of, flow)
    return False


def _evaluate_part(m: SymbolicMachine, node: ast.expr, flow: Flow) -> None:
    """Evaluate what is written. Whatever a value is, writing it as a text raises nothing."""
    if _is_text_of_error(m, node, flow):
        return
    if not isinstance(node, ast.JoinedStr):
        m.evaluate(node, flow)
        return
    for piece in node.values:
        if isinstance(piece, ast.FormattedValue) and piece.format_spec is not None:
            m.evaluate(node, flow)
            return
    for piece in node.values:
        if isinstance(piece, ast.FormattedValue):
            _evaluate_part(m, piece.value, flow)
