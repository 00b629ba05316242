# SPDX-License-Identifier: Apache-2.0
"""Trusted. Terms in readable form: infix, original run ``s``, pre-filtered run ``t``.

Used for reports and for the words of assumptions, which people may rely on. Terms are stored and
checked in the form of :mod:`presieve.ir.text`.
"""

from __future__ import annotations

import json
from collections.abc import Iterable

from presieve.ir.sorts import BINARY, DATE, TIMESTAMP, TIMESTAMP_NTZ, Decimal, strip
from presieve.ir.terms import NONEMPTY, App, Lit, Op, Scope, Term, Var, literal_value
from presieve.semantics.function_meanings import WHITESPACE
from presieve.semantics.values import to_python

_RUNS = {Scope.ACC: "s.", Scope.TWIN: "t.", Scope.ROW: "", Scope.KEY: "", Scope.OUT: ""}
_SIGNS: dict[str, tuple[Op, ...]] = {
    " and ": (Op.AND,),
    " or ": (Op.OR,),
    " implies ": (Op.IMPLIES,),
    " is ": (Op.SAME,),
    " AND ": (Op.SQL_AND,),
    " OR ": (Op.SQL_OR,),
    " <=> ": (Op.SQL_EQ_NULLSAFE,),
    " = ": (Op.PY_EQ, Op.SQL_EQ),
    " < ": (Op.PY_LT, Op.SQL_LT),
    " <= ": (Op.PY_LE, Op.SQL_LE),
    " > ": (Op.PY_GT, Op.SQL_GT),
    " >= ": (Op.PY_GE, Op.SQL_GE),
    " + ": (Op.INT_ADD, Op.FLOAT_ADD, Op.SQL_FLOAT_ADD, Op.SQL_INT_ADD),
    " - ": (Op.INT_SUB, Op.FLOAT_SUB, Op.SQL_FLOAT_SUB, Op.SQL_INT_SUB),
    " * ": (Op.INT_MUL, Op.FLOAT_MUL, Op.SQL_FLOAT_MUL, Op.SQL_INT_MUL),
    " / ": (Op.FLOAT_DIV, Op.SQL_FLOAT_DIV),
    " // ": (Op.INT_FLOORDIV,),
    " % ": (Op.INT_MOD,),
}
_INFIX = {op: sign for sign, ops in _SIGNS.items() for op in ops}
_TESTS = (Op.PY_EQ, Op.PY_LT, Op.PY_LE, Op.PY_GT, Op.PY_GE, Op.IS_NAN)
_STRIPS = (Op.TEXT_STRIP, Op.TEXT_LSTRIP, Op.TEXT_RSTRIP)
_LOOSE = {Op.AND, Op.OR, Op.IMPLIES, Op.SQL_AND, Op.SQL_OR, Op.ITE}


def words(term: Term) -> str:
    """Write one term."""
    match term:
        case Var(scope, name, _):
            if name == NONEMPTY:
                return f"{_RUNS[scope]}group has a row"
            return _RUNS[scope] + name
        case Lit():
            return _literal(term)
        case App(op, args, _):
            return _application(op, args)


def invariant_words(terms: Iterable[Term]) -> str:
    """Write an invariant, one conjunct per line."""
    return "\n".join(words(t) for t in terms)


def _literal(term: Lit) -> str:
    value = literal_value(term)
    if value is None:
        return "none"
    base = strip(term.sort)
    if base in (DATE, TIMESTAMP, TIMESTAMP_NTZ, BINARY) or isinstance(base, Decimal):
        return str(to_python(value, term.sort))
    return json.dumps(value, ensure_ascii=False) if isinstance(value, str) else str(value)


def _inner(term: Term) -> str:
    text = words(term)
    loose = isinstance(term, App) and term.op in _LOOSE and len(visible(term.op, term.args)) > 1
    return f"({text})" if loose else text


def visible(op: Op, args: tuple[Term, ...]) -> list[Term]:
    """The conjuncts worth showing: a comparison of an option's value implies that it is present."""
    if op is not Op.AND:
        return list(args)
    compared = {x for a in args for x in _compared_options(a)}
    return [a for a in args if _present_option(a) not in compared] or list(args)


def _present_option(term: Term) -> Term | None:
    """The option that a conjunct says is not none."""
    match term:
        case App(Op.NOT, (App(Op.IS_NONE, (option,)),)):
            return option
    return None


def _compared_options(term: Term) -> list[Term]:
    if isinstance(term, App) and term.op in _TESTS:
        return [a.args[0] for a in term.args if isinstance(a, App) and a.op is Op.GET]
    return []


def _application(op: Op, args: tuple[Term, ...]) -> str:
    match op, args:
        case ((Op.GET | Op.SOME | Op.SQL_IS_TRUE), (inner,)) | (
            (Op.DECIMAL_WIDEN | Op.OPEN_ZERO),
            (inner, _),
        ):
            return words(inner)
        case Op.NOT, (App(Op.IS_NONE, (inner,)),):
            return f"{_inner(inner)} is there"
        case Op.NOT, (Var(scope, name, _),) if name == NONEMPTY:
            return f"{_RUNS[scope]}group has no row"
        case ((Op.NOT | Op.SQL_NOT), (inner,)):
            return f"not ({words(inner)})"
        case ((Op.IS_NONE | Op.SQL_IS_NULL), (inner,)):
            return f"{_inner(inner)} is none"
        case ((Op.IS_NAN | Op.SQL_IS_NAN), (inner,)):
            return f"{_inner(inner)} is NaN"
        case Op.SQL_IS_NEGATIVE_ZERO, (inner,):
            return f"{_inner(inner)} is -0.0"
        case Op.ITE, (condition, then, other):
            return f"{_inner(then)} if {_inner(condition)} else {_inner(other)}"
        case _, (inner, Lit(_, value)) if op in _STRIPS and value == WHITESPACE:
            return f"{op.value}({words(inner)})"
    if op in _INFIX:
        return _INFIX[op].join(_inner(a) for a in visible(op, args))
    return f"{op.value}({', '.join(words(a) for a in args)})"
