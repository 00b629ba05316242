# SPDX-License-Identifier: Apache-2.0
"""Trusted. Writes sets of columns' values as conditions that storage evaluates."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from presieve.ir.ops import app, sql_conjunction, sql_disjunction
from presieve.ir.sorts import BOOL, FLOAT, TIMESTAMP, strip
from presieve.ir.terms import FALSE, SQL_FALSE, TRUE, App, Lit, Op, Term, Var, lit, literal_value
from presieve.semantics.intervals import NAN, Interval, Point, ValueSet, number, only
from presieve.sql.piecewise import domain


def predicate_of(
    clauses: Sequence[Mapping[int, ValueSet]], columns: Mapping[int, Var], types: Mapping[int, str]
) -> Term:
    """The conjunction of clauses. Each clause says that one of its columns has a value in its set.
    The condition is true where all clauses hold, and false or NULL elsewhere.
    """
    return sql_conjunction(
        sql_disjunction(_member(columns[n], types[n], s) for n, s in sorted(clause.items()))
        if clause
        else SQL_FALSE
        for clause in clauses
    )


def without_equalities(condition: Term) -> Term:
    """Replace a conjunct ``column = constant`` by two comparisons. Spark puts the constant of such
    an equality into the conditions beside it, and into those that it infers
    (``ConstantPropagation``), and evaluates them during planning: if one raises at the constant,
    the job fails even if no row has that value.
    """
    match condition:
        case App(Op.SQL_AND, args):
            return app(Op.SQL_AND, *map(without_equalities, args))
        case App(Op.SQL_EQ, (Var() as column, Lit() as constant)) if strip(column.sort) != BOOL:
            ends = (app(op, column, constant) for op in (Op.SQL_GE, Op.SQL_LE))
            return sql_conjunction(ends)
    return condition


def _member(column: Var, type_: str, allowed: ValueSet) -> Term:
    parts = [_within(column, domain(type_), interval) for interval in allowed.intervals]
    if allowed.null:
        parts.append(app(Op.SQL_IS_NULL, column))
    return sql_disjunction(parts)


def _within(column: Var, all_values: Interval, interval: Interval) -> Term:
    low, high = interval
    if strip(column.sort) == BOOL:
        if (low, high) == all_values:
            return app(Op.SQL_NOT, app(Op.SQL_IS_NULL, column))
        return app(Op.SQL_EQ_NULLSAFE, column, TRUE if low == 1 else FALSE)
    is_double = strip(column.sort) == FLOAT
    if is_double and low == NAN:
        return app(Op.SQL_IS_NAN, column)
    zero = is_double and low == 0  # scans distinguish two zeros; the number below is below both
    if low is not None and interval == only(low) and not zero:
        return app(Op.SQL_EQ, column, _literal(column, low))
    bounds = []
    if low is not None and not _at_most(low, all_values[0]):
        ways = [(Op.SQL_GE, low)] if not zero else []
        bounds.append(_shortest_comparison(column, *ways, (Op.SQL_GT, _before(low))))
    if high is not None and not _at_most(all_values[1], high):
        ways = [(Op.SQL_LT, high)] if not _is_cut(column, high) else []
        bounds.append(_shortest_comparison(column, *ways, (Op.SQL_LE, _before(high))))
    if not bounds:
        return app(Op.SQL_NOT, app(Op.SQL_IS_NULL, column))
    return sql_conjunction(bounds)


def _is_cut(column: Var, high: Point) -> bool:
    """Whether ``<`` with this constant is no bound for a scan: NaN, or parts of a millisecond."""
    base = strip(column.sort)
    if base == FLOAT:
        return high == NAN
    return base == TIMESTAMP and isinstance(high, int) and high % 1000 != 0


def _at_most(a: Point | None, b: Point | None) -> bool:
    return a is not None and b is not None and a <= b  # type: ignore[operator]


def _before(point: Point) -> Point | None:
    """The previous value, if there is one."""
    if isinstance(point, int):
        return point - 1
    return point[:-1] if point.endswith("\0") else None


def _shortest_comparison(column: Var, *ways: tuple[Op, Point | None]) -> Term:
    """The comparison with the shortest constant."""
    literals = [(op, _literal(column, p)) for op, p in ways if p is not None]
    op, shortest = min(literals, key=lambda pair: len(repr(literal_value(pair[1]))))
    return app(op, column, shortest)


def _literal(column: Var, point: Point) -> Lit:
    base = strip(column.sort)
    if base == FLOAT:
        assert isinstance(point, int)
        return lit(base, number(point) or 0.0)
    return lit(base, point)
