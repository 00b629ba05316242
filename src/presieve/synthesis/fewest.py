"""Untrusted. A pushdown with no more assumptions than it takes.

An assumption that the fold's meaning does not rest on ("no NaN in x") is kept only where it pays:
where without it rows would have to be kept that obey every assumption. Where it merely allows to
drop the rows that break it, it goes, and those rows stay.
"""

from __future__ import annotations

import time
from collections.abc import Collection, Iterator
from dataclasses import replace

from presieve.ir.fold import Assumption, Problem
from presieve.ir.pushdown import Kind
from presieve.synthesis.derived import derive
from presieve.synthesis.engine import Found, synthesize

_RANK: dict[Kind, int] = {"none": 0, "partial": 1, "split": 2, "exact": 3, "empty": 3}


def candidates(problem: Problem, optional: Collection[str], budget: float) -> Iterator[Found]:
    """What is found, the best first: over computed columns where the steps compute any and that
    pays, and over the columns as they are. Ask for the next one where one is not acceptable.
    """
    deadline = time.perf_counter() + budget
    smaller = derive(problem, optional, COMPUTED)
    if smaller is None:
        yield synthesize_fewest(problem, optional, budget)
        return
    computed = smaller.restored(synthesize_fewest(smaller.problem, optional, budget))
    told = rank(computed) == max(_RANK.values()) or _is_best(computed, problem)
    if told:
        yield computed
    plain = synthesize_fewest(problem, optional, max(deadline - time.perf_counter(), _LEAST))
    calls = plain.solver_calls + computed.solver_calls
    both = [replace(f, solver_calls=calls) for f in (plain, computed)]
    yield from both[:1] if told else both[::-1] if _is_better(computed, plain) else both


_LEAST = 0.1
"""Seconds for the columns as they are, where computed ones have used up the budget."""


def _is_best(computed: Found, problem: Problem) -> bool:
    """Whether nothing is left to find without computed columns."""
    no_more = len(computed.problem.assumptions) <= len(problem.assumptions)
    strength = computed.pushdown.strength if computed.pushdown else "universe"
    return no_more and strength == "strongest"


def _is_better(computed: Found, plain: Found) -> bool:
    """Whether computed columns pay: they give a better kind, or as good a one with no more
    assumptions where the plain pre-filter may not be the strongest.
    """
    if rank(computed) != rank(plain) or plain.pushdown is None:
        return rank(computed) > rank(plain)
    no_more = len(computed.problem.assumptions) <= len(plain.problem.assumptions)
    return no_more and plain.pushdown.strength != "strongest"


COMPUTED = "no-nan"
"""The code of the assumption that a computed column is a number."""


def rank(found: Found) -> int:
    """How much of the filter's work goes below: nothing, part of it, or all."""
    return _RANK[found.pushdown.kind] if found.pushdown else 0


def synthesize_fewest(problem: Problem, optional: Collection[str], budget: float) -> Found:
    """As :func:`synthesize`, then again without assumptions of the ``optional`` codes.

    First without all of them, then without one after the other.
    """
    deadline = time.perf_counter() + budget
    best = synthesize(problem, budget)
    loose = [a for a in problem.assumptions if a.code in optional]
    attempts = [loose, *([a] for a in loose)] if len(loose) > 1 else [loose] if loose else []
    for dropped in attempts:
        left = deadline - time.perf_counter()
        if best.pushdown is None or left <= 0:
            return best
        better = _without(best, dropped, left)
        if better is not None:
            best = better
            if dropped is loose:
                return best
    return best


def _without(best: Found, dropped: list[Assumption], budget: float) -> Found | None:
    """The same pushdown without these assumptions, or None where it would be weaker."""
    kept = tuple(a for a in best.problem.assumptions if a not in dropped)
    relaxed = replace(best.problem, assumptions=kept)
    found = synthesize(relaxed, budget, stronger=best)
    assert best.pushdown is not None
    calls = best.solver_calls + found.solver_calls
    same = found.needs & best.cells <= best.needs
    if found.pushdown is None or not same:
        return None
    if rank(found) < rank(best):
        return None
    return replace(found, solver_calls=calls, seconds=best.seconds + found.seconds)
