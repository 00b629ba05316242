"""What the checker makes of a solver's answers: each place takes one, and no other will do."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from fractions import Fraction

import pytest
from tests.support.mutants import certificate_of

from presieve.certificate import Certificate, Rejected, Verified, check
from presieve.smt.solver import Answer, Effort, Sat, Unknown, Unsat

CHECKER = sys.modules[check.__module__]


class Scripted:
    """A solver that gives answers from a list, one a script."""

    name = "scripted"

    def __init__(self, answers: Iterator[Answer]) -> None:
        self.calls = 0
        self._answers = answers

    def fresh(self) -> Scripted:
        return self

    def add(self, script: str) -> None:
        assert script

    def check(self, assumptions: Sequence[str], effort: Effort) -> Answer:
        return next(self._answers)

    def booleans(self, names: Sequence[str]) -> list[bool]:
        raise AssertionError

    def numbers(self, names: Sequence[str]) -> list[Fraction]:
        raise AssertionError


def checked_with(
    answers: list[Answer], monkeypatch: pytest.MonkeyPatch
) -> Verified[Certificate] | Rejected:
    certificate = certificate_of("errors at least 1")
    rest = iter(answers)
    monkeypatch.setattr(CHECKER, "make_solver", lambda name: Scripted(rest))
    return check(certificate)


@pytest.mark.parametrize("answer", [Unknown("gave up"), Sat()], ids=["unknown", "sat"])
@pytest.mark.parametrize(
    ("place", "condition"),
    list(enumerate(["init", "sync", "stutter", "final", "strength"], start=1)),
)
def test_only_unsat_proves(
    place: int, condition: str, answer: Answer, monkeypatch: pytest.MonkeyPatch
) -> None:
    proofs: list[Answer] = [Sat(), *[Unsat(())] * 6]
    calm = checked_with(proofs, monkeypatch)
    assert isinstance(calm, Verified)
    assert not calm.may_erase_error
    verdict = checked_with([*proofs[:place], answer, *proofs[place + 1 :]], monkeypatch)
    assert isinstance(verdict, Rejected)
    assert verdict.condition == condition


@pytest.mark.parametrize("answer", [Unknown("gave up"), Unsat(())], ids=["unknown", "unsat"])
def test_only_sat_shows_that_the_premises_are_possible(
    answer: Answer, monkeypatch: pytest.MonkeyPatch
) -> None:
    verdict = checked_with([answer, *[Unsat(())] * 6], monkeypatch)
    assert isinstance(verdict, Rejected)
    assert verdict.condition == "premises"


@pytest.mark.parametrize("answer", [Unknown("gave up"), Sat()], ids=["unknown", "sat"])
def test_only_unsat_shows_that_no_error_is_erased(
    answer: Answer, monkeypatch: pytest.MonkeyPatch
) -> None:
    verdict = checked_with([Sat(), *[Unsat(())] * 5, answer], monkeypatch)
    assert isinstance(verdict, Verified)
    assert verdict.may_erase_error
