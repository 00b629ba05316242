# SPDX-License-Identifier: Apache-2.0
"""Untrusted. A pushdown written by hand: finds an invariant for it, or a table against it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from random import Random
from typing import TypeAlias

from msgspec import Struct

from presieve.ir.fold import Problem
from presieve.ir.terms import Term
from presieve.records import replace
from presieve.semantics.fast_interpreter import State
from presieve.smt.solver import Effort
from presieve.smt.z3_solver import Z3Solver
from presieve.synthesis import clock
from presieve.synthesis.forms import signed_zeros
from presieve.synthesis.forms.count_scaling import CountScaling, scale_counts
from presieve.synthesis.forms.single_rows import Single, is_single
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
from presieve.synthesis.sampling.concrete_tables import Finding, NeededRow, Table, explore
from presieve.synthesis.sampling.hill_climbing import climb
from presieve.synthesis.sampling.space import MAX_CELLS, NO_ROWS, Space
from presieve.synthesis.witness import bmc
from presieve.synthesis.witness.minimal_tables import minimize_rows, simplify_values

NOT_REPRODUCED = (
    "it is wrong for some results that a function which is declared pure might give, "
    "but no table was found on which its own results tell"
)
"""The reason if no table could be reproduced."""

_LENGTHS = range(1, 6)
_RANDOM_TABLES = 1500
_AROUND = 25


class Invariant(Struct, frozen=True):
    """An invariant that should prove the pushdown."""

    clauses: tuple[Term, ...]


class Undecided(Struct, frozen=True):
    """Neither a proof nor a table was found."""

    reason: str


Judgement: TypeAlias = Wrong | Invariant | Undecided

PureResults: TypeAlias = Callable[[Table, State], Table | None]
"""Maps rows and key to the same rows with the results that pure functions really give."""


def judge(
    problem: Problem,
    prefilter: Term,
    residual: Term,
    budget: float,
    pure_results: PureResults | None = None,
) -> Judgement:
    """Try to refute by running, then to prove, then to refute by bounded model checking.

    If the problem has hidden columns, a refutation needs a table from ``pure_results``.
    """
    deadline = clock.now() + budget
    closed = Space(signed_zeros.settle_zeros(problem), (prefilter, residual))
    judgement = _Claim(closed, prefilter, residual, deadline, pure_results).decide()
    space = Space(problem, (prefilter, residual))
    if signed_zeros.has_open(problem):
        match judgement:
            case Invariant(clauses):
                judgement = Invariant((*clauses, *signed_zeros.closed_signs(problem)))
            case Wrong(table, key) if not refute(space, prefilter, residual, [(table, key)]):
                judgement = Undecided("the signs of two zeros tell, which are open")
    if pure_results is None or not problem.fold.hidden or not isinstance(judgement, Wrong):
        return judgement
    rows = pure_results(judgement.table, judgement.key)
    wrong = refute(space, prefilter, residual, [(rows, judgement.key)] if rows is not None else [])
    return wrong or Undecided(NOT_REPRODUCED)


@dataclass(frozen=True)
class _Claim:
    """A pushdown to judge. ``space`` has both predicates in its ``extra`` ones."""

    space: Space
    prefilter: Term
    residual: Term
    deadline: float
    pure_results: PureResults | None

    def decide(self) -> Judgement:
        """The answer of the first stage that finds a proof or a table."""
        if not self.space.is_inhabited:
            return Undecided(NO_ROWS)
        stages = (self._by_running, self._of_single_rows, self._scaled_proof, self._proof)
        for stage in (*stages, self._by_walking, self._by_model_checking):
            if (judgement := stage()) is not None:
                return judgement
        return Undecided("no invariant was found, and no table on which the two differ")

    def _effort(self) -> Effort:
        return Effort(seconds=clock.guard(max(0.05, self.deadline - clock.now())))

    @property
    def _is_large(self) -> bool:
        return self.space.size > MAX_CELLS

    def _tables_of(self, space: Space) -> list[tuple[Table, State]]:
        if self._is_large:
            return list(_tables_of_solver(space, self._effort))
        return list(_tables(space, self.deadline))

    @cached_property
    def _tables(self) -> list[tuple[Table, State]]:
        return self._tables_of(self.space)

    @cached_property
    def _scaling(self) -> CountScaling | None:
        return scale_counts(self.space.problem, self.space.classes, sums=True)

    @cached_property
    def _scaled_space(self) -> Space:
        """The space of the scaled problem, if the filter counts far."""
        if self._scaling is None:
            return self.space
        return Space(self._scaling.problem, (self.prefilter, self._scaling.term(self.residual)))

    def _refute(self, tables: Sequence[tuple[Table, State]]) -> Wrong | None:
        return refute(self.space, self.prefilter, self.residual, tables)

    # --- stages -------------------------------------------------------------------------------

    def _by_running(self) -> Wrong | None:
        if self.pure_results is not None and self.space.problem.fold.hidden:
            occur = ((self.pure_results(rows, key), key) for rows, key in self._tables)
            wrong = self._refute([(t, k) for t, k in occur if t is not None])
            if wrong is not None:
                return replace(wrong, table=_fewest_rows(self._differ, wrong.table, wrong.key))
        return self._small(self._refute(self._tables))

    def _of_single_rows(self) -> Invariant | None:
        if is_single(self.space.problem):
            single = Single(self.space.problem, self.deadline - clock.now())
            if single.keeps(self.prefilter) and single.suffices(self.prefilter, self.residual):
                return Invariant(single.invariant(self.prefilter))
        return None

    def _scaled_proof(self) -> Invariant | None:
        if self._scaling is None:
            return None
        tables = self._tables_of(self._scaled_space)
        evidence = Evidence(
            self._scaled_space, tables, Z3Solver, self._effort, self.space, self._scaling
        )
        return self._prove(evidence)

    def _proof(self) -> Invariant | None:
        evidence = Evidence(self.space, self._tables, Z3Solver, self._effort, self.space)
        return self._prove(evidence)

    def _prove(self, evidence: Evidence) -> Invariant | None:
        space, prefilter = evidence.space, self.prefilter
        pairs = walk_pairs(space, keeps(space, prefilter), evidence.tables)
        attempts = provers(evidence, prefilter, pairs, self.residual)
        prover = next(filter(None, attempts), None)
        return Invariant(prover.terms(prover.minimise([FINAL]))) if prover else None

    def _by_walking(self) -> Wrong | None:
        """Refute by random walks, of the scaled problem first if there is one."""
        if self._is_large:
            return None
        space, scaling, prefilter = self._scaled_space, self._scaling, self.prefilter
        residual = scaling.term(self.residual) if scaling else self.residual
        differ = differs(space, prefilter, residual)
        pushed = replace(space.machine, accepts=accepts(space, residual))
        keeps_row = keeps(space, prefilter)
        for table, key in walks.refuting_tables(space, Random(6), keeps_row, pushed):
            if scaling is None:
                return self._small(Wrong(table, key))
            few = _fewest_rows(differ, table, key)
            longer = scaling.repetitions(self.space, space, NeededRow(few, key, 0))
            wrong = self._refute([(n.table, n.key) for n in longer])
            if wrong is not None:
                return self._small(wrong)
        return None

    def _by_model_checking(self) -> Wrong | None:
        for rows in _LENGTHS:
            query = bmc.TableQuery(self.space, rows, Z3Solver(), self._effort())
            suspect = bmc.wrong_table(query, self.prefilter, self.residual)
            wrong = self._refute([suspect] if suspect else [])
            if wrong is not None:
                return self._small(wrong)
        return None

    # --- small tables -------------------------------------------------------------------------

    @cached_property
    def _differ(self) -> Callable[[Table, State], bool]:
        return differs(self.space, self.prefilter, self.residual)

    def _small(self, wrong: Wrong | None) -> Wrong | None:
        """The same refutation with as few rows, as simple a key and as simple values as
        possible.
        """
        if wrong is None:
            return None
        space, fold = self.space, self.space.problem.fold
        differ = self._differ
        key = next((k for k in space.keys if differ(wrong.table, k)), wrong.key)
        few = _fewest_rows(differ, wrong.table, key)
        if fold.hidden:  # the function's result for another value is not known here
            return Wrong(few, key)

        def still(table: Table, key: State) -> bool:
            return all(space.is_admissible(row, key) for row in table) and differ(table, key)

        if fold.keys:
            (key,) = simplify_values(fold.keys, (key,), lambda keys: still(few, keys[0]))
        return Wrong(simplify_values(fold.columns, few, lambda table: still(table, key)), key)


def _fewest_rows(differ: Callable[[Table, State], bool], table: Table, key: State) -> Table:
    """Leave out every row that is not necessary for the difference."""
    return minimize_rows(table, lambda rows: differ(rows, key))


def _tables(space: Space, deadline: float) -> dict[tuple[Table, State], None]:
    """Tables to run: accepted ones, those with one row more or less, and random ones."""
    random = Random(0)
    finding: Finding = explore(space, random, deadline)
    near = [] if finding.accepted else list(climb(space, random))
    if near:
        finding = explore(space, random, deadline, near)
    tables: dict[tuple[Table, State], None] = dict.fromkeys(finding.accepted)
    for table, key in finding.accepted[:_AROUND]:
        for i in range(min(len(table), 8)):
            tables.setdefault((table[:i] + table[i + 1 :], key))
        for cell in space.cells_of(key)[:200]:
            for row in space.rows_in(cell, random, 2)[-1:]:
                at = random.randrange(len(table) + 1)
                tables.setdefault(((*table[:at], row, *table[at:]), key))
    return tables | _random_tables(space, random)


def _random_tables(space: Space, random: Random) -> dict[tuple[Table, State], None]:
    sizes = (i % 7 for i in range(_RANDOM_TABLES))
    return {(space.random_table(random, n), random.choice(space.keys)): None for n in sizes}


def _tables_of_solver(
    space: Space, effort: Callable[[], Effort]
) -> dict[tuple[Table, State], None]:
    """Tables to run if the regions of rows are too many to enumerate: tables that the filter
    accepts by the solver, with one value of a row changed, and random ones.
    """
    random = Random(0)
    tables: dict[tuple[Table, State], None] = {}
    for rows in _LENGTHS:
        seed = bmc.accepted_table(bmc.TableQuery(space, rows, Z3Solver(), effort()))
        if seed is None:
            continue
        table, key = seed
        tables.setdefault(seed)
        for i, row in enumerate(table):
            tables.setdefault(((*table[:i], *table[i + 1 :]), key))
            for j, column in enumerate(space.rows):
                for value in (r.samples[0] for r in column.regions if r.possible):
                    changed = (*row[:j], value, *row[j + 1 :])
                    tables.setdefault(((*table[:i], changed, *table[i + 1 :]), key))
                    tables.setdefault(((*table, changed), key))
    return tables | _random_tables(space, random)
