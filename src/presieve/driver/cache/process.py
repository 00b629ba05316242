# SPDX-License-Identifier: Apache-2.0
"""Trusted. Solutions of the last problems, so that ``explain`` and then ``optimize`` prove once.

The key consists of the problem's printed text, the policy, and the facts known to hold. The text
contains the whole problem except source spans, and parses to the same problem. A failed search is
reused only for budgets that are not larger: a larger one may find a proof.
"""

from __future__ import annotations

from collections import OrderedDict
from threading import Lock
from typing import TypeAlias

from presieve.driver.cache.checked import TOLERANCE, Query
from presieve.driver.solve import Policy, Solution
from presieve.ir.text import print_problem, print_term

SIZE = 128
"""Maximum number of solutions; the least recently used are dropped first."""


class Memory:
    """A thread-safe map from problems to solutions."""

    __slots__ = ("_lock", "_solutions")

    def __init__(self) -> None:
        self._solutions: OrderedDict[_Key, tuple[Solution, float]] = OrderedDict()
        self._lock = Lock()

    def get(self, query: Query) -> Solution | None:
        """Return the solution of the same problem under the same policy.

        A solution without a proof is returned only if the query's remaining seconds are no more
        than the search had, within ``TOLERANCE``; otherwise None.
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
        """Store the solution of a problem with the seconds that the search had.

        The solution's own problem may differ from the query's: it may need fewer assumptions.
        """
        with self._lock:
            self._solutions[_key(query)] = solution, query.left
            while len(self._solutions) > SIZE:
                self._solutions.popitem(last=False)


_Key: TypeAlias = tuple[str, Policy, frozenset[tuple[str, str, str, str]]]


def _key(query: Query) -> _Key:
    facts = frozenset((a.code, a.text, print_term(a.term), by) for a, by in query.known.items())
    return print_problem(query.problem), query.policy, facts
