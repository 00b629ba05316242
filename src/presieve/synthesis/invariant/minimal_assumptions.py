# SPDX-License-Identifier: Apache-2.0
"""Untrusted. A pushdown with no more assumptions than necessary.

An assumption that the fold's meaning does not rest on ("no NaN in x") is kept only if it pays: if
without it rows that obey every assumption would have to be kept. If it only allows dropping the
rows that break it, it goes, and those rows stay.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator

from presieve.errors import Declined
from presieve.ir.assumption_codes import COMPUTED, DECLARED, NO_NAN, NO_NULL
from presieve.ir.fold import Assumption, Problem
from presieve.ir.pushdown import Kind
from presieve.ir.terms import SQL_TRUE, App, Op, Term
from presieve.records import replace
from presieve.synthesis import clock
from presieve.synthesis.engine import synthesize
from presieve.synthesis.events import Recorder, Relaxed, Searched, Weaker, discard
from presieve.synthesis.forms import signed_zeros
from presieve.synthesis.forms.computed_columns import derive
from presieve.synthesis.forms.single_rows import is_single, search_single
from presieve.synthesis.prefilter.simplify import simpler
from presieve.synthesis.result import SearchResult

_RANK: dict[Kind, int] = {"none": 0, "partial": 1, "split": 2, "exact": 3, "empty": 3}


def candidates(
    problem: Problem, optional: Collection[str], budget: float, record: Recorder = discard
) -> Iterator[SearchResult]:
    """Yield the results, the best first: over computed columns if the steps compute any and that
    pays, and over the original columns. Ask for the next one if a result is not acceptable.
    """
    if _asks(problem.where):
        problem = _without_codes(problem, [NO_NAN])
    if not signed_zeros.has_open(problem):
        for search_result in _candidates(problem, optional, budget, record):
            yield _without_trivial(simpler(search_result))
        return
    for search_result in _candidates(signed_zeros.settle_zeros(problem), optional, budget, record):
        for claim in signed_zeros.claims(search_result, problem):
            yield _without_trivial(simpler(claim))


def _without_trivial(result: SearchResult) -> SearchResult:
    """Decline a result that drops no rows and rests on assumptions: it saves nothing but a filter,
    which is no reason to assume anything. Decline also a result that drops all rows because it
    assumes that nothing is missing, if the filter asks for missing values.
    """
    if not _is_trivial(result):
        return result
    open_ = [a for a in result.problem.assumptions if a.code not in _GIVEN]
    reason = "no row can go, and that the filter is not needed rests on this"
    if result.pushdown is not None and result.pushdown.kind == "empty":
        open_ = [a for a in open_ if a.code == NO_NULL] if _asks(result.problem.where) else []
        reason = "the filter asks for NULL, and that there is none rests on this"
    if not open_:
        return result
    declined = Declined("assumption", f"{reason}: {open_[0].text}")
    return replace(result, pushdown=None, declined=(*result.declined, declined))


def _asks(where: Term) -> bool:
    """Whether the filter asks for missing results, as ``m IS NULL`` does. A filter that asks for
    present ones, as ``m > 5`` does, too, is another matter.
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
    retained = tuple(a for a in problem.assumptions if a.code not in codes)
    return replace(problem, assumptions=retained)


_GIVEN = (DECLARED, COMPUTED)
"""The codes of facts that are known to hold."""


def _candidates(
    problem: Problem, optional: Collection[str], budget: float, record: Recorder
) -> Iterator[SearchResult]:
    if is_single(problem):
        yield _single(problem, optional, budget)
        return
    deadline = clock.now() + budget
    smaller = derive(problem, optional, NO_NAN)
    if smaller is None:
        record(Searched(problem))
        yield minimize_assumptions(problem, optional, budget, record)
        return
    record(Searched(smaller.problem, computed=tuple((c.variable, c.sql) for c in smaller.computed)))
    computed = smaller.restore(minimize_assumptions(smaller.problem, optional, budget, record))
    if computed.pushdown is not None and computed.pushdown.strength != "optimal":
        record(Weaker("computed"))
    is_best = rank(computed) == max(_RANK.values()) or _is_best(computed, problem)
    if is_best:
        yield computed
    record(Searched(problem))
    seconds_left = max(deadline - clock.now(), _LEAST)
    plain = minimize_assumptions(problem, optional, seconds_left, record)
    calls = plain.solver_calls + computed.solver_calls
    both = [replace(f, solver_calls=calls) for f in (plain, computed)]
    yield from both[:1] if is_best else both[::-1] if _is_better(computed, plain) else both


def _single(problem: Problem, optional: Collection[str], budget: float) -> SearchResult:
    """Search without the dispensable assumptions; with them only if nothing is found."""
    strict = _without_codes(problem, optional)
    strict_result = search_single(strict, budget)
    if strict == problem or strict_result.pushdown is not None:
        return strict_result
    assuming_result = search_single(problem, budget)
    return strict_result if _is_trivial(assuming_result) else assuming_result


_LEAST = 0.1
"""Seconds for the original columns, if computed ones have used up the budget."""


def _is_best(computed: SearchResult, problem: Problem) -> bool:
    """Whether there is nothing better to find without computed columns."""
    no_more = len(computed.problem.assumptions) <= len(problem.assumptions)
    strength = computed.pushdown.strength if computed.pushdown else "universe"
    return no_more and strength == "optimal"


def _is_better(computed: SearchResult, plain: SearchResult) -> bool:
    """Whether computed columns pay: they give a better kind, or an equally good one with no more
    assumptions while the plain pre-filter is not shown to be optimal.
    """
    if rank(computed) != rank(plain) or plain.pushdown is None:
        return rank(computed) > rank(plain)
    no_more = len(computed.problem.assumptions) <= len(plain.problem.assumptions)
    return no_more and plain.pushdown.strength != "optimal"


def rank(result: SearchResult) -> int:
    """How much of the filter's work goes below: nothing, part of it, or all."""
    return _RANK[result.pushdown.kind] if result.pushdown else 0


def minimize_assumptions(
    problem: Problem, optional: Collection[str], budget: float, record: Recorder = discard
) -> SearchResult:
    """Run :func:`synthesize`, then again without assumptions of the ``optional`` codes.

    First without all of them, then without one after the other.
    """
    deadline = clock.now() + budget
    best = synthesize(problem, budget, record=record)
    loose = [a for a in problem.assumptions if a.code in optional]
    if loose and (best.pushdown is None or _is_trivial(best)):
        bare, seconds_left = _without_codes(problem, optional), max(deadline - clock.now(), _LEAST)
        record(Searched(bare, tuple(loose)))
        bare_result = synthesize(bare, seconds_left, record=record)
        return replace(bare_result, solver_calls=best.solver_calls + bare_result.solver_calls)
    attempts = [loose, *([a] for a in loose)] if len(loose) > 1 else [loose] if loose else []
    for dropped in attempts:
        seconds_left = deadline - clock.now()
        if best.pushdown is None or seconds_left <= 0:
            return best
        better = _without(best, dropped, seconds_left, record)
        if better is not None:
            best = better
            if dropped is loose:
                return best
    return best


def _is_trivial(result: SearchResult) -> bool:
    """Whether all rows stay, or none: an assumption for such a result would answer the question of
    the filter, such as whether a result is NULL.
    """
    if result.pushdown is None:
        return False
    return result.pushdown.kind == "empty" or result.pushdown.prefilter == SQL_TRUE


def _without(
    best: SearchResult, dropped: list[Assumption], budget: float, record: Recorder
) -> SearchResult | None:
    """The same pushdown without these assumptions, or None if it would be weaker."""
    retained = tuple(a for a in best.problem.assumptions if a not in dropped)
    relaxed = replace(best.problem, assumptions=retained)
    record(Searched(relaxed, tuple(dropped)))
    relaxed_result = synthesize(relaxed, budget, best, record)
    assert best.pushdown is not None
    calls = best.solver_calls + relaxed_result.solver_calls
    same = relaxed_result.needs & best.cells <= best.needs
    if relaxed_result.pushdown is None or not same or rank(relaxed_result) < rank(best):
        record(Relaxed(tuple(dropped), "weaker" if same else "rows"))
        return None
    record(Relaxed(tuple(dropped), "taken"))
    return replace(
        relaxed_result, solver_calls=calls, seconds=best.seconds + relaxed_result.seconds
    )
