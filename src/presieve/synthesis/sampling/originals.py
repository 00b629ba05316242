# SPDX-License-Identifier: Apache-2.0
"""Untrusted. Tables over computed columns, as tables of original rows.

A solver finds a row for which the conditions have the given truth values; the other columns keep
their values. Some combinations occur on no row. If conditions read grouping columns, the solver
finds all rows of a table at once, since they have one key.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TypeAlias, TypeVar

from msgspec import Struct

from presieve.ir.fold import Problem
from presieve.ir.ops import app
from presieve.ir.pushdown import ResidualWitness, Witness
from presieve.ir.sorts import Option
from presieve.ir.terms import App, Lit, Op, Scope, Term, Var, literal_value
from presieve.ir.walk import subterms, variables
from presieve.semantics.fast_interpreter import State
from presieve.smt.decode import decode_columns
from presieve.smt.smtlib import s_and
from presieve.smt.solver import Effort, Sat, Solver
from presieve.smt.two_runs import Runs
from presieve.synthesis.sampling.concrete_tables import NeededRow, Table, difference
from presieve.synthesis.sampling.space import Space

Literals: TypeAlias = tuple[Term, ...]
W = TypeVar("W", Witness, ResidualWitness)

_MAX_ROWS = 60
"""The maximum number of different rows that the solver is asked for."""


class Originals(Struct, frozen=True):
    """Original rows for the rows of the ``smaller`` problem, whose columns ``computed`` stand for
    conditions on columns of the ``problem``.
    """

    problem: Problem
    smaller: Problem
    computed: Mapping[Var, Term]
    solver: Solver
    effort: Effort

    def tables(self, witnesses: Sequence[Witness]) -> list[NeededRow]:
        """The tables of the witnesses, if there are original rows for all of their rows, and the
        row in question makes a difference there, too.
        """
        rows = dict.fromkeys(row for w in witnesses for row in w.rows)
        if len(rows) > _MAX_ROWS:
            return []
        space = Space(self.problem)
        tables = [NeededRow(*group, w.index) for w, group in self._groups(list(rows), witnesses)]
        return [n for n in tables if difference(space, n.table, n.key, n.index) == "result"]

    def groups(self, witnesses: Sequence[ResidualWitness]) -> list[tuple[Table, State]]:
        """The same for groups that show conjuncts of the residual to be needed. The caller runs
        them.
        """
        rows = list(dict.fromkeys(row for w in witnesses for row in w.rows))[:_MAX_ROWS]
        return [group for _, group in self._groups(rows, witnesses)]

    def _groups(
        self, needed: Sequence[Literals], witnesses: Sequence[W]
    ) -> Iterator[tuple[W, tuple[Table, State]]]:
        """Yield the witnesses for which there are original rows, with these rows and the key of
        their group. ``needed`` are the rows to look for.
        """
        if any(v.scope is Scope.KEY for v in variables(*self.computed.values())):
            for w in witnesses:
                group = self._together(w, self.solver.fresh())
                if group is not None and set(w.rows) <= set(needed):
                    yield w, group
            return
        originals = self._rows(needed)
        for w in witnesses:
            if all(row in originals for row in w.rows):
                key = tuple(literal_value(v) for v in w.key if isinstance(v, Lit))
                yield w, (tuple(originals[row] for row in w.rows), key)

    def _same(self, values: Literals) -> list[Term]:
        """For each column of the smaller problem, the condition that it has this value."""
        fold = self.smaller.fold
        columns = (fold.column(c.name) for c in fold.columns)
        return [
            app(Op.SAME, self.computed.get(c, c), v) for c, v in zip(columns, values, strict=True)
        ]

    def _together(
        self, witness: Witness | ResidualWitness, solver: Solver
    ) -> tuple[Table, State] | None:
        """Original rows for all rows of a table, and their key, which may differ from the
        old one.
        """
        rows = list(dict.fromkeys(witness.rows))
        runs = Runs(self.problem, [*self.computed.values(), *(v for row in rows for v in row)])
        envs = [runs.row(f"r{i}") for i in range(len(rows))]
        for env, row in zip(envs, rows, strict=True):
            for same in self._same(row):
                runs.encoder.fact(runs.encoder.boolean(same, env))
        solver.add(runs.encoder.take())
        if not isinstance(solver.check([], self.effort), Sat):
            return None
        fold, points = self.problem.fold, runs.encoder.points
        originals = {
            r: decode_columns(e, Scope.ROW, fold.columns, solver, points)
            for r, e in zip(rows, envs, strict=True)
        }
        key = decode_columns(runs.keys, Scope.KEY, fold.keys, solver, points)
        return tuple(originals[row] for row in witness.rows), key

    def _rows(self, wanted: Sequence[Literals]) -> dict[Literals, State]:
        """An original row for each row of the smaller problem, if there is one: with the same
        values if possible, else with other values in columns that only conditions read.
        """
        free = {v for v in variables(*self.computed.values()) if isinstance(v.sort, Option)}
        free -= _columns_read(self.smaller)
        columns = [self.smaller.fold.column(c.name) for c in self.smaller.fold.columns]
        runs = Runs(self.problem, [*self.computed.values(), *(v for row in wanted for v in row)])
        row, solver, encoder = runs.row("r"), self.solver, runs.encoder
        originals: dict[Literals, State] = {}
        for i, values in enumerate(wanted):
            same = self._same(values)
            similar = [
                app(Op.SAME, app(Op.IS_NONE, c), app(Op.IS_NONE, v)) if c in free else t
                for t, c, v in zip(same, columns, values, strict=True)
            ]
            for name, terms in ((f"same{i}", same), (f"alike{i}", similar)):
                encoder.lines.append(f"(declare-const {name} Bool)")
                encoder.fact(f"(=> {name} {s_and(encoder.boolean(t, row) for t in terms)})")
                solver.add(encoder.take())
                if isinstance(solver.check([name], self.effort), Sat):
                    original = self.problem.fold.columns
                    originals[values] = decode_columns(
                        row, Scope.ROW, original, solver, encoder.points
                    )
                    break
        return originals


def _columns_read(problem: Problem) -> set[Var]:
    """The columns that steps read for more than a test for NULL."""
    fold = problem.fold
    nodes = [n for t in (*(f.step for f in fold.fields), fold.step_raises) for n in subterms(t)]
    apps = [n for n in nodes if isinstance(n, App) and n.op is not Op.IS_NONE]
    copied = [f.step for f in fold.fields if isinstance(f.step, Var)]
    return {a for n in apps for a in n.args if isinstance(a, Var)}.union(copied)
