"""Untrusted. Leaves: the simple facts about two related accumulators that invariants are made of.

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
from presieve.universe.classes import Classes

_MAX_CONSTANTS = 12


def present(v: Term) -> Term | None:
    """That an option is there; None for what is always there."""
    return negate(app(Op.IS_NONE, v)) if isinstance(v.sort, Option) else None


def value(v: Term) -> Term:
    """The value of what may be an option."""
    return app(Op.GET, v) if isinstance(v.sort, Option) else v


def guarded(op: Op, a: Term, b: Term) -> Term:
    """A comparison that is false where an operand is none."""
    guards = [g for g in (present(a), present(b)) if g is not None]
    return conjunction([*guards, app(op, value(a), value(b))])


def _about(v: Var, classes: Classes) -> Iterator[Term]:
    """Leaves about one field of one run, or about a grouping column."""
    here = v if v.scope is Scope.KEY else Var(Scope.ACC, v.name, v.sort)
    base = strip(v.sort)
    if isinstance(base, Tuple):
        return
    there = present(v)
    if there is not None:
        yield there
    if base == BOOL:
        yield conjunction([g for g in (there, value(v)) if g is not None])
        return
    if base == FLOAT:
        yield conjunction([g for g in (there, app(Op.IS_NAN, value(v))) if g is not None])
    ordered = base not in TEXTS or classes.ordered(here)
    for constant in classes.constants(here)[:_MAX_CONSTANTS]:
        assert not isinstance(constant, tuple)
        literal = lit(base, constant)
        yield guarded(Op.PY_EQ, v, literal)
        if ordered:
            for op in (Op.PY_LT, Op.PY_LE, Op.PY_GT, Op.PY_GE):
                yield guarded(op, v, literal)


def _orders(a: Var, b: Var) -> Iterator[Term]:
    if strip(a.sort) == strip(b.sort) and strip(a.sort) in ORDERED:
        yield guarded(Op.PY_LE, a, b)
        yield guarded(Op.PY_GE, a, b)


def leaves(problem: Problem, classes: Classes) -> list[Term]:
    """All leaves of a problem, each once."""
    fold = problem.fold
    own = state_vars(fold, Scope.ACC)
    twin = state_vars(fold, Scope.TWIN)
    found: list[Term] = [nonempty(Scope.ACC), nonempty(Scope.TWIN)]
    for s, t in zip(own, twin, strict=True):
        found += [app(Op.SAME, s, t), *_orders(s, t)]
    for v in (*own, *twin, *_keys(problem)):
        found += _about(v, classes)
    for run in (own, twin):
        for a, b in combinations(run, 2):
            together = classes.together(*(Var(Scope.ACC, v.name, v.sort) for v in (a, b)))
            if together and strip(a.sort) == strip(b.sort):
                found += _orders(a, b)
    found += [
        leaf for v in (*own, *twin) for k in _keys(problem) for leaf in _key_copies(v, k, classes)
    ]
    found += _verdicts(problem)
    return list(dict.fromkeys(found))


def _key_copies(v: Var, key: Var, classes: Classes) -> Iterator[Term]:
    """That a field holds the value of a grouping column, where that may be."""
    here = Var(Scope.ACC, v.name, v.sort)
    if classes.together(here, key) and strip(v.sort) == strip(key.sort) != BOOL:
        yield app(Op.SAME, v, key) if v.sort == key.sort else guarded(Op.PY_EQ, v, key)


def _keys(problem: Problem) -> list[Var]:
    """The grouping columns that the filter or the fold reads."""
    steps = [t for f in problem.fold.fields for t in (f.init, f.step)]
    found = variables(problem.where, problem.fold.step_raises, *steps)
    return [v for v in found if v.scope is Scope.KEY]


def _verdicts(problem: Problem) -> Iterator[Term]:
    """What the end of the fold and the filter say of each run. Outputs have no value where the end
    raises, so that there the filter says no.
    """
    fold = problem.fold
    outputs = {output_var(o.name, o.sort): o.term for o in fold.outputs}
    accepted = substitute(app(Op.SQL_IS_TRUE, problem.where), outputs)
    calm = [] if fold.finish_raises == FALSE else [negate(fold.finish_raises)]
    for term in (conjunction([*calm, accepted]), fold.finish_raises):
        if term != FALSE and variables(term):
            yield term
            yield to_scope(term, Scope.ACC, Scope.TWIN)
