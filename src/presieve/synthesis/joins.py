"""Untrusted. The strongest filters below a join of which the checker can be convinced.

What holds of a pair that matches is read with one column for each that it equals. So a condition on
``coalesce(l.k, r.k)`` is one on ``l.k`` on the left and on ``r.k`` on the right side.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping

from presieve.ir.ops import app, sql_conjunction, sql_conjuncts, sql_disjunction
from presieve.ir.terms import SQL_TRUE, App, Op, Scope, Term, Var
from presieve.ir.walk import rewrite, variables

Sides = tuple[Term, Term]
"""A filter on the left side (over KEY) and one on the right side (over ROW)."""


def filters(on: Term, where: Term, accepted: Callable[[Sides], bool]) -> Sides:
    """What the filters below consist of. ``accepted`` asks the checker about a pair of them."""
    found: list[Sides] = []
    for conjunct in asked(on, where):
        pairs = _alternatives(on, conjunct)
        chosen = next(filter(accepted, pairs), None)
        if chosen is not None:
            found.append(chosen)
    return _all(left for left, _ in found), _all(right for _, right in found)


def asked(on: Term, where: Term) -> Iterator[Term]:
    """The conjuncts that read both sides, or say something of the one that they do not read. Others
    Spark moves itself (``PushPredicateThroughJoin``).
    """
    for conjunct in sql_conjuncts(where):
        if len({v.scope for v in variables(conjunct)}) > 1 or any(_of_others(on, conjunct)):
            yield conjunct


def _of_others(on: Term, conjunct: Term) -> Iterator[Term | None]:
    """The condition on the left and on the right side, where it reads the other one, too."""
    read = {v.scope for v in variables(conjunct)}
    for scope in (Scope.KEY, Scope.ROW):
        yield None if read <= {scope} else _of_side(on, conjunct, scope)


def _alternatives(on: Term, conjunct: Term) -> Iterator[Sides]:
    """Both sides, or one of them. A condition on one side alone goes below that side, too: Spark
    would move it there, but not before other operators below are looked at.
    """
    left, right = _of_others(on, conjunct)
    alone = {v.scope for v in variables(conjunct)}
    if left is not None and right is not None:
        yield left, right
    if left is not None and alone == {Scope.ROW}:
        yield left, conjunct
    if right is not None and alone == {Scope.KEY}:
        yield conjunct, right
    if left is not None:
        yield left, SQL_TRUE
    if right is not None:
        yield SQL_TRUE, right


def _of_side(on: Term, conjunct: Term, scope: Scope) -> Term | None:
    """The condition with nothing but columns of one side, if all of the others equal one."""
    equal = _equalities(on, scope)
    if not all(v.scope is scope or v in equal for v in variables(conjunct)):
        return None
    return _simplified(rewrite(conjunct, lambda v: v if v.scope is scope else equal[v]))


def _equalities(on: Term, scope: Scope) -> Mapping[Var, Var]:
    """Of columns of the other side the one of this side that it equals."""
    found: dict[Var, Var] = {}
    for conjunct in sql_conjuncts(on):
        match conjunct:
            case App(Op.SQL_EQ | Op.SQL_EQ_NULLSAFE, (Var() as one, Var() as other)):
                pairs = ((one, other), (other, one))
                found |= {a: b for a, b in pairs if b.scope is scope and a.scope is not scope}
    return found


def _simplified(term: Term) -> Term:
    """``c AND x OR NOT c AND x`` is ``x``, if c is never NULL; the checker is asked about it."""
    match term:
        case App(Op.SQL_AND, args):
            return _all(map(_simplified, args))
        case App(Op.SQL_OR, args):
            return _either([dict.fromkeys(sql_conjuncts(_simplified(a))) for a in args])
    return term


def _either(cases: list[dict[Term, None]]) -> Term:
    """One of several conjunctions, of which two that differ in one condition are one."""
    cases = [c for c in cases if not any(n in c for term in c for n in _inner(term))]
    for i, one in enumerate(cases):
        for other in cases[i + 1 :]:
            (here, *more), (there, *rest) = _differ(one, other), _differ(other, one)
            if not more and not rest and there in (app(Op.SQL_NOT, here), *_inner(here)):
                common = {c: None for c in one if c != here}
                left = [c for c in cases if c is not one and c is not other]
                return _either([*left, common])
    return sql_disjunction(dict.fromkeys(map(_all, cases)))


def _differ(one: Iterable[Term], other: Mapping[Term, None]) -> list[Term]:
    """What only the first one has; a condition that is none if there is nothing."""
    return [c for c in one if c not in other] or [SQL_TRUE]


def _inner(term: Term) -> tuple[Term, ...]:
    return term.args if isinstance(term, App) and term.op is Op.SQL_NOT else ()


def _all(conjuncts: Iterable[Term]) -> Term:
    parts = dict.fromkeys(p for c in conjuncts for p in sql_conjuncts(c))
    return sql_conjunction(parts)
