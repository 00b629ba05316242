"""Trusted. Solutions of the last problems: ``explain`` and then ``optimize`` prove once.

The key is the problem's printed text, which holds all of it but source spans and reads back as the
same problem, the policy, and what is known to hold. Where nothing could be proved, that holds for
budgets that are not larger: a larger one may do better.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Mapping
from threading import Lock
from typing import TypeAlias

from presieve.driver.solve import Policy, Solution
from presieve.ir.fold import Assumption, Problem
from presieve.ir.text import print_problem, print_term

SIZE = 128
"""Solutions that are kept; those used longest ago go first."""

_ALIKE = 1.1
"""What is left of the same budget differs from one time to the next by what came before."""


class Memory:
    """A map from problems to solutions, safe to use from several threads."""

    __slots__ = ("_lock", "_solutions")

    def __init__(self) -> None:
        self._solutions: OrderedDict[_Key, tuple[Solution, float]] = OrderedDict()
        self._lock = Lock()

    def get(
        self, problem: Problem, policy: Policy, known: Mapping[Assumption, str], budget: float
    ) -> Solution | None:
        """The solution of the same problem under the same policy, if it was proved, or if a
        ``budget`` in seconds would find no other.
        """
        key = _key(problem, policy, known)
        with self._lock:
            found, tried = self._solutions.get(key, (None, 0.0))
            if found is None or (found.verified is None and budget > tried * _ALIKE):
                return None
            self._solutions.move_to_end(key)
            return found

    def put(
        self,
        problem: Problem,
        policy: Policy,
        known: Mapping[Assumption, str],
        budget: float,
        found: Solution,
    ) -> None:
        """Keep what was found for a problem, with the budget that there was for it.

        The solution's own problem may be another one: it may do with fewer assumptions.
        """
        with self._lock:
            self._solutions[_key(problem, policy, known)] = found, budget
            while len(self._solutions) > SIZE:
                self._solutions.popitem(last=False)


_Key: TypeAlias = tuple[str, Policy, frozenset[tuple[str, str, str, str]]]


def _key(problem: Problem, policy: Policy, known: Mapping[Assumption, str]) -> _Key:
    facts = frozenset((a.code, a.text, print_term(a.term), by) for a, by in known.items())
    return print_problem(problem), policy, facts
