"""Untrusted. A pushdown with no more assumptions than it takes.

An assumption that the fold's meaning does not rest on ("no NaN in x") is kept only where it pays:
where without it rows would have to be kept that obey every assumption. Where it merely allows to
drop the rows that break it, it goes, and those rows stay.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import replace

from presieve.errors import Declined
from presieve.ir.fold import Assumption, Problem
from presieve.ir.pushdown import Kind
from presieve.ir.terms import SQL_TRUE, App, Op, Term
from presieve.synthesis import clock
from presieve.synthesis.engine import synthesize
from presieve.synthesis.events import Recorder, Relaxed, Searched, Weaker, discard
from presieve.synthesis.forms import zeros
from presieve.synthesis.forms.computed_columns import derive
from presieve.synthesis.forms.singles import is_single, search_single
from presieve.synthesis.prefilter.simplify import simpler
from presieve.synthesis.result import SearchResult
from presieve.synthesis.sampling.correlated import CORRELATED

_RANK: dict[Kind, int] = {"none": 0, "partial": 1, "split": 2, "exact": 3, "empty": 3}


def candidates(
    problem: Problem, optional: Collection[str], budget: float, record: Recorder = discard
) -> Iterator[SearchResult]:
    """What is found, the best first: over computed columns where the steps compute any and that
    pays, and over the columns as they are. Ask for the next one where one is not acceptable.
    """
    if _asks(problem.where):
        problem = _without_codes(problem, [COMPUTED])
    if not zeros.has_open(problem):
        for found in _candidates(problem, optional, budget, record):
            yield _without_trivial(simpler(found))
        return
    for found in _candidates(zeros.settled(problem), optional, budget, record):
        for claim in zeros.claims(found, problem):
            yield _without_trivial(simpler(claim))


def _without_trivial(result: SearchResult) -> SearchResult:
    """What drops no row saves nothing but a filter, which is no reason to assume anything. Nor is
    it assumed that nothing is missing where the filter asks for that, and nothing else is found.
    """
    if not _is_trivial(result):
        return result
    open_ = [a for a in result.problem.assumptions if a.code not in _GIVEN]
    reason = "no row can go, and that the filter is not needed rests on this"
    if result.pushdown is not None and result.pushdown.kind == "empty":
        open_ = [a for a in open_ if a.code == "no-null"] if _asks(result.problem.where) else []
        reason = "the filter asks for NULL, and that there is none rests on this"
    if not open_:
        return result
    declined = Declined("assumption", f"{reason}: {open_[0].text}")
    return replace(result, pushdown=None, declined=(*result.declined, declined))


def _asks(where: Term) -> bool:
    """Whether the filter asks for results that are missing, as ``m IS NULL`` does. That they are
    not, which ``m > 5`` says, too, is another question.
    """
    match where:
        case App(Op.SQL_IS_NULL | Op.SQL_IS_NAN | Op.SQL_EQ_NULLSAFE, _):
            return True
        case App(Op.SQL_NOT, (App(Op.SQL_IS_NULL | Op.SQL_IS_NAN, _),)):
            return False
        case App(_, args):
            return any(_asks(a) for a in args)
    return False


def _without_codes(problem: Problem, codes: Collection[str]) -> Problem:
    kept = tuple(a for a in problem.assumptions if a.code not in codes)
    return replace(problem, assumptions=kept)


_GIVEN = ("declared", CORRELATED)
"""Codes of facts that are known."""


def _candidates(
    problem: Problem, optional: Collection[str], budget: float, record: Recorder
) -> Iterator[SearchResult]:
    if is_single(problem):
        yield _single(problem, optional, budget)
        return
    deadline = clock.now() + budget
    smaller = derive(problem, optional, COMPUTED)
    if smaller is None:
        record(Searched(problem))
        yield minimize_assumptions(problem, optional, budget, record)
        return
    record(Searched(smaller.problem, computed=tuple((c.variable, c.sql) for c in smaller.computed)))
    computed = smaller.restored(minimize_assumptions(smaller.problem, optional, budget, record))
    if computed.pushdown is not None and computed.pushdown.strength != "optimal":
        record(Weaker("computed"))
    is_best = rank(computed) == max(_RANK.values()) or _is_best(computed, problem)
    if is_best:
        yield computed
    record(Searched(problem))
    left = max(deadline - clock.now(), _LEAST)
    plain = minimize_assumptions(problem, optional, left, record)
    calls = plain.solver_calls + computed.solver_calls
    both = [replace(f, solver_calls=calls) for f in (plain, computed)]
    yield from both[:1] if is_best else both[::-1] if _is_better(computed, plain) else both


def _single(problem: Problem, optional: Collection[str], budget: float) -> SearchResult:
    """Without the assumptions that can be done without, unless nothing is found so."""
    strict = _without_codes(problem, optional)
    found = search_single(strict, budget)
    if strict == problem or found.pushdown is not None:
        return found
    more = search_single(problem, budget)
    return found if _is_trivial(more) else more


_LEAST = 0.1
"""Seconds for the columns as they are, where computed ones have used up the budget."""


def _is_best(computed: SearchResult, problem: Problem) -> bool:
    """Whether nothing is left to find without computed columns."""
    no_more = len(computed.problem.assumptions) <= len(problem.assumptions)
    strength = computed.pushdown.strength if computed.pushdown else "universe"
    return no_more and strength == "optimal"


def _is_better(computed: SearchResult, plain: SearchResult) -> bool:
    """Whether computed columns pay: they give a better kind, or as good a one with no more
    assumptions where the plain pre-filter is not shown to be optimal.
    """
    if rank(computed) != rank(plain) or plain.pushdown is None:
        return rank(computed) > rank(plain)
    no_more = len(computed.problem.assumptions) <= len(plain.problem.assumptions)
    return no_more and plain.pushdown.strength != "optimal"


COMPUTED = "no-nan"
"""The code of the assumption that a computed column is a number."""


def rank(result: SearchResult) -> int:
    """How much of the filter's work goes below: nothing, part of it, or all."""
    return _RANK[result.pushdown.kind] if result.pushdown else 0


def minimize_assumptions(
    problem: Problem, optional: Collection[str], budget: float, record: Recorder = discard
) -> SearchResult:
    """As :func:`synthesize`, then again without assumptions of the ``optional`` codes.

    First without all of them, then without one after the other.
    """
    deadline = clock.now() + budget
    best = synthesize(problem, budget, record=record)
    loose = [a for a in problem.assumptions if a.code in optional]
    if loose and (best.pushdown is None or _is_trivial(best)):
        bare, left = _without_codes(problem, optional), max(deadline - clock.now(), _LEAST)
        record(Searched(bare, tuple(loose)))
        found = synthesize(bare, left, record=record)
        return replace(found, solver_calls=best.solver_calls + found.solver_calls)
    attempts = [loose, *([a] for a in loose)] if len(loose) > 1 else [loose] if loose else []
    for dropped in attempts:
        left = deadline - clock.now()
        if best.pushdown is None or left <= 0:
            return best
        better = _without(best, dropped, left, record)
        if better is not None:
            best = better
            if dropped is loose:
                return best
    return best


def _is_trivial(result: SearchResult) -> bool:
    """Whether all rows stay, or none: an assumption that is made for that answers what the filter
    asks, such as whether a result is NULL.
    """
    if result.pushdown is None:
        return False
    return result.pushdown.kind == "empty" or result.pushdown.prefilter == SQL_TRUE


def _without(
    best: SearchResult, dropped: list[Assumption], budget: float, record: Recorder
) -> SearchResult | None:
    """The same pushdown without these assumptions, or None where it would be weaker."""
    kept = tuple(a for a in best.problem.assumptions if a not in dropped)
    relaxed = replace(best.problem, assumptions=kept)
    record(Searched(relaxed, tuple(dropped)))
    found = synthesize(relaxed, budget, best, record)
    assert best.pushdown is not None
    calls = best.solver_calls + found.solver_calls
    same = found.needs & best.cells <= best.needs
    if found.pushdown is None or not same or rank(found) < rank(best):
        record(Relaxed(tuple(dropped), "weaker" if same else "rows"))
        return None
    record(Relaxed(tuple(dropped), "taken"))
    return replace(found, solver_calls=calls, seconds=best.seconds + found.seconds)
