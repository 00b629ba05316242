# SPDX-License-Identifier: Apache-2.0
"""Trusted. Values that depend on conditions (CASE and its kin), and conditions on such values.

Predicates of the IR have no conditional, and need none: a condition on such a value is the
condition on each of its possible values. ``CASE WHEN c THEN a ELSE b END < x`` is

    ((c <=> true) AND a < x) OR (NOT (c <=> true) AND b < x)

with the same of three truth values: ``c <=> true`` is never NULL, and a NULL ``c`` chooses ``b``,
as a false one does. A condition that does not depend on columns is written as its value.
"""

from __future__ import annotations

from collections.abc import Callable, Collection
from dataclasses import dataclass
from typing import TypeAlias

from presieve.ir.ops import app, sql_conjunction, sql_conjuncts, sql_disjunction
from presieve.ir.sorts import BOOL, Option, Sort, strip
from presieve.ir.terms import FALSE, TRUE, App, Lit, Op, Term, Var, lit
from presieve.ir.walk import size, variables
from presieve.semantics.function_meanings import Undefined
from presieve.semantics.interpret import evaluate

_NEVER_NULL = {Op.SQL_IS_NULL, Op.SQL_IS_NAN, Op.SQL_EQ_NULLSAFE}
_NULL_FROM_NULL_ONLY = {Op.SQL_AND, Op.SQL_OR, Op.SQL_NOT, Op.SQL_EQ, Op.SQL_LT, Op.SQL_LE}
_NULL_FROM_NULL_ONLY |= {Op.SQL_GT, Op.SQL_GE, Op.SQL_IS_NEGATIVE_ZERO}
_NULL_FROM_NULL_ONLY |= {Op.SQL_FLOAT_ADD, Op.SQL_FLOAT_SUB, Op.SQL_FLOAT_MUL, Op.SQL_FLOAT_DIV}
_NULL_FROM_NULL_ONLY |= {Op.SQL_INT_ADD, Op.SQL_INT_SUB, Op.SQL_INT_MUL, Op.SQL_INT_TO_FLOAT}
_STRICT = {Op.SQL_EQ, Op.SQL_LT, Op.SQL_LE, Op.SQL_GT, Op.SQL_GE}


@dataclass(frozen=True, slots=True)
class CaseValue:
    """``then`` where ``condition`` holds, which is never NULL, and ``other`` elsewhere; both have
    the sort ``sort``, or are options of it. ``absolute_of`` is the double whose absolute value it
    is, if it is one.
    """

    condition: Term
    then: Value
    other: Value
    sort: Sort
    absolute_of: Term | None = None


Value: TypeAlias = Term | CaseValue


def decide(condition: Term, then: Value, otherwise: Value) -> Value:
    """``CASE WHEN condition THEN then ELSE otherwise END`` for values of one sort, up to NULL."""
    certain = is_true(condition)
    if certain in (TRUE, FALSE):
        return then if certain == TRUE else otherwise
    base = strip(then.sort)
    if base != BOOL:
        return CaseValue(certain, then, otherwise, base)
    assert not isinstance(then, CaseValue)
    assert not isinstance(otherwise, CaseValue)
    return _decide(certain, then, otherwise)


def each(value: Value, test: Callable[[Term], Term]) -> Term:
    """Apply the condition ``test`` to a value."""
    if isinstance(value, CaseValue):
        return _decide(value.condition, each(value.then, test), each(value.other, test))
    return _fold_constant(test(value))


def branches(value: Value) -> int:
    """The number of values to choose from."""
    if isinstance(value, CaseValue):
        return branches(value.then) + branches(value.other)
    return 1


def size_of(value: Value) -> int:
    """The size of a value: the nodes of all conditions and values."""
    if isinstance(value, CaseValue):
        return size(value.condition) + size_of(value.then) + size_of(value.other)
    return size(value)


def is_true(condition: Term) -> Term:
    """A condition that is true where this one is, and false elsewhere: it is never NULL."""
    condition = _fold_constant(condition)
    if isinstance(condition, Lit):
        return TRUE if condition.value is True else FALSE
    return condition if _is_certain(condition) else app(Op.SQL_EQ_NULLSAFE, condition, TRUE)


def as_filter(condition: Term) -> Term:
    """A condition that is true for the same rows, but may be NULL where this one is false."""
    match condition:
        case App(Op.SQL_AND, args):
            parts = [p for a in args for p in sql_conjuncts(as_filter(a))]
            return sql_conjunction(p for p in parts if not _is_implied(p, parts))
        case App(Op.SQL_OR, args):
            return sql_disjunction(map(as_filter, args))
        case App(Op.SQL_EQ_NULLSAFE, (inner, flag)) if flag == TRUE:
            return as_filter(inner)
        case App(Op.SQL_NOT, (App(Op.SQL_EQ_NULLSAFE, (inner, flag)),)) if flag == TRUE:
            return _not_true(inner)
    return condition


def _is_implied(condition: Term, others: Collection[Term]) -> bool:
    """Whether the condition says that another one, all of whose parts are true, is not NULL."""
    match condition:
        case App(Op.SQL_NOT, (App(Op.SQL_IS_NULL, (inner,)),)) if strip(inner.sort) == BOOL:
            return set(sql_conjuncts(as_filter(inner))) <= set(others)
    return False


def _not_true(condition: Term) -> Term:
    """A condition that is true where this one is false or NULL."""
    match condition:
        case App(Op.SQL_AND, args):
            return sql_disjunction(map(_not_true, args))
        case App(Op.SQL_OR, args):
            return sql_conjunction(map(_not_true, args))
        case App(op, args) if op in _STRICT and all(isinstance(a, Var | Lit) for a in args):
            unknown = [app(Op.SQL_IS_NULL, a) for a in args if not _is_certain(a)]
            return sql_disjunction([_negate(condition), *unknown])
    return _negate(is_true(condition))


def is_present(value: Value) -> Term:
    """``value IS NOT NULL``."""
    return each(value, lambda v: TRUE if _is_certain(v) else _negate(app(Op.SQL_IS_NULL, v)))


def _decide(condition: Term, then: Term, otherwise: Term) -> Term:
    """Choose between two conditions, and leave out parts that do not matter."""
    if then == otherwise:
        return then
    if otherwise == TRUE:
        parts = [_negate(condition), then]
    elif then == TRUE:
        parts = [condition, otherwise]
    else:
        yes, no = (condition, then), (_negate(condition), otherwise)
        parts = [FALSE if FALSE in pair else sql_conjunction(pair) for pair in (yes, no)]
    return sql_disjunction(p for p in parts if p != FALSE)


def _negate(term: Term) -> Term:
    """``NOT term``; for ``NOT x``, it is ``x``."""
    match term:
        case App(Op.SQL_NOT, (inner,)):
            return inner
    return app(Op.SQL_NOT, term)


def _fold_constant(term: Term) -> Term:
    """Evaluate a condition without columns; other terms stay, and those without a value."""
    if variables(term) or strip(term.sort) != BOOL:
        return term
    try:
        value = evaluate(term, {})
    except Undefined:
        return term
    assert value is None or isinstance(value, bool)
    return lit(BOOL if value is not None else Option(BOOL), value)


def _is_certain(term: Term) -> bool:
    """Whether a value is never NULL."""
    match term:
        case Var(_, _, sort):
            return not isinstance(sort, Option)
        case Lit(_, value):
            return value is not None
        case App(op, args):
            return op in _NEVER_NULL or (
                op in _NULL_FROM_NULL_ONLY and all(_is_certain(a) for a in args)
            )
