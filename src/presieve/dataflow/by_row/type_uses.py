# SPDX-License-Identifier: Apache-2.0
"""Trusted. Where the type that pandas gives a column does not matter, as the syntax shows.

pandas holds integers and truth values beside a NULL in columns of other types, so what is made of a
value may depend on whether other rows have NULL: the integer 5 as a text is ``5`` or ``5.0``. It
does not depend on that where a value only moves to another place, or is asked for what all types
answer alike: whether it is missing, and how it compares with a small number.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping

from presieve.dataflow.context import Use

_ASKING = frozenset(("isna", "isnull", "notna", "notnull", "isin"))
_FILLING = frozenset(("fillna", "astype"))


def uses_in(function: ast.AST) -> Mapping[ast.expr, Use]:
    """What a function does with the values of its expressions, where their types do not matter."""
    return {e: use for node in ast.walk(function) for e, use in _uses(node)}


def _uses(node: ast.AST) -> Iterator[tuple[ast.expr, Use]]:
    match node:
        case ast.Assign(targets, value):
            if all(isinstance(t, ast.Name | ast.Subscript) for t in targets):
                yield value, "moved"
        case ast.Call(ast.Attribute(_, "assign"), _, keywords):
            yield from ((k.value, "moved") for k in keywords)
        case ast.Call(ast.Name("DataFrame") | ast.Attribute(_, "DataFrame"), args, _):
            for argument in args[:1]:
                if isinstance(argument, ast.Dict):
                    yield from ((v, "moved") for v in argument.values)
        case ast.Call(ast.Attribute(owner, name)) if name in _ASKING:
            yield owner, "asked"
        case ast.Call(ast.Attribute(owner, name)) if name in _FILLING:
            yield owner, "filled"
        case ast.Compare(left, [op], [right]):
            if not isinstance(op, ast.In | ast.NotIn | ast.Is | ast.IsNot):
                yield left, "asked"
                yield right, "asked"
        case ast.BinOp(left, ast.BitAnd() | ast.BitOr(), right):
            yield left, "asked"
            yield right, "asked"
        case ast.UnaryOp(ast.Invert(), operand):
            yield operand, "asked"
        case ast.Subscript(_, index, ast.Load()):
            yield index, "asked"
