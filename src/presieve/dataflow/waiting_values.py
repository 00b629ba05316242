# SPDX-License-Identifier: Apache-2.0
"""Trusted. Values that have been evaluated and wait for the rest of an expression or a statement.

A column may be a view. ``pdf.loc[m, "y"], s = 0, pdf.y`` writes where ``s`` is stored before ``s``
has its name, and ``first(pdf.y, clear(pdf))`` before ``first`` is called. A state forgets what its
variables and objects hold if their memory is written, but it does not see values that wait.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

_RUNS = (ast.Call, ast.NamedExpr, ast.Await, ast.Yield, ast.YieldFrom)
_ROUNDS = (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)


def has_waiting_values(node: ast.expr) -> bool:
    """Whether an operand waits while a later one is evaluated that may write in place."""
    if isinstance(node, _ROUNDS):
        return _may_write(node)
    waiting = False
    for operand in _operands(node):
        if waiting and _may_write(operand):
            return True
        waiting = waiting or not isinstance(operand, ast.Constant)
    return False


def leaves(target: ast.expr) -> Iterator[ast.expr]:
    """Yield the single targets of an assignment."""
    match target:
        case ast.Tuple(targets) | ast.List(targets):
            for inner in targets:
                yield from leaves(inner)
        case _:
            yield target


def _operands(node: ast.expr) -> Iterator[ast.expr]:
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.keyword):
            yield child.value
        elif isinstance(child, ast.expr):
            yield child


def _may_write(node: ast.expr) -> bool:
    return any(isinstance(n, _RUNS) for n in ast.walk(node))
