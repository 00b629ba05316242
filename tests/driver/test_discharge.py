"""What breaks an assumption, as a predicate of Spark that no scan makes less of."""

from __future__ import annotations

import pytest

from presieve.driver.stages.discharge import breaks, covers
from presieve.errors import Declined
from presieve.ir.fold import Assumption, Column, Fold, Mode, Problem
from presieve.ir.ops import app, conjunction, disjunction, negate
from presieve.ir.sorts import FLOAT, INT, Option
from presieve.ir.terms import (
    SQL_FALSE,
    SQL_TRUE,
    TRUE,
    Op,
    Scope,
    Term,
    Var,
    float_lit,
    int_lit,
)
from presieve.sql.emit import emit

X = Var(Scope.ROW, "x", Option(FLOAT))
N = Var(Scope.ROW, "n", Option(INT))
VALUE, NUMBER = app(Op.GET, X), app(Op.GET, N)
FOLD = Fold("f", (Column("x", X.sort, "double"), Column("n", N.sort, "bigint")), (), (), ())
PROBLEM = Problem(FOLD, SQL_TRUE, Mode.GROUPED)

NO_NAN = conjunction([negate(app(Op.IS_NONE, X)), negate(app(Op.IS_NAN, VALUE))])
NO_NULL = negate(app(Op.IS_NONE, N))
SMALL = disjunction(
    [
        app(Op.IS_NONE, N),
        conjunction([app(Op.PY_GT, NUMBER, int_lit(-100)), app(Op.PY_LT, NUMBER, int_lit(100))]),
    ]
)


def broken(*terms: Term) -> str:
    found = breaks(PROBLEM, [Assumption("some", "", t) for t in terms])
    assert not isinstance(found, Declined)
    return emit(found, "UTC")


def test_predicates() -> None:
    assert broken(NO_NAN) == "x IS NULL OR isnan(x)"
    assert broken(NO_NULL) == "n IS NULL"
    assert broken(SMALL) == "n <= -100 OR n >= 100"
    assert broken(NO_NULL, NO_NAN) == "n IS NULL OR x IS NULL OR isnan(x)"


def test_what_no_predicate_says() -> None:
    assert isinstance(breaks(PROBLEM, [Assumption("int-range", "a sum", TRUE)]), Declined)
    same = app(Op.SAME, VALUE, float_lit(-0.0))
    assert isinstance(breaks(PROBLEM, [Assumption("some", "", negate(same))]), Declined)


@pytest.mark.parametrize(
    ("term", "wrong"),
    [
        (NO_NAN, app(Op.SQL_IS_NULL, X)),
        (NO_NAN, app(Op.SQL_IS_NAN, X)),
        (NO_NULL, SQL_FALSE),
        (SMALL, app(Op.SQL_GT, N, int_lit(100))),
    ],
)
def test_twins_that_miss_a_row(term: Term, wrong: Term) -> None:
    assert not covers(PROBLEM, [Assumption("some", "", term)], wrong)


def test_a_scan_may_lose_nan_by_its_statistics() -> None:
    """Spark says that NaN is greater than any number, and statistics of Parquet leave it out."""
    bounded = disjunction([app(Op.IS_NONE, X), app(Op.PY_LE, VALUE, float_lit(1e15))])
    assumption = Assumption("some", "", bounded)
    above = app(Op.SQL_GT, X, float_lit(1e15))
    assert not covers(PROBLEM, [assumption], above)
    assert covers(PROBLEM, [assumption], app(Op.SQL_OR, above, app(Op.SQL_IS_NAN, X)))
