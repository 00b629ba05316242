from __future__ import annotations

import itertools
import math
import operator
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from presieve.ir.ops import app
from presieve.ir.sorts import BOOL, DATE, FLOAT, INT, STRING, Decimal, Option, Sort
from presieve.ir.terms import Op, Scope, Term, Var, float_lit, int_lit, lit, none_lit
from presieve.semantics.interpret import evaluate
from presieve.semantics.operator_meanings import MEANINGS, Undefined, sql_order
from presieve.semantics.values import Value, same

NASTY_FLOATS = [0.0, -0.0, 1.0, -1.5, 2.0**53, math.inf, -math.inf, math.nan, 5e-324]
floats = st.sampled_from(NASTY_FLOATS) | st.floats()
ints = st.sampled_from([0, 1, -1, 7, 2**53 + 1, 2**63, -(2**63)]) | st.integers()
strings = st.sampled_from(["", "a", "A", "é", "😀", "\uffff"]) | st.text(max_size=3)


def apply(op: Op, sort: Sort, *values: Value) -> Value:
    """The operator on variables of one sort with these values."""
    variables = [Var(Scope.ROW, f"v{i}", sort) for i in range(len(values))]
    env = {(v.scope, v.name): value for v, value in zip(variables, values, strict=True)}
    return evaluate(app(op, *variables), env)


ORDER: dict[Op, Callable[[Any, Any], object]] = {
    Op.PY_EQ: operator.eq,
    Op.PY_LT: operator.lt,
    Op.PY_LE: operator.le,
    Op.PY_GT: operator.gt,
    Op.PY_GE: operator.ge,
}


@pytest.mark.parametrize("op", ORDER)
@given(
    pair=st.one_of(
        *(st.tuples(st.just(s), v, v) for s, v in ((FLOAT, floats), (INT, ints), (STRING, strings)))
    )
)
def test_comparisons_are_those_of_python(op: Op, pair: tuple[Sort, Any, Any]) -> None:
    sort, a, b = pair
    assert apply(op, sort, a, b) is ORDER[op](a, b)


@given(ints, st.integers(0, 5), st.integers(0, 5))
def test_a_widened_decimal_is_the_same_number(units: int, scale: int, more: int) -> None:
    wide = app(Op.DECIMAL_WIDEN, lit(Decimal(scale), units), int_lit(more))
    assert Fraction(evaluate(wide, {}), 10 ** (scale + more)) == Fraction(units, 10**scale)  # type: ignore[arg-type]


ARITHMETIC: dict[Op, tuple[Sort, Callable[..., object]]] = {
    Op.INT_ADD: (INT, operator.add),
    Op.INT_SUB: (INT, operator.sub),
    Op.INT_MUL: (INT, operator.mul),
    Op.INT_FLOORDIV: (INT, operator.floordiv),
    Op.INT_MOD: (INT, operator.mod),
    Op.FLOAT_ADD: (FLOAT, operator.add),
    Op.FLOAT_SUB: (FLOAT, operator.sub),
    Op.FLOAT_MUL: (FLOAT, operator.mul),
    Op.FLOAT_DIV: (FLOAT, operator.truediv),
}


@pytest.mark.parametrize("op", ARITHMETIC)
@given(data=st.data())
def test_arithmetic_is_that_of_python(op: Op, data: st.DataObject) -> None:
    sort, python = ARITHMETIC[op]
    values = floats if sort == FLOAT else ints
    a, b = data.draw(values), data.draw(values)
    try:
        expected = python(a, b)
    except ZeroDivisionError:
        with pytest.raises(Undefined):
            apply(op, sort, a, b)
        return
    result = apply(op, sort, a, b)
    assert same(result, expected)  # type: ignore[arg-type]


@given(ints)
def test_conversion_to_float_rounds_as_python_does(value: int) -> None:
    assert same(apply(Op.INT_TO_FLOAT, INT, value), float(value))
    assert apply(Op.INT_NEG, INT, value) == -value


def test_what_python_raises_on_is_undefined() -> None:
    with pytest.raises(Undefined):
        apply(Op.INT_TO_FLOAT, INT, 10**400)
    with pytest.raises(Undefined):
        apply(Op.GET, Option(INT), None)


def test_signs_of_zero_survive_negation() -> None:
    assert same(apply(Op.FLOAT_NEG, FLOAT, 0.0), -0.0)


def test_floor_division_and_remainder_follow_the_divisor() -> None:
    assert apply(Op.INT_FLOORDIV, INT, -7, 2) == -4
    assert apply(Op.INT_MOD, INT, -7, 3) == 2
    assert apply(Op.INT_MOD, INT, 7, -3) == -2


def test_same_is_finer_than_equal() -> None:
    assert apply(Op.SAME, FLOAT, math.nan, math.nan) is True
    assert apply(Op.SAME, FLOAT, 0.0, -0.0) is False
    assert apply(Op.PY_EQ, FLOAT, math.nan, math.nan) is False
    assert apply(Op.PY_EQ, FLOAT, 0.0, -0.0) is True
    assert same((1, (2.0, None)), (1, (2.0, None)))
    assert not same((1,), (True,))


UNKNOWN = None
KLEENE = [
    # a, b, a AND b, a OR b
    (True, True, True, True),
    (True, False, False, True),
    (True, UNKNOWN, UNKNOWN, True),
    (False, False, False, False),
    (False, UNKNOWN, False, UNKNOWN),
    (UNKNOWN, UNKNOWN, UNKNOWN, UNKNOWN),
]


@pytest.mark.parametrize(("a", "b", "conjunction", "disjunction"), KLEENE)
def test_kleene(a: Value, b: Value, conjunction: Value, disjunction: Value) -> None:
    for x, y in ((a, b), (b, a)):
        assert apply(Op.SQL_AND, Option(BOOL), x, y) is conjunction
        assert apply(Op.SQL_OR, Option(BOOL), x, y) is disjunction


@pytest.mark.parametrize(
    ("value", "expected"),
    [(-0.0, True), (0.0, False), (-1.0, False), (math.nan, False), (-5e-324, False), (None, None)],
)
def test_negative_zero(value: float | None, expected: bool | None) -> None:
    assert apply(Op.SQL_IS_NEGATIVE_ZERO, Option(FLOAT), value) is expected


def test_sql_tests_for_null_are_never_null() -> None:
    for value, null in ((None, True), (5, False)):
        assert apply(Op.SQL_IS_NULL, Option(INT), value) is null
    assert apply(Op.SQL_IS_NAN, Option(FLOAT), None) is False
    assert apply(Op.SQL_IS_NAN, Option(FLOAT), math.nan) is True
    assert apply(Op.SQL_NOT, Option(BOOL), None) is None
    assert [apply(Op.SQL_IS_TRUE, Option(BOOL), v) for v in (True, False, None)] == [
        True,
        False,
        False,
    ]


SQL_ORDER = {
    Op.SQL_EQ: operator.eq,
    Op.SQL_LT: operator.lt,
    Op.SQL_LE: operator.le,
    Op.SQL_GT: operator.gt,
    Op.SQL_GE: operator.ge,
}


@pytest.mark.parametrize("op", SQL_ORDER)
def test_sql_comparisons_of_floats_follow_one_total_order(op: Op) -> None:
    """-inf < ... < -0.0 = 0.0 < ... < inf < NaN = NaN, by ranks written down here."""
    ranks = {-math.inf: 0, -1.5: 1, -0.0: 2, 5e-324: 3, 1.0: 4, math.inf: 5}
    ranked = [*ranks.items(), (0.0, 2), (math.nan, 6)]
    for (a, i), (b, j) in itertools.product(ranked, ranked):
        assert apply(op, FLOAT, a, b) is SQL_ORDER[op](i, j), (a, b)


@pytest.mark.parametrize("op", SQL_ORDER)
@given(a=ints, b=ints)
def test_sql_comparisons_with_null_are_null(op: Op, a: int, b: int) -> None:
    assert apply(op, Option(INT), a, None) is None
    assert apply(op, Option(INT), None, b) is None
    assert apply(op, Option(INT), a, b) is SQL_ORDER[op](a, b)
    assert apply(Op.SQL_EQ_NULLSAFE, Option(INT), a, None) is False
    assert apply(Op.SQL_EQ_NULLSAFE, Option(INT), None, None) is True


@given(a=floats, b=floats)
def test_python_and_sql_differ_on_nan_only(a: float, b: float) -> None:
    agree = apply(Op.PY_LT, FLOAT, a, b) == apply(Op.SQL_LT, FLOAT, a, b)
    assert agree or math.isnan(a) or math.isnan(b)
    assert sql_order(a, b) == -sql_order(b, a)


@given(a=strings, b=strings)
def test_strings_are_ordered_as_their_utf8_bytes(a: str, b: str) -> None:
    expected = (a.encode() > b.encode()) - (a.encode() < b.encode())
    assert sql_order(a, b) == expected


UNDEFINED = app(Op.INT_MOD, int_lit(1), int_lit(0))
BAD = app(Op.PY_EQ, UNDEFINED, int_lit(0))


@pytest.mark.parametrize(
    ("term", "value"),
    [
        (app(Op.ITE, lit(BOOL, True), int_lit(1), UNDEFINED), 1),
        (app(Op.ITE, lit(BOOL, False), UNDEFINED, int_lit(2)), 2),
        (app(Op.AND, lit(BOOL, False), BAD), False),
        (app(Op.OR, lit(BOOL, True), BAD), True),
        (app(Op.IMPLIES, lit(BOOL, False), BAD), True),
    ],
)
def test_only_what_is_needed_is_evaluated(term: Term, value: Value) -> None:
    assert evaluate(term, {}) == value


def test_all_of_a_strict_operator_is_evaluated() -> None:
    with pytest.raises(Undefined):
        evaluate(app(Op.SQL_OR, lit(BOOL, True), BAD), {})


def test_literals_denote_their_values() -> None:
    assert same(evaluate(float_lit(-0.0), {}), -0.0)
    assert evaluate(none_lit(DATE), {}) is None
    assert evaluate(lit(Option(STRING), "a"), {}) == "a"
    pair = app(Op.TUPLE, int_lit(1), float_lit(math.nan))
    assert same(evaluate(pair, {}), (1, math.nan))
    assert evaluate(app(Op.ITEM, pair, int_lit(0)), {}) == 1


def test_every_operator_has_a_meaning() -> None:
    assert set(MEANINGS) == set(Op) - {Op.ITE}
