"""Untrusted. Conditions as clauses: conjunctive normal form in Spark SQL's three-valued logic.

Kleene's logic is a distributive lattice, so a condition is true just where all its clauses are.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import product

from presieve.errors import SortError
from presieve.ir.ops import app, sql_disjunction
from presieve.ir.terms import (
    FALSE,
    SQL_FALSE,
    SQL_TRUE,
    TRUE,
    App,
    Lit,
    Op,
    Scope,
    Term,
    Var,
    float_lit,
)
from presieve.semantics.thresholds import MIRRORED

MAX_CLAUSES = 64
"""A condition with more is taken as a single clause."""

Clause = tuple[Term, ...]
"""A disjunction of literals."""

_CONTRARY = {
    Op.SQL_LT: Op.SQL_GE,
    Op.SQL_GE: Op.SQL_LT,
    Op.SQL_GT: Op.SQL_LE,
    Op.SQL_LE: Op.SQL_GT,
}
_AS_SQL = {
    Op.AND: Op.SQL_AND,
    Op.OR: Op.SQL_OR,
    Op.NOT: Op.SQL_NOT,
    Op.IS_NONE: Op.SQL_IS_NULL,
    Op.IS_NAN: Op.SQL_IS_NAN,
    Op.PY_EQ: Op.SQL_EQ,
    Op.SAME: Op.SQL_EQ,
    Op.PY_LT: Op.SQL_LT,
    Op.PY_LE: Op.SQL_LE,
    Op.PY_GT: Op.SQL_GT,
    Op.PY_GE: Op.SQL_GE,
    Op.FLOAT_ADD: Op.SQL_FLOAT_ADD,
    Op.FLOAT_SUB: Op.SQL_FLOAT_SUB,
    Op.FLOAT_MUL: Op.SQL_FLOAT_MUL,
}
_NAN = float_lit(float("nan"))


def clauses(condition: Term) -> list[Clause]:
    """The clauses of a three-valued condition, each once; of a true one there are none."""
    cnf = _cnf(condition, positive=True)
    return cnf if len(cnf) <= MAX_CLAUSES else [(condition,)]


def clause_term(clause: Clause) -> Term:
    """A clause as one condition."""
    return sql_disjunction(clause)


def _cnf(term: Term, *, positive: bool) -> list[Clause]:
    match term:
        case App(Op.SQL_NOT, (inner,)):
            return _cnf(inner, positive=not positive)
        case App(Op.SQL_AND | Op.SQL_OR as op, args):
            parts = [_cnf(a, positive=positive) for a in args]
            if (op is Op.SQL_AND) == positive:
                return _distinct(c for part in parts for c in part)
            return _product(parts)
        case Lit():
            return [] if (term in (SQL_TRUE, TRUE)) == positive else [()]
    return [(term if positive else contrary(term),)]


def _product(parts: Sequence[list[Clause]]) -> list[Clause]:
    """The clauses of a disjunction, distributed one part after the other."""
    distributed: list[Clause] = [()]
    for part in parts:
        distributed = _distinct(_join(a, b) for a, b in product(distributed, part))
        if len(distributed) > 4 * MAX_CLAUSES:
            break  # far too many: the caller keeps the condition whole
    return distributed


def _join(a: Clause, b: Clause) -> Clause:
    return tuple(dict.fromkeys((*a, *b)))


def _distinct(clauses: Iterable[Clause]) -> list[Clause]:
    """Each once, and none that another one implies by being part of it."""
    once = list({frozenset(c): c for c in clauses}.values())
    return [c for c in once if not any(set(o) < set(c) for o in once)]


def contrary(literal: Term) -> Term:
    """The negation of a literal."""
    if isinstance(literal, App) and literal.op is Op.SQL_NOT:
        return literal.args[0]
    if isinstance(literal, App) and literal.op in _CONTRARY:
        return app(_CONTRARY[literal.op], *literal.args)
    return app(Op.SQL_NOT, literal)


def as_sql(term: Term) -> Term | None:
    """What Python computes from a row, in Spark SQL; None where it cannot be said.

    A candidate only: where the two worlds differ (NULL, NaN), so does the candidate.
    """
    match term:
        case Var(Scope.ROW):
            return term
        case Lit():
            return {TRUE: SQL_TRUE, FALSE: SQL_FALSE}.get(term, term)
        case App(Op.GET | Op.SOME, (inner,)):
            return as_sql(inner)
        case App(Op.ITE, (App(Op.IS_NONE, (Var() as v,)), nan, App(Op.GET, (w,)))):
            return v if v == w and nan == _NAN else None
        case App(Op.IS_NAN, (App(Op.ITE),)):
            sql = as_sql(term.args[0])
            return None if sql is None else app(Op.SQL_IS_NULL, sql)
        case App(op, args) if op in _AS_SQL:
            inner_terms = [as_sql(a) for a in args]
            known = [a for a in inner_terms if a is not None]
            try:
                return app(_AS_SQL[op], *known) if len(known) == len(args) else None
            except SortError:
                return None
    return None


def compared(literal: Term) -> tuple[Op, Var, Lit] | None:
    """A comparison of a variable with a constant, the variable first."""
    match literal:
        case App(op, (Var() as v, Lit() as c)) if op in MIRRORED:
            return op, v, c
        case App(op, (Lit() as c, Var() as v)) if op in MIRRORED:
            return MIRRORED[op], v, c
        case App(Op.SQL_NOT, (App(Op.SQL_EQ, (Var() as v, Lit() as c)),)):
            return Op.SQL_NOT, v, c
    return None
