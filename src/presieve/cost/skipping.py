"""Untrusted. Which values a condition can have in a row group, by the extremes in its footer.

Three-valued abstract interpretation: from the values that columns can have to the truth values that
a condition can have. What is not understood can have all three.
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
"""Each comparison, and the extreme at which it is true if it is anywhere."""


def truths(term: Term, ranges: Mapping[Var, Range]) -> Truths:
    """The truth values that a condition can have, given what its columns can be."""
    match term:
        case Lit():
            value = literal_value(term)
            return frozenset((value,)) if value is None or isinstance(value, bool) else _ALL
        case App(Op.SQL_AND, args, _):
            return _combined([truths(a, ranges) for a in args], _and)
        case App(Op.SQL_OR, args, _):
            return _combined([truths(a, ranges) for a in args], _or)
        case App(Op.SQL_NOT, (arg,), _):
            return frozenset(None if t is None else not t for t in truths(arg, ranges))
        case App(Op.SQL_IS_NULL, (Var() as var,), _) if var in ranges:
            known = ranges[var]
            return frozenset(t for t, can in ((True, known.nulls), (False, known.values)) if can)
        case App(op, (Var() as var, Lit() as bound), _) if op in _TURNED and var in ranges:
            return _compared(op, ranges[var], bound)
        case App(op, (Lit() as bound, Var() as var), _) if op in _TURNED and var in ranges:
            return _compared(_TURNED[op], ranges[var], bound)
    return _ALL


def _compared(op: Op, known: Range, bound: Lit) -> Truths:
    value = literal_value(bound)
    if value is None:
        return frozenset((None,))
    found: set[Truth] = {None} if known.nulls else set()
    if not known.values:
        return frozenset(found)
    low, high = known.low, known.high
    if low is None or high is None or value != value:
        return frozenset(found | {True, False})
    if op is Op.SQL_EQ:
        found |= {True} if low <= value <= high else set()  # type: ignore[operator]
        found |= {False} if not low == value == high else set()
        return frozenset(found)
    order, end = _ORDERS[op]
    best, worst = (low, high) if end == "low" else (high, low)
    found |= {True} if order(best, value) else set()
    found |= {False} if not order(worst, value) else set()
    return frozenset(found)


def _combined(parts: list[Truths], both: Callable[[Truth, Truth], Truth]) -> Truths:
    found, *rest = parts
    for part in rest:
        found = frozenset(both(a, b) for a, b in product(found, part))
    return found


def _and(a: Truth, b: Truth) -> Truth:
    if a is False or b is False:
        return False
    return None if a is None or b is None else True


def _or(a: Truth, b: Truth) -> Truth:
    if a is True or b is True:
        return True
    return None if a is None or b is None else False
