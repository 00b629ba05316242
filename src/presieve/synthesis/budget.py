"""Untrusted. The cost limits of a search: time for each stage, and counted solver calls."""

from __future__ import annotations

import time

from presieve.smt.solver import Effort, Solver
from presieve.smt.z3_solver import Z3Solver
from presieve.synthesis import clock


class Budget:
    """A number of seconds on the search's clock."""

    def __init__(self, seconds: float) -> None:
        self._started = time.perf_counter()
        self._solvers: list[Solver] = []
        self.deadline = self.until = clock.now() + seconds

    def begin(self, part: float = 1.0) -> None:
        """Begin a stage that may take this part of the remaining time."""
        now = clock.now()
        self.until = now + part * (self.deadline - now)

    @property
    def is_used_up(self) -> bool:
        """Whether the time of the stage is used up."""
        return clock.now() > self.until

    def effort(self) -> Effort:
        """The limits of one solver call: never more than the remaining time of the stage."""
        return Effort(seconds=clock.guard(self.until - clock.now()))

    def solver(self) -> Solver:
        """Make a fresh solver and count its calls."""
        solver = self._solvers[0].fresh() if self._solvers else Z3Solver(quick=True)
        self._solvers.append(solver)
        return solver

    @property
    def calls(self) -> int:
        """The number of calls of all solvers so far."""
        return sum(s.calls for s in self._solvers)

    @property
    def seconds(self) -> float:
        """Seconds of wall clock so far."""
        return time.perf_counter() - self._started
