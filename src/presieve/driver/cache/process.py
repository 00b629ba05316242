"""Trusted. Solutions of the last problems: ``explain`` and then ``optimize`` prove once.

The key is the problem's printed text, which holds all of it but source spans and reads back as the
same problem, the policy, and what is known to hold. Where nothing could be proved, that holds for
budgets that are not larger: a larger one may do better.
"""

from __future__ import annotations

from collections import OrderedDict
from threading import Lock
from typing import TypeAlias

from presieve.driver.cache.checked import TOLERANCE, Query
from presieve.driver.solve import Policy, Solution
from presieve.ir.text import print_problem, print_term

SIZE = 128
"""Solutions that are kept; those used longest ago go first."""


class Memory:
    """A map from problems to solutions, safe to use from several threads."""

    __slots__ = ("_lock", "_solutions")

    def __init__(self) -> None:
        self._solutions: OrderedDict[_Key, tuple[Solution, float]] = OrderedDict()
        self._lock = Lock()

    def get(self, query: Query) -> Solution | None:
        """The solution of the same problem under the same policy, if it was proved, or if the
        seconds that are left would find no other.
        """
        key = _key(query)
        with self._lock:
            solution, tried = self._solutions.get(key, (None, 0.0))
            if solution is None:
                return None
            if solution.verified is None and query.left > tried * TOLERANCE:
                return None
            self._solutions.move_to_end(key)
            return solution

    def put(self, query: Query, solution: Solution) -> None:
        """Keep what was found for a problem in the seconds that were left for it.

        The solution's own problem may be another one: it may do with fewer assumptions.
        """
        with self._lock:
            self._solutions[_key(query)] = solution, query.left
            while len(self._solutions) > SIZE:
                self._solutions.popitem(last=False)


_Key: TypeAlias = tuple[str, Policy, frozenset[tuple[str, str, str, str]]]


def _key(query: Query) -> _Key:
    facts = frozenset((a.code, a.text, print_term(a.term), by) for a, by in query.known.items())
    return print_problem(query.problem), query.policy, facts
