"""Mistakes are planted in presieve, and the fuzzer must find them: a check of its sight."""

from __future__ import annotations

import ast
from typing import Any

import pytest
from tests.fuzz.pairs import Fuzzer
from tests.fuzz.trial import Failure

from presieve.driver.solve import Solution, solve
from presieve.ir.fold import Mode, Problem
from presieve.ir.ops import sql_conjunction, sql_conjuncts
from presieve.lift.models.builtins import comparisons
from presieve.records import replace

FOLDS = 60


def found() -> Failure | None:
    """The first failure of some folds."""
    fuzzer = Fuzzer(3)
    verdicts = (v for fold in range(FOLDS) for v in fuzzer.pairs(fold))
    return next((v.failure for v in verdicts if v.failure is not None), None)


def test_less_read_as_less_or_equal(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(comparisons._ORDER, ast.Lt, comparisons._ORDER[ast.LtE])
    failure = found()
    assert failure is not None
    assert failure.what == "lifted wrongly"


def test_groups_that_lose_all_their_rows_forgotten(monkeypatch: pytest.MonkeyPatch) -> None:
    """Proofs for a query without GROUP BY, believed of one with it."""

    def forgetful(problem: Problem, **options: Any) -> Solution:
        solution = solve(replace(problem, mode=Mode.GLOBAL), **options)
        return replace(solution, problem=replace(solution.problem, mode=problem.mode))

    monkeypatch.setattr("tests.fuzz.pairs.solve", forgetful)
    failure = found()
    assert failure is not None
    assert failure.what == "wrong result"


def test_a_conjunct_of_the_residual_lost(monkeypatch: pytest.MonkeyPatch) -> None:
    def forgetful(problem: Problem, **options: Any) -> Solution:
        solution = solve(problem, **options)
        fewer = sql_conjunction(sql_conjuncts(solution.residual)[:-1])
        return replace(solution, residual=fewer) if solution.kind == "split" else solution

    monkeypatch.setattr("tests.fuzz.pairs.solve", forgetful)
    failure = found()
    assert failure is not None
    assert failure.what == "wrong result"
