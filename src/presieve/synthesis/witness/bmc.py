"""Untrusted. Bounded model checking: a shortest table on which a pushdown goes wrong."""

from __future__ import annotations

from presieve.ir.terms import SQL_TRUE, Scope, Term
from presieve.semantics.compile import State
from presieve.smt.decode import decode
from presieve.smt.runs import EncEnv, Runs
from presieve.smt.solver import Effort, Sat, Solver
from presieve.smt.text import s_and, s_not, s_or
from presieve.synthesis.sampling.space import Space
from presieve.synthesis.sampling.tables import Table


def accepted_table(
    space: Space, rows: int, solver: Solver, effort: Effort
) -> tuple[Table, State] | None:
    """A table of so many rows that the filter accepts, if the solver finds one."""
    runs = Runs(space.problem, [])
    run = runs.initial()
    seen: list[EncEnv] = []
    for i in range(rows):
        row = runs.row(f"r{i}")
        runs.encoder.fact(s_not(runs.step_raises(run, row)))
        run = runs.step(run, row)
        seen.append(row)
    runs.encoder.fact(runs.matters(run))
    runs.encoder.fact(runs.passes(run, space.problem.where))
    return _model(space, runs, seen, solver, effort)


def wrong_table(
    space: Space,
    prefilter: Term,
    residual: Term,
    rows: int,
    solver: Solver,
    effort: Effort,
) -> tuple[Table, State] | None:
    """A table of so many rows on which original and pushdown differ, as far as the model goes.

    The caller runs it: the model's numbers need not be doubles.
    """
    runs = Runs(space.problem, [prefilter, residual, SQL_TRUE])
    s = t = runs.initial()
    seen: list[EncEnv] = []
    crashes = []
    for i in range(rows):
        row = runs.row(f"r{i}")
        seen.append(row)
        runs.encoder.fact(s_not(runs.step_raises(s, row)))
        kept = runs.encoder.name(runs.is_true(prefilter, row))
        crashes.append(s_and([kept, runs.step_raises(t, row)]))
        s, t = runs.step(s, row), runs.either(kept, runs.step(t, row), t)
    accepted, passed = runs.passes(s, space.problem.where), runs.passes(t, residual)
    fine = s_and([*(s_not(c) for c in crashes), runs.result_agrees(s, t, accepted, passed)])
    runs.encoder.fact(runs.matters(s))
    runs.encoder.fact(s_not(fine))
    return _model(space, runs, seen, solver, effort)


def exchanged_table(
    space: Space, rows: int, solver: Solver, effort: Effort
) -> tuple[Table, State] | None:
    """A table of so many rows that yields another result, as far as the model goes, once two
    neighbours are exchanged.

    The caller runs it: the model's numbers need not be doubles.
    """
    runs = Runs(space.problem, [])
    seen = [runs.row(f"r{i}") for i in range(rows)]
    straight = runs.through(runs.initial(), seen)
    differ = []
    for i in range(rows - 1):
        order = [*seen[:i], seen[i + 1], seen[i], *seen[i + 2 :]]
        differ.append(runs.yields_differ(straight, runs.through(runs.initial(), order)))
    runs.encoder.fact(s_or(differ))
    return _model(space, runs, seen, solver, effort)


def _model(
    space: Space, runs: Runs, seen: list[EncEnv], solver: Solver, effort: Effort
) -> tuple[Table, State] | None:
    solver.add(runs.encoder.take())
    if not isinstance(solver.check([], effort), Sat):
        return None
    points = runs.encoder.points
    fold = space.problem.fold

    def values(env: EncEnv, scope: Scope, names: list[tuple[str, object]]) -> State:
        return tuple(
            decode(env[scope, n], s, solver, points)  # type: ignore[arg-type]
            for n, s in names
        )

    columns: list[tuple[str, object]] = [(c.name, c.sort) for c in fold.columns]
    keys: list[tuple[str, object]] = [(c.name, c.sort) for c in fold.keys]
    table = tuple(values(row, Scope.ROW, columns) for row in seen)
    return table, values(runs.keys, Scope.KEY, keys)
