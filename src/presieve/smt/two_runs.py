# SPDX-License-Identifier: Apache-2.0
"""Trusted. The two runs of a problem as solver terms: original and pre-filtered, side by side.

Both the checker and the search build the obligations of a pushdown from these pieces. They are
those of the lifted fold: the state carries a flag "has a row".
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from msgspec import Struct

from presieve.ir.fold import Column, Fold, Mode, Problem
from presieve.ir.ops import app
from presieve.ir.sorts import BOOL
from presieve.ir.terms import NONEMPTY, Op, Scope, Term
from presieve.ir.walk import variables
from presieve.semantics.types import stored_bounds
from presieve.smt.encode import Encoder
from presieve.smt.encodings import Enc, OptionEnc, choose, same_encoding
from presieve.smt.smtlib import TRUE, s_and, s_int, s_not, s_or, s_xor
from presieve.smt.solver import Effort, Solver, Unsat

EncEnv = dict[tuple[Scope, str], Enc]


class Run(Struct, frozen=True):
    """One run at one moment: its accumulator (with the flag), as an environment for ACC terms."""

    env: EncEnv

    @property
    def nonempty(self) -> str:
        """The flag "has a row"."""
        flag = self.env[Scope.ACC, NONEMPTY]
        assert isinstance(flag, str)
        return flag


def all_terms(problem: Problem, extra: Iterable[Term]) -> list[Term]:
    """All terms of a problem that will be encoded, with extra predicates and invariants."""
    fold = problem.fold
    return [
        problem.where,
        fold.step_raises,
        fold.finish_raises,
        *(t for f in fold.fields for t in (f.init, f.step)),
        *(o.term for o in fold.outputs),
        *(a.term for a in problem.assumptions),
        *extra,
    ]


class Runs:
    """The vocabulary of one problem in one encoder: keys are declared once, the rest as needed."""

    def __init__(self, problem: Problem, extra: Iterable[Term]) -> None:
        self.problem = problem
        self.encoder = Encoder(all_terms(problem, extra))
        self.keys: EncEnv = {}
        self._met: dict[tuple[int, int], tuple[Run, EncEnv, EncEnv]] = {}
        for i, column in enumerate(problem.fold.keys):
            self.keys[Scope.KEY, column.name] = self._column(f"key.{i}", column)
        for assumption in problem.assumptions if problem.mode is Mode.GROUPED else ():
            # A group has a row, and its key is one that the assumptions allow.
            if all(v.scope is Scope.KEY for v in variables(assumption.term)):
                self.encoder.fact(self.encoder.boolean(assumption.term, self.keys))

    @property
    def fold(self) -> Fold:
        """The fold of the problem."""
        return self.problem.fold

    def _column(self, prefix: str, column: Column) -> Enc:
        """Declare a column's value: any value that a column of its Spark type may hold."""
        value = self.encoder.declare(prefix, column.sort)
        limits = stored_bounds(column.type)
        if limits is not None:
            low, high = limits
            inner = value.value if isinstance(value, OptionEnc) else value
            inside = f"(and (<= {s_int(low)} {inner}) (<= {inner} {s_int(high)}))"
            self.encoder.fact(inside)
        return value

    # --- states and rows ------------------------------------------------------------------

    def initial(self) -> Run:
        """The run before any row."""
        env: EncEnv = dict(self.keys)
        for f in self.fold.fields:
            env[Scope.ACC, f.name] = self.encoder.term(f.init, self.keys)
        env[Scope.ACC, NONEMPTY] = "false"
        return Run(env)

    def arbitrary(self, prefix: str) -> Run:
        """Declare any state of a run, reachable or not."""
        env: EncEnv = dict(self.keys)
        for i, f in enumerate(self.fold.fields):
            env[Scope.ACC, f.name] = self.encoder.declare(f"{prefix}.{i}", f.sort)
        env[Scope.ACC, NONEMPTY] = self.encoder.declare(f"{prefix}.n", BOOL)
        return Run(env)

    def row(self, prefix: str) -> EncEnv:
        """Declare any row that the columns' types and the assumptions allow."""
        env: EncEnv = dict(self.keys)
        for i, column in enumerate(self.fold.columns):
            value = self._column(f"{prefix}.{i}", column)
            env[Scope.ROW, column.name] = value
        for assumption in self.problem.assumptions:
            self.encoder.fact(self.encoder.boolean(assumption.term, env))
        return env

    def step(self, run: Run, row: EncEnv) -> Run:
        """The run after one more row (meaningful where :meth:`step_raises` is false)."""
        step_env = self.here(run, row)
        env: EncEnv = dict(self.keys)
        for f in self.fold.fields:
            env[Scope.ACC, f.name] = self.encoder.term(f.step, step_env)
        env[Scope.ACC, NONEMPTY] = TRUE
        return Run(env)

    def through(self, run: Run, rows: Iterable[EncEnv]) -> tuple[str, Run]:
        """Whether Python raises on one of these rows, and the run after them if it does not."""
        raised = []
        for row in rows:
            raised.append(self.step_raises(run, row))
            run = self.step(run, row)
        return self.encoder.name(s_or(raised)), run

    def step_raises(self, run: Run, row: EncEnv) -> str:
        """State that Python raises on this row."""
        return self.encoder.boolean(self.fold.step_raises, self.here(run, row))

    def here(self, run: Run, row: EncEnv) -> EncEnv:
        """The environment of a run and the row that it comes to. The same pair gives the same
        object, so that facts about it are written once.
        """
        pair = id(run), id(row)
        if pair not in self._met:
            self._met[pair] = (run, row, {**row, **run.env})
        return self._met[pair][2]

    def finish_raises(self, run: Run) -> str:
        """State that Python raises when the group ends."""
        return self.encoder.boolean(self.fold.finish_raises, run.env)

    def outputs(self, run: Run) -> EncEnv:
        """The output columns of a run, as an environment for filters."""
        env: EncEnv = dict(self.keys)
        for o in self.fold.outputs:
            env[Scope.OUT, o.name] = self.encoder.term(o.term, run.env)
        return env

    def any_outputs(self, prefix: str) -> EncEnv:
        """Any values of the output columns' types, whether or not a run gives them."""
        env: EncEnv = dict(self.keys)
        for i, o in enumerate(self.fold.outputs):
            column = Column(o.name, o.sort, o.type)
            env[Scope.OUT, o.name] = self._column(f"{prefix}.{i}", column)
        return env

    # --- predicates -----------------------------------------------------------------------

    def is_true(self, predicate: Term, env: EncEnv) -> str:
        """State that a filter keeps the row: NULL does not count as true."""
        return self.encoder.boolean(app(Op.SQL_IS_TRUE, predicate), env)

    def pair(self, run: Run, twin: Run) -> EncEnv:
        """The environment of terms that relate the original run (ACC) and its twin (TWIN)."""
        twin_env = {(Scope.TWIN, n): v for (s, n), v in twin.env.items() if s is Scope.ACC}
        return {**run.env, **twin_env}

    def has_result(self, run: Run) -> str:
        """State that the run has a result at all: under GROUP BY only if it has a row."""
        return run.nonempty if self.problem.mode is Mode.GROUPED else TRUE

    def result_agrees(self, run: Run, twin: Run, accepted: str, accepted_twin: str) -> str:
        """The obligation at the end of a group (*Final*), given that :meth:`matters`.

        ``accepted``: the filter keeps the original's output; ``accepted_twin``: the residual keeps
        the twin's (which must have one: :meth:`passes`).
        """
        out, out_twin = self.outputs(run), self.outputs(twin)
        equal = [
            same_encoding(out[Scope.OUT, o.name], out_twin[Scope.OUT, o.name])
            for o in self.fold.outputs
        ]
        raises = s_and([self.has_result(twin), self.finish_raises(twin)])
        both = s_and([accepted, accepted_twin, *equal])
        neither = s_and([s_not(accepted), s_not(accepted_twin)])
        return s_and([s_not(raises), s_or([both, neither])])

    def yields_differ(self, first: tuple[str, Run], second: tuple[str, Run]) -> str:
        """State that two runs (each with whether it has raised) of the same pipeline end
        differently: they neither both raise, nor are both rejected, nor are both accepted with
        equal outputs.
        """
        where = self.problem.where
        (a, run), (b, twin) = first, second
        a, b = (
            self.encoder.name(s_or([x, s_and([self.has_result(r), self.finish_raises(r)])]))
            for x, r in ((a, run), (b, twin))
        )
        accepted, accepted_twin = self.passes(run, where), self.passes(twin, where)
        agrees = self.result_agrees(run, twin, accepted, accepted_twin)
        return s_or([s_xor(a, b), s_and([s_not(a), s_not(b), s_not(agrees)])])

    def needs(self, row: EncEnv, before: Sequence[EncEnv], after: Sequence[EncEnv]) -> str:
        """State that a row between others matters: with and without it the pipeline gives different
        results, and raises neither time. The other rows obey the assumptions.
        """
        facts = [a.term for a in self.problem.assumptions]
        lawful = [
            self.encoder.boolean(f, other_row) for other_row in (*before, *after) for f in facts
        ]
        raised, start = self.through(self.initial(), before)
        ends = [self.through(start, rows) for rows in ([row, *after], after)]
        (late, run), (early, twin) = ends
        ending = [s_and([self.has_result(r), self.finish_raises(r)]) for r in (run, twin)]
        quiet = s_not(s_or([raised, late, early, *ending]))
        accepted = [self.passes(r, self.problem.where) for r in (run, twin)]
        alike = self.result_agrees(run, twin, *accepted)
        return self.encoder.name(s_and([*lawful, quiet, s_not(alike)]))

    def literal_row(self, values: Sequence[Term]) -> EncEnv:
        """A row of these literals, in the order of the columns."""
        env: EncEnv = dict(self.keys)
        for column, value in zip(self.fold.columns, values, strict=True):
            env[Scope.ROW, column.name] = self.encoder.term(value, {})
        return env

    def passes(self, run: Run, post: Term) -> str:
        """State that the run has a result and the filter ``post`` keeps it."""
        return s_and([self.has_result(run), self.is_true(post, self.outputs(run))])

    def either(self, condition: str, a: Run, b: Run) -> Run:
        """Choose one of two runs by a condition."""
        return Run({k: choose(condition, a.env[k], b.env[k]) for k in a.env})

    def matters(self, run: Run) -> str:
        """The original run has a result to compare with: there is a group, and nothing raised."""
        return s_and([self.has_result(run), s_not(self.finish_raises(run))])


def follows(
    problem: Problem, premises: Sequence[Term], conclusion: Term, solver: Solver, effort: Effort
) -> bool:
    """Whether the conclusion is true of every row that the assumptions allow and of which the
    premises are true. All are two-valued, over one row; unknown is no. ``solver`` is a fresh one.
    """
    runs = Runs(problem, [*premises, conclusion])
    row = runs.row("r")
    for premise in premises:
        runs.encoder.fact(runs.encoder.boolean(premise, row))
    runs.encoder.fact(s_not(runs.encoder.boolean(conclusion, row)))
    solver.add(runs.encoder.take())
    return isinstance(solver.check([], effort), Unsat)
