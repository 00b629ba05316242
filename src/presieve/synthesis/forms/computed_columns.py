# SPDX-License-Identifier: Apache-2.0
"""Untrusted. Computed columns: terms that a step computes from the row alone become columns.

``price * qty > 1000`` is no region of ``price`` or of ``qty``, nor is ``opened < closed``. So these
are replaced by columns of their own: the maximal float terms over one row, its conditions that
compare columns with each other, and the results of functions of its values (``len(name)``). The
smaller problem is solved as any other, and the columns are replaced by Spark SQL terms. If the
columns together have too many regions, conditions over several columns become columns, too. What
holds for every value of such a column holds for the values that it can have; the checker proves the
result over the original columns anyway.

In the smaller problem, computed columns take combinations of values that occur on no row of the
original one, except those that :mod:`presieve.synthesis.sampling.correlated` excludes. So strength
is shown anew, by tables of original rows.

A product of numbers can be NaN (zero times infinity), so "no NaN" is an assumption on the computed
column, as it is on others. A column that is computed from a hidden column is hidden.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence

from msgspec import Struct

from presieve.ir.assumption_codes import COMPUTED
from presieve.ir.fold import Assumption, Column, Fold, Problem
from presieve.ir.function_signatures import SIGNATURES
from presieve.ir.ops import app, conjunction, negate
from presieve.ir.pushdown import Pushdown, Witness
from presieve.ir.sorts import BOOL, FLOAT, Option, strip
from presieve.ir.terms import SQL_FALSE, App, Lit, Op, Scope, Term, Var, float_lit, literal_value
from presieve.ir.walk import replace_nodes, substitute, variables
from presieve.ir.wellformed import calls_only_sql
from presieve.records import replace
from presieve.semantics.assumptions import assumption_of
from presieve.semantics.fast_interpreter import State
from presieve.smt.solver import Effort, Solver
from presieve.smt.z3_solver import Z3Solver
from presieve.sql.operands import TYPE_NAMES
from presieve.synthesis.invariant.conditions import (
    as_sql,
    conditions,
    group_comparisons,
    only_tested,
    put_back,
    value_as_sql,
)
from presieve.synthesis.prefilter.bounds import with_bounds
from presieve.synthesis.residual.needed_conjuncts import by_running
from presieve.synthesis.result import SearchResult
from presieve.synthesis.sampling.concrete_tables import Table
from presieve.synthesis.sampling.correlated import facts
from presieve.synthesis.sampling.originals import Originals
from presieve.synthesis.sampling.space import MAX_CELLS, Space
from presieve.synthesis.witness.strength import as_witnesses, covering_tables

_AS_SQL = {
    Op.FLOAT_ADD: Op.SQL_FLOAT_ADD,
    Op.FLOAT_SUB: Op.SQL_FLOAT_SUB,
    Op.FLOAT_MUL: Op.SQL_FLOAT_MUL,
}
_EFFORT = Effort(seconds=1.0)
"""The limits of a question about strength."""

_NAN = float_lit(float("nan"))


class Computed(Struct, frozen=True):
    """A computed column: its variable in the smaller problem, the term in Python, the same in Spark
    SQL, and for arithmetic the optional assumption that it is a number.
    """

    variable: Var
    python: Term
    sql: Term
    number: Assumption | None

    @property
    def is_condition(self) -> bool:
        """Whether it is a truth value."""
        return self.variable.sort == BOOL


class Derivation(Struct, frozen=True):
    """The smaller problem, and the terms that its new columns stand for."""

    original: Problem
    problem: Problem
    computed: tuple[Computed, ...]

    def restore(self, result: SearchResult) -> SearchResult:
        """Restate the result for the smaller problem as a result for the original one."""
        if result.pushdown is None:
            return result
        back = {c.variable: c.sql for c in self.computed}
        numbers = {c.number: _number(c) for c in self.computed if c.number}
        uncorrelated = [a for a in result.problem.assumptions if a.code != COMPUTED]
        assumptions = tuple(numbers.get(a, a) for a in uncorrelated)
        prefilter = put_back(result.pushdown.prefilter, back)
        if prefilter != SQL_FALSE:
            prefilter = with_bounds(self.original, prefilter, Z3Solver(), _EFFORT)
        if not calls_only_sql(prefilter):
            return replace(result, pushdown=None)
        pushdown: Pushdown = replace(
            result.pushdown,
            prefilter=prefilter,
            strength="universe",
            witnesses=(),
        )
        problem = replace(self.original, assumptions=assumptions)
        if problem.fold.hidden:
            pushdown = replace(pushdown, residual_witnesses=())
            return replace(result, problem=problem, pushdown=pushdown)
        space, groups = Space(problem), list[tuple[Table, State]]()
        if all(c.is_condition for c in self.computed):
            pushdown = self._with_witnesses(problem, result.pushdown.witnesses, pushdown)
            groups = self._originals(problem, Z3Solver()).groups(pushdown.residual_witnesses)
        conjuncts = by_running(space, pushdown.kind, pushdown.prefilter, pushdown.residual, groups)
        pushdown = replace(pushdown, residual_witnesses=conjuncts)
        return replace(result, problem=problem, pushdown=pushdown)

    def _originals(self, problem: Problem, solver: Solver) -> Originals:
        return Originals(problem, self.problem, _meanings(self.computed), solver, _EFFORT)

    def _with_witnesses(
        self, problem: Problem, witnesses: Sequence[Witness], pushdown: Pushdown
    ) -> Pushdown:
        """Add tables of original rows which show that no pre-filter is stronger, if there
        are any.
        """
        space, solver = Space(problem), Z3Solver()
        tables = self._originals(problem, solver.fresh()).tables(witnesses)
        needs = covering_tables(space, pushdown.prefilter, tables, solver.fresh(), lambda: _EFFORT)
        if needs is None:
            return pushdown
        original = tuple(as_witnesses(space, needs))
        return replace(pushdown, strength="optimal", witnesses=original)


def _number(computed: Computed) -> Assumption:
    """The assumption that a computed column is a number, over the original columns."""
    assert computed.number is not None
    optional = isinstance(computed.variable.sort, Option)
    meaning = computed.sql if optional else computed.python
    term = substitute(computed.number.term, {computed.variable: meaning})
    return assumption_of(computed.number.code, term)


def derive(problem: Problem, optional: Collection[str], code: str) -> Derivation | None:
    """The problem with computed columns, or None if its steps compute nothing of that kind.

    Assumptions of the ``optional`` codes on columns that are no longer read are left out; ``code``
    is the code of the new assumptions.
    """
    fold = problem.fold
    tested = _condition_columns(problem)
    fields = tuple(replace(f, step=group_comparisons(f.step, tested)) for f in fold.fields)
    fold = replace(fold, fields=fields, step_raises=group_comparisons(fold.step_raises, tested))
    terms = [*(f.step for f in fold.fields), fold.step_raises]
    float_terms = dict.fromkeys(t for term in terms for t in _maximal(term))
    computed = [
        c for i, t in enumerate(float_terms) if (c := _arithmetic_column(i, t, code)) is not None
    ]
    compared = dict.fromkeys(t for term in terms for t in conditions(term, tested))
    computed += [c for i, t in enumerate(compared) if (c := _condition(i, t)) is not None]
    *steps, raises = _replace_computed(terms, computed)
    called = dict.fromkeys(t for term in (*steps, raises) for t in _functions(term))
    functions = [c for i, t in enumerate(called) if (c := _function(i, t)) is not None]
    computed += functions
    if not computed:
        return None
    *steps, raises = _replace_computed((*steps, raises), functions)
    fields = tuple(replace(f, step=s) for f, s in zip(fold.fields, steps, strict=True))
    read = {v for v in variables(*(f.step for f in fields), raises) if v.scope is Scope.ROW}
    retained = [
        a for a in problem.assumptions if a.code not in optional or set(variables(a.term)) <= read
    ]
    read |= {v for a in retained for v in variables(a.term) if v.scope is Scope.ROW}
    smaller = _with_columns(replace(fold, fields=fields, step_raises=raises), read, computed)
    meant, columns = _meanings(computed), [v for v in read if v.scope is Scope.ROW]
    correlations = facts(problem, meant, columns, Z3Solver()) if meant else ()
    assumptions = (*retained, *(c.number for c in computed if c.number), *correlations)
    return Derivation(
        problem, replace(problem, fold=smaller, assumptions=assumptions), tuple(computed)
    )


def _condition_columns(problem: Problem) -> frozenset[Var]:
    """Columns that are not treated one by one, because all columns have too many regions."""
    fold = problem.fold
    if Space(problem).size <= MAX_CELLS:
        return frozenset()
    columns = (fold.column(c.name) for c in fold.columns if not c.hidden)
    return only_tested([*(f.step for f in fold.fields), fold.step_raises], columns)


def _meanings(computed: Iterable[Computed]) -> dict[Var, Term]:
    """The conditions among the columns, as terms over an original row."""
    return {c.variable: app(Op.SQL_IS_TRUE, c.sql) for c in computed if c.is_condition}


def _replace_computed(terms: Sequence[Term], computed: Iterable[Computed]) -> list[Term]:
    """Replace the terms that these columns stand for by the columns."""
    views = {c.python: _view(c) for c in computed}
    return [replace_nodes(t, views.get) for t in terms]


def numbers(problem: Problem, optional: Collection[str], code: str) -> tuple[Assumption, ...]:
    """The optional assumptions that the terms which the steps compute from a row are numbers."""
    derivation = derive(problem, optional, code)
    return tuple(_number(c) for c in derivation.computed if c.number) if derivation else ()


def _with_columns(fold: Fold, read: Collection[Var], computed: list[Computed]) -> Fold:
    columns = tuple(c for c in fold.columns if Var(Scope.ROW, c.name, c.sort) in read)
    new = tuple(
        Column(
            c.variable.name,
            c.variable.sort,
            TYPE_NAMES[strip(c.variable.sort)],
            hidden=not fold.hidden.isdisjoint(variables(c.python)),
        )
        for c in computed
    )
    return replace(fold, columns=(*columns, *new))


def _functions(term: Term) -> Iterator[Term]:
    """The largest calls of functions on the values of a row."""
    operands = variables(term)
    if isinstance(term, App) and term.op in SIGNATURES and term.sort != BOOL:
        if operands and all(v.scope is Scope.ROW for v in operands):
            yield term
            return
    if isinstance(term, App):
        for a in term.args:
            yield from _functions(a)


def _function(number: int, python: Term) -> Computed | None:
    """A column that also has a value where an argument is none; the step does not read it there."""
    sql = value_as_sql(python)
    if sql is None:
        return None
    return Computed(Var(Scope.ROW, f"$f{number}", python.sort), python, sql, None)


def _maximal(term: Term) -> Iterator[Term]:
    """Float terms over the row alone that are not inside another such term."""
    if _is_computed(term):
        yield term
    elif isinstance(term, App):
        for a in term.args:
            yield from _maximal(a)


def _is_computed(term: Term) -> bool:
    if not isinstance(term, App) or term.op not in _AS_SQL:
        return False
    operands = variables(term)
    return bool(operands) and all(v.scope is Scope.ROW for v in operands)


def _arithmetic_column(number: int, python: Term, code: str) -> Computed | None:
    sql = _as_sql(python)
    if sql is None:
        return None
    nullable = any(isinstance(v.sort, Option) for v in variables(python))
    v = Var(Scope.ROW, f"${number}", Option(FLOAT) if nullable else FLOAT)
    if nullable:
        present = negate(app(Op.IS_NONE, v))
        term = conjunction([present, negate(app(Op.IS_NAN, app(Op.GET, v)))])
    else:
        term = negate(app(Op.IS_NAN, v))
    return Computed(v, python, sql, assumption_of(code, term))


def _condition(number: int, python: Term) -> Computed | None:
    sql = as_sql(python)
    if sql is None:
        return None
    return Computed(Var(Scope.ROW, f"$if{number}", BOOL), python, sql, None)


def _view(computed: Computed) -> Term:
    """The column as Python sees it: NaN if it is NULL."""
    v = computed.variable
    if not isinstance(v.sort, Option):
        return v
    return app(Op.ITE, app(Op.IS_NONE, v), _NAN, app(Op.GET, v))


def _as_sql(term: Term) -> Term | None:
    """The term in Spark SQL, NULL where Python has NaN for a NULL; None if Spark has none."""
    match term:
        case Var(Scope.ROW, _, sort) if strip(sort) == FLOAT:
            return term
        case Lit() if term.sort == FLOAT and literal_value(term) == literal_value(term):
            return term
        case App(Op.ITE, (App(Op.IS_NONE, (Var() as v,)), nan, App(Op.GET, (w,)))):
            return v if v == w and nan == _NAN else None
        case App(op, (a, b)) if op in _AS_SQL:
            left, right = _as_sql(a), _as_sql(b)
            return None if left is None or right is None else app(_AS_SQL[op], left, right)
    return None
