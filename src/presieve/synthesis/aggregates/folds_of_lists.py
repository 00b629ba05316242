# SPDX-License-Identifier: Apache-2.0
"""Untrusted. A fold as a fold of the list of all rows of a group.

The step is that of the user's fold over the fields of a struct. The order of the list must make no
difference to it.
"""

from __future__ import annotations

from collections.abc import Sequence

from presieve.ir.fold import Field, Fold, Problem
from presieve.ir.ops import app, negate
from presieve.ir.sorts import Decimal, Option, Sort, strip
from presieve.ir.terms import Op, Scope, Term, Var
from presieve.ir.walk import variables
from presieve.records import replace
from presieve.semantics.aggregates import ListColumn
from presieve.semantics.smart_constructors import and_, get, is_none, some, substitute
from presieve.semantics.states import facts
from presieve.smt.side_by_side import RAISED, SideBySide, with_raised
from presieve.sql.operands import TYPE_NAMES
from presieve.synthesis.aggregates.aggregate_invariant import (
    Aggregates,
    greatest_invariant,
    holds,
    is_reordered,
    without_negative_zero,
)
from presieve.synthesis.aggregates.candidates import (
    AggregateClaim,
    links,
    range_claims,
    starts,
    unless_raised,
    values,
)
from presieve.synthesis.aggregates.candidates import facts as of_calls
from presieve.synthesis.order.commute import only_live, with_dependencies


def as_list(problem: Problem, prefix: str, tried: Sequence[AggregateClaim]) -> Aggregates | None:
    """The fold as a fold of a list, if the order of rows makes no difference, beside aggregates of
    Spark for fields that may be aggregates (``tried``). None if the order matters, or no
    proof is found.
    """
    live = with_raised(only_live(problem).fold)
    every = frozenset(f.name for f in live.fields)
    others = every - {c.field.name for c in tried}
    for listed in dict.fromkeys((with_dependencies(live, others) or every, every)):
        fold = replace(live, fields=tuple(f for f in live.fields if f.name in listed))
        column = _column(fold, f"{prefix}list")
        rows = [v for v in variables(*(f.step for f in fold.fields)) if v.scope is Scope.ROW]
        beside = [c for c in tried if c.field.name not in listed]
        for assumed in dict.fromkeys((problem, without_negative_zero(problem, rows))):
            aggregates = _with_list(assumed, live, column, beside)
            if aggregates is not None:
                return aggregates
    return None


def _with_list(
    problem: Problem, fold: Fold, column: ListColumn, others: Sequence[AggregateClaim]
) -> Aggregates | None:
    commutes = is_reordered(problem)
    if not commutes and not holds(next(SideBySide.of(problem, (column,)).commuting(column))):
        return None  # the first two rows may not change places
    own = {v: v.name.removeprefix(f"{column.name}.") for v in column.results}
    sorts = {f.name: Var(Scope.ACC, f.name, f.sort) for f in fold.fields}
    images = {sorts[name]: _image(sorts[name], b) for b, name in own.items()}
    claims = {v: _claim(fold, v, image) for v, image in images.items()}
    other_claims = {c: c.claim(fold) for c in others}
    calls = tuple(dict.fromkeys(c.call for c in others if c.call is not None))
    about = [
        *values(fold),
        *starts(fold),
        *range_claims(fold, calls),
        *facts(column.fields),
        *of_calls(calls),
        *links(calls, column.results),
    ]
    proved = greatest_invariant(
        problem, (*calls, column), (*about, *claims.values(), *other_claims.values())
    )
    for c, claim in other_claims.items():
        if claim in proved:
            images.setdefault(c.field, c.image)
    if not set(claims.values()) <= set(proved) or len(images) < len(fold.fields):
        return None
    used = [c for c in others if images[c.field] == c.image]
    if len(used) < len(others):
        return _with_list(problem, fold, column, used)
    both = SideBySide.of(problem, (*calls, column), tuple(proved))
    if not commutes and not all(map(holds, both.commuting(column))):
        return None
    return Aggregates(problem, tuple(proved), images, calls, (column,))


def _claim(fold: Fold, state: Var, image: Term) -> Term:
    equal = _equal(state, image)
    return equal if state.name == RAISED else unless_raised(fold, equal)


def _column(fold: Fold, name: str) -> ListColumn:
    """The fold over fields of a struct, which may be NULL."""
    states = [Var(Scope.ACC, f.name, f.sort) for f in fold.fields]
    own = {v: Var(Scope.ACC, f"{name}.{v.name}", Option(strip(v.sort))) for v in states}
    images = {v: _image(v, b) for v, b in own.items()}
    fields = tuple(
        Field(b.name, b.sort, some(f.init), some(substitute(f.step, images)))
        for f, b in zip(fold.fields, own.values(), strict=True)
    )
    return ListColumn(name, fields, tuple(_type(v.sort) for v in states))


def _image(state: Var, column: Var) -> Term:
    return column if isinstance(state.sort, Option) else get(column)


def _equal(state: Var, image: Term) -> Term:
    same = app(Op.SAME, state, image)
    if isinstance(state.sort, Option):
        return same
    return and_(negate(is_none(some(image))), same)


def _type(sort: Sort) -> str:
    inner = strip(sort)
    return "" if isinstance(inner, Decimal) else TYPE_NAMES.get(inner, "")
