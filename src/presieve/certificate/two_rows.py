"""Trusted. Claims that filters may stand below an operator, decided on two rows.

Each script is the negation of an obligation, for any two rows that the columns' types allow.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Protocol

from presieve.certificate.check import Rejected, SolverName, decide_conditions, make_solver
from presieve.errors import PresieveError
from presieve.ir.fold import Column, Fold, Mode, Problem
from presieve.ir.ops import negate
from presieve.ir.sorts import BOOL, strip
from presieve.ir.terms import SQL_TRUE, TRUE, Scope, Term, Var
from presieve.ir.walk import variables
from presieve.ir.wellformed import IllFormed
from presieve.smt.solver import Effort
from presieve.smt.two_runs import Runs

_SEAL = object()


class TwoRowClaim(Protocol):
    """A certificate of this kind: one row is KEY, with the columns ``keys``, the other ROW."""

    @property
    def keys(self) -> tuple[Column, ...]:
        """The columns of one row."""

    @property
    def columns(self) -> tuple[Column, ...]:
        """The columns of the other row."""

    def obligations(self) -> Iterator[tuple[str, Term]]:
        """Yield the conditions that must hold for any two rows, with their names."""

    def check_form(self) -> None:
        """Raises :class:`presieve.errors.PresieveError` if the certificate makes no sense."""

    def text(self) -> str:
        """The certificate as JSON; equal certificates give equal text."""


@dataclass(frozen=True, slots=True)
class VerifiedFilters:
    """A certificate that this checker has accepted; only :func:`check_filters` makes one.
    ``seconds`` is the time per obligation.
    """

    certificate: TwoRowClaim
    solver: SolverName
    seconds: dict[str, float]
    seal: object = field(repr=False, compare=False)

    def __post_init__(self) -> None:
        if self.seal is not _SEAL:
            raise PresieveError("only the checker makes a VerifiedFilters")


def check_filters(
    claim: TwoRowClaim, solver: SolverName = "z3", effort: Effort | None = None
) -> VerifiedFilters | Rejected:
    """Rebuild the obligations and decide each. An unknown answer is not accepted."""
    try:
        claim.check_form()
        must = list(claim.obligations())
    except (PresieveError, ValueError) as problem:
        return Rejected("form", str(problem))
    scripts = ((name, _violation_script(claim, negate(term))) for name, term in must)
    seconds = decide_conditions(
        _violation_script(claim, TRUE), scripts, make_solver(solver), effort or Effort()
    )
    if isinstance(seconds, Rejected):
        return seconds
    return VerifiedFilters(claim, solver, seconds, _SEAL)


def _violation_script(claim: TwoRowClaim, wrong: Term) -> str:
    """Build a script that is satisfiable if some two rows make ``wrong`` true."""
    fold = Fold("operator", claim.columns, claim.keys, (), ())
    runs = Runs(Problem(fold, SQL_TRUE, Mode.GROUPED), [wrong])
    runs.encoder.fact(runs.encoder.boolean(wrong, runs.row("other")))
    return runs.encoder.take()


def check_reads(terms: Iterable[Term], *columns: tuple[Sequence[Column], Scope]) -> None:
    """Raises :class:`IllFormed` if a term reads anything but the columns of these scopes."""
    allowed_variables = {Var(scope, c.name, c.sort) for every, scope in columns for c in every}
    if not allowed_variables.issuperset(variables(*terms)):
        raise IllFormed("a term reads what is no column")


def check_conditions(terms: Sequence[Term], *columns: tuple[Sequence[Column], Scope]) -> None:
    """Check the same, and raise :class:`IllFormed` if one of the terms is not a condition."""
    check_reads(terms, *columns)
    if any(strip(t.sort) != BOOL for t in terms):
        raise IllFormed("a filter is no condition")
