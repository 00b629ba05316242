# SPDX-License-Identifier: Apache-2.0
"""Trusted. The table that a function of batches yields for any of them.

Lemma: if nothing that a round of the loop over the batches changes is seen by another round, and no
round ends the loop, what is yielded for a batch depends on that batch only. So what is bound before
the loop may be read in it, but neither rebound nor changed.

A table without rows may be yielded or not: no row depends on it. So a round may be left early, or
nothing yielded, if a table is empty that has all rows of the one that would be yielded.

Source, pyspark 4.3.0: ``worker.py`` (``SQL_MAP_PANDAS_ITER_UDF``, ``SQL_MAP_ARROW_ITER_UDF``,
``SQL_SCALAR_PANDAS_ITER_UDF``): the batches are handed to one call of the function.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from presieve.ir.terms import TRUE, App, Op, Term
from presieve.lift.execution.batch_loop import is_text
from presieve.lift.execution.state import Flow, SymbolicMachine
from presieve.lift.execution.statements import bind, execute
from presieve.lift.models.pandas import series
from presieve.lift.python.names import is_function
from presieve.lift.values.arrow_values import BatchV
from presieve.lift.values.symbolic import Clash, Known, Value
from presieve.lift.values.whole_columns import PartV
from presieve.records import replace


def result_of_yield(m: SymbolicMachine, flow: Flow, given: Value) -> tuple[Value, ast.stmt]:
    """Return the result of ``def f(batches): ...; for pdf in batches: ...; yield table``, for any
    batch; ``given`` is the value of a batch and of the parameter.
    """
    body = [s for s in m.source.node.body if not is_text(s)]
    match body:
        case [ast.Expr(ast.YieldFrom(ast.Name(name))) as only] if flow.env.get(name) == given:
            return given, only
        case [*before, ast.For(target, ast.Name(name), inner, [])]:
            pass
        case _:
            reason = "a loop over the batches is expected, and nothing after it"
            raise m.decline("unknown-loop", reason, body[-1] if body else m.source.node)
    batches = flow.env.pop(name, None)
    flow.env[name] = Clash("the batches are read from elsewhere than the loop")
    execute(m, before, flow)
    if batches != given or m.frame.exits or flow.ended:
        raise m.decline("unknown-loop", "a loop over the batches is expected", body[-1])
    _unbind_stored(inner, flow)
    made_before = dict(flow.heap)
    bind(m, target, given, flow)
    value, place = _result_of_round(m, inner, flow)
    if any(flow.heap.get(n) != contents for n, contents in made_before.items()):
        reason = "what is made before the loop over the batches is changed in it"
        raise m.decline("mutation", reason, place)
    return value, place


def _unbind_stored(inner: list[ast.stmt], flow: Flow) -> None:
    """Forget the variables that a round binds: the next one would see them."""
    reason = "it is bound before the loop over the batches, and again in the loop"
    for node in (n for s in inner for n in ast.walk(s)):
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store) and node.id in flow.env:
            flow.env[node.id] = Clash(reason)


def _result_of_round(
    m: SymbolicMachine, inner: list[ast.stmt], flow: Flow
) -> tuple[Value, ast.stmt]:
    *before, last = inner
    kept: list[tuple[Term, ast.stmt]] = []
    for statement in before:
        match statement:
            case ast.If(test, [ast.Continue()], []):
                kept.append((_rows_if_filled(m, test, flow, filled=False), statement))
            case _:
                execute(m, [statement], flow)
    match last:
        case ast.If(test, [*more, ast.Expr(ast.Yield()) as end], []):
            kept.append((_rows_if_filled(m, test, flow, filled=True), last))
            execute(m, more, flow)
            last = end
    match last:
        case ast.Expr(ast.Yield(ast.expr() as yielded)):
            value = table_of(m, yielded, flow)
        case ast.Expr(ast.YieldFrom(ast.expr() as yielded)):
            value = _of_batches(m, yielded, flow)
        case ast.For(ast.Name(name), yielded, [ast.Expr(ast.Yield(ast.Name(same)))], []) if (
            name == same
        ):
            value = _of_batches(m, yielded, flow)
        case _:
            reason = "one yield at the end of the loop over the batches is expected"
            raise m.decline("return-shape", reason, last)
    if m.frame.exits or flow.ended:
        raise m.decline("early-exit", "a batch may yield nothing", last)
    for rows, statement in kept:
        if not set(_conjuncts(rows)) <= set(_conjuncts(_rows_of(value))):
            reason = "a batch may yield nothing, although the table that it yields has rows"
            raise m.decline("early-exit", reason, statement)
    return value, last


def table_of(m: SymbolicMachine, node: ast.expr, flow: Flow) -> Value:
    """Return the table of the expression; its index is not used from here on."""
    match node:
        case ast.Call(
            ast.Attribute(inner, "reset_index"), [], [ast.keyword("drop", ast.Constant(True))]
        ):
            return table_of(m, inner, flow)
    return m.evaluate(node, flow)


def _of_batches(m: SymbolicMachine, node: ast.expr, flow: Flow) -> Value:
    """Return the table of ``yield from table.to_batches()``: its rows in any number of batches."""
    match node:
        case ast.Call(ast.Attribute(owner, "to_batches"), [], []):
            table = m.evaluate(owner, flow)
            if isinstance(table, BatchV) and table.table:
                return replace(table, table=False)
    raise m.decline("return-shape", "yield from is read of table.to_batches() only", node)


def _rows_if_filled(m: SymbolicMachine, test: ast.expr, flow: Flow, *, filled: bool) -> Term:
    """Return the rows of the table whose rows the test counts: whether it has some, if it is
    ``filled``, else whether it has none.
    """
    table = _find_counted_table(m, test, flow, filled=filled)
    rows = None if table is None else _rows_of(m.evaluate(table, flow))
    if rows is None:
        raise m.decline("early-exit", "a batch may yield nothing", test)
    return rows


def _find_counted_table(
    m: SymbolicMachine, test: ast.expr, flow: Flow, *, filled: bool
) -> ast.expr | None:
    match test:
        case ast.UnaryOp(ast.Not(), inner):
            return _find_counted_table(m, inner, flow, filled=not filled)
        case ast.Attribute(table, "empty") if not filled:
            return table
        case ast.Compare(left, [ast.Eq()], [ast.Constant(0)]) if not filled:
            return _length_of(m, left, flow)
        case ast.Compare(left, [ast.Gt() | ast.NotEq()], [ast.Constant(0)]) if filled:
            return _length_of(m, left, flow)
    return _length_of(m, test, flow) if filled else None


def _length_of(m: SymbolicMachine, node: ast.expr, flow: Flow) -> ast.expr | None:
    match node:
        case ast.Call(ast.Name("len"), [table], []) if "len" not in flow.env:
            function = m.names.resolve("len")
            is_len = isinstance(function, Known) and is_function(function, "builtins.len")
            return table if is_len else None
        case ast.Subscript(ast.Attribute(table, "shape"), ast.Constant(0)):
            return table
        case ast.Attribute(table, "num_rows"):
            return table
    return None


def _rows_of(value: Value) -> Term | None:
    table = series.part(value) or value
    return table.rows if isinstance(table, PartV | BatchV) else None


def _conjuncts(rows: Term | None) -> Iterator[Term]:
    match rows:
        case App(Op.AND, args):
            for a in args:
                yield from _conjuncts(a)
        case None:
            return
        case _ if rows != TRUE:
            yield rows
