"""Untrusted. Tables over computed columns, as tables of original rows.

A solver finds a row for which the conditions are as they should be; the other columns keep their
values. Some combinations occur on no row.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from presieve.ir.fold import Problem
from presieve.ir.ops import app
from presieve.ir.pushdown import Witness
from presieve.ir.terms import Lit, Op, Scope, Term, Var, literal_value
from presieve.semantics.compile import State
from presieve.smt.decode import decode
from presieve.smt.runs import Runs
from presieve.smt.solver import Effort, Sat, Solver
from presieve.smt.text import s_and
from presieve.synthesis.space import Space
from presieve.synthesis.tables import Need, difference

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
    found = _rows(space.problem, smaller, computed, list(needed), solver, effort)
    tables = []
    for w in witnesses:
        if all(row in found for row in w.rows):
            key = tuple(literal_value(v) for v in w.key if isinstance(v, Lit))
            tables.append(Need(tuple(found[row] for row in w.rows), key, w.index))
    return [n for n in tables if difference(space, n.table, n.key, n.index) == "result"]


def _rows(
    problem: Problem,
    smaller: Problem,
    computed: Mapping[Var, Term],
    wanted: Sequence[tuple[Term, ...]],
    solver: Solver,
    effort: Effort,
) -> dict[tuple[Term, ...], State]:
    """An original row for each of the smaller problem's, where there is one."""
    runs = Runs(problem, [*computed.values(), *(v for row in wanted for v in row)])
    row = runs.row("r")
    columns = [smaller.fold.column(c.name) for c in smaller.fold.columns]
    found: dict[tuple[Term, ...], State] = {}
    for i, values in enumerate(wanted):
        same = [
            runs.encoder.boolean(app(Op.SAME, computed.get(c, c), v), row)
            for c, v in zip(columns, values, strict=True)
        ]
        runs.encoder.lines.append(f"(declare-const want{i} Bool)")
        runs.encoder.fact(f"(=> want{i} {s_and(same)})")
        solver.add(runs.encoder.take())
        if isinstance(solver.check([f"want{i}"], effort), Sat):
            found[values] = tuple(
                decode(row[Scope.ROW, c.name], c.sort, solver, runs.encoder.points)
                for c in problem.fold.columns
            )
    return found
