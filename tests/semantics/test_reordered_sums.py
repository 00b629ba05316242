"""Sums of doubles that begin with the first value begin with zero where rounding is open."""

from __future__ import annotations

import math

import pytest

from presieve.ir.fold import Column, Field, Fold, Output
from presieve.ir.ops import app
from presieve.ir.sorts import FLOAT, Option
from presieve.ir.terms import Op, Scope, Term, Var, float_lit, none_lit
from presieve.semantics.interpret import evaluate
from presieve.semantics.reordered_sums import with_sums
from presieve.semantics.smart_constructors import get, is_none, ite, some

X = Var(Scope.ROW, "x", Option(FLOAT))
TOTAL = Var(Scope.ACC, "total", Option(FLOAT))
ADDED = some(app(Op.FLOAT_ADD, get(TOTAL), get(X)))


def fold(step: Term) -> Fold:
    output = Output("total", TOTAL.sort, "double", TOTAL)
    field = Field("total", TOTAL.sort, none_lit(FLOAT), step)
    return Fold("f", (Column("x", X.sort, "double"),), (), (field,), (output,))


def after(made: Fold, values: list[float | None]) -> object:
    state: object = None
    (field,) = made.fields
    for x in values:
        state = evaluate(field.step, {(Scope.ACC, "total"): state, (Scope.ROW, "x"): x})  # type: ignore[dict-item]
    return state


BEGINS = {
    "with the first": ite(is_none(X), TOTAL, ite(is_none(TOTAL), X, ADDED)),
    "the other way round": ite(is_none(TOTAL), X, ite(is_none(X), TOTAL, ADDED)),
    "with none of some": ite(
        is_none(TOTAL), ite(is_none(X), TOTAL, X), ite(is_none(X), TOTAL, ADDED)
    ),
}


@pytest.mark.parametrize("step", BEGINS.values(), ids=BEGINS)
def test_a_sum_begins_with_zero(step: Term) -> None:
    before, made = fold(step), with_sums(fold(step))
    assert made != before
    for values in ([], [None], [1.5], [None, 0.1, 0.2, None, 0.3], [math.inf, -math.inf], [0.0]):
        old, new = after(before, list(values)), after(made, list(values))
        assert repr(old) == repr(new), values
    assert repr(after(before, [-0.0])) == "-0.0"
    assert repr(after(made, [-0.0])) == "0.0"


OTHERS = {
    "the first value": ite(is_none(TOTAL), X, TOTAL),
    "the last value": X,
    "begins again": ite(app(Op.PY_GT, get(X), float_lit(9.0)), X, ite(is_none(TOTAL), X, ADDED)),
    "looks at the sum": ite(
        app(Op.PY_GT, get(TOTAL), float_lit(9.0)), TOTAL, ite(is_none(TOTAL), X, ADDED)
    ),
    "twice itself": ite(is_none(TOTAL), X, some(app(Op.FLOAT_ADD, get(TOTAL), get(TOTAL)))),
}


@pytest.mark.parametrize("step", OTHERS.values(), ids=OTHERS)
def test_what_is_no_sum_stays(step: Term) -> None:
    assert with_sums(fold(step)) == fold(step)
