# SPDX-License-Identifier: Apache-2.0
"""Untrusted. The search, stage by stage: needed cells, candidate, proof, repair, witnesses.

It follows the decoupling theorem (docs/theory.md): the strongest pre-filter keeps exactly the rows
that some table needs. Concrete runs find the needed cells in milliseconds. A cell that they miss
shows up when a proof fails, as a wrong table found by bounded model checking, and the candidate is
weakened by exactly that cell. The search is deterministic: every random choice has a fixed seed.
"""

from __future__ import annotations

from collections.abc import Sequence

from presieve.errors import Declined
from presieve.ir.fold import Mode, Problem, nonempty
from presieve.ir.ops import app, negate, sql_conjunction, sql_conjuncts
from presieve.ir.pushdown import Pushdown
from presieve.ir.terms import SQL_FALSE, SQL_TRUE, Op, Scope, Term
from presieve.ir.walk import variables
from presieve.records import replace
from presieve.synthesis import events
from presieve.synthesis.key_outputs import over_keys
from presieve.synthesis.prefilter.refinement import MOST, Proven, keep_all, refine
from presieve.synthesis.residual.kinds import pushdown_kind
from presieve.synthesis.residual.needed_conjuncts import residual_witnesses
from presieve.synthesis.result import SearchResult
from presieve.synthesis.sampling.concrete_tables import difference
from presieve.synthesis.sampling.space import MAX_CELLS, NO_ROWS, Space
from presieve.synthesis.search import Budget, Search
from presieve.synthesis.tracer import Tracer
from presieve.synthesis.witness.strength import as_witnesses, covering_tables


def synthesize(
    problem: Problem,
    budget: float = 10.0,
    stronger: SearchResult | None = None,
    record: events.Recorder = events.discard,
) -> SearchResult:
    """Find as strong a pre-filter and as weak a residual as can be proved within the budget.

    ``stronger`` is the result for the same problem under more assumptions. Its witnesses hold here,
    too, and the search ends as soon as a row is needed that ``stronger`` drops.
    """
    keys_only, remaining_problem = split(problem)
    space = Space(remaining_problem, chosen=tuple(keys_only))
    search = Search(space, Budget(budget), stronger, Tracer(record))
    if not space.is_inhabited:
        return _build_result(search, problem, None, Declined("premises", NO_ROWS))
    if keys_only:
        record(events.Keys(tuple(keys_only)))
    proven, declined = None, _too_many_regions(search)
    if declined is None:
        proven = _prefilter(search)
        declined = None if proven else _decline_unproved(search)
    if proven is None and keys_only:
        proven = keep_all(search)
    pushdown = _build_pushdown(search, problem, keys_only, proven) if proven else None
    return _build_result(search, problem, pushdown, declined)


# --- the pre-filter, with a residual and an invariant -------------------------------------------


def _too_many_regions(search: Search) -> Declined | None:
    if search.space.size <= MAX_CELLS:
        return None
    search.tracer.record(events.Weaker("regions"))
    many = f"{search.space.size} regions of rows are too many; compare with fewer constants"
    return Declined("space", many)


def _prefilter(search: Search) -> Proven | None:
    """Search by samples of the scaled problem if the filter counts far, then by samples of the
    problem itself, or of one with scaled sums if the filter accepts no table of the problem.
    """
    search.budget.begin(MOST)
    proven = _by_scaling(search)
    if proven is not None:
        return proven
    search.budget.begin(MOST)
    search.explore()
    if not search.finding.accepted:
        proven = _by_scaling(search, sums=True)
    return proven or refine(search)


def _by_scaling(search: Search, *, sums: bool = False) -> Proven | None:
    if not search.scale(sums=sums):
        return None
    search.explore()
    proven = refine(search)
    if proven is None:
        search.unscale()
        return None
    return replace(proven, strength=search.lift(proven.strength))


def _decline_unproved(search: Search) -> Declined | None:
    if search.candidate() == SQL_TRUE:
        return None
    late = search.budget.is_used_up
    why = "time ran out; raise budget=" if late else "no invariant was found"
    return Declined("no-proof", f"a pre-filter is likely correct, but {why}")


# --- what it is, and the tables that show it ----------------------------------------------------


def _build_pushdown(
    search: Search, problem: Problem, keys_only: Sequence[Term], proven: Proven
) -> Pushdown | None:
    """Determine kind and strength, and put the conjuncts over keys back."""
    proof, strength = proven.proof, proven.strength
    prefilter, invariant = put_below(keys_only, proof.prefilter, proof.invariant)
    kind, residual = pushdown_kind(problem, prefilter, proof.residual, search.budget.solver())
    if kind == "none":
        return None
    if not all(search.space.is_chosen(n.key) for n in search.finding.needs.values()):
        search.tracer.record(events.Weaker("keys"))
        strength = "universe"  # a group that the filter rejects by its key is no witness
    if problem.fold.hidden:  # tables with values that may never occur show nothing
        search.tracer.record(events.Weaker("hidden"))
        return Pushdown(kind, "universe", prefilter, residual, invariant)
    pushdown = Pushdown(kind, strength, prefilter, residual, invariant)
    space = search.original.of(problem, tuple(keys_only))
    pushdown = _with_witnesses(search, problem, pushdown)
    conjuncts = residual_witnesses(space, search.evidence, kind, prefilter, residual)
    return replace(pushdown, residual_witnesses=conjuncts)


def _with_witnesses(search: Search, problem: Problem, pushdown: Pushdown) -> Pushdown:
    """Add tables that show the strength of the pushdown: for every kept row if such tables are
    found, else for every region.
    """
    search.budget.begin()
    space, needs = search.original.of(problem), search.finding.needs
    useful = [n for n in needs.values() if difference(space, n.table, n.key, n.index) == "result"]
    solver, effort = search.budget.solver(), search.budget.effort
    covering = covering_tables(space, pushdown.prefilter, useful, solver, effort)
    if covering is not None:
        witnesses = tuple(as_witnesses(search.space, covering))
        return replace(pushdown, strength="optimal", witnesses=witnesses)
    if pushdown.strength != "regions":
        return pushdown
    witnesses = tuple(as_witnesses(search.space, [n for _, n in sorted(needs.items())]))
    return replace(pushdown, witnesses=witnesses)


def _build_result(
    search: Search, problem: Problem, pushdown: Pushdown | None, declined: Declined | None
) -> SearchResult:
    space, budget = search.space, search.budget
    search.tracer.record(events.Ended(problem, pushdown))
    return SearchResult(
        problem,
        pushdown,
        () if declined is None else (declined,),
        budget.calls,
        budget.seconds,
        frozenset(space.cells if space.size <= MAX_CELLS else ()),
        frozenset(search.finding.kept_cells),
        {} if search.scaling else search.finding.needs,
    )


def split(problem: Problem) -> tuple[list[Term], Problem]:
    """Split the filter into the conjuncts over keys alone, and the problem with the other
    conjuncts.

    Without groups there are none: no group can disappear.
    """
    clauses = [over_keys(problem, c) for c in sql_conjuncts(problem.where)]
    keys_only = [c for c in clauses if problem.mode is Mode.GROUPED and _over_keys(c)]
    other_conjuncts = sql_conjunction(c for c in clauses if c not in keys_only)
    return keys_only, replace(problem, where=other_conjuncts)


def _over_keys(clause: Term) -> bool:
    operands = variables(clause)
    return bool(operands) and all(v.scope is Scope.KEY for v in operands)


def put_below(
    keys_only: Sequence[Term], prefilter: Term, invariant: tuple[Term, ...]
) -> tuple[Term, tuple[Term, ...]]:
    """Put the conjuncts over keys back into the pre-filter and the invariant of the others."""
    if not keys_only or prefilter == SQL_FALSE:
        return prefilter, invariant
    chosen = app(Op.SQL_IS_TRUE, sql_conjunction(keys_only))
    dropped = app(Op.IMPLIES, negate(chosen), negate(nonempty(Scope.TWIN)))
    implied = (app(Op.IMPLIES, chosen, t) for t in invariant)
    return sql_conjunction([*keys_only, prefilter]), (dropped, *implied)
