# SPDX-License-Identifier: Apache-2.0
"""Trusted. Rewrites conditions on a computed value as conditions on the value it is computed from.

``x - 40.0 > 2.5`` is ``x > 42.5``, with the same of three truth values for every x. The lemma: let
``f`` be composed of steps that are monotone and never turn a number into NaN (plus or minus a
finite constant, times or divided by a finite constant other than zero, an integer as a double;
rounding to nearest is monotone). Python's steps are the same as Spark's. Then the numbers for which
``f(x) < c`` holds are an initial or a final part of all numbers in order, and so are those for
``<=``, ``>`` and ``>=``; those for ``=`` are the intersection of two such parts. Such a part is
determined by the last number on one side and the first one on the other. They are neighbours in the
order of all doubles, of which there are 2**64, so 64 evaluations find them. NaN, which is not a
number, is evaluated separately; NULL gives NULL on both sides. The values of ``f`` are those of the
reference interpreter.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from functools import lru_cache

from msgspec import Struct

from presieve.ir.function_signatures import SIGNATURES
from presieve.ir.ops import app
from presieve.ir.sorts import FLOAT, INT, strip
from presieve.ir.terms import (
    App,
    Lit,
    Op,
    Scope,
    Term,
    Var,
    bits_float,
    float_lit,
    int_lit,
    literal_value,
)
from presieve.ir.walk import replace_nodes, variables
from presieve.semantics.interpret import evaluate
from presieve.semantics.operator_meanings import Undefined
from presieve.semantics.values import INT_RANGES, Value

MIRRORED = {
    Op.SQL_EQ: Op.SQL_EQ,
    Op.SQL_LT: Op.SQL_GT,
    Op.SQL_LE: Op.SQL_GE,
    Op.SQL_GT: Op.SQL_LT,
    Op.SQL_GE: Op.SQL_LE,
}
"""Each comparison with its sides exchanged."""

AS_SPARK = {
    Op.PY_EQ: Op.SQL_EQ,
    Op.PY_LT: Op.SQL_LT,
    Op.PY_LE: Op.SQL_LE,
    Op.PY_GT: Op.SQL_GT,
    Op.PY_GE: Op.SQL_GE,
}
"""Python's comparisons as Spark's. They differ on NaN."""


def with_thresholds(condition: Term) -> Term:
    """Rewrite every comparison of a computed value with a constant as a comparison of the value
    that it is computed from, wherever the lemma applies; other terms stay.
    """
    if not isinstance(condition, App):
        return condition
    direct = _direct(condition)
    if direct is not None:
        return direct
    args = tuple(with_thresholds(a) for a in condition.args)
    same = all(new is old for new, old in zip(args, condition.args, strict=True))
    return condition if same else app(condition.op, *args)


def _direct(comparison: App) -> Term | None:
    """The comparison rewritten for the value itself; None if the lemma does not apply."""
    if comparison.op not in MIRRORED:
        return None
    op, (computed, constant) = comparison.op, comparison.args
    if isinstance(computed, Lit):
        op, computed, constant = MIRRORED[op], constant, computed
    return threshold(op, computed, constant)


@lru_cache(maxsize=4096)
def threshold(op: Op, computed: Term, constant: Term) -> Term | None:
    """``computed op constant``, by Spark's operator, as a condition on the value that ``computed``
    is computed from; None if the lemma does not apply.
    """
    if not isinstance(computed, App) or not isinstance(constant, Lit) or constant.value is None:
        return None
    base = _find_monotone_base(computed)
    if base is None or base[0] is computed or _is_nan(literal_value(constant)):
        return None
    value, rising = base
    order = DOUBLES if strip(value.sort) == FLOAT else INTEGERS
    try:
        if op is Op.SQL_EQ:
            floor, ceiling = (
                _part(o, computed, constant, value, rising) for o in (Op.SQL_GE, Op.SQL_LE)
            )
            return _write_range(value, *((floor, ceiling) if rising else (ceiling, floor)), order)
        return _condition(value, _part(op, computed, constant, value, rising), op, order)
    except Undefined:  # an integer beyond all doubles on the way
        return None


# --- the lemma ------------------------------------------------------------------------------------


def base_of(term: Term) -> Term | None:
    """The term from which the lemma says that this one is computed; None if that is the term
    itself, or if the lemma does not apply.
    """
    base = _find_monotone_base(term)
    return None if base is None or base[0] is term else base[0]


def _find_monotone_base(term: Term) -> tuple[Term, bool] | None:
    """The value that the term is computed from, and whether the term rises with it (else it falls);
    None if the lemma does not apply. Integers must be those of a row: a column, which has bounds,
    or what is computed from columns.
    """
    match term:
        case Var(scope, _, sort) | App(Op.GET, (Var(scope, _, sort),)):
            applies = strip(sort) == FLOAT or (strip(sort) == INT and scope not in _UNBOUNDED)
            return (term, True) if applies else None
        case App(op, (inner,)) if op in _FROM_INT:
            return _find_monotone_base(inner)
        case App(op, (inner, Lit() as c) | (Lit() as c, inner)) if op in _ADDED:
            return _find_monotone_base(inner) if _is_finite(c) else None
        case App(op, (inner, Lit() as c)) if op in _SUBTRACTED:
            return _find_monotone_base(inner) if _is_finite(c) else None
        case App(op, (Lit() as c, inner)) if op in _SUBTRACTED:
            return _reverse_direction(_find_monotone_base(inner)) if _is_finite(c) else None
        case App(op, (inner, Lit() as c) | (Lit() as c, inner)) if op in _MULTIPLIED:
            return _find_scaled_base(inner, c)
        case App(op, (inner, Lit() as c)) if op in _DIVIDED:
            return _find_scaled_base(inner, c)
        case App(Op.FLOAT_NEG, (inner,)):
            return _reverse_direction(_find_monotone_base(inner))
        case App(op, _) if strip(term.sort) == FLOAT and (op not in STEPS or _is_of_row(term)):
            return term, True
        case App() if strip(term.sort) == INT and _is_of_row(term):
            return term, True
    return None


def _is_of_row(term: Term) -> bool:
    return all(v.scope not in _UNBOUNDED for v in variables(term))


_UNBOUNDED = (Scope.ACC, Scope.TWIN)
"""Scopes whose integers may be of any size."""
_FROM_INT = (Op.INT_TO_FLOAT, Op.SQL_INT_TO_FLOAT)
_ADDED = (Op.FLOAT_ADD, Op.SQL_FLOAT_ADD, Op.SQL_INT_ADD)
_SUBTRACTED = (Op.FLOAT_SUB, Op.SQL_FLOAT_SUB, Op.SQL_INT_SUB)
_MULTIPLIED = (Op.FLOAT_MUL, Op.SQL_FLOAT_MUL, Op.SQL_INT_MUL)
_DIVIDED = (Op.FLOAT_DIV, Op.SQL_FLOAT_DIV)
STEPS = (Op.FLOAT_NEG, *_FROM_INT, *_ADDED, *_SUBTRACTED, *_MULTIPLIED, *_DIVIDED)
"""Operators that the lemma covers, on a value and constants."""


def _find_scaled_base(inner: Term, factor: Lit) -> tuple[Term, bool] | None:
    number = literal_value(factor)
    if not _is_finite(factor) or number == 0:
        return None
    assert isinstance(number, int | float)
    return (
        _find_monotone_base(inner) if number > 0 else _reverse_direction(_find_monotone_base(inner))
    )


def _reverse_direction(bound: tuple[Term, bool] | None) -> tuple[Term, bool] | None:
    return bound and (bound[0], not bound[1])


def _is_finite(constant: Lit) -> bool:
    number = literal_value(constant)
    return isinstance(number, int) or (isinstance(number, float) and math.isfinite(number))


def _is_nan(number: Value) -> bool:
    return isinstance(number, float) and math.isnan(number)


# --- the part of all numbers ----------------------------------------------------------------------


class _Order(Struct, frozen=True):
    """The numbers of a sort by their place in order; ``ends`` are the first and the last place."""

    number: Callable[[int], float | int]
    ends: tuple[int, int]

    def literal(self, place: int) -> Lit:
        """The number as a literal for a comparison: the two zeros are equal."""
        number = self.number(place)
        return int_lit(number) if isinstance(number, int) else float_lit(number or 0.0)


def _double(place: int) -> float:
    """The double at a place: 0.0 is at place 0, and -0.0 at -1."""
    bits = place if place >= 0 else 0x8000000000000000 + ~place
    return bits_float(bits)


DOUBLES = _Order(_double, (-0x7FF0000000000001, 0x7FF0000000000000))
"""From minus infinity to infinity: all doubles but NaN."""

INTEGERS = _Order(int, INT_RANGES["bigint"])
"""The integers of Spark's widest type."""


class _Part(Struct, frozen=True):
    """The numbers from the place ``first`` on if ``upward``, else those before it. ``nan``: whether
    NaN is one of them.
    """

    upward: bool
    first: int
    nan: bool


def _part(op: Op, computed: App, constant: Lit, value: Term, rising: bool) -> _Part:
    """The part on which ``computed op constant`` holds; ``op`` is not equality."""
    x = Var(Scope.ROW, "x", value.sort)
    of_x = replace_nodes(computed, lambda node: x if node == value else None)
    condition = app(op, of_x, constant)
    order = DOUBLES if strip(value.sort) == FLOAT else INTEGERS

    def holds(number: float | int) -> bool:
        return evaluate(condition, {(x.scope, x.name): number}) is True

    upward = (op in (Op.SQL_GT, Op.SQL_GE)) == rising
    first, end = order.ends[0], order.ends[1] + 1
    while first < end:
        middle = (first + end) // 2
        if holds(order.number(middle)) == upward:
            end = middle
        else:
            first = middle + 1
    if isinstance(value, App) and order is INTEGERS and first in (order.ends[0], order.ends[1] + 1):
        raise Undefined("a bound among integers beyond those of columns")
    return _Part(upward, first, order is DOUBLES and holds(math.nan))


def _condition(value: Term, part: _Part, op: Op, order: _Order) -> Term:
    """The condition that a value is in the part, in Spark's order, where NaN is greatest."""
    bound = _write_bound(value, part, order, strict=op in (Op.SQL_GT, Op.SQL_LT))
    if part.nan == part.upward or order is INTEGERS:
        return bound
    nan = app(Op.SQL_IS_NAN, value)
    if part.nan:
        return app(Op.SQL_OR, bound, nan)
    return app(Op.SQL_AND, bound, app(Op.SQL_NOT, nan))


def _write_bound(value: Term, part: _Part, order: _Order, *, strict: bool) -> Term:
    """``value >= first`` or ``value > the one before``, whichever is shorter; downwards likewise.
    If no number is in the part, or none outside of it, the bound is the end of the order.
    """
    low, high = order.ends
    if part.upward:
        loose, tight = (Op.SQL_GE, part.first), (Op.SQL_GT, part.first - 1)
    else:
        loose, tight = (Op.SQL_LE, part.first - 1), (Op.SQL_LT, part.first)
    bounds = [(op, order.literal(p)) for op, p in (loose, tight) if low <= p <= high]
    if strict:
        bounds.reverse()
    op, literal = min(bounds, key=lambda f: len(repr(literal_value(f[1]))))
    return app(op, value, literal)


def _write_range(value: Term, floor: _Part, ceiling: _Part, order: _Order) -> Term:
    """The condition that a value is in both an upward and a downward part."""
    first, last = floor.first, ceiling.first - 1
    if first > last:
        return _write_bound(value, _Part(False, order.ends[0], False), order, strict=True)
    if order.number(first) == order.number(last):
        return app(Op.SQL_EQ, value, order.literal(first))
    bounds = (_write_bound(value, part, order, strict=False) for part in (floor, ceiling))
    return app(Op.SQL_AND, *bounds)


def linear_form(term: Term) -> tuple[Var | App, int, int] | None:
    """``a * v + b`` with one integer variable, or one function's value; a is not zero. None for
    other terms.
    """
    return next(linear_forms(term, choices=False), None)


def linear_forms(term: Term, *, choices: bool = True) -> Iterator[tuple[Var | App, int, int]]:
    """Yield such forms of a term; with ``choices``, one for each side that a condition chooses."""
    match term:
        case Var():
            yield term, 1, 0
        case App(op, _) if op in SIGNATURES:
            yield term, 1, 0
        case App(Op.ITE, (_, then, otherwise)) if choices:
            yield from linear_forms(then)
            yield from linear_forms(otherwise)
        case App(op, (x, y)) if op in _LINEAR:
            numbers = _constants(x, choices=choices)
            turned = bool(numbers)
            inner, numbers = (y, numbers) if turned else (x, _constants(y, choices=choices))
            for v, a, b in linear_forms(inner, choices=choices) if numbers else ():
                for number in numbers:
                    match _LINEAR[op]:
                        case Op.INT_MUL if number:
                            yield v, a * number, b * number
                        case Op.INT_ADD:
                            yield v, a, b + number
                        case Op.INT_SUB:
                            yield (v, -a, number - b) if turned else (v, a, b - number)


def _constants(term: Term, *, choices: bool) -> tuple[int, ...]:
    """The integers between which a term chooses; none for other terms."""
    match term:
        case Lit():
            number = literal_value(term)
            return (number,) if isinstance(number, int) else ()
        case App(Op.ITE, (_, then, otherwise)) if choices:
            sides = [_constants(side, choices=True) for side in (then, otherwise)]
            return (*sides[0], *sides[1]) if all(sides) else ()
    return ()


_LINEAR = {
    **{op: op for op in (Op.INT_ADD, Op.INT_SUB, Op.INT_MUL)},
    Op.SQL_INT_ADD: Op.INT_ADD,
    Op.SQL_INT_SUB: Op.INT_SUB,
    Op.SQL_INT_MUL: Op.INT_MUL,
}
"""Python's integer arithmetic, and Spark's, as Python's."""
