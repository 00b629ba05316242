"""A file scan may lose rows that the filter keeps, NaN for one: proofs hold either way."""

from __future__ import annotations

import pytest

from presieve.certificate import Certificate, Rejected, Verified, check
from presieve.ir.fold import Column, Field, Fold, Mode, Output, Problem
from presieve.ir.ops import app, disjunction, negate, sql_disjunction
from presieve.ir.sorts import BOOL, DATE, FLOAT, TIMESTAMP, Option
from presieve.ir.terms import (
    FALSE,
    SQL_FALSE,
    SQL_TRUE,
    TRUE,
    App,
    Op,
    Scope,
    Term,
    Var,
    float_lit,
    lit,
)
from presieve.records import replace
from presieve.semantics.assumptions import assumption_of
from presieve.semantics.interpret import evaluate
from presieve.semantics.scan import may_lose

X = Var(Scope.ROW, "x", FLOAT)
SEEN = Var(Scope.ACC, "seen", BOOL)
ABOVE = app(Op.SQL_GT, X, float_lit(5.0))
IS_NAN = app(Op.SQL_IS_NAN, X)


def any_above_or_nan() -> Problem:
    """Groups with a row above 5, NaN among them, as Spark's order has it."""
    here = disjunction([app(Op.PY_GT, X, float_lit(5.0)), app(Op.IS_NAN, X)])
    step = disjunction([SEEN, here])
    out = Output("seen", BOOL, "boolean", SEEN)
    fold = Fold(
        "any", (Column("x", FLOAT, "double"),), (), (Field("seen", BOOL, FALSE, step),), (out,)
    )
    return Problem(fold, Var(Scope.OUT, "seen", BOOL), Mode.GROUPED)


def claim(prefilter: Term) -> Certificate:
    twin = Var(Scope.TWIN, "seen", BOOL)
    flag = Var(Scope.TWIN, "$nonempty", BOOL)
    invariant = (app(Op.SAME, SEEN, twin), app(Op.SAME, twin, flag))
    return Certificate(any_above_or_nan(), "exact", "universe", prefilter, SQL_TRUE, invariant)


def test_a_comparison_that_keeps_nan_is_refused_where_nan_matters() -> None:
    verdict = check(claim(ABOVE))
    assert isinstance(verdict, Rejected)
    assert verdict.condition == "stutter"


def test_with_isnan_beside_it_the_comparison_stays_above_the_scan() -> None:
    assert isinstance(check(claim(sql_disjunction([ABOVE, IS_NAN]))), Verified)


def test_what_a_scan_may_lose() -> None:
    nan = app(Op.IS_NAN, X)
    guarded = sql_disjunction([ABOVE, IS_NAN])
    factorable = sql_disjunction(
        [app(Op.SQL_AND, ABOVE, IS_NAN), app(Op.SQL_AND, ABOVE, app(Op.SQL_NOT, IS_NAN))]
    )
    assert may_lose(ABOVE) == nan
    assert may_lose(guarded) == FALSE
    assert may_lose(app(Op.SQL_NOT, IS_NAN)) == FALSE
    assert may_lose(factorable) == nan
    assert may_lose(app(Op.SQL_AND, guarded, ABOVE)) == nan
    assert may_lose(SQL_TRUE) == FALSE != TRUE
    assert isinstance(ABOVE, App)


NONE = Var(Scope.ROW, "x", Option(FLOAT))
DAY = Var(Scope.ROW, "d", DATE)
MOMENT = Var(Scope.ROW, "t", TIMESTAMP)
NAN = app(Op.IS_NAN, X)
ZERO = app(Op.PY_EQ, X, float_lit(0.0))
MIRRORED = {Op.SQL_GE: Op.SQL_LE, Op.SQL_LE: Op.SQL_GE, Op.SQL_GT: Op.SQL_LT, Op.SQL_LT: Op.SQL_GT}


def negated(term: Term) -> Term:
    return app(Op.SQL_NOT, term)


@pytest.mark.parametrize(
    ("op", "zero", "lost"),
    [
        (Op.SQL_GE, 0.0, True),
        (Op.SQL_GE, -0.0, False),
        (Op.SQL_LE, 0.0, False),
        (Op.SQL_LE, -0.0, True),
        (Op.SQL_GT, 0.0, False),
        (Op.SQL_LT, -0.0, False),
        (Op.SQL_EQ, 0.0, True),
        (Op.SQL_EQ_NULLSAFE, -0.0, True),
        (Op.SQL_GE, 1.0, False),
    ],
)
def test_zeros_that_a_dictionary_tells_apart(op: Op, zero: float, lost: bool) -> None:
    comparison = app(op, X, float_lit(zero))
    wanted = disjunction([NAN, ZERO]) if lost else NAN
    assert may_lose(comparison) == wanted
    assert may_lose(negated(negated(comparison))) == wanted
    assert may_lose(app(MIRRORED.get(op, op), float_lit(zero), X)) == wanted
    assert may_lose(sql_disjunction([comparison, IS_NAN])) == FALSE


def test_zeros_under_not() -> None:
    """``NOT x > -0.0`` is ``x <= -0.0``."""
    assert may_lose(negated(app(Op.SQL_GT, X, float_lit(-0.0)))) == disjunction([NAN, ZERO])
    assert may_lose(negated(app(Op.SQL_LT, X, float_lit(0.0)))) == disjunction([NAN, ZERO])
    assert may_lose(negated(app(Op.SQL_EQ, X, float_lit(0.0)))) == NAN
    assert may_lose(app(Op.SQL_EQ, app(Op.SQL_GT, X, float_lit(-0.0)), SQL_FALSE)) != NAN


def test_a_zero_is_no_null() -> None:
    lost = may_lose(app(Op.SQL_EQ, NONE, float_lit(0.0)))
    for value, expected in ((None, False), (0.0, True), (-0.0, True), (1.0, False)):
        assert evaluate(lost, {(Scope.ROW, "x"): value}) is expected


@pytest.mark.parametrize("op", [Op.SQL_EQ, Op.SQL_GT, Op.SQL_LE])
def test_constants_before_calendars_and_zones_agree(op: Op) -> None:
    """1582-10-15, and 1901."""
    assert may_lose(app(op, DAY, lit(DATE, -141428))) == TRUE
    assert may_lose(app(op, DAY, lit(DATE, -141427))) == FALSE
    assert may_lose(app(op, lit(TIMESTAMP, -2_208_988_800_000_000), MOMENT)) == TRUE
    assert may_lose(app(op, MOMENT, lit(TIMESTAMP, 0))) == FALSE


def test_constants_between_milliseconds() -> None:
    between, whole = lit(TIMESTAMP, 1_000_500), lit(TIMESTAMP, 1_000_000)
    for op, lost in ((Op.SQL_LT, TRUE), (Op.SQL_LE, FALSE), (Op.SQL_GT, FALSE), (Op.SQL_EQ, FALSE)):
        assert may_lose(app(op, MOMENT, between)) == lost
        assert may_lose(app(op, MOMENT, whole)) == FALSE
    assert may_lose(negated(app(Op.SQL_GE, MOMENT, between))) == TRUE
    assert may_lose(negated(app(Op.SQL_EQ, MOMENT, between))) == TRUE
    assert may_lose(app(Op.SQL_GT, between, MOMENT)) == TRUE


def test_a_claim_with_the_wrong_zero_is_refused() -> None:
    """``x >= 0.0`` is the very condition of the fold, and yet no pre-filter for it."""
    here = app(Op.PY_GE, X, float_lit(0.0))
    out = Output("seen", BOOL, "boolean", SEEN)
    field = Field("seen", BOOL, FALSE, disjunction([SEEN, here]))
    fold = Fold("any", (Column("x", FLOAT, "double"),), (), (field,), (out,))
    no_nan = assumption_of("no-nan", negate(NAN))
    problem = Problem(fold, Var(Scope.OUT, "seen", BOOL), Mode.GROUPED, (no_nan,))

    def verdict(zero: float) -> Verified[Certificate] | Rejected:
        made = claim(app(Op.SQL_GE, X, float_lit(zero)))
        return check(replace(made, problem=problem))

    assert isinstance(verdict(-0.0), Verified)
    refused = verdict(0.0)
    assert isinstance(refused, Rejected)
    assert refused.condition == "stutter"
