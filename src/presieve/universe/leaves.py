# SPDX-License-Identifier: Apache-2.0
"""Untrusted. Leaves: simple facts about two related accumulators; invariants consist of leaves.

Each is two-valued over ACC and TWIN and total (a comparison with none is false). Sources: Pusharoo,
appendix C (comparison with constants, none, initial values, equality across runs), and the flags.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations

from presieve.ir.fold import Problem, nonempty, state_vars
from presieve.ir.ops import app, conjunction, negate
from presieve.ir.sorts import BOOL, FLOAT, ORDERED, TEXTS, Option, Tuple, strip
from presieve.ir.terms import FALSE, Op, Scope, Term, Var, lit
from presieve.ir.walk import substitute, to_scope, variables
from presieve.ir.wellformed import output_var
from presieve.universe.value_classes import Classes

_MAX_CONSTANTS = 12


def presence_of(v: Term) -> Term | None:
    """Return the condition that an option has a value; None for terms that always have one."""
    return negate(app(Op.IS_NONE, v)) if isinstance(v.sort, Option) else None


def value(v: Term) -> Term:
    """Return the value of a term that may be an option."""
    return app(Op.GET, v) if isinstance(v.sort, Option) else v


def guard_comparison(op: Op, a: Term, b: Term) -> Term:
    """Return a comparison that is false if an operand is none."""
    guards = [g for g in (presence_of(a), presence_of(b)) if g is not None]
    return conjunction([*guards, app(op, value(a), value(b))])


def _about(v: Var, classes: Classes) -> Iterator[Term]:
    """Yield leaves about one field of one run, or about a grouping column."""
    canonical = v if v.scope is Scope.KEY else Var(Scope.ACC, v.name, v.sort)
    base = strip(v.sort)
    if isinstance(base, Tuple):
        return
    is_present = presence_of(v)
    if is_present is not None:
        yield is_present
    if base == BOOL:
        yield conjunction([g for g in (is_present, value(v)) if g is not None])
        return
    if base == FLOAT:
        yield conjunction([g for g in (is_present, app(Op.IS_NAN, value(v))) if g is not None])
    ordered = base not in TEXTS or classes.is_ordered(canonical)
    for constant in classes.constants(canonical)[:_MAX_CONSTANTS]:
        assert not isinstance(constant, tuple)
        literal = lit(base, constant)
        yield guard_comparison(Op.PY_EQ, v, literal)
        if ordered:
            for op in (Op.PY_LT, Op.PY_LE, Op.PY_GT, Op.PY_GE):
                yield guard_comparison(op, v, literal)


def _orders(a: Var, b: Var) -> Iterator[Term]:
    if strip(a.sort) == strip(b.sort) and strip(a.sort) in ORDERED:
        yield guard_comparison(Op.PY_LE, a, b)
        yield guard_comparison(Op.PY_GE, a, b)


def leaves(problem: Problem, classes: Classes) -> list[Term]:
    """Return all leaves of a problem, each once."""
    fold = problem.fold
    own = state_vars(fold, Scope.ACC)
    twin = state_vars(fold, Scope.TWIN)
    terms: list[Term] = [nonempty(Scope.ACC), nonempty(Scope.TWIN)]
    for s, t in zip(own, twin, strict=True):
        terms += [app(Op.SAME, s, t), *_orders(s, t)]
    for v in (*own, *twin, *_keys(problem)):
        terms += _about(v, classes)
    for run in (own, twin):
        for a, b in combinations(run, 2):
            together = classes.together(*(Var(Scope.ACC, v.name, v.sort) for v in (a, b)))
            if together and strip(a.sort) == strip(b.sort):
                terms += _orders(a, b)
    terms += [
        leaf for v in (*own, *twin) for k in _keys(problem) for leaf in _key_copies(v, k, classes)
    ]
    terms += _verdicts(problem)
    return list(dict.fromkeys(terms))


def _key_copies(v: Var, key: Var, classes: Classes) -> Iterator[Term]:
    """Yield the leaf that a field holds the value of a grouping column, if that is possible."""
    canonical = Var(Scope.ACC, v.name, v.sort)
    if classes.together(canonical, key) and strip(v.sort) == strip(key.sort) != BOOL:
        yield app(Op.SAME, v, key) if v.sort == key.sort else guard_comparison(Op.PY_EQ, v, key)


def _keys(problem: Problem) -> list[Var]:
    """Return the grouping columns that the filter or the fold reads."""
    steps = [t for f in problem.fold.fields for t in (f.init, f.step)]
    variables_read = variables(problem.where, problem.fold.step_raises, *steps)
    return [v for v in variables_read if v.scope is Scope.KEY]


def _verdicts(problem: Problem) -> Iterator[Term]:
    """Yield the verdicts of the filter and of the end of the fold on each run.

    If the end raises, outputs have no value, so the filter's verdict is negative.
    """
    fold = problem.fold
    outputs = {output_var(o.name, o.sort): o.term for o in fold.outputs}
    accepted = substitute(app(Op.SQL_IS_TRUE, problem.where), outputs)
    calm = [] if fold.finish_raises == FALSE else [negate(fold.finish_raises)]
    for term in (conjunction([*calm, accepted]), fold.finish_raises):
        if term != FALSE and variables(term):
            yield term
            yield to_scope(term, Scope.ACC, Scope.TWIN)
