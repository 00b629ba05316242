"""Trusted. The independent checker: obligations rebuilt from the IR, decided by a solver."""

from __future__ import annotations

import time
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Literal

from presieve.certificate import obligations
from presieve.certificate.certificate import Certificate
from presieve.certificate.obligations import Claim
from presieve.certificate.required import check_required
from presieve.certificate.witness import check_residual_witnesses, check_witnesses
from presieve.errors import PresieveError
from presieve.ir.fold import Column, Fold, Output
from presieve.ir.ops import sql_conjuncts
from presieve.ir.sorts import strip
from presieve.ir.terms import SQL_FALSE, SQL_TRUE
from presieve.ir.wellformed import (
    IllFormed,
    check_invariant,
    check_post,
    check_prefilter,
    check_problem,
)
from presieve.semantics.assumptions import check_words
from presieve.semantics.types import sort_of
from presieve.smt.solver import Answer, Effort, Sat, Solver, Unsat

SolverName = Literal["z3", "cvc5"]
_SEAL = object()


@dataclass(frozen=True, slots=True)
class Verified:
    """A certificate that this checker has accepted. Only :func:`check` makes one.

    ``seconds`` per obligation; ``may_erase_error``: an error that the original job would have
    raised may be gone (it is never added).
    """

    certificate: Certificate
    solver: SolverName
    seconds: dict[str, float]
    may_erase_error: bool
    seal: object = field(repr=False, compare=False)

    def __post_init__(self) -> None:
        if self.seal is not _SEAL:
            raise PresieveError("only the checker makes a Verified")


@dataclass(frozen=True, slots=True)
class Rejected:
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


def _ask(script: str, like: Solver, effort: Effort) -> Answer:
    solver = like.fresh()
    solver.add(script)
    return solver.check([], effort)


def decide_conditions(
    premises: str, conditions: Iterable[tuple[str, str]], like: Solver, effort: Effort
) -> dict[str, float] | Rejected:
    """Decide all conditions and return the seconds that each took.

    ``conditions`` are named scripts, unsatisfiable if the condition holds; ``premises`` must be
    satisfiable. Returns a rejection for the first condition that does not hold or is unknown.
    """
    if not isinstance(_ask(premises, like, effort), Sat):
        return Rejected("premises", "no row satisfies the assumptions, so the proof is vacuous")
    seconds: dict[str, float] = {}
    started = time.perf_counter()
    for name, script in conditions:
        answer = _ask(script, like, effort)
        if not isinstance(answer, Unsat):
            why = "it does not hold" if isinstance(answer, Sat) else answer.why
            return Rejected(name, why)
        now = time.perf_counter()
        seconds[name] = seconds.get(name, 0.0) + now - started
        started = now
    return seconds


def check(
    certificate: Certificate, solver: SolverName = "z3", effort: Effort | None = None
) -> Verified | Rejected:
    """Rebuild the obligations from the IR and decide each. An unknown answer is not accepted."""
    effort = effort or Effort()
    try:
        _check_form(certificate)
        check_witnesses(certificate)
    except PresieveError as problem:
        return Rejected("form", str(problem))
    claim = Claim(
        certificate.problem, certificate.prefilter, certificate.residual, certificate.invariant
    )
    like = make_solver(solver)
    conditions = ((name, build(claim)) for name, build in obligations.OBLIGATIONS.items())
    seconds = decide_conditions(obligations.premises(claim), conditions, like, effort)
    if isinstance(seconds, Rejected):
        return seconds
    if not certificate.calls_stay:
        started = time.perf_counter()
        answer = _ask(obligations.kept_raises(claim), like, effort)
        seconds["kept"] = time.perf_counter() - started
        if not isinstance(answer, Unsat):
            return Rejected("kept", "a row that is kept may lose its error")
    if certificate.strength != "universe":
        started = time.perf_counter()
        answer = _ask(_strength_script(certificate, claim), like, effort)
        seconds["strength"] = time.perf_counter() - started
        if not isinstance(answer, Unsat):
            return Rejected("strength", "rows are kept for which no witness speaks")
    try:
        check_residual_witnesses(certificate)
    except PresieveError as problem:
        return Rejected("residual", str(problem))
    erases = not isinstance(_ask(obligations.erases_error(claim), like, effort), Unsat)
    return Verified(certificate, solver, seconds, erases, _SEAL)


def _strength_script(certificate: Certificate, claim: Claim) -> str:
    """Build a script that is satisfiable if the claim of strength exceeds the witnesses."""
    if certificate.strength == "optimal":
        return obligations.without_need(claim, certificate.witnesses)
    return obligations.without_witness(claim, [w.region for w in certificate.witnesses])


def _check_form(certificate: Certificate) -> None:
    """Check that the kind fits the predicates, and that every term is over its own variables."""
    problem = certificate.problem
    check_problem(problem)
    check_words(problem)
    check_types(problem.fold)
    check_required(problem)
    check_prefilter(problem, certificate.prefilter)
    check_post(problem, certificate.residual)
    check_invariant(problem, certificate.invariant)
    _check_hidden(certificate)
    kind, residual = certificate.kind, certificate.residual
    fits = {
        "exact": sql_conjuncts(residual) == (),
        "partial": residual == problem.where,
        "split": sql_conjuncts(residual) != () and residual != problem.where,
        "empty": certificate.prefilter == SQL_FALSE and residual == SQL_FALSE,
        "none": certificate.prefilter == SQL_TRUE,
    }[kind]
    if not fits:
        raise IllFormed(f"the predicates are not those of kind {kind}")


def _check_hidden(certificate: Certificate) -> None:
    """Reject witnesses for an unknown function: tables show nothing about it, because it may never
    give the values that they hold.
    """
    if not certificate.problem.fold.hidden:
        return
    witnesses = (*certificate.witnesses, *certificate.residual_witnesses)
    if certificate.strength != "universe" or witnesses:
        raise IllFormed("tables with values of an unknown function show nothing")


def check_types(fold: Fold) -> None:
    """Check that columns have the sorts of their Spark types, which bound the values. Raises
    :class:`IllFormed`.
    """
    typed: tuple[Column | Output, ...] = (*fold.columns, *fold.keys, *fold.outputs)
    for c in typed:
        if sort_of(c.type) != strip(c.sort):
            raise IllFormed(f"{c.name} of type {c.type} has another sort")
