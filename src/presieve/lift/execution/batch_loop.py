# SPDX-License-Identifier: Apache-2.0
"""Trusted. A loop over the batches of a group that does nothing but loop over their rows.

Lemma: if the body of ``for batch in batches`` is only ``for row in batch: BODY``, BODY runs once
for each row of the group, in order, however the group is cut into batches: batches are consecutive
pieces of the group, and everything that BODY reads besides the row was left by the row before.
``n += len(batch)`` beside it is ``n += 1`` for each row, if nothing else there uses ``n``: Python
adds integers exactly. Any other code that runs once for a batch could tell how the group is cut,
and is declined; no statement binds the batch itself, so nothing of it remains after the loop.

Source, pyspark 4.3.0: ``worker.py``, ``SQL_GROUPED_AGG_PANDAS_ITER_UDF`` and
``SQL_GROUPED_AGG_ARROW_ITER_UDF``: one column comes as it is, several as a tuple.
"""

from __future__ import annotations

import ast

from presieve.lift.execution.state import Flow, SymbolicMachine
from presieve.lift.execution.statements import bind
from presieve.lift.python.names import is_function
from presieve.lift.values.arrow_values import ArrowColumnV
from presieve.lift.values.symbolic import BatchesV, Known, TupleV
from presieve.lift.values.whole_columns import SeriesV


def rows_loop(m: SymbolicMachine, node: ast.For, flow: Flow) -> ast.For:
    """Return the loop over rows inside a loop over batches; every other loop as it is."""
    if not isinstance(node.iter, ast.Name):
        return node
    batches = flow.env.get(node.iter.id)
    if not isinstance(batches, BatchesV):
        return node
    loops = [s for s in node.body if isinstance(s, ast.For)]
    counts = [s for s in node.body if not isinstance(s, ast.For | ast.Pass) and not is_text(s)]
    if len(loops) > 1 or not (loops or counts):
        raise _decline(m, node)
    several = len(batches.columns) != 1
    bind(m, node.target, TupleV(batches.columns) if several else batches.columns[0], flow)
    for count in counts:
        _check_count(m, count, [s for s in node.body if s is not count], flow)
    inner = loops[0] if loops else _loop_over_batch(counts[0])
    if inner.orelse:
        raise m.decline("unsupported-statement", "for with else", inner)
    body = [*(_count_one(s) for s in counts), *inner.body]
    return ast.copy_location(ast.For(inner.target, inner.iter, body, []), inner)


def is_text(node: ast.stmt) -> bool:
    """Return whether the statement is a constant, which does nothing."""
    return isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)


def _decline(m: SymbolicMachine, node: ast.AST) -> Exception:
    reason = (
        "something is done once for each batch, and how a group is cut into batches is not fixed: "
        "write one loop over the rows of the batch, and n += len(batch)"
    )
    return m.decline("nested-loop", reason, node)


def _check_count(m: SymbolicMachine, node: ast.stmt, others: list[ast.stmt], flow: Flow) -> None:
    """Decline unless this is ``n += len(batch)``, of a variable that the others do not use, and of
    a batch of a column that is bound nowhere else.
    """
    used = [n for s in others for n in ast.walk(s) if isinstance(n, ast.Name)]
    match node:
        case ast.AugAssign(
            ast.Name(name), ast.Add(), ast.Call(ast.Name("len"), [ast.Name(batch)], [])
        ) if isinstance(flow.env.get(batch), SeriesV | ArrowColumnV):
            function = m.names.resolve("len") if "len" not in flow.env else None
            is_len = isinstance(function, Known) and is_function(function, "builtins.len")
            stored = {n.id for n in used if isinstance(n.ctx, ast.Store)}
            if is_len and batch not in stored and name not in {n.id for n in used}:
                return
    raise _decline(m, node)


def _loop_over_batch(count: ast.stmt) -> ast.For:
    """Return ``for _ in batch`` with the batch of ``n += len(batch)``."""
    assert isinstance(count, ast.AugAssign)
    assert isinstance(count.value, ast.Call)
    target = ast.copy_location(ast.Name("row of the batch", ast.Store()), count)
    return ast.copy_location(ast.For(target, count.value.args[0], [], []), count)


def _count_one(count: ast.stmt) -> ast.stmt:
    assert isinstance(count, ast.AugAssign)
    literal = ast.copy_location(ast.Constant(1), count)
    return ast.copy_location(ast.AugAssign(count.target, count.op, literal), count)
