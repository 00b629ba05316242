# SPDX-License-Identifier: Apache-2.0
"""Trusted. ``table.query("a > 1 and b == 'x'")``: translates the text to a mask.

Source: pandas 2.3 ``core/computation`` (``expr.py``, ``ops.py``, ``scope.py``). The text is a
Python expression whose names are columns. ``and``, ``or`` and ``not`` operate on masks; ``&`` and
``|`` do the same, with the same low precedence. ``@name`` is a variable of the function. The
engines of pandas differ only in arithmetic, which is not supported here.
"""

from __future__ import annotations

import ast
import io
import tokenize

from presieve.errors import DeclineSignal
from presieve.ir.sorts import BOOL
from presieve.lift.execution.state import ModelCall
from presieve.lift.models.pandas import column_arithmetic, series
from presieve.lift.python.names import as_constant
from presieve.lift.values.symbolic import ListV, Scalar, TupleV, Value, constant_of
from presieve.lift.values.whole_columns import PartV, VectorV

_LOCAL = "__at_"
"""Prefix of the names of variables in the text that is parsed."""

_WORDS = {"&": "and", "|": "or"}


def mask(call: ModelCall, frame: PartV) -> VectorV:
    """Return the mask of the rows that the text selects. Declines unsupported queries."""
    wanted = constant_of(call.args[0])
    if not isinstance(wanted, str) or "\n" in wanted:
        raise call.decline("unsupported-expression", "query() takes a constant one-line string")
    try:
        parsed = ast.parse(_plain(wanted), mode="eval").body
    except (SyntaxError, tokenize.TokenError):
        raise call.decline("unsupported-expression", f"the query {wanted!r} is not read") from None
    return _Query(call, frame, wanted).condition(parsed)


def _plain(text: str) -> str:
    """Rewrite the text as Python: ``&`` and ``|`` as words, ``@`` as a prefix of the name."""
    words: list[str] = []
    for token in tokenize.generate_tokens(io.StringIO(text.strip()).readline):
        if token.type == tokenize.COMMENT or _LOCAL in token.string:
            raise SyntaxError(text)
        if token.type == tokenize.OP and token.string == "@":
            words.append(_LOCAL)
        elif token.type == tokenize.OP and token.string in _WORDS:
            words.append(f" {_WORDS[token.string]} ")
        elif token.type in (tokenize.NEWLINE, tokenize.NL, tokenize.ENDMARKER):
            continue
        else:
            after_at = bool(words) and words[-1] == _LOCAL
            words.append(token.string if after_at else f" {token.string} ")
    return "".join(words).strip()


class _Query:
    """One query of one table."""

    def __init__(self, call: ModelCall, frame: PartV, text: str) -> None:
        self.m, self.flow = call.m, call.flow
        self.frame, self.text = frame, text

    def condition(self, node: ast.expr) -> VectorV:
        """Translate an expression of the text that is a mask."""
        match node:
            case ast.BoolOp(word, [first, *clauses]):
                joined = ast.BitAnd() if isinstance(word, ast.And) else ast.BitOr()
                mask_so_far = self.condition(first)
                for clause in clauses:
                    mask_ = self.condition(clause)
                    mask_so_far = column_arithmetic.binary_vectors(
                        self.m, joined, mask_so_far, mask_
                    )
                return mask_so_far
            case ast.UnaryOp(ast.Not() | ast.Invert(), operand):
                return column_arithmetic.unary_vector(self.m, ast.Invert(), self.condition(operand))
            case ast.Compare(left, ops, rights):
                mask_so_far = self._compare(left, ops[0], rights[0])
                for a, op, b in zip(rights, ops[1:], rights[1:], strict=False):
                    next_mask = self._compare(a, op, b)
                    mask_so_far = column_arithmetic.binary_vectors(
                        self.m, ast.BitAnd(), mask_so_far, next_mask
                    )
                return mask_so_far
            case ast.Name():
                column = self._value(node)
                if isinstance(column, VectorV) and column.term.sort == BOOL:
                    return column
        raise self._unknown_error(node)

    def _compare(self, left: ast.expr, op: ast.cmpop, right: ast.expr) -> VectorV:
        a, b = self._value(left), self._value(right)
        if isinstance(b, ListV | TupleV) and isinstance(a, VectorV):
            if isinstance(op, ast.In | ast.NotIn | ast.Eq | ast.NotEq):
                is_member = series.among(self.m, a, b.items)
                if isinstance(op, ast.In | ast.Eq):
                    return is_member
                return column_arithmetic.unary_vector(self.m, ast.Invert(), is_member)
        has_column = isinstance(a, VectorV) or isinstance(b, VectorV)
        if not has_column or isinstance(op, ast.In | ast.NotIn | ast.Is | ast.IsNot):
            raise self._unknown_error(left)
        return series.compare_vectors(self.m, op, a, b)

    def _value(self, node: ast.expr) -> Value:
        zone = self.m.columns.zone
        match node:
            case ast.Name(name) if name.startswith(_LOCAL):
                return self._variable(name.removeprefix(_LOCAL))
            case ast.Name(name) if name in self.frame.columns:
                return series.column_of(self.m, self.frame, name)
            case ast.Constant(int() | float() | str() as value):
                return as_constant(value, repr(value), zone)
            case ast.UnaryOp(ast.USub(), ast.Constant(int() | float() as value)) if (
                type(value) is not bool
            ):
                return as_constant(-value, repr(value), zone)
            case ast.List(items) | ast.Tuple(items):
                return ListV(tuple(self._value(i) for i in items))
        raise self._unknown_error(node)

    def _variable(self, name: str) -> Value:
        """Return a variable of the function. A global variable may not reach the workers: Spark
        sends only the names that the function's own code uses.
        """
        value = self.flow.env.get(name)
        if value is None and name in self.m.names.closure:
            value = self.m.names.resolve(name)
        opened = None if value is None else self.flow.dereference(value)
        if isinstance(opened, Scalar | ListV | TupleV):
            return opened
        reason = f"@{name} is not a variable of the function that holds a constant"
        raise DeclineSignal("unsupported-expression", reason)

    def _unknown_error(self, node: ast.expr) -> Exception:
        reason = f"{ast.unparse(node)} in the query {self.text!r}: write a mask, table[table.c > 1]"
        return DeclineSignal("unsupported-expression", reason.replace(_LOCAL, "@"))
