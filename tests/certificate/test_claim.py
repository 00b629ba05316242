"""The protocol of claims: what the checker asks of any kind, and what it makes of the answers."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NoReturn

import pytest

from presieve.certificate import stored
from presieve.certificate.certificate import Certificate
from presieve.certificate.checker import Rejected, Verified, check
from presieve.certificate.claim import Claim, ConditionClaim, Decided, Obligation, Script
from presieve.certificate.two_rows import TwoRowClaim
from presieve.errors import PresieveError, UsageError

TRUE_SCRIPT, FALSE_SCRIPT = "(assert true)", "(assert false)"


@dataclass(frozen=True, slots=True)
class Stated(Claim):
    steps: tuple[Obligation, ...] = ()
    premise: str | None = TRUE_SCRIPT
    form: str = ""
    erasure: str | None = None

    def fields(self) -> dict[str, object]:
        return {"kind": "stated", "form": self.form}

    def check_form(self) -> None:
        if self.form:
            raise PresieveError(self.form)

    def premises(self) -> str | None:
        return self.premise

    def obligations(self) -> Iterator[Obligation]:
        yield from self.steps

    def erases_error(self) -> str | None:
        return self.erasure


PROVED, REFUTED = Script("proved", FALSE_SCRIPT), Script("refuted", TRUE_SCRIPT)


@pytest.mark.parametrize(
    ("claim", "condition", "reason"),
    [
        (Stated(form="no sense"), "form", "no sense"),
        (
            Stated((PROVED,), premise=FALSE_SCRIPT),
            "premises",
            "no row satisfies the assumptions, so the proof is vacuous",
        ),
        (Stated((PROVED, REFUTED, Decided("later", "why"))), "refuted", "it does not hold"),
        (Stated((Script("text", TRUE_SCRIPT, "own words"),)), "text", "own words"),
        (Stated((PROVED, Decided("tables", "why"), REFUTED)), "tables", "why"),
        (Stated((Decided("tables", ""),)), "tables", ""),
    ],
)
def test_the_first_condition_that_fails_is_named(
    claim: Stated, condition: str, reason: str
) -> None:
    assert check(claim) == Rejected(condition, reason)


def test_accepted_claims_have_the_times_of_their_scripts() -> None:
    claim = Stated((Decided("tables", None), PROVED, PROVED))
    verdict = check(claim)
    assert isinstance(verdict, Verified)
    assert verdict.certificate is claim
    assert list(verdict.seconds) == ["proved"]
    assert verdict.may_erase_error is None


@pytest.mark.parametrize(("script", "erases"), [(TRUE_SCRIPT, True), (FALSE_SCRIPT, False)])
def test_errors_may_be_erased_unless_the_contrary_is_proved(script: str, erases: bool) -> None:
    verdict = check(Stated((PROVED,), erasure=script))
    assert isinstance(verdict, Verified)
    assert verdict.may_erase_error is erases


def test_a_solver_is_made_only_for_a_script(monkeypatch: pytest.MonkeyPatch) -> None:
    """Deriving filters for storage asks none."""

    def refuse(name: str) -> NoReturn:
        raise AssertionError(name)

    monkeypatch.setattr(sys.modules[check.__module__], "make_solver", refuse)
    assert isinstance(check(Stated((Decided("tables", None),), premise=None)), Verified)


def test_only_the_checker_seals() -> None:
    for seal in (None, object()):
        with pytest.raises(PresieveError, match="only the checker"):
            Verified(Stated(), "z3", {}, None, seal)


def test_every_kind_is_read_back() -> None:
    families = {c.__name__ for c in (Claim, ConditionClaim, TwoRowClaim, Stated, Bounded)}
    kinds = {c.__name__: c.__module__ for c in _subclasses(Claim) if c.__name__ not in families}
    assert kinds.pop("Certificate") == Certificate.__module__  # has five kinds of its own
    assert sorted(kinds.values()) == sorted(p.__module__ for p in stored.PARSERS.values())


def _subclasses(base: Any) -> Iterator[type]:
    yield base
    for derived in base.__subclasses__():
        yield from _subclasses(derived)


# --- the recipe for a kind of certificate ---------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Bounded(Claim):
    """The claim that every integer above ``low`` is above ``high``."""

    low: int
    high: int

    def fields(self) -> dict[str, object]:
        return {"kind": "bounded", "low": self.low, "high": self.high}

    def check_form(self) -> None:
        if self.low < 0:
            raise PresieveError("the bound is negative")

    def premises(self) -> str:
        return f"(declare-const x Int)(assert (> x {self.low}))"

    def obligations(self) -> Iterator[Obligation]:
        yield Script("bound", f"{self.premises()}(assert (not (> x {self.high})))")


def test_a_planted_kind_is_stored_and_checked(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    def parse(data: Any) -> Bounded:
        return Bounded(data["low"], data["high"])

    right, wrong, senseless = Bounded(3, 2), Bounded(3, 4), Bounded(-1, -2)
    path = tmp_path / "claim.json"
    right.save(path)
    with pytest.raises(UsageError, match="not a complete certificate"):
        stored.load(path)
    monkeypatch.setitem(stored.PARSERS, "bounded", parse)
    assert stored.load(path) == right
    assert isinstance(stored.check_claim(right, "z3"), Verified)
    for claim, condition in ((wrong, "bound"), (senseless, "form")):
        rejected = stored.check_claim(claim, "z3")
        assert isinstance(rejected, Rejected)
        assert rejected.condition == condition
