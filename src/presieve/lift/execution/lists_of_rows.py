# SPDX-License-Identifier: Apache-2.0
"""Trusted. Lists that hold a value for each row of a batch, where each row is lifted by itself.

Lemma: in ``for row in rows: BODY``, let no round read what another one has bound or changed, and
let the only objects that BODY changes be lists which are empty before the loop, which it does not
read, and to each of which it appends one item at its end, if it comes to this end, else none. Then
such a list holds, for each row that comes to the end, an item that is made from that row alone, in
the order of the rows. The same holds for a comprehension over the rows. Nothing else is known of
such a list: how long it is depends on the batch.

BODY raises for a row if and only if it raises where that row is alone.
"""

from __future__ import annotations

import ast
from collections.abc import Collection, Sequence

from presieve.errors import DeclineSignal
from presieve.ir.ops import negate
from presieve.ir.terms import TRUE
from presieve.lift.execution.heap import freeze_contents, numbers_in
from presieve.lift.execution.loop_iterables import loop_variable
from presieve.lift.execution.stage import Stage
from presieve.lift.execution.state import ExitKind, Flow, SymbolicMachine
from presieve.lift.values.symbolic import (
    Clash,
    DictV,
    ListV,
    RefV,
    RowListV,
    Scalar,
    SizeV,
    Unbound,
    Value,
)
from presieve.semantics.smart_constructors import and_, or_


def is_by_row(m: SymbolicMachine) -> bool:
    """Return whether each row is lifted by itself, so that a loop over rows has one round."""
    return m.columns.single and m.state.stage is Stage.AFTER and m.frame.loops == 0


def comprehension(m: SymbolicMachine, node: ast.ListComp, flow: Flow) -> RowListV | None:
    """Return the list that a comprehension over rows makes; None if it is over something else."""
    generator = node.generators[0]
    if len(node.generators) != 1 or generator.is_async or not is_by_row(m):
        return None
    row = _row(m, generator.iter, flow)
    if row is None:
        return None
    path = flow.branch(TRUE)
    path.env |= dict.fromkeys(_find_stored_names([generator.target]), Unbound())
    m.bind(generator.target, row, path)
    start = len(path.conds)
    for test in generator.ifs:
        path = path.branch(m.condition(test, path))
    item = freeze_contents(path, m.evaluate(node.elt, path), set())
    if _changes(flow, path):
        raise m.decline("mutation", "a comprehension over rows changes an object", node)
    return RowListV(item, and_(*path.conds[start:]))


def loop(m: SymbolicMachine, node: ast.For, flow: Flow) -> bool:
    """Execute a loop over rows that fills lists; return whether it is one."""
    if node.orelse or not is_by_row(m):
        return False
    row = _row(m, node.iter, flow)
    if row is None:
        return False
    names = _find_stored_names([node.target, *node.body])
    path = flow.branch(TRUE)
    path.env |= dict.fromkeys(names, Unbound())
    m.bind(node.target, row, path)
    start = len(flow.conds)
    outer = m.frame.take_exits()
    path, items = _run_round(m, node, flow, path)
    left, m.frame.exits = m.frame.take_exits(), outer
    if path.ended or any(e.kind is not ExitKind.CONTINUE for e in left):
        raise m.decline("early-exit", "a loop over the rows of a batch is left early", node)
    if any(_changes(flow, f) for f in (path, *(e.flow for e in left))):
        raise m.decline("mutation", "a loop over rows changes what is no new list", node)
    _check_unread(m, node, flow, items.keys())
    away = or_(*(and_(*e.flow.conds[start:]) for e in left))
    rows = and_(negate(away), *path.conds[start:])
    flow.heap |= {number: RowListV(item, rows) for number, item in items.items()}
    flow.env |= {n: Clash("it is bound in a loop over the rows of a batch") for n in names}
    return True


def _run_round(
    m: SymbolicMachine, node: ast.For, flow: Flow, path: Flow
) -> tuple[Flow, dict[int, Value]]:
    """Execute the body, of which conditions may guard the last part. Return the path at its end,
    and the item that is appended to each list.
    """
    items: dict[int, Value] = {}
    body = node.body
    while body:
        statement, *body = body
        appended = _match_append(flow, statement)
        if appended is not None:
            number, value = appended
            if number in items:
                raise m.decline("mutation", "several items are appended for a row", statement)
            with m.at(statement):
                items[number] = freeze_contents(path, m.evaluate(value, path), set())
        elif isinstance(statement, ast.If) and not body and not statement.orelse and not items:
            path = path.branch(m.condition(statement.test, path))
            body = statement.body
        else:
            exits = len(m.frame.exits)
            m.execute([statement], path)
            if items and len(m.frame.exits) > exits:
                raise m.decline("early-exit", "a row is left after an item is appended", statement)
    return path, items


def _match_append(flow: Flow, statement: ast.stmt) -> tuple[int, ast.expr] | None:
    """Return the list, which is new, and the item that a statement appends to it."""
    match statement:
        case ast.Expr(ast.Call(ast.Attribute(owner, "append"), [value], [])):
            of = _list_at(flow, owner)
            if isinstance(of, RefV) and flow.heap.get(of.number) == ListV(()):
                return of.number, value
    return None


def _list_at(flow: Flow, node: ast.expr) -> Value | None:
    """Return what ``name``, or ``name[key]`` of a dict, holds."""
    match node:
        case ast.Name(name):
            return flow.env.get(name)
        case ast.Subscript(ast.Name(name), ast.Constant(str() as key)) if name in flow.env:
            of = flow.dereference(flow.env[name])
            if isinstance(of, DictV) and key in of.names:
                return of.items[of.names.index(key)]
    return None


def _changes(flow: Flow, path: Flow) -> bool:
    """Return whether an object from before the loop is different on the path."""
    return any(path.heap.get(n) != v for n, v in flow.heap.items())


def _check_unread(m: SymbolicMachine, node: ast.For, flow: Flow, filled: Collection[int]) -> None:
    """Decline a loop that does more with the lists that it fills than append to them."""
    calls = [n.value for n in ast.walk(node) if isinstance(n, ast.Expr)]
    appended = set()
    for call in calls:
        match call:
            case ast.Call(ast.Attribute(ast.Name() as owner, "append")):
                appended.add(id(owner))
            case ast.Call(
                ast.Attribute(ast.Subscript(ast.Name() as owner, ast.Constant()), "append")
            ):
                appended.add(id(owner))
    for n in ast.walk(node):
        if isinstance(n, ast.Name) and n.id in flow.env and id(n) not in appended:
            if _reachable(flow, flow.env[n.id]).intersection(filled):
                reason = "a loop over the rows reads the list that it fills"
                raise m.decline("mutation", reason, n)


def _reachable(flow: Flow, value: Value) -> set[int]:
    """Return the numbers of the objects that a value leads to, through others, too."""
    reached: set[int] = set()
    pending = [value]
    while pending:
        for number in numbers_in(pending.pop()) - reached:
            reached.add(number)
            pending.append(flow.heap[number])
    return reached


def _row(m: SymbolicMachine, node: ast.expr, flow: Flow) -> Value | None:
    """Return the value of a round; None if the loop is not over all rows of the batch."""
    saved = m.checkpoint()
    try:
        return loop_variable(m, node, flow.branch(TRUE))
    except DeclineSignal:
        m.rollback(saved)
        return None


def _find_stored_names(nodes: Sequence[ast.AST]) -> set[str]:
    inner = (n for node in nodes for n in ast.walk(node))
    return {n.id for n in inner if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)}


def repeat(m: SymbolicMachine, flow: Flow, items: ListV, times: Value) -> RowListV | None:
    """Evaluate ``[value] * len(table)`` where each row is lifted by itself; None for others."""
    if not m.columns.single or len(items.items) != 1 or not isinstance(times, Scalar):
        return None
    size = m.force(SizeV(), flow)
    (item,) = items.items
    same = isinstance(size, Scalar) and size.term == times.term
    return RowListV(item, TRUE) if same and isinstance(item, Scalar) else None
