"""A file scan may lose NaN rows that the filter keeps: proofs hold either way."""

from __future__ import annotations

from presieve.certificate import Certificate, Rejected, Verified, check
from presieve.ir.fold import Column, Field, Fold, Mode, Output, Problem
from presieve.ir.ops import app, disjunction, sql_disjunction
from presieve.ir.sorts import BOOL, FLOAT
from presieve.ir.terms import FALSE, SQL_TRUE, TRUE, App, Op, Scope, Term, Var, float_lit
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
