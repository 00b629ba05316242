# SPDX-License-Identifier: Apache-2.0
"""Trusted. The sign of a zero, where NumPy and heaps leave it open.

The greatest of 0.0 and -0.0 may be either. Which one it is depends on their places among the other
elements, so it may change if rows are dropped. If the group has no -0.0, there is only one zero.
"""

from __future__ import annotations

from presieve.ir.assumption_codes import OPEN_ZERO, ZERO_SIGN
from presieve.ir.ops import app, conjuncts, negate
from presieve.ir.terms import App, Lit, Op, Scope, Term, Var, float_lit, literal_value
from presieve.ir.walk import variables
from presieve.lift.execution.count_fields import any_row
from presieve.lift.execution.state import SymbolicMachine
from presieve.semantics.assumptions import ZERO_IN_HEAPS, assumption_of
from presieve.semantics.interpret import evaluate
from presieve.semantics.smart_constructors import and_, get, is_none, or_


def either_zero(m: SymbolicMachine, best: Term, element: Term, rows: Term) -> Term:
    """Return a double that was chosen among the elements of these rows. If it is a zero and a -0.0
    is among them, its sign is open.
    """
    if _excludes_zero(rows, element) or _comes_from_integers(element):
        return best
    mixed = any_row(m, and_(rows, _is_negative(element)))
    _assume(m, OPEN_ZERO, element)
    return app(Op.OPEN_ZERO, best, mixed)


def assume_no_negative_zero(m: SymbolicMachine, *elements: Term) -> None:
    """Assume that no compared element is -0.0."""
    for element in elements:
        if not _comes_from_integers(element):
            _assume(m, ZERO_SIGN, element)


def _comes_from_integers(element: Term, divisor: float = 1.0) -> bool:
    """Return whether a double is an integer, perhaps divided by positive constants: its zero has no
    sign, and no quotient is too small for a double.
    """
    match element:
        case App(Op.INT_TO_FLOAT):
            return divisor < _FAR
        case Lit(_, None):
            return True
        case App(Op.SOME | Op.GET, (inner,)):
            return _comes_from_integers(inner, divisor)
        case App(Op.ITE, (_, a, b)):
            return _comes_from_integers(a, divisor) and _comes_from_integers(b, divisor)
        case App(Op.FLOAT_DIV, (inner, Lit() as by)):
            number = literal_value(by)
            is_divisor = isinstance(number, float) and 1.0 <= number < _FAR
            return is_divisor and _comes_from_integers(inner, divisor * float(number or 1))
    return False


_FAR = 1e300
"""The reciprocals of numbers below are no less than the least normal double."""


def _excludes_zero(rows: Term, element: Term) -> bool:
    """Return whether a conjunct of ``rows`` that reads only this column excludes -0.0."""
    column = element.args[0] if isinstance(element, App) and element.op is Op.SOME else element
    if not isinstance(column, Var):
        return False
    alone = [c for c in conjuncts(rows) if set(variables(c)) == {column}]
    return any(evaluate(c, {(column.scope, column.name): -0.0}) is False for c in alone)


def _is_negative(element: Term) -> Term:
    return and_(negate(is_none(element)), app(Op.SAME, get(element), float_lit(-0.0)))


def _assume(m: SymbolicMachine, code: str, element: Term) -> None:
    term = or_(is_none(element), negate(app(Op.SAME, get(element), float_lit(-0.0))))
    read = variables(term)
    if read and all(v.scope in (Scope.ROW, Scope.KEY) for v in read):
        m.columns.add_assumptions([assumption_of(code, term)])
    else:
        m.columns.add_assumptions([ZERO_IN_HEAPS.of()])
