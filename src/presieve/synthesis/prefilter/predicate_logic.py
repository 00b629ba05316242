# SPDX-License-Identifier: Apache-2.0
"""Untrusted. Connectives of predicates, and tests for NULL: conjunctions and disjunctions without
parts that follow from others.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from presieve.ir.function_signatures import SIGNATURES, may_be_none
from presieve.ir.ops import app, sql_conjunction, sql_conjuncts, sql_disjunction, sql_disjuncts
from presieve.ir.terms import SQL_FALSE, SQL_TRUE, App, Lit, Op, Term, Var, literal_value
from presieve.ir.walk import subterms, variables
from presieve.semantics.interpret import evaluate
from presieve.semantics.operator_meanings import sql_order
from presieve.semantics.thresholds import AS_SPARK

OPPOSITE = {
    Op.SQL_LT: Op.SQL_GE,
    Op.SQL_GE: Op.SQL_LT,
    Op.SQL_GT: Op.SQL_LE,
    Op.SQL_LE: Op.SQL_GT,
}


def null_tests(*operands: Term) -> list[Term]:
    """The tests of which one is true where an operand is NULL: those of columns, and of elements
    that may be missing.
    """
    tested: list[Term] = []
    for node in subterms(*operands):
        if isinstance(node, Var) or (isinstance(node, App) and may_be_missing(node)):
            tested.append(node)
    inner = {a for t in tested if isinstance(t, App) for a in subterms(t) if a is not t}
    return [app(Op.SQL_IS_NULL, t) for t in tested if t not in inner]


def may_be_missing(node: App) -> bool:
    return node.op in SIGNATURES and may_be_none(node)


def negate_predicate(term: Term) -> Term:
    if term in (SQL_TRUE, SQL_FALSE):
        return SQL_FALSE if term == SQL_TRUE else SQL_TRUE
    match term:
        case App(Op.SQL_OR, args):
            return all_of([negate_predicate(a) for a in args])
    return app(Op.SQL_NOT, term)


def all_of(parts: list[Term]) -> Term:
    """A conjunction, without conjuncts that follow from others."""
    flat = list(dict.fromkeys(c for p in parts for c in sql_conjuncts(p)))
    if SQL_FALSE in flat:
        return SQL_FALSE
    present = {v for c in flat for v in _not_null(c)}
    conjuncts = []
    for c in flat:
        match c:
            case App(Op.SQL_IS_NULL, (v,)) if v in present:
                return SQL_FALSE
            case App(Op.SQL_NOT, (App(Op.SQL_IS_NULL, (v,)),)) if v in present:
                continue
        conjuncts.append(c)
    options = [[d for d in sql_disjuncts(c) if d not in _opposites(conjuncts)] for c in conjuncts]
    if not all(options):
        return SQL_FALSE
    tight = tighten_conjuncts(list(dict.fromkeys(sql_disjunction(o) for o in options)))
    return SQL_FALSE if SQL_FALSE in tight else sql_conjunction(tight)


def _opposites(terms: list[Term]) -> set[Term]:
    """Terms that are not true where all of these terms are."""
    opposites: set[Term] = set()
    for term in terms:
        match term:
            case App(Op.SQL_NOT, (inner,)):
                opposites.add(inner)
            case App(op, args) if op in OPPOSITE:
                opposites |= {app(OPPOSITE[op], *args), app(Op.SQL_NOT, term)}
            case App(op, _) if op is not Op.SQL_OR:
                opposites.add(app(Op.SQL_NOT, term))
        opposites |= {app(Op.SQL_IS_NULL, v) for v in _not_null(term)}
    return opposites


def _not_null(term: Term) -> tuple[Term, ...]:
    """The columns, and elements that may be missing, that are not NULL where a comparison, or a
    test for NaN, is true.
    """
    match term:
        case App(Op.SQL_NOT, (App(op, args),)) | App(op, args) if (
            op in AS_SPARK.values() and op is not Op.SQL_EQ_NULLSAFE
        ):
            return tuple(_optional_in(args))
        case App(Op.SQL_IS_NAN, (v,)):
            return tuple(_optional_in((v,)))
        case App(Op.SQL_NOT, (App(op, args),)) | App(op, args) if op in SIGNATURES:
            return tuple(_optional_in(args))
        case App(Op.SQL_OR, parts):
            alike = set.intersection(*(set(_not_null(p)) for p in parts))
            return tuple(v for v in _optional_in((term,)) if v in alike)
    return ()


def _optional_in(terms: Sequence[Term]) -> Iterator[Term]:
    for node in subterms(*terms):
        if isinstance(node, Var) or (isinstance(node, App) and may_be_missing(node)):
            yield node


def _is_certain(part: Term, parts: list[Term]) -> bool:
    """Whether a comparison, its negation and NULL are all among the parts."""
    if any(isinstance(t, App) and may_be_missing(t) for t in subterms(part)):
        return False
    nulls = [app(Op.SQL_IS_NULL, v) for v in _not_null(part)]
    negations = [app(Op.SQL_NOT, part)]
    if isinstance(part, App) and part.op in OPPOSITE:
        negations.append(app(OPPOSITE[part.op], *part.args))
    return bool(nulls) and set(nulls) <= set(parts) and any(n in parts for n in negations)


def any_of(parts: list[Term]) -> Term:
    """A disjunction, without disjuncts that imply others."""
    flat = list(dict.fromkeys(d for p in parts for d in sql_disjuncts(p)))
    if any(p == SQL_TRUE for p in parts) or SQL_TRUE in flat:
        return SQL_TRUE
    flat = [d for d in flat if d != SQL_FALSE]
    if not flat:
        return SQL_FALSE
    if any(_is_certain(d, flat) for d in flat):
        return SQL_TRUE
    sets = [set(sql_conjuncts(d)) for d in flat]
    weakest = [d for d, s in zip(flat, sets, strict=True) if not any(o < s for o in sets)]
    return sql_disjunction(weakest)


# --- conjuncts that others decide ----------------------------------------------------------------


_BELOW = {Op.SQL_GT: True, Op.SQL_GE: True, Op.SQL_LT: False, Op.SQL_LE: False}
"""Whether a comparison is a bound from below."""
_STRICT = (Op.SQL_GT, Op.SQL_LT)


def tighten_conjuncts(conjuncts: Sequence[Term]) -> list[Term]:
    """Conjuncts that are true for the same rows."""
    tightest = [c for c in conjuncts if not any(_is_tighter(o, c) for o in conjuncts if o is not c)]
    for listed in list(tightest):
        column = _column(listed)
        # One that took part in an earlier one is not there any more.
        if column is not None and any(c is listed for c in tightest):
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
