"""Trusted. Values that may be NaN or NaT: what pandas makes of nothing.

Unlike None they compare with everything, as unequal and in no order; texts and dates are objects,
whose order against the float NaN raises.
"""

from __future__ import annotations

import ast

from presieve.ir.ops import negate
from presieve.ir.sorts import DATE, INT, TEXTS
from presieve.ir.terms import FALSE, TRUE, Lit, Term, literal_value
from presieve.lift.execution.state import Flow, Machine
from presieve.lift.values.symbolic import (
    DistinctV,
    GapV,
    NoneV,
    Scalar,
    Traits,
    Value,
    describe,
)
from presieve.semantics.build import and_, get, is_none, or_


def number_of(value: GapV) -> Scalar:
    """The value where it is there: where the column held NULL, an integer is a float."""
    return Scalar(get(value.term), Traits(numpy=True))


def compare_gaps(
    m: Machine, flow: Flow, op: ast.cmpop, left: Value, right: Value, node: ast.AST
) -> Term:
    """``left op right`` as a truth value, where one of the two may be NaN."""
    from presieve.lift.models.builtins.comparisons import compare

    if isinstance(op, ast.Is | ast.IsNot):
        if isinstance(left, NoneV) or isinstance(right, NoneV):
            return FALSE if isinstance(op, ast.Is) else TRUE
        raise m.decline("unsupported-expression", "'is' is supported with None only", node)
    if isinstance(op, ast.In | ast.NotIn):
        raise m.decline("unsupported-operation", "'in' for a value that may be NaN", node)
    if isinstance(left, DistinctV) or isinstance(right, DistinctV):
        return _compare_distinct(m, op, left, right, node)
    there = [negate(is_none(v.term)) for v in (left, right) if isinstance(v, GapV)]
    bases = {v.base for v in (left, right) if isinstance(v, GapV)}
    if isinstance(op, ast.Lt | ast.LtE | ast.Gt | ast.GtE) and bases & {*TEXTS, DATE}:
        # Two that are missing are two floats, whose order does not raise.
        neither = and_(*(negate(t) for t in there)) if len(there) == 2 else FALSE
        m.fail(flow, negate(or_(and_(*there), neither)))
    if left == right and isinstance(op, ast.Eq | ast.NotEq):
        m.columns.ask(*(v.term for v in (left, right) if isinstance(v, GapV)))
        return there[0] if isinstance(op, ast.Eq) else negate(there[0])
    both = and_(*there)
    a, b = (number_of(v) if isinstance(v, GapV) else v for v in (left, right))
    same = ast.Eq() if isinstance(op, ast.NotEq) else op
    found = and_(both, compare(m, flow.branch(both), same, a, b, node))
    return flow.decided(negate(found) if isinstance(op, ast.NotEq) else found)


_FLIPPED: dict[type[ast.cmpop], type[ast.cmpop]] = {
    ast.Lt: ast.Gt,
    ast.Gt: ast.Lt,
    ast.LtE: ast.GtE,
    ast.GtE: ast.LtE,
}


def _compare_distinct(m: Machine, op: ast.cmpop, left: Value, right: Value, node: ast.AST) -> Term:
    """The number of different values against a constant that tells none, one and more apart."""
    kind: type[ast.cmpop] = type(op)
    if not isinstance(left, DistinctV):
        left, right, kind = right, left, _FLIPPED.get(kind, kind)
    assert isinstance(left, DistinctV)
    limit: object = None
    if isinstance(right, Scalar) and isinstance(right.term, Lit):
        limit = literal_value(right.term)
    one = and_(left.some, negate(left.many))
    answers: dict[tuple[type[ast.cmpop], object], Term] = {
        (ast.Gt, 1): left.many,
        (ast.GtE, 2): left.many,
        (ast.LtE, 1): negate(left.many),
        (ast.Lt, 2): negate(left.many),
        (ast.Eq, 1): one,
        (ast.NotEq, 1): negate(one),
        (ast.Gt, 0): left.some,
        (ast.GtE, 1): left.some,
        (ast.NotEq, 0): left.some,
        (ast.Eq, 0): negate(left.some),
        (ast.Lt, 1): negate(left.some),
        (ast.LtE, 0): negate(left.some),
    }
    if type(limit) is int and (kind, limit) in answers:
        return answers[kind, limit]
    reason = "how many different values there are is known only against 0 and 1"
    raise m.decline("not-a-fold", reason, node)


def truth_of_gap(value: GapV) -> Term:
    """NaN is true. Declines nothing: the truth of a number is whether it is not zero."""
    from presieve.lift.models.builtins.comparisons import truth_of_term

    absent = is_none(value.term)
    return or_(absent, and_(negate(absent), truth_of_term(get(value.term))))


def as_int(m: Machine, flow: Flow, value: GapV, node: ast.AST) -> Scalar:
    """``int(value)``: ValueError for NaN. Doubles are declined."""
    if value.base != INT:
        raise m.decline("unsupported-operation", f"int() of {describe(value)}", node)
    m.fail(flow, is_none(value.term))
    return Scalar(get(value.term))
