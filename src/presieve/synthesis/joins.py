# SPDX-License-Identifier: Apache-2.0
"""Untrusted. The strongest filters below a join that the checker accepts.

In a pair that matches, some columns of both sides are equal. So a condition on ``coalesce(l.k,
r.k)`` is a condition on ``l.k`` for the left side and on ``r.k`` for the right side.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping

from presieve.ir.ops import app, sql_conjunction, sql_conjuncts, sql_disjunction
from presieve.ir.terms import SQL_TRUE, App, Op, Scope, Term, Var
from presieve.ir.walk import rewrite, variables

Sides = tuple[Term, Term]
"""A filter on the left side (over KEY) and one on the right side (over ROW)."""


def filters(
    on: Term, where: Term, masked: Collection[Term], accepted: Callable[[Sides], bool]
) -> Sides:
    """Choose the filters below. ``accepted`` asks the checker about a pair of them; ``masked`` are
    conjuncts that Spark does not see.
    """
    chosen_sides: list[Sides] = []
    for conjunct in conjuncts_to_push(on, where, masked):
        pairs = _alternatives(on, conjunct, masked=conjunct in masked)
        chosen = next(filter(accepted, pairs), None)
        if chosen is not None:
            chosen_sides.append(chosen)
    return _all(left for left, _ in chosen_sides), _all(right for _, right in chosen_sides)


def conjuncts_to_push(on: Term, where: Term, masked: Collection[Term]) -> Iterator[Term]:
    """The conjuncts that read both sides, or imply a condition on the side that they do not read,
    or are ``masked``. Spark moves all others itself (``PushPredicateThroughJoin``).
    """
    for conjunct in sql_conjuncts(where):
        both = len({v.scope for v in variables(conjunct)}) > 1
        if both or conjunct in masked or any(_of_others(on, conjunct)):
            yield conjunct


def _of_others(on: Term, conjunct: Term) -> Iterator[Term | None]:
    """The conditions on the left and the right side, each if the conjunct reads the other one."""
    read = {v.scope for v in variables(conjunct)}
    for scope in (Scope.KEY, Scope.ROW):
        yield None if read <= {scope} else _of_side(on, conjunct, scope)


def _alternatives(on: Term, conjunct: Term, *, masked: bool) -> Iterator[Sides]:
    """Both sides, or one of them. A condition on one side alone goes below that side, too: Spark
    would move it there, but not before other operators below are considered; and one that is
    ``masked`` it does not move.
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
    if masked and len(alone) == 1:
        yield (conjunct, SQL_TRUE) if alone == {Scope.KEY} else (SQL_TRUE, conjunct)


def _of_side(on: Term, conjunct: Term, scope: Scope) -> Term | None:
    """Rewrite the condition to columns of one side; None if some other column equals none
    of them.
    """
    equal = _equalities(on, scope)
    if not all(v.scope is scope or v in equal for v in variables(conjunct)):
        return None
    return _simplify(rewrite(conjunct, lambda v: v if v.scope is scope else equal[v]))


def _equalities(on: Term, scope: Scope) -> Mapping[Var, Var]:
    """Map columns of the other side to the equal columns of this side."""
    equal_columns: dict[Var, Var] = {}
    for conjunct in sql_conjuncts(on):
        match conjunct:
            case App(Op.SQL_EQ | Op.SQL_EQ_NULLSAFE, (Var() as first, Var() as second)):
                pairs = ((first, second), (second, first))
                equal_columns |= {
                    a: b for a, b in pairs if b.scope is scope and a.scope is not scope
                }
    return equal_columns


def _simplify(term: Term) -> Term:
    """Reduce ``c AND x OR NOT c AND x`` to ``x``: right if c is never NULL; the checker decides."""
    match term:
        case App(Op.SQL_AND, args):
            return _all(map(_simplify, args))
        case App(Op.SQL_OR, args):
            return _either([dict.fromkeys(sql_conjuncts(_simplify(a))) for a in args])
    return term


def _either(cases: list[dict[Term, None]]) -> Term:
    """Combine several conjunctions by OR; two that differ in one condition become one."""
    cases = [c for c in cases if not any(n in c for term in c for n in _inner(term))]
    for i, first in enumerate(cases):
        for second in cases[i + 1 :]:
            (condition, *further), (opposite, *others) = (
                _differ(first, second),
                _differ(second, first),
            )
            if (
                not further
                and not others
                and opposite in (app(Op.SQL_NOT, condition), *_inner(condition))
            ):
                common = {c: None for c in first if c != condition}
                remaining_cases = [c for c in cases if c is not first and c is not second]
                return _either([*remaining_cases, common])
    return sql_disjunction(dict.fromkeys(map(_all, cases)))


def _differ(case: Iterable[Term], other_case: Mapping[Term, None]) -> list[Term]:
    """The conditions that only the first case has; else SQL_TRUE, which is no condition."""
    return [c for c in case if c not in other_case] or [SQL_TRUE]


def _inner(term: Term) -> tuple[Term, ...]:
    return term.args if isinstance(term, App) and term.op is Op.SQL_NOT else ()


def _all(conjuncts: Iterable[Term]) -> Term:
    parts = dict.fromkeys(p for c in conjuncts for p in sql_conjuncts(c))
    return sql_conjunction(parts)
