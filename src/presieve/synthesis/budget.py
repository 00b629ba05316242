"""Untrusted. What a search may cost: time for each of its stages, and solvers whose calls count."""

from __future__ import annotations

import time

from presieve.smt.solver import Effort, Solver
from presieve.smt.z3_solver import Z3Solver
from presieve.synthesis import clock


class Budget:
    """So many seconds of the search's clock."""

    def __init__(self, seconds: float) -> None:
        self._started = time.perf_counter()
        self._solvers: list[Solver] = []
        self.deadline = self.until = clock.now() + seconds

    def begin(self, part: float = 1.0) -> None:
        """Begin a stage that may take this part of what is left."""
        now = clock.now()
        self.until = now + part * (self.deadline - now)

    @property
    def is_used_up(self) -> bool:
        """Whether the time of the stage is."""
        return clock.now() > self.until

    def effort(self) -> Effort:
        """What one call of a solver may cost: never more than what is left of the stage's time."""
        return Effort(seconds=clock.guard(self.until - clock.now()))

    def solver(self) -> Solver:
        """A fresh solver, counted."""
        solver = self._solvers[0].fresh() if self._solvers else Z3Solver(quick=True)
        self._solvers.append(solver)
        return solver

    @property
    def calls(self) -> int:
        """Calls of all solvers so far."""
        return sum(s.calls for s in self._solvers)

    @property
    def seconds(self) -> float:
        """Wall clock so far."""
        return time.perf_counter() - self._started
