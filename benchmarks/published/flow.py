"""Untrusted. Data flow in a fold (appendix C): what feeds a field, what is updated together, and
which fields only grow or only shrink.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Literal

from benchmarks.published.clauses import as_sql
from presieve.ir.fold import Field, Problem
from presieve.ir.ops import app, negate
from presieve.ir.sorts import BOOL, Option, is_ordered, strip
from presieve.ir.terms import App, Op, Scope, Term, Var
from presieve.ir.walk import variables
from presieve.smt.encodings import OptionEnc
from presieve.smt.smtlib import s_and, s_not, s_or
from presieve.smt.solver import Effort, Solver, Unsat
from presieve.smt.two_runs import Runs
from presieve.universe.leaves import guard_comparison, presence_of, value

Trend = Literal["grows", "shrinks", "either"]

_ARITHMETIC = {
    Op.INT_ADD,
    Op.INT_SUB,
    Op.INT_MUL,
    Op.FLOAT_ADD,
    Op.FLOAT_SUB,
    Op.FLOAT_MUL,
    Op.FLOAT_DIV,
    Op.INT_TO_FLOAT,
}


@dataclass(frozen=True)
class Flow:
    """The analyses of one problem."""

    problem: Problem

    @cached_property
    def feeders(self) -> dict[str, tuple[Term, ...]]:
        """For each field the row terms (Spark SQL) whose values go into it, through others too."""
        direct = {f.name: list(_values(f.step)) for f in self.problem.fold.fields}
        rows = {n: [t for t in terms if _only(t, Scope.ROW)] for n, terms in direct.items()}
        states = {
            n: {v.name for t in terms for v in variables(t) if v.scope is Scope.ACC}
            for n, terms in direct.items()
        }
        changed = True
        while changed:
            changed = False
            for name, sources in states.items():
                for source in sources:
                    new = [t for t in rows[source] if t not in rows[name]]
                    rows[name] += new
                    changed = changed or bool(new)
        return {n: tuple(_in_sql(terms)) for n, terms in rows.items()}

    @cached_property
    def conditions(self) -> tuple[Term, ...]:
        """Conditions on the row alone under which a step changes a field, in Spark SQL. Not the
        contrary of one that is there already.
        """
        changing = dict.fromkeys(
            c
            for f in self.problem.fold.fields
            for c in _changing(f.step, Var(Scope.ACC, f.name, f.sort))
        )
        return tuple(_in_sql([c for c in changing if negate(c) not in changing or not _is_not(c)]))

    @cached_property
    def related(self) -> dict[str, frozenset[str]]:
        """Fields that one reads of another, or that read the same columns."""
        reads = {f.name: {(v.scope, v.name) for v in variables(f.step)} for f in self._fields}
        return {
            a: frozenset(
                b
                for b in reads
                if a == b
                or (Scope.ACC, b) in reads[a]
                or (Scope.ACC, a) in reads[b]
                or any(x in reads[b] for x in reads[a] if x[0] is Scope.ROW)
            )
            for a in reads
        }

    @property
    def _fields(self) -> tuple[Field, ...]:
        return self.problem.fold.fields


def trends(problem: Problem, solver: Solver, effort: Effort) -> dict[str, Trend]:
    """Which fields no step makes smaller, or none greater, by one question each; from states in
    which all fields or none have a value. It need not be true: atoms are built from it, not proofs.
    """
    runs = Runs(problem, [])
    state, row = runs.arbitrary("s"), runs.row("r")
    fields = (state.env[Scope.ACC, f.name] for f in problem.fold.fields)
    values = [e.present for e in fields if isinstance(e, OptionEnc)]
    runs.encoder.fact(s_or([s_and(values), s_and(s_not(p) for p in values)]))
    after = runs.step(state, row)
    calm = s_not(runs.step_raises(state, row))
    asked: list[tuple[str, Trend, str]] = []
    for f in problem.fold.fields:
        if strip(f.sort) != BOOL and not is_ordered(strip(f.sort)):
            continue
        questions: tuple[tuple[Trend, Op], ...] = (("grows", Op.PY_LE), ("shrinks", Op.PY_GE))
        for trend, op in questions:
            name = f"!{trend}.{len(asked)}"
            kept = runs.encoder.boolean(_ordered(f, op), runs.pair(state, after))
            runs.encoder.lines.append(f"(declare-const {name} Bool)")
            runs.encoder.fact(f"(=> {name} {s_and([calm, s_not(kept)])})")
            asked.append((f.name, trend, name))
    solver.add(runs.encoder.take())
    trend_of: dict[str, Trend] = {}
    for name, trend, switch in asked:
        if name not in trend_of and isinstance(solver.check([switch], effort), Unsat):
            trend_of[name] = trend
    return trend_of


def _ordered(field: Field, op: Op) -> Term:
    """The old value of a field (ACC) against the new one (TWIN), where there is an old one. What
    has not changed (NaN among it) is ordered.
    """
    old, new = (Var(scope, field.name, field.sort) for scope in (Scope.ACC, Scope.TWIN))
    if strip(field.sort) == BOOL:
        a, b = (old, new) if op is Op.PY_LE else (new, old)
        return app(Op.IMPLIES, holds(a), holds(b))
    ordered = app(Op.OR, guard_comparison(op, old, new), app(Op.SAME, old, new))
    there = presence_of(old)
    return ordered if there is None else app(Op.IMPLIES, there, ordered)


def holds(v: Term) -> Term:
    """A Boolean that may be none, as a plain one."""
    there = presence_of(v)
    return v if there is None else app(Op.AND, there, value(v))


def _values(term: Term) -> Iterator[Term]:
    """What a term's value is made of: branches, not conditions; the largest row terms whole."""
    if not isinstance(term, App) or (_only(term, Scope.ROW) and as_sql(term) is not None):
        yield term
    elif term.op is Op.ITE:
        yield from _values(term.args[1])
        yield from _values(term.args[2])
    elif term.op in (Op.SOME, Op.GET) or term.op in _ARITHMETIC:
        for a in term.args:
            yield from _values(a)


def _changing(step: Term, old: Term) -> Iterator[Term]:
    """The conditions on the row, on the way to branches that are not the old value."""
    match step:
        case App(Op.ITE, (condition, then, other)):
            if then != old:
                yield from _row_conditions(condition, positive=True)
                yield from _changing(then, old)
            if other != old:
                yield from _row_conditions(condition, positive=False)
                yield from _changing(other, old)
        case _ if step.sort == BOOL:
            yield from _row_conditions(step, positive=True)


def _row_conditions(term: Term, *, positive: bool) -> Iterator[Term]:
    """The largest conditions on the row alone in a condition, or their contraries."""
    if _only(term, Scope.ROW) and as_sql(term) is not None:
        yield term if positive else negate(term)
    elif isinstance(term, App) and term.op is Op.NOT:
        yield from _row_conditions(term.args[0], positive=not positive)
    elif isinstance(term, App) and term.op in (Op.AND, Op.OR):
        for a in term.args:
            yield from _row_conditions(a, positive=positive)


def _is_not(term: Term) -> bool:
    return isinstance(term, App) and term.op is Op.NOT


def _only(term: Term, scope: Scope) -> bool:
    read = variables(term)
    return bool(read) and all(v.scope is scope for v in read)


def _in_sql(terms: object) -> Iterator[Term]:
    assert isinstance(terms, list | dict)
    seen: dict[Term, None] = {}
    for t in terms:
        sql = as_sql(t)
        if sql is not None and sql not in seen:
            seen[sql] = None
            yield sql


def nullable_columns(problem: Problem) -> list[Var]:
    """The nullable columns that the steps read."""
    read = dict.fromkeys(v for f in problem.fold.fields for v in variables(f.step))
    return [v for v in read if v.scope is Scope.ROW and isinstance(v.sort, Option)]
