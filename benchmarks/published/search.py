"""Untrusted. Algorithm 1: pre-filters from strong to weak, each with its invariant and residual."""

from __future__ import annotations

import heapq
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal

from benchmarks.published.bisimulation import find_strongest_bisimulation
from benchmarks.published.bounds import (
    Bounds,
    Infeasible,
    initial,
    repair,
    weaken_via_bounds,
)
from benchmarks.published.conditions import Conditions, Filter
from benchmarks.published.residual import find_residual

Ablation = Literal["none", "no-bounds", "no-repair", "two-phase", "no-pruning"]
"""What is left out. no-bounds: bounds before the invariant is looked for. no-repair: repair by
failing rows; atoms are dropped one at a time. two-phase: both, the lower bound, and learning from
residuals that fail: pre-filters are enumerated with the filter as residual, then residuals.
no-pruning: bounds, repair, and all that one candidate could take over from another.
"""


@dataclass(frozen=True, slots=True)
class Solution:
    """Atoms of the pre-filter, of the residual and of the invariant."""

    prefilter: Filter
    residual: frozenset[int]
    invariant: frozenset[int]


class _Heap:
    """Pre-filters, those with most atoms first; none twice."""

    def __init__(self) -> None:
        self._waiting: list[tuple[int, tuple[int, ...]]] = []
        self._seen: set[Filter] = set()

    def push(self, prefilters: Iterable[Filter]) -> None:
        for p in prefilters:
            if p not in self._seen:
                self._seen.add(p)
                heapq.heappush(self._waiting, (-len(p), tuple(sorted(p))))

    def pop(self) -> Filter | None:
        return frozenset(heapq.heappop(self._waiting)[1]) if self._waiting else None


class Search:
    """See the module."""

    def __init__(self, conditions: Conditions, ablation: Ablation) -> None:
        self._conditions = conditions
        self._ablation = ablation
        self._heap = _Heap()

    def run(self) -> Solution | None:
        """SynthesizeOptimalPushdown."""
        conditions, ablation = self._conditions, self._ablation
        bounds = self._start()
        self._heap.push([frozenset(range(len(conditions.universes.rows)))])
        while (prefilter := self._heap.pop()) is not None:
            # an independent full solve shares nothing with those before it
            here = initial(conditions) if ablation == "no-pruning" else bounds
            if ablation in ("none", "no-repair"):
                repairs = ablation == "none"
                weakened = weaken_via_bounds(conditions, prefilter, bounds, repairs=repairs)
                if isinstance(weakened, Infeasible):
                    if not repairs:
                        self._heap.push(self._weaker(prefilter))
                    continue
                weaker, here = weakened
                if weaker != prefilter:  # a stronger candidate may still be waiting
                    self._heap.push([weaker])
                    continue
            invariant = find_strongest_bisimulation(conditions, prefilter, here)
            if isinstance(invariant, Infeasible):
                self._backtrack(invariant)
                continue
            learns = ablation != "two-phase"
            residual = find_residual(conditions, invariant, learns=learns)
            if residual is not None:
                return Solution(prefilter, residual, invariant)
            self._heap.push(self._weaker(prefilter))
        return None

    def _start(self) -> Bounds:
        """The bounds to start from: without a lower one where nothing may be pruned by it."""
        if self._ablation == "no-pruning":
            return Bounds(frozenset(), frozenset())
        return initial(self._conditions, lower=self._ablation != "two-phase")

    def _backtrack(self, failure: Infeasible) -> None:
        if failure.row is not None and self._ablation in ("none", "no-bounds"):
            self._heap.push([repair(failure.prefilter, failure.row)])
        self._heap.push(self._weaker(failure.prefilter))

    def _weaker(self, prefilter: Filter) -> list[Filter]:
        """All one-step weakenings. Dropping an atom that another one implies by being part of it
        weakens nothing, so those stay.
        """
        least = self._conditions.least(prefilter)
        return [prefilter - {j} for j in sorted(least) if len(prefilter) > 1]
