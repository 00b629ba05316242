# SPDX-License-Identifier: Apache-2.0
"""Trusted. Functions that return an iterator, or yield from one, as functions that yield its items.

What comes before the last statement runs when the function is called, and would run when the first
item is asked for. Spark calls the function and asks for its items at once.
"""

from __future__ import annotations

import ast
import copy
import inspect
from collections.abc import Iterable, Iterator
from itertools import count
from types import FunctionType


def yielding(function: FunctionType, node: ast.FunctionDef) -> ast.FunctionDef | None:
    """Return the definition with ``for x in items: yield f(x)`` for its last statement, which
    returns or yields from ``(f(x) for x in items)`` or ``map(f, items)``; None if its last
    statement is another one.
    """
    *before, last = node.body
    value = _iterator(last, yields=inspect.isgeneratorfunction(function))
    if value is None or any(_returns(s) for s in before):
        return None
    names = _names([node.args, *before])
    loop = _loop_of(function, value, names)
    if loop is None or names & _names(_targets(loop)):
        return None  # the variables of a generator expression are its own
    written = copy.copy(node)
    written.body = [*before, ast.fix_missing_locations(ast.copy_location(loop, last))]
    return written


def _iterator(last: ast.stmt, *, yields: bool) -> ast.expr | None:
    """Return the iterator whose items a function gives at last. What a function with ``yield``
    returns is no item.
    """
    match last:
        case ast.Expr(ast.YieldFrom(value)) if yields:
            return value
        case ast.Return(value) if not yields:
            return value
    return None


def _loop_of(function: FunctionType, value: ast.expr, names: set[str]) -> ast.stmt | None:
    match value:
        case ast.GeneratorExp(element, generators):
            body: ast.stmt = _yield(element)
            for g in reversed(generators):
                for test in reversed(g.ifs):
                    body = ast.copy_location(ast.If(test, [body], []), test)
                body = ast.copy_location(ast.For(g.target, g.iter, [body], []), g.iter)
            return None if any(g.is_async for g in generators) else body
        case ast.Call(ast.Name("map"), [ast.Name() | ast.Lambda() as each, items], []):
            if _means_builtin(function, "map"):
                item = next(n for n in _item_names() if n not in names | _names([value]))
                call = ast.Call(each, [ast.Name(item, ast.Load())], [])
                target = ast.Name(item, ast.Store())
                return ast.For(target, items, [_yield(ast.copy_location(call, each))], [])
    return None


def _yield(value: ast.expr) -> ast.stmt:
    return ast.copy_location(ast.Expr(ast.copy_location(ast.Yield(value), value)), value)


def _returns(statement: ast.AST) -> bool:
    """Whether a statement may return from the function that it belongs to."""
    if isinstance(statement, ast.FunctionDef | ast.ClassDef):
        return False
    return isinstance(statement, ast.Return) or any(map(_returns, ast.iter_child_nodes(statement)))


def _means_builtin(function: FunctionType, name: str) -> bool:
    code = function.__code__
    local = (*code.co_varnames, *code.co_cellvars, *code.co_freevars)
    return name not in local and name not in function.__globals__


def _item_names() -> Iterator[str]:
    return (f"item{'_' * n}" for n in count())


def _targets(loop: ast.stmt) -> list[ast.expr]:
    return [n.target for n in ast.walk(loop) if isinstance(n, ast.For)]


def _names(nodes: Iterable[ast.AST]) -> set[str]:
    """All names that are written in the nodes."""
    every = [n for node in nodes for n in ast.walk(node)]
    written = (getattr(n, field, None) for n in every for field in ("id", "arg", "name", "asname"))
    return {name for name in written if isinstance(name, str)}
