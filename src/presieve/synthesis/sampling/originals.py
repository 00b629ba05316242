"""Untrusted. Tables over computed columns, as tables of original rows.

A solver finds a row for which the conditions are as they should be; the other columns keep their
values. Some combinations occur on no row. Where conditions read grouping columns, all rows of a
table are asked for at once, since they have one key.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TypeAlias, TypeVar

from presieve.ir.fold import Column, Problem
from presieve.ir.ops import app
from presieve.ir.pushdown import ResidualWitness, Witness
from presieve.ir.sorts import Option
from presieve.ir.terms import App, Lit, Op, Scope, Term, Var, literal_value
from presieve.ir.walk import subterms, variables
from presieve.semantics.compile import State
from presieve.smt.decode import decode
from presieve.smt.runs import EncEnv, Runs
from presieve.smt.solver import Effort, Sat, Solver
from presieve.smt.text import s_and
from presieve.synthesis.sampling.space import Space
from presieve.synthesis.sampling.tables import Need, Table, difference

Literals: TypeAlias = tuple[Term, ...]
W = TypeVar("W", Witness, ResidualWitness)

_MAX_ROWS = 60
"""Different rows that the solver is asked for, at most."""


def original_tables(
    space: Space,
    smaller: Problem,
    computed: Mapping[Var, Term],
    witnesses: Sequence[Witness],
    solver: Solver,
    effort: Effort,
) -> list[Need]:
    """The tables of the witnesses, whose rows are of the ``smaller`` problem, as far as there are
    original rows for all of theirs, and the row in question tells there too. ``computed`` are the
    conditions of which the smaller problem has columns.
    """
    needed = dict.fromkeys(row for w in witnesses for row in w.rows)
    if len(needed) > _MAX_ROWS:
        return []
    groups = _groups(space.problem, smaller, computed, list(needed), witnesses, solver, effort)
    tables = [Need(*group, w.index) for w, group in groups]
    return [n for n in tables if difference(space, n.table, n.key, n.index) == "result"]


def original_groups(
    space: Space,
    smaller: Problem,
    computed: Mapping[Var, Term],
    witnesses: Sequence[ResidualWitness],
    solver: Solver,
    effort: Effort,
) -> list[tuple[Table, State]]:
    """The same of groups that show of conjuncts of the residual that they are needed. Whoever uses
    them runs them.
    """
    needed = list(dict.fromkeys(row for w in witnesses for row in w.rows))[:_MAX_ROWS]
    groups = _groups(space.problem, smaller, computed, needed, witnesses, solver, effort)
    return [group for _, group in groups]


def _groups(
    problem: Problem,
    smaller: Problem,
    computed: Mapping[Var, Term],
    needed: Sequence[Literals],
    witnesses: Sequence[W],
    solver: Solver,
    effort: Effort,
) -> Iterator[tuple[W, tuple[Table, State]]]:
    """The witnesses for which there are original rows, with these and the key of their group.
    ``needed`` are the rows that are looked for.
    """
    if any(v.scope is Scope.KEY for v in variables(*computed.values())):
        for w in witnesses:
            group = _together(problem, smaller, computed, w, solver.fresh(), effort)
            if group is not None and set(w.rows) <= set(needed):
                yield w, group
        return
    found = _rows(problem, smaller, computed, needed, solver, effort)
    for w in witnesses:
        if all(row in found for row in w.rows):
            key = tuple(literal_value(v) for v in w.key if isinstance(v, Lit))
            yield w, (tuple(found[row] for row in w.rows), key)


def _read(problem: Problem) -> set[Var]:
    """The columns that are read for more than to see whether they are NULL."""
    fold = problem.fold
    nodes = [n for t in (*(f.step for f in fold.fields), fold.step_raises) for n in subterms(t)]
    apps = [n for n in nodes if isinstance(n, App) and n.op is not Op.IS_NONE]
    whole = [f.step for f in fold.fields if isinstance(f.step, Var)]
    return {a for n in apps for a in n.args if isinstance(a, Var)}.union(whole)


def _together(
    problem: Problem,
    smaller: Problem,
    computed: Mapping[Var, Term],
    witness: Witness | ResidualWitness,
    solver: Solver,
    effort: Effort,
) -> tuple[Table, State] | None:
    """Original rows for all of a table's, and their key, which need not be the same as before."""
    rows = list(dict.fromkeys(witness.rows))
    runs = Runs(problem, [*computed.values(), *(v for row in rows for v in row)])
    envs = [runs.row(f"r{i}") for i in range(len(rows))]
    columns = [smaller.fold.column(c.name) for c in smaller.fold.columns]
    for env, row in zip(envs, rows, strict=True):
        for c, v in zip(columns, row, strict=True):
            same = app(Op.SAME, computed.get(c, c), v)
            runs.encoder.fact(runs.encoder.boolean(same, env))
    solver.add(runs.encoder.take())
    if not isinstance(solver.check([], effort), Sat):
        return None

    def decoded(env: EncEnv, scope: Scope, columns: Sequence[Column]) -> State:
        points = runs.encoder.points
        return tuple(decode(env[scope, c.name], c.sort, solver, points) for c in columns)

    found = {
        r: decoded(e, Scope.ROW, problem.fold.columns) for r, e in zip(rows, envs, strict=True)
    }
    key = decoded(runs.keys, Scope.KEY, problem.fold.keys)
    return tuple(found[row] for row in witness.rows), key


def _rows(
    problem: Problem,
    smaller: Problem,
    computed: Mapping[Var, Term],
    wanted: Sequence[Literals],
    solver: Solver,
    effort: Effort,
) -> dict[Literals, State]:
    """An original row for each of the smaller problem's, where there is one: with the same values
    if possible, else with others in columns of which only conditions read the value.
    """
    free = {v for v in variables(*computed.values()) if isinstance(v.sort, Option)}
    free -= _read(smaller)
    runs = Runs(problem, [*computed.values(), *(v for row in wanted for v in row)])
    row = runs.row("r")
    columns = [smaller.fold.column(c.name) for c in smaller.fold.columns]
    found: dict[Literals, State] = {}
    for i, values in enumerate(wanted):
        pairs = list(zip(columns, values, strict=True))
        same = [app(Op.SAME, computed.get(c, c), v) for c, v in pairs]
        alike = [
            app(Op.SAME, app(Op.IS_NONE, c), app(Op.IS_NONE, v)) if c in free else t
            for t, (c, v) in zip(same, pairs, strict=True)
        ]
        for name, terms in ((f"same{i}", same), (f"alike{i}", alike)):
            runs.encoder.lines.append(f"(declare-const {name} Bool)")
            runs.encoder.fact(f"(=> {name} {s_and(runs.encoder.boolean(t, row) for t in terms)})")
            solver.add(runs.encoder.take())
            if isinstance(solver.check([name], effort), Sat):
                found[values] = tuple(
                    decode(row[Scope.ROW, c.name], c.sort, solver, runs.encoder.points)
                    for c in problem.fold.columns
                )
                break
    return found
