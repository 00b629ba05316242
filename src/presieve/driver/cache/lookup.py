# SPDX-License-Identifier: Apache-2.0
"""Trusted. Solutions of problems, reused if this process or an earlier one has found them."""

from __future__ import annotations

from presieve.driver import log
from presieve.driver.cache import checked
from presieve.driver.cache.checked import Query
from presieve.driver.cache.process import Memory
from presieve.driver.solve import Solution, solve

_MEMORY = Memory()


def solution_of(query: Query) -> Solution:
    """Solve a problem with :func:`solve`, or return its earlier solution."""
    before = _MEMORY.get(query)
    if before is not None:
        log.logger.debug("this process has searched that before")
        return before
    solution = _recall_or_solve(query)
    _MEMORY.put(query, solution)
    return solution


def _recall_or_solve(query: Query) -> Solution:
    store = checked.answer_store()
    solution = checked.recall(store, query) if store is not None else None
    if solution is not None:
        log.logger.debug("the cache has what was found of that before")
        return solution
    event_log = log.listening()
    solution = solve(
        query.problem,
        budget=query.left,
        policy=query.policy,
        discharged=query.known,
        event_log=event_log,
    )
    log.steps(event_log)
    if store is not None:
        checked.keep(store, query, solution)
    return solution
