# SPDX-License-Identifier: Apache-2.0
"""Trusted. Proves a pushdown: two filters that may replace the filter above a fold."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from presieve.certificate import obligations
from presieve.certificate.claim import (
    FORMAT,
    Claim,
    Decided,
    Obligation,
    Script,
    read_claim,
    read_file,
)
from presieve.certificate.plain_data import read_fields, write_fields
from presieve.certificate.required import check_statement
from presieve.certificate.witness import check_residual_witnesses, check_witnesses
from presieve.errors import PresieveError
from presieve.ir.fold import Problem
from presieve.ir.ops import sql_conjuncts
from presieve.ir.pushdown import (
    Kind,
    Pushdown,
    ResidualStrength,
    ResidualWitness,
    Strength,
    Witness,
    residual_conjuncts,
    residual_strength,
)
from presieve.ir.terms import FALSE, SQL_FALSE, SQL_TRUE, Term
from presieve.ir.wellformed import IllFormed, check_invariant, check_post, check_prefilter

_BEFORE = 1
"""The previous format, which is still read: it had another word for ``optimal``."""


@dataclass(frozen=True, slots=True)
class Certificate(Claim):
    """``prefilter`` and ``residual`` may replace ``problem.where``, because ``invariant`` relates
    the original run (ACC) and the run over the pre-filtered rows (TWIN) at every moment.
    """

    problem: Problem
    kind: Kind
    strength: Strength
    prefilter: Term
    residual: Term
    invariant: tuple[Term, ...]
    witnesses: tuple[Witness, ...] = ()
    residual_witnesses: tuple[ResidualWitness, ...] = ()

    @property
    def residual_strength(self) -> ResidualStrength:
        """Whether there is a witness for every conjunct of the residual."""
        return residual_strength(self.kind, self.residual, self.residual_witnesses)

    @property
    def calls_stay(self) -> bool:
        """Whether every expression that can raise is still evaluated for the rows that are kept.
        For expressions that are evaluated on demand, that is so if the filter stays as it is.
        """
        fold = self.problem.fold
        total = fold.step_raises == fold.finish_raises == FALSE
        return total or not self.problem.on_demand or self.residual == self.problem.where

    @classmethod
    def of(cls, problem: Problem, pushdown: Pushdown) -> Certificate:
        """Make the claim that a pushdown is correct."""
        return cls(
            problem,
            pushdown.kind,
            pushdown.strength,
            pushdown.prefilter,
            pushdown.residual,
            pushdown.invariant,
            pushdown.witnesses,
            pushdown.residual_witnesses,
        )

    def fields(self) -> dict[str, object]:
        """The statement; :func:`parse` reads it."""
        return write_fields(self)

    def check_form(self) -> None:
        """Check that the kind fits the predicates, that every term is over its own variables, and
        that the witnesses show what they claim.
        """
        problem, residual = self.problem, self.residual
        check_statement(problem)
        check_prefilter(problem, self.prefilter)
        check_post(problem, residual)
        check_invariant(problem, self.invariant)
        self._check_hidden()
        fits = {
            "exact": sql_conjuncts(residual) == (),
            "partial": residual == problem.where,
            "split": sql_conjuncts(residual) != () and residual != problem.where,
            "empty": self.prefilter == SQL_FALSE and residual == SQL_FALSE,
            "none": self.prefilter == SQL_TRUE,
        }[self.kind]
        if not fits:
            raise IllFormed(f"the predicates are not those of kind {self.kind}")
        check_witnesses(problem, self.witnesses)

    def _check_hidden(self) -> None:
        """Reject witnesses for an unknown function: tables show nothing about it, because it may
        never give the values that they hold.
        """
        if not self.problem.fold.hidden:
            return
        if self.strength != "universe" or self.witnesses or self.residual_witnesses:
            raise IllFormed("tables with values of an unknown function show nothing")

    def premises(self) -> str:
        """Build a script that is satisfiable if there are rows that obey the assumptions."""
        return obligations.premises(self)

    def obligations(self) -> Iterator[Obligation]:
        """Yield what has to hold of the two runs, of errors, of strength and of the residual."""
        for name, build in obligations.OBLIGATIONS.items():
            yield Script(name, build(self))
        if not self.calls_stay:
            yield Script(
                "kept", obligations.kept_raises(self), "a row that is kept may lose its error"
            )
        if self.strength != "universe":
            yield Script(
                "strength", self._strength_script(), "rows are kept for which no witness speaks"
            )
        yield Decided("residual", self._doubt_residual())

    def _strength_script(self) -> str:
        """Build a script that is satisfiable if the claim of strength exceeds the witnesses."""
        if self.strength == "optimal":
            return obligations.without_need(self, self.witnesses)
        return obligations.without_witness(self, [w.region for w in self.witnesses])

    def _doubt_residual(self) -> str | None:
        """Say which witness of the residual shows nothing; None if there is none."""
        conjuncts = residual_conjuncts(self.kind, self.residual)
        try:
            check_residual_witnesses(
                self.problem, self.prefilter, conjuncts, self.residual_witnesses
            )
        except PresieveError as problem:
            return str(problem)
        return None

    def erases_error(self) -> str:
        """Build a script that is satisfiable unless every error stays."""
        return obligations.erases_error(self)


def parse(data: object) -> Certificate:
    """Read a certificate. Raises :class:`PresieveError` if ``data`` is not a certificate."""
    if not isinstance(data, dict) or "presieve" not in data:
        raise PresieveError(f'not a certificate, which begins with "presieve": {FORMAT}')
    if data["presieve"] not in (_BEFORE, FORMAT):
        raise PresieveError(
            f"a certificate of format {str(data['presieve'])[:20]!r}, and this presieve reads"
            f" formats {_BEFORE} and {FORMAT}; use the presieve that wrote it, or search again"
        )
    return read_claim(_parse, data)


def _parse(data: dict[str, Any]) -> Certificate:
    if data["presieve"] == _BEFORE and data.get("strength") == "strongest":
        data = {**data, "strength": "optimal"}
    return read_fields(Certificate, data, may_lack=("residual_witnesses",))


def load(path: str | Path) -> Certificate:
    """Read a certificate from a file. Raises :class:`UsageError` if there is none."""
    return read_file(path, parse)
