"""Untrusted. The variables that Python statements read and write, for listings."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import TypeAlias

Path: TypeAlias = tuple[str | int, ...]
"""A variable, or a part of one: ``("acc", "total")`` for ``acc.total`` and ``acc["total"]``,
``("acc", 0)`` for ``acc[0]``.
"""

CHANGING = frozenset(
    (
        *("append", "appendleft", "add", "clear", "discard", "extend", "insert", "pop", "popleft"),
        *("popitem", "push", "put", "remove", "reverse", "setdefault", "sort", "update"),
    )
)
"""Methods that change the object on which they are called."""

FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)
COMPOUND = (ast.If, ast.For, ast.While, ast.With, ast.Try, ast.Match)


def path_of(node: ast.expr) -> Path | None:
    """The variable or part of one that an expression refers to; None for other expressions."""
    match node:
        case ast.Name(name):
            return (name,)
        case ast.Attribute(owner, name):
            return _extend_path(owner, name)
        case ast.Subscript(owner, ast.Constant(str() | int() as index)):
            return _extend_path(owner, index)
        case ast.Subscript(owner, _):
            return path_of(owner)
    return None


def _extend_path(owner: ast.expr, part: str | int) -> Path | None:
    path = path_of(owner)
    return None if path is None else (*path, part)


def overlap(first: Path, second: Path) -> bool:
    """Whether the paths are equal, or one is a part of the other."""
    return all(a == b for a, b in zip(first, second, strict=False))


def reads(*nodes: ast.AST | None) -> Iterator[Path]:
    """The paths that expressions read: the longest one of ``a.b.c``, and names of functions too."""
    for node in nodes:
        if node is None:
            continue
        path = path_of(node) if isinstance(node, ast.expr) else None
        if path is None:
            yield from reads(*ast.iter_child_nodes(node))
            continue
        yield path
        inner: ast.AST = node
        while isinstance(inner, ast.Attribute | ast.Subscript):
            if isinstance(inner, ast.Subscript):
                yield from reads(inner.slice)
            inner = inner.value


def targets(node: ast.expr) -> Iterator[Path]:
    """The paths that are written if an expression is the target of an assignment."""
    match node:
        case ast.Tuple(elements) | ast.List(elements):
            for element in elements:
                yield from targets(element)
        case ast.Starred(inner):
            yield from targets(inner)
        case _:
            path = path_of(node)
            if path is not None:
                yield path


def headers(statement: ast.stmt) -> tuple[ast.AST, ...]:
    """The parts of a statement that are not statements, such as ``a`` in ``if a: b``."""
    match statement:
        case ast.If(test) | ast.While(test):
            return (test,)
        case ast.For(target, iterated):
            return (target, iterated)
        case ast.With(items):
            return tuple(items)
        case ast.Match(subject):
            return (subject, *(c.pattern for c in statement.cases), *_guards(statement))
        case ast.Try():
            return tuple(h.type for h in statement.handlers if h.type is not None)
    return (statement,)


def inputs(statement: ast.stmt) -> Iterator[Path]:
    """The paths that a statement reads, without nested statements and its own targets."""
    match statement:
        case ast.Assign(lefts, value):
            yield from reads(value, *_indices(*lefts))
        case ast.AugAssign(target, _, value) | ast.AnnAssign(target, _, value):
            yield from reads(value, *_indices(target))
        case ast.For(target, iterated):
            yield from reads(iterated, *_indices(target))
        case ast.With(items):
            yield from reads(*(item.context_expr for item in items))
        case _:
            yield from reads(*headers(statement))


def _indices(*lefts: ast.expr) -> Iterator[ast.expr]:
    for target in lefts:
        for node in ast.walk(target):
            if isinstance(node, ast.Subscript):
                yield node.slice


def _guards(statement: ast.Match) -> list[ast.expr]:
    return [c.guard for c in statement.cases if c.guard is not None]


def bodies(statement: ast.stmt) -> Iterator[ast.stmt]:
    """The statements in a compound statement."""
    for name in ("body", "orelse", "finalbody") if isinstance(statement, COMPOUND) else ():
        yield from getattr(statement, name, [])
    if isinstance(statement, ast.Match):
        for case in statement.cases:
            yield from case.body
    if isinstance(statement, ast.Try):
        for handler in statement.handlers:
            yield from handler.body


def writes(statement: ast.stmt) -> Iterator[Path]:
    """The paths that a statement, without nested statements, assigns or changes in place."""
    match statement:
        case ast.Assign(lefts, _):
            for target_expression in lefts:
                yield from targets(target_expression)
        case ast.AugAssign(target, _, _) | ast.AnnAssign(target) | ast.For(target, _):
            yield from targets(target)
        case ast.With(items):
            for item in items:
                if item.optional_vars is not None:
                    yield from targets(item.optional_vars)
        case ast.FunctionDef(name) | ast.ClassDef(name):
            yield (name,)
            return
    for part in headers(statement):
        yield from _changes_inside(part)


def _changes_inside(part: ast.AST) -> Iterator[Path]:
    """The paths written inside an expression: by ``:=``, a pattern, or a mutating call."""
    for node in ast.walk(part):
        match node:
            case ast.NamedExpr(target, _):
                yield from targets(target)
            case ast.MatchAs(name=str() as name) | ast.MatchStar(name=str() as name):
                yield (name,)
            case ast.Call(ast.Attribute(owner, method), args):
                path = path_of(owner)
                if path is not None and method in CHANGING:
                    yield path
                if path == ("heapq",):
                    yield from reads(*args[:1])
            case ast.Call(ast.Name(name), args) if name.startswith("heap"):
                yield from reads(*args[:1])
    if isinstance(part, ast.Expr) and isinstance(part.value, ast.Call):
        # A function whose result is not used changes an argument.
        for argument in part.value.args:
            path = path_of(argument)
            if path is not None:
                yield path
