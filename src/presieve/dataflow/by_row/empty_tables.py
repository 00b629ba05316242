# SPDX-License-Identifier: Apache-2.0
"""Trusted. Code that is skipped where a table has no rows.

Lemma: let a loop over batches ask whether a table has rows, where each row of the table is made
from one row of the batch, and let the answer decide only whether tables are yielded and whether the
rest of the round is skipped. If each table that may be yielded from then on has exactly the rows of
that table, or if that table is the batch and each row that is yielded is made of one of its rows,
then nothing is yielded where the answer could matter, and each row is made from its row alone.
"""

from __future__ import annotations

import ast

from presieve.dataflow.abstract_values import Library
from presieve.dataflow.analysis_state import AnalysisState
from presieve.dataflow.context import Analysis


def skips_without_rows(a: Analysis, s: AnalysisState, node: ast.If) -> bool:
    """Whether a statement only asks whether a table has rows, to skip what the round of the loop
    over batches would yield. Then what is yielded must have these rows; a batch without any gives
    no row that is made of one anyway.
    """
    is_round = a.in_batches and len(a.stack) == len(a.breaks) == 1
    if not is_round or not all(map(_only_gives, (*node.body, *node.orelse))):
        return False
    name = _asked(node.test)
    if name is None or not _means_length(a, s, node.test):
        return False
    table = s.table(s.env[name.id]) if name.id in s.env else None
    if table is None or table.rows is None or not table.rowwise:
        return False
    if table.rows not in a.whole:
        a.skipped.append(table.rows)
    return True


def _means_length(a: Analysis, s: AnalysisState, test: ast.expr) -> bool:
    """Whether ``len`` is Python's own."""
    calls = [n for n in ast.walk(test) if isinstance(n, ast.Call)]
    own = Library("builtins.len")
    return all(a.evaluator.evaluate(a, call.func, s) == own for call in calls)


def _only_gives(statement: ast.stmt) -> bool:
    """Whether a statement binds nothing and raises nothing: it yields something, or goes on."""
    match statement:
        case ast.Continue() | ast.Pass() | ast.Expr(ast.Yield()):
            return not any(isinstance(n, ast.NamedExpr) for n in ast.walk(statement))
    return False


def _asked(test: ast.expr) -> ast.Name | None:
    """The variable of a table of which a test asks no more than whether it has rows."""
    match test:
        case ast.UnaryOp(ast.Not(), inner):
            return _asked(inner)
        case ast.Attribute(ast.Name() as name, "empty") | ast.Call(
            ast.Name("len"), [ast.Name() as name], []
        ):
            return name
        case ast.Compare(
            ast.Call(ast.Name("len"), [ast.Name() as name], []),
            [ast.Eq() | ast.NotEq() | ast.Gt() | ast.LtE()],
            [ast.Constant(0)],
        ) | ast.Compare(
            ast.Call(ast.Name("len"), [ast.Name() as name], []),
            [ast.Lt() | ast.GtE()],
            [ast.Constant(1)],
        ):
            return name
    return None
