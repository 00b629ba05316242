"""Untrusted. One incremental solver for one candidate pre-filter: Houdini, Final, the residual.

Clauses are switched by assumptions, so that one script serves the whole search. What is found here
is checked again by the independent checker.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from presieve.ir.terms import Term
from presieve.semantics.scan import may_lose
from presieve.smt.runs import Run, Runs
from presieve.smt.solver import Answer, Effort, Sat, Solver, Unsat
from presieve.smt.text import s_and, s_implies, s_not, s_or
from presieve.synthesis.mining import Clause

STEP, FINAL, RESIDUAL, CRASH, ERASED = "!step", "!final", "!residual", "!crash", "!erased"
LOST = "!lost"
GOALS = (STEP, FINAL, RESIDUAL, CRASH, ERASED)


@dataclass(frozen=True, slots=True)
class Setup:
    """What a prover is built from. ``variants`` are, per clause of the filter, weaker and weaker
    stand-ins for the residual.
    """

    runs: Runs
    prefilter: Term
    leaves: Sequence[Term]
    clauses: Sequence[Clause]
    where: Term
    residual: Term
    variants: Sequence[Sequence[Term]] = ()


class Prover:
    """See the module. ``active`` are the indices of the clauses still believed."""

    def __init__(self, setup: Setup, solver: Solver, effort: Effort) -> None:
        self._setup = setup
        self._solver = solver
        self._effort = effort
        self._thorough = replace(effort, small_core=True)
        self.active = list(range(len(setup.clauses)))
        self._write()

    # --- the script -------------------------------------------------------------------------

    def _write(self) -> None:
        setup, runs = self._setup, self._setup.runs
        encoder = runs.encoder
        s, t, row = runs.arbitrary("s"), runs.arbitrary("t"), runs.row("r")
        lines = encoder.lines
        lines.append(f"(declare-const {LOST} Bool)")  # the scan's choice, where it has one
        lost = s_and([LOST, encoder.boolean(may_lose(setup.prefilter), row)])
        kept = encoder.name(s_and([runs.is_true(setup.prefilter, row), s_not(lost)]))
        after = runs.step(s, row)
        after_twin = runs.either(kept, runs.step(t, row), t)
        before, later = runs.pair(s, t), runs.pair(after, after_twin)
        for i, leaf in enumerate(setup.leaves):
            here, there = encoder.boolean(leaf, before), encoder.boolean(leaf, later)
            lines += [f"(declare-const a{i} Bool)", f"(assert (= a{i} {here}))"]
            lines += [f"(declare-const b{i} Bool)", f"(assert (= b{i} {there}))"]
        broken = []
        for j, clause in enumerate(setup.clauses):
            lines += [f"(declare-const {x}{j} Bool)" for x in ("k", "q", "o")]
            lines.append(f"(assert (=> k{j} {clause_text(clause, 'a')}))")
            lines.append(f"(assert (= q{j} {clause_text(clause, 'b')}))")
            lines.append(f"(assert (=> o{j} (not q{j})))")
            broken.append(f"(and k{j} (not q{j}))")
        calm = s_not(runs.step_raises(s, row))
        crash = s_and([kept, runs.step_raises(t, row)])
        lines += [f"(declare-const {x} Bool)" for x in GOALS]
        for j in range(len(setup.clauses)):
            encoder.fact(s_implies(f"o{j}", calm))
        encoder.fact(s_implies(STEP, s_and([calm, s_or([crash, *broken])])))
        encoder.fact(s_implies(CRASH, s_and([calm, crash])))
        lost = s_and([runs.step_raises(s, row), s_not(crash)])
        ends, ends_twin = (s_and([runs.present(x), runs.finish_raises(x)]) for x in (s, t))
        encoder.fact(s_implies(ERASED, s_or([lost, s_and([ends, s_not(ends_twin)])])))
        self._write_final(s, t)
        self._solver.add(encoder.take())

    def _write_final(self, s: Run, t: Run) -> None:
        setup, runs = self._setup, self._setup.runs
        encoder = runs.encoder
        accepted = encoder.name(runs.passes(s, setup.where))
        matters = encoder.name(runs.matters(s))
        kept = encoder.name(runs.passes(t, setup.residual))
        agrees = encoder.name(runs.result_agrees(s, t, accepted, kept))
        encoder.fact(s_implies(FINAL, s_and([matters, s_not(agrees)])))
        out = runs.outputs(t)
        choices = []
        for i, options in enumerate(setup.variants):
            for j, option in enumerate(options):
                encoder.lines.append(f"(declare-const h{i}.{j} Bool)")
                choices.append(s_implies(f"h{i}.{j}", runs.is_true(option, out)))
        passed = encoder.name(s_and([runs.present(t), *choices]))
        agrees = encoder.name(runs.result_agrees(s, t, accepted, passed))
        encoder.fact(s_implies(RESIDUAL, s_and([matters, s_not(agrees)])))

    # --- questions --------------------------------------------------------------------------

    def _ask(self, goal: Sequence[str], effort: Effort | None = None) -> Answer:
        switches = set(self.active)
        clauses = [
            f"k{j}" if j in switches else f"(not k{j})" for j in range(len(self._setup.clauses))
        ]
        off = [f"(not {g})" for g in GOALS if g not in goal]
        return self._solver.check([*clauses, *off, *goal], effort or self._effort)

    def houdini(self) -> bool:
        """Drop clauses until the rest is inductive. False where that cannot be established, or
        where the twin may raise on a row that the original survives.
        """
        while True:
            answer = self._ask([STEP])
            if isinstance(answer, Unsat):
                return True
            if not isinstance(answer, Sat):
                return self._one_by_one()
            values = self._solver.booleans([f"q{j}" for j in self.active])
            kept = [j for j, good in zip(self.active, values, strict=True) if good]
            if len(kept) == len(self.active):
                return False
            self.active = kept

    def _one_by_one(self) -> bool:
        """The joint question was too hard: ask for each clause alone, and drop what stays open."""
        small = Effort(self._effort.work // 10, self._effort.seconds / 10)
        while True:
            bad = {j for j in self.active if not isinstance(self._ask([f"o{j}"], small), Unsat)}
            if not bad:
                return isinstance(self._ask([CRASH]), Unsat)
            self.active = [j for j in self.active if j not in bad]

    def final(self) -> bool:
        """With the residual of the setup, both pipelines agree at the end of every group."""
        return self.holds([FINAL])

    def choosing(self, chosen: Sequence[int | None]) -> list[str]:
        """The goal of agreeing with chosen variants as residual (None: the clause is dropped)."""
        switches = [
            f"h{i}.{j}" if chosen[i] == j else f"(not h{i}.{j})"
            for i, options in enumerate(self._setup.variants)
            for j in range(len(options))
        ]
        return [RESIDUAL, *switches]

    def holds(self, goal: Sequence[str]) -> bool:
        """Whether the goal is proved."""
        return isinstance(self._ask(goal), Unsat)

    def minimised(self, goal: Sequence[str]) -> list[int]:
        """Clauses that suffice: those in the core of a proved goal, and what their steps rest on.

        Where all clauses together show that no error is erased, those that it takes stay too.
        """
        waiting = self._core(self._ask(goal, self._thorough))
        waiting |= self._core(self._ask([CRASH], self._thorough))
        erased = self._ask([ERASED], self._thorough)
        if isinstance(erased, Unsat):
            waiting |= self._core(erased)
        needed: set[int] = set()
        while waiting:
            needed |= waiting
            found = [self._core(self._ask([f"o{j}"], self._thorough)) for j in sorted(waiting)]
            waiting = {j for core in found for j in core} - needed
        return sorted(needed)

    def _core(self, answer: Answer) -> set[int]:
        if not isinstance(answer, Unsat):
            return set(self.active)
        return {int(a[1:]) for a in answer.core if a.startswith("k")}


def _literal(literal: int, prefix: str) -> str:
    name = f"{prefix}{literal // 2}"
    return f"(not {name})" if literal % 2 else name


def clause_text(clause: Clause, prefix: str) -> str:
    """A clause over leaves whose truth values have names: this prefix and the leaf's number."""
    right = _literal(clause.right, prefix)
    return right if clause.left < 0 else f"(=> {_literal(clause.left, prefix)} {right})"
