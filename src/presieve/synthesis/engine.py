"""Untrusted. The search, stage by stage: needed cells, candidate, proof, repair.

After the decoupling theorem (docs/theory.md): the strongest pre-filter keeps exactly the rows that
some table needs. Concrete runs find the needed cells in milliseconds; what they miss comes to light
when a proof fails, as a wrong table found by bounded model checking, and the candidate is weakened
by exactly that cell. Deterministic: every random choice has a fixed seed.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from itertools import islice
from random import Random

from presieve.errors import Declined
from presieve.ir.fold import Problem
from presieve.ir.ops import sql_conjunction
from presieve.ir.pushdown import Pushdown, Strength
from presieve.ir.terms import SQL_TRUE, Term
from presieve.semantics.compile import State
from presieve.smt.solver import Effort, Solver
from presieve.smt.z3_solver import Z3Solver
from presieve.synthesis import clock, events
from presieve.synthesis.forms.count_scaling import Lowering, lower
from presieve.synthesis.invariant.candidate import (
    Attempt,
    Evidence,
    Open,
    Proof,
    Wrong,
    attempt,
    refute,
)
from presieve.synthesis.outcome import Outcome
from presieve.synthesis.prefilter.key_conjuncts import put_below, split
from presieve.synthesis.residual.kinds import pushdown_kind
from presieve.synthesis.residual.needed import residual_witnesses
from presieve.synthesis.sampling import walks
from presieve.synthesis.sampling.climb import climbed
from presieve.synthesis.sampling.space import MAX_CELLS, NO_ROWS, Space
from presieve.synthesis.sampling.tables import (
    Finding,
    Need,
    Table,
    accepts_all,
    difference,
    explore,
)
from presieve.synthesis.tracer import Narrator
from presieve.synthesis.witness import bmc
from presieve.synthesis.witness.generalize import blame
from presieve.synthesis.witness.lifting import raised
from presieve.synthesis.witness.strength import shown_for_all, written
from presieve.universe.boxes import cover, excluding, predicate

_ROUNDS = 12
_LENGTHS = range(1, 5)
_SEEDS = range(1, 7)
_RANDOM_WALKS = 75
_SWEEPS = 4
_MOST = 0.6
"""Of the time that is left, what a stage may take that others come after."""
_WALKED = 30
"""Tables to begin with that walks of a lowered problem find."""


class _Search:
    """The search for one problem; holds what its stages share. ``stronger`` is what was found for
    it under more assumptions: see :func:`synthesize`.
    """

    def __init__(
        self,
        problem: Problem,
        chosen: Sequence[Term],
        budget: float,
        stronger: Outcome | None = None,
        tell: events.Tell = events.untold,
    ) -> None:
        self.started = time.perf_counter()
        self.solvers: list[Solver] = []
        self.proved = self.space = Space(problem, chosen=tuple(chosen))
        self.lowering: Lowering | None = None
        self.deadline = self.until = clock.now() + budget
        self.random, self.walking = Random(0), Random(5)
        self.stronger = stronger
        self.finding = Finding()
        self.tell, self.narrator = tell, Narrator(tell)

    def solver(self) -> Solver:
        """A fresh solver, counted."""
        solver = self.solvers[0].fresh() if self.solvers else Z3Solver(quick=True)
        self.solvers.append(solver)
        return solver

    def effort(self) -> Effort:
        """What one call may cost: never more than what is left of the stage's time."""
        return Effort(seconds=clock.guard(self.until - clock.now()))

    @property
    def out_of_time(self) -> bool:
        """Whether the stage's time is used up."""
        return clock.now() > self.until

    def begin(self, part: float) -> None:
        """Begin a stage that may take this part of what is left of the budget."""
        now = clock.now()
        self.until = now + part * (self.deadline - now)

    # --- stages -------------------------------------------------------------------------------

    def run(self) -> tuple[Proof | None, Strength]:
        """All stages: on the lowered problem where the filter counts far, then as it is."""
        self.begin(_MOST)
        if self.lower():
            proof, strength = self._prove_lowered()
            if proof is not None:
                return proof, strength
            self.begin(_MOST)
        self.explore()
        if not self.finding.accepted and self.lower(sums=True):
            proof, strength = self._prove_lowered()
            if proof is not None:
                return proof, strength
        return self.prove()

    def _prove_lowered(self) -> tuple[Proof | None, Strength]:
        """The stages with samples of the lowered problem; without a proof, back to the original."""
        self.explore()
        proof, strength = self.prove()
        if proof is not None:
            return proof, self._raised(strength)
        self.space, self.lowering, self.finding = self.proved, None, Finding()
        self.narrator.lowered(self.proved.problem)
        return None, strength

    def lower(self, *, sums: bool = False) -> bool:
        """Take samples from the lowered problem from now on, if there is one."""
        self.lowering = lower(self.proved.problem, self.proved.classes, sums=sums)
        if self.lowering:
            self.space = Space(self.lowering.problem, chosen=self.proved.chosen)
            self.narrator.lowered(self.lowering.problem)
        return self.lowering is not None

    def _raised(self, strength: Strength) -> Strength:
        """Make witnesses of the original problem of those of the lowered one, as far as it goes."""
        assert self.lowering is not None
        if strength != "regions":
            return strength
        real = raised(self.lowering, self.proved, self.space, self.finding)
        if real is None:
            self.tell(events.Weaker("raised"))
            return "universe"
        self.finding.needs = real
        return strength

    def explore(self) -> None:
        """Accepted tables and needed cells, by running; a first one by the solver or climbing."""
        walked = walks.accepted_tables(self.space, Random(4)) if self.lowering else ()
        seeds = list(islice(walked, _WALKED))
        known = self.stronger.shown if self.stronger and not self.lowering else {}
        self.finding = explore(self.space, self.random, self.until, seeds, known)
        if self.finding.accepted:
            return
        for rows in _SEEDS:
            if self.out_of_time:
                return
            seed = bmc.accepted_table(self.space, rows, self.solver(), self.effort())
            if seed and isinstance(self.space.machine.outcome(*seed), tuple):
                self.finding = explore(self.space, self.random, self.until, [seed], known)
                return
        near = list(climbed(self.space, Random(7)))
        if near:
            self.finding = explore(self.space, self.random, self.until, near, known)

    def evidence(self) -> Evidence:
        """Tables to learn invariants from: accepted ones, their witnesses, random ones, and those
        that are not the same to both runs.
        """
        tables: dict[tuple[Table, State], None] = dict.fromkeys(self.finding.accepted)
        tables |= dict.fromkeys((n.table, n.key) for n in self.finding.kept.values())
        random = Random(2)
        for i in range(_RANDOM_WALKS):
            table = self.space.random_table(random, 1 + i % 7)
            tables.setdefault((table, random.choice(self.space.keys)))
        parted = walks.parted_tables(self.space, random, self.finding.kept)
        tables |= dict.fromkeys(islice(parted, _RANDOM_WALKS))
        space, lowering = self.space, self.lowering
        self.seen = Evidence(
            space, list(tables), self.solver, self.effort, self.proved, lowering, self.tell
        )
        return self.seen

    def candidate(self) -> Term:
        """The strongest pre-filter that nothing seen so far speaks against."""
        return predicate(self.space.partitions, self.finding.kept, self.space.absent)

    def prove(self) -> tuple[Proof | None, Strength]:
        """Candidate after candidate, each weaker by a cell that turned out to be needed."""
        self.narrator.explored(self.space, self.finding)
        for _ in range(_ROUNDS):
            if self.lowering:
                self._sweep()
            if self._is_weaker():
                self.narrator.put_back(self.space, self.finding)
                return None, "universe"
            prefilter = self.candidate()
            if prefilter == SQL_TRUE and not accepts_all(self.space):
                self.narrator.put_back(self.space, self.finding, "nothing")
                return None, "universe"
            self.narrator.proposed(self.space, self.finding, prefilter)
            tried = Attempt(self.evidence(), prefilter)
            result = tried.begin()
            learned = False
            if isinstance(result, Open):
                learned = self._sweep(prefilter) or self._model_check(prefilter)
                result = Open() if learned else tried.go_on()
            match result:
                case Proof() if self.finding.witnessed:
                    return result, "regions"
                case Proof():
                    self.tell(events.Weaker("guards"))
                    return result, "universe"
                case Wrong(table, key):
                    self.narrator.refuted(self.space, prefilter, table, key, "samples")
                    learned = self.learn(table, key)
                    self._sweep()
            if not learned or self.out_of_time:
                break
        why: events.Reason = "time" if self.out_of_time else "resists"
        self.narrator.put_back(self.space, self.finding, why)
        return (None if self.stronger else self._fallback()), "universe"

    def _is_weaker(self) -> bool:
        """Whether a row must stay that could be dropped under more assumptions."""
        if self.stronger is None:
            return False
        return not self.finding.kept.keys() & self.stronger.cells <= self.stronger.needs

    def _sweep(self, refuted: Term | None = None) -> bool:
        """Learn from random walks until they have nothing more to tell. True if they had.

        What is found first speaks against the candidate as it was before, if that is told.
        """
        before = len(self.finding.kept)
        for _ in range(_SWEEPS):
            known = len(self.finding.kept)
            for table, key in walks.wrong_tables(
                self.space, self.walking, lambda: self.finding.kept
            ):
                if self.out_of_time:
                    break
                if refuted is not None:
                    self.narrator.refuted(self.space, refuted, table, key, "walks")
                    refuted = None
                self.learn(table, key)
            if len(self.finding.kept) == known:
                break
        return len(self.finding.kept) > before

    def keep_all(self) -> tuple[Proof | None, Strength]:
        """The proof that every row may be kept, for conjuncts over keys to go below with."""
        self.until = self.deadline
        self.tell(events.Proposed(SQL_TRUE))
        result = attempt(self.evidence(), SQL_TRUE)
        needed = (
            self.space.size <= MAX_CELLS and self.finding.witnessed and self.candidate() == SQL_TRUE
        )
        return (
            result if isinstance(result, Proof) else None,
            "regions" if needed else "universe",
        )

    def learn(self, table: Table, key: State) -> bool:
        """See :func:`blame`."""
        return blame(self.space, self.finding, (table, key), self.random, self.deadline)

    def _model_check(self, prefilter: Term) -> bool:
        where = self.space.problem.where
        for rows in _LENGTHS:
            if self.out_of_time:
                return False
            found = bmc.wrong_table(
                self.space, prefilter, where, rows, self.solver(), self.effort()
            )
            if found and refute(self.space, prefilter, where, [found]):
                self.narrator.refuted(self.space, prefilter, *found, "solver")
                return self.learn(*found)
        return False

    def _fallback(self) -> Proof | None:
        """The candidate resists: exclude single boxes of dropped cells, and join what is proved."""
        self.begin(_MOST)
        evidence, kept = self.evidence(), self.finding.kept
        dropped = [c for c in self.space.cells if c not in kept]
        boxes = cover(self.space.partitions, dropped, kept)
        proofs: list[Proof] = []
        self.tell(events.Boxes(len(boxes)))
        for box in boxes if len(boxes) > 1 else []:
            if self.out_of_time:
                break
            part = excluding(self.space.partitions, box)
            self.tell(events.Proposed(part))
            result = attempt(evidence, part)
            if isinstance(result, Proof):
                proofs.append(result)
        if len(proofs) < 2:
            return proofs[0] if proofs else None
        self.begin(_MOST)
        every = sql_conjunction(p.prefilter for p in proofs)
        self.tell(events.Proposed(every))
        joined = attempt(evidence, every)
        return joined if isinstance(joined, Proof) else proofs[0]

    def shown_for_all(self, problem: Problem, prefilter: Term) -> list[Need] | None:
        """Tables that show that each row which is kept must be, if such are found."""
        self.until = self.deadline
        space = self.proved.of(problem)
        needs = [
            n
            for n in self.finding.needs.values()
            if difference(space, n.table, n.key, n.index) == "result"
        ]
        return shown_for_all(space, prefilter, needs, self.solver(), self.effort)


def synthesize(
    problem: Problem,
    budget: float = 10.0,
    stronger: Outcome | None = None,
    tell: events.Tell = events.untold,
) -> Outcome:
    """As strong a pre-filter and as weak a residual as could be proved within the budget.

    ``stronger`` is what was found for the same problem under more assumptions. Its witnesses hold
    here, too, and the search ends as soon as a row turns out to be needed that is dropped there.
    """
    keys_only, rest = split(problem)
    search = _Search(rest, keys_only, budget, stronger, tell)
    declined: tuple[Declined, ...] = ()
    proof: Proof | None = None
    strength: Strength = "universe"
    if not search.space.is_inhabited:
        return _found(search, problem, None, (Declined("premises", NO_ROWS),))
    if keys_only:
        tell(events.Keys(tuple(keys_only)))
    if search.space.size > MAX_CELLS:
        tell(events.Weaker("regions"))
        many = f"{search.space.size} regions of rows are too many; compare with fewer constants"
        declined = (Declined("space", many),)
    else:
        proof, strength = search.run()
        if proof is None and search.candidate() != SQL_TRUE:
            why = "time ran out; raise budget=" if search.out_of_time else "no invariant was found"
            declined = (Declined("no-proof", f"a pre-filter is likely correct, but {why}"),)
    if proof is None and keys_only:
        proof, strength = search.keep_all()
    pushdown = None
    if proof is not None:
        pushdown = _pushdown(search, problem, keys_only, proof, strength)
    return _found(search, problem, pushdown, declined)


def _found(
    search: _Search,
    problem: Problem,
    pushdown: Pushdown | None,
    declined: tuple[Declined, ...],
) -> Outcome:
    calls = sum(s.calls for s in search.solvers)
    seconds = time.perf_counter() - search.started
    cells = frozenset(search.space.cells if search.space.size <= MAX_CELLS else ())
    needs = frozenset(search.finding.kept)
    shown = {} if search.lowering else search.finding.needs
    search.tell(events.Ended(problem, pushdown))
    return Outcome(problem, pushdown, declined, calls, seconds, cells, needs, shown)


def _pushdown(
    search: _Search, problem: Problem, keys_only: list[Term], proof: Proof, strength: Strength
) -> Pushdown | None:
    """Put the conjuncts over keys back, and say what it is."""
    prefilter, invariant = put_below(keys_only, proof.prefilter, proof.invariant)
    kind, residual = pushdown_kind(problem, prefilter, proof.residual, search.solver())
    if kind == "none":
        return None
    if not all(search.space.is_chosen(n.key) for n in search.finding.needs.values()):
        search.tell(events.Weaker("keys"))
        strength = "universe"  # a witness in a group that the filter rejects by its key is none
    if problem.fold.hidden:  # tables with values that may never occur show nothing
        search.tell(events.Weaker("hidden"))
        return Pushdown(kind, "universe", prefilter, residual, invariant)
    needs = search.shown_for_all(problem, prefilter)
    if needs is not None:
        strength = "optimal"
    elif strength == "regions":
        needs = [n for _, n in sorted(search.finding.needs.items())]
    shown = tuple(written(search.space, needs or []))
    space = search.proved.of(problem, tuple(keys_only))
    conjuncts = residual_witnesses(space, search.seen, kind, prefilter, residual)
    return Pushdown(kind, strength, prefilter, residual, invariant, shown, conjuncts)
