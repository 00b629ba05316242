# SPDX-License-Identifier: Apache-2.0
"""Untrusted. The state of one search: its tables, the rows that they need, and the next candidate.

Samples may be of a scaled problem (``forms/count_scaling.py``); proofs are of the original one.
"""

from __future__ import annotations

import time
from dataclasses import dataclass, field
from itertools import islice
from random import Random

from presieve.ir.pushdown import Strength
from presieve.ir.terms import Term
from presieve.semantics.fast_interpreter import State
from presieve.smt.solver import Effort, Solver
from presieve.smt.z3_solver import Z3Solver
from presieve.synthesis import clock, events
from presieve.synthesis.forms.count_scaling import CountScaling, lift_witnesses, scale_counts
from presieve.synthesis.invariant.candidate import Evidence, Wrong
from presieve.synthesis.result import SearchResult
from presieve.synthesis.sampling import walks
from presieve.synthesis.sampling.concrete_tables import Finding, Table, explore, generalize
from presieve.synthesis.sampling.hill_climbing import climb
from presieve.synthesis.sampling.space import Space
from presieve.synthesis.tracer import Tracer
from presieve.synthesis.witness import bmc
from presieve.universe.boxes import predicate

_SEEDS = range(1, 7)
"""The numbers of rows of a first accepted table that the solver is asked for."""
_RANDOM_WALKS = 75
_SWEEPS = 4
_WALKED = 30
"""The number of initial tables from walks of a scaled problem."""


class Budget:
    """A number of seconds on the search's clock."""

    def __init__(self, seconds: float) -> None:
        self._started = time.perf_counter()
        self._solvers: list[Solver] = []
        self.deadline = self.until = clock.now() + seconds

    def begin(self, part: float = 1.0) -> None:
        """Begin a stage that may take this part of the remaining time."""
        now = clock.now()
        self.until = now + part * (self.deadline - now)

    @property
    def is_used_up(self) -> bool:
        """Whether the time of the stage is used up."""
        return clock.now() > self.until

    def effort(self) -> Effort:
        """The limits of one solver call: never more than the remaining time of the stage."""
        return Effort(seconds=clock.guard(self.until - clock.now()))

    def solver(self) -> Solver:
        """Make a fresh solver and count its calls."""
        solver = self._solvers[0].fresh() if self._solvers else Z3Solver(quick=True)
        self._solvers.append(solver)
        return solver

    @property
    def calls(self) -> int:
        """The number of calls of all solvers so far."""
        return sum(s.calls for s in self._solvers)

    @property
    def seconds(self) -> float:
        """Seconds of wall clock so far."""
        return time.perf_counter() - self._started


@dataclass
class Search:
    """The search of one problem, whose space is ``original``, and the state that its stages share.

    ``stronger`` is the result under more assumptions. ``space`` is the space of the tables.
    """

    original: Space
    budget: Budget
    stronger: SearchResult | None
    tracer: Tracer
    space: Space = field(init=False)
    scaling: CountScaling | None = None
    finding: Finding = field(default_factory=Finding)
    evidence: Evidence = field(init=False)
    _random: Random = field(default_factory=lambda: Random(0))
    _walking: Random = field(default_factory=lambda: Random(5))

    def __post_init__(self) -> None:
        self.space = self.original

    # --- the problem that tables are of -------------------------------------------------------

    def scale(self, *, sums: bool = False) -> bool:
        """Take samples of the scaled problem from now on, if there is one."""
        self.scaling = scale_counts(self.original.problem, self.original.classes, sums=sums)
        if self.scaling:
            self.space = Space(self.scaling.problem, chosen=self.original.chosen)
            self.tracer.counts_scaled(self.scaling.problem)
        return self.scaling is not None

    def unscale(self) -> None:
        """Go back to the original problem, without any findings yet."""
        self.space, self.scaling, self.finding = self.original, None, Finding()
        self.tracer.counts_scaled(self.original.problem)

    def lift(self, strength: Strength) -> Strength:
        """Turn witnesses of the scaled problem into those of the original one, if possible."""
        assert self.scaling is not None
        if strength != "regions":
            return strength
        lifted = lift_witnesses(self.scaling, self.original, self.space, self.finding)
        if lifted is None:
            self.tracer.record(events.Weaker("raised"))
            return "universe"
        self.finding.needs = lifted
        return strength

    # --- tables -------------------------------------------------------------------------------

    def explore(self) -> None:
        """Find accepted tables and needed cells by running; a first table by solver or climbing."""
        walked = walks.accepted_tables(self.space, Random(4)) if self.scaling else ()
        self._explore(list(islice(walked, _WALKED)))
        if self.finding.accepted:
            return
        for rows in _SEEDS:
            if self.budget.is_used_up:
                return
            query = bmc.TableQuery(self.space, rows, self.budget.solver(), self.budget.effort())
            seed = bmc.accepted_table(query)
            if seed and isinstance(self.space.machine.outcome(*seed), tuple):
                self._explore([seed])
                return
        near = list(climb(self.space, Random(7)))
        if near:
            self._explore(near)

    def _explore(self, seeds: list[tuple[Table, State]]) -> None:
        known_witnesses = self.stronger.witnesses if self.stronger and not self.scaling else {}
        self.finding = explore(self.space, self._random, self.budget.until, seeds, known_witnesses)

    def sweep(self, refuted: Term | None = None) -> bool:
        """Learn from random walks until they teach nothing new. True if they taught something.

        The first wrong table is recorded against the candidate ``refuted``, if one is given.
        """
        before = len(self.finding.kept_cells)
        for _ in range(_SWEEPS):
            kept_before_sweep = len(self.finding.kept_cells)
            for table, key in walks.wrong_tables(
                self.space, self._walking, lambda: self.finding.kept_cells
            ):
                if self.budget.is_used_up:
                    break
                wrong = Wrong(table, key)
                if refuted is not None:
                    self.tracer.record_refutation(self.space, refuted, wrong, "walks")
                    refuted = None
                self.learn(wrong)
            if len(self.finding.kept_cells) == kept_before_sweep:
                break
        return len(self.finding.kept_cells) > before

    def learn(self, wrong: Wrong) -> bool:
        """Learn from a wrong table: see :func:`generalize`."""
        group = wrong.table, wrong.key
        return generalize(self.space, self.finding, group, self._random, self.budget.deadline)

    def gather(self) -> Evidence:
        """Collect tables to learn invariants from: accepted ones, their witnesses, random ones, and
        tables on which the two runs differ.
        """
        space = self.space
        tables: dict[tuple[Table, State], None] = dict.fromkeys(self.finding.accepted)
        tables |= dict.fromkeys((n.table, n.key) for n in self.finding.kept_cells.values())
        random = Random(2)
        for i in range(_RANDOM_WALKS):
            table = space.random_table(random, 1 + i % 7)
            tables.setdefault((table, random.choice(space.keys)))
        parted = walks.parted_tables(space, random, self.finding.kept_cells)
        tables |= dict.fromkeys(islice(parted, _RANDOM_WALKS))
        solver, effort = self.budget.solver, self.budget.effort
        self.evidence = Evidence(
            space, list(tables), solver, effort, self.original, self.scaling, self.tracer.record
        )
        return self.evidence

    # --- candidates ---------------------------------------------------------------------------

    def candidate(self) -> Term:
        """The strongest pre-filter that nothing seen so far refutes."""
        return predicate(self.space.partitions, self.finding.kept_cells, self.space.absent_cells)

    def is_weaker(self) -> bool:
        """Whether a row must stay that could be dropped under more assumptions."""
        if self.stronger is None:
            return False
        return not self.finding.kept_cells.keys() & self.stronger.cells <= self.stronger.needs
