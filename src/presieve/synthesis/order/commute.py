# SPDX-License-Identifier: Apache-2.0
"""Untrusted. Proofs that the order of rows does not matter to the result of a pipeline.

They use a relation E between two runs over the same rows in different orders, such that for all
rows and states

    Init   E(init, init)
    Step   E(s, t)  ->  both raise on r, or none does and E(step(s, r), step(t, r))
    Swap   E(s, s)  ->  a and then b raise if and only if b and then a do, and otherwise
                        E(step(step(s, a), b), step(step(s, b), a))
    Final  E(s, t)  ->  both raise, or none does and both yield the same

By Init and Step every reachable state is related to itself. By Swap and Step exchanging two
neighbours anywhere gives related states. Such exchanges lead to any order.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import pairwise
from random import Random

from msgspec import Struct

from presieve.ir.fold import Fold, Problem
from presieve.ir.terms import Scope, Term
from presieve.ir.walk import variables
from presieve.records import replace
from presieve.semantics.fast_interpreter import State
from presieve.smt.encodings import same_encoding
from presieve.smt.smtlib import FALSE, TRUE, s_and, s_not, s_or, s_xor
from presieve.smt.solver import Effort, Sat, Solver, Unsat
from presieve.smt.two_runs import EncEnv, Run, Runs
from presieve.synthesis.invariant.mining import Clause, Pair, background_pairs, masks, mine
from presieve.synthesis.invariant.prover import clause_text
from presieve.synthesis.order.permute import swap_neighbours
from presieve.synthesis.sampling.concrete_tables import Table
from presieve.synthesis.sampling.space import Space
from presieve.universe.leaves import leaves as all_leaves

MAX_CLAUSES = 2500
"""Larger sets of candidate clauses are not given to the solver at once."""


def only_live(problem: Problem) -> Problem:
    """The problem without the fields that neither an output nor an error depends on."""
    fold = problem.fold
    roots: list[Term] = [o.term for o in fold.outputs]
    live = with_dependencies(fold, _fields([*roots, fold.step_raises, fold.finish_raises]))
    smaller: Fold = replace(fold, fields=tuple(f for f in fold.fields if f.name in live))
    return replace(problem, fold=smaller)


def with_dependencies(fold: Fold, names: Iterable[str]) -> frozenset[str]:
    """These fields, and the fields that their steps depend on."""
    steps = {f.name: f.step for f in fold.fields}
    waiting = list(names)
    closure: set[str] = set()
    while waiting:
        name = waiting.pop()
        if name not in closure:
            closure.add(name)
            waiting += _fields([steps[name]])
    return frozenset(closure)


def _fields(terms: Iterable[Term]) -> Iterator[str]:
    return (v.name for v in variables(*terms) if v.scope is Scope.ACC)


def steps_commute(problem: Problem, solver: Solver, effort: Effort) -> bool:
    """Whether Swap is proved for every state with equality as E; Init, Step and Final then hold,
    too. ``problem`` has live fields only.
    """
    runs = Runs(problem, [])
    swap = _swap(runs, runs.arbitrary("s"))
    fields = [(Scope.ACC, f.name) for f in problem.fold.fields]
    equal = s_and(same_encoding(swap.run.env[f], swap.twin.env[f]) for f in fields)
    runs.encoder.fact(s_or([swap.clash, s_and([swap.calm, s_not(equal)])]))
    solver.add(runs.encoder.take())
    return isinstance(solver.check([], effort), Unsat)


class _After(Struct, frozen=True):
    """Two runs after a condition's rows: whether exactly one of them raised, whether none did, and
    their states if none did.
    """

    clash: str
    calm: str
    run: Run
    twin: Run


def _both(first: tuple[str, Run], second: tuple[str, Run]) -> _After:
    (a, run), (b, twin) = first, second
    return _After(s_xor(a, b), s_and([s_not(a), s_not(b)]), run, twin)


def _swap(runs: Runs, s: Run) -> _After:
    a, b = runs.row("a"), runs.row("b")
    return _both(runs.through(s, [a, b]), runs.through(s, [b, a]))


# --- a relation found by Houdini ----------------------------------------------------------------


class Relation:
    """The strongest relation of some clauses that Init, Step and Swap allow; and its Final."""

    def __init__(
        self,
        space: Space,
        tables: Sequence[tuple[Table, State]],
        solver: Callable[[], Solver],
        effort: Effort,
    ) -> None:
        self._space, self._solver, self._effort = space, solver, effort
        self._leaves = all_leaves(space.problem, space.classes)
        pairs = _walk_pairs(space, tables)
        self._seen, self._total = masks(space, self._leaves, pairs), len(pairs)
        self._free = masks(space, self._leaves, background_pairs(space, Random(1)))

    def proves(self) -> bool:
        """Whether a relation with all four conditions was found."""
        for reduced in (True, False):
            clauses = mine(self._seen, self._free, self._total, reduced=reduced)
            if len(clauses) <= MAX_CLAUSES and self._prove(clauses):
                return True
        return False

    def _prove(self, clauses: Sequence[Clause]) -> bool:
        active = list(range(len(clauses)))
        keeping = [self._init(clauses), self._step(clauses), self._swap(clauses)]
        quiet = 0
        while quiet < len(keeping):
            solver = keeping[0]
            answer = self._ask(solver, clauses, active)
            if isinstance(answer, Unsat):
                quiet += 1
                keeping = [*keeping[1:], solver]
                continue
            if not isinstance(answer, Sat):
                return False
            values = solver.booleans([f"q{j}" for j in active])
            unbroken = [j for j, good in zip(active, values, strict=True) if good]
            if len(unbroken) == len(active):
                return False  # one order raises where the other does not
            active, quiet = unbroken, 0
        return isinstance(self._ask(self._final(clauses), clauses, active), Unsat)

    def _ask(self, solver: Solver, clauses: Sequence[Clause], active: Sequence[int]) -> object:
        on = set(active)
        switches = [f"k{j}" if j in on else f"(not k{j})" for j in range(len(clauses))]
        return solver.check(switches, self._effort)

    # --- the conditions -----------------------------------------------------------------------

    def _runs(self) -> Runs:
        return Runs(self._space.problem, self._leaves)

    def _init(self, clauses: Sequence[Clause]) -> Solver:
        runs = self._runs()
        start = runs.initial()
        return self._condition(runs, clauses, None, _After(FALSE, TRUE, start, start))

    def _step(self, clauses: Sequence[Clause]) -> Solver:
        runs = self._runs()
        s, t, row = runs.arbitrary("s"), runs.arbitrary("t"), runs.row("r")
        after = _both(runs.through(s, [row]), runs.through(t, [row]))
        return self._condition(runs, clauses, runs.pair(s, t), after)

    def _swap(self, clauses: Sequence[Clause]) -> Solver:
        runs = self._runs()
        s = runs.arbitrary("s")
        return self._condition(runs, clauses, runs.pair(s, s), _swap(runs, s))

    def _condition(
        self, runs: Runs, clauses: Sequence[Clause], before: EncEnv | None, after: _After
    ) -> Solver:
        lines = runs.encoder.lines
        if before is not None:
            self._leaves_of(runs, before, "a")
        self._leaves_of(runs, runs.pair(after.run, after.twin), "b")
        broken = []
        for j, clause in enumerate(clauses):
            lines += [f"(declare-const {x}{j} Bool)" for x in ("k", "q")]
            if before is not None:
                lines.append(f"(assert (=> k{j} {clause_text(clause, 'a')}))")
            lines.append(f"(assert (= q{j} {clause_text(clause, 'b')}))")
            broken.append(f"(and k{j} (not q{j}))")
        runs.encoder.fact(s_or([after.clash, s_and([after.calm, s_or(broken)])]))
        return self._solver_with(runs)

    def _final(self, clauses: Sequence[Clause]) -> Solver:
        runs = self._runs()
        s, t = runs.arbitrary("s"), runs.arbitrary("t")
        self._leaves_of(runs, runs.pair(s, t), "a")
        for j, clause in enumerate(clauses):
            runs.encoder.lines.append(f"(declare-const k{j} Bool)")
            runs.encoder.lines.append(f"(assert (=> k{j} {clause_text(clause, 'a')}))")
        runs.encoder.fact(runs.yields_differ((FALSE, s), (FALSE, t)))
        return self._solver_with(runs)

    def _leaves_of(self, runs: Runs, env: EncEnv, prefix: str) -> None:
        for i, leaf in enumerate(self._leaves):
            text = runs.encoder.boolean(leaf, env)
            runs.encoder.lines.append(f"(declare-const {prefix}{i} Bool)")
            runs.encoder.lines.append(f"(assert (= {prefix}{i} {text}))")

    def _solver_with(self, runs: Runs) -> Solver:
        solver = self._solver()
        solver.add(runs.encoder.take())
        return solver


def _walk_pairs(space: Space, tables: Iterable[tuple[Table, State]]) -> list[Pair]:
    """Pairs of states after equal rows: of tables, and of tables with neighbours exchanged."""
    pairs: dict[Pair, None] = {}
    for table, key in tables:
        own = _states(space, table, key)
        for state in own:
            if state is not None:
                pairs.setdefault((state, state, key))
        for i, _ in enumerate(pairwise(table)):
            exchanged = _states(space, swap_neighbours(table, i), key)
            for s, t in zip(own[i + 2 :], exchanged[i + 2 :], strict=True):
                if s is not None and t is not None:
                    pairs.setdefault((s, t, key))
    return list(pairs)


def _states(space: Space, table: Table, key: State) -> list[State | None]:
    """The states that a table leads through, each with its flag; None after a step has raised."""
    machine = space.machine
    state: State | None = machine.start(key)
    assert state is not None
    states: list[State | None] = [(*state, False)]
    for row in table:
        state = None if state is None else machine.step(state, row, key)
        states.append(None if state is None else (*state, True))
    return states
