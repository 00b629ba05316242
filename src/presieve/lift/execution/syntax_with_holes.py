# SPDX-License-Identifier: Apache-2.0
"""Untrusted. Statements and expressions with holes: what is passed over may have any value.

What is computed from a hole is a hole, so nothing that is met there counts as an obstacle of its
own.
"""

from __future__ import annotations

import ast
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from typing import Final

from presieve.ir.terms import TRUE, Lit, Term
from presieve.ir.walk import variables
from presieve.lift.execution.heap import numbers_in, parts
from presieve.lift.execution.stage import Stage
from presieve.lift.execution.state import Exit, ExitKind, Flow, SymbolicMachine
from presieve.lift.values.holes import Holes, Place
from presieve.lift.values.symbolic import (
    HOLE,
    SAME_HOLE,
    HoleV,
    Known,
    RefV,
    Scalar,
    Value,
)
from presieve.lift.values.whole_columns import FrameV, NullableV, PartV

_TAKES: Final = (ast.Name, ast.Attribute, ast.Subscript, ast.NamedExpr)
"""Expressions that only take values out of others."""

_PARTS: Final = (
    *(ast.Constant, ast.Slice, ast.Lambda, ast.Starred, ast.GeneratorExp, ast.ListComp),
    *(ast.SetComp, ast.DictComp, ast.Tuple, ast.List, ast.Dict, ast.Set),
)
"""Expressions of which the expression around them decides whether they are read."""


def place_of(m: SymbolicMachine, node: ast.expr | ast.stmt) -> Place:
    """Return the place of a node."""
    span = m.source.span(node)
    if isinstance(node, ast.stmt):
        return Place(span)
    return Place(span, f"{type(node).__name__} {node.end_lineno} {node.end_col_offset}")


# --- expressions ----------------------------------------------------------------------------------


def evaluate(
    m: SymbolicMachine,
    node: ast.expr,
    flow: Flow,
    run: Callable[[SymbolicMachine, ast.expr, Flow], Value],
) -> Value:
    """Return the value of an expression by ``run``, or a hole."""
    holes = m.columns.holes
    assert holes is not None
    place = place_of(m, node)
    if place in holes.places or _names_column(node, holes):
        value: Value = HoleV(not _reads_variables(node, flow))
        _note(holes, value, flow)
        return value
    if isinstance(node, _PARTS):
        return run(m, node, flow)
    with holes.level(place, is_dead=_may_be_dead(flow)) as level:
        value = run(m, node, flow)
        if level.reads and not isinstance(node, _TAKES):
            value = HoleV(level.same)
    _note(holes, value, flow)
    return value


def apart(m: SymbolicMachine, node: ast.expr) -> AbstractContextManager[object]:
    """Evaluate parts of an expression on whose values it does not depend that it is not read."""
    holes = m.columns.holes
    return nullcontext() if holes is None else holes.level(place_of(m, node))


def note_choice(m: SymbolicMachine, value: HoleV) -> None:
    """Note that a hole decides which code runs."""
    holes = m.columns.holes
    if value.same and holes is not None:
        holes.fork()


def _names_column(node: ast.expr, holes: Holes) -> bool:
    match node:
        case ast.Constant(str(name)) | ast.Attribute(_, name):
            return name in holes.columns
    return False


def _reads_variables(node: ast.expr, flow: Flow) -> bool:
    return any(isinstance(n, ast.Name) and n.id in flow.env for n in ast.walk(node))


def _note(holes: Holes, value: Value, flow: Flow) -> None:
    """Note in the expression or statement around it what a value is."""
    if not holes.levels:
        return
    around = holes.levels[-1]
    around.reads = around.reads or _holds_hole(value, flow, set())
    around.same = around.same and _is_same(value)


def _is_same(value: Value) -> bool:
    match value:
        case HoleV(same):
            return same
        case Scalar(term, _):
            return isinstance(term, Lit)
    return isinstance(value, Known)


def _holds_hole(value: Value, flow: Flow, seen: set[int]) -> bool:
    match value:
        case HoleV():
            return True
        case Scalar(term, _) | NullableV(term):
            return _depends(term)
        case RefV(number):
            if number in seen or number not in flow.heap:
                return False
            seen.add(number)
            return _holds_hole(flow.heap[number], flow, seen)
    return any(_holds_hole(part, flow, seen) for part in parts(value))


def _depends(*terms: Term, on: str = HOLE) -> bool:
    return any(v.name.startswith(on) for v in variables(*terms))


def _may_be_dead(flow: Flow) -> bool:
    """Whether a hole that is the same for all rows decides if control comes here."""
    return _depends(*flow.conds, on=SAME_HOLE)


# --- statements -----------------------------------------------------------------------------------


def execute(
    m: SymbolicMachine,
    node: ast.stmt,
    flow: Flow,
    run: Callable[[SymbolicMachine, ast.stmt, Flow], None],
) -> None:
    """Execute a statement by ``run``, or pass over it."""
    holes = m.columns.holes
    assert holes is not None
    place = place_of(m, node)
    if place in holes.places:
        _pass_over(m, node, flow)
        return
    with holes.level(place, is_dead=_may_be_dead(flow)) as level:
        run(m, node, flow)
    if level.forks:
        _open_variables(node, flow)
    if holes.levels:
        holes.levels[-1].join(level)


def passes_over(m: SymbolicMachine, node: ast.For, flow: Flow) -> bool:
    """Pass over the loop over the rows, if it is to be passed over."""
    is_hole = m.columns.holes is not None and place_of(m, node) in m.columns.holes.places
    if is_hole:
        _pass_over(m, node, flow)
    return is_hole


def loop(m: SymbolicMachine, node: ast.For) -> AbstractContextManager[None]:
    """Read the loop over the rows: a signal about the loop as a whole gets its trail."""
    return m.columns.holes.loop(place_of(m, node)) if m.columns.holes is not None else nullcontext()


def _pass_over(m: SymbolicMachine, node: ast.stmt, flow: Flow) -> None:
    holes = m.columns.holes
    assert holes is not None
    if holes.levels:
        holes.levels[-1].reads = True
    _open_variables(node, flow)
    for n in ast.walk(node):
        match n:
            case ast.Subscript(ast.Name(owner), ast.Constant(str(name)), ast.Store()) if isinstance(
                flow.env.get(owner), FrameV | PartV
            ):
                holes.columns.add(name)
            case ast.Subscript(ast.Name(owner), _, ast.Store() | ast.Del()):
                flow.env[owner] = HoleV(False)
            case ast.FunctionDef(name) | ast.ClassDef(name) if name in flow.env:
                flow.env[name] = HoleV(False)
            case ast.alias(name, other):
                flow.env[other or name.partition(".")[0]] = HoleV(True)
            case ast.Expr(ast.Call(ast.Attribute(ast.Name(owner)))) if owner in flow.env:
                flow.env[owner] = HoleV(False)
    if isinstance(node, ast.Return | ast.Break):
        _leave(m, node, flow)


def _open_variables(node: ast.stmt, flow: Flow) -> None:
    """Forget what a statement may assign or change."""
    for n in ast.walk(node):
        if not isinstance(n, ast.Name) or n.id not in flow.env:
            continue
        for number in numbers_in(flow.env[n.id]) & flow.heap.keys():
            flow.heap[number] = HoleV(False)
        if not isinstance(n.ctx, ast.Load):
            flow.env[n.id] = HoleV(False)


def _leave(m: SymbolicMachine, node: ast.Return | ast.Break, flow: Flow) -> None:
    """Leave a function with any value; a row's part of the loop over the rows only ends."""
    is_return = isinstance(node, ast.Return)
    if m.frame.loops and not is_return:
        kind = ExitKind.BREAK
    elif m.depth or m.state.stage is not Stage.LOOP:
        kind = ExitKind.RETURN
    else:
        kind = ExitKind.CONTINUE
    m.frame.exits += (Exit(kind, flow.branch(TRUE), HoleV(False), node),)
    flow.ended = True
