# SPDX-License-Identifier: Apache-2.0
"""Trusted. Operators: arithmetic, comparisons and choices, item by item."""

from __future__ import annotations

import ast
import datetime as dt
import operator
from collections.abc import Callable, Sequence
from functools import reduce

from presieve.dataflow.abstract_values import (
    DATA,
    AbstractColumn,
    AbstractScalar,
    AbstractTuple,
    Function,
    Items,
    Length,
    Mixed,
    OpaqueValue,
    Ref,
    Value,
    are_of_one_length,
    combine_elements,
    is_fixed,
    join,
    join_all,
    reach_of,
    union_of_packages,
)
from presieve.dataflow.analysis_state import AnalysisState
from presieve.dataflow.context import Analysis, constant_of
from presieve.records import replace
from presieve.semantics.values import EXACT_INT_BOUND


def combine_operands(
    a: Analysis, s: AnalysisState, parts: list[Value], node: ast.AST, *, mask: bool = False
) -> Value:
    """Apply an operator to its operands, item by item."""
    a.use_beside(parts)
    if not are_of_one_length(parts, compared=mask):
        a.needs_length(node)
    elements = combine_elements(parts, mask=mask)
    if elements is not None:
        return elements
    for part in parts:
        a.observe(s, part, node, "an operator is applied to a whole table")
    packages = union_of_packages(map(s.packages, parts))
    if packages is None:
        a.runs_unknown(ast.unparse(node), "is an operator of what is not known", node)
    others = [p for p in parts if not isinstance(p, AbstractScalar)]
    of = {p.rows if isinstance(p, AbstractColumn | OpaqueValue) else None for p in others}
    rows = next(iter(of)) if len(of) == 1 else None
    return OpaqueValue(s.reach(*parts), packages, rows, mask and rows is not None)


def binary(a: Analysis, node: ast.BinOp, s: AnalysisState) -> Value:
    """Evaluate ``a + b`` and the like."""
    left, right = a.evaluator.evaluate(a, node.left, s), a.evaluator.evaluate(a, node.right, s)
    adds = isinstance(node.op, ast.Add)
    match left, right:
        case AbstractTuple(x), AbstractTuple(y) if adds and len(x) + len(y) < 256:
            return AbstractTuple((*x, *y))
        case AbstractScalar(constant=str(x)), AbstractScalar(constant=str(y)) if adds:
            return AbstractScalar(constant=x + y, fixed=True)
        case Ref(), Ref() if adds:
            lists = [s.items(left), s.items(right)]
            if all(i is not None and i.kind == "list" for i in lists):
                return _concatenate_lists(a, s, [i for i in lists if i is not None], node)
        case (Ref() as some, AbstractScalar() as times) | (
            AbstractScalar() as times,
            Ref() as some,
        ) if isinstance(node.op, ast.Mult):
            # A numpy number would multiply the items.
            counts = times.length is not None or type(times.constant) is int
            items = s.items(some)
            if counts and items is not None and items.kind == "list":
                return s.make(a.site(node), lambda _: Items("list", items.element))
        case AbstractScalar(length=Length() as length), AbstractScalar(constant=int(plus)):
            if type(plus) is int and (adds or isinstance(node.op, ast.Sub)):
                change = plus if adds else -plus
                return AbstractScalar(length=length._replace(plus=length.plus + change))
        case AbstractScalar(constant=int(plus)), AbstractScalar(length=Length() as length):
            if type(plus) is int and adds:
                return AbstractScalar(length=length._replace(plus=length.plus + plus))
    masks = all(isinstance(v, AbstractColumn) and v.mask for v in (left, right))
    if isinstance(node.op, ast.FloorDiv | ast.Mod) and not _is_small(right):
        combined = combine_operands(a, s, [left, right], node)
        # Of integers, a division by zero makes doubles of all.
        is_column = isinstance(combined, AbstractColumn)
        return replace(combined, mixed="any") if is_column else combined
    if _is_alike_as_doubles(node.op, left, right):
        alike = (
            replace(p, mixed="") if isinstance(p, AbstractColumn) else p for p in (left, right)
        )
        combined = combine_operands(a, s, list(alike), node)
        return replace(combined, mixed="real") if isinstance(combined, AbstractColumn) else combined
    combined = combine_operands(a, s, [left, right], node, mask=masks)
    if isinstance(combined, AbstractScalar | AbstractColumn):
        return replace(combined, double=_is_of_doubles(node.op, left, right))
    return combined


def _is_alike_as_doubles(op: ast.operator, left: Value, right: Value) -> bool:
    """Whether arithmetic of a column of small numbers and a double gives the same doubles, whatever
    type pandas has given the column. A missing object divided by zero raises, and NaN does not.
    """
    match left, right:
        case AbstractColumn(mixed="small"), AbstractScalar() as other:
            divides = isinstance(op, ast.Div) and type(other.constant) is float and other.constant
        case AbstractScalar() as other, AbstractColumn(mixed="small"):
            divides = False
        case _:
            return False
    known = other.is_double and other.constant is not None
    return known and (bool(divides) or isinstance(op, ast.Add | ast.Sub | ast.Mult))


def _is_of_doubles(op: ast.operator, *parts: Value) -> bool:
    """Whether arithmetic of single values, or of columns, gives doubles: of one and another number,
    it does.
    """
    scalars = [p for p in parts if isinstance(p, AbstractScalar) and p.constant is not None]
    columns = [p for p in parts if isinstance(p, AbstractColumn) and p.double]
    arithmetic = isinstance(op, ast.Add | ast.Sub | ast.Mult | ast.Div)
    return (
        arithmetic
        and len(scalars) + len(columns) == len(parts)
        and (bool(columns) or any(p.is_double for p in scalars))
        and all(p.is_real or type(p.constant) is int for p in scalars)
    )


def _concatenate_lists(a: Analysis, s: AnalysisState, lists: list[Items], node: ast.AST) -> Value:
    element = join_all(items.element for items in lists)
    listed = all(items.fixed is not None for items in lists)
    fixed = tuple(i for items in lists for i in items.fixed or ()) if listed else None
    return s.make(a.site(node), lambda _: Items("list", element, fixed))


def unary(a: Analysis, node: ast.UnaryOp, s: AnalysisState) -> Value:
    """Evaluate ``-a``, ``~a`` and ``not a``."""
    inner = a.evaluator.evaluate(a, node.operand, s)
    match node.op, inner:
        case ast.USub(), AbstractScalar(constant=int(number)) if type(number) is int:
            return AbstractScalar(constant=-number, fixed=True)
        case ast.Not(), AbstractScalar(constant=bool(truth)):
            return AbstractScalar(constant=not truth, fixed=True)
    mask = isinstance(node.op, ast.Invert) and isinstance(inner, AbstractColumn) and inner.mask
    return combine_operands(a, s, [inner], node, mask=mask)


def compare(a: Analysis, node: ast.Compare, s: AnalysisState) -> Value:
    """Evaluate a comparison."""
    parts = [a.evaluator.evaluate(a, p, s) for p in (node.left, *node.comparators)]
    if not all(isinstance(p, AbstractColumn) or _is_small(p) for p in parts) or not any(
        _is_small(p) for p in parts
    ):
        a.use(*(p for p in parts if isinstance(p, AbstractColumn)))
        parts = [_clear_rowwise_if_mixed(p) for p in parts]
    if not all(isinstance(o, ast.Eq | ast.NotEq) for o in node.ops):
        # A column of NaN alone cannot be compared with a text.
        parts = [_clear_rowwise_if_mixed(p, but=("small", "real")) for p in parts]
    decided = _decide_comparison(s, node.ops, parts)
    if decided is not None:
        return AbstractScalar(constant=decided, fixed=True)
    if all(isinstance(o, ast.Is | ast.IsNot | ast.In | ast.NotIn) for o in node.ops):
        for part in parts:
            if not isinstance(node.ops[0], ast.Is | ast.IsNot):
                a.observe(s, part, node, "membership is asked")
        return AbstractScalar(fixed=all(map(is_fixed, parts)))
    return combine_operands(a, s, parts, node, mask=True)


def _is_small(value: Value) -> bool:
    """Whether a value is a constant that integers and doubles compare with alike."""
    if not isinstance(value, AbstractScalar):
        return False
    number = value.constant
    if isinstance(number, int | float):
        return abs(number) < EXACT_INT_BOUND
    return isinstance(number, str | bytes | dt.date | None)


def _clear_rowwise_if_mixed(value: Value, but: tuple[Mixed, ...] = ()) -> Value:
    """The column, of which nothing is known row by row if its type depends on other rows."""
    is_mixed = isinstance(value, AbstractColumn) and value.mixed and value.mixed not in but
    return replace(value, rowwise=False) if is_mixed else value


_DECIDED: dict[type[ast.cmpop], Callable[[object, object], object]] = {
    ast.Eq: operator.eq,
    ast.NotEq: operator.ne,
    ast.In: lambda item, items: operator.contains(items, item),  # type: ignore[arg-type]
    ast.NotIn: lambda item, items: item not in items,  # type: ignore[operator]
}


def _decide_comparison(s: AnalysisState, ops: list[ast.cmpop], parts: list[Value]) -> bool | None:
    """The truth value of a comparison of constants; None if it is unknown."""
    compare = _DECIDED.get(type(ops[0])) if len(ops) == 1 else None
    left, right = constant_of(s, parts[0]), constant_of(s, parts[1])
    if isinstance(ops[0], ast.Is | ast.IsNot) and len(ops) == 1 and right is None:
        is_object = isinstance(parts[0], AbstractColumn | Ref | AbstractTuple | Function)
        if left is ... and not is_object:
            return None
        return (is_object or left is not None) == isinstance(ops[0], ast.IsNot)
    among = isinstance(ops[0], ast.In | ast.NotIn)
    others = right if among and isinstance(right, tuple) else (right,)
    if compare is None or among != isinstance(right, tuple):
        return None
    if not all(type(c) in (str, int, bool) for c in (left, *others)):
        return None
    return bool(compare(left, right))


def bool_op(a: Analysis, node: ast.BoolOp, s: AnalysisState) -> Value:
    """Evaluate ``and`` and ``or``."""
    first, *others = node.values
    value = a.evaluator.evaluate(a, first, s)
    for operand in others:
        decided = constant_of(s, value)
        if isinstance(decided, bool):
            if decided == isinstance(node.op, ast.Or):
                return value
            value = a.evaluator.evaluate(a, operand, s)
            continue
        a.observe(s, value, node, "the truth of a value is asked")
        value = join(value, a.evaluator.evaluate(a, operand, s))
    return value


def if_expression(a: Analysis, node: ast.IfExp, s: AnalysisState) -> Value:
    """Evaluate ``a if test else b``."""
    test = a.evaluator.evaluate(a, node.test, s)
    decided = constant_of(s, test)
    if isinstance(decided, bool):
        return a.evaluator.evaluate(a, node.body if decided else node.orelse, s)
    if not is_fixed(test):
        a.branches_on(test, node.test)
    branches = ((node.body, a.evaluator.evaluate(a, node.body, s)),)
    return join_written((*branches, (node.orelse, a.evaluator.evaluate(a, node.orelse, s))))


def join_written(branches: Sequence[tuple[ast.expr | None, Value]]) -> Value:
    """Join the values of these expressions. Nothing else stands for an empty dict or list that is
    written there.
    """
    values = [v for _, v in branches]
    if any(isinstance(v, OpaqueValue | AbstractScalar) for v in values):
        values = [OpaqueValue(reach_of(v), DATA) if _is_empty(node) else v for node, v in branches]
    return reduce(join, values)


def _is_empty(node: ast.expr | None) -> bool:
    match node:
        case ast.Dict(keys=[]) | ast.List(elts=[]):
            return True
    return False
