"""Untrusted. The four conditions as one script, and the questions that the algorithms ask of it.

Atoms are switched by assumptions, so that each step of an algorithm is one call of one solver. What
the solver cannot decide counts as not proved.
"""

from __future__ import annotations

import time
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from typing import Literal

from benchmarks.published.outputs import OutputAtom
from benchmarks.published.rows import RowAtom
from presieve.errors import PresieveError
from presieve.ir.fold import Problem
from presieve.ir.ops import sql_conjunction
from presieve.ir.terms import FALSE, Scope, Term
from presieve.semantics.scan import may_lose
from presieve.smt.encodings import same_encoding
from presieve.smt.smtlib import s_and, s_eq, s_not, s_or
from presieve.smt.solver import Answer, Effort, Sat, Solver, Unsat
from presieve.smt.two_runs import Run, Runs
from presieve.smt.z3_solver import Z3Solver

Side = Literal["sync", "stutter"]
SIDES: tuple[Side, ...] = ("sync", "stutter")
Filter = frozenset[int]
"""A pre-filter: the numbers of its atoms."""


_WALL = 4.0
"""The solver's last guard is wall clock, of which more passes where the machine is shared."""


class OutOfTimeError(PresieveError):
    """The search has used up its time."""


@dataclass(frozen=True, slots=True)
class Row:
    """A row that a condition fails on: the atoms of U_P that are true of it."""

    side: Side
    true: Filter


@dataclass(frozen=True, slots=True)
class Ending:
    """A pair of states that Final fails on."""

    accepted: bool
    passes: bool
    false: tuple[int, ...]
    """The atoms of U_R that the twin's output does not satisfy."""


@dataclass(frozen=True, slots=True)
class Universes:
    """U_P, U_R and U_I."""

    rows: Sequence[RowAtom]
    outputs: Sequence[OutputAtom]
    states: Sequence[Term]


class Conditions:
    """See the module. ``deadline`` is in seconds that this process has computed; once it has
    passed, :class:`OutOfTimeError` is raised.
    """

    def __init__(self, problem: Problem, universes: Universes, deadline: float) -> None:
        self.problem = problem
        self.universes = universes
        self.deadline = deadline
        self._solver: Solver = Z3Solver()
        self._first: Solver = Z3Solver()
        terms = [
            *(a.term for a in universes.rows),
            *(a.term for a in universes.outputs),
            *universes.states,
        ]
        self._runs = Runs(problem, terms)
        self._switches = 0
        self._write()
        self._write_init(Runs(problem, terms))

    @property
    def calls(self) -> int:
        """Solver calls so far."""
        return self._solver.calls + self._first.calls

    # --- the script -------------------------------------------------------------------------

    def _write(self) -> None:
        runs, encoder = self._runs, self._runs.encoder
        s, t, self._row = runs.arbitrary("s"), runs.arbitrary("t"), runs.row("r")
        after, after_twin = runs.step(s, self._row), runs.step(t, self._row)
        pairs = {
            "a": runs.pair(s, t),
            "y": runs.pair(after, after_twin),
            "z": runs.pair(after, t),
        }
        for i, atom in enumerate(self.universes.states):
            for prefix, env in pairs.items():
                text = encoder.boolean(atom, env)
                self._switch(f"{prefix}{i}", text if prefix == "a" else s_not(text))
                if prefix == "a":
                    self._switch(f"x{i}", s_not(text))
        for j, row_atom in enumerate(self.universes.rows):
            self._define(f"p{j}", runs.is_true(row_atom.term, self._row))
        self._switch("!calm", s_not(runs.step_raises(s, self._row)))
        self._switch("!crash", runs.step_raises(t, self._row))
        self._write_final(s, t)
        self._solver.add(encoder.take())

    def _write_final(self, s: Run, t: Run) -> None:
        runs, encoder = self._runs, self._runs.encoder
        where, out, out_twin = self.problem.where, runs.outputs(s), runs.outputs(t)
        accepted, passes = runs.passes(s, where), runs.passes(t, where)
        self._define("!accepted", accepted)
        self._define("!there", runs.has_result(t))
        self._define("!raises", s_and([runs.has_result(t), runs.finish_raises(t)]))
        equal = (
            same_encoding(out[Scope.OUT, o.name], out_twin[Scope.OUT, o.name])
            for o in self.problem.fold.outputs
        )
        self._define("!equal", s_and(equal))
        for k, atom in enumerate(self.universes.outputs):
            self._define(f"g{k}", runs.is_true(atom.term, out_twin))
        matters = encoder.name(runs.matters(s))
        agrees = encoder.name(runs.result_agrees(s, t, accepted, passes))
        self._switch("!matters", matters)
        self._switch("!final", s_or([s_not(matters), agrees]))
        self._switch("!differs", s_and([matters, s_not(agrees)]))

    def _write_init(self, runs: Runs) -> None:
        start = runs.initial()
        env = runs.pair(start, start)
        for i, atom in enumerate(self.universes.states):
            runs.encoder.lines.append(f"(declare-const x{i} Bool)")
            runs.encoder.fact(f"(=> x{i} {s_not(runs.encoder.boolean(atom, env))})")
        self._first.add(runs.encoder.take())

    def _define(self, name: str, text: str) -> None:
        """A name that is true just where the text is."""
        self._runs.encoder.lines.append(f"(declare-const {name} Bool)")
        self._runs.encoder.fact(s_eq(name, text))

    def _switch(self, name: str, text: str) -> None:
        """A name that makes the text true."""
        self._runs.encoder.lines.append(f"(declare-const {name} Bool)")
        self._runs.encoder.fact(f"(=> {name} {text})")

    def _fresh(self, text: str) -> str:
        self._switches += 1
        name = f"!w{self._switches}"
        self._switch(name, text)
        self._solver.add(self._runs.encoder.take())
        return name

    # --- asking -----------------------------------------------------------------------------

    def _ask(self, assumptions: Iterable[str], solver: Solver | None = None) -> Answer:
        left = self.deadline - time.process_time()
        if left <= 0:
            raise OutOfTimeError("out of time")
        effort = Effort(seconds=left * _WALL)
        return (solver or self._solver).check(list(assumptions), effort)

    def _failing_row(self, side: Side, answer: Answer) -> Row | None:
        """The row of a model; None where the solver has none to show."""
        if not isinstance(answer, Sat):
            return None
        names = range(len(self.universes.rows))
        values = self._solver.booleans([f"p{j}" for j in names])
        return Row(side, frozenset(j for j in names if values[j]))

    # --- the conditions ---------------------------------------------------------------------

    def holds_at_init(self, atom: int) -> bool:
        """Init, for one atom."""
        return isinstance(self._ask([f"x{atom}"], self._first), Unsat)

    def follows_from_final(self, atom: int) -> bool:
        """Final with the filter as residual implies the atom."""
        return isinstance(self._ask(["!final", f"x{atom}"]), Unsat)

    def implies_final(self, invariant: Iterable[int]) -> bool:
        """These atoms imply Final with the filter as residual."""
        return isinstance(self._ask([*_all("a", invariant), "!differs"]), Unsat)

    def guard(self, side: Side, prefilter: Filter) -> list[str]:
        """Assumptions: the row is one that the pre-filter keeps, or one that it drops (or that a
        file scan may lose).
        """
        kept = [f"p{j}" for j in sorted(prefilter)]
        if side == "sync":
            return kept
        lost = self._runs.encoder.boolean(may_lose(self.prefilter(prefilter)), self._row)
        return [self._fresh(s_or([*(s_not(p) for p in kept), lost]))]

    def preserves(
        self, invariant: Collection[int], side: Side, guard: Sequence[str], atom: int
    ) -> Row | bool | None:
        """One atom after a step from a pair in the invariant: True where it is proved, the row
        where it fails, None where the solver does not know.
        """
        goal = f"{'y' if side == 'sync' else 'z'}{atom}"
        answer = self._ask([*_all("a", invariant), *guard, "!calm", goal])
        return isinstance(answer, Unsat) or self._failing_row(side, answer)

    def breaks(
        self, invariant: Collection[int], side: Side, guard: Sequence[str], atoms: Iterable[int]
    ) -> Row | bool:
        """Whether a step can break one of these atoms; the row where it does."""
        prefix = "y" if side == "sync" else "z"
        goal = self._fresh(s_or(f"{prefix}{i}" for i in atoms))
        answer = self._ask([*_all("a", invariant), *guard, "!calm", goal])
        return self._failing_row(side, answer) or False

    def crashes(self, invariant: Collection[int], guard: Sequence[str]) -> bool:
        """The twin may raise on a row that the original survives (the paper has no errors)."""
        if self.problem.fold.step_raises == FALSE:
            return False
        answer = self._ask([*_all("a", invariant), *guard, "!calm", "!crash"])
        return not isinstance(answer, Unsat)

    def ending(self, invariant: Collection[int], residual: Collection[int]) -> Ending | bool | None:
        """Final for a residual: True where it is proved, a pair of states where it fails, None
        where the solver does not know.
        """
        passes = s_and(["!there", *(f"g{k}" for k in sorted(residual))])
        lost = s_and(["!accepted", s_not(s_and([passes, "!equal"]))])
        gained = s_and([s_not("!accepted"), passes])
        goal = self._fresh(s_or(["!raises", lost, gained]))
        answer = self._ask([*_all("a", invariant), "!matters", goal])
        if not isinstance(answer, Sat):
            return True if isinstance(answer, Unsat) else None
        indices = range(len(self.universes.outputs))
        accepted, there, *values = self._solver.booleans(
            ["!accepted", "!there", *(f"g{k}" for k in indices)]
        )
        passed = there and all(values[k] for k in residual)
        return Ending(accepted, passed, tuple(k for k in indices if not values[k]))

    # --- terms ------------------------------------------------------------------------------

    def prefilter(self, atoms: Iterable[int]) -> Term:
        """The conjunction of atoms of U_P, without those that another one implies by being part."""
        return sql_conjunction(self.universes.rows[j].term for j in sorted(self.least(atoms)))

    def needless(self, prefilter: Filter, atom: int) -> bool:
        """The other atoms of a pre-filter imply this one."""
        others = [f"p{j}" for j in sorted(prefilter - {atom})]
        return isinstance(self._ask([*others, f"(not p{atom})"]), Unsat)

    def least(self, atoms: Iterable[int]) -> Filter:
        """The atoms that no other one is part of."""
        rows, chosen = self.universes.rows, list(atoms)
        return frozenset(j for j in chosen if not any(rows[k].base < rows[j].base for k in chosen))

    def residual(self, atoms: Iterable[int]) -> Term:
        """The conjunction of atoms of U_R."""
        return sql_conjunction(self.universes.outputs[k].term for k in sorted(atoms))

    def invariant(self, atoms: Iterable[int]) -> tuple[Term, ...]:
        """The atoms of U_I."""
        return tuple(self.universes.states[i] for i in sorted(atoms))


def _all(prefix: str, atoms: Iterable[int]) -> list[str]:
    return [f"{prefix}{i}" for i in sorted(atoms)]
