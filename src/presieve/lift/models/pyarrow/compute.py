"""Trusted. Reductions of ``pyarrow.compute`` as fields of the fold.

They skip nulls, and give null where nothing is left; those of doubles skip NaN too, and give NaN
where nothing else is left. Doubles are added up pairwise, so that their sum is no fold; a sum of
integers wraps around at 64 bits.
"""

from __future__ import annotations

import ast

from presieve.ir.ops import app, negate
from presieve.ir.sorts import BOOL, FLOAT, INT, Option, strip
from presieve.ir.terms import FALSE, TRUE, Op, Scope, Term, Var, float_lit, int_lit, none_lit
from presieve.lift.execution.fields import field, rows_of
from presieve.lift.execution.state import Flow, Machine
from presieve.lift.models.pandas.zeros import either_zero
from presieve.lift.models.pyarrow.arrays import MODELS as ELEMENTS
from presieve.lift.models.pyarrow.arrays import Arguments, Model, arity, array_of
from presieve.lift.models.pyarrow.values import ArrayV, CellV
from presieve.lift.values.symbolic import EXACT_INT, Scalar, Value
from presieve.semantics.assumptions import SUM_WITHIN
from presieve.semantics.build import and_, as_float, get, is_none, ite, or_, some

NAN = float_lit(float("nan"))


def _there(a: ArrayV) -> Term:
    return and_(a.rows, negate(is_none(a.term)))


def _seen(m: Machine, rows: Term, node: ast.AST) -> Term:
    """Whether there is such a row."""
    if rows in (TRUE, FALSE):
        return rows
    name = m.reduction_name("any()", ("any", rows, rows))
    return field(m, name, FALSE, or_(Var(Scope.ACC, name, BOOL), rows), node)


def _extreme(op: Op) -> Model:
    def model(m: Machine, _flow: Flow, args: Arguments, node: ast.AST) -> Value:
        arity(m, args, 1, node)
        a = array_of(m, args[0], node)
        base = strip(a.term.sort)
        if base == BOOL:
            raise m.decline("unsupported-operation", "min and max of booleans", node)
        element, rows = get(a.term), _there(a)
        number = rows if base != FLOAT else and_(rows, negate(app(Op.IS_NAN, element)))
        what = "max()" if op is Op.PY_GT else "min()"
        name = m.reduction_name(what, (op, a.term, a.rows))
        acc = Var(Scope.ACC, name, Option(base))
        better = and_(number, or_(is_none(acc), app(op, element, get(acc))))
        best: Term = field(m, name, none_lit(base), ite(better, some(element), acc), node)
        if base == FLOAT:
            best = either_zero(m, best, a.term, rows, node)
            best = ite(and_(is_none(best), _seen(m, rows, node)), some(NAN), best)
        return CellV(best, a.type)

    return model


def _count(m: Machine, flow: Flow, args: Arguments, node: ast.AST) -> Value:
    arity(m, args, 1, node)
    found = m.force(rows_of(m, flow, _there(array_of(m, args[0], node)), node), flow)
    if not isinstance(found, Scalar):
        raise m.decline("group-size", "the number of rows is not known here", node)
    return CellV(found.term, "bigint")


def _any_or_all(*, any_: bool) -> Model:
    def model(m: Machine, _flow: Flow, args: Arguments, node: ast.AST) -> Value:
        arity(m, args, 1, node)
        a = array_of(m, args[0], node)
        if strip(a.term.sort) != BOOL:
            raise m.decline("unsupported-operation", "any and all take conditions", node)
        rows, element = _there(a), get(a.term)
        hit = _seen(m, and_(rows, element if any_ else negate(element)), node)
        there = _seen(m, rows, node)
        term = ite(there, some(hit if any_ else negate(hit)), none_lit(BOOL))
        return CellV(term, "boolean")

    return model


def _sum(m: Machine, a: ArrayV, node: ast.AST) -> Term:
    if strip(a.term.sort) == FLOAT:
        reason = (
            "pyarrow adds doubles up in an order that depends on how many rows there are, and so "
            "does the rounding: add them up in a loop over the array, which has one order"
        )
        raise m.decline("not-a-fold", reason, node)
    if strip(a.term.sort) != INT:
        raise m.decline("unsupported-operation", f"the sum of an array of {a.type}", node)
    name = m.reduction_name("sum()", ("sum", a.term, a.rows))
    acc = Var(Scope.ACC, name, INT)
    step = ite(_there(a), app(Op.INT_ADD, acc, get(a.term)), acc)
    return field(m, name, int_lit(0), step, node)


def _within(m: Machine, flow: Flow, term: Term, limit: int, node: ast.AST) -> None:
    """The sum is assumed to stay within bounds, unless it is known to."""
    bound = m.ranges.magnitude(term)
    if bound is None or bound >= limit:
        outside = or_(app(Op.PY_LT, term, int_lit(-limit)), app(Op.PY_GE, term, int_lit(limit)))
        m.fail(flow, outside)
        m.columns.add_assumptions([SUM_WITHIN[limit].of(what=ast.unparse(node))])


def _total(m: Machine, flow: Flow, args: Arguments, node: ast.AST) -> Value:
    arity(m, args, 1, node)
    a = array_of(m, args[0], node)
    total = _sum(m, a, node)
    _within(m, flow, total, 2**63, node)
    return CellV(ite(_seen(m, _there(a), node), some(total), none_lit(INT)), "bigint")


def _mean(m: Machine, flow: Flow, args: Arguments, node: ast.AST) -> Value:
    arity(m, args, 1, node)
    a = array_of(m, args[0], node)
    top = _sum(m, a, node)
    _within(m, flow, top, EXACT_INT, node)
    count = m.force(rows_of(m, flow, _there(a), node), flow)
    if not isinstance(count, Scalar):
        raise m.decline("group-size", "the number of rows is not known here", node)
    quotient = app(Op.FLOAT_DIV, as_float(top), as_float(count.term))
    empty = app(Op.PY_EQ, count.term, int_lit(0))
    return CellV(ite(empty, none_lit(FLOAT), some(quotient)), "double")


_REDUCTIONS: dict[str, Model] = {
    "max": _extreme(Op.PY_GT),
    "min": _extreme(Op.PY_LT),
    "count": _count,
    "sum": _total,
    "mean": _mean,
    "any": _any_or_all(any_=True),
    "all": _any_or_all(any_=False),
}
MODELS: tuple[tuple[tuple[str, ...], Model], ...] = (
    *ELEMENTS,
    *(((f"pyarrow.compute.{name}",), model) for name, model in _REDUCTIONS.items()),
)
"""Functions of ``pyarrow.compute`` without options, and what they mean."""
