"""Trusted. Proven solutions of the last problems: ``explain`` and then ``optimize`` prove once.

The key is the problem's printed text, which holds all of it but source spans and reads back as the
same problem. What could not be proved is not kept: another budget may do better.
"""

from __future__ import annotations

from collections import OrderedDict
from threading import Lock

from presieve.driver.solve import Policy, Solution
from presieve.ir.fold import Problem
from presieve.ir.text import print_problem

SIZE = 128
"""Solutions that are kept; those used longest ago go first."""


class Memory:
    """A map from problems to proven solutions, safe to use from several threads."""

    __slots__ = ("_lock", "_solutions")

    def __init__(self) -> None:
        self._solutions: OrderedDict[tuple[str, Policy], Solution] = OrderedDict()
        self._lock = Lock()

    def get(self, problem: Problem, policy: Policy) -> Solution | None:
        """The solution of the same problem under the same policy, if it is known."""
        key = (print_problem(problem), policy)
        with self._lock:
            if key not in self._solutions:
                return None
            self._solutions.move_to_end(key)
            return self._solutions[key]

    def put(self, solution: Solution, policy: Policy) -> None:
        """Keep a solution, if it was proven."""
        if solution.verified is None:
            return
        with self._lock:
            self._solutions[print_problem(solution.problem), policy] = solution
            while len(self._solutions) > SIZE:
                self._solutions.popitem(last=False)
