"""Functions that are evaluated on demand: no row that is kept may lose its error."""

from __future__ import annotations

import pytest

from presieve.certificate import Certificate, Rejected, Verified, check
from presieve.ir.fold import Column, Field, Fold, Mode, Output, Problem
from presieve.ir.ops import app, conjunction, disjunction, negate
from presieve.ir.sorts import BOOL, INT
from presieve.ir.terms import (
    FALSE,
    NONEMPTY,
    SQL_TRUE,
    TRUE,
    Op,
    Scope,
    Term,
    Var,
    int_lit,
)
from presieve.ir.text import parse_problem, print_problem
from presieve.records import replace

X = Var(Scope.ROW, "x", INT)
KEY = Var(Scope.KEY, "x", INT)
SEEN = Var(Scope.ACC, "seen", BOOL)
OUT = Var(Scope.OUT, "o", BOOL)
SOLVERS = pytest.mark.parametrize("solver", ["z3", "cvc5"])


def over(op: Op, term: Term, number: int) -> Term:
    return app(op, term, int_lit(number))


def any_over_ten(raises: Term, ends: Term = FALSE, mode: Mode = Mode.GROUPED) -> Problem:
    """Whether a row is above 10."""
    field = Field("seen", BOOL, FALSE, disjunction([SEEN, over(Op.PY_GT, X, 10)]))
    out = Output("o", BOOL, "boolean", SEEN)
    fold = Fold("any", (Column("x", INT, "int"),), (), (field,), (out,), raises, ends)
    return Problem(fold, OUT, mode, (), on_demand=True)


SAME = app(Op.SAME, SEEN, Var(Scope.TWIN, "seen", BOOL))
FLAGS = app(Op.SAME, Var(Scope.ACC, NONEMPTY, BOOL), Var(Scope.TWIN, NONEMPTY, BOOL))
GROUPED = (SAME, app(Op.SAME, Var(Scope.TWIN, NONEMPTY, BOOL), Var(Scope.TWIN, "seen", BOOL)))


def verdict(problem: Problem, prefilter: Term, solver: str = "z3") -> str:
    """The condition that fails, or that the claim of an exact pushdown holds."""
    claim = Certificate(problem, "exact", "universe", prefilter, SQL_TRUE, GROUPED)
    found = check(claim, solver)  # type: ignore[arg-type]
    return "holds" if isinstance(found, Verified) else found.condition


@SOLVERS
@pytest.mark.parametrize(
    ("raises", "expected"),
    [
        (FALSE, "holds"),
        (over(Op.PY_LT, X, 0), "holds"),
        (over(Op.PY_LE, X, 10), "holds"),
        (over(Op.PY_GT, X, 1000), "kept"),
        (over(Op.PY_EQ, X, 11), "kept"),
        (conjunction([SEEN, over(Op.PY_LT, X, 0)]), "holds"),
        (conjunction([SEEN, over(Op.PY_GT, X, 50)]), "kept"),
    ],
)
def test_rows_that_raise(raises: Term, expected: str, solver: str) -> None:
    above = app(Op.SQL_GT, X, int_lit(10))
    problem = any_over_ten(raises)
    assert verdict(problem, above, solver) == expected
    assert verdict(replace(problem, on_demand=False), above, solver) == "holds"


@SOLVERS
def test_the_filter_that_stays_has_it_evaluated(solver: str) -> None:
    problem = any_over_ten(over(Op.PY_GT, X, 1000))
    above = app(Op.SQL_GT, X, int_lit(10))
    claim = Certificate(problem, "partial", "universe", above, OUT, GROUPED)
    assert isinstance(check(claim, solver), Verified)  # type: ignore[arg-type]
    assert claim.calls_stay


@SOLVERS
def test_a_pre_filter_that_drops_what_raises(solver: str) -> None:
    problem = any_over_ten(over(Op.PY_GT, X, 1000))
    between = app(Op.SQL_AND, app(Op.SQL_GT, X, int_lit(10)), app(Op.SQL_LE, X, int_lit(1000)))
    assert verdict(problem, between, solver) == "holds"
    off_by_one = app(Op.SQL_AND, app(Op.SQL_GT, X, int_lit(10)), app(Op.SQL_LE, X, int_lit(1001)))
    assert verdict(problem, off_by_one, solver) == "kept"


@SOLVERS
def test_the_end_of_a_group_raises(solver: str) -> None:
    """It raises at the end of every group with a row above 10, or of every other one."""
    above = app(Op.SQL_GT, X, int_lit(10))
    assert verdict(any_over_ten(FALSE, SEEN), above, solver) == "kept"
    assert verdict(any_over_ten(FALSE, negate(SEEN)), above, solver) == "holds"


@SOLVERS
def test_the_end_of_no_rows_raises(solver: str) -> None:
    """Without GROUP BY there is a result of no rows."""
    filter_ = app(Op.SQL_OR, OUT, app(Op.SQL_NOT, OUT))
    problem = any_over_ten(FALSE, negate(SEEN), Mode.GLOBAL)
    problem = replace(problem, where=filter_)
    claim = Certificate(problem, "exact", "universe", SQL_TRUE, SQL_TRUE, (SAME, FLAGS))
    found = check(claim, solver)  # type: ignore[arg-type]
    assert isinstance(found, Rejected)
    assert found.condition == "kept"
    grouped = replace(problem, mode=Mode.GROUPED, fold=replace(problem.fold, finish_raises=FALSE))
    same = replace(claim, problem=grouped)
    assert isinstance(check(same, solver), Verified)  # type: ignore[arg-type]


@SOLVERS
@pytest.mark.parametrize(("limit", "expected"), [(60, "holds"), (61, "kept")])
def test_functions_of_a_row(limit: int, expected: str, solver: str) -> None:
    """A row is a group: the end of the group is what raises."""
    out = Output("o", BOOL, "boolean", TRUE)
    fold = Fold(
        "f", (), (Column("x", INT, "int"),), (), (out,), finish_raises=over(Op.PY_GT, KEY, 60)
    )
    problem = Problem(fold, OUT, Mode.GROUPED, (), on_demand=True)
    below = app(Op.SQL_LE, KEY, int_lit(limit))
    has, had = Var(Scope.TWIN, NONEMPTY, BOOL), Var(Scope.ACC, NONEMPTY, BOOL)
    kept = app(Op.IMPLIES, has, app(Op.SQL_IS_TRUE, below))
    lossless = app(Op.IMPLIES, over(Op.PY_LE, KEY, 60), app(Op.IMPLIES, had, has))
    claim = Certificate(problem, "exact", "universe", below, SQL_TRUE, (kept, lossless))
    found = check(claim, solver)  # type: ignore[arg-type]
    assert ("holds" if isinstance(found, Verified) else found.condition) == expected


def test_it_is_stored() -> None:
    problem = any_over_ten(FALSE)
    assert parse_problem(print_problem(problem)) == problem
    other = replace(problem, on_demand=False)
    assert parse_problem(print_problem(other)) == other
    assert print_problem(problem) != print_problem(other)
