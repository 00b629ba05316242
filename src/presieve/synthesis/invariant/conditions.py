# SPDX-License-Identifier: Apache-2.0
"""Untrusted. Conditions of a step that compare columns of one row, grouping columns among them, or
results of functions of such columns.

``opened < closed`` is no region of either column, nor is ``len(name) > 3`` one of ``name``. This
module finds the largest such parts of a step, and writes them in Spark SQL. Comparisons of one
column with constants are left to regions, unless there are too many regions: then the columns that
a step uses in conditions only (``tested``) are not treated one by one.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TypeAlias

from presieve.ir.function_signatures import SIGNATURES
from presieve.ir.ops import app, sql_conjunction, sql_conjuncts, sql_disjunction
from presieve.ir.sorts import BOOL, FLOAT, Option, Tuple, strip
from presieve.ir.terms import TRUE, App, Lit, Op, Scope, Term, Var, literal_value
from presieve.ir.walk import subterms, variables
from presieve.semantics.preimages import preimage
from presieve.semantics.thresholds import AS_SPARK
from presieve.sql.emit import emit
from presieve.sql.quoted_names import InexpressibleError
from presieve.synthesis.prefilter.key_predicates import DIVIDED
from presieve.synthesis.prefilter.predicate_logic import OPPOSITE

_COLUMNS = {Scope.ROW, Scope.KEY}
_INTEGERS = {
    Op.INT_ADD: Op.SQL_INT_ADD,
    Op.INT_SUB: Op.SQL_INT_SUB,
    Op.INT_MUL: Op.SQL_INT_MUL,
}


_CALLED = frozenset((*SIGNATURES, *DIVIDED))
"""Functions of single values."""

Tested: TypeAlias = frozenset[Var]
"""Columns whose comparisons with constants are conditions of this kind, too."""


def group_comparisons(term: Term, tested: Tested = frozenset()) -> Term:
    """Group the conditions of one AND, or one OR, that compare columns, in a term of their own."""
    if not isinstance(term, App):
        return term
    args = tuple(group_comparisons(a, tested) for a in term.args)
    same = all(a is b for a, b in zip(args, term.args, strict=True))
    rebuilt = term if same else app(term.op, *args)
    if term.op not in (Op.AND, Op.OR) or _is_pure(rebuilt, tested):
        return rebuilt
    pure = [a for a in args if _is_condition(a, tested) and (tested or _is_pure(a, tested))]
    if len(pure) < 2:
        return rebuilt
    return app(term.op, app(term.op, *pure), *(a for a in args if a not in pure))


def conditions(term: Term, tested: Tested = frozenset()) -> Iterator[Term]:
    """Yield the largest parts that compare columns with each other, or ``tested`` columns with
    constants, and nothing else with constants.
    """
    if _is_pure(term, tested) and not _is_negation(term) and _has_text(term):
        yield term
    elif isinstance(term, App):
        for a in term.args:
            yield from conditions(a, tested)


def only_tested(terms: Iterable[Term], columns: Iterable[Var]) -> Tested:
    """The columns that these terms use in conditions of one row only."""
    tested = frozenset(columns)
    exposed = frozenset(v for t in terms for v in _read_outside_conditions(t, tested))
    return tested - exposed


def _read_outside_conditions(term: Term, tested: Tested) -> Iterator[Var]:
    if term.sort == BOOL and _is_condition(term, tested):
        return
    if isinstance(term, Var):
        yield term
    elif isinstance(term, App):
        for a in term.args:
            yield from _read_outside_conditions(a, tested)


def _is_negation(term: Term) -> bool:
    """Whether the term is a negation; its condition may occur elsewhere without it."""
    return isinstance(term, App) and term.op is Op.NOT


def _has_text(term: Term) -> bool:
    sql = as_sql(term)
    try:
        return sql is not None and bool(emit(sql, "UTC") and emit(negate(sql), "UTC"))
    except InexpressibleError:
        return False


def _is_pure(term: Term, tested: Tested) -> bool:
    """Whether every part is a condition and several columns are compared with each other, or
    tested, apart from tests for NULL.
    """
    if not _is_condition(term, tested):
        return False
    return any(_is_relation(t) for t in _parts(term)) or (
        bool(tested) and len(set(variables(term))) > 1
    )


def _is_condition(term: Term, tested: Tested) -> bool:
    parts = list(_parts(term))
    return bool(parts) and all(
        _is_relation(t) or _tests_null(t) or _tests_value(t, tested) for t in parts
    )


def _parts(term: Term) -> Iterator[Term]:
    """The conditions that AND, OR and NOT combine."""
    match term:
        case App(Op.AND | Op.OR | Op.NOT | Op.IMPLIES, args):
            for a in args:
                yield from _parts(a)
        case _:
            yield term


def _is_relation(term: Term) -> bool:
    """Whether the term compares columns, or the result of a function of one."""
    if not isinstance(term, App) or term.sort != BOOL:
        return False
    if term.op not in AS_SPARK and term.op not in SIGNATURES:
        return False
    operands = variables(term)
    if not {Scope.ROW} <= {v.scope for v in operands} <= _COLUMNS:
        return False
    if len(operands) < 2 and not any(t.op in _CALLED for t in subterms(term) if isinstance(t, App)):
        return False
    return as_sql(term) is not None


def _tests_null(term: Term) -> bool:
    match term:
        case App(Op.IS_NONE, (Var(Scope.ROW | Scope.KEY, _, _),)):
            return True
    return False


def _tests_value(term: Term, tested: Tested) -> bool:
    """Whether the term compares a column with a constant, or is a column of truth values."""
    operands = variables(term)
    return len(operands) == 1 and tested.issuperset(operands) and as_sql(term) is not None


# --- in Spark SQL ---------------------------------------------------------------------------------


def as_sql(term: Term) -> Term | None:
    """A predicate that is true where the condition is, else false or NULL; None if there is
    none.
    """
    match term:
        case App(Op.AND | Op.OR as op, args):
            parts = [as_sql(a) for a in args]
            sql_parts = [p for p in parts if p is not None]
            if len(sql_parts) < len(parts):
                return None
            return sql_disjunction(sql_parts) if op is Op.OR else sql_conjunction(_plain(sql_parts))
        case App(Op.IMPLIES, (a, b)):
            return as_sql(app(Op.OR, app(Op.NOT, a), b))
        case App(Op.NOT, (inner,)):
            sql = as_sql(inner)
            return None if sql is None else negate(sql)
        case App(Op.IS_NONE, (Var() as v,)):
            return app(Op.SQL_IS_NULL, v)
        case App(op, (a, b)) if op in AS_SPARK:
            return _comparison(op, a, b)
        case Var() | App(Op.GET, (Var(),)) if term.sort == BOOL:
            return value_as_sql(term)
        case App(op, _) if op in SIGNATURES:
            return value_as_sql(term)
    return None


def _plain(parts: list[Term]) -> Iterator[Term]:
    """The parts without "is not NULL" for operands that another part compares."""
    compared = (p.args for p in parts if isinstance(p, App) and p.op in AS_SPARK.values())
    operands = {a for args in compared for a in args}
    for part in parts:
        match part:
            case App(Op.SQL_NOT, (App(Op.SQL_IS_NULL, (v,)),)) if v in operands:
                pass
            case _:
                yield part


def _comparison(op: Op, a: Term, b: Term) -> Term | None:
    left, right = value_as_sql(a), value_as_sql(b)
    if left is None or right is None:
        return None
    meant = preimage(AS_SPARK[op], left, right)
    if meant is not None and strip(left.sort) != FLOAT:
        return meant
    compared = app(AS_SPARK[op], left, right)
    if strip(left.sort) != FLOAT:
        return compared
    # NaN is equal to itself and above everything else in Spark, and neither in Python.
    greater = left if op in (Op.PY_GT, Op.PY_GE) else right
    if isinstance(greater, Lit) and op is not Op.PY_EQ:
        return compared
    some = left if isinstance(greater, Lit) else greater
    return sql_conjunction([compared, app(Op.SQL_NOT, app(Op.SQL_IS_NAN, some))])


def value_as_sql(term: Term) -> Term | None:
    """A present value in Spark's operators: NULL if it is absent."""
    match term:
        case Var(Scope.ROW | Scope.KEY, _, sort) if not isinstance(sort, Option | Tuple):
            return term
        case App(Op.GET, (Var(Scope.ROW | Scope.KEY, _, _) as v,)) if not isinstance(
            strip(v.sort), Tuple
        ):
            return v
        case Lit(_, value) if value is not None and literal_value(term) == literal_value(term):
            return term
        case App(Op.INT_FLOORDIV | Op.INT_MOD as op, (a, Lit(_, int() as n) as by)) if n > 0:
            number = value_as_sql(a)
            return None if number is None else app(DIVIDED[op], number, by)
        case App(op, args) if op in SIGNATURES:
            values = [value_as_sql(a) for a in args]
            sql_values = [v for v in values if v is not None]
            return app(op, *sql_values) if len(sql_values) == len(args) else None
        case App(op, (a, b)) if op in _INTEGERS:
            left, right = value_as_sql(a), value_as_sql(b)
            return None if left is None or right is None else app(_INTEGERS[op], left, right)
    return None


def negate(sql: Term) -> Term:
    """A predicate that is true where this one is not, also where this one is NULL."""
    match sql:
        case App(Op.SQL_AND, args):
            return sql_disjunction(negate(a) for a in args)
        case App(Op.SQL_OR, args):
            return sql_conjunction(negate(a) for a in args)
        case App(Op.SQL_NOT, (App(Op.SQL_IS_NULL | Op.SQL_IS_NAN, _) as inner,)):
            return inner
        case App(Op.SQL_IS_NULL | Op.SQL_IS_NAN, _):
            return app(Op.SQL_NOT, sql)
        case App(op, (a, b)) if not any(isinstance(v.sort, Option) for v in variables(sql)):
            if op in OPPOSITE and strip(a.sort) != FLOAT:
                return app(OPPOSITE[op], a, b)
            return app(Op.SQL_NOT, sql)
    return app(Op.SQL_NOT, app(Op.SQL_EQ_NULLSAFE, sql, TRUE))


def put_back(term: Term, back: dict[Var, Term]) -> Term:
    """Replace computed columns in a predicate by the terms that they stand for. The negation of a
    condition becomes a predicate that is true wherever the condition is not.
    """
    match term:
        case Var():
            return back.get(term, term)
        case App(Op.SQL_NOT, (Var(_, _, sort) as v,)) if sort == BOOL and v in back:
            return negate(back[v])
        case App(Op.SQL_AND, args):
            parts = [p for a in args for p in sql_conjuncts(put_back(a, back))]
            return sql_conjunction(dict.fromkeys(parts))
        case App(Op.SQL_OR, args):
            return sql_disjunction(put_back(a, back) for a in args)
        case App(op, args):
            replaced = app(op, *(put_back(a, back) for a in args))
            return (
                preimage(op, *replaced.args[:2]) or replaced
                if op in AS_SPARK.values()
                else replaced
            )
    return term
