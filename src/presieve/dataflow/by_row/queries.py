# SPDX-License-Identifier: Apache-2.0
"""Trusted. Texts of ``table.query`` that look at each row alone: comparisons of columns with
constants, and what combines them.
"""

from __future__ import annotations

import ast

from presieve.dataflow.abstract_values import Table
from presieve.semantics.values import EXACT_INT_BOUND


def compared_columns(text: str) -> frozenset[str] | None:
    """Return the columns that a query compares with constants; None if it does something else."""
    try:
        parsed = ast.parse(text.strip(), mode="eval").body
    except (SyntaxError, ValueError):
        return None
    return _compared(parsed)


def is_by_row(table: Table, names: frozenset[str]) -> bool:
    """Whether each value of these columns is made from its row, type included."""
    columns = [table.column(n) for n in names]
    return all(c is not None and c.rowwise and not c.mixed for c in columns)


def _compared(node: ast.expr) -> frozenset[str] | None:
    match node:
        case ast.BoolOp(values=parts):
            return _all_compared(parts)
        case ast.UnaryOp(ast.Not(), part):
            return _compared(part)
        case ast.BinOp(ast.Compare() as left, ast.BitAnd() | ast.BitOr(), ast.Compare() as right):
            return _all_compared([left, right])
        case ast.Compare(ast.Name(name), [op], [constant]):
            return frozenset((name,)) if _is_alike(op, constant) else None
    return None


def _all_compared(parts: list[ast.expr]) -> frozenset[str] | None:
    names: frozenset[str] = frozenset()
    for part in parts:
        own = _compared(part)
        if own is None:
            return None
        names |= own
    return names


_COMPARISONS = (ast.Eq, ast.NotEq, ast.Lt, ast.LtE, ast.Gt, ast.GtE)


def _is_alike(op: ast.cmpop, constant: ast.expr) -> bool:
    """Whether integers and doubles compare with the constant alike."""
    match constant:
        case ast.UnaryOp(ast.USub(), ast.Constant(int() | float() as number)) | ast.Constant(
            int() | float() as number
        ):
            return isinstance(op, _COMPARISONS) and abs(number) < EXACT_INT_BOUND
        case ast.Constant(str()):
            return isinstance(op, ast.Eq | ast.NotEq)
    return False
