# SPDX-License-Identifier: Apache-2.0
"""Trusted. Defines when a fold, a problem and the predicates of a pushdown are well-formed.

Sorts are right by construction (:func:`presieve.ir.ops.app`). This module checks which variables
may occur where, and which operators a predicate may use that Spark will evaluate.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable

from presieve.errors import PresieveError
from presieve.ir.fold import Fold, Problem, nonempty, state_vars
from presieve.ir.function_signatures import SIGNATURES
from presieve.ir.sorts import BOOL, Sort, strip
from presieve.ir.terms import App, Op, Scope, Term, Var
from presieve.ir.walk import subterms, variables

SQL_OPS = frozenset(op for op in Op if op.name.startswith("SQL_") and op is not Op.SQL_IS_TRUE)
"""Operators that Spark evaluates. None of them can raise, whatever the ANSI mode."""


class IllFormed(PresieveError):
    """A fold, a problem or a predicate is not well-formed."""


def _require(condition: bool, sentence: str) -> None:
    if not condition:
        raise IllFormed(sentence)


def _only(what: str, term: Term, allowed: Collection[Var]) -> None:
    for v in variables(term):
        _require(v in allowed, f"{what} speaks of {v.scope.value}.{v.name}, which it may not")


def _distinct(what: str, names: Iterable[str]) -> None:
    names = list(names)
    _require(len(set(names)) == len(names), f"two {what} have one name")


def check_fold(fold: Fold) -> None:
    """Raises :class:`IllFormed` unless every term is over the variables it may use."""
    keys = {fold.key(c.name) for c in fold.keys}
    columns = {fold.column(c.name) for c in fold.columns}
    state = set(state_vars(fold, Scope.ACC))
    _distinct("columns", [c.name for c in (*fold.columns, *fold.keys)])
    _require(not any(c.hidden for c in fold.keys), "a grouping column is hidden")
    _distinct("fields", [f.name for f in fold.fields])
    _distinct("outputs", [o.name for o in fold.outputs])
    for f in fold.fields:
        _require("$" not in f.name, f"a field is called {f.name}")
        _require(f.init.sort == f.sort == f.step.sort, f"field {f.name} has two sorts")
        _only(f"the start of {f.name}", f.init, keys)
        _only(f"the step of {f.name}", f.step, keys | columns | state)
    for o in fold.outputs:
        _require(o.term.sort == o.sort, f"output {o.name} has two sorts")
        _only(f"output {o.name}", o.term, keys | state)
    _require(fold.step_raises.sort == fold.finish_raises.sort == BOOL, "raising is yes or no")
    _only("step raises", fold.step_raises, keys | columns | state)
    _only("finish raises", fold.finish_raises, keys | state)


def check_problem(problem: Problem) -> None:
    """Raises :class:`IllFormed` unless fold, filter and assumptions fit together."""
    fold = problem.fold
    check_fold(fold)
    check_post(problem, problem.where)
    keys = {fold.key(c.name) for c in fold.keys}
    columns = {fold.column(c.name) for c in fold.columns}
    for a in problem.assumptions:
        _require(a.term.sort == BOOL, f"assumption {a.code} is neither true nor false")
        _only(f"assumption {a.code}", a.term, keys | columns)


def _check_predicate(what: str, term: Term, allowed: Collection[Var]) -> None:
    _require(strip(term.sort) == BOOL, f"{what} is neither true nor false")
    _only(what, term, allowed)
    for node in subterms(term):
        fits = not isinstance(node, App) or node.op in SQL_OPS or _is_sql_function(node)
        _require(fits, f"{what} has an operator that is not Spark's")


def _is_sql_function(node: App) -> bool:
    return node.op in SIGNATURES and SIGNATURES[node.op].is_sql


def calls_only_sql(term: Term) -> bool:
    """Whether Spark has each function of single values that the term calls."""
    called = (n for n in subterms(term) if isinstance(n, App) and n.op in SIGNATURES)
    return all(map(_is_sql_function, called))


def check_prefilter(problem: Problem, prefilter: Term) -> None:
    """Raises :class:`IllFormed` unless Spark can evaluate it on input rows without raising."""
    fold = problem.fold
    allowed = {fold.key(c.name) for c in fold.keys} | {fold.column(c.name) for c in fold.columns}
    allowed -= fold.hidden
    _check_predicate("the pre-filter", prefilter, allowed)


def check_post(problem: Problem, predicate: Term) -> None:
    """Raises :class:`IllFormed` unless Spark can evaluate it on output rows."""
    fold = problem.fold
    allowed: set[Var] = {fold.key(c.name) for c in fold.keys}
    allowed |= {output_var(o.name, o.sort) for o in fold.outputs}
    _check_predicate("the filter", predicate, allowed)


def check_invariant(problem: Problem, invariant: Iterable[Term]) -> None:
    """Raises :class:`IllFormed` unless it relates two accumulators, flags and keys only."""
    fold = problem.fold
    allowed: set[Var] = {fold.key(c.name) for c in fold.keys}
    for scope in (Scope.ACC, Scope.TWIN):
        allowed |= {*state_vars(fold, scope), nonempty(scope)}
    for term in invariant:
        _require(term.sort == BOOL, "a conjunct of the invariant is neither true nor false")
        _only("the invariant", term, allowed)


def output_var(name: str, sort: Sort) -> Var:
    """The variable of an output column."""
    return Var(Scope.OUT, name, sort)
