# SPDX-License-Identifier: Apache-2.0
"""Untrusted. One incremental solver for one candidate pre-filter: Houdini, Final, the residual.

Clauses are switched by assumptions, so one script serves the whole search. The independent checker
checks the results again.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from msgspec import Struct

from presieve.ir.terms import Op, Term
from presieve.semantics.scan import may_lose
from presieve.smt.smtlib import s_and, s_implies, s_not, s_or
from presieve.smt.solver import Answer, Effort, Sat, Solver, Unknown, Unsat
from presieve.smt.two_runs import EncEnv, Run, Runs
from presieve.synthesis import clock
from presieve.synthesis.events import Obligation, Recorder, Round, discard
from presieve.synthesis.invariant.mining import Clause, clause_term
from presieve.synthesis.residual.weakening import Choice, FilterPart, every

STEP, FINAL, RESIDUAL, CRASH, ERASED = "!step", "!final", "!residual", "!crash", "!erased"
LOST, KEPT, CALM = "!lost", "!kept", "!calm"
GOALS = (STEP, FINAL, RESIDUAL, CRASH, ERASED, CALM)


class Setup(Struct, frozen=True):
    """The input of a prover. ``parts`` are those of the filter with their stand-ins, if the
    residual is to be chosen.
    """

    runs: Runs
    prefilter: Term
    leaves: Sequence[Term]
    clauses: Sequence[Clause]
    where: Term
    residual: Term
    parts: FilterPart | None = None


class Prover:
    """See the module. ``active`` are the indices of the clauses still believed. ``reached`` are the
    pairs of states that made Houdini give clauses up: for each, which leaves are true of it.
    """

    def __init__(
        self, setup: Setup, solver: Solver, effort: Callable[[], Effort], record: Recorder = discard
    ) -> None:
        self._setup = setup
        self._solver = solver
        self._effort = effort
        self._record = record
        self.active = list(range(len(setup.clauses)))
        self.reached: list[Sequence[bool]] = []
        self._facts: set[int] = set()
        self._goals = 0
        self._write()

    # --- the script -------------------------------------------------------------------------

    def _write(self) -> None:
        setup, runs = self._setup, self._setup.runs
        encoder = runs.encoder
        s, t, row = runs.arbitrary("s"), runs.arbitrary("t"), runs.row("r")
        lines = encoder.lines
        lines.append(f"(declare-const {LOST} Bool)")  # the scan's choice, where it has one
        lost = s_and([LOST, encoder.boolean(may_lose(setup.prefilter), row)])
        row_passes = s_and([runs.is_true(setup.prefilter, row), s_not(lost)])
        lines += [f"(declare-const {KEPT} Bool)", f"(assert (= {KEPT} {row_passes}))"]
        row_passes = KEPT
        after = runs.step(s, row)
        after_twin = runs.either(row_passes, runs.step(t, row), t)
        before, later = runs.pair(s, t), runs.pair(after, after_twin)
        for i, leaf in enumerate(setup.leaves):
            truth_before, truth_later = encoder.boolean(leaf, before), encoder.boolean(leaf, later)
            lines += [f"(declare-const a{i} Bool)", f"(assert (= a{i} {truth_before}))"]
            lines += [f"(declare-const b{i} Bool)", f"(assert (= b{i} {truth_later}))"]
        broken = []
        for j, clause in enumerate(setup.clauses):
            lines += [f"(declare-const {x}{j} Bool)" for x in ("k", "q")]
            lines.append(f"(assert (=> k{j} {clause_text(clause, 'a')}))")
            lines.append(f"(assert (= q{j} {clause_text(clause, 'b')}))")
            broken.append(f"(and k{j} (not q{j}))")
        calm = s_not(runs.step_raises(s, row))
        crash = s_and([row_passes, runs.step_raises(t, row)])
        lines += [f"(declare-const {x} Bool)" for x in GOALS]
        encoder.fact(s_implies(CALM, calm))
        encoder.fact(s_implies(STEP, s_and([calm, s_or([crash, *broken])])))
        encoder.fact(s_implies(CRASH, s_and([calm, crash])))
        lost = s_and([runs.step_raises(s, row), s_not(crash)])
        ends, ends_twin = (s_and([runs.has_result(x), runs.finish_raises(x)]) for x in (s, t))
        encoder.fact(s_implies(ERASED, s_or([lost, s_and([ends, s_not(ends_twin)])])))
        self._write_final(s, t)
        self._solver.add(encoder.take())

    def _write_final(self, s: Run, t: Run) -> None:
        setup, runs = self._setup, self._setup.runs
        encoder = runs.encoder
        accepted = encoder.name(runs.passes(s, setup.where))
        matters = encoder.name(runs.matters(s))
        accepted_twin = encoder.name(runs.passes(t, setup.residual))
        agrees = encoder.name(runs.result_agrees(s, t, accepted, accepted_twin))
        encoder.fact(s_implies(FINAL, s_and([matters, s_not(agrees)])))
        if setup.parts is None:
            return
        chosen = self._write_part(setup.parts, runs.outputs(t))
        passed = encoder.name(s_and([runs.has_result(t), chosen]))
        agrees = encoder.name(runs.result_agrees(s, t, accepted, passed))
        encoder.fact(s_implies(RESIDUAL, s_and([matters, s_not(agrees)])))

    def _write_part(self, part: FilterPart, out: EncEnv) -> str:
        """Encode that the choice for a part of the filter is true, with a switch per choice."""
        runs = self._setup.runs
        encoder = runs.encoder
        switches = [f"h{part.number}.{j}" for j in range(part.itself + 1)]
        encoder.lines += [f"(declare-const {switch} Bool)" for switch in switches]
        choices = [runs.is_true(option, out) for option in part.standins]
        if part.op is None:
            choices.append(runs.is_true(part.term, out))
        else:
            join = s_and if part.op is Op.SQL_AND else s_or
            choices.append(join([self._write_part(below, out) for below in part.parts]))
        meant = zip(switches, choices, strict=True)
        return encoder.name(s_and(s_implies(switch, choice) for switch, choice in meant))

    # --- questions --------------------------------------------------------------------------

    def _ask(self, goal: Sequence[str], part: int = 1, *, small_core: bool = False) -> Answer:
        """Make one call, which may use one ``part``-th of the remaining effort."""
        remaining = self._effort()
        if remaining.seconds <= 0:
            return Unknown("out of time")
        effort = Effort(remaining.work // part, remaining.seconds / part, small_core)
        believed = [f"k{j}" for j in self.active]
        off = [f"(not {g})" for g in GOALS if g not in goal]
        return self._solver.check([*believed, *off, *goal], effort)

    def _breaks(self, clause: int) -> Answer:
        """Whether a row on which nothing raises can break this clause; one of many questions."""
        return self._ask([f"(not q{clause})", CALM], 10)

    def _believe(self, active: list[int]) -> None:
        """Give up all other clauses, for good."""
        given_up = set(self.active).difference(active)
        self._solver.add("\n".join(f"(assert (not k{j}))" for j in sorted(given_up)))
        self.active = active

    def houdini(self) -> bool:
        """Drop clauses until the remaining ones are inductive. False if that cannot be established,
        or if the twin may raise on a row that the original survives.
        """
        while True:
            answer = self._ask([STEP])
            if isinstance(answer, Unsat):
                return True
            if not isinstance(answer, Sat):
                return self._one_by_one()
            values = self._solver.booleans([f"q{j}" for j in self.active])
            unbroken = [j for j, good in zip(self.active, values, strict=True) if good]
            if len(unbroken) == len(self.active):
                return False
            leaves = range(len(self._setup.leaves))
            self.reached.append(self._solver.booleans([f"b{i}" for i in leaves]))
            if self._record is not discard:
                with clock.free():
                    passes = self._solver.booleans([KEPT])[0]
                    self._record_round(unbroken, "sync" if passes else "stutter")
            self._believe(unbroken)

    def _one_by_one(self) -> bool:
        """Ask for each clause alone, the joint question being too hard; drop clauses left open."""
        while True:
            bad = {j for j in self.active if not isinstance(self._breaks(j), Unsat)}
            if not bad:
                return isinstance(self._ask([CRASH]), Unsat)
            unbroken = [j for j in self.active if j not in bad]
            if self._record is not discard:
                self._record_round(unbroken, "alone")
            self._believe(unbroken)

    def _record_round(self, surviving: Sequence[int], by: Obligation) -> None:
        survivors = set(surviving)
        killed = self.terms([j for j in self.active if j not in survivors])
        self._record(Round(len(self.active), killed, by))

    def terms(self, clauses: Sequence[int]) -> tuple[Term, ...]:
        """Clauses as terms."""
        setup = self._setup
        return tuple(clause_term(setup.leaves, setup.clauses[j]) for j in clauses)

    def final(self) -> bool:
        """Whether both pipelines agree at the end of every group, with the setup's residual."""
        return self.holds([FINAL])

    def choosing(self, chosen: Choice) -> list[str]:
        """The goal that both pipelines agree, with this choice as residual."""
        assert self._setup.parts is not None
        switches = [
            f"h{p.number}.{j}" if chosen[p.number] == j else f"(not h{p.number}.{j})"
            for p in every(self._setup.parts)
            for j in range(p.itself + 1)
        ]
        return [RESIDUAL, *switches]

    def holds(self, goal: Sequence[str]) -> bool:
        """Whether the goal is proved."""
        return isinstance(self._ask(goal), Unsat)

    def minimise(self, goal: Sequence[str]) -> list[int]:
        """Clauses that suffice: those in the core of a proved goal, and those that their steps rest
        on.

        If all clauses together show that no error is erased, the clauses for that stay too.
        """
        needed: set[int] = set()
        waiting = self._find_further_clauses([*goal], needed)
        waiting |= self._find_further_clauses([CRASH], needed | waiting)
        waiting |= self._find_further_clauses([ERASED], needed | waiting, optional=True)
        while waiting:
            needed |= waiting
            waiting = self._find_further_clauses([self._any_breaks(sorted(waiting)), CALM], needed)
        return sorted(needed)

    def _any_breaks(self, clauses: Sequence[int]) -> str:
        """Declare a switch for the goal that one of these clauses breaks."""
        self._goals += 1
        name = f"!breaks{self._goals}"
        broken = s_or(f"(not q{j})" for j in clauses)
        self._solver.add(f"(declare-const {name} Bool)\n(assert (=> {name} {broken}))")
        return name

    def _find_further_clauses(
        self, goal: Sequence[str], needed: set[int], *, optional: bool = False
    ) -> set[int]:
        """The clauses that a proved goal rests on besides the needed ones, which become facts.
        Empty for an ``optional`` goal that is not proved.
        """
        self._solver.add("\n".join(f"(assert k{j})" for j in sorted(needed - self._facts)))
        self._facts |= needed
        answer = self._ask(goal, small_core=True)
        if isinstance(answer, Unsat):
            return {int(a[1:]) for a in answer.core if a.startswith("k")} - needed
        return set() if optional else set(self.active) - needed


def _literal(literal: int, prefix: str) -> str:
    name = f"{prefix}{literal // 2}"
    return f"(not {name})" if literal % 2 else name


def clause_text(clause: Clause, prefix: str) -> str:
    """A clause over leaves whose truth values have names: this prefix and the leaf's number."""
    right = _literal(clause.right, prefix)
    return right if clause.left < 0 else f"(=> {_literal(clause.left, prefix)} {right})"
