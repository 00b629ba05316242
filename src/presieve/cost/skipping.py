# SPDX-License-Identifier: Apache-2.0
"""Untrusted. Truth values that a condition can have in a row group, by the extremes in its footer.

Three-valued abstract interpretation: it maps the values that columns can have to the truth values
that a condition can have. A term that is not understood can have all three.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from itertools import product
from operator import ge, gt, le, lt

from presieve.cost.parquet import Range
from presieve.ir.terms import App, Lit, Op, Term, Var, literal_value

Truth = bool | None
Truths = frozenset[Truth]

_ALL: Truths = frozenset((True, False, None))
_TURNED = {
    Op.SQL_EQ: Op.SQL_EQ,
    Op.SQL_LT: Op.SQL_GT,
    Op.SQL_LE: Op.SQL_GE,
    Op.SQL_GT: Op.SQL_LT,
    Op.SQL_GE: Op.SQL_LE,
}
_ORDERS: dict[Op, tuple[Callable[..., bool], str]] = {
    Op.SQL_LT: (lt, "low"),
    Op.SQL_LE: (le, "low"),
    Op.SQL_GT: (gt, "high"),
    Op.SQL_GE: (ge, "high"),
}
"""Each comparison, and the extreme at which it is true if it is true anywhere."""


def truths(term: Term, ranges: Mapping[Var, Range]) -> Truths:
    """Return the truth values that a condition can have, given the ranges of its columns."""
    match term:
        case Lit():
            value = literal_value(term)
            return frozenset((value,)) if value is None or isinstance(value, bool) else _ALL
        case App(Op.SQL_AND, args, _):
            return _combine([truths(a, ranges) for a in args], _and)
        case App(Op.SQL_OR, args, _):
            return _combine([truths(a, ranges) for a in args], _or)
        case App(Op.SQL_NOT, (arg,), _):
            return frozenset(None if t is None else not t for t in truths(arg, ranges))
        case App(Op.SQL_IS_NULL, (Var() as var,), _) if var in ranges:
            values = ranges[var]
            return frozenset(t for t, can in ((True, values.nulls), (False, values.values)) if can)
        case App(op, (Var() as var, Lit() as bound), _) if op in _TURNED and var in ranges:
            return _compare(op, ranges[var], bound)
        case App(op, (Lit() as bound, Var() as var), _) if op in _TURNED and var in ranges:
            return _compare(_TURNED[op], ranges[var], bound)
    return _ALL


def _compare(op: Op, values: Range, bound: Lit) -> Truths:
    value = literal_value(bound)
    if value is None:
        return frozenset((None,))
    possible: set[Truth] = {None} if values.nulls else set()
    if not values.values:
        return frozenset(possible)
    low, high = values.low, values.high
    if low is None or high is None or value != value:
        return frozenset(possible | {True, False})
    if op is Op.SQL_EQ:
        possible |= {True} if low <= value <= high else set()  # type: ignore[operator]
        possible |= {False} if not low == value == high else set()
        return frozenset(possible)
    order, end = _ORDERS[op]
    best, worst = (low, high) if end == "low" else (high, low)
    possible |= {True} if order(best, value) else set()
    possible |= {False} if not order(worst, value) else set()
    return frozenset(possible)


def _combine(parts: list[Truths], both: Callable[[Truth, Truth], Truth]) -> Truths:
    combined, *others = parts
    for part in others:
        combined = frozenset(both(a, b) for a, b in product(combined, part))
    return combined


def _and(a: Truth, b: Truth) -> Truth:
    if a is False or b is False:
        return False
    return None if a is None or b is None else True


def _or(a: Truth, b: Truth) -> Truth:
    if a is True or b is True:
        return True
    return None if a is None or b is None else False
