# SPDX-License-Identifier: Apache-2.0
"""Untrusted. Pushdowns of functions that are evaluated on demand and may raise.

If the filter is weakened, nobody may read the result of such a function, so no row on which it
raises may be kept (``certificate/obligations.py``, *Kept*). Either the pre-filter drops these rows,
or the filter stays as it is.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator

from presieve.ir.fold import Problem, state_vars
from presieve.ir.terms import FALSE, SQL_TRUE, Scope
from presieve.ir.walk import variables
from presieve.records import replace
from presieve.semantics.smart_constructors import ite
from presieve.synthesis.events import Recorder, discard
from presieve.synthesis.forms.single_rows import is_single, search_single
from presieve.synthesis.invariant import minimal_assumptions
from presieve.synthesis.result import SearchResult


def candidates(
    problem: Problem, optional: Collection[str], budget: float, record: Recorder = discard
) -> Iterator[SearchResult]:
    """As :func:`minimal_assumptions.candidates`; then, for the case that rows which raise are kept:
    pre-filters that drop them, then pre-filters below the unchanged filter.
    """
    tried = []
    for candidate in minimal_assumptions.candidates(problem, optional, budget, record):
        tried.append(candidate)
        yield candidate
    if not problem.on_demand:
        return
    if is_single(problem):
        tried = [
            search_single(replace(candidate.problem, on_demand=False), budget)
            for candidate in tried
        ]
    else:
        yield from _without_raising(problem, optional, budget, record)
    for candidate in tried:
        if candidate.pushdown is not None and candidate.pushdown.prefilter != SQL_TRUE:
            yield _with_filter(candidate, problem)


def _without_raising(
    problem: Problem, optional: Collection[str], budget: float, record: Recorder
) -> Iterator[SearchResult]:
    """Candidates for the fold that skips rows on which a step raises whatever came before."""
    fold = problem.fold
    raises = fold.step_raises
    allowed_scopes = (Scope.ROW, Scope.KEY)
    if raises == FALSE or not all(v.scope in allowed_scopes for v in variables(raises)):
        return
    fields = tuple(
        replace(f, step=ite(raises, state, f.step))
        for f, state in zip(fold.fields, state_vars(fold, Scope.ACC), strict=True)
    )
    calm = replace(problem, fold=replace(fold, fields=fields, step_raises=FALSE))
    for candidate in minimal_assumptions.candidates(calm, optional, budget, record):
        pushdown = candidate.pushdown
        if pushdown is not None:
            # Its tables are of another fold.
            pushdown = replace(pushdown, strength="universe", witnesses=(), residual_witnesses=())
        yield replace(candidate, problem=replace(candidate.problem, fold=fold), pushdown=pushdown)


def _with_filter(result: SearchResult, problem: Problem) -> SearchResult:
    """The same pre-filter, with the filter above it."""
    assert result.pushdown is not None
    pushdown = replace(
        result.pushdown, kind="partial", residual=problem.where, residual_witnesses=()
    )
    return replace(result, problem=replace(result.problem, on_demand=True), pushdown=pushdown)
