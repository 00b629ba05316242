"""Trusted. What would do in place of a pushdown that is wrong: a search, once it is wanted."""

from __future__ import annotations

import logging
import time
from dataclasses import dataclass, field

from presieve.driver.declare import with_declared
from presieve.driver.inputs import Inputs
from presieve.driver.solve import Policy, solve
from presieve.driver.synthesize import synthesis_of
from presieve.errors import PresieveError
from presieve.ir.fold import Assumption, Problem
from presieve.ir.terms import Term
from presieve.report.verdict_model import Repair

logger = logging.getLogger("presieve")

SECONDS = 3.0
"""The most that a search may compute for one; most take some tenths."""


@dataclass(slots=True)
class RepairSearch:
    """The strongest pushdown that the search proves for a filter; ``where`` is its text."""

    inputs: Inputs
    where: str
    post: Term
    facts: tuple[tuple[str, Term], ...]
    policy: Policy
    seconds: float
    _answers: list[Repair | None] = field(default_factory=list, init=False, compare=False)

    def __call__(self) -> Repair | None:
        """Searched for at the first call. None where nothing is proved."""
        if not self._answers:
            self._answers.append(self._search())
        return self._answers[0]

    def _search(self) -> Repair | None:
        try:
            bare = self.inputs.problem(self.post, [fact for _, fact in self.facts])
            return self._of(*with_declared(bare, self.facts))
        except PresieveError as error:
            # A bug of ours in looking for a better one must not hide the verdict.
            logger.warning("the search for a repair failed, please report it", exc_info=error)
            return None

    def _of(self, problem: Problem, known: dict[Assumption, str]) -> Repair | None:
        started = time.perf_counter()
        budget = min(self.seconds, SECONDS)
        solution = solve(problem, budget=budget, policy=self.policy, discharged=known)
        found = synthesis_of(self.inputs, self.where, solution, started)
        if found.kind == "none" or found.certificate is None:
            return None
        return Repair(found.kind, found.prefilter, found.residual, found.assumptions)
