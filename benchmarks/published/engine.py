"""Untrusted. The published algorithms as an engine: a problem in, what our own search returns out.

It works on the problem as it is, with all its assumptions. In grouped mode the fold is lifted (the
flags "has a row" are fields like any other), in global mode it is the plain one, as published.
"""

from __future__ import annotations

import time
from dataclasses import dataclass
from random import Random
from typing import TypeVar

from benchmarks.published.conditions import Conditions, Filter, OutOfTimeError, Universes
from benchmarks.published.flow import Flow, trends
from benchmarks.published.outputs import output_atoms
from benchmarks.published.rows import RowAtom, row_atoms
from benchmarks.published.search import Ablation, Search, Solution
from benchmarks.published.states import state_atoms
from presieve.errors import Declined
from presieve.ir.fold import Problem
from presieve.ir.ops import app, sql_disjunction
from presieve.ir.pushdown import Pushdown
from presieve.ir.terms import Op, Term
from presieve.smt.solver import Effort
from presieve.smt.z3_solver import Z3Solver
from presieve.synthesis.residual.kinds import pushdown_kind
from presieve.synthesis.result import SearchResult

_T = TypeVar("_T")


@dataclass(frozen=True, slots=True)
class Options:
    """``enlarge``: by how many percent U_P and U_I grow, by random disjunctions of their atoms.
    ``timeout`` for a problem is in seconds of computing, not of waiting for a shared machine.
    """

    ablation: Ablation = "none"
    enlarge: int = 0
    timeout: float = 60.0


def search(problem: Problem, options: Options) -> SearchResult:
    """The optimal pushdown within the universes, as the published algorithms find it.

    What is declined with code ``timeout`` ran out of time.
    """
    started = time.perf_counter()
    deadline = time.process_time() + options.timeout
    effort = Effort(seconds=options.timeout)
    solvers = [Z3Solver(), Z3Solver()]
    flow = Flow(problem)
    known = trends(problem, solvers[0], effort)
    rows = row_atoms(flow, known, solvers[1], effort)
    universes = Universes(rows, output_atoms(problem), state_atoms(flow, known))
    universes = enlarged(universes, options.enlarge)
    conditions = Conditions(problem, universes, deadline)
    declined: tuple[Declined, ...] = ()
    pushdown: Pushdown | None = None
    try:
        solution = Search(conditions, options.ablation).run()
        if solution is not None:
            pushdown = _pushdown(problem, conditions, solution)
    except OutOfTimeError:
        declined = (Declined("timeout", f"not within {options.timeout} s"),)
    seconds = time.perf_counter() - started
    calls = conditions.calls + sum(s.calls for s in solvers)
    return SearchResult(problem, pushdown, declined, calls, seconds)


def _pushdown(problem: Problem, conditions: Conditions, solution: Solution) -> Pushdown | None:
    prefilter = conditions.prefilter(_tidy(conditions, solution.prefilter))
    residual = conditions.residual(solution.residual)
    kind, residual = pushdown_kind(problem, prefilter, residual, Z3Solver())
    if kind == "none":
        return None
    invariant = conditions.invariant(solution.invariant)
    return Pushdown(kind, "universe", prefilter, residual, invariant)


def _tidy(conditions: Conditions, prefilter: Filter) -> Filter:
    """The same pre-filter without atoms that the others imply, the widest first."""
    rows = conditions.universes.rows
    kept = conditions.least(prefilter)
    for j in sorted(kept, key=lambda j: (-len(rows[j].base), j)):
        if len(kept) > 1 and conditions.needless(kept, j):
            kept -= {j}
    return kept


def enlarged(universes: Universes, percent: int) -> Universes:
    """U_P and U_I with ``percent`` more atoms each: disjunctions of two of theirs, at random but
    the same in every run.
    """
    random = Random(percent)
    rows, states = list(universes.rows), list(universes.states)
    bases = {a.base for a in rows}
    for a, b in _pairs(random, list(universes.rows), percent):
        if a.base | b.base not in bases:
            bases.add(a.base | b.base)
            rows.append(RowAtom(a.base | b.base, sql_disjunction([a.term, b.term])))
    more: dict[Term, None] = {}
    for s, t in _pairs(random, list(universes.states), percent):
        more.setdefault(app(Op.OR, s, t))
    return Universes(rows, universes.outputs, [*states, *more])


def _pairs(random: Random, atoms: list[_T], percent: int) -> list[tuple[_T, _T]]:
    """As many pairs of different atoms as ``percent`` of them."""
    count = -(-len(atoms) * percent // 100) if len(atoms) > 1 else 0
    return [(a, b) for a, b in (random.sample(atoms, 2) for _ in range(count))]
