"""Trusted. A loop over the batches of a group that does nothing but loop over their rows.

Lemma: where the body of ``for batch in batches`` is ``for row in batch: BODY`` alone, BODY is run
once for each row of the group, in order, however the group is cut into batches: batches are pieces
of the group one after another, and what BODY reads besides the row is left by the row before.
``n += len(batch)`` beside it is ``n += 1`` for each row, if nothing else there uses ``n``: numbers
of Python's are added up exactly. Whatever else is done once for a batch could tell how the group is
cut, and is declined; a batch is bound in no statement of its own, so that nothing is left of it.

Source, pyspark 4.3.0: ``worker.py``, ``SQL_GROUPED_AGG_PANDAS_ITER_UDF`` and
``SQL_GROUPED_AGG_ARROW_ITER_UDF``: one column comes as it is, several as a tuple.
"""

from __future__ import annotations

import ast

from presieve.lift.execution.state import Flow, Machine
from presieve.lift.execution.statements import bind
from presieve.lift.python.names import is_function
from presieve.lift.values.symbolic import ArrowColumnV, BatchesV, Known, SeriesV, TupleV


def rows_loop(m: Machine, node: ast.For, flow: Flow) -> ast.For:
    """The loop over rows inside of a loop over batches; every other loop is itself."""
    if not isinstance(node.iter, ast.Name):
        return node
    batches = flow.env.get(node.iter.id)
    if not isinstance(batches, BatchesV):
        return node
    loops = [s for s in node.body if isinstance(s, ast.For)]
    counts = [s for s in node.body if not isinstance(s, ast.For | ast.Pass) and not _text(s)]
    if len(loops) > 1 or not (loops or counts):
        raise _declined(m, node)
    several = len(batches.columns) != 1
    bind(m, node.target, TupleV(batches.columns) if several else batches.columns[0], flow)
    for one in counts:
        _check_count(m, one, [s for s in node.body if s is not one], flow)
    inner = loops[0] if loops else _over(counts[0])
    if inner.orelse:
        raise m.decline("unsupported-statement", "for with else", inner)
    body = [*(_one_more(s) for s in counts), *inner.body]
    made = ast.For(inner.target, inner.iter, body, [])
    return ast.copy_location(made, inner)


def _text(node: ast.stmt) -> bool:
    return isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)


def _declined(m: Machine, node: ast.AST) -> Exception:
    reason = (
        "something is done once for each batch, and how a group is cut into batches is not fixed: "
        "write one loop over the rows of the batch, and n += len(batch)"
    )
    return m.decline("nested-loop", reason, node)


def _check_count(m: Machine, node: ast.stmt, others: list[ast.stmt], flow: Flow) -> None:
    """Decline unless this is ``n += len(batch)``, of a variable that the others leave alone, and
    the batch of a column that is bound nowhere else.
    """
    used = [n for s in others for n in ast.walk(s) if isinstance(n, ast.Name)]
    match node:
        case ast.AugAssign(
            ast.Name(name), ast.Add(), ast.Call(ast.Name("len"), [ast.Name(batch)], [])
        ) if isinstance(flow.env.get(batch), SeriesV | ArrowColumnV):
            found = m.names.resolve("len") if "len" not in flow.env else None
            own = isinstance(found, Known) and is_function(found, "builtins.len")
            stored = {n.id for n in used if isinstance(n.ctx, ast.Store)}
            if own and batch not in stored and name not in {n.id for n in used}:
                return
    raise _declined(m, node)


def _over(count: ast.stmt) -> ast.For:
    """``for _ in batch`` with the batch of ``n += len(batch)``."""
    assert isinstance(count, ast.AugAssign)
    assert isinstance(count.value, ast.Call)
    target = ast.copy_location(ast.Name("row of the batch", ast.Store()), count)
    return ast.copy_location(ast.For(target, count.value.args[0], [], []), count)


def _one_more(count: ast.stmt) -> ast.stmt:
    assert isinstance(count, ast.AugAssign)
    one = ast.copy_location(ast.Constant(1), count)
    return ast.copy_location(ast.AugAssign(count.target, count.op, one), count)
