"""Trusted. Floats: ``float()`` and functions of Python's module ``math``."""

from __future__ import annotations

import ast

from presieve.ir.ops import app, negate
from presieve.ir.sorts import BOOL, FLOAT, INT, STRING
from presieve.ir.terms import FALSE, Lit, Op, float_lit, literal_value
from presieve.lift.execution.state import Flow, Machine
from presieve.lift.models.builtins.arithmetic import absolute, exact_as_float, to_float
from presieve.lift.models.builtins.comparisons import boolean
from presieve.lift.values.symbolic import PLAIN, GapV, Scalar, Traits, Value, describe
from presieve.semantics.build import as_int, is_none, or_

Arguments = tuple[Value, ...]


def _one(m: Machine, args: Arguments, node: ast.AST) -> None:
    if len(args) != 1:
        raise m.decline("unknown-call", "supported with 1 argument(s) only", node)


def as_double(m: Machine, flow: Flow, args: Arguments, node: ast.AST) -> Value:
    """``float()`` of a number, a truth value or a constant text."""
    _one(m, args, node)
    value = m.scalar(flow, args[0], node)
    if isinstance(value.term, Lit) and value.base == STRING:
        return _float_of_text(m, str(literal_value(value.term)), node)
    if value.base == BOOL:
        value = Scalar(as_int(value.term), PLAIN)
    if value.base not in (INT, FLOAT):
        raise m.decline("unsupported-operation", f"float() of {describe(value)}", node)
    return Scalar(to_float(m, flow, value), Traits(maybe_nan=value.traits.maybe_nan))


def _float_of_text(m: Machine, text: str, node: ast.AST) -> Value:
    try:
        number = float(text)
    except ValueError:
        raise m.decline("always-raises", f"float({text!r}) raises", node) from None
    return Scalar(float_lit(number), Traits(maybe_nan=number != number))


def is_nan(m: Machine, flow: Flow, args: Arguments, node: ast.AST) -> Value:
    """``math.isnan``: TypeError for None and for text."""
    _one(m, args, node)
    found = m.force(args[0], flow)
    if isinstance(found, GapV) and found.base in (INT, FLOAT):
        m.columns.ask(found.term)
        return boolean(is_none(found.term))
    value = m.scalar(flow, args[0], node)
    m.columns.ask(value.term)
    if value.base in (BOOL, INT) and (value.base == BOOL or exact_as_float(value, m.ranges)):
        return boolean(FALSE)
    if value.base != FLOAT:
        raise m.decline("unsupported-operation", f"isnan of {describe(value)}", node)
    return boolean(app(Op.IS_NAN, value.term))


def is_infinite(m: Machine, flow: Flow, args: Arguments, node: ast.AST) -> Value:
    """``math.isinf``: TypeError for None."""
    _one(m, args, node)
    value = m.scalar(flow, args[0], node)
    if value.base != FLOAT:
        raise m.decline("unsupported-operation", f"isinf of {describe(value)}", node)
    infinities = (float_lit(float("inf")), float_lit(float("-inf")))
    return boolean(or_(*(app(Op.PY_EQ, value.term, i) for i in infinities)))


def is_finite(m: Machine, flow: Flow, args: Arguments, node: ast.AST) -> Value:
    """``math.isfinite``: neither infinite nor NaN."""
    _one(m, args, node)
    value = m.scalar(flow, args[0], node)
    m.columns.ask(value.term)
    infinite = is_infinite(m, flow, args, node)
    assert isinstance(infinite, Scalar)
    return boolean(negate(or_(app(Op.IS_NAN, value.term), infinite.term)))


def fabs(m: Machine, flow: Flow, args: Arguments, node: ast.AST) -> Value:
    """``math.fabs``, which is a float always."""
    return absolute(m, flow, as_double(m, flow, args, node), node)
