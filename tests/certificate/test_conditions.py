"""The four conditions by hand: groups that vanish, errors that are erased or added."""

from __future__ import annotations

import pytest
from tests.support.mutants import is_true
from tests.support.synthesis.cases import NOTHING_TO_PUSH
from tests.support.synthesis.running import pipeline_of

from presieve.certificate import Certificate, Rejected, Verified, check
from presieve.certificate.checker import SolverName
from presieve.ir.fold import Mode, nonempty
from presieve.ir.ops import app, negate
from presieve.ir.terms import FALSE, SQL_FALSE, Op, Scope, Term, Var, int_lit
from presieve.records import replace


def counting(mode: Mode) -> Certificate:
    """The claim that errors may be counted without looking at other rows, for at most five.

    Its invariant, that both runs have counted the same, is inductive. That is a proof of the four
    conditions as they were first printed, and wrong: under GROUP BY users without errors vanish.
    """
    case = next(c for c in NOTHING_TO_PUSH if c.name == "errors at most 5")
    line = pipeline_of(case)
    problem = replace(line.inputs.problem(line.predicate("where", case.where)), mode=mode)
    (field,) = problem.fold.fields
    runs = (Var(scope, field.name, field.sort) for scope in (Scope.ACC, Scope.TWIN))
    return Certificate(
        problem,
        "partial",
        "universe",
        problem.fold.column("is_error"),
        problem.where,
        (app(Op.SAME, *runs),),
    )


@pytest.mark.parametrize("solver", ["z3", "cvc5"])
def test_a_group_that_vanishes_is_seen(solver: SolverName) -> None:
    verdict = check(counting(Mode.GROUPED), solver)
    assert isinstance(verdict, Rejected)
    assert verdict.condition == "final"
    assert not is_true(counting(Mode.GROUPED))
    flags = (app(Op.SAME, nonempty(Scope.ACC), nonempty(Scope.TWIN)),)
    stronger = replace(
        counting(Mode.GROUPED), invariant=(*counting(Mode.GROUPED).invariant, *flags)
    )
    verdict = check(stronger, solver)
    assert isinstance(verdict, Rejected)
    assert verdict.condition == "stutter"


@pytest.mark.parametrize("solver", ["z3", "cvc5"])
def test_without_groups_none_vanishes(solver: SolverName) -> None:
    assert isinstance(check(counting(Mode.GLOBAL), solver), Verified)
    assert is_true(counting(Mode.GLOBAL))


def raising(where_from: Certificate, step: Term, finish: Term) -> Certificate:
    """The counting claim on a fold that raises."""
    fold = replace(where_from.problem.fold, step_raises=step, finish_raises=finish)
    return replace(where_from, problem=replace(where_from.problem, fold=fold))


def test_erased_errors_are_noticed_and_added_ones_refused() -> None:
    base = counting(Mode.GLOBAL)
    fold = base.problem.fold
    is_error = fold.column("is_error")
    (field,) = fold.fields
    count = Var(Scope.ACC, field.name, field.sort)
    calm = check(base)
    assert isinstance(calm, Verified)
    assert not calm.may_erase_error
    for step, erased in ((negate(is_error), True), (is_error, False)):
        verdict = check(raising(base, step, FALSE))
        assert isinstance(verdict, Verified), verdict
        assert verdict.may_erase_error is erased
    same_end = check(raising(base, FALSE, app(Op.PY_GT, count, int_lit(3))))
    assert isinstance(same_end, Verified)
    assert not same_end.may_erase_error
    # Nothing relates the runs any more: the twin may be in any state, and raise where the other
    # does not.
    loose = replace(base, invariant=(), residual=SQL_FALSE, prefilter=SQL_FALSE, kind="empty")
    never = replace(loose, problem=replace(loose.problem, where=SQL_FALSE))
    assert isinstance(check(never), Verified)
    added = check(raising(never, FALSE, app(Op.PY_GT, count, int_lit(3))))
    assert isinstance(added, Rejected)
    assert added.condition == "final"


def test_an_error_added_by_a_step_is_refused() -> None:
    """A row that raises unless another came before must not lose the other."""
    base = counting(Mode.GLOBAL)
    fold = base.problem.fold
    (field,) = fold.fields
    count = Var(Scope.ACC, field.name, field.sort)
    first = app(Op.PY_LT, count, int_lit(1))
    never = replace(
        raising(base, app(Op.AND, fold.column("is_error"), first), FALSE),
        invariant=(),
        residual=SQL_FALSE,
    )
    never = replace(never, problem=replace(never.problem, where=SQL_FALSE))
    verdict = check(never)
    assert isinstance(verdict, Rejected)
    assert verdict.condition == "sync"
