# SPDX-License-Identifier: Apache-2.0
"""Trusted. The independent checker: obligations rebuilt from the IR, decided by a solver."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from functools import cache, partial
from itertools import starmap
from typing import Generic, Literal, TypeAlias, TypeVar

from msgspec import Struct

from presieve.certificate.claim import Claim, Decided, Obligation, Script
from presieve.errors import PresieveError
from presieve.smt.solver import Answer, Effort, Sat, Solver, Unsat

SolverName = Literal["z3", "cvc5"]
_Claim = TypeVar("_Claim", bound=Claim)
_Kind = TypeVar("_Kind", bound=Claim, covariant=True)
_Ask: TypeAlias = Callable[[str], Answer]
_SEAL = object()
FORM = "form"
"""The condition that fails if a statement is not well-formed: the search should not make one."""


@dataclass(frozen=True, slots=True)
class Verified(Generic[_Kind]):
    """A certificate that this checker has accepted. Only :func:`check` makes one.

    ``seconds`` per script; ``may_erase_error``: an error that the original job would have raised
    may be gone (it is never added). None if the claim says nothing of that.
    """

    certificate: _Kind
    solver: SolverName
    seconds: dict[str, float]
    may_erase_error: bool | None
    seal: object = field(repr=False, compare=False)

    def __post_init__(self) -> None:
        if self.seal is not _SEAL:
            raise PresieveError("only the checker makes a Verified")


class Rejected(Struct, frozen=True):
    """The certificate was not accepted: which condition failed, and how."""

    condition: str
    reason: str


def make_solver(name: SolverName) -> Solver:
    """Make a fresh solver. Raises :class:`presieve.errors.UsageError` if cvc5 is not installed."""
    if name == "cvc5":
        from presieve.smt.cvc5_solver import Cvc5Solver

        return Cvc5Solver()
    from presieve.smt.z3_solver import Z3Solver

    return Z3Solver()


def check(
    claim: _Claim, solver: SolverName = "z3", effort: Effort | None = None
) -> Verified[_Claim] | Rejected:
    """Rebuild the obligations from the IR and decide each. An unknown answer is not accepted.

    The solver is made when the first script needs it.
    """
    like = cache(partial(make_solver, solver))

    def ask(script: str) -> Answer:
        return _ask(script, like(), effort or Effort())

    try:
        claim.check_form()
        obligations = claim.obligations()
    except (PresieveError, ValueError) as problem:
        return Rejected(FORM, str(problem))
    seconds = _decide(claim.premises(), obligations, ask)
    if isinstance(seconds, Rejected):
        return seconds
    erasure = claim.erases_error()
    erases = None if erasure is None else not isinstance(ask(erasure), Unsat)
    return Verified(claim, solver, seconds, erases, _SEAL)


def decide_conditions(
    premises: str, conditions: Iterable[tuple[str, str]], like: Solver, effort: Effort
) -> dict[str, float] | Rejected:
    """Decide all conditions and return the seconds that each took.

    ``conditions`` are named scripts, unsatisfiable if the condition holds; ``premises`` must be
    satisfiable. Returns a rejection for the first condition that does not hold or is unknown.
    """
    return _decide(premises, starmap(Script, conditions), partial(_ask, like=like, effort=effort))


def _decide(
    premises: str | None, obligations: Iterable[Obligation], ask: _Ask
) -> dict[str, float] | Rejected:
    if premises is not None and not isinstance(ask(premises), Sat):
        return Rejected("premises", "no row satisfies the assumptions, so the proof is vacuous")
    seconds: dict[str, float] = {}
    started = time.perf_counter()
    for obligation in obligations:
        failure = _failure(obligation, ask)
        if failure is not None:
            return Rejected(obligation.name, failure)
        now = time.perf_counter()
        if isinstance(obligation, Script):
            seconds[obligation.name] = seconds.get(obligation.name, 0.0) + now - started
        started = now
    return seconds


def _failure(obligation: Obligation, ask: _Ask) -> str | None:
    """Why the obligation is not proved; None if it is."""
    if isinstance(obligation, Decided):
        return obligation.failure
    answer = ask(obligation.text)
    if isinstance(answer, Unsat):
        return None
    return obligation.failure or ("it does not hold" if isinstance(answer, Sat) else answer.why)


def _ask(script: str, like: Solver, effort: Effort) -> Answer:
    solver = like.fresh()
    solver.add(script)
    return solver.check([], effort)
