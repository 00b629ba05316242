"""Trusted. Solutions of problems, none searched twice: by this process, or by one before it."""

from __future__ import annotations

from collections.abc import Mapping

from presieve.driver import log
from presieve.driver.cache import checked
from presieve.driver.cache.disk import default_store
from presieve.driver.cache.process import Memory
from presieve.driver.solve import Policy, Solution, solve
from presieve.ir.fold import Assumption, Problem

_MEMORY = Memory()


def solution_of(
    problem: Problem, policy: Policy, known: Mapping[Assumption, str], budget: float, left: float
) -> Solution:
    """:func:`solve`, or what it said of the same problem before. ``left`` is what is left for this
    problem of the ``budget`` that the caller set, in seconds.
    """
    before = _MEMORY.get(problem, policy, known, left)
    if before is not None:
        log.logger.debug("this process has searched that before")
        return before
    found = _kept(checked.Asked(problem, policy, known, budget, left))
    _MEMORY.put(problem, policy, known, left, found)
    return found


def _kept(asked: checked.Asked) -> Solution:
    store = default_store() if checked.versions()["presieve"] else None
    found = checked.recall(store, asked) if store is not None else None
    if found is not None:
        log.logger.debug("the cache has what was found of that before")
    else:
        problem, policy = asked.problem, asked.policy
        event_log = log.listening()
        found = solve(
            problem, budget=asked.left, policy=policy, discharged=asked.known, event_log=event_log
        )
        log.steps(event_log)
        if store is not None:
            checked.keep(store, asked, found)
    return found
