"""Untrusted. A pushdown that somebody wrote by hand: an invariant for it, or a table against it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from random import Random
from typing import TypeAlias

from presieve.ir.fold import Problem
from presieve.ir.terms import Term
from presieve.semantics.compile import State
from presieve.smt.solver import Effort
from presieve.smt.z3_solver import Z3Solver
from presieve.synthesis import clock
from presieve.synthesis.forms import zeros
from presieve.synthesis.forms.count_scaling import Lowering, lower
from presieve.synthesis.forms.singles import Single, is_single
from presieve.synthesis.invariant.candidate import (
    Evidence,
    Wrong,
    accepts,
    differs,
    keeps,
    provers,
    refute,
)
from presieve.synthesis.invariant.mining import walk_pairs
from presieve.synthesis.invariant.prover import FINAL
from presieve.synthesis.sampling import walks
from presieve.synthesis.sampling.climb import climbed
from presieve.synthesis.sampling.space import MAX_CELLS, NO_ROWS, Space
from presieve.synthesis.sampling.tables import Finding, Need, Table, explore
from presieve.synthesis.witness import bmc
from presieve.synthesis.witness.minimal_tables import fewest, plainer

NOT_REAL = (
    "it is wrong for some results that a function which is declared pure might give, "
    "but no table was found on which its own results tell"
)
"""Said where no table is a real one."""

_LENGTHS = range(1, 6)
_RANDOM_TABLES = 1500
_AROUND = 25


@dataclass(frozen=True, slots=True)
class Counterexample:
    """A group on which original and pushdown differ when they are run."""

    table: Table
    key: State


@dataclass(frozen=True, slots=True)
class Invariant:
    """An invariant that should prove the pushdown."""

    clauses: tuple[Term, ...]


@dataclass(frozen=True, slots=True)
class Undecided:
    """Neither was found."""

    reason: str


Real: TypeAlias = Callable[[Table, State], Table | None]
"""From rows and key to the same rows with the results that pure functions really give."""


def judge(
    problem: Problem, prefilter: Term, residual: Term, budget: float, real: Real | None = None
) -> Counterexample | Invariant | Undecided:
    """Try to refute by running, then to prove, then to refute by bounded model checking.

    Where the problem has hidden columns, what is refuted is refuted by a ``real`` table.
    """
    found = _judge(zeros.settled(problem), prefilter, residual, budget, real)
    if zeros.has_open(problem):
        found = _of_open_signs(problem, prefilter, residual, found)
    if real is None or not problem.fold.hidden or not isinstance(found, Counterexample):
        return found
    space = Space(problem, (prefilter, residual))
    rows = real(found.table, found.key)
    if rows is not None and refute(space, prefilter, residual, [(rows, found.key)]):
        return Counterexample(rows, found.key)
    return Undecided(NOT_REAL)


def _of_open_signs(
    problem: Problem,
    prefilter: Term,
    residual: Term,
    found: Counterexample | Invariant | Undecided,
) -> Counterexample | Invariant | Undecided:
    """What was found with zeros as they come, said of the problem where their signs are open."""
    match found:
        case Invariant(clauses):
            return Invariant((*clauses, *zeros.closed_signs(problem)))
        case Counterexample(table, key):
            space = Space(problem, (prefilter, residual))
            real = refute(space, prefilter, residual, [(table, key)])
            return found if real else Undecided("the signs of two zeros tell, which are open")
    return found


def _judge(
    problem: Problem, prefilter: Term, residual: Term, budget: float, real: Real | None
) -> Counterexample | Invariant | Undecided:
    deadline = clock.now() + budget
    space = Space(problem, (prefilter, residual))
    if not space.is_inhabited:
        return Undecided(NO_ROWS)

    def effort() -> Effort:
        return Effort(seconds=clock.guard(max(0.05, deadline - clock.now())))

    large = space.size > MAX_CELLS
    tables = list(_tables_of_solver(space, effort) if large else _tables(space, deadline))
    if real is not None and problem.fold.hidden:
        occur = ((real(rows, key), key) for rows, key in tables)
        wrong = refute(space, prefilter, residual, [(t, k) for t, k in occur if t is not None])
        if wrong is not None:
            return _without_rows(space, prefilter, residual, wrong)
    wrong = refute(space, prefilter, residual, tables)
    if wrong is not None:
        return _shrunk(space, prefilter, residual, wrong)

    if is_single(problem):
        single = Single(problem, deadline - clock.now())
        if single.keeps(prefilter) and single.suffices(prefilter, residual):
            return Invariant(single.invariant(prefilter))

    lowering = lower(problem, space.classes, sums=True)
    near = _near(space, lowering, residual)
    if lowering:
        few = list(_tables_of_solver(near, effort) if large else _tables(near, deadline))
        evidence = Evidence(near, few, Z3Solver, effort, space, lowering)
        clauses = _prove(evidence, prefilter, residual)
        if clauses is not None:
            return Invariant(clauses)
    clauses = _prove(Evidence(space, tables, Z3Solver, effort, space), prefilter, residual)
    if clauses is not None:
        return Invariant(clauses)
    wrong = None if large else _walked(space, near, lowering, prefilter, residual)
    if wrong is not None:
        return _shrunk(space, prefilter, residual, wrong)
    for rows in _LENGTHS:
        found = bmc.wrong_table(space, prefilter, residual, rows, Z3Solver(), effort())
        wrong = refute(space, prefilter, residual, [found]) if found else None
        if wrong is not None:
            return _shrunk(space, prefilter, residual, wrong)
    return Undecided("no invariant was found, and no table on which the two differ")


def _near(space: Space, lowering: Lowering | None, residual: Term) -> Space:
    """The space of the lowered problem, where the filter counts far."""
    if lowering is None:
        return space
    prefilter, *_ = space.extra
    return Space(lowering.problem, (prefilter, lowering.term(residual)))


def _walked(
    space: Space, near: Space, lowering: Lowering | None, prefilter: Term, residual: Term
) -> Wrong | None:
    """A wrong table that random walks lead to, of the lowered problem first where there is one."""
    rest = lowering.term(residual) if lowering else residual
    differ = differs(near, prefilter, rest)
    kept, pushed = keeps(near, prefilter), replace(near.machine, accepts=accepts(near, rest))
    for table, key in walks.refuting_tables(near, Random(6), kept, pushed):
        if lowering is None:
            return Wrong(table, key)

        def still(few: Table, key: State = key) -> bool:
            return differ(few, key)

        few = fewest(table, still)
        longer = [(n.table, n.key) for n in lowering.longer(space, near, Need(few, key, 0))]
        wrong = refute(space, prefilter, residual, longer)
        if wrong is not None:
            return wrong
    return None


def _tables(space: Space, deadline: float) -> dict[tuple[Table, State], None]:
    """Tables to run: accepted ones, those with one row more or less, and random ones."""
    random = Random(0)
    finding: Finding = explore(space, random, deadline)
    near = [] if finding.accepted else list(climbed(space, random))
    if near:
        finding = explore(space, random, deadline, near)
    found: dict[tuple[Table, State], None] = dict.fromkeys(finding.accepted)
    for table, key in finding.accepted[:_AROUND]:
        for i in range(min(len(table), 8)):
            found.setdefault((table[:i] + table[i + 1 :], key))
        for cell in space.cells_of(key)[:200]:
            for row in space.rows_in(cell, random, 2)[-1:]:
                at = random.randrange(len(table) + 1)
                found.setdefault(((*table[:at], row, *table[at:]), key))
    return found | _random_tables(space, random)


def _random_tables(space: Space, random: Random) -> dict[tuple[Table, State], None]:
    sizes = (i % 7 for i in range(_RANDOM_TABLES))
    return {(space.random_table(random, n), random.choice(space.keys)): None for n in sizes}


def _tables_of_solver(
    space: Space, effort: Callable[[], Effort]
) -> dict[tuple[Table, State], None]:
    """The same where the regions of rows are too many to go through: what the solver finds the
    filter to accept, with one value of a row changed, and random ones.
    """
    random = Random(0)
    found: dict[tuple[Table, State], None] = {}
    for rows in _LENGTHS:
        seed = bmc.accepted_table(space, rows, Z3Solver(), effort())
        if seed is None:
            continue
        table, key = seed
        found.setdefault(seed)
        for i, row in enumerate(table):
            found.setdefault(((*table[:i], *table[i + 1 :]), key))
            for j, column in enumerate(space.rows):
                for value in (r.samples[0] for r in column.regions if r.possible):
                    changed = (*row[:j], value, *row[j + 1 :])
                    found.setdefault(((*table[:i], changed, *table[i + 1 :]), key))
                    found.setdefault(((*table, changed), key))
    return found | _random_tables(space, random)


def _prove(evidence: Evidence, prefilter: Term, residual: Term) -> tuple[Term, ...] | None:
    space = evidence.space
    pairs = walk_pairs(space, keeps(space, prefilter), evidence.tables)
    prover = next(filter(None, provers(evidence, prefilter, pairs, residual)), None)
    return prover.terms(prover.minimised([FINAL])) if prover else None


def _shrunk(space: Space, prefilter: Term, residual: Term, wrong: Wrong) -> Counterexample:
    """The table with every row left out that it does not take, the plainest key and the plainest
    values that do.
    """
    differ = differs(space, prefilter, residual)
    key = next((k for k in space.keys if differ(wrong.table, k)), wrong.key)
    few = fewest(wrong.table, lambda table: differ(table, key))
    if space.problem.fold.hidden:  # what a function gives for another value is not known here
        return Counterexample(few, key)

    fold = space.problem.fold

    def still(table: Table, key: State) -> bool:
        return all(space.is_lawful(row, key) for row in table) and differ(table, key)

    (key,) = plainer(fold.keys, (key,), lambda keys: still(few, keys[0])) if fold.keys else (key,)
    return Counterexample(plainer(fold.columns, few, lambda table: still(table, key)), key)


def _without_rows(space: Space, prefilter: Term, residual: Term, wrong: Wrong) -> Counterexample:
    """The table with every row left out that it does not take, and no value changed."""
    differ = differs(space, prefilter, residual)
    return Counterexample(fewest(wrong.table, lambda table: differ(table, wrong.key)), wrong.key)
