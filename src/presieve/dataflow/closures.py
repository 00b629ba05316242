# SPDX-License-Identifier: Apache-2.0
"""Trusted. Functions that use variables of the function around them (closures).

The analysis follows a closure where it sees the call. A closure that is kept in a container,
wrapped by a decorator or handed to unknown code can be called where the analysis does not see it,
and then reads and changes whatever its variables hold. So every mention of a closure must be a call
that was followed, or an argument of a call that called it back; otherwise nothing is known of the
tables.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import TypeAlias

from presieve.dataflow.context import Analysis

_Function: TypeAlias = ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda
_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)
_COMPREHENSIONS = (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)


def is_every_closure_followed(a: Analysis) -> bool:
    """Whether the analysis has followed every call of every closure."""
    return all(_is_followed(a, owner.source.node) for owner in a.owners)


def _is_followed(a: Analysis, root: ast.FunctionDef | ast.Lambda) -> bool:
    closures = list(_closures(root))
    if not closures:
        return True
    callers = {id(part): caller for caller, part in _callers(root)}
    return not any(map(_has_variable_defaults, closures)) and all(
        (caller := callers.get(id(mention))) is not None
        and (caller, closure) in a.followed
        and (caller, closure) not in a.unfollowed
        for closure in closures
        for mention in _mentions(root, closure)
    )


def _callers(root: ast.AST) -> Iterator[tuple[ast.expr, ast.expr]]:
    """Yield the nodes that may call a function, each with the function's place: calls, with what
    they call and their arguments, and indexing, as in ``table.loc[function]``.
    """
    for node in ast.walk(root):
        match node:
            case ast.Call(func, args, keywords):
                parts = [func, *args, *(keyword.value for keyword in keywords)]
            case ast.Subscript(slice=ast.Tuple(parts)):
                pass
            case ast.Subscript(slice=index):
                parts = [index]
            case _:
                continue
        yield from ((node, part) for part in parts)


def _closures(root: _Function) -> Iterator[_Function]:
    """Yield the functions inside of ``root`` that use variables of the functions around them."""

    def search(node: ast.AST, around: frozenset[str]) -> Iterator[_Function]:
        for child in ast.iter_child_nodes(node):
            if not isinstance(child, _FUNCTIONS):
                yield from search(child, around)
                continue
            if (_loads(child) - _own_names(child)) & around:
                yield child
            yield from search(child, around | _own_names(child))

    return search(root, _own_names(root))


def free_names(function: ast.FunctionDef | ast.Lambda) -> frozenset[str]:
    """The names that a function reads and does not bind."""
    return frozenset(_loads(function) - _own_names(function))


def _has_variable_defaults(closure: _Function) -> bool:
    """Whether a parameter may get a value that the call does not show."""
    defaults = (*closure.args.defaults, *filter(None, closure.args.kw_defaults))
    return any(isinstance(node, ast.Name) for default in defaults for node in ast.walk(default))


def _mentions(root: _Function, closure: _Function) -> Iterator[ast.AST]:
    """Yield the nodes whose value is the closure: the names that stand for it, or the closure
    itself if it stands in another place than under a plain name.
    """
    name = _plain_name(root, closure)
    if name is None:
        yield closure
        return
    for node in ast.walk(root):
        if isinstance(node, ast.Name) and node.id == name and isinstance(node.ctx, ast.Load):
            yield node


def _plain_name(root: _Function, closure: _Function) -> str | None:
    """Return the name that ``def f(...)`` or ``f = lambda ...`` gives the closure."""
    for node in ast.walk(root):
        match node:
            case (
                ast.Assign(targets=[ast.Name(id=name)], value=value)
                | ast.AnnAssign(target=ast.Name(id=name), value=value)
            ) if value is closure:
                return name
            case ast.ClassDef(body=body) if closure in body:
                return None
    if isinstance(closure, ast.FunctionDef) and not closure.decorator_list:
        return closure.name
    return None


def _loads(function: _Function) -> set[str]:
    """The names that are read in a function, its default values and the functions inside of it."""
    return {
        node.id
        for node in ast.walk(function)
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load)
    }


def _own_names(function: _Function) -> frozenset[str]:
    """The names that a function binds: its parameters, and what its body binds outside of
    comprehensions and of functions inside of it. A function with ``nonlocal`` or ``global`` is not
    read at all (:func:`presieve.lift.python.source.parse_function`).
    """
    arguments = function.args
    parameters = (*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs)
    extra = (arguments.vararg, arguments.kwarg)
    names = {p.arg for p in (*parameters, *extra) if p is not None}
    pending: list[ast.AST] = list(function.body if isinstance(function.body, list) else ())
    while pending:
        node = pending.pop()
        match node:
            case ast.FunctionDef(name=n) | ast.AsyncFunctionDef(name=n) | ast.ClassDef(name=n):
                names.add(n)
                continue
            case ast.Lambda():
                continue
            case ast.Name(id=name, ctx=ast.Store() | ast.Del()):
                names.add(name)
            case ast.alias(name=name, asname=asname):
                names.add((asname or name).partition(".")[0])
            case ast.ExceptHandler(name=str(name)):
                names.add(name)
            case ast.MatchAs(name=str(name)) | ast.MatchStar(name=str(name)):
                names.add(name)
            case ast.MatchMapping(rest=str(name)):
                names.add(name)
        pending.extend(_inner_nodes(node))
    return frozenset(names)


def _inner_nodes(node: ast.AST) -> Iterator[ast.AST]:
    """Yield the child nodes, of a comprehension only those that may bind a name with ``:=``."""
    if not isinstance(node, _COMPREHENSIONS):
        yield from ast.iter_child_nodes(node)
        return
    for inner in ast.walk(node):
        if isinstance(inner, ast.NamedExpr):
            yield inner.target
