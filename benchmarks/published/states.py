"""Untrusted. U_I, the universe of invariants (appendix C): implications between leaves over the
original run (ACC) and its twin (TWIN).

Under GROUP BY the fold is lifted: "has a row" is one more field. The atoms of :func:`goal` together
say just what Final asks for with the filter itself as residual, so that the lower bound is never
too weak and every failure names a row.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import product

from benchmarks.published.clauses import Clause, clause_term, clauses, compared
from benchmarks.published.flow import Flow, Trend, holds
from presieve.errors import SortError
from presieve.ir.fold import Field, Mode, Problem, nonempty
from presieve.ir.ops import app, conjunction, negate
from presieve.ir.sorts import BOOL, Tuple, is_ordered, strip
from presieve.ir.terms import FALSE, TRUE, Lit, Op, Scope, Term, Var
from presieve.ir.walk import substitute, to_scope, variables
from presieve.ir.wellformed import output_var
from presieve.universe.leaves import guard_comparison, presence_of, value

MOST_ATOMS = 600


@dataclass(frozen=True, slots=True)
class Leaf:
    """A fact about one run, over ACC, and the fields that it speaks of."""

    term: Term
    fields: frozenset[str]

    def of(self, scope: Scope) -> Term:
        """The same fact about the run in ``scope``."""
        return to_scope(self.term, Scope.ACC, scope)


def state_atoms(flow: Flow, trends: dict[str, Trend]) -> list[Term]:
    """The universe, each atom once; those of :func:`goal` first."""
    problem = flow.problem
    leaves = list(_leaves(flow, trends))
    atoms = [*goal(problem), *_synchronous(problem, trends)]
    if problem.mode is Mode.GROUPED:
        atoms += _flags(problem, leaves)
    atoms += _own(problem, leaves)
    atoms += _agreements(flow, leaves)
    atoms += _transfers(flow, leaves)
    return [t for t in dict.fromkeys(atoms) if t != TRUE][:MOST_ATOMS]


# --- the end -----------------------------------------------------------------------------------


def goal(problem: Problem) -> list[Term]:
    """Final with the filter as residual, as atoms: either run is accepted where the other is,
    with equal outputs, and neither raises.
    """
    fold = problem.fold
    grouped = problem.mode is Mode.GROUPED
    outputs = {output_var(o.name, o.sort): o.term for o in fold.outputs}
    verdict = substitute(app(Op.SQL_IS_TRUE, problem.where), outputs)
    flags = [nonempty(Scope.ACC)] if grouped else []
    there = [nonempty(Scope.TWIN)] if grouped else []
    matters = [*flags, *_calm(fold.finish_raises)]
    accepted = conjunction([*matters, verdict])
    passes = conjunction([*there, to_scope(verdict, Scope.ACC, Scope.TWIN)])
    atoms = [
        _implies(accepted, passes),
        _implies(conjunction([*matters, passes]), verdict),
    ]
    atoms += [
        _implies(accepted, app(Op.SAME, o.term, to_scope(o.term, Scope.ACC, Scope.TWIN)))
        for o in fold.outputs
    ]
    if fold.finish_raises != FALSE:
        raises = conjunction([*there, to_scope(fold.finish_raises, Scope.ACC, Scope.TWIN)])
        atoms.append(_implies(conjunction(matters), negate(raises)))
    return atoms


def _calm(raises: Term) -> list[Term]:
    return [] if raises == FALSE else [negate(raises)]


# --- leaves ------------------------------------------------------------------------------------


def _leaves(flow: Flow, trends: dict[str, Trend]) -> Iterator[Leaf]:
    """That a field is no longer what it was at the start; the comparisons of the filter, and its
    clauses; equality also one-sided.
    """
    problem = flow.problem
    for f in problem.fold.fields:
        if not isinstance(f.sort, Tuple):
            yield Leaf(_begun(f), frozenset([f.name]))
    outputs = {output_var(o.name, o.sort): o.term for o in problem.fold.outputs}
    seen: dict[Term, None] = {}
    for clause in clauses(problem.where):
        for term in _about_outputs(clause, trends, outputs):
            seen.setdefault(substitute(app(Op.SQL_IS_TRUE, term), outputs))
    for term in seen:
        fields = frozenset(v.name for v in variables(term) if v.scope is Scope.ACC)
        if fields:
            yield Leaf(term, fields)


def _about_outputs(
    clause: Clause, trends: dict[str, Trend], outputs: dict[Var, Term]
) -> Iterator[Term]:
    for literal in clause:
        comparison = compared(literal)
        if comparison is None:
            continue
        yield literal
        op, output, constant = comparison
        term = outputs.get(output)
        if op is Op.SQL_EQ and isinstance(term, Var):
            trend = trends.get(term.name, "either")
            sided = {"grows": (Op.SQL_GE,), "shrinks": (Op.SQL_LE,)}
            for other in sided.get(trend, (Op.SQL_GE, Op.SQL_LE)):
                try:
                    yield app(other, output, constant)
                except SortError:
                    break
    if len(clause) > 1:
        yield clause_term(clause)


def _begun(field: Field) -> Term:
    """The field is not what it was at the start."""
    v = Var(Scope.ACC, field.name, field.sort)
    if field.init == Lit(field.sort, None):
        return negate(app(Op.IS_NONE, v))
    if strip(field.sort) == BOOL and field.init == FALSE:
        return holds(v)
    return negate(app(Op.SAME, v, field.init))


# --- atoms -------------------------------------------------------------------------------------


def _implies(a: Term, b: Term) -> Term:
    return b if a == TRUE else app(Op.IMPLIES, a, b)


def _synchronous(problem: Problem, trends: dict[str, Trend]) -> Iterator[Term]:
    """Fields are equal in both runs, or further along in the original, and keep their bounds."""
    for f in problem.fold.fields:
        s, t = (Var(scope, f.name, f.sort) for scope in (Scope.ACC, Scope.TWIN))
        yield app(Op.SAME, s, t)
        trend = trends.get(f.name)
        if trend is None or not is_ordered(strip(f.sort)):
            continue
        op = Op.PY_GE if trend == "grows" else Op.PY_LE
        there = presence_of(t)
        ordered = guard_comparison(op, s, t)
        yield ordered if there is None else _implies(there, ordered)
        if f.init != Lit(f.sort, None):
            yield from (_bounded(v, op, f.init) for v in (s, t))


def _bounded(v: Var, op: Op, start: Term) -> Term:
    there = presence_of(v)
    bound = app(op, value(v), value(start))
    return bound if there is None else _implies(there, bound)


def _flags(problem: Problem, leaves: Iterable[Leaf]) -> Iterator[Term]:
    """The flags against every leaf, in both runs and across."""
    n, n_twin = nonempty(Scope.ACC), nonempty(Scope.TWIN)
    yield n
    yield n_twin
    yield _implies(n_twin, n)
    for leaf in leaves:
        s, t = leaf.of(Scope.ACC), leaf.of(Scope.TWIN)
        yield from (_implies(s, n), _implies(t, n_twin), _implies(s, n_twin))
        yield from (_implies(n, s), _implies(n_twin, t), _implies(n_twin, s))
    for f in problem.fold.fields:
        same = app(Op.SAME, *(Var(x, f.name, f.sort) for x in (Scope.ACC, Scope.TWIN)))
        yield _implies(n_twin, same)


def _own(problem: Problem, leaves: list[Leaf]) -> Iterator[Term]:
    """What the twin's fields are like once they have begun, and its plain facts."""
    begun = {next(iter(x.fields)): x for x in leaves[: len(problem.fold.fields)]}
    for leaf in leaves:
        yield leaf.of(Scope.TWIN)
        for name in sorted(leaf.fields):
            if name in begun and begun[name] != leaf:
                for scope in (Scope.TWIN, Scope.ACC):
                    yield _implies(begun[name].of(scope), leaf.of(scope))


def _agreements(flow: Flow, leaves: Iterable[Leaf]) -> Iterator[Term]:
    """A leaf of either run makes a related field equal in both."""
    for leaf in leaves:
        near = _near(flow, leaf)
        for f in flow.problem.fold.fields:
            if f.name in near:
                same = app(Op.SAME, *(Var(x, f.name, f.sort) for x in (Scope.ACC, Scope.TWIN)))
                yield _implies(leaf.of(Scope.ACC), same)
                yield _implies(leaf.of(Scope.TWIN), same)


def _transfers(flow: Flow, leaves: list[Leaf]) -> Iterator[Term]:
    """From a leaf of one run to the same one of the other run, or to what has begun there; and to
    leaves about other fields of the same run.
    """
    starts = {leaf.term for leaf in leaves[: len(flow.problem.fold.fields)]}
    for a, b in product(leaves, leaves):
        if not b.fields & _near(flow, a):
            continue
        if a == b or b.term in starts:
            yield _implies(a.of(Scope.TWIN), b.of(Scope.ACC))
            yield _implies(a.of(Scope.ACC), b.of(Scope.TWIN))
        if a.fields != b.fields:
            yield _implies(a.of(Scope.ACC), b.of(Scope.ACC))
            yield _implies(a.of(Scope.TWIN), b.of(Scope.TWIN))


def _near(flow: Flow, leaf: Leaf) -> frozenset[str]:
    return frozenset(b for a in leaf.fields for b in flow.related[a])
