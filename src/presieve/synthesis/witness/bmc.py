# SPDX-License-Identifier: Apache-2.0
"""Untrusted. Bounded model checking: a shortest table on which a pushdown goes wrong."""

from __future__ import annotations

from msgspec import Struct

from presieve.ir.terms import SQL_TRUE, Scope, Term
from presieve.semantics.fast_interpreter import State
from presieve.smt.decode import decode_columns
from presieve.smt.smtlib import s_and, s_not, s_or
from presieve.smt.solver import Effort, Sat, Solver
from presieve.smt.two_runs import EncEnv, Runs
from presieve.synthesis.sampling.concrete_tables import Table
from presieve.synthesis.sampling.space import Space


class TableQuery(Struct, frozen=True):
    """The search for a table: its space, its exact number of ``rows``, and the solver to ask."""

    space: Space
    rows: int
    solver: Solver
    effort: Effort


def accepted_table(query: TableQuery) -> tuple[Table, State] | None:
    """A table that the filter accepts, if the solver finds one."""
    problem = query.space.problem
    runs = Runs(problem, [])
    run = runs.initial()
    table_rows: list[EncEnv] = []
    for i in range(query.rows):
        row = runs.row(f"r{i}")
        runs.encoder.fact(s_not(runs.step_raises(run, row)))
        run = runs.step(run, row)
        table_rows.append(row)
    runs.encoder.fact(runs.matters(run))
    runs.encoder.fact(runs.passes(run, problem.where))
    return _model(query, runs, table_rows)


def wrong_table(query: TableQuery, prefilter: Term, residual: Term) -> tuple[Table, State] | None:
    """A table on which original and pushdown differ, as far as the model goes.

    The caller runs it: the model's numbers need not be doubles.
    """
    problem = query.space.problem
    runs = Runs(problem, [prefilter, residual, SQL_TRUE])
    s = t = runs.initial()
    table_rows: list[EncEnv] = []
    crashes = []
    for i in range(query.rows):
        row = runs.row(f"r{i}")
        table_rows.append(row)
        runs.encoder.fact(s_not(runs.step_raises(s, row)))
        row_passes = runs.encoder.name(runs.is_true(prefilter, row))
        crashes.append(s_and([row_passes, runs.step_raises(t, row)]))
        s, t = runs.step(s, row), runs.either(row_passes, runs.step(t, row), t)
    accepted, passed = runs.passes(s, problem.where), runs.passes(t, residual)
    fine = s_and([*(s_not(c) for c in crashes), runs.result_agrees(s, t, accepted, passed)])
    runs.encoder.fact(runs.matters(s))
    runs.encoder.fact(s_not(fine))
    return _model(query, runs, table_rows)


def exchanged_table(query: TableQuery) -> tuple[Table, State] | None:
    """A table that yields another result if two neighbours are exchanged, as far as the model goes.

    The caller runs it: the model's numbers need not be doubles.
    """
    runs = Runs(query.space.problem, [])
    table_rows = [runs.row(f"r{i}") for i in range(query.rows)]
    straight = runs.through(runs.initial(), table_rows)
    differ = []
    for i in range(query.rows - 1):
        order = [*table_rows[:i], table_rows[i + 1], table_rows[i], *table_rows[i + 2 :]]
        differ.append(runs.yields_differ(straight, runs.through(runs.initial(), order)))
    runs.encoder.fact(s_or(differ))
    return _model(query, runs, table_rows)


def _model(query: TableQuery, runs: Runs, table_rows: list[EncEnv]) -> tuple[Table, State] | None:
    solver, fold, points = query.solver, query.space.problem.fold, runs.encoder.points
    solver.add(runs.encoder.take())
    if not isinstance(solver.check([], query.effort), Sat):
        return None
    table = tuple(
        decode_columns(row, Scope.ROW, fold.columns, solver, points) for row in table_rows
    )
    return table, decode_columns(runs.keys, Scope.KEY, fold.keys, solver, points)
