"""Untrusted. Leaves out conjuncts that others already decide.

Among bounds of one value the tightest stays. If a column is one of a few constants, the other
conjuncts about it are decided for each constant.
"""

from __future__ import annotations

from collections.abc import Sequence

from presieve.ir.ops import sql_disjunction, sql_disjuncts
from presieve.ir.terms import App, Lit, Op, Term, Var, literal_value
from presieve.ir.walk import variables
from presieve.semantics.interpret import evaluate
from presieve.semantics.operator_meanings import sql_order

_BELOW = {Op.SQL_GT: True, Op.SQL_GE: True, Op.SQL_LT: False, Op.SQL_LE: False}
"""Whether a comparison is a bound from below."""
_STRICT = (Op.SQL_GT, Op.SQL_LT)


def tighten_conjuncts(conjuncts: Sequence[Term]) -> list[Term]:
    """Conjuncts that are true for the same rows."""
    tightest = [c for c in conjuncts if not any(_is_tighter(o, c) for o in conjuncts if o is not c)]
    for listed in list(tightest):
        column = _column(listed)
        if column is not None:
            others = [c for c in tightest if c is not listed and variables(c) == (column,)]
            few = [e for e in sql_disjuncts(listed) if all(_holds(c, column, e) for c in others)]
            unrelated = [c for c in tightest if c not in others]
            tightest = [sql_disjunction(few) if c is listed else c for c in unrelated]
    return tightest


def _is_tighter(a: Term, b: Term) -> bool:
    """Whether bound ``a`` of a value is true only where bound ``b`` of the same value is."""
    match a, b:
        case (
            App(op, (x, Lit() as low)),
            App(other_op, (y, Lit() as high)),
        ) if x == y and op in _BELOW and other_op in _BELOW and _BELOW[op] == _BELOW[other_op]:
            if low.value is None or high.value is None:
                return False
            order = sql_order(literal_value(low), literal_value(high))
            if order == 0:
                return op in _STRICT and other_op not in _STRICT
            return (order > 0) == _BELOW[op]
    return False


def _column(conjunct: Term) -> Var | None:
    """The column that is one of the constants of the conjunct, if the conjunct has that form."""
    columns: set[Var] = set()
    for part in sql_disjuncts(conjunct):
        match part:
            case App(Op.SQL_EQ, (Var() as v, Lit(_, value))) if value is not None:
                columns.add(v)
            case _:
                return None
    return columns.pop() if len(columns) == 1 else None


def _holds(conjunct: Term, column: Var, equality: Term) -> bool:
    """Whether a condition on the column is true for a constant."""
    assert isinstance(equality, App)
    constant = equality.args[1]
    assert isinstance(constant, Lit)
    env = {(column.scope, column.name): literal_value(constant)}
    return evaluate(conjunct, env) is True
