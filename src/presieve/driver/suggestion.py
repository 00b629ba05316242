"""Trusted. Searches on demand for a correct pushdown in place of a wrong one."""

from __future__ import annotations

import logging
import time
from dataclasses import dataclass, field

from presieve.driver.declare import with_declared
from presieve.driver.fold_inputs import Inputs
from presieve.driver.solve import Policy, solve
from presieve.driver.synthesize import synthesis_of
from presieve.errors import PresieveError
from presieve.ir.fold import Assumption, Problem
from presieve.ir.terms import Term
from presieve.report.verdict_model import Repair

logger = logging.getLogger("presieve")

SECONDS = 3.0
"""Maximum seconds for a search; most take a few tenths."""


@dataclass(slots=True)
class RepairSearch:
    """Searches for the strongest provable pushdown of a filter, whose text is ``where``."""

    inputs: Inputs
    where: str
    post: Term
    facts: tuple[tuple[str, Term], ...]
    policy: Policy
    seconds: float
    _answers: list[Repair | None] = field(default_factory=list, init=False, compare=False)

    def __call__(self) -> Repair | None:
        """Return the pushdown, searched for at the first call; None if nothing is proved."""
        if not self._answers:
            self._answers.append(self._search())
        return self._answers[0]

    def _search(self) -> Repair | None:
        try:
            bare = self.inputs.problem(self.post, [fact for _, fact in self.facts])
            return self._of(*with_declared(bare, self.facts))
        except PresieveError as error:
            # A bug of ours in this search must not hide the verdict.
            logger.warning("the search for a repair failed, please report it", exc_info=error)
            return None

    def _of(self, problem: Problem, discharged: dict[Assumption, str]) -> Repair | None:
        started = time.perf_counter()
        budget = min(self.seconds, SECONDS)
        solution = solve(problem, budget=budget, policy=self.policy, discharged=discharged)
        synthesis = synthesis_of(self.inputs, self.where, solution, started)
        if synthesis.kind == "none" or synthesis.certificate is None:
            return None
        return Repair(
            synthesis.kind, synthesis.prefilter, synthesis.residual, synthesis.assumptions
        )
